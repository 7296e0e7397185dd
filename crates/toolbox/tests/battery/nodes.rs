//! `each`: the nodes of a query as records.

use serde_json::{Value, json};
use trommel_testkit::generate::Random;

use crate::support::Bench;

/// Stores the same records as elements of an array and as lines.
fn bench(seed: u64) -> Bench {
    let bench = Bench::new();
    let mut random = Random::new(seed);
    let mut record = |n: u64| {
        let level = random.pick(&["info", "error"]);
        let tags: Vec<_> = (0..random.below(4)).map(|tag| json!({ "tag": tag })).collect();
        let mut record =
            json!({ "n": n, "level": level, "tags": tags, "name": "x".repeat(random.below(60)) });
        if random.chance(30) {
            record["code"] = json!(random.below(5));
        }
        record
    };
    let records: Vec<Value> = (0..200).map(&mut record).collect();
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    bench.put("streamed", lines.concat());
    bench.put("document", json!({ "head": 1, "data": { "records": records }, "n": 7 }).to_string());
    bench
}

const EACH: &str = "$.data.records[*]";

/// Removes the members that name the output, or describe it and not its records.
fn comparable(mut answer: Value) -> Value {
    let members = answer.as_object_mut().unwrap();
    members.retain(|name, _| !["id", "size", "created_at", "truncated"].contains(&name.as_str()));
    answer
}

#[test]
fn nodes_are_the_records_of_a_stream() {
    for seed in 0..3 {
        let bench = bench(seed);
        for (tool, arguments) in [
            ("extract", json!({"paths": ["$.n", "$.tags[*].tag", "$.missing"]})),
            (
                "extract",
                json!({"paths": ["$.code", "$.level"], "flatten": true, "where": ["@.level == 'error'"]}),
            ),
            (
                "count",
                json!({"counts": [
                {"name": "records", "path": "$", "count_type": "matches"},
                {"name": "tags", "path": "$.tags"},
                {"name": "large", "path": "$.tags", "filter": "@.tag > 1"}]}),
            ),
            (
                "count",
                json!({"counts": [{"name": "n", "path": "$", "count_type": "matches"}], "where": ["@.code"]}),
            ),
            ("sample", json!({"path": "$", "size": 20, "seed": 5})),
            ("sample", json!({"path": "$.tags", "size": 20, "seed": 5, "where": ["@.n > 50"]})),
            ("sample", json!({"path": "$.tags[*]", "size": 9, "strategy": "systematic"})),
            ("sample", json!({"path": "$", "size": 9, "strategy": "systematic", "stride": 7})),
            ("sample", json!({"path": "$", "size": 12, "strategy": "last"})),
            (
                "sample",
                json!({"path": "$", "size": 30, "seed": 1, "strategy": "stratified", "strata_path": "$.code"}),
            ),
            ("stats", json!({"include_values": true, "include_fields": true, "include_schema": true})),
            ("stats", json!({"paths": ["$.tags", "$.code"], "where": ["@.level == 'info'"]})),
            ("aggregate", json!({"by": ["$.level", "$.code"], "sum": ["$.n"], "max": ["$.n"]})),
        ] {
            let answers = |id: &str, each: Option<&str>, max_chars: u64| {
                let mut arguments = arguments.clone();
                (arguments["id"], arguments["max_chars"]) = (json!(id), json!(max_chars));
                if let Some(each) = each {
                    arguments["each"] = json!(each);
                }
                let pages = bench.walk(tool, &arguments);
                pages.into_iter().map(|page| comparable(page.value)).collect::<Vec<_>>()
            };
            for max_chars in [1_500, 60_000] {
                if tool == "stats" && max_chars < 60_000 {
                    // The size of the output is on the first page, and differs.
                    continue;
                }
                let found = answers("document", Some(EACH), max_chars);
                assert_eq!(found, answers("streamed", None, max_chars), "{tool} {arguments}");
            }
        }
    }
}

/// Locations, and the marks of values that are too large, are those of the whole document.
#[test]
fn locations_are_those_of_the_document() {
    let bench = Bench::new();
    let long = "x".repeat(5_000);
    bench.put("document", json!({"a": [{"b": 1}, {"b": [2, long]}]}).to_string());
    let found = bench.value(
        "extract",
        json!({"id": "document", "each": "$.a[*]", "paths": ["$.b"], "flatten": true, "include_paths": true, "max_chars": 600}),
    );
    let locations = found["extracted"].as_array().unwrap().iter().map(|item| item["location"].clone());
    assert_eq!(locations.collect::<Vec<_>>(), ["$['a'][0]['b']", "$['a'][1]['b']"]);
    assert_eq!(found["extracted"][1]["value"]["path"], "$['a'][1]['b']");
    let sample = json!({"id": "document", "each": "$.a[*]", "path": "$", "size": 5, "max_chars": 600});
    assert_eq!(bench.value("sample", sample)["sample"][1]["path"], "$['a'][1]");
}

/// Nodes count as often as the query selects them, nested ones too.
#[test]
fn nested_and_repeated_nodes_are_records() {
    let bench = Bench::new();
    bench.put("tree", r#"{"n":1,"kids":[{"n":2,"kids":[{"n":3}]},{"n":4}]}"#);
    let numbers = |each: &str| {
        let arguments = json!({"id": "tree", "each": each, "paths": ["$.n"]});
        bench.value("extract", arguments)["extracted"]["$.n"].clone()
    };
    assert_eq!(numbers("$..kids[*]"), json!([2, 3, 4]));
    assert_eq!(numbers("$.kids[0,0,1]"), json!([2, 2, 4]));
    let sample = json!({"id": "tree", "each": "$..kids[*]", "path": "$.n", "size": 10});
    assert_eq!(bench.value("sample", sample)["sample"], json!([2, 3, 4]));
    let sample = json!({"id": "tree", "each": "$..kids[*]", "path": "$..n", "size": 10, "strategy": "first"});
    assert_eq!(bench.value("sample", sample)["sample"], json!([2, 3, 3, 4]));
}

#[test]
fn a_query_that_selects_no_record_gets_a_warning() {
    let bench = bench(1);
    for (tool, arguments) in [
        ("extract", json!({"paths": ["$.n"]})),
        ("count", json!({"counts": [{"name": "n", "path": "$.n", "count_type": "matches"}]})),
        ("sample", json!({"path": "$", "size": 5})),
        ("stats", json!({"paths": ["$.n"]})),
        ("aggregate", json!({"by": ["$.n"]})),
    ] {
        let mut arguments = arguments;
        arguments["id"] = json!("document");
        arguments["each"] = json!("$.data.record[*]");
        let warning = bench.value(tool, arguments.clone())["warning"].clone();
        assert!(warning.as_str().is_some_and(|text| text.contains("records")), "{tool}: {warning}");
        arguments["each"] = json!("data.records");
        let message = bench.refused(tool, arguments);
        assert!(message.contains("the path `each`"), "{tool}: {message}");
    }
}
