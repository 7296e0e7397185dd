//! `tool_outputs.stats` beyond the specification's examples.

use serde_json::{Value, json};

use crate::support::Bench;

#[test]
fn reports_value_statistics() {
    let bench = Bench::new();
    bench.put("values", r#"{"rows": [{"price": 1.5, "name": "a"}, {"price": 2.25, "name": "bb"}, {"price": 9007199254740993}]}"#);
    let answer = bench.ok("stats", json!({ "id": "values", "include_values": true }));
    let values = answer.value["values"].as_array().unwrap();
    let price = values.iter().find(|row| row["path"] == "$.rows[*].price").unwrap();
    let numbers = &price["numbers"];
    assert_eq!((&numbers["min"], numbers["count"].as_u64()), (&json!(1.5), Some(3)));
    assert!(answer.text.contains("9007199254740993"), "the maximum is not rounded");
    assert!(answer.text.contains("9007199254740996.75"), "nor is the sum: {}", answer.text);
    assert_eq!(price["distinct"]["count"], 3);
    let name = values.iter().find(|row| row["path"] == "$.rows[*].name").unwrap();
    assert_eq!(name["strings"]["max_length"], 2);
    assert_eq!(answer.coverage("exact"), true);
    assert_eq!(answer.coverage("validation"), "strict");
}

/// Sum, mean, minimum, and maximum of the requested numeric paths are exact, regardless of other
/// values there.
#[test]
fn aggregates_requested_paths() {
    let bench = Bench::new();
    let data = r#"{"orders": [{"total": 10, "tax": 0.1}, {"total": 20.5, "tax": 0.2}, {"total": -0.5, "tax": null}, {"total": "n/a"}], "other": [1]}"#;
    bench.put("orders", data);
    let numbers = |paths: &[&str]| {
        let answer = bench.value("stats", json!({ "id": "orders", "paths": paths, "include_values": true }));
        let parts = match answer.get("by_path") {
            Some(parts) => parts.as_array().unwrap().clone(),
            None => vec![answer],
        };
        let row = |part: &Value| part["values"].as_array().unwrap()[0].clone();
        parts.iter().map(row).collect::<Vec<_>>()
    };
    let assert_figures = |row: &Value, count: u64, figures: [f64; 4]| {
        let numbers = &row["numbers"];
        let found = ["sum", "mean", "min", "max"].map(|name| numbers[name].as_f64().unwrap());
        assert_eq!((numbers["count"].as_u64(), found), (Some(count), figures), "{row}");
    };
    let both = numbers(&["$.orders[*].total", "$.orders[*].tax"]);
    assert_eq!(both.len(), 2);
    assert_figures(&both[0], 3, [30.0, 10.0, -0.5, 20.5]);
    assert_figures(&both[1], 2, [0.3, 0.15, 0.1, 0.2]);
    assert_eq!((&both[0]["path"], &both[0]["strings"]["count"]), (&json!("$.orders[*].total"), &json!(1)));
    // A filter selects the values to aggregate.
    assert_figures(&numbers(&["$.orders[?@.total > 0].total"])[0], 2, [30.5, 15.25, 10.0, 20.5]);
}

#[test]
fn reports_records_duplicate_names_and_caps() {
    let bench = Bench::new();
    bench.put("lines", "{\"a\":1}\n[2]\n");
    let answer = bench.value("stats", json!({ "id": "lines" }));
    assert_eq!((&answer["records"], &answer["structure"]["root_type"]), (&json!(2), &json!("mixed")));
    bench.put("twice", r#"{"a":1,"a":2}"#);
    let answer = bench.value("stats", json!({ "id": "twice" }));
    assert_eq!(answer["structure"]["duplicate_names"], 1);
    let members: Vec<String> = (0..1_100).map(|n| format!("\"k{n}\":[]")).collect();
    // A member of another type makes the object a record.
    bench.put("wide", format!("{{{},\"n\":1}}", members.join(",")));
    let answer = bench.ok("stats", json!({ "id": "wide", "max_chars": 100_000 }));
    assert_eq!(answer.value["capped"]["arrays"], json!({ "shown": 1000, "total": 1100 }));
    assert_eq!(answer.value["arrays"].as_array().unwrap().len(), 1000);
}

/// Containers only by default; every path on request. A map of many IDs takes one row of each.
#[test]
fn fields_on_request() {
    let bench = Bench::new();
    let packages: Vec<String> = (0..900)
        .map(|n| {
            format!(r#""node_modules/p{n}":{{"version":"1.{n}","license":"MIT","engines":{{"node":">=1"}}}}"#)
        })
        .collect();
    bench.put("lockfile", format!(r#"{{"name":"x","packages":{{{}}}}}"#, packages.join(",")));
    let plain = bench.ok("stats", json!({ "id": "lockfile" }));
    assert_eq!(plain.value.get("fields"), None);
    let objects = json!([
        { "path": "$", "keys": 2 },
        { "path": "$.packages", "keys": 900 },
        { "path": "$.packages.*", "keys": 2700, "count": 900, "min_keys": 3, "max_keys": 3 },
        { "path": "$.packages.*.engines", "keys": 900, "count": 900, "min_keys": 1, "max_keys": 1 },
    ]);
    assert_eq!(plain.value["objects"], objects);
    let answer =
        bench.value("stats", json!({ "id": "lockfile", "include_fields": true, "include_schema": true }));
    let fields = answer["fields"].as_array().unwrap();
    let paths: Vec<&str> = fields.iter().map(|row| row["path"].as_str().unwrap()).collect();
    let expected = ["", ".name", ".packages", ".packages.*", ".packages.*.version", ".packages.*.license"];
    assert_eq!(paths[..6], expected.map(|path| format!("${path}")));
    let version =
        json!({ "path": "$.packages.*.version", "types": { "string": 900 }, "count": 900, "missing": 0 });
    assert_eq!(fields[4], version);
    let packages = &answer["schema"]["properties"]["packages"];
    assert_eq!(packages["additionalProperties"]["required"], json!(["version", "license", "engines"]));
    // Fields of each path, and pages that have all rows.
    let arguments = json!({ "id": "lockfile", "include_fields": true, "paths": ["$.name", "$.packages"] });
    let parts = bench.value("stats", arguments);
    assert_eq!(parts["by_path"][0]["fields"][0]["path"], "$.name");
    assert_eq!(parts["fields"].as_array().unwrap().len(), 1 + paths.len() - 2);
    let pages = bench.walk("stats", &json!({ "id": "lockfile", "include_fields": true, "max_chars": 600 }));
    let rows: usize = pages.iter().filter_map(|page| page.value["fields"].as_array()).map(Vec::len).sum();
    assert_eq!((rows, pages.len() > 1), (paths.len(), true));
}

#[test]
fn later_pages_repeat_the_figures() {
    let bench = Bench::new();
    let members: Vec<String> = (0..300).map(|n| format!("\"k{n}\":[]")).collect();
    bench.put("wide", format!("{{{},\"n\":1}}", members.join(",")));
    let pages = bench.walk("stats", &json!({ "id": "wide", "max_chars": 3_000 }));
    assert!(pages.len() > 3);
    for page in &pages {
        assert_eq!(page.value["structure"]["total_keys"], 301);
    }
    let rows: usize = pages.iter().filter_map(|page| page.value["arrays"].as_array()).map(Vec::len).sum();
    assert_eq!(rows, 300);
}

#[test]
fn oversized_schemas_become_marks() {
    let bench = Bench::new();
    let members: Vec<String> =
        (0..90).map(|n| format!("\"a member of some length {n}\":[{{\"x\":1}}]")).collect();
    bench.put("wide", format!("{{{}}}", members.join(",")));
    let pages = bench.walk("stats", &json!({ "id": "wide", "include_schema": true, "max_chars": 1_500 }));
    let schema: Vec<&Value> = pages.iter().filter_map(|page| page.value.get("schema")).collect();
    assert_eq!(schema.len(), 1);
    assert_eq!((&schema[0]["$truncated"], &schema[0]["kind"]), (&json!(true), &json!("object")));
    let warning = pages[0].value["warning"].as_str().unwrap();
    assert!(warning.starts_with("the schema takes ") && warning.contains("max_depth"), "{warning}");
}

#[test]
fn paths_without_a_match_suggest_the_nearest() {
    let bench = Bench::new();
    bench.put("near", r#"{"items": [1]}"#);
    let answer = bench.value("stats", json!({ "id": "near", "paths": ["$.itens"] }));
    assert_eq!(answer["warning"], "`$.itens` selects nothing; the nearest path is `$.items`");
    assert_eq!(answer["structure"]["total_values"], 0);
}

#[test]
fn figures_agree_with_the_engine_at_any_depth() {
    let bench = Bench::new();
    bench.put("deep", r#"[[[[[[[["x"]]]]]]]]"#);
    let shallow = bench.value("stats", json!({ "id": "deep", "max_depth": 1 }));
    assert_eq!(shallow["structure"]["max_depth"], 9);
    assert_eq!(shallow["types"]["array"], 8);
    assert_eq!(shallow["arrays"].as_array().unwrap().len(), 1);
}
