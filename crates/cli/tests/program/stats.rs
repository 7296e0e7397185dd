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

/// Histograms have exact counts, for any number of threads.
#[test]
fn histograms_of_numbers_lengths_and_times() {
    let record = |n: usize| {
        let time = format!("2026-11-27T{:02}:{:02}:00Z", n / 60 % 24, n % 60);
        format!(
            "{{\"at\":\"{time}\",\"ms\":{n},\"size\":{},\"name\":\"{}\"}}",
            1_u64 << (n % 40),
            "x".repeat(n % 9)
        )
    };
    let lines: String = (0..1440).map(|n| record(n) + "\n").collect();
    let stats = piped(["stats", "--histograms"], lines.as_bytes()).json();
    let row = |path: &str| {
        stats["values"].as_array().unwrap().iter().find(|row| row["path"] == path).unwrap().clone()
    };
    let ms = &row("$.ms")["histogram"];
    assert_eq!((&ms["scale"], ms["buckets"].as_array().unwrap().len()), (&json!("linear"), 45));
    assert_eq!(ms["buckets"][1], json!({"from": 32.0, "to": 64.0, "count": 32}));
    let size = &row("$.size")["histogram"];
    assert_eq!(
        (&size["scale"], &size["buckets"][0]),
        (&json!("log"), &json!({"from": 1.0, "to": 2.0, "count": 36}))
    );
    let lengths = &row("$.name")["length_histogram"]["buckets"];
    assert_eq!(lengths[8], json!({"from": 8.0, "to": 9.0, "count": 160}));
    let at = row("$.at");
    let first = json!({"from": "2026-11-27T00:00:00Z", "to": "2026-11-27T00:30:00Z", "count": 30});
    assert_eq!((&at["time_histogram"]["buckets"][0], &at["histogram"]), (&first, &Value::Null));
    assert_eq!(row("$.name")["time_histogram"], Value::Null);
    let counts = |histogram: &Value| -> u64 {
        histogram["buckets"].as_array().unwrap().iter().map(|bucket| bucket["count"].as_u64().unwrap()).sum()
    };
    for histogram in [ms, size, &row("$.name")["length_histogram"], &at["time_histogram"]] {
        assert_eq!(counts(histogram), 1440);
    }
    assert!(line("stats log.jsonl --values").json()["values"][0].get("histogram").is_none());
}
