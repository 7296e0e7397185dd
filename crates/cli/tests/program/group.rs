//! `trommel group`: keys, figures, order, limits, and errors.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::{self, Folder, line, run};

const LOG: &str = r#"{"level":"info","ms":3,"user":{"id":1},"tags":["a"]}
{"level":"error","ms":0.1,"user":{"id":2},"tags":["b","a"]}
{"level":"\u0069nfo","ms":4,"user":{"id":1.0},"tags":[]}
{"level":"error","ms":0.20,"user":{"id":"1"},"tags":["a"]}
{"level":null,"ms":12345678901234567890,"user":{}}
{"ms":null}
"#;

fn log() -> (Folder, String) {
    let folder = Folder::new("group");
    let log = folder.file("log.jsonl", LOG);
    (folder, log.as_str().to_owned())
}

fn group(args: &[&str]) -> common::Run {
    let (_folder, log) = log();
    run(["group", &log].iter().chain(args))
}

#[test]
fn groups_are_printed_as_first_written_and_most_frequent_first() {
    assert_eq!(
        group(&["$.level"]).ok(),
        concat!(
            r#"{"groups":[{"key":{"level":"info"},"count":2},{"key":{"level":"error"},"count":2},"#,
            r#"{"key":{"level":null},"count":1},{"key":{},"count":1}],"total":6,"total_groups":4}"#,
            "\n"
        )
    );
    assert_eq!(
        group(&["$.user.id", "t=$.tags[*]", "--top", "3"]).json()["groups"],
        json!([
            {"key": {}, "count": 2},
            {"key": {"id": 1, "t": "a"}, "count": 1},
            {"key": {"id": 2, "t": ["b", "a"]}, "count": 1},
        ])
    );
    let ids = group(&["$.user.id"]).ok();
    assert!(
        ids.contains(r#"{"key":{"id":1},"count":2}"#) && ids.contains(r#"{"key":{"id":"1"},"count":1}"#),
        "{ids}"
    );
}

#[test]
fn figures_are_exact() {
    let args = [
        "$.level",
        "--sum",
        "$.ms",
        "--mean",
        "m=$.ms",
        "--min",
        "$.ms",
        "--max",
        "$.ms",
        "--distinct",
        "$.tags[*]",
    ];
    let answer = group(&args).ok();
    for part in [
        r#"{"key":{"level":"info"},"count":2,"sum":{"ms":7},"mean":{"m":3.5},"min":{"ms":3},"max":{"ms":4},"distinct":{"tags":1}}"#,
        r#"{"key":{"level":"error"},"count":2,"sum":{"ms":0.3},"mean":{"m":0.15},"min":{"ms":0.1},"max":{"ms":0.20},"distinct":{"tags":2}}"#,
        r#"{"key":{"level":null},"count":1,"sum":{"ms":12345678901234567890},"#,
        r#"{"key":{},"count":1,"sum":{"ms":null},"mean":{"m":null},"min":{"ms":null},"max":{"ms":null},"distinct":{"tags":0}}"#,
    ] {
        assert!(answer.contains(part), "{part} in {answer}");
    }
}

#[test]
fn groups_are_sorted_and_filtered() {
    let keys = |args: &[&str]| {
        let answer = group(args).json();
        let groups = answer["groups"].as_array().unwrap().iter();
        groups.map(|group| group["key"].get("level").cloned().unwrap_or(json!("-"))).collect::<Vec<_>>()
    };
    assert_eq!(keys(&["$.level", "--sort", "key"]), [json!("-"), json!(null), json!("error"), json!("info")]);
    assert_eq!(
        keys(&["$.level", "--sum", "$.ms", "--sort", "sum:ms", "--top", "2"]),
        [json!(null), json!("info")]
    );
    assert_eq!(
        keys(&["$.level", "--min", "$.ms", "--sort", "min"]),
        [json!(null), json!("info"), json!("error"), json!("-")]
    );
    assert_eq!(keys(&["$.level", "--where", "@.ms < 1"]), [json!("error")]);
    assert_eq!(group(&["$.level", "--where", "@.ms < 1"]).json()["total"], 2);
}

#[test]
fn several_files_are_one_sequence() {
    let (folder, log) = log();
    let more = folder.file("more.jsonl", "{\"level\":\"warn\"}\n{\"level\":\"info\"}\n");
    let together = run(["group", "$.level", &log, more.as_str()]).json();
    assert_eq!(
        (&together["total"], &together["groups"][0]),
        (&json!(8), &json!({"key": {"level": "info"}, "count": 3}))
    );
    let by_file = run(["group", "$.level", &log, more.as_str(), "--by-file"]).json();
    assert_eq!(by_file["total"], together);
    assert_eq!((&by_file["files"][0]["file"], &by_file["files"][0]["total"]), (&json!(log), &json!(6)));
    assert_eq!(by_file["files"][1]["groups"][0], json!({"key": {"level": "warn"}, "count": 1}));
    let piped = common::piped(["group", "$.level"], LOG.as_bytes());
    assert_eq!(piped.ok(), run(["group", "$.level", &log]).ok());
}

#[test]
fn usage_errors_name_the_remedy() {
    for (args, part) in [
        (&[][..], "no query to group by; add one, such as '$.level'"),
        (&["$.level", "level=$.ms"], "two keys or figures are named level; rename one with NAME=QUERY"),
        (&["$.level", "--sum", "$.ms", "--sum", "$.a.ms"], "two keys or figures are named ms"),
        (&["$.level", "--sort", "sum:ms"], "there is no order sum:ms; sort by one of count, key"),
        (
            &["$.level", "--sum", "$.ms", "--sum", "a=$.ms", "--sort", "sum"],
            "sort by one of count, key, sum:ms, sum:a",
        ),
        (&["$.level", "--sum", ".ms"], "write `$.ms`"),
        (&["$.level", "--top", "0"], "must be at least 1"),
        (&["$.level", "--max-group-bytes", "much"], "expected a size"),
    ] {
        let refused = group(args).failed(2);
        assert!(refused.contains(part), "{refused}");
    }
    let same_name = group(&["$.level", "--sum", "level=$.ms", "--max", "level=$.ms"]);
    assert_eq!(same_name.json()["groups"][0]["max"], json!({"level": 4}), "names are unique per kind");
}

#[test]
fn unusable_values_are_errors_with_record_and_path() {
    let failed = group(&["$.level", "--sum", "$.tags[*]"]).failed(1);
    for part in [
        "error[unusable_value]",
        "$['tags'][0] is a string, but the sum tags takes numbers only",
        "record 0",
        "--where",
    ] {
        assert!(failed.contains(part), "{failed}");
    }
    let failed = group(&["$.level", "--max", "$.user.id"]).failed(1);
    assert!(
        failed.contains("$['user']['id'] is a string after numbers") && failed.contains("record 3"),
        "{failed}"
    );
}

#[test]
fn limits_are_errors_that_name_the_approximate_answer() {
    let failed = group(&["$.ms", "--max-groups", "2"]).failed(1);
    for part in ["error[group_limit]", "more than 2 groups", "record 2", "--approximate", "--max-groups"] {
        assert!(failed.contains(part), "{failed}");
    }
    let failed = group(&["$.ms", "--max-group-bytes", "100"]).failed(1);
    assert!(failed.contains("more than 100 B") && failed.contains("--max-group-bytes"), "{failed}");
    let approximate = group(&["$.level", "--max-groups", "2", "--approximate"]).json();
    assert_eq!(
        approximate,
        json!({
            "groups": [{"key": {"level": "info"}, "count": 2}, {"key": {"level": "error"}, "count": 2}],
            "total": 6, "total_groups": 4, "approximate": true, "error": 1
        })
    );
    let exact = group(&["$.level", "--approximate"]).ok();
    assert_eq!(exact, group(&["$.level"]).ok(), "within the limits, the answer is exact");
}

#[test]
fn keys_that_match_nothing_are_noted() {
    let run = group(&["$.levle"]);
    assert_eq!(run.status, Some(0));
    assert!(
        run.err.contains("note: `$.levle` selects nothing; the nearest path is `$.level`"),
        "{}",
        run.err
    );
    assert_eq!(group(&["$.levle", "--exit-status"]).status, Some(1));
    assert_eq!(group(&["$.levle", "$.level", "-e"]).status, Some(0));
    let figure = group(&["$.level", "--sum", "$.user.idd"]);
    assert!(figure.err.contains("the nearest path is `$.user.id`"), "{}", figure.err);
}

/// One document is one record, unless `--each` makes its elements the records.
#[test]
fn single_documents_get_a_note_that_names_the_option() {
    let run = line("group users.json $.users[*].country");
    assert_eq!(
        run.out,
        "{\"groups\":[{\"key\":{\"country\":[\"UK\",\"FR\",\"UK\"]},\"count\":1}],\"total\":1,\"total_groups\":1}\n"
    );
    assert!(run.err.contains("note: the input is one document, and so one record"), "{}", run.err);
    assert!(run.err.contains("add `--each '$.users[*]'`"), "{}", run.err);
    let each = line("group users.json $.country --each $.users[*] --max $.name");
    assert_eq!(
        each.ok(),
        concat!(
            r#"{"groups":[{"key":{"country":"UK"},"count":2,"max":{"name":"Cyd"}},{"key":{"country":"FR"},"count":1,"#,
            r#""max":{"name":"Bob"}},{"key":{},"count":1,"max":{"name":"D\u00fcr"}}],"total":4,"total_groups":3}"#,
            "\n"
        )
    );
    assert_eq!(
        line("group log.jsonl $.level --where @.id==1").ok().matches("level").count(),
        1,
        "a stream gets no note"
    );
    let failed = line("group users.json $.country --each $.users[*] --sum $.name").failed(1);
    assert!(failed.contains("$['users'][0]['name'] is a string"), "{failed}");
    let folder = Folder::new("group-document");
    let long = folder.file("long.json", format!("[{}1]", "\"0123456789\",".repeat(6000)));
    let failed = common::run(["group", long.as_str(), "$[*]"]).failed(1);
    assert!(failed.contains("more than 64 KiB") && failed.contains("add --each '$.array[*]'"), "{failed}");
}

#[test]
fn damaged_records_are_in_no_group() {
    let run = line("group damaged.jsonl $.id --on-bad-record skip");
    let answer: Value = serde_json::from_str(&run.out).unwrap();
    let count = line("count damaged.jsonl --on-bad-record skip");
    let counted: Value = serde_json::from_str(&count.out).unwrap();
    assert_eq!((&answer["total"], run.err), (&counted["total"], count.err));
}

/// Random lines, grouped by jq. Its numbers are doubles, so the values are small integers.
#[test]
fn answers_are_those_of_jq() {
    let version = Command::new("jq").arg("--version").stderr(Stdio::null()).output();
    if !version.is_ok_and(|version| version.status.success()) {
        println!("jq is not installed: answers were NOT compared with those of jq");
        return;
    }
    let folder = Folder::new("group-jq");
    let mut text = String::new();
    let mut state = 7_u64;
    for _ in 0..3000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let [level, service, ms] = [state >> 33, state >> 40, state >> 50].map(|bits| bits % 97);
        let service =
            if service % 9 == 0 { String::new() } else { format!("\"service\":\"s{}\",", service % 9) };
        let level = ["\"info\"", "\"warn\"", "null", "3"][level as usize % 4];
        text.extend(["{\"level\":", level, ",", &service, "\"ms\":", &ms.to_string(), "}\n"]);
    }
    let log = folder.file("log.jsonl", &text);
    let program = "[group_by([.level, .service])[] | {key: .[0] | del(.ms), count: length, sum: {ms: map(.ms) | add}, \
        min: {ms: map(.ms) | min}, max: {ms: map(.ms) | max}, distinct: {ms: map(.ms) | unique | length}}]";
    let jq = Command::new("jq").args(["-cs", program, log.as_str()]).output().unwrap();
    assert!(jq.status.success(), "{}", String::from_utf8_lossy(&jq.stderr));
    let expected: Vec<Value> = serde_json::from_slice(&jq.stdout).unwrap();
    let args =
        ["group", log.as_str(), "$.level", "$.service", "--sum", "$.ms", "--min", "$.ms", "--max", "$.ms"];
    let answer = run(args.into_iter().chain(["--distinct", "$.ms", "--sort", "key"])).json();
    let sorted = |mut groups: Vec<Value>| {
        groups.sort_by_key(|group| group["key"].to_string());
        groups
    };
    assert_eq!(sorted(answer["groups"].as_array().unwrap().clone()), sorted(expected));
}
