//! Cursors that work with `id` alone.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Answer, Bench};

fn bench() -> Bench {
    let bench = Bench::new();
    let level = |n| if n % 2 == 0 { "info" } else { "error" };
    let record = |n| json!({ "n": n, "level": level(n), "text": "x".repeat(n) });
    let records = (0..300).map(record).collect::<Vec<_>>();
    let lines: Vec<_> = records.iter().map(|record| format!("{record}\n")).collect();
    bench.put("lines", lines.concat());
    bench.put("document", json!({ "records": records }).to_string());
    bench
}

/// Calls whose answers have several pages.
fn calls() -> [(&'static str, Value); 6] {
    [
        ("extract", json!({"id": "lines", "paths": ["$.n", "$.text"], "where": ["@.level == 'error'"]})),
        ("sample", json!({"id": "document", "path": "$.records", "size": 50, "seed": 7})),
        (
            "stats",
            json!({"id": "document", "include_values": true, "include_schema": true, "include_fields": true}),
        ),
        ("read", json!({"id": "document", "path": "$.records"})),
        ("aggregate", json!({"id": "lines", "by": ["$.n"], "sum": ["$.n"], "sort": "key"})),
        ("search", json!({"id": "lines", "pattern": "err", "limit": 20})),
    ]
}

/// Returns all pages, each requested with the ID and the cursor of the page before.
fn walk_by_id(bench: &Bench, tool: &str, arguments: &Value) -> Vec<Answer> {
    let mut pages = vec![bench.ok(tool, arguments.clone())];
    while let Some(next) = pages.last().unwrap().next() {
        pages.push(bench.ok(tool, json!({"id": arguments["id"], "cursor": next})));
        assert!(pages.len() < 1_000, "{tool} does not end");
    }
    pages
}

#[test]
fn a_cursor_works_with_the_id_alone() {
    let bench = bench();
    for (tool, mut arguments) in calls() {
        arguments["max_chars"] = json!(900);
        let expected = bench.walk(tool, &arguments);
        let found = walk_by_id(&bench, tool, &arguments);
        let texts = |pages: &[Answer]| pages.iter().map(|page| page.text.clone()).collect::<Vec<_>>();
        assert!(expected.len() > 2, "{tool}: {}", expected.len());
        assert_eq!(texts(&found), texts(&expected), "{tool}");
    }
}

#[test]
fn the_length_of_a_page_may_change() {
    let bench = bench();
    let first = bench.ok("read", json!({"id": "document", "path": "$.records", "max_chars": 500}));
    let second = bench.ok("read", json!({"id": "document", "cursor": first.next(), "max_chars": 5_000}));
    assert!(second.text.len() > 4_000);
    let page = bench.ok("search", json!({"id": "lines", "pattern": "err", "limit": 2}));
    let next = bench.ok("search", json!({"id": "lines", "cursor": page.next(), "limit": 5}));
    assert_eq!(next.value["matches"].as_array().unwrap().len(), 5);
}

#[test]
fn repeated_arguments_must_agree() {
    let bench = bench();
    let arguments = json!({"id": "document", "paths": ["$.records[*].n"], "max_chars": 300});
    let next = bench.ok("extract", arguments.clone()).next().unwrap().to_owned();
    let again = |change: Value| {
        let mut arguments = json!({"id": "document", "cursor": next});
        arguments.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        arguments
    };
    let expected = bench.ok("extract", again(json!({}))).text;
    for same in [
        json!({"paths": ["$.records[*].n"]}),
        json!({"paths": "$.records[*].n"}),
        json!({"paths": null, "flatten": false, "where": []}),
    ] {
        assert_eq!(bench.ok("extract", again(same.clone())).text, expected, "{same}");
    }
    for (name, other) in [
        ("paths", json!({"paths": ["$.records[*].level"]})),
        ("flatten", json!({"flatten": true})),
        ("where", json!({"where": ["@.n > 1"]})),
        ("default_value", json!({"default_value": 1})),
    ] {
        let message = bench.refused("extract", again(other));
        assert!(
            message.contains(&format!("`{name}` differs from the call that returned the cursor")),
            "{message}"
        );
        assert!(message.contains(&format!("leave out `{name}` to continue")), "{message}");
    }
}

/// Without the entry, the arguments are needed again, and are enough.
#[test]
fn forgotten_arguments_are_asked_for() {
    let bench = bench();
    for (tool, mut arguments) in calls() {
        arguments["max_chars"] = json!(900);
        let next = bench.ok(tool, arguments.clone()).next().unwrap().to_owned();
        let expected = bench.ok(tool, json!({"id": arguments["id"], "cursor": next})).text;
        for file in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
            fs::remove_file(bench.store.root().join(file)).unwrap();
        }
        let message = bench.refused(tool, json!({"id": arguments["id"], "cursor": next}));
        assert!(message.contains("pass the arguments of") && message.contains("again"), "{tool}: {message}");
        arguments["cursor"] = json!(next);
        assert_eq!(bench.ok(tool, arguments.clone()).text, expected, "{tool}");
    }
}

#[test]
fn cursors_belong_to_their_tool_and_output() {
    let bench = bench();
    let next = bench
        .ok("read", json!({"id": "document", "path": "$.records", "max_chars": 500}))
        .next()
        .unwrap()
        .to_owned();
    for (tool, id) in [("read", "lines"), ("stats", "document"), ("read", "missing")] {
        bench.refused(tool, json!({"id": id, "cursor": next}));
    }
    let message = bench.refused("extract", json!({"id": "document", "cursor": next}));
    assert!(message.contains("the arguments that belong to the cursor are not known"), "{message}");
    assert!(message.contains("`paths`"), "{message}");
}
