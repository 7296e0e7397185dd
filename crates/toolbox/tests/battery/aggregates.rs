//! `tool_outputs.aggregate`: groups, figures, pages, and errors.

use serde_json::{Value, json};

use crate::support::Bench;

const LOG: &str = r#"{"level":"info","ms":3,"user":{"id":1}}
{"level":"error","ms":0.1,"user":{"id":2},"tags":["a","b"]}
{"level":"\u0069nfo","ms":4,"user":{"id":1.0}}
{"level":"error","ms":0.2,"user":{"id":3}}
{"level":"info","ms":null}
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.put("logged", LOG);
    bench
}

fn groups(bench: &Bench, mut arguments: Value) -> Value {
    arguments["id"] = json!("logged");
    bench.value("aggregate", arguments)
}

#[test]
fn groups_have_counts_and_figures() {
    let bench = bench();
    let arguments = json!({
        "by": ["$.level"], "sum": ["$.ms"], "mean": ["t=$.ms"], "min": ["$.ms"], "max": ["$.ms"],
        "distinct": ["users=$.user.id", "$.tags[*]"]
    });
    let answer = bench.ok("aggregate", json!({ "id": "logged", "by": ["$.level"], "sum": ["$.ms"] }));
    assert_eq!(
        answer.text,
        r#"{"groups":[{"key":{"level":"info"},"count":3,"sum":{"ms":7}},{"key":{"level":"error"},"count":2,"sum":{"ms":0.3}}],"total":5,"total_groups":2}"#
    );
    assert_eq!(answer.coverage("exact"), true);
    let row = |level: &str, count: u64, figures: [Value; 5]| {
        let [sum, mean, min, max, distinct] = figures;
        json!({
            "key": {"level": level}, "count": count, "sum": {"ms": sum}, "mean": {"t": mean}, "min": {"ms": min},
            "max": {"ms": max}, "distinct": distinct
        })
    };
    let rows = json!([
        row("info", 3, [json!(7), json!(3.5), json!(3), json!(4), json!({"users": 1, "tags": 0})]),
        row("error", 2, [json!(0.3), json!(0.15), json!(0.1), json!(0.2), json!({"users": 2, "tags": 2})]),
    ]);
    assert_eq!(groups(&bench, arguments)["groups"], rows);
    let by_two = groups(&bench, json!({ "by": ["$.user.id", "tags=$.tags[*]"], "sort": "key" }));
    let keys: Vec<&Value> = by_two["groups"].as_array().unwrap().iter().map(|group| &group["key"]).collect();
    assert_eq!(
        json!(keys),
        json!([{}, {"id": 1}, {"id": 2, "tags": ["a", "b"]}, {"id": 3}]),
        "missing values come first"
    );
}

#[test]
fn groups_are_sorted_limited_and_filtered() {
    let bench = bench();
    let first = |arguments: Value| {
        let answer = groups(&bench, arguments);
        (
            answer["groups"][0]["key"].clone(),
            answer["groups"].as_array().unwrap().len(),
            answer["total_groups"].clone(),
        )
    };
    let by = |sort: &str| json!({ "by": ["$.level"], "sum": ["$.ms"], "top": 1, "sort": sort });
    assert_eq!(first(by("count")), (json!({"level": "info"}), 1, json!(2)));
    assert_eq!(first(by("key")), (json!({"level": "error"}), 1, json!(2)));
    assert_eq!(first(by("sum:ms")), (json!({"level": "info"}), 1, json!(2)));
    assert_eq!(first(by("sum")), first(by("sum:ms")));
    let kept = groups(&bench, json!({ "by": ["$.level"], "where": "@.ms < 1" }));
    assert_eq!(
        kept,
        json!({"groups": [{"key": {"level": "error"}, "count": 2}], "total": 2, "total_groups": 1})
    );
}

/// A single document is one record, unless `each` makes its elements the records.
#[test]
fn elements_of_a_document_can_be_records() {
    let bench = Bench::new();
    let records: Vec<&str> = LOG.lines().collect();
    bench.put("document", format!("{{\"meta\":[1],\"data\":{{\"log\":[{}]}}}}", records.join(",")));
    bench.put("logged", LOG);
    let whole = json!({ "id": "logged", "by": ["$.level"], "sum": ["$.ms"], "where": ["@.ms"] });
    let mut each = whole.clone();
    (each["id"], each["each"]) = (json!("document"), json!("$.data.log[*]"));
    assert_eq!(bench.ok("aggregate", each.clone()).text, bench.ok("aggregate", whole).text);
    let warning =
        |arguments: Value| bench.value("aggregate", arguments)["warning"].as_str().unwrap().to_owned();
    let one = warning(json!({ "id": "document", "by": ["$.data.log[*].level"] }));
    assert!(one.contains("one record") && one.ends_with("pass `each`: $.data.log[*]"), "{one}");
    each["by"] = json!(["$.levle"]);
    assert!(warning(each.clone()).contains("`$.data.log[*].level`"), "{}", warning(each));
    let misspelled = warning(json!({ "id": "document", "by": ["$.level"], "each": "$.data.lgo[*]" }));
    assert!(misspelled.contains("`$.data.log[*].level`"), "{misspelled}");
    let refused =
        bench.refused("aggregate", json!({ "id": "document", "by": ["$.level"], "each": "$.data.log[" }));
    assert!(refused.contains("the path `each`, `$.data.log[` is not valid"), "{refused}");
    let named = bench.refused(
        "aggregate",
        json!({ "id": "document", "by": ["$.ms"], "sum": ["$.level"], "each": "$.data.log[*]" }),
    );
    assert!(named.contains("$['data']['log'][0]['level'] is a string"), "{named}");
}

#[test]
fn pages_have_all_groups() {
    let bench = Bench::new();
    let record = |n: usize| format!("{{\"k\":\"key {}\",\"n\":{n}}}\n", n * n % 1009);
    bench.put("many", (0..2000).map(record).collect::<String>());
    let arguments = json!({ "id": "many", "by": ["$.k"], "max": ["$.n"], "sort": "max:n" });
    let whole = bench.value(
        "aggregate",
        json!({ "id": "many", "by": ["$.k"], "max": ["$.n"], "sort": "max:n", "max_chars": 100_000 }),
    );
    assert_eq!(whole["groups"].as_array().unwrap().len() as u64, whole["total_groups"]);
    for max_chars in [250, 1000, 3001] {
        let mut arguments = arguments.clone();
        arguments["max_chars"] = json!(max_chars);
        let pages = bench.walk("aggregate", &arguments);
        assert!(pages.len() > 2);
        let all: Vec<Value> =
            pages.iter().flat_map(|page| page.value["groups"].as_array().unwrap().clone()).collect();
        assert_eq!(json!(all), whole["groups"], "{max_chars}");
        assert!(
            pages.iter().all(
                |page| page.value["total"] == 2000 && page.value["total_groups"] == whole["total_groups"]
            )
        );
        assert_eq!(pages[1].coverage("bytes_read"), 0, "groups are cached");
    }
    let mut arguments = arguments;
    arguments["max_chars"] = json!(250);
    let next = bench.ok("aggregate", arguments.clone()).next().unwrap().to_owned();
    arguments["cursor"] = json!(next);
    for (member, other) in
        [("sort", json!("count")), ("by", json!(["x=$.k"])), ("top", json!(7)), ("sum", json!(["$.n"]))]
    {
        let mut foreign = arguments.clone();
        foreign[member] = other;
        assert!(bench.refused("aggregate", foreign).contains("cursor"), "{member}");
    }
}

#[test]
fn long_groups_are_marked() {
    let bench = Bench::new();
    bench.put("long", format!("{{\"k\":\"{}\"}}\n{{\"k\":1}}\n", "x".repeat(50_000)));
    let pages = bench.walk("aggregate", &json!({ "id": "long", "by": ["$.k"], "max_chars": 400 }));
    assert_eq!(pages[0].value["groups"][0]["$truncated"], true);
    assert_eq!(
        pages.last().unwrap().value["groups"].as_array().unwrap().last().unwrap()["key"],
        json!({"k": 1})
    );
}

#[test]
fn too_many_groups_are_refused() {
    let bench = Bench::new();
    bench.put("many", (0..1_000_001).map(|n| format!("{n}\n")).collect::<Vec<_>>().concat());
    let refused = bench.refused("aggregate", json!({ "id": "many", "by": ["$"] }));
    assert!(refused.contains("more than 1000000 groups") && refused.contains("`where`"), "{refused}");
    let kept = bench.value("aggregate", json!({ "id": "many", "by": ["$"], "where": "@ < 3" }));
    assert_eq!(kept["total_groups"], 3);
}

#[test]
fn invalid_requests_are_explained() {
    let bench = bench();
    let refused = |arguments: Value| {
        let mut arguments = arguments;
        arguments["id"] = json!("logged");
        bench.refused("aggregate", arguments)
    };
    for (arguments, part) in [
        (json!({ "by": ["$.level", "level=$.ms"] }), "two paths have the name `level`"),
        (json!({ "by": ["$.level"], "sort": "sum:ms" }), "use one of count, key"),
        (
            json!({ "by": ["$.level"], "sum": ["$.ms", "a=$.ms"], "sort": "sum" }),
            "use one of count, key, sum:ms, sum:a",
        ),
        (
            json!({ "by": ["$.level"], "sum": ["$.level"] }),
            "$['level'] is a string, but the sum level takes numbers only (record 0)",
        ),
        (json!({ "by": ["$.level["] }), "the path `$.level[` is not valid"),
    ] {
        let message = refused(arguments);
        assert!(message.contains(part), "{message}");
    }
    let hinted = groups(&bench, json!({ "by": ["$.levle"] }));
    assert!(hinted["warning"].as_str().unwrap().contains("$.level"), "{hinted}");
}
