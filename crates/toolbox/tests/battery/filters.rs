//! The argument `where` of `extract`, `count`, `sample`, and `stats`.

use serde_json::{Value, json};

use crate::support::Bench;

/// Sixty records, of which every third is an error.
fn log() -> String {
    let level = |n: usize| if n.is_multiple_of(3) { "error" } else { "info" };
    let line = |n: usize| format!("{{\"n\": {n}, \"level\": \"{}\", \"tags\": [{n}, \"ü\"]}}\n", level(n));
    (0..60).map(line).collect()
}

fn errors() -> String {
    log().lines().filter(|line| line.contains("error")).map(|line| line.to_owned() + "\n").collect()
}

/// Benches with the log, with only its errors, and with a single document.
fn benches() -> [Bench; 2] {
    [Bench::new(), Bench::packed()].map(|bench| {
        bench.put("log", log());
        bench.put("errors", errors());
        bench.put("document", r#"{"kind": "page", "items": [{"n": 1}, {"n": 2}, {"n": 3}], "tags": ["a"]}"#);
        bench
    })
}

/// Returns arguments for every tool that takes `where`.
fn calls() -> Vec<(&'static str, Value)> {
    let counts = json!([
        { "name": "records", "path": "$", "count_type": "matches" },
        { "name": "tags", "path": "$.tags" },
        { "name": "small", "path": "$", "count_type": "matches", "filter": "@.n < 30" },
    ]);
    vec![
        ("extract", json!({ "paths": ["$.n", "$..tags[1:]"] })),
        ("extract", json!({ "paths": ["$"], "flatten": true })),
        ("extract", json!({ "paths": ["$.n"], "include_paths": true })),
        ("count", json!({ "counts": counts })),
        ("sample", json!({ "path": "$", "size": 5, "seed": 7 })),
        ("sample", json!({ "path": "$.tags[*]", "size": 5, "strategy": "systematic" })),
        ("sample", json!({ "path": "$", "size": 3, "strategy": "last" })),
        ("sample", json!({ "path": "$.tags[?@ == $.n]", "size": 4, "seed": 2 })),
        (
            "sample",
            json!({ "path": "$", "size": 9, "strategy": "stratified", "strata_path": "$.level", "seed": 1 }),
        ),
        ("stats", json!({ "paths": ["$"], "include_schema": true, "include_values": true })),
    ]
}

fn with(arguments: &Value, id: &str, filters: Option<Value>) -> Value {
    let mut arguments = arguments.clone();
    arguments["id"] = json!(id);
    if let Some(filters) = filters {
        arguments["where"] = filters;
    }
    arguments
}

/// Removes the members that identify the output.
fn forget_origin(answer: &mut Value) {
    for member in ["id", "created_at"] {
        answer.as_object_mut().unwrap().shift_remove(member);
    }
}

#[test]
fn filtered_answers_match_an_output_of_kept_records() {
    for bench in benches() {
        for (tool, arguments) in calls() {
            let mut kept = bench.value(tool, with(&arguments, "log", Some(json!(["$.level == 'error'"]))));
            let mut alone = bench.value(tool, with(&arguments, "errors", None));
            [&mut kept, &mut alone].into_iter().for_each(forget_origin);
            assert_eq!(kept, alone, "{tool} {arguments}");
            // Cached results of the filtered records are not used for the whole output, nor the
            // other way round.
            let mut all = bench.value(tool, with(&arguments, "log", None));
            forget_origin(&mut all);
            let mut again = bench.value(tool, with(&arguments, "log", Some(json!(["@.level == 'error'"]))));
            forget_origin(&mut again);
            assert_ne!(all, again, "{tool}");
            assert_eq!(again, kept, "{tool} {arguments}");
        }
    }
}

#[test]
fn all_filters_must_hold() {
    let [bench, _] = benches();
    let filters = json!(["@.level == 'error'", "?@.n > 20", "[?($.n < 40)]"]);
    let kept = bench.value("extract", json!({ "id": "log", "paths": ["$.n"], "where": filters }));
    assert_eq!(kept["extracted"]["$.n"], json!([21, 24, 27, 30, 33, 36, 39]));
    let none = json!({ "id": "log", "paths": ["$.n"], "where": [] });
    assert_eq!(bench.value("extract", none)["extracted"]["$.n"].as_array().unwrap().len(), 60);
}

#[test]
fn accepts_a_single_filter_as_a_list() {
    let [bench, _] = benches();
    for filter in ["@.n < 2", "?@.n < 2", " [?(@.n < 2)]", "[\"@.n < 2\"]"] {
        let answer = bench.ok("extract", json!({ "id": "log", "paths": ["$.n"], "where": filter }));
        assert_eq!(answer.value["extracted"]["$.n"], json!([0, 1]), "{filter}");
        assert_eq!(answer.metadata["healed"][0]["path"], "where", "{filter}");
    }
}

#[test]
fn cursors_are_bound_to_filters() {
    let [bench, _] = benches();
    let page = |filters: Value| json!({ "id": "log", "paths": ["$"], "where": filters, "max_chars": 300 });
    let pages = bench.walk("extract", &page(json!(["@.level == 'error'"])));
    let values: Vec<Value> =
        pages.iter().flat_map(|page| page.value["extracted"]["$"].as_array().unwrap().clone()).collect();
    assert_eq!((values.len(), &values[19]["n"]), (20, &json!(57)));
    assert!(pages.len() > 2);
    for (tool, arguments) in [
        ("extract", json!({ "paths": ["$"] })),
        ("sample", json!({ "path": "$", "size": 20, "seed": 3 })),
        ("stats", json!({ "include_schema": true, "include_values": true })),
    ] {
        let call = |filters: Option<Value>, cursor: Option<&str>| {
            let mut arguments = with(&arguments, "log", filters);
            arguments["max_chars"] = json!(700);
            arguments["cursor"] = json!(cursor);
            arguments
        };
        let filters = || Some(json!(["@.level == 'error'"]));
        let next = bench.ok(tool, call(filters(), None)).next().map(str::to_owned);
        let cursor = next.as_deref();
        assert!(cursor.is_some(), "{tool}");
        let page = bench.ok(tool, call(filters(), cursor)).text;
        assert_eq!(bench.ok(tool, call(None, cursor)).text, page, "{tool}");
        for other in [json!([]), json!(["@.level == 'info'"])].map(Some) {
            let refused = bench.refused(tool, call(other, cursor));
            assert!(refused.contains("cursor"), "{tool}: {refused}");
        }
    }
}

#[test]
fn invalid_filters_name_the_argument() {
    let [bench, _] = benches();
    for (tool, arguments) in calls() {
        let arguments = with(&arguments, "log", Some(json!(["@.n", "@.level = 'error'"])));
        let (error, metadata) = bench.error(tool, arguments);
        assert!(error.message.contains("the filter in `where`, `@.level = 'error'`"), "{}", error.message);
        assert_eq!(metadata["suggestion"], "@.level == 'error'", "{tool}");
    }
}

#[test]
fn dropped_documents_are_explained() {
    for bench in benches() {
        for (tool, arguments) in [
            ("extract", json!({ "paths": ["$.items[*].n"] })),
            ("count", json!({ "counts": [{ "name": "items", "path": "$.items" }] })),
            ("sample", json!({ "path": "$.items", "size": 2 })),
            ("stats", json!({})),
        ] {
            for _ in 0..2 {
                let dropped = bench.value(tool, with(&arguments, "document", Some(json!(["@.n > 1"]))));
                let warning = dropped["warning"].as_str().unwrap_or_default();
                assert!(warning.contains("`where` drops this document"), "{tool} {dropped}");
                // The suggested path requires that the length of the output is known.
                assert!(
                    warning.contains("$.items[?@.n > 1]") || warning.ends_with("whole"),
                    "{tool} {warning}"
                );
            }
            let kept = bench.value(tool, with(&arguments, "document", Some(json!(["@.kind == 'page'"]))));
            assert_eq!(kept.get("warning"), None, "{tool} {kept}");
        }
    }
    let [bench, _] = benches();
    // A stream without matching records is not explained.
    let none = json!({ "id": "log", "paths": ["$.n"], "where": ["@.n > 100"] });
    assert_eq!(bench.value("extract", none)["missing_paths"], json!(["$.n"]));
}
