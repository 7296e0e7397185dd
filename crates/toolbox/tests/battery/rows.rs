//! `rows: true` of `tool_outputs.extract`: an object for each record.

use serde_json::{Map, Value, json};

use crate::damage::damage;
use crate::support::Bench;

fn record(n: u64) -> Value {
    let mut record = json!({ "id": n, "user": { "name": format!("user {n}") }, "tags": ["a", "b"] });
    if n.is_multiple_of(3) {
        record["code"] = json!(n);
    }
    if n.is_multiple_of(5) {
        record["tags"] = json!(["c"]);
    }
    record
}

fn bench() -> Bench {
    let bench = Bench::new();
    let records: Vec<Value> = (0..100).map(record).collect();
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    bench.put("streamed", lines.concat());
    bench.put("document", json!({ "records": records, "total": 100 }).to_string());
    bench
}

/// The row of a record, as computed from its tree.
fn row(record: &Value, default: &Value) -> Value {
    let tags = record["tags"].as_array().unwrap();
    let mut row = Map::new();
    row.insert("id".into(), record["id"].clone());
    row.insert("who".into(), record["user"]["name"].clone());
    row.insert("code".into(), record.get("code").unwrap_or(default).clone());
    row.insert("tags".into(), if let [tag] = tags.as_slice() { tag.clone() } else { json!(tags) });
    row.into()
}

#[test]
fn every_record_is_a_row() {
    let bench = bench();
    let paths = json!(["$.id", "who=$.user.name", "$.code", "$.tags[*]"]);
    for (id, each) in [("streamed", None), ("document", Some("$.records[*]"))] {
        for (default, given) in [(Value::Null, None), (json!("none"), Some(json!("none")))] {
            for max_chars in [300, 2_000, 60_000] {
                let mut arguments = json!({"id": id, "paths": paths, "rows": true, "max_chars": max_chars});
                if let Some(each) = each {
                    arguments["each"] = json!(each);
                }
                if let Some(given) = &given {
                    arguments["default_value"] = given.clone();
                }
                let pages = bench.walk("extract", &arguments);
                let rows: Vec<Value> = pages
                    .iter()
                    .flat_map(|page| page.value["extracted"].as_array().unwrap().clone())
                    .collect();
                let expected: Vec<Value> = (0..100).map(|n| row(&record(n), &default)).collect();
                assert_eq!(rows, expected, "{arguments}");
                assert_eq!(pages.len() > 1, max_chars < 8_000, "{arguments}");
            }
        }
    }
}

#[test]
fn rows_are_filtered_and_lack_values() {
    let bench = bench();
    let answer = bench.value(
        "extract",
        json!({"id": "streamed", "paths": ["$.id", "$.cod"], "rows": true, "where": ["@.code > 90"]}),
    );
    let rows: Vec<_> = [93, 96, 99].map(|id| json!({ "id": id, "cod": null })).into();
    assert_eq!(answer["extracted"], json!(rows));
    assert_eq!(answer["missing_paths"], json!(["$.cod"]));
    assert!(answer["warning"].as_str().unwrap().contains("$.code"), "{answer}");
    let one = bench.value("extract", json!({"id": "document", "paths": ["$.records[*].id"], "rows": true}));
    assert_eq!(one["extracted"].as_array().unwrap().len(), 1);
    assert!(one["warning"].as_str().unwrap().contains("pass `each`: $.records[*]"), "{one}");
}

/// Rows before the damage of a document come; damaged records of a stream have none.
#[test]
fn damage_is_reported_with_the_rows() {
    let bench = bench();
    for id in ["streamed", "document"] {
        damage(&bench, id, "\"id\":50", "\"id\":5x");
    }
    let arguments = |id: &str| json!({"id": id, "paths": ["n=$.id"], "rows": true, "each": "$.records[*]"});
    let answer = bench.ok("extract", arguments("document"));
    let expected: Vec<Value> = (0..50).map(|n| json!({ "n": n })).collect();
    assert_eq!(answer.value["extracted"], json!(expected), "{}", answer.text);
    assert_eq!(answer.truncated().unwrap().0, "damage");
    assert!(answer.value["warning"].as_str().unwrap().contains("damaged at "), "{}", answer.text);
    let mut streamed = arguments("streamed");
    streamed.as_object_mut().unwrap().remove("each");
    let answer = bench.ok("extract", streamed);
    let expected: Vec<Value> = (0..100).filter(|&n| n != 50).map(|n| json!({ "n": n })).collect();
    assert_eq!(answer.value["extracted"], json!(expected));
    let warning = answer.value["warning"].as_str().unwrap();
    assert!(warning.contains("record 50"), "{warning}");
    damage(&bench, "document", "{\"records\"", "{}records\"");
    let failed = bench.call("extract", arguments("document"));
    assert!(!failed.result.success, "no row comes before the damage");
}

#[test]
fn names_and_options_that_contradict_are_refused() {
    let bench = bench();
    for (arguments, why) in [
        (json!({"paths": ["$.id", "$.user.id"], "rows": true}), "two paths have the name `id`"),
        (json!({"paths": ["a=$.id", "a=$.code"]}), "two paths have the name `a`"),
        (json!({"paths": ["$.id"], "rows": true, "flatten": true}), "leave out `flatten`"),
        (json!({"paths": ["a=.id"], "rows": true}), "the path"),
    ] {
        let mut arguments = arguments;
        arguments["id"] = json!("streamed");
        let message = bench.refused("extract", arguments.clone());
        assert!(message.contains(why), "{arguments}: {message}");
    }
}

/// A cell that is too large is a mark with its location, and hides no other cell.
#[test]
fn large_cells_are_marks() {
    let bench = Bench::new();
    let long = "x".repeat(3_000);
    let many: Vec<u64> = (0..2_000).collect();
    bench.put("large", json!([{"a": 1, "b": long}, {"a": 2, "b": many}]).to_string());
    let arguments = json!({
        "id": "large", "each": "$[*]", "paths": ["$.a", "$.b", "all=$.b[*]"], "rows": true, "max_chars": 1_200
    });
    let pages = bench.walk("extract", &arguments);
    let rows: Vec<&Value> =
        pages.iter().flat_map(|page| page.value["extracted"].as_array().unwrap()).collect();
    assert_eq!((&rows[0]["a"], &rows[1]["a"]), (&json!(1), &json!(2)));
    assert_eq!((&rows[0]["b"]["path"], &rows[0]["b"]["kind"]), (&json!("$[0]['b']"), &json!("string")));
    assert_eq!((&rows[1]["b"]["path"], &rows[1]["b"]["kind"]), (&json!("$[1]['b']"), &json!("array")));
    assert_eq!(rows[1]["all"]["$truncated"], true);
    assert!(pages.iter().all(|page| page.truncated().is_some()), "each page has a mark");
}

/// Names replace paths in the other forms of answers, too; matches of a stream have their record.
#[test]
fn names_and_records_in_other_forms() {
    let bench = bench();
    let answer = bench.value("extract", json!({"id": "document", "paths": ["n=$.total", "$.total"]}));
    assert_eq!(answer["extracted"], json!({"n": 100, "$.total": 100}));
    let flat = json!({"id": "streamed", "paths": ["id=$.id"], "flatten": true, "include_paths": true});
    let answer = bench.value("extract", flat);
    let third = json!({"path": "id", "location": "$['id']", "record": 2, "value": 2});
    assert_eq!(answer["extracted"][2], third);
}
