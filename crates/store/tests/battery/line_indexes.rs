//! The line index of stored texts.

use std::fs;

use serde_json::{Value, json};
use trommel_store::DamageKind;

use crate::support::{Home, file_of, named, put_as};

/// Changes the line index in a description, and seals it again.
fn change_index(home: &Home, id: &str, index: Option<Value>) {
    let path = file_of(home, id, ".meta.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut object: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    object.shift_remove("seal");
    let _ = match index {
        Some(index) => object.insert("line_index".into(), index),
        None => object.shift_remove("line_index"),
    };
    let object = serde_json::to_string(&object).unwrap();
    let seal = blake3::hash(object.as_bytes()).to_hex();
    fs::write(path, format!("{},\"seal\":\"{}\"}}\n", object.strip_suffix('}').unwrap(), &seal[..32]))
        .unwrap();
}

#[test]
fn texts_have_a_line_index_and_json_has_none() {
    for pack_over in [None, Some(1 << 10)] {
        let home = Home::with(|options| options.pack_over = pack_over);
        let text = "a line\n".repeat(100_000);
        let stored = put_as(&home, named("text-1"), &text);
        let index = stored.line_index.clone().unwrap();
        assert_eq!(index.lines(), 100_000);
        let start = index.block_of_line_end(50_000);
        assert_eq!((start.offset, start.line_ends), (327_680, 46_811));
        assert_eq!(home.get("text-1").unwrap(), stored);
        assert_eq!(put_as(&home, named("json-1"), "{\"a\":\n1}\n").line_index, None);
        assert_eq!(put_as(&home, named("empty-1"), "").line_index.map(|index| index.lines()), Some(0));
        assert!(home.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
    }
}

#[test]
fn an_index_that_cannot_be_used_is_ignored() {
    let home = Home::new();
    let stored = put_as(&home, named("text-1"), "a\nb\n".repeat(100_000));
    for index in [
        None,
        Some(Value::Null),
        Some(json!({"version": 2, "more": true})),
        Some(json!({"version": 1, "lines": 3, "block": 65_536, "ends": [1, 2]})),
        Some(json!({"version": 1, "lines": 0, "block": 0, "ends": []})),
    ] {
        change_index(&home, "text-1", index);
        let read = home.get("text-1").unwrap();
        assert_eq!(read.line_index, None);
        assert_eq!((read.digest, read.size_bytes), (stored.digest.clone(), stored.size_bytes));
    }
    // Members that this release does not know stay when the output is pinned.
    change_index(&home, "text-1", Some(json!({"version": 2, "more": true})));
    home.pin("text-1", true).unwrap();
    let text = fs::read_to_string(file_of(&home, "text-1", ".meta.json")).unwrap();
    assert!(text.contains(r#""line_index":{"version":2,"more":true}"#), "{text}");
}

#[test]
fn verify_compares_the_index_with_the_payload() {
    let home = Home::new();
    put_as(&home, named("text-1"), "a\nb\n".repeat(10));
    change_index(&home, "text-1", Some(json!({"version": 1, "lines": 19, "block": 65_536, "ends": [19]})));
    let mut found = Vec::new();
    home.verify(&mut |damage| found.push((damage.kind, damage.message.clone()))).unwrap();
    // The row of the index in the database is that of the other description.
    let damage = found.iter().find(|(kind, _)| *kind == DamageKind::Metadata).unwrap();
    assert!(damage.1.starts_with("the line index differs from the payload"), "{}", damage.1);
}
