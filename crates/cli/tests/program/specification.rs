//! Every example of the tools' specification, through `trommel call`.

use crate::common::Home;
use serde_json::{Value, json};

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

/// Stores a payload under the ID in the arguments, and calls the tool.
#[track_caller]
fn answer(home: &Home, tool: &str, payload: &Value, arguments: &Value) -> Value {
    home.put(arguments["id"].as_str().unwrap(), payload.to_string());
    home.call(tool, arguments).json()
}

#[test]
fn extract() {
    let home = Home::new("spec-extract");
    let ask = |payload: Value, arguments: Value| answer(&home, "extract", &payload, &arguments);

    let fields = ask(
        json!({"data": {"users": users(3)}}),
        json!({"id": "api-response-123", "paths": ["$.data.users[*].email", "$.data.users[*].name"], "flatten": false}),
    );
    let emails = ["user0@example.org", "user1@example.org", "user2@example.org"];
    let names = ["user 0", "user 1", "user 2"];
    let expected = json!({"$.data.users[*].email": emails, "$.data.users[*].name": names});
    assert_eq!(fields, json!({"extracted": expected}));

    let flat = ask(
        json!({"items": [{"price": 19.99, "quantity": 2}, {"price": 29.99, "quantity": 5}, {"price": 39.99, "quantity": 1}]}),
        json!({"id": "dataset-456", "paths": ["$..price", "$..quantity"], "flatten": true}),
    );
    assert_eq!(flat, json!({"extracted": [19.99, 29.99, 39.99, 2, 5, 1]}));

    let with_paths = ask(
        json!({"servers": [{"host": "host1", "port": 80}, {"host": "host2", "port": 81}]}),
        json!({"id": "config-789", "paths": ["$.servers[*].host", "$.servers[*].port"], "include_paths": true}),
    );
    let expected = json!([
        {"path": "$.servers[*].host", "value": ["host1", "host2"]},
        {"path": "$.servers[*].port", "value": [80, 81]}
    ]);
    assert_eq!(with_paths, json!({"extracted": expected}));

    let missing = ask(
        json!({"name": "John"}),
        json!({"id": "partial-data", "paths": ["$.name", "$.optional_field", "$.nested.value"], "default_value": "N/A"}),
    );
    let expected = json!({"$.name": "John", "$.optional_field": "N/A", "$.nested.value": "N/A"});
    assert_eq!(
        missing,
        json!({"extracted": expected, "missing_paths": ["$.optional_field", "$.nested.value"]})
    );

    let filters = ["$.products[?(@.price > 100)].name", "$.products[?(@.inStock == true)].id"];
    let filtered = ask(
        json!({"products": [
            {"id": 1, "name": "desk", "price": 150, "inStock": true},
            {"id": 2, "name": "lamp", "price": 30, "inStock": true},
            {"id": 3, "name": "sofa", "price": 900, "inStock": false}
        ]}),
        json!({"id": "products-list", "paths": filters}),
    );
    assert_eq!(filtered, json!({"extracted": {filters[0]: ["desk", "sofa"], filters[1]: [1, 2]}}));
}

#[test]
fn count() {
    let home = Home::new("spec-count");
    let ask = |id: &str, payload: Value, counts: Value| {
        answer(&home, "count", &payload, &json!({"id": id, "counts": counts}))
    };
    let counted = ask(
        "users-data",
        json!({"users": users(150)}),
        json!([
            {"name": "total_users", "path": "$.users", "count_type": "array_length"},
            {"name": "active_users", "path": "$.users[?(@.active == true)]", "count_type": "matches"}
        ]),
    );
    assert_eq!(counted, json!({"counts": {"total_users": 150, "active_users": 120}, "total": 270}));

    let counted = ask(
        "config-file",
        json!({"a": 1, "b": 2, "servers": {"s1": {}, "s2": {}, "s3": {}, "s4": {}, "s5": {}}}),
        json!([
            {"name": "root_keys", "path": "$", "count_type": "object_keys"},
            {"name": "server_configs", "path": "$.servers", "count_type": "object_keys"}
        ]),
    );
    assert_eq!(counted, json!({"counts": {"root_keys": 3, "server_configs": 5}, "total": 8}));

    let counted = ask(
        "orders-db",
        json!({"orders": [
            {"items": [{"price": 150}, {"price": 20}]},
            {"items": [{"price": 101}], "sub": {"items": {"a": {"price": 300}, "b": {"price": 1}}}}
        ]}),
        json!([
            {"name": "all_items", "path": "$..items", "count_type": "nested_total"},
            {"name": "expensive_items", "path": "$..items[?(@.price > 100)]", "count_type": "matches"}
        ]),
    );
    assert_eq!(counted, json!({"counts": {"all_items": 5, "expensive_items": 3}, "total": 8}));

    let counted = ask(
        "products",
        json!({"products": [{"stock": 3, "sale": true}, {"stock": 0, "sale": false}, {"stock": 7, "sale": false}]}),
        json!([
            {"name": "in_stock", "path": "$.products[?(@.stock > 0)]", "count_type": "matches"},
            {"name": "out_of_stock", "path": "$.products[?(@.stock == 0)]", "count_type": "matches"},
            {"name": "on_sale", "path": "$.products[?(@.sale == true)]", "count_type": "matches"}
        ]),
    );
    assert_eq!(counted, json!({"counts": {"in_stock": 2, "out_of_stock": 1, "on_sale": 1}, "total": 4}));

    let counted = ask(
        "api-responses",
        json!({"errors": [1], "warnings": [], "data": {"items": [1, 2, 3]}}),
        json!([
            {"name": "errors", "path": "$.errors", "count_type": "array_length"},
            {"name": "warnings", "path": "$.warnings", "count_type": "array_length"},
            {"name": "data_items", "path": "$.data.items", "count_type": "array_length"}
        ]),
    );
    assert_eq!(counted, json!({"counts": {"errors": 1, "warnings": 0, "data_items": 3}, "total": 4}));
}

#[test]
fn sample() {
    let home = Home::new("spec-sample");
    let ask = |payload: Value, arguments: Value| answer(&home, "sample", &payload, &arguments);

    let asked = json!({"id": "large-dataset", "path": "$.data.records", "size": 10, "strategy": "random", "seed": 42});
    let drawn = ask(json!({"data": {"records": users(1000)}}), asked.clone());
    assert_eq!((&drawn["total_items"], &drawn["sample_size"]), (&json!(1000), &json!(10)));
    let indices: Vec<usize> = serde_json::from_value(drawn["indices"].clone()).unwrap();
    let items: Vec<Value> = indices.iter().map(|&index| users(1000)[index].clone()).collect();
    assert_eq!(drawn["sample"], Value::Array(items));
    assert_eq!(home.call("sample", &asked).json(), drawn, "the same seed gives the same sample");

    let numbers: Vec<u64> = (0..2000).collect();
    let first = ask(
        json!({"measurements": numbers}),
        json!({"id": "time-series", "path": "$.measurements", "size": 5, "strategy": "first"}),
    );
    assert_eq!((&first["sample"], &first["total_items"]), (&json!([0, 1, 2, 3, 4]), &json!(2000)));

    let every = ask(
        json!({"readings": numbers}),
        json!({"id": "sensor-data", "path": "$.readings", "size": 100, "strategy": "systematic", "stride": 10}),
    );
    let expected: Vec<u64> = (0..1000).step_by(10).collect();
    assert_eq!((&every["sample"], &every["sample_size"]), (&json!(expected), &json!(100)));

    let groups = ask(
        json!({"customers": users(300)}),
        json!({"id": "customer-data", "path": "$.customers", "size": 50, "strategy": "stratified", "strata_path": "$.region"}),
    );
    let sampled: Vec<u64> =
        groups["strata"].as_array().unwrap().iter().map(|one| one["sampled"].as_u64().unwrap()).collect();
    assert_eq!((groups["sample_size"].as_u64(), sampled), (Some(50), vec![17, 17, 16]));

    let indexed = ask(
        json!({"products": users(500)}),
        json!({"id": "products-list", "path": "$.products", "size": 20, "strategy": "random"}),
    );
    assert_eq!((&indexed["total_items"], &indexed["sample_size"]), (&json!(500), &json!(20)));
    assert_eq!(indexed["indices"].as_array().unwrap().len(), 20);
}

#[test]
fn stats() {
    let home = Home::new("spec-stats");
    let ask = |payload: Value, arguments: Value| answer(&home, "stats", &payload, &arguments);

    let payload = json!({"users": [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 24, "x": null}], "metadata": {"ok": true}});
    let stats = ask(payload.clone(), json!({"id": "api-response-data", "include_schema": false}));
    let bytes = payload.to_string().len();
    assert_eq!((&stats["id"], &stats["tool_name"]), (&json!("api-response-data"), &json!("web.fetch")));
    assert!(stats["created_at"].as_u64().unwrap() > 1_700_000_000_000);
    assert_eq!(
        stats["size"],
        json!({"bytes": bytes, "characters": bytes, "formatted": format!("{bytes} B")})
    );
    let structure = json!({"root_type": "object", "max_depth": 4, "total_keys": 8, "total_values": 11});
    assert_eq!(stats["structure"], structure);
    let types = json!({"object": 4, "array": 1, "string": 2, "number": 2, "boolean": 1, "null": 1});
    assert_eq!(stats["types"], types);
    assert_eq!(stats["arrays"], json!([{"path": "$.users", "length": 2, "item_type": "object"}]));
    assert_eq!(stats["objects"][0], json!({"path": "$", "keys": 2}));
    assert!(stats.get("schema").is_none());

    let config = json!({"a": {"b": {"c": {"d": 1}}}});
    let stats = ask(config, json!({"id": "config-file", "include_schema": true, "max_depth": 3}));
    assert_eq!((&stats["structure"]["max_depth"], &stats["schema"]["type"]), (&json!(5), &json!("object")));

    let stats = ask(
        json!({"users": [1, 2], "products": {"a": "x"}, "orders": [[], [null]], "other": 1}),
        json!({"id": "nested-data", "paths": ["$.users", "$.products", "$.orders"], "sample_arrays": true}),
    );
    let paths: Vec<&Value> = stats["by_path"].as_array().unwrap().iter().map(|part| &part["path"]).collect();
    assert_eq!(paths, ["$.users", "$.products", "$.orders"]);

    let deep = json!({"a": [[[[[[{"deep": [1]}]]]]]]});
    let stats = ask(
        deep,
        json!({"id": "complex-json", "max_depth": 10, "include_schema": true, "sample_arrays": true}),
    );
    assert_eq!(stats["arrays"].as_array().unwrap().len(), 7);
    let quick = json!({"id": "large-file", "max_depth": 2, "sample_arrays": false, "include_schema": false});
    let stats = ask(json!({"a": [[1]]}), quick);
    assert_eq!(stats["arrays"], json!([{"path": "$.a", "length": 1, "item_type": "unknown"}]));
}

#[test]
fn list() {
    let home = Home::new("spec-list");
    for number in 0..3 {
        let (id, number) = (format!("output-abc{number}"), number.to_string());
        let tool = if number == "1" { "search.rg" } else { "web.fetch" };
        let mut args = vec!["put", "--tool", tool, "--id", &id];
        args.extend(match number.as_str() {
            "0" => vec!["--conversation", "conv-123", "--message", "msg-789"],
            "2" => vec!["--failed"],
            _ => vec![],
        });
        let payload =
            format!("{{\"status\":200,\"data\":{{\"users\":[{}]}}}}", vec![number.as_str(); 150].join(","));
        home.fed(args, payload.as_bytes()).ok();
    }
    let list = |arguments: Value| home.call("list", &arguments).json();
    let ids = |arguments: Value| {
        let listed = list(arguments);
        let rows = listed["outputs"].as_array().unwrap().iter();
        (
            rows.map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" "),
            listed["total"].clone(),
        )
    };
    let recent = json!({"limit": 10, "sort_by": "created_at", "sort_order": "desc", "include_preview": true});
    assert_eq!(ids(recent), ("output-abc2 output-abc1 output-abc0".into(), json!(3)));
    let filtered =
        json!({"conversation_id": "conv-123", "tool_name": "web.fetch", "success": true, "limit": 20});
    let row = &list(filtered)["outputs"][0];
    assert_eq!((&row["conversation_id"], &row["message_id"]), (&json!("conv-123"), &json!("msg-789")));
    assert_eq!(row["summary"], json!({"type": "object", "keys": 2}));
    assert_eq!(row["preview"].as_str().unwrap().chars().count(), 100);
    let made = |id: &str| {
        let rows = list(json!({}));
        let row = rows["outputs"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap().clone();
        row["created_at"].as_i64().unwrap()
    };
    let (earliest, latest) = (made("output-abc0"), made("output-abc2"));
    let one_day = |after: i64, before: i64| json!({"after": after, "before": before, "sort_by": "size", "sort_order": "desc"});
    // Seconds, as in the specification, and milliseconds; both ends are exclusive.
    assert_eq!(ids(one_day(earliest / 1000 - 1, latest / 1000 + 1)).1, json!(3));
    assert_eq!(ids(one_day(earliest - 1, latest + 1)).1, json!(3));
    assert_eq!(ids(one_day(earliest, latest + 1)), ("output-abc2 output-abc1".into(), json!(2)));
    assert_eq!(ids(one_day(1_700_000_000, 1_700_086_400)), (String::new(), json!(0)));
    let third_page = json!({"limit": 20, "offset": 40, "tool_name": "search.rg", "include_preview": false});
    assert_eq!(ids(third_page), (String::new(), json!(1)));
    let failed = json!({"success": false, "limit": 50, "sort_by": "created_at", "sort_order": "desc", "preview_length": 200});
    assert_eq!(ids(failed), ("output-abc2".into(), json!(1)));
}

/// The error cases common to all tools: the tool, the attempt, the reason, and the help.
#[test]
fn errors() {
    let home = Home::new("spec-errors");
    home.put("api-response-123", "{\"users\": [1], \"name\": \"x\"}");
    let id = "api-response-123";
    for (tool, arguments, status, said) in [
        ("stats", json!({"id": "../secrets"}), 2, "is not a valid ID"),
        ("stats", json!({"id": "api-response-999"}), 2, "no output"),
        ("extract", json!({"id": id, "paths": ["$.users["]}), 2, "is not valid"),
        ("count", json!({"id": id, "counts": [{"name": "n", "path": "$.name"}]}), 2, "string"),
        ("sample", json!({"id": id, "path": "$.name", "size": 3}), 2, "array"),
        ("sample", json!({"id": id, "path": "$.users", "size": 3, "stride": 2}), 2, "systematic"),
        (
            "sample",
            json!({"id": id, "path": "$.users", "size": 3, "strategy": "stratified"}),
            2,
            "strata_path",
        ),
        ("list", json!({"after": 5, "before": 4}), 2, "not below"),
        ("list", json!({"sort_by": "colour"}), 2, "created_at, size, tool_name"),
        ("read", json!({"id": id, "path": "$.users[*]"}), 2, "several"),
    ] {
        let text = home.call(tool, &arguments).failed(status);
        let words = text.replace(['│', '\n'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains(&format!("Tool: tool_outputs.{tool}")) && words.contains(said),
            "{arguments}: {text}"
        );
    }
    let more = json!({"id": id, "path": "$.users", "size": 3, "seed": 1});
    let more = home.call("sample", &more).json();
    assert!(more["sample_size"] == 1 && more["warning"].is_string(), "{more}");
}
