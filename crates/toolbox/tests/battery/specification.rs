//! Every example of the specification, with data that fits it.

use serde_json::{Value, json};

use crate::support::Bench;

fn users(count: u64) -> Vec<Value> {
    let user = |n| {
        let region = ["north", "south", "east"][(n % 3) as usize];
        json!({
            "id": n, "name": format!("user {n}"), "email": format!("user{n}@example.org"),
            "active": n % 5 != 0, "region": region
        })
    };
    (0..count).map(user).collect()
}

#[test]
fn extract_specific_fields() {
    let bench = Bench::new();
    bench.put("api-response-123", json!({ "data": { "users": users(3) } }).to_string());
    let paths = ["$.data.users[*].email", "$.data.users[*].name"];
    let answer =
        bench.value("extract", json!({ "id": "api-response-123", "paths": paths, "flatten": false }));
    let emails = ["user0@example.org", "user1@example.org", "user2@example.org"];
    let names = ["user 0", "user 1", "user 2"];
    assert_eq!(answer, json!({ "extracted": { paths[0]: emails, paths[1]: names } }));
}

#[test]
fn extract_with_flattening() {
    let bench = Bench::new();
    let data = r#"{"items": [{"price": 19.99, "quantity": 2}, {"price": 29.99, "quantity": 5}, {"price": 39.99, "quantity": 1}]}"#;
    bench.put("dataset-456", data);
    let arguments = json!({ "id": "dataset-456", "paths": ["$..price", "$..quantity"], "flatten": true });
    assert_eq!(bench.ok("extract", arguments).text, r#"{"extracted":[19.99,29.99,39.99,2,5,1]}"#);
}

#[test]
fn extract_with_path_information() {
    let bench = Bench::new();
    bench.put("config-789", r#"{"servers": [{"host": "host1", "port": 80}, {"host": "host2", "port": 81}]}"#);
    let arguments = json!({
        "id": "config-789", "paths": ["$.servers[*].host", "$.servers[*].port"], "include_paths": true
    });
    let expected = r#"{"extracted":[{"path":"$.servers[*].host","value":["host1","host2"]},{"path":"$.servers[*].port","value":[80,81]}]}"#;
    assert_eq!(bench.ok("extract", arguments).text, expected);
}

#[test]
fn extract_missing_paths_with_defaults() {
    let bench = Bench::new();
    bench.put("partial-data", r#"{"name": "John"}"#);
    let arguments = json!({
        "id": "partial-data", "paths": ["$.name", "$.optional_field", "$.nested.value"], "default_value": "N/A"
    });
    let expected = r#"{"extracted":{"$.name":"John","$.optional_field":"N/A","$.nested.value":"N/A"},"missing_paths":["$.optional_field","$.nested.value"]}"#;
    assert_eq!(bench.ok("extract", arguments).text, expected);
}

#[test]
fn extract_with_filters() {
    let bench = Bench::new();
    let data = json!({ "products": [
        { "id": 1, "name": "desk", "price": 150, "inStock": true },
        { "id": 2, "name": "lamp", "price": 30, "inStock": true },
        { "id": 3, "name": "sofa", "price": 900, "inStock": false }
    ] });
    bench.put("products-list", data.to_string());
    let paths = ["$.products[?(@.price > 100)].name", "$.products[?(@.inStock == true)].id"];
    let answer = bench.value("extract", json!({ "id": "products-list", "paths": paths }));
    assert_eq!(answer, json!({ "extracted": { paths[0]: ["desk", "sofa"], paths[1]: [1, 2] } }));
}

#[test]
fn count_array_items() {
    let bench = Bench::new();
    bench.put("users-data", json!({ "users": users(150) }).to_string());
    let counts = json!([
        { "name": "total_users", "path": "$.users", "count_type": "array_length" },
        { "name": "active_users", "path": "$.users[?(@.active == true)]", "count_type": "matches" }
    ]);
    let answer = bench.value("count", json!({ "id": "users-data", "counts": counts }));
    assert_eq!(answer, json!({ "counts": { "total_users": 150, "active_users": 120 }, "total": 270 }));
}

#[test]
fn count_object_keys() {
    let bench = Bench::new();
    bench.put("config-file", r#"{"a":1,"b":2,"c":3,"servers":{"s1":{},"s2":{},"s3":{},"s4":{},"s5":{}}}"#);
    let counts = json!([
        { "name": "root_keys", "path": "$", "count_type": "object_keys" },
        { "name": "server_configs", "path": "$.servers", "count_type": "object_keys" }
    ]);
    let answer = bench.value("count", json!({ "id": "config-file", "counts": counts }));
    assert_eq!(answer, json!({ "counts": { "root_keys": 4, "server_configs": 5 }, "total": 9 }));
}

#[test]
fn count_nested_totals() {
    let bench = Bench::new();
    let data = json!({ "orders": [
        { "items": [{ "price": 150 }, { "price": 20 }] },
        { "items": [{ "price": 101 }], "sub": { "items": { "a": { "price": 300 }, "b": { "price": 1 } } } }
    ] });
    bench.put("orders-db", data.to_string());
    let counts = json!([
        { "name": "all_items", "path": "$..items", "count_type": "nested_total" },
        { "name": "expensive_items", "path": "$..items[?(@.price > 100)]", "count_type": "matches" }
    ]);
    let answer = bench.value("count", json!({ "id": "orders-db", "counts": counts }));
    assert_eq!(answer, json!({ "counts": { "all_items": 5, "expensive_items": 3 }, "total": 8 }));
}

#[test]
fn count_with_several_filters() {
    let bench = Bench::new();
    let data = json!({ "products": [
        { "stock": 3, "sale": true }, { "stock": 0, "sale": false }, { "stock": 7, "sale": false }, { "stock": 0, "sale": true }
    ] });
    bench.put("products", data.to_string());
    let counts = json!([
        { "name": "in_stock", "path": "$.products[?(@.stock > 0)]", "count_type": "matches" },
        { "name": "out_of_stock", "path": "$.products[?(@.stock == 0)]", "count_type": "matches" },
        { "name": "on_sale", "path": "$.products[?(@.sale == true)]", "count_type": "matches" }
    ]);
    let answer = bench.value("count", json!({ "id": "products", "counts": counts }));
    assert_eq!(answer["counts"], json!({ "in_stock": 2, "out_of_stock": 2, "on_sale": 2 }));
}

#[test]
fn count_at_several_paths() {
    let bench = Bench::new();
    bench.put("api-responses", r#"{"errors":[1],"warnings":[],"data":{"items":[1,2,3]}}"#);
    let counts = json!([
        { "name": "errors", "path": "$.errors", "count_type": "array_length" },
        { "name": "warnings", "path": "$.warnings", "count_type": "array_length" },
        { "name": "data_items", "path": "$.data.items", "count_type": "array_length" }
    ]);
    let answer = bench.value("count", json!({ "id": "api-responses", "counts": counts }));
    assert_eq!(answer, json!({ "counts": { "errors": 1, "warnings": 0, "data_items": 3 }, "total": 4 }));
}

#[test]
fn sample_at_random_with_a_seed() {
    let bench = Bench::new();
    bench.put("large-dataset", json!({ "data": { "records": users(1000) } }).to_string());
    let arguments = json!({
        "id": "large-dataset", "path": "$.data.records", "size": 10, "strategy": "random", "seed": 42
    });
    let answer = bench.value("sample", arguments.clone());
    assert_eq!((&answer["total_items"], &answer["sample_size"]), (&json!(1000), &json!(10)));
    let indices: Vec<u64> = serde_json::from_value(answer["indices"].clone()).unwrap();
    assert!(indices.is_sorted() && indices.len() == 10);
    for (index, item) in indices.iter().zip(answer["sample"].as_array().unwrap()) {
        assert_eq!(item, &users(1000)[*index as usize]);
    }
    assert_eq!(bench.value("sample", arguments), answer);
}

#[test]
fn sample_the_first() {
    let bench = Bench::new();
    bench.put("time-series", json!({ "measurements": (0..100).collect::<Vec<_>>() }).to_string());
    let arguments = json!({ "id": "time-series", "path": "$.measurements", "size": 5, "strategy": "first" });
    let expected = json!({
        "sample": [0, 1, 2, 3, 4], "total_items": 100, "sample_size": 5, "indices": [0, 1, 2, 3, 4]
    });
    assert_eq!(bench.value("sample", arguments.clone()), expected);
    let mut last = arguments;
    last["strategy"] = json!("last");
    assert_eq!(bench.value("sample", last)["sample"], json!([95, 96, 97, 98, 99]));
}

#[test]
fn sample_systematically() {
    let bench = Bench::new();
    bench.put("sensor-data", json!({ "readings": (0..2000).collect::<Vec<_>>() }).to_string());
    let arguments = json!({
        "id": "sensor-data", "path": "$.readings", "size": 100, "strategy": "systematic", "stride": 10
    });
    let answer = bench.value("sample", arguments);
    let every_tenth: Vec<u64> = (0..1000).step_by(10).collect();
    assert_eq!((&answer["sample"], &answer["indices"]), (&json!(every_tenth), &json!(every_tenth)));
}

#[test]
fn sample_by_groups() {
    let bench = Bench::new();
    bench.put("customer-data", json!({ "customers": users(300) }).to_string());
    let arguments = json!({
        "id": "customer-data", "path": "$.customers", "size": 50, "strategy": "stratified", "strata_path": "$.region"
    });
    let answer = bench.value("sample", arguments);
    let strata = json!([
        { "value": "north", "total": 100, "sampled": 17 },
        { "value": "south", "total": 100, "sampled": 17 },
        { "value": "east", "total": 100, "sampled": 16 }
    ]);
    assert_eq!((&answer["strata"], &answer["sample_size"]), (&strata, &json!(50)));
}

#[test]
fn sample_with_indices() {
    let bench = Bench::new();
    bench.put("products-list", json!({ "products": users(500) }).to_string());
    let arguments = json!({ "id": "products-list", "path": "$.products", "size": 20, "strategy": "random" });
    let answer = bench.ok("sample", arguments);
    assert_eq!(answer.value["total_items"], 500);
    assert_eq!(answer.value["indices"].as_array().unwrap().len(), 20);
    assert!(answer.metadata["seed"].is_u64(), "the seed that was drawn is told");
}

#[test]
fn stats_match_the_specification() {
    let bench = Bench::new();
    let data = r#"{"users": [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 24, "x": null}], "metadata": {"ok": true}}"#;
    let stored = bench.put("api-response-data", data);
    let answer = bench.value("stats", json!({ "id": "api-response-data", "include_schema": false }));
    let expected = json!({
        "id": "api-response-data",
        "tool_name": "web.fetch",
        "created_at": stored.created_at,
        "size": { "bytes": data.len(), "characters": data.len(), "formatted": "104 B" },
        "structure": { "root_type": "object", "max_depth": 4, "total_keys": 8, "total_values": 11 },
        "types": { "object": 4, "array": 1, "string": 2, "number": 2, "boolean": 1, "null": 1 },
        "arrays": [{ "path": "$.users", "length": 2, "item_type": "object" }],
        "objects": [
            { "path": "$", "keys": 2 },
            { "path": "$.users[*]", "keys": 5, "count": 2, "min_keys": 2, "max_keys": 3 },
            { "path": "$.metadata", "keys": 1 }
        ]
    });
    let mut answer = answer;
    answer["types"] = sorted(&answer["types"]);
    let mut expected = expected;
    expected["types"] = sorted(&expected["types"]);
    assert_eq!(answer, expected);
}

fn sorted(object: &Value) -> Value {
    let mut members: Vec<_> = object.as_object().unwrap().clone().into_iter().collect();
    members.sort_by(|one, other| one.0.cmp(&other.0));
    Value::Object(members.into_iter().collect())
}

#[test]
fn stats_with_a_schema_to_some_depth() {
    let bench = Bench::new();
    bench.put("config-file", r#"{"a": {"b": {"c": {"d": 1}}}}"#);
    let arguments = json!({ "id": "config-file", "include_schema": true, "max_depth": 3 });
    let answer = bench.value("stats", arguments);
    assert_eq!(answer["structure"]["max_depth"], 5);
    assert_eq!(answer["objects"].as_array().unwrap().len(), 3);
    assert!(jsonschema::is_valid(&answer["schema"], &json!({ "a": { "b": { "c": { "d": 1 } } } })));
    assert!(!jsonschema::is_valid(&answer["schema"], &json!({ "a": { "b": 1 } })));
}

#[test]
fn stats_of_some_paths() {
    let bench = Bench::new();
    bench.put(
        "nested-data",
        r#"{"users": [1, 2], "products": {"a": "x"}, "orders": [[], [null]], "other": 1}"#,
    );
    let arguments =
        json!({ "id": "nested-data", "paths": ["$.users", "$.products", "$.orders"], "sample_arrays": true });
    let answer = bench.value("stats", arguments);
    assert_eq!(answer["structure"]["total_values"], 9);
    let paths: Vec<&str> =
        answer["by_path"].as_array().unwrap().iter().map(|part| part["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["$.users", "$.products", "$.orders"]);
    assert_eq!(answer["by_path"][0]["size"]["bytes"], 6);
    assert_eq!(
        answer["by_path"][2]["arrays"][0],
        json!({ "path": "$.orders", "length": 2, "item_type": "array" })
    );
}

#[test]
fn stats_deep_and_quick() {
    let bench = Bench::new();
    bench.put("complex-json", r#"{"a": [[[[[[{"deep": [1]}]]]]]]}"#);
    let deep =
        json!({ "id": "complex-json", "max_depth": 10, "include_schema": true, "sample_arrays": true });
    assert_eq!(bench.value("stats", deep)["arrays"].as_array().unwrap().len(), 7);
    let quick =
        json!({ "id": "complex-json", "max_depth": 2, "sample_arrays": false, "include_schema": false });
    let answer = bench.value("stats", quick);
    assert_eq!(answer["arrays"], json!([{ "path": "$.a", "length": 1, "item_type": "unknown" }]));
}

#[test]
fn list_examples_of_the_specification() {
    let bench = Bench::new();
    for number in 0..3_i64 {
        let mut origin = trommel_store::Origin::of(if number == 1 { "search.rg" } else { "web.fetch" });
        origin.id = Some(format!("output-abc{number}"));
        origin.conversation_id = (number == 0).then(|| "conv-123".into());
        origin.message_id = (number == 0).then(|| "msg-789".into());
        origin.success = number != 2;
        origin.created_at = Some(1_700_000_000_000 + number * 3_600_000);
        let payload = format!("{{\"status\":200,\"data\":{:?}}}", vec![number; 150 * (number as usize + 1)]);
        bench.store.put_from(origin, payload.as_bytes()).unwrap();
    }
    let ids = |arguments: Value| {
        let answer = bench.value("list", arguments);
        let ids =
            answer["outputs"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>().join(" "), answer["total"].as_u64().unwrap())
    };
    let recent =
        json!({ "limit": 10, "sort_by": "created_at", "sort_order": "desc", "include_preview": true });
    assert_eq!(ids(recent), ("output-abc2 output-abc1 output-abc0".into(), 3));
    let of_conversation =
        json!({ "conversation_id": "conv-123", "tool_name": "web.fetch", "success": true, "limit": 20 });
    assert_eq!(ids(of_conversation.clone()), ("output-abc0".into(), 1));
    let of_day =
        json!({ "after": 1_700_000_000, "before": 1_700_086_400, "sort_by": "size", "sort_order": "desc" });
    assert_eq!(ids(of_day), ("output-abc2 output-abc1".into(), 2));
    let third_page = json!({ "limit": 20, "offset": 40, "tool_name": "search.rg", "include_preview": false });
    assert_eq!(ids(third_page), (String::new(), 1));
    let failed = json!({
        "success": false, "limit": 50, "sort_by": "created_at", "sort_order": "desc", "preview_length": 200
    });
    assert_eq!(ids(failed), ("output-abc2".into(), 1));
    let row = &bench.value("list", of_conversation)["outputs"][0];
    assert_eq!(row["created_at"], 1_700_000_000_000_u64);
    assert_eq!((&row["conversation_id"], &row["message_id"]), (&json!("conv-123"), &json!("msg-789")));
    assert_eq!(row["summary"], json!({ "type": "object", "keys": 2, "items": 150 }));
    assert_eq!(row["preview"].as_str().unwrap().chars().count(), 100);
}
