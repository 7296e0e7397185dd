//! Errors name the tool, the action that failed, the reason, and what to do next (R45), and reveal
//! no secrets (R25).

use std::fmt::Write as _;

use serde_json::{Value, json};
use trommel_tool::ErrorKind;

use crate::damage::damage;
use crate::support::Bench;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.put("an-output", r#"{"users": [{"name": "Ada"}], "secret": "canary-5e1f"}"#);
    bench.put("a-text", "just some words");
    bench
}

fn asked(tool: &str, id: &str) -> Value {
    match tool {
        "extract" => json!({ "id": id, "paths": ["$"] }),
        "count" => json!({ "id": id, "counts": [{ "name": "n", "path": "$", "count_type": "matches" }] }),
        "sample" => json!({ "id": id, "path": "$.users", "size": 1 }),
        _ => json!({ "id": id }),
    }
}

const TOOLS: [&str; 5] = ["stats", "extract", "count", "sample", "read"];

#[test]
fn unknown_ids_are_refused_by_every_tool() {
    let bench = bench();
    for tool in TOOLS {
        for (id, code) in
            [("no-such-output", "not_found"), ("../../etc/passwd", "invalid_id"), ("", "invalid_id")]
        {
            let (error, metadata) = bench.error(tool, asked(tool, id));
            assert_eq!(error.kind, ErrorKind::Refused, "{tool} {id}");
            assert!(error.message.starts_with(&format!("tool_outputs.{tool}: cannot ")), "{}", error.message);
            assert_eq!(metadata["code"], code, "{tool} {id}: {}", error.message);
        }
        assert!(bench.call(tool, asked(tool, "an-output")).result.success, "{tool}");
        assert!(bench.call(tool, asked(tool, "an-out")).result.success, "{tool} by a prefix");
    }
    bench.put("an-outpost", "1");
    let (error, metadata) = bench.error("stats", json!({ "id": "an-outp" }));
    assert_eq!(metadata["code"], "ambiguous", "{}", error.message);
    assert_eq!(metadata["candidates"], json!(["an-outpost", "an-output"]));
}

#[test]
fn text_outputs_refer_to_read() {
    let bench = bench();
    for tool in ["stats", "extract", "count", "sample"] {
        let message = bench.refused(tool, asked(tool, "a-text"));
        assert!(message.contains("it is text, not JSON"), "{message}");
        assert!(
            message.ends_with(
                "tool_outputs.search finds lines in it, and tool_outputs.read reads it page by page"
            ),
            "{message}"
        );
    }
}

#[test]
fn invalid_queries_are_explained() {
    let bench = bench();
    let cases = [
        ("extract", json!({ "id": "an-output", "paths": ["$.users[?@.name = 'Ada']"] })),
        (
            "count",
            json!({ "id": "an-output", "counts": [{ "name": "n", "path": "$.users", "filter": "@.name = 'Ada'" }] }),
        ),
        ("sample", json!({ "id": "an-output", "path": "$.users[?@.name = 'Ada']", "size": 1 })),
        ("stats", json!({ "id": "an-output", "paths": ["$.users[?@.name = 'Ada']"] })),
        ("read", json!({ "id": "an-output", "path": "$.users[?@.name = 'Ada']" })),
    ];
    for (tool, arguments) in cases {
        let (error, metadata) = bench.error(tool, arguments);
        assert_eq!(error.kind, ErrorKind::Refused);
        assert!(error.message.contains("write `==` instead of `=`"), "{}", error.message);
        assert!(metadata["suggestion"].as_str().unwrap().contains("@.name == 'Ada'"));
        assert!(metadata["offset"].is_u64() && metadata["code"].as_str().unwrap().starts_with("query-"));
    }
    let long = format!("$.{}[", "x".repeat(70_000));
    let message = bench.refused("extract", json!({ "id": "an-output", "paths": [long] }));
    assert!(message.len() < 1_000, "{}", message.len());
}

#[test]
fn cursors_of_other_requests_are_refused() {
    let bench = Bench::new();
    let numbers: Vec<u64> = (0..2_000).collect();
    bench.put("numbers", json!({ "a": numbers }).to_string());
    bench.put("others", json!({ "a": numbers, "b": 1 }).to_string());
    let arguments = json!({ "id": "numbers", "paths": ["$.a[*]"], "max_chars": 300 });
    let next = bench.ok("extract", arguments.clone()).next().unwrap().to_owned();
    let refused = |tool: &str, mut arguments: Value, cursor: &str| {
        arguments["cursor"] = json!(cursor);
        bench.refused(tool, arguments)
    };
    let mut other = arguments.clone();
    other["paths"] = json!(["$.a[*]", "$.b"]);
    let mut flat = arguments.clone();
    flat["flatten"] = json!(true);
    let mut elsewhere = arguments.clone();
    elsewhere["id"] = json!("others");
    let damaged = format!("{}x", &next[..next.len() - 1]);
    for (arguments, name) in [(other, "paths"), (flat, "flatten")] {
        let message = refused("extract", arguments, &next);
        assert!(message.contains(&format!("`{name}` differs from the call")), "{message}");
    }
    for (tool, arguments, cursor) in [
        ("extract", elsewhere, next.as_str()),
        ("extract", arguments.clone(), &damaged),
        ("extract", arguments.clone(), "garbage"),
        ("sample", json!({ "id": "numbers", "path": "$.a", "size": 5 }), &next),
        ("stats", json!({ "id": "numbers" }), &next),
        ("read", json!({ "id": "numbers" }), &next),
    ] {
        let message = refused(tool, arguments, cursor);
        assert!(message.contains("the cursor does not belong to this call"), "{message}");
    }
    let message = refused("extract", arguments.clone(), "2abcdef");
    assert!(message.contains("later release"), "{message}");
    // `max_chars` may change from page to page.
    let mut wider = arguments;
    wider["cursor"] = json!(next);
    wider["max_chars"] = json!(400);
    bench.ok("extract", wider);
}

#[test]
fn answers_that_cannot_fit_report_the_needed_size() {
    let bench = bench();
    let path = format!("$.users[0]['{}']", "n".repeat(400));
    let (error, metadata) =
        bench.error("extract", json!({ "id": "an-output", "paths": [path], "max_chars": 250 }));
    assert_eq!(error.kind, ErrorKind::Refused);
    let needed = metadata["needed"].as_u64().unwrap();
    assert!(error.message.contains(&format!("pass `max_chars` of {needed} or more")), "{}", error.message);
    bench.ok("extract", json!({ "id": "an-output", "paths": [path], "max_chars": needed }));
}

#[test]
fn r25_errors_do_not_contain_payloads() {
    let bench = bench();
    let cases = [
        ("count", json!({ "id": "an-output", "counts": [{ "name": "n", "path": "$.secret" }] })),
        ("sample", json!({ "id": "an-output", "path": "$.secret", "size": 1 })),
        ("read", json!({ "id": "an-output", "path": "$.secret.x" })),
        ("read", json!({ "id": "an-output", "path": "$.*" })),
    ];
    for (tool, arguments) in cases {
        let (error, metadata) = bench.error(tool, arguments);
        let text = format!("{error:?} {metadata:?}");
        assert!(!text.contains("canary"), "{text}");
    }
}

/// R45: every error that arguments or a payload can cause has a code and a message, which a golden
/// file pins.
#[test]
fn r45_errors_match_the_golden_file() {
    let bench = bench();
    bench.put("an-outpost", "[1, 2]");
    bench.put("lines", "{\"a\": 1}\n{\"a\": [2]}\n");
    bench.put("deep", format!("[{}{}]", "[".repeat(30_000), "]".repeat(30_000)));
    let groups: Vec<Value> = (0..10_001).map(|group| json!({ "group": group })).collect();
    bench.put("groups", Value::from(groups).to_string());
    bench.put("torn", "[1, 2, 3]");
    damage(&bench, "torn", "3", "}");
    let count =
        |count_type: &str, path: &str| json!([{ "name": "n", "path": path, "count_type": count_type }]);
    let cases = [
        ("stats", json!({ "id": "no-such-output" })),
        ("stats", json!({ "id": "../../etc/passwd" })),
        ("stats", json!({ "id": "an-out" })),
        ("stats", json!({ "id": "a-text" })),
        ("stats", json!({ "id": "torn" })),
        ("stats", json!({ "id": "an-output", "paths": ["$.users[?@.name = 'Ada']"] })),
        ("list", json!({ "after": 2, "before": 1 })),
        ("extract", json!({ "id": "an-output", "paths": ["$.users["] })),
        ("extract", json!({ "id": "an-output", "paths": ["$"], "cursor": "garbage" })),
        ("extract", json!({ "id": "an-output", "paths": ["$"], "cursor": "2abcdef" })),
        (
            "extract",
            json!({ "id": "an-output", "paths": [format!("$['{}']", "n".repeat(300))], "max_chars": 250 }),
        ),
        ("extract", json!({ "id": "deep", "paths": ["$..x"] })),
        (
            "count",
            json!({ "id": "an-output", "counts": [{ "name": "n", "path": "$" }, { "name": "n", "path": "$" }] }),
        ),
        ("count", json!({ "id": "an-output", "counts": count("array_length", "$.secret") })),
        ("count", json!({ "id": "lines", "counts": count("object_keys", "$.a") })),
        ("sample", json!({ "id": "an-output", "path": "$.secret", "size": 1 })),
        ("sample", json!({ "id": "an-output", "path": "$.users", "size": 1, "stride": 2 })),
        ("sample", json!({ "id": "an-output", "path": "$.users", "size": 1, "seed": 1e300 })),
        ("sample", json!({ "id": "an-output", "path": "$.users", "size": 1, "strategy": "stratified" })),
        ("sample", json!({ "id": "an-output", "path": "$.users", "size": 1, "strata_path": "$.name" })),
        (
            "sample",
            json!({ "id": "groups", "path": "$", "size": 1, "strategy": "stratified", "strata_path": "$.group" }),
        ),
        ("read", json!({ "id": "an-output", "path": "$.*" })),
        ("read", json!({ "id": "an-output", "path": "$.user" })),
        ("read", json!({ "id": "a-text", "path": "$.a" })),
    ];
    let mut shown = String::new();
    for (tool, arguments) in cases {
        let (error, metadata) = bench.error(tool, arguments.clone());
        let mut asked = arguments.to_string();
        if asked.len() > 120 {
            asked.truncate(120);
            asked.push('…');
        }
        let code = metadata.get("code").and_then(Value::as_str);
        let code = code.unwrap_or_else(|| panic!("{tool} {asked}: {error:?}"));
        assert!(error.message.starts_with(&format!("tool_outputs.{tool}: cannot ")), "{}", error.message);
        write!(shown, "{tool} {asked}\n{:?}, {code}\n{}\n\n", error.kind, error.message).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/errors.txt");
    trommel_testkit::golden::assert_golden(path, &shown);
}
