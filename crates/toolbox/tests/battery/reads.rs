//! `tool_outputs.read`.

use serde_json::{Value, json};

use crate::support::Bench;

#[test]
fn small_values_are_whole() {
    let bench = Bench::new();
    bench.put("small", " {\"a\": [1, \"x\"], \"n\": -0.5e7, \"t\": true, \"z\": null, \"e\": {}} \n");
    for (path, text) in [
        (
            "$",
            r#"{"path":"$","kind":"object","size":{"bytes":59,"items":5},"content":{"a":[1,"x"],"n":-0.5e7,"t":true,"z":null,"e":{}}}"#,
        ),
        ("$.a", r#"{"path":"$.a","kind":"array","size":{"bytes":8,"items":2},"content":[1,"x"]}"#),
        ("$.a[-1]", r#"{"path":"$.a[-1]","kind":"string","size":{"bytes":3},"content":"x"}"#),
        ("$['n']", r#"{"path":"$['n']","kind":"number","size":{"bytes":6},"content":-0.5e7}"#),
        ("$.t", r#"{"path":"$.t","kind":"boolean","size":{"bytes":4},"content":true}"#),
        ("$.z", r#"{"path":"$.z","kind":"null","size":{"bytes":4},"content":null}"#),
        ("$.e", r#"{"path":"$.e","kind":"object","size":{"bytes":2,"items":0},"content":{}}"#),
    ] {
        assert_eq!(bench.ok("read", json!({ "id": "small", "path": path })).text, text);
    }
}

#[test]
fn cut_containers_report_the_rest() {
    let bench = Bench::new();
    let items: Vec<Value> = (0..1_000).map(|n| json!({ "id": n, "name": format!("item {n}") })).collect();
    bench.put("long", json!({ "items": items, "by": { "a": "x".repeat(9_000), "b": 1 } }).to_string());
    let first = bench.ok("read", json!({ "id": "long", "path": "$.items" }));
    let (reason, returned, _) = first.truncated().unwrap();
    assert_eq!(reason, "max_chars");
    let content = first.value["content"].as_array().unwrap();
    assert_eq!(content.len() as u64, returned + 1);
    assert_eq!(content.last().unwrap(), &json!({ "$more": 1_000 - returned }));
    let second = bench.ok("read", json!({ "id": "long", "path": "$.items", "cursor": first.next() }));
    assert_eq!(second.value["content"][0]["id"], returned);
    assert_eq!(second.value["size"], first.value["size"]);
    let object = bench.ok("read", json!({ "id": "long", "path": "$.by", "max_chars": 1_000 }));
    let content = &object.value["content"];
    assert_eq!((&content["a"]["path"], &content["a"]["bytes"]), (&json!("$.by.a"), &json!(9_002)));
    assert_eq!(content["b"], 1);
}

#[test]
fn later_pages_do_not_reread_earlier_ones() {
    for bench in [Bench::new(), Bench::packed()] {
        let items: Vec<Value> =
            (0..60_000).map(|n| json!({ "id": n, "name": format!("item {n}") })).collect();
        bench.put("one-line", json!({ "data": { "items": items }, "meta": 1 }).to_string());
        let mut arguments = json!({ "id": "one-line", "path": "$.data.items" });
        let first = bench.ok("read", arguments.clone());
        assert!(first.coverage("bytes_read").as_u64().unwrap() > 1_000_000, "its elements are counted once");
        arguments["cursor"] = json!(first.next());
        let second = bench.ok("read", arguments.clone());
        assert!(
            second.coverage("bytes_read").as_u64().unwrap() < 20_000,
            "{}",
            second.coverage("bytes_read")
        );
        // The root is not read either, because its size is known.
        let root = bench.ok("read", json!({ "id": "one-line", "path": "$" }));
        assert_eq!(root.value["content"]["data"]["path"], "$.data");
        assert_eq!(root.value["content"]["meta"], 1);
    }
}

#[test]
fn guides_locate_the_same_values() {
    // Locations are cached by content, so each output has a store of its own.
    let (guided, plain) = (Bench::new(), Bench::new());
    let items: Vec<Value> = (0..20_000).map(|n| json!({ "id": n, "tags": [n, "x"] })).collect();
    let text = json!({ "data": { "items": items, "by": { "a": { "b": 1 } } }, "meta": 1 }).to_string();
    guided.put("long", &text);
    plain.put("long", &text);
    plain.remove_guide("long");
    for path in [
        "$.data.items",
        "$.data.items[12345]",
        "$.data.items[-2].tags[1]",
        "$.data.by.a",
        "$.data.by.a.b",
        "$.data",
        "$.meta",
    ] {
        let read = |bench: &Bench| bench.ok("read", json!({ "id": "long", "path": path }));
        let (with, without) = (read(&guided), read(&plain));
        assert_eq!(with.text, without.text, "{path}");
        assert_eq!((with.coverage("guide"), without.coverage("guide")), (&json!(true), &Value::Null));
        assert_eq!(with.coverage("bytes_read"), without.coverage("bytes_read"), "{path}");
    }
    for path in ["$.data.items[20000]", "$.data.by.b", "$.data.itens[1]"] {
        let refused = |bench: &Bench| bench.refused("read", json!({ "id": "long", "path": path }));
        assert_eq!(refused(&guided), refused(&plain), "{path}");
    }
}

/// Records of a stream are counted from the last one that the guide knows.
#[test]
fn guides_locate_the_same_records() {
    let (guided, plain) = (Bench::new(), Bench::new());
    let line = |n: u64| format!("{{\"id\":{n},\"tags\":[{n},\"x\"]}}\n\n");
    let lines = (0..20_000).map(line).collect::<Vec<_>>().concat();
    let apart = lines.replace(',', ",\n ");
    let sequence = (0..20_000).map(|n| format!("\u{1e}[{n}, {n}]\n")).collect::<Vec<_>>().concat();
    for (id, text) in [("lines", &lines), ("apart", &apart), ("sequence", &sequence)] {
        guided.put(id, text);
        plain.put(id, text);
        plain.remove_guide(id);
        for path in ["$[0]", "$[1]", "$[12345]", "$[-1]", "$[19999]", "$[15000]"] {
            let read = |bench: &Bench| bench.ok("read", json!({ "id": id, "path": path }));
            let (with, without) = (read(&guided), read(&plain));
            assert_eq!(with.text, without.text, "{id} {path}");
            assert_eq!((with.coverage("guide"), without.coverage("guide")), (&json!(true), &Value::Null));
        }
        for path in ["$[20000]", "$[19000].tag", "$[7]['id','x']"] {
            let refused = |bench: &Bench| bench.refused("read", json!({ "id": id, "path": path }));
            assert_eq!(refused(&guided), refused(&plain), "{id} {path}");
        }
    }
}

#[test]
fn pages_of_text_end_at_line_breaks() {
    let bench = Bench::new();
    let line = "a line of text that is neither short nor long\n";
    let text = line.repeat(400);
    bench.put("log", &text);
    let page = bench.ok("read", json!({ "id": "log" }));
    let size = json!({ "bytes": text.len(), "items": 400 });
    assert_eq!((&page.value["kind"], &page.value["size"]), (&json!("text"), &size));
    let content = page.value["content"].as_str().unwrap();
    assert!(content.ends_with('\n') && content.len().is_multiple_of(line.len()) && content.len() > 7_000);
    let next = bench.ok("read", json!({ "id": "log", "cursor": page.next() }));
    assert!(next.value["content"].as_str().unwrap().starts_with("a line"));
    bench.put("binary", b"PK\x03\x04\xff\xfe\x00 zip");
    let page = bench.ok("read", json!({ "id": "binary" }));
    assert_eq!(page.value["content"], "PK\u{3}\u{4}\u{fffd}\u{fffd}\0 zip");
    let message = bench.refused("read", json!({ "id": "log", "path": "$.a" }));
    assert!(message.contains("it is text"), "{message}");
}

#[test]
fn streams_are_read_as_the_array_of_their_records() {
    for bench in [Bench::new(), Bench::packed()] {
        bench.put(
            "lines",
            (0..2_000).map(|n| format!("{{\"n\": {n}, \"a\": [{n}]}}\n\n")).collect::<Vec<_>>().concat(),
        );
        bench.put("apart", "{\"n\":\n 1}\n{\"n\":\n2} \n\n[3]");
        bench.put("sequence", "\u{1e}{\"n\":1}\n\u{1e}[2]\n\u{1e}3\n");
        let first = bench.ok("read", json!({ "id": "lines", "max_chars": 400 }));
        assert_eq!((&first.value["kind"], &first.value["size"]["items"]), (&json!("records"), &json!(2_000)));
        for (id, path, content) in [
            ("lines", "$[7].n", json!(7)),
            ("lines", "$[-1]", json!({ "n": 1_999, "a": [1_999] })),
            ("lines", "$[1999].a[0]", json!(1_999)),
            ("apart", "$", json!([{ "n": 1 }, { "n": 2 }, [3]])),
            ("apart", "$[1].n", json!(2)),
            ("sequence", "$", json!([{ "n": 1 }, [2], 3])),
            ("sequence", "$[2]", json!(3)),
        ] {
            let answer = bench.value("read", json!({ "id": id, "path": path }));
            assert_eq!(answer["content"], content, "{id} {path}");
        }
        let message = bench.refused("read", json!({ "id": "lines", "path": "$.n" }));
        assert!(message.contains("$[0].name"), "{message}");
        let message = bench.refused("read", json!({ "id": "lines", "path": "$[2000]" }));
        assert!(message.contains("the stream has 2000 records"), "{message}");
        let message = bench.refused("read", json!({ "id": "lines", "path": "$[3].m" }));
        assert!(message.contains("tool_outputs.stats lists the paths there are"), "{message}");
    }
}

#[test]
fn long_names_are_shortened() {
    let bench = Bench::new();
    bench.put("names", json!({ "x".repeat(200_000): 1, "b": "y".repeat(9_000) }).to_string());
    let page = bench.ok("read", json!({ "id": "names" }));
    assert_eq!(page.value["content"][format!("{}…", "x".repeat(40))], 1);
    assert_eq!(page.value["content"]["b"]["path"], "$.b");
    assert_eq!(page.truncated(), Some(("max_chars", 2, None)));
}

#[test]
fn paths_must_select_a_single_value() {
    let bench = Bench::new();
    bench.put("some", r#"{"name": "x", "a": 1, "a": 2}"#);
    let message = bench.refused("read", json!({ "id": "some", "path": "$.*" }));
    assert!(message.contains("can select several values"), "{message}");
    let message = bench.refused("read", json!({ "id": "some", "path": "$.nam" }));
    assert!(message.ends_with("nothing is at $.nam; the nearest path is `$.name`"), "{message}");
    let message = bench.refused("read", json!({ "id": "some", "path": "$.a" }));
    assert!(message.contains("a name is repeated"), "{message}");
    assert_eq!(bench.value("read", json!({ "id": "some" }))["size"]["items"], 3);
}
