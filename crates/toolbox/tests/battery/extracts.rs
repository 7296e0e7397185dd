//! `tool_outputs.extract` beyond the specification's examples.

use serde_json::json;

use crate::support::Bench;

#[test]
fn values_are_verbatim() {
    let bench = Bench::new();
    bench.put("exact", r#"{ "n": 1.000000000000000000001e+400, "big": 123456789012345678901234567890, "o": { "b" : 1, "a":"\u0041" } }"#);
    let answer = bench.ok("extract", json!({ "id": "exact", "paths": ["$.n", "$.big", "$.o"] }));
    let expected = r#"{"extracted":{"$.n":1.000000000000000000001e+400,"$.big":123456789012345678901234567890,"$.o":{"b":1,"a":"\u0041"}}}"#;
    assert_eq!(answer.text, expected);
    assert_eq!(answer.coverage("validation"), "structural");
    assert_eq!(answer.coverage("exact"), true);
    assert_eq!(answer.coverage("bytes_total"), 108);
}

#[test]
fn only_singular_paths_return_bare_values() {
    let bench = Bench::new();
    bench.put("shapes", r#"{"a": [1], "b": {"c": null}}"#);
    let paths = ["$.a", "$.a[*]", "$.a[0]", "$.b.c", "$..c", "$.a[?@ > 5]", "$.z"];
    let answer = bench.ok("extract", json!({ "id": "shapes", "paths": paths }));
    let expected = r#"{"extracted":{"$.a":[1],"$.a[*]":[1],"$.a[0]":1,"$.b.c":null,"$..c":[null],"$.a[?@ > 5]":null,"$.z":null},"missing_paths":["$.a[?@ > 5]","$.z"]"#;
    assert!(answer.text.starts_with(expected), "{}", answer.text);
}

#[test]
fn records_and_duplicate_names_return_arrays() {
    let bench = Bench::new();
    bench.put("lines", "{\"a\":1}\n{\"b\":2}\n{\"a\":3}\n");
    let answer = bench.ok("extract", json!({ "id": "lines", "paths": ["$.a", "$.b"] }));
    assert_eq!(answer.text, r#"{"extracted":{"$.a":[1,3],"$.b":[2]}}"#);
    bench.put("twice", r#"{"a":1,"b":2,"a":3}"#);
    let answer = bench.ok("extract", json!({ "id": "twice", "paths": ["$.a", "$.b"] }));
    assert_eq!(answer.text, r#"{"extracted":{"$.a":[1,3],"$.b":2}}"#);
}

#[test]
fn flattened_answers_and_their_paths() {
    let bench = Bench::new();
    bench.put("flat", r#"{"a": [{"x": 1}, {"x": 2}], "b": "s"}"#);
    let paths = ["$.b", "$.no", "$.a[*].x"];
    let flat = |more: serde_json::Value| {
        let mut arguments = json!({ "id": "flat", "paths": paths, "flatten": true });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let text = bench.ok("extract", arguments).text;
        text[..text.find(r#","missing_paths""#).unwrap()].to_owned()
    };
    assert_eq!(flat(json!({})), r#"{"extracted":["s",1,2]"#);
    assert_eq!(flat(json!({ "default_value": null })), r#"{"extracted":["s",null,1,2]"#);
    assert_eq!(flat(json!({ "default_value": [0] })), r#"{"extracted":["s",[0],1,2]"#);
    assert_eq!(
        flat(json!({ "include_paths": true, "default_value": "-" })),
        r#"{"extracted":[{"path":"$.b","location":"$['b']","value":"s"},{"path":"$.no","value":"-"},{"path":"$.a[*].x","location":"$['a'][0]['x']","value":1},{"path":"$.a[*].x","location":"$['a'][1]['x']","value":2}]"#
    );
}

#[test]
fn duplicate_paths_return_one_member() {
    let bench = Bench::new();
    bench.put("again", r#"{"a": 1}"#);
    let answer = bench.ok("extract", json!({ "id": "again", "paths": ["$.a", "$.a", "$['a']"] }));
    assert_eq!(answer.text, r#"{"extracted":{"$.a":1,"$['a']":1}}"#);
    let listed =
        bench.ok("extract", json!({ "id": "again", "paths": ["$.a", "$.a"], "include_paths": true }));
    assert_eq!(listed.text, r#"{"extracted":[{"path":"$.a","value":1},{"path":"$.a","value":1}]}"#);
}

#[test]
fn oversized_values_become_marks_that_read_resolves() {
    for bench in [Bench::new(), Bench::packed()] {
        let long = "x".repeat(3_000_000);
        bench.put("large", format!(r#"{{"a": {{"b c": ["{long}", 7]}}, "n": {}}}"#, "9".repeat(200_000)));
        let answer = bench.ok("extract", json!({ "id": "large", "paths": ["$.a['b c']", "$..[1]", "$.n"] }));
        let extracted = &answer.value["extracted"];
        let mark = &extracted["$.a['b c']"];
        assert_eq!(mark["$truncated"], true);
        assert_eq!((&mark["path"], &mark["kind"]), (&json!("$['a']['b c']"), &json!("array")));
        assert_eq!(mark["bytes"], 3_000_007);
        assert!(mark["preview"].as_str().unwrap().starts_with("[\"xxx"));
        assert_eq!(extracted["$..[1]"], json!([7]));
        assert_eq!(
            (&extracted["$.n"]["kind"], &extracted["$.n"]["bytes"]),
            (&json!("number"), &json!(200_000))
        );
        assert_eq!(answer.truncated(), Some(("max_chars", 3, None)));
        let read = bench.ok("read", json!({ "id": "large", "path": mark["path"] }));
        assert_eq!(read.value["size"], json!({ "bytes": 3_000_007, "items": 2 }));
        assert_eq!(read.value["content"][0]["path"], "$.a['b c'][0]");
        assert_eq!(read.value["content"][1], 7);
    }
}

#[test]
fn marks_in_a_stream_have_the_path_of_their_record() {
    let bench = Bench::new();
    let long = "y".repeat(50_000);
    bench.put("records", format!("{{\"a\":\"short\"}}\n{{\"a\":\"{long}\"}}\n"));
    let answer = bench.ok("extract", json!({ "id": "records", "paths": ["$.a"] }));
    let mark = &answer.value["extracted"]["$.a"][1];
    assert_eq!(mark["path"], "$[1]['a']");
    let read = bench.ok("read", json!({ "id": "records", "path": mark["path"] }));
    assert!(read.value["content"].as_str().unwrap().starts_with("yyyy"));
}

#[test]
fn paths_without_a_match_suggest_the_nearest() {
    let bench = Bench::new();
    bench.put("near", r#"{"data": {"users": [{"email": "x"}]}}"#);
    let answer = bench.ok("extract", json!({ "id": "near", "paths": ["$.data.user[*].email", "$.data"] }));
    let expected = "`$.data.user[*].email` selects nothing; the nearest path is `$.data.users[*].email`";
    assert_eq!(answer.value["warning"], expected);
    let answer = bench.ok("extract", json!({ "id": "near", "paths": ["$.entirely.different"] }));
    assert_eq!(answer.value.get("warning"), None);
}

#[test]
fn full_answers_end_the_scan() {
    let bench = Bench::new();
    let records: Vec<String> = (0..200_000).map(|n| format!("{{\"id\":{n}}}")).collect();
    bench.put("many", format!("[{}]", records.join(",")));
    let answer = bench.ok("extract", json!({ "id": "many", "paths": ["$[*].id"], "max_chars": 500 }));
    assert!(answer.next().is_some());
    let read = answer.coverage("bytes_read").as_u64().unwrap();
    assert!(read < 2_100_000, "{read} of {}", answer.coverage("bytes_total"));
    assert_eq!(answer.coverage("complete"), false);
}
