//! `tool_outputs.search`.

use serde_json::{Value, json};
use std::fmt::Write as _;
use trommel_testkit::generate::Random;

use crate::support::Bench;

/// Returns the matches of all pages.
fn all(bench: &Bench, arguments: &Value) -> Vec<Value> {
    let pages = bench.walk("search", arguments);
    for (page, rest) in pages.iter().zip((0..pages.len()).rev()) {
        let truncated = page.truncated();
        assert_eq!(truncated.is_some(), rest > 0);
        if let Some((reason, returned, _)) = truncated {
            assert!(["max_chars", "limit"].contains(&reason));
            assert_eq!(returned as usize, page.value["matches"].as_array().unwrap().len());
        }
    }
    pages.iter().flat_map(|page| page.value["matches"].as_array().unwrap().clone()).collect()
}

#[test]
fn lines_of_a_text_are_found_on_all_pages() {
    for bench in [Bench::new(), Bench::packed()] {
        let mut random = Random::new(3);
        let mut text = String::new();
        for number in 0..3_000 {
            let word = random.pick(&["hay", "needle", "NEEDLE", "日本 needle\r"]);
            writeln!(text, "{number}: {word}").unwrap();
        }
        bench.put("log", &text);
        for ignore_case in [false, true] {
            let mut offset = 0;
            let mut expected = Vec::new();
            for (line, number) in text.split('\n').zip(1..) {
                let shown = line.trim_end_matches('\r');
                let folded = if ignore_case { shown.to_lowercase() } else { shown.to_owned() };
                if let Some(at) = folded.find("needle") {
                    expected.push(json!({"line": number, "offset": offset + at, "text": shown}));
                }
                offset += line.len() + 1;
            }
            for (limit, max_chars) in [(1_000, 30_000), (7, 30_000), (1_000, 400)] {
                let arguments = json!({
                    "id": "log", "pattern": "needle", "ignore_case": ignore_case, "limit": limit, "max_chars": max_chars
                });
                assert!(all(&bench, &arguments) == expected, "{arguments}");
            }
        }
    }
}

#[test]
fn lines_around_matches_are_given_once() {
    let bench = Bench::new();
    bench.put("log", "1\n2 x\n3\n4\n5 x\n6\n7\n8\n9 x\n10\n");
    let expected = [
        json!({"line": 2, "offset": 4, "text": "2 x", "before": ["1"], "after": ["3", "4"]}),
        json!({"line": 5, "offset": 12, "text": "5 x", "after": ["6", "7"]}),
        json!({"line": 9, "offset": 22, "text": "9 x", "before": ["8"], "after": ["10"]}),
    ];
    for limit in [1, 2, 100] {
        let arguments = json!({"id": "log", "pattern": "x", "context": 2, "limit": limit});
        assert_eq!(all(&bench, &arguments), expected);
    }
}

#[test]
fn strings_of_json_have_their_path_record_and_offset() {
    for bench in [Bench::new(), Bench::packed()] {
        let text = "{\"a\": {\"needle\": \"hay\"}, \"b\": [\"a n\\u0065edle\", 1, {\"c\": \"needle\"}]}\n";
        bench.put("document", text);
        bench.put("records", format!("{text}[1]\n{text}"));
        bench.put("sequence", format!("\u{1e}{text}\u{1e}[1]\n\u{1e}{text}"));
        let first = json!({"path": "$['b'][0]", "offset": 34, "text": "a needle"});
        let second = json!({"path": "$['b'][2]['c']", "offset": 58, "text": "needle"});
        let arguments = json!({"id": "document", "pattern": "needle"});
        assert_eq!(all(&bench, &arguments), [first.clone(), second.clone()]);
        let arguments =
            json!({"id": "document", "pattern": "NEEDLE|hay", "regex": true, "ignore_case": true});
        assert_eq!(all(&bench, &arguments).len(), 3);
        for (id, shift, mark) in
            [("records", text.len() as u64 + 4, 0), ("sequence", text.len() as u64 + 6, 1)]
        {
            for limit in [1, 100] {
                let found = all(&bench, &json!({"id": id, "pattern": "needle", "limit": limit}));
                let row = |row: &Value, record: u64| {
                    let offset = row["offset"].as_u64().unwrap() + mark + record / 2 * shift;
                    json!({"path": row["path"], "record": record, "offset": offset, "text": row["text"]})
                };
                let expected = [row(&first, 0), row(&second, 0), row(&first, 2), row(&second, 2)];
                assert_eq!(found, expected, "{id}");
            }
        }
        // What was found can be read.
        let read = bench.value("read", json!({"id": "records", "record": 2, "path": "$['b'][2]['c']"}));
        assert_eq!(read["content"], "needle");
    }
}

#[test]
fn a_path_restricts_the_search() {
    let bench = Bench::new();
    bench.put(
        "a-shop",
        r#"{"users": [{"name": "x1", "tags": ["x2"]}, {"name": "y"}], "x": "x3", "z": {"name": "x4"}}"#,
    );
    bench.put("lines", "{\"a\": \"x\", \"b\": \"x\"}\n{\"b\": [\"x\"]}\n");
    let found = |id: &str, path: &str| -> Vec<String> {
        let rows = all(&bench, &json!({"id": id, "pattern": "x", "path": path, "limit": 1}));
        rows.iter().map(|row| format!("{} {}", row["record"], row["path"].as_str().unwrap())).collect()
    };
    assert_eq!(found("a-shop", "$.users"), ["null $['users'][0]['name']", "null $['users'][0]['tags'][0]"]);
    assert_eq!(found("a-shop", "$..name"), ["null $['users'][0]['name']", "null $['z']['name']"]);
    assert_eq!(found("a-shop", "$.users[?@.tags].tags"), ["null $['users'][0]['tags'][0]"]);
    assert_eq!(found("a-shop", "$.nothing"), Vec::<String>::new());
    assert_eq!(found("a-shop", "$").len(), 4);
    assert_eq!(found("lines", "$.b"), ["0 $['b']", "1 $['b'][0]"]);
}

#[test]
fn long_lines_and_strings_are_cut_around_the_match() {
    let bench = Bench::new();
    let hay = "x".repeat(2_000_000);
    bench.put("text-1", format!("{hay}needle{hay}"));
    bench.put("json-1", format!(r#"["{hay}needle{hay}"]"#));
    for (id, start) in [("text-1", 2_000_000), ("json-1", 2_000_002)] {
        let row = &all(&bench, &json!({"id": id, "pattern": "needle"}))[0];
        assert_eq!(row["offset"], start);
        let text = row["text"].as_str().unwrap();
        assert!(text.starts_with("…xx") && text.ends_with("xx…") && text.chars().count() == 302, "{text}");
    }
    let row = &all(&bench, &json!({"id": "json-1", "pattern": "needle", "context": 2}))[0];
    assert_eq!(row["text"], "…xxneedlexx…");
}

#[test]
fn rows_that_fit_no_page_are_shortened() {
    let bench = Bench::new();
    let line = format!("{} needle", "\u{1}".repeat(280));
    bench.put("text-1", format!("{line}\n{line}\n{line}\n"));
    bench.put("json-1", format!(r#"{{"{}": ["needle"]}}"#, "n".repeat(50_000)));
    for max_chars in [200, 300, 600, 5_000] {
        for (id, pattern) in [("text-1", "needle"), ("json-1", "needle")] {
            let arguments = json!({"id": id, "pattern": pattern, "context": 1, "max_chars": max_chars});
            let found = all(&bench, &arguments);
            let count = if id == "json-1" { 1 } else { 3 };
            assert_eq!(found.len(), count, "{arguments}");
            let is_short = id == "json-1" || max_chars < 1_000;
            assert_eq!(found[0].get("$truncated").is_some(), is_short, "{}", found[0]);
            assert!(found[0]["offset"].is_u64());
        }
    }
}

#[test]
fn searches_without_a_match_explain_plain_patterns() {
    let bench = Bench::new();
    bench.put("log", "a1b\n");
    let answer = bench.ok("search", json!({"id": "log", "pattern": r"a\db"}));
    assert_eq!(answer.value["matches"], json!([]));
    assert!(answer.value["warning"].as_str().unwrap().contains("`regex`"), "{}", answer.text);
    assert_eq!(bench.ok("search", json!({"id": "log", "pattern": "none"})).text, r#"{"matches":[]}"#);
    assert_eq!(all(&bench, &json!({"id": "log", "pattern": r"a\db", "regex": true})).len(), 1);
}

#[test]
fn invalid_requests_are_refused() {
    let bench = Bench::new();
    bench.put("log", "some text\n".repeat(100));
    for (arguments, why) in [
        (json!({"pattern": ""}), "must not be empty"),
        (json!({"pattern": "a(", "regex": true}), "unclosed group at character 2: `(`"),
        (json!({"pattern": "a", "path": "$.a"}), "it is text, not JSON, and has no paths"),
        (json!({"pattern": "a", "context": 51}), "at most 50 lines"),
        (json!({"pattern": "a", "cursor": "1nonsense"}), "the cursor does not belong to this call"),
    ] {
        let mut arguments = arguments;
        arguments["id"] = json!("log");
        let message = bench.refused("search", arguments.clone());
        assert!(message.contains(why), "{arguments}: {message}");
    }
    let page = bench.ok("search", json!({"id": "log", "pattern": "text", "limit": 3}));
    let message =
        bench.refused("search", json!({"id": "log", "pattern": "some", "limit": 3, "cursor": page.next()}));
    assert!(message.contains("cursor"), "{message}");
    let more = bench.ok("search", json!({"id": "log", "pattern": "text", "limit": 5, "cursor": page.next()}));
    assert_eq!(more.value["matches"][0]["line"], 4);
}
