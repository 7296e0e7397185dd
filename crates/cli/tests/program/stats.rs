//! `trommel stats` and `trommel schema`: shapes and options.

use crate::common::{line, piped};
use serde_json::{Value, json};

#[test]
fn describes_all_sections() {
    let mut stats = line("stats users.json").json();
    assert_eq!(stats["size"].take(), json!({"bytes": 353, "characters": 353, "formatted": "353 B"}));
    assert_eq!(
        stats,
        json!({
            "id": "users.json",
            "size": null,
            "structure": {
                "root_type": "object", "max_depth": 6, "total_keys": 21, "total_values": 30, "duplicate_names": 1,
            },
            "types": {"object": 7, "array": 5, "string": 10, "number": 6, "boolean": 1, "null": 1},
            "arrays": [
                {"path": "$.users", "length": 4, "item_type": "object"},
                {
                    "path": "$.users[*].tags", "length": 4, "item_type": "object|string",
                    "count": 4, "min_length": 0, "max_length": 2,
                },
            ],
            "objects": [
                {"path": "$", "keys": 2},
                {"path": "$.users[*]", "keys": 15, "count": 4, "min_keys": 3, "max_keys": 4},
                {"path": "$.users[*].tags[*]", "keys": 1},
                {"path": "$.meta", "keys": 3},
            ],
        })
    );
}

#[test]
fn streams_count_records() {
    let stats = line("stats log.jsonl").json();
    assert_eq!((&stats["records"], &stats["structure"]["root_type"]), (&json!(4), &json!("object")));
    let stats = piped(["stats", "-", "--input", "concatenated"], b"1 {}").json();
    assert_eq!((&stats["id"], &stats["records"]), (&json!("-"), &json!(2)));
    assert_eq!(stats["structure"]["root_type"], "mixed");
    assert_eq!(line("stats users.json").json().get("records"), None);
}

#[test]
fn queries_select_what_to_describe() {
    let stats = line("stats users.json $.meta").json();
    assert_eq!(stats["size"]["bytes"], 33);
    assert_eq!(stats["objects"], json!([{"path": "$.meta", "keys": 3}]));
    assert_eq!(stats.get("by_path"), None);
    let stats = line("stats users.json $.meta $.users[*].tags").json();
    assert_eq!(stats["types"]["array"], 4);
    let by_path = stats["by_path"].as_array().unwrap();
    let paths: Vec<_> = by_path.iter().map(|part| part["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["$.meta", "$.users[*].tags"]);
    assert_eq!(by_path[0]["size"], json!({"bytes": 33, "characters": 33, "formatted": "33 B"}));
    assert_eq!(by_path[1]["types"]["string"], 3);
    assert_eq!(line("stats users.json $.x --exit-status").status, Some(1));
}

#[test]
fn options_add_and_omit_sections() {
    let stats = line("stats users.json --schema --values").json();
    assert_eq!(stats["schema"]["type"], "object");
    let values = stats["values"].as_array().unwrap();
    let ages = values.iter().find(|row| row["path"] == "$.users[*].age").unwrap();
    assert_eq!((&ages["count"], &ages["numbers"]["max"]), (&json!(3), &json!(36)));
    let stats = line("stats users.json --max-depth 2").json();
    assert_eq!(stats["arrays"].as_array().map(Vec::len), Some(1));
    assert_eq!(stats["structure"]["max_depth"], 6);
    let stats = line("stats users.json --no-sample-arrays").json();
    assert_eq!(stats["arrays"][0]["item_type"], "unknown");
}

/// Overviews have no rows per path and validate only the structure.
#[test]
fn overviews_skip_names() {
    let stats = line("stats users.json --only structure,types").json();
    let names: Vec<_> = stats.as_object().unwrap().keys().cloned().collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(stats["structure"]["total_values"], 30);
    assert_eq!(stats["types"]["string"], 10);
    assert!(line("stats skipped.json").failed(1).contains("2:7"));
    assert!(line("stats skipped.json --only structure,types --strict").failed(1).contains("2:7"));
    assert!(line("stats users.json --only structure --schema").failed(2).contains("--only"));
    assert!(line("stats users.json --only sizes").failed(2).contains("possible values"));
}

#[test]
fn sizes_use_units_of_1024() {
    let input = format!("\"{}\"", "x".repeat(1534));
    let stats = piped(["stats", "-"], input.as_bytes()).json();
    assert_eq!(stats["size"], json!({"bytes": 1536, "characters": 1536, "formatted": "1.5 KB"}));
}

#[test]
fn schemas_describe_every_record() {
    let schema = line("schema log.jsonl").json();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["required"], json!(["id", "level", "ms"]));
    assert_eq!(schema["properties"]["tags"]["items"], json!({"type": "string"}));
    assert_eq!(line("schema log.jsonl --json").json(), schema);
    let shallow: Value = line("schema users.json --max-depth 1").json();
    assert!(shallow["properties"]["users"].get("items").is_none(), "{shallow}");
    assert!(line("schema skipped.json").failed(1).contains("2:7"));
}
