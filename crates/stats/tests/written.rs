//! The serialized forms of summaries and states.
#![cfg(feature = "serde")]

mod support;

use serde_json::{Value, json};
use support::{options, profile, summary};
use trommel_stats::{Profile, ProfileOptions};

const RECORDS: [&str; 3] = [
    r#"{"a":[1,2.50,"x"],"b":{},"b":null}"#,
    r#"{"a":[],"b":{"c d":true}}"#,
    r#"{"a":[10000000000000000000000001,0.1]}"#,
];

fn everything(options: &mut ProfileOptions) {
    options.values = true;
    options.schema = true;
    options.root_path = "$.r".into();
}

/// The member names of `tool_outputs.stats`.
#[test]
fn summaries_use_the_names_of_the_tool() {
    let written = serde_json::to_value(summary(options(|_| {}), &RECORDS)).unwrap();
    let expected = json!({
        "structure": {"root_type": "object", "max_depth": 3, "total_keys": 7, "total_values": 15, "duplicate_names": 1},
        "types": {"object": 5, "array": 3, "string": 1, "number": 4, "boolean": 1, "null": 1},
        "arrays": [{"path": "$.a", "length": 5, "item_type": "number|string", "count": 3, "min_length": 0, "max_length": 3}],
        "objects": [
            {"path": "$", "keys": 6, "count": 3, "min_keys": 1, "max_keys": 3},
            {"path": "$.b", "keys": 1, "count": 2, "min_keys": 0, "max_keys": 1}
        ]
    });
    assert_eq!(written, expected);
    let order: Vec<&str> = ["object", "array", "string", "number", "boolean", "null"].into();
    let text = serde_json::to_string(&summary(options(|_| {}), &RECORDS).types).unwrap();
    let offsets: Vec<_> = order.iter().map(|kind| text.find(kind).unwrap()).collect();
    assert!(offsets.is_sorted(), "{text}");
}

#[test]
fn values_are_written_with_all_their_digits() {
    let written = serde_json::to_value(summary(options(everything), &RECORDS)).unwrap();
    let items = json!({
        "path": "$.r.a[*]",
        "count": 5,
        "numbers": {"count": 4, "integers": 2, "beyond_double": 1, "min": 0.1, "max": "1.0000000000000000000000001e25",
            "sum": "1.00000000000000000000000046e25", "mean": 2.5e24},
        "quantiles": {"p1": 0.1, "p5": 0.1, "p25": 0.1, "p50": 1.0, "p75": 2.5, "p95": 1e25, "p99": 1e25},
        "strings": {"count": 1, "min_length": 1, "max_length": 1, "total_length": 1, "mean_length": 1.0},
        "distinct": {"count": 5},
        "frequent": {"values": [
            {"value": 1, "count": 1}, {"value": 2.5, "count": 1}, {"value": "x", "count": 1},
            {"value": "1.0000000000000000000000001e25", "count": 1}, {"value": 0.1, "count": 1}
        ]}
    });
    assert_eq!(written["values"][0], items);
    assert_eq!(written["values"][2]["path"], json!("$.r.b['c d']"));
}

#[test]
fn fields_have_the_types_that_occur() {
    let written =
        serde_json::to_string(&summary(options(|options| options.fields = true), &RECORDS)).unwrap();
    let expected = concat!(
        r#""fields":[{"path":"$","types":{"object":3},"count":3,"missing":0},"#,
        r#"{"path":"$.a","types":{"array":3},"count":3,"missing":0},"#,
        r#"{"path":"$.a[*]","types":{"string":1,"number":4},"count":5,"missing":0},"#,
        r#"{"path":"$.b","types":{"object":2,"null":1},"count":3,"missing":1},"#,
        r#"{"path":"$.b['c d']","types":{"boolean":1},"count":1,"missing":1}]"#,
    );
    assert!(written.contains(expected), "{written}");
}

#[test]
fn reports_dropped_figures() {
    let tight = options(|options| {
        options.limits.rows = 1;
        options.limits.names_per_path = 1;
        options.item_types = false;
    });
    let written = serde_json::to_value(summary(tight, &RECORDS)).unwrap();
    assert_eq!(written["capped"], json!({"objects": {"shown": 1, "total": 2}, "folded_paths": 1}));
    assert_eq!(written["arrays"][0]["item_type"], json!("unknown"));
    let fields = options(|options| (options.fields, options.limits.rows) = (true, 2));
    let written = serde_json::to_value(summary(fields, &RECORDS)).unwrap();
    assert_eq!(written["capped"]["fields"], json!({"shown": 2, "total": 5}));
    let plain = options(|options| (options.per_path, options.fields) = (false, true));
    let overview = summary(plain, &RECORDS);
    assert_eq!((overview.arrays, overview.objects, overview.fields), (None, None, None));
    assert_eq!((overview.schema, overview.values), (None, None));
}

/// R47: later releases read stored states. A change here needs a new version of the format that
/// contains them.
#[test]
fn the_state_is_frozen() {
    let state = profile(options(|options| options.schema = true), &[r#"{"a":["x"]}"#]);
    let expected = json!({
        "options": {"max_depth": 10_000, "item_types": true, "schema": true, "values": false, "per_path": true, "duplicate_names": true, "root_path": "$",
            "limits": {"names_per_path": 65_536, "bytes": 67_108_864, "open_names_bytes": 33_554_432, "rows": 1000,
                "path_bytes": 16_384, "schema_nodes": 10_000}},
        "totals": {"kinds": {"counts": [1, 0, 0, 0, 1, 1]}, "roots": 16, "records": 1, "keys": 1, "max_depth": 3,
            "duplicates": 0, "missed": false},
        "level": 0, "names_cap": 65_536, "depth_cap": 10_000,
        "nodes": [
            {"parent": null, "label": "Root", "kinds": {"counts": [0, 0, 0, 0, 1, 0]}, "first": 0, "present": 0, "arrays": null,
                "objects": [{"count": 1, "total": 1, "min": 1, "max": 1, "first": 0}, false], "values": null, "formats": 255,
                "has_fractions": false},
            {"parent": 0, "label": {"Name": "a"}, "kinds": {"counts": [1, 0, 0, 0, 0, 0]}, "first": 5, "present": 1,
                "arrays": [{"count": 1, "total": 1, "min": 1, "max": 1, "first": 5}, 32], "objects": null, "values": null,
                "formats": 255, "has_fractions": false},
            {"parent": 1, "label": "Item", "kinds": {"counts": [0, 0, 0, 0, 0, 1]}, "first": 6, "present": 0, "arrays": null,
                "objects": null, "values": null, "formats": 0, "has_fractions": false}
        ]
    });
    assert_eq!(serde_json::to_value(&state).unwrap(), expected);
    let read: Profile = serde_json::from_value(expected.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), expected);
    for (pointer, invalid) in
        [("/nodes/0/parent", json!(0)), ("/nodes/1/parent", Value::Null), ("/nodes/1/parent", json!(2))]
    {
        let mut damaged = expected.clone();
        *damaged.pointer_mut(pointer).unwrap() = invalid;
        assert!(serde_json::from_value::<Profile>(damaged).is_err(), "{pointer}");
    }
}
