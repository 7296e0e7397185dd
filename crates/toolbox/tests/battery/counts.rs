//! `tool_outputs.count` beyond the specification's examples.

use serde_json::{Value, json};

use crate::support::Bench;

fn one(bench: &Bench, count: Value) -> Value {
    let mut count = count;
    count["name"] = json!("n");
    bench.value("count", json!({ "id": "counted", "counts": [count] }))["counts"]["n"].clone()
}

fn bench() -> Bench {
    let bench = Bench::new();
    let data = r#"{"orders": [{"total": 5, "tags": ["a", "b"]}, {"total": 50, "tags": []}, {"total": 500, "tags": ["c"]}], "by": {"x": {"n": 1}, "y": {"n": 2}}, "s": "text"}"#;
    bench.put("counted", data);
    bench
}

#[test]
fn counts_array_elements_by_default() {
    let bench = bench();
    assert_eq!(one(&bench, json!({ "path": "$.orders" })), 3);
    assert_eq!(one(&bench, json!({ "path": "$.orders[*].tags" })), 3);
    assert_eq!(one(&bench, json!({ "path": "$.by", "count_type": "object_keys" })), 2);
    assert_eq!(one(&bench, json!({ "path": "$..*", "count_type": "matches" })), 19);
    assert_eq!(one(&bench, json!({ "path": "$.*", "count_type": "nested_total" })), 5);
    assert_eq!(one(&bench, json!({ "path": "$.nothing" })), 0);
}

#[test]
fn accepts_filters_in_three_notations() {
    let bench = bench();
    for filter in ["@.total > 10", "?@.total > 10", "[?(@.total > 10)]"] {
        assert_eq!(one(&bench, json!({ "path": "$.orders", "filter": filter })), 2, "{filter}");
        let nodes = json!({ "path": "$.orders[*]", "filter": filter, "count_type": "matches" });
        assert_eq!(one(&bench, nodes), 2, "{filter}");
    }
    let members = json!({ "path": "$.by", "filter": "@.n == 2", "count_type": "object_keys" });
    assert_eq!(one(&bench, members), 1);
    let total = json!({ "path": "$.orders[*].tags", "filter": "@ == 'a'", "count_type": "nested_total" });
    assert_eq!(one(&bench, total), 1);
}

#[test]
fn uncountable_values_suggest_another_count_type() {
    let bench = bench();
    let count = |path: &str, count_type: &str| {
        let counts = json!([{ "name": "mine", "path": path, "count_type": count_type }]);
        bench.error("count", json!({ "id": "counted", "counts": counts }))
    };
    let (error, metadata) = count("$.by", "array_length");
    let expected = "tool_outputs.count: cannot count in output counted: count `mine`: $['by'] is of type object, which has no array_length; pass `count_type` \"object_keys\" to count its members";
    assert_eq!(error.message, expected);
    assert_eq!(
        (&metadata["code"], &metadata["count_type"]),
        (&json!("not_countable"), &json!("object_keys"))
    );
    let (error, _) = count("$.orders[*].total", "object_keys");
    assert!(error.message.contains("$['orders'][0]['total'] is of type number"), "{}", error.message);
    assert!(error.message.contains("pass `count_type` \"matches\""), "{}", error.message);
}

#[test]
fn duplicate_names_are_refused() {
    let bench = bench();
    let counts = json!([{ "name": "a", "path": "$" }, { "name": "a", "path": "$.s" }]);
    let message = bench.refused("count", json!({ "id": "counted", "counts": counts }));
    assert!(message.contains("two counts have the name `a`"), "{message}");
}

#[test]
fn counts_each_record_and_duplicate_name() {
    let bench = Bench::new();
    bench.put("lines", "{\"a\":[1,2]}\n{\"a\":[3]}\n[]\n");
    let counts = json!([
        { "name": "records", "path": "$", "count_type": "matches" },
        { "name": "elements", "path": "$.a" }
    ]);
    assert_eq!(
        bench.value("count", json!({ "id": "lines", "counts": counts })),
        json!({ "counts": { "records": 3, "elements": 3 }, "total": 6 })
    );
    bench.put("counted", r#"{"a":[1],"a":[2,3]}"#);
    assert_eq!(one(&bench, json!({ "path": "$.a" })), 3);
}

#[test]
fn paths_without_a_match_suggest_the_nearest() {
    let bench = bench();
    let counts = json!([{ "name": "n", "path": "$.order", "count_type": "matches" }]);
    let answer = bench.value("count", json!({ "id": "counted", "counts": counts }));
    assert_eq!(answer["warning"], "`$.order` selects nothing; the nearest path is `$.orders`");
    let counts = json!([{ "name": "n", "path": "$.orders[?@.total > 9000]", "count_type": "matches" }]);
    let answer = bench.value("count", json!({ "id": "counted", "counts": counts }));
    assert_eq!(answer.get("warning"), None, "there is such a path");
}
