//! Hints for queries that select nothing, and for requests that are almost valid.

use serde_json::{Value, json};

use crate::damage::damage;
use crate::support::Bench;

const STORE: &str = r#"{"products": [{"name": "a", "price": 150}, {"name": "b", "price": 5}], "total": 2}"#;

const LOG: &str = "{\"level\":\"info\",\"msg\":\"a\"}\n{\"level\":\"error\",\"msg\":\"b\"}\n{\"level\":\"error\",\"msg\":\"c\"}\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.put("store-1", STORE);
    bench.put("logs-1", LOG);
    bench
}

/// Returns the warnings of all four tools for a path.
fn warnings(bench: &Bench, id: &str, path: &str) -> Vec<Value> {
    let counts = json!([{ "name": "n", "path": path, "count_type": "matches" }]);
    let arguments = [
        ("extract", json!({ "id": id, "paths": [path] })),
        ("count", json!({ "id": id, "counts": counts })),
        ("stats", json!({ "id": id, "paths": [path] })),
        ("sample", json!({ "id": id, "path": path, "size": 1 })),
    ];
    arguments
        .iter()
        .map(|(tool, arguments)| bench.value(tool, arguments.clone())["warning"].clone())
        .collect()
}

fn all_end_in(warnings: &[Value], end: &str) {
    assert!(
        warnings.iter().all(|warning| warning.as_str().is_some_and(|text| text.ends_with(end))),
        "{warnings:?}"
    );
}

#[test]
fn suggests_the_nearest_path_even_inside_a_filter() {
    let bench = bench();
    for (path, nearest) in [
        ("$.products[?@.prise > 100]", "$.products[?@.price > 100]"),
        ("$.products[?@.price > 100].nane", "$.products[?@.price > 100].name"),
        ("$.products[*].prise", "$.products[*].price"),
    ] {
        let says = format!("`{path}` selects nothing; the nearest path is `{nearest}`");
        all_end_in(&warnings(&bench, "store-1", path), &says);
    }
}

#[test]
fn reports_the_length_of_the_array() {
    let says = "`$.products[2:4]` selects nothing: `$.products` has 2 elements";
    all_end_in(&warnings(&bench(), "store-1", "$.products[2:4]"), says);
}

#[test]
fn suggests_where_for_a_filter_on_records() {
    let bench = bench();
    let path = r#"$[?@.level=="error"].msg"#;
    let says = r#"to filter records, pass `where` as `@.level == "error"` with the path `$.msg`"#;
    all_end_in(&warnings(&bench, "logs-1", path), says);
}

#[test]
fn suggests_the_filter_that_keeps_records() {
    let bench = bench();
    let arguments = json!({ "id": "logs-1", "paths": ["$.msg"], "where": ["@.levle == 'error'"] });
    let warning = bench.value("extract", arguments)["warning"].clone();
    assert!(
        warning.as_str().unwrap().ends_with(r#"one that selects something is `@.level == "error"`"#),
        "{warning}"
    );
    // Only matches in records that the filters keep count.
    for (path, says) in [("$.mag", "the nearest path is `$.msg`"), ("$.mgs", "the nearest path is `$.msg`")] {
        let arguments = json!({ "id": "logs-1", "paths": [path], "where": ["@.level == 'error'"] });
        let warning = bench.value("extract", arguments)["warning"].clone();
        assert_eq!(warning.as_str().is_some_and(|text| text.ends_with(says)), path == "$.mgs", "{warning}");
    }
    let arguments = json!({ "id": "logs-1", "paths": ["$"], "where": [r"search(@.msg, '\\d')"] });
    let warning = bench.value("extract", arguments)["warning"].clone();
    assert!(warning.as_str().unwrap().contains(r"the pattern `\d` is not an I-Regexp"), "{warning}");
}

#[test]
fn reports_invalid_patterns_even_with_matches() {
    let bench = bench();
    for path in
        [r#"$.products[?search(@.name, "\\d")]"#, r#"$.products[?@.price > 1 || match(@.name, "\\d")]"#]
    {
        let invalid = r"the pattern `\d` is not an I-Regexp (RFC 9485) and matches nothing; write `[0-9]`";
        for warning in warnings(&bench, "store-1", path) {
            assert!(warning.as_str().is_some_and(|text| text.contains(invalid)), "{path}: {warning}");
        }
    }
}

#[test]
fn queries_that_select_something_get_no_warning() {
    let bench = bench();
    for path in ["$.products[*]", "$.products[?@.price > 100]", "$..name"] {
        assert_eq!(warnings(&bench, "store-1", path), vec![Value::Null; 4], "{path}");
    }
    for (name, path, filter) in
        [("empty", "$.a", json!(null)), ("some", "$.a", json!("@ > 1")), ("kept", "$.b", json!("@ > 1"))]
    {
        bench.put(&format!("arrays-{name}"), r#"{"a": [], "b": [2]}"#);
        let counts = json!([{ "name": name, "path": path, "filter": filter }]);
        let answer = bench.value("count", json!({ "id": format!("arrays-{name}"), "counts": counts }));
        assert_eq!(answer.get("warning"), None, "{name}");
    }
}

#[test]
fn impossible_counts_suggest_an_equivalent() {
    let bench = bench();
    let count = |id: &str, path: &str, count_type: Value| json!({ "id": id, "counts": [{ "name": "n", "path": path, "count_type": count_type }] });
    for (id, path, expected) in [
        ("store-1", "$.products[?@.price > 100]", 1),
        ("store-1", "$.products[*]", 2),
        ("logs-1", "$", 3),
        ("logs-1", "$.level", 3),
    ] {
        let message = bench.refused("count", count(id, path, Value::Null));
        assert!(message.contains("pass `count_type` \"matches\""), "{message}");
        assert_eq!(bench.value("count", count(id, path, json!("matches")))["total"], expected, "{path}");
    }
    let message = bench.refused("count", count("store-1", "$", Value::Null));
    assert!(message.contains("pass `count_type` \"object_keys\""), "{message}");
    let message = bench.refused("count", count("store-1", "$.products", json!("object_keys")));
    assert!(message.contains("pass `count_type` \"array_length\""), "{message}");
}

#[test]
fn refuses_a_filter_written_as_a_path() {
    let bench = bench();
    for filter in ["$[?(@.price > 100)]", "$.products[?@.price > 100]"] {
        let counts = json!([{ "name": "n", "path": "$.products", "filter": filter }]);
        let message = bench.refused("count", json!({ "id": "store-1", "counts": counts }));
        assert!(
            message.contains("a path from the root") && message.contains("write `@.price > 100`"),
            "{message}"
        );
    }
    let counts = json!([{ "name": "n", "path": "$.products", "filter": "@.price > 100" }]);
    assert_eq!(bench.value("count", json!({ "id": "store-1", "counts": counts }))["total"], 1);
}

#[test]
fn accepts_ids_with_the_output_prefix() {
    let answer = bench().value("extract", json!({ "id": "output:store-1", "paths": ["$.total"] }));
    assert_eq!(answer["extracted"]["$.total"], 2);
}

#[test]
fn accepts_a_single_path_as_a_list() {
    let answer = bench().value("extract", json!({ "id": "store-1", "paths": "$.total" }));
    assert_eq!(answer["extracted"]["$.total"], 2);
}

#[test]
fn unknown_tool_names_suggest_the_nearest() {
    let bench = bench();
    let known = bench.store.tool_names().unwrap();
    let near = format!("{}x", known[0]);
    let answer = bench.value("list", json!({ "tool_name": near }));
    assert_eq!(answer["total"], 0);
    let says = format!("no output of a tool `{near}` is stored; the nearest tool name is `{}`", known[0]);
    assert_eq!(answer["warning"], says);
    assert_eq!(bench.value("list", json!({ "tool_name": known[0] })).get("warning"), None);
    assert_eq!(bench.value("list", json!({ "tool_name": known[0], "success": false })).get("warning"), None);
}

#[test]
fn text_outputs_are_refused_without_syntax_advice() {
    let bench = Bench::new();
    bench.put("empty-1", "");
    bench.put("words-1", "+5 apples were eaten");
    bench.put("torn-1", "{\"a\": +5}");
    let message = |id: &str| bench.refused("stats", json!({ "id": id }));
    assert!(message("empty-1").contains("it is empty"), "{}", message("empty-1"));
    assert!(message("words-1").contains("it is text, not JSON, and has no paths"), "{}", message("words-1"));
    assert!(message("torn-1").contains("not JSON ("), "{}", message("torn-1"));
}

#[test]
fn messages_show_arguments_that_are_not_secret() {
    let bench = bench();
    let message = bench.refused("stats", json!({ "id": "../../etc/passwd" }));
    assert!(message.contains("../../etc/passwd") && !message.contains("[redacted]"), "{message}");
    let message = bench.refused("extract", json!({ "id": "store-1", "paths": ["$.token: x"] }));
    assert!(message.contains("the path `$.token: x` is not valid"), "{message}");
    let (error, metadata) = bench.error("extract", json!({ "id": "store-1", "paths": ["$.token-name"] }));
    assert!(error.message.contains("`$.token-name`"), "{}", error.message);
    assert_eq!(metadata["suggestion"], "$['token-name']");
    let message = bench.refused("extract", json!({ "id": "store-1", "paths": ["$.x[?@.token = 'CANARY']"] }));
    assert!(!message.contains("CANARY"), "{message}");
}

#[test]
fn samples_of_damaged_streams_name_the_record() {
    let bench = bench();
    damage(&bench, "logs-1", "{\"level\":\"error\",\"msg\":\"b\"}", "{\"level\":[error},\"msg\":\"b\"}");
    let arguments = json!({ "id": "logs-1", "path": "$", "size": 3, "strategy": "first" });
    let (error, _) = bench.error("sample", arguments);
    assert!(error.message.contains(", record 1"), "{}", error.message);
}

#[test]
fn two_passes_are_reported_as_two() {
    let bench = Bench::new();
    bench.put("numbers-1", json!((0..1000).collect::<Vec<_>>()).to_string());
    let coverage = |strategy: &str| {
        let arguments = json!({ "id": "numbers-1", "path": "$", "size": 3, "strategy": strategy });
        bench.ok("sample", arguments).metadata["coverage"].clone()
    };
    assert_eq!(coverage("systematic")["passes"], 2);
    assert_eq!(coverage("first").get("passes"), None);
}
