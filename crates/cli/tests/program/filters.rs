//! `--where`: commands process only the records that pass it.

use serde_json::json;

use crate::common::{Folder, data, gzip, line, piped, read, run, zstd};

const LOG: &str = "log.jsonl";
const ERRORS: [&str; 2] = ["--where", "@.level == \"error\""];

fn with<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    args.iter().chain(more).copied().collect()
}

#[test]
fn equivalent_filters_keep_the_same_records() {
    for filter in ["@.ms > 100", "$.ms > 100", "?@.ms > 100", "[?(@.ms > 100)]", "[? @.ms>1e2 ]"] {
        assert_eq!(run(["extract", LOG, "$.id", "--where", filter]).ok(), "2\n4\n", "{filter}");
        assert_eq!(run(["count", LOG, "$", "--where", filter]).json()["total"], 2, "{filter}");
    }
}

#[test]
fn several_filters_must_all_hold() {
    let args =
        ["extract", LOG, "$.id", "--where", "@.ms > 10", "--where", "@.level == 'error'", "--where=!@.tags"];
    assert_eq!(run(args).ok(), "4\n");
}

#[test]
fn extract_keeps_locations_of_the_whole_input() {
    let located = run(with(&["extract", LOG, "$.id", "--output", "located"], &ERRORS)).ok();
    let values: Vec<serde_json::Value> =
        located.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values.iter().map(|value| &value["record"]).collect::<Vec<_>>(), [&json!(1), &json!(3)]);
    let text = read(data().join(LOG));
    for value in &values {
        let span = value["start"].as_u64().unwrap() as usize..value["end"].as_u64().unwrap() as usize;
        assert_eq!(String::from_utf8_lossy(&text[span]), value["value"].to_string());
    }
    assert_eq!(run(with(&["extract", LOG, "$.id", "--limit", "1"], &ERRORS)).ok(), "2\n");
    assert_eq!(run(with(&["extract", LOG, "$"], &["--where", "@.tags"])).ok().lines().count(), 1);
    let document = run(with(&["extract", LOG, "$.id", "$.tags", "--json"], &ERRORS)).json();
    assert_eq!(document, json!({"extracted": {"$.id": [2, 4], "$.tags": [["db"]]}}));
}

#[test]
fn count_counts_in_kept_records_for_every_type() {
    let total = |args: &[&str]| run(with(&with(&["count", LOG], args), &ERRORS)).json()["total"].take();
    assert_eq!(total(&["$"]), 2);
    assert_eq!(total(&["$.tags", "--as", "array_length"]), 1);
    assert_eq!(total(&["$", "--as", "object_keys"]), 7);
    assert_eq!(total(&["$", "--as", "nested_total"]), 7);
    assert_eq!(total(&["$.*", "--limit", "3"]), 3);
    let none = run(["count", LOG, "$", "--where", "@.nope", "--exit-status"]);
    assert_eq!((none.status, none.err.as_str()), (Some(1), ""));
}

#[test]
fn samples_draw_from_kept_records() {
    let drawn = run(with(&["sample", LOG, "$", "-n", "5", "--seed", "1", "--json"], &ERRORS)).json();
    assert_eq!((&drawn["total_items"], &drawn["indices"]), (&json!(2), &json!([0, 1])));
    let ids = ["sample", LOG, "$.id", "-n", "2", "--seed", "1"];
    assert_eq!(run(with(&ids, &ERRORS)).ok().lines().count(), 2);
    let last = run(["sample", LOG, "$", "-n", "1", "--strategy", "last", "--where", "@.level == 'info'"]);
    assert_eq!(last.ok(), "{\"id\":3,\"level\":\"info\",\"ms\":7}\n");
    let evenly = run(with(&["sample", LOG, "$", "-n", "1", "--strategy", "systematic"], &ERRORS));
    assert!(evenly.ok().starts_with("{\"id\":2,"));
}

#[test]
fn stats_and_schema_describe_kept_records() {
    let described = run(with(&["stats", LOG], &ERRORS)).json();
    assert_eq!((&described["records"], &described["size"]["bytes"]), (&json!(2), &json!(94)));
    assert_eq!(
        described["objects"],
        json!([{"path": "$", "keys": 7, "count": 2, "min_keys": 3, "max_keys": 4}])
    );
    let overview = run(with(&["stats", LOG, "--only", "structure,types"], &ERRORS)).json();
    assert_eq!((&overview["records"], &overview["size"]), (&described["records"], &described["size"]));
    assert_eq!(overview["types"], described["types"]);
    let schema = run(["schema", LOG, "--where", "@.level == 'info'"]).json();
    assert_eq!(schema["properties"]["ms"], json!({"type": "integer"}));
    assert_eq!(schema["properties"].get("tags"), None);
}

#[test]
fn every_input_is_filtered_alike() {
    let text = read(data().join(LOG));
    let folder = Folder::new("filters");
    let files = [
        folder.file("a.jsonl", &text),
        folder.file("b.jsonl.gz", gzip(&text)),
        folder.file("c.ndjson.zst", zstd(&text)),
        folder.file("d.json", &text),
    ];
    for file in &files {
        for options in [&[][..], &["--no-mmap"], &["--threads", "1"], &["--strict"], &["--order", "document"]]
        {
            let args = with(&with(&["extract", file, "$.id", "$.tags"], options), &ERRORS);
            let kept = run(&args).ok();
            assert_eq!(
                kept.lines().filter(|line| ["2", "4", "[\"db\"]"].contains(line)).count(),
                3,
                "{args:?}"
            );
        }
    }
    assert_eq!(piped(with(&["extract", "-", "$.id"], &ERRORS), &text).ok(), "2\n4\n");
    let sequence: Vec<u8> =
        text.split(|&byte| byte == b'\n').flat_map(|line| [b"\x1e", line, b"\n"].concat()).collect();
    assert_eq!(piped(with(&["extract", "-", "$.id"], &ERRORS), &sequence).ok(), "2\n4\n");
}

/// Records that a filter drops are validated, and malformed ones are reported.
#[test]
fn dropped_records_are_validated() {
    let text = b"{\"n\":1,\"x\":tru}\n{\"n\":2}\n{\"n\":3,\"x\":[}\n";
    let kept = |options: &[&str]| {
        piped(with(&["extract", "-", "$.n", "--input", "jsonl", "--where", "@.n == 2"], options), text)
    };
    let loose = kept(&[]);
    assert_eq!((loose.status, loose.out.as_str()), (Some(1), "2\n"), "{}", loose.err);
    assert!(loose.err.contains("record 2"), "{}", loose.err);
    let strict = kept(&["--strict"]);
    assert_eq!((strict.status, strict.out.as_str()), (Some(1), ""));
    assert!(strict.err.contains("record 0"), "{}", strict.err);
    let skipping = kept(&["--on-bad-record", "skip"]);
    assert_eq!((skipping.status, skipping.out.as_str()), (Some(0), "2\n"));
    assert!(skipping.err.contains("2 malformed records"), "{}", skipping.err);
}

/// A single document is kept or dropped as a whole. A note names the query that filters its
/// elements.
#[test]
fn dropped_documents_get_a_note_with_a_query() {
    let kept = line("count users.json $.users[*] --where @.meta");
    assert_eq!(kept.json()["total"], 4);
    for args in [
        &["count", "users.json", "$.users[*]"][..],
        &["extract", "users.json", "$.users[*].name"],
        &["stats", "users.json"],
        &["schema", "users.json"],
        &["sample", "users.json", "$.users", "-n", "2", "--seed", "1"],
    ] {
        let dropped = run(with(args, &["--where", "@.age > 30"]));
        assert_eq!(dropped.status, Some(0), "{args:?}");
        assert!(dropped.err.contains("add `--each '$.users[*]'`"), "{args:?} {}", dropped.err);
    }
    let suggested = run(["extract", "users.json", "--each", "$.users[*]", "--where", "@.age > 30"]);
    assert_eq!(suggested.ok().lines().count(), 1);
    let pipe = piped(["count", "-", "$", "--where", "@.age > 30"], &read(data().join("users.json")));
    assert!(pipe.err.contains("--where drops the only document") && !pipe.err.contains('`'), "{}", pipe.err);
    // In a stream it is common that no record passes.
    assert_eq!(run(["extract", LOG, "$", "--where", "@.age > 30"]).ok(), "");
}

#[test]
fn invalid_filters_are_underlined() {
    for command in ["extract", "count", "stats"] {
        let refused = run([command, LOG, "$", "--where", "@.a", "--where", "@.level = 'x'"]).failed(2);
        assert!(refused.contains("in --where") && refused.contains("@.level = 'x'"), "{refused}");
        assert!(refused.contains('^') && refused.contains("=="), "{refused}");
    }
    assert!(run(["schema", LOG, "--where", ""]).failed(2).contains("in --where"));
    assert!(run(["sample", LOG, "$", "-n", "1", "--where", "$.a["]).failed(2).contains("in --where"));
}

#[test]
fn other_commands_name_the_filtering_ones() {
    for command in ["check", "put", "read", "list", "tools"] {
        let refused = run([command, "--where", "@.a"]).failed(2);
        let names = "extract, count, group, sample, stats, and schema take --where";
        assert!(refused.contains(names), "{command}: {refused}");
    }
}
