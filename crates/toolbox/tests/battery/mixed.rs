//! Logs in which some lines are not JSON: they answer like the same logs without these lines, with
//! a warning.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::damage::damage;
use crate::support::Bench;

const LEVELS: [&str; 3] = ["info", "warn", "error"];

/// Records of a log. Each has some members.
fn record(number: usize) -> String {
    let level = LEVELS[number % 3];
    let tags = (0..number % 4).map(|tag| format!("\"t{tag}\"")).collect::<Vec<_>>().join(",");
    format!("{{\"n\":{number},\"level\":\"{level}\",\"tags\":[{tags}],\"user\":{{\"id\":{}}}}}", number % 7)
}

const DAMAGED: [&str; 5] =
    ["Killed: out of memory", "{\"n\": 1, \"level\": \"err", "[1, 2] 3", "tru", "{\"tags\":[\"t0\",]}"];

/// A log with damaged lines at these positions, and the same log without them.
fn logs(count: usize, damaged: &[usize]) -> (String, String) {
    let (mut mixed, mut sound) = (String::new(), String::new());
    for number in 0..count {
        if damaged.contains(&number) {
            mixed += DAMAGED[number % DAMAGED.len()];
            mixed.push('\n');
        }
        let line = record(number) + "\n";
        mixed += &line;
        sound += &line;
    }
    (mixed, sound)
}

/// Calls of every tool that queries.
fn calls() -> Vec<(&'static str, Value)> {
    let errors = json!(["@.level == \"error\""]);
    vec![
        (
            "count",
            json!({ "counts": [
            { "name": "records", "path": "$", "count_type": "matches" },
            { "name": "tags", "path": "$.tags" },
            { "name": "ids", "path": "$.user", "count_type": "object_keys" },
            { "name": "late", "path": "$.n", "count_type": "matches", "filter": "@ > 20" }
        ] }),
        ),
        (
            "count",
            json!({ "counts": [{ "name": "n", "path": "$..*", "count_type": "matches" }], "where": errors }),
        ),
        ("extract", json!({ "paths": ["$.n", "$.tags[0]"] })),
        ("extract", json!({ "paths": ["$..id"], "flatten": true, "where": errors })),
        ("extract", json!({ "paths": ["$.tags[-1]"], "default_value": 0 })),
        ("sample", json!({ "path": "$", "size": 5, "seed": 3 })),
        ("sample", json!({ "path": "$.tags[*]", "size": 4, "strategy": "systematic" })),
        ("sample", json!({ "path": "$", "size": 3, "strategy": "last", "where": errors })),
        (
            "sample",
            json!({ "path": "$", "size": 6, "strategy": "stratified", "strata_path": "$.level", "seed": 1 }),
        ),
        ("stats", json!({ "paths": ["$"], "include_values": true, "include_schema": true })),
        ("stats", json!({ "paths": ["$.n", "$.user"], "where": errors })),
        ("aggregate", json!({ "by": ["$.level"], "sum": ["$.n"], "distinct": ["id=$.user.id"] })),
        ("read", json!({ "path": "$" })),
        ("read", json!({ "path": "$", "max_chars": 400 })),
    ]
}

/// The members of an answer that depend on the queried values alone.
fn comparable(mut answer: Value) -> Value {
    let members = answer.as_object_mut().unwrap();
    for member in ["id", "created_at", "warning"] {
        members.shift_remove(member);
    }
    if let Some(truncated) = members.get_mut("truncated") {
        truncated.as_object_mut().unwrap().shift_remove("next");
    }
    // `read` shows the size of the payload.
    if members.contains_key("content") {
        members["size"].as_object_mut().unwrap().shift_remove("bytes");
    }
    answer
}

fn check(bench: &Bench, count: usize, damaged: &[usize]) {
    let (mixed, sound) = logs(count, damaged);
    let stored = bench.put("mixed-log", mixed);
    bench.put("sound-log", sound);
    assert_eq!(stored.damaged_records, damaged.len() as u64);
    for (tool, arguments) in calls() {
        let ask = |id: &str| {
            let mut arguments = arguments.clone();
            arguments["id"] = json!(id);
            bench.walk(tool, &arguments)
        };
        let (mixed, sound) = (ask("mixed-log"), ask("sound-log"));
        assert_eq!(mixed.is_empty(), sound.is_empty());
        for answer in &mixed {
            let warning = answer.value["warning"].as_str().unwrap_or_else(|| panic!("{tool} {arguments}"));
            let number = format!("{} of {} records", damaged.len(), count + damaged.len());
            let short = format!("{} damaged records", damaged.len());
            assert!(warning.starts_with(&number) || warning.starts_with(&short), "{tool}: {warning}");
        }
        // A warning takes room, so that pages may be cut at other units.
        if let ([mixed], [sound]) = (mixed.as_slice(), sound.as_slice()) {
            assert_eq!(
                comparable(mixed.value.clone()),
                comparable(sound.value.clone()),
                "{tool} {arguments}"
            );
        } else if tool == "read" {
            let all = |pages: &[crate::support::Answer]| -> Vec<Value> {
                let contents =
                    pages.iter().flat_map(|page| page.value["content"].as_array().unwrap().clone());
                contents.filter(|item| item.get("$more").is_none()).collect()
            };
            assert_eq!(all(&mixed), all(&sound));
        }
    }
}

#[test]
fn the_warning_has_the_number_and_the_first_position() {
    let bench = Bench::new();
    let (mixed, _) = logs(50, &[7, 20]);
    bench.put("mixed-log", &mixed);
    let answer = bench.value("extract", json!({ "id": "mixed-log", "paths": ["$.levl"] }));
    let offset = mixed.find("[1, 2] 3").unwrap() + "[1, 2] ".len();
    let damage = format!(
        "2 of 52 records are damaged and skipped; the first is record 7 (line 8, byte {offset}); `$.levl` selects nothing; \
         the nearest path is `$.level`"
    );
    assert_eq!(answer["warning"], damage);
    assert!(answer.get("truncated").is_none());
    let small = bench.value("count", json!({
        "id": "mixed-log", "counts": [{ "name": "n", "path": "$", "count_type": "matches" }], "max_chars": 200
    }));
    assert_eq!(small["warning"], "2 damaged records skipped, first: 7");
    let row = &bench.value("list", json!({}))["outputs"][0];
    assert_eq!(row["summary"], json!({ "type": "records", "records": 52, "damaged_records": 2 }));
    let one = logs(20, &[0]).0;
    bench.put("one-damaged", one);
    let answer = bench.value("read", json!({ "id": "one-damaged" }));
    assert_eq!(answer["warning"], "1 of 21 records is damaged and skipped: record 0 (line 1, byte 0)");
    assert_eq!(answer["size"]["items"], 20);
}

/// A record has the same number in all answers: damaged ones count.
#[test]
fn records_keep_their_numbers() {
    let bench = Bench::new();
    bench.put("mixed-log", logs(20, &[4]).0);
    let read =
        |path: &str| bench.value("read", json!({ "id": "mixed-log", "path": path }))["content"].clone();
    assert_eq!((read("$[3].n"), read("$[5].n"), read("$[-1].n")), (json!(3), json!(4), json!(19)));
    let refused = bench.refused("read", json!({ "id": "mixed-log", "path": "$[4].n" }));
    assert!(refused.contains("record 4 is damaged at byte"), "{refused}");
}

/// Damage after storing is not hidden by the known one.
#[test]
fn further_damage_is_reported() {
    let bench = Bench::new();
    bench.put("mixed-log", logs(40, &[4]).0);
    damage(&bench, "mixed-log", "{\"n\":30,", "{\"n\":3x,");
    let answer = bench.ok("extract", json!({ "id": "mixed-log", "paths": ["$.n"] }));
    assert_eq!(answer.truncated(), Some(("damage", 39, None)));
    let warning = answer.value["warning"].as_str().unwrap();
    assert!(warning.starts_with("1 of 41 records is damaged"), "{warning}");
    assert!(warning.contains("2 records are skipped"), "{warning}");
    for (tool, arguments) in [
        ("count", json!({ "counts": [{ "name": "n", "path": "$", "count_type": "matches" }] })),
        ("stats", json!({})),
        ("sample", json!({ "path": "$", "size": 2, "seed": 1 })),
    ] {
        let mut arguments = arguments;
        arguments["id"] = json!("mixed-log");
        let (error, _) = bench.error(tool, arguments);
        assert!(error.message.ends_with("rerun the tool that created it"), "{tool}: {}", error.message);
    }
}

#[test]
fn packed_logs_answer_alike() {
    let bench = Bench::packed();
    check(&bench, 60, &[0, 59]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn mixed_logs_answer_like_the_sound_ones(
        count in 30..120_usize, at in proptest::collection::btree_set(0..30_usize, 1..4)
    ) {
        check(&Bench::new(), count, &at.into_iter().collect::<Vec<_>>());
    }
}
