//! `tool_outputs.list` beyond the specification's examples.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use trommel_tool::ErrorKind;

use crate::support::Bench;

#[test]
fn lists_rows_without_previews_in_pages() {
    let bench = Bench::new();
    for number in 0..5 {
        bench.put(&format!("output-{number}"), format!("[{number}]"));
    }
    let answer = bench.ok("list", json!({ "limit": 2, "include_preview": false }));
    assert_eq!((&answer.value["total"], &answer.value["has_more"]), (&json!(5), &json!(true)));
    assert_eq!(answer.truncated(), Some(("limit", 2, Some(&json!(2)))));
    let row = answer.value["outputs"][0].as_object().unwrap();
    assert!(
        !row.contains_key("preview") && !row.contains_key("message_id") && !row.contains_key("corrupted")
    );
    assert_eq!(row["conversation_id"], Value::Null);
    let last = bench.ok("list", json!({ "limit": 2, "offset": 4, "preview_length": 0 }));
    assert_eq!((&last.value["has_more"], last.truncated()), (&json!(false), None));
    assert_eq!(last.value["outputs"][0]["preview"], "");
    assert_eq!(last.coverage("bytes_read"), 0);
}

#[test]
fn previews_are_safe_and_of_the_requested_length() {
    let bench = Bench::new();
    bench.put("odd", "plain \u{1b}[31m \u{202e}text\u{e0041} ü\n second line");
    let answer = bench.ok("list", json!({ "preview_length": 20 }));
    assert!(answer.text.is_ascii() || !answer.text.contains(['\u{1b}', '\u{202e}', '\u{e0041}']));
    assert_eq!(answer.value["outputs"][0]["preview"].as_str().unwrap().chars().count(), 20);
    assert_eq!(answer.value["outputs"][0]["summary"]["type"], "text");
}

#[test]
fn damaged_metadata_does_not_hide_other_outputs() {
    let bench = Bench::new();
    bench.put("whole", "[1]");
    bench.put("hurt", "[2]");
    damage_meta(bench.store.root(), "hurt");
    bench.store.rebuild().unwrap();
    let answer = bench.value("list", json!({ "sort_by": "size" }));
    let rows = answer["outputs"].as_array().unwrap();
    let hurt = rows.iter().find(|row| row["id"] == "hurt").unwrap();
    assert_eq!((rows.len(), &hurt["corrupted"], &hurt["success"]), (2, &json!(true), &json!(false)));
    assert!(rows.iter().any(|row| row["id"] == "whole" && row.get("corrupted").is_none()));
}

/// Overwrites the metadata of an output.
fn damage_meta(folder: &Path, id: &str) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            damage_meta(&path, id);
        } else if path.file_name().is_some_and(|name| name == format!("{id}.meta.json").as_str()) {
            fs::write(path, "{\"version\": 1, ").unwrap();
        }
    }
}

#[test]
fn empty_time_ranges_are_refused() {
    let bench = Bench::new();
    let message = bench.refused("list", json!({ "after": 1_700_000_000_000_u64, "before": 1_700_000_000 }));
    assert!(message.starts_with("tool_outputs.list: cannot list outputs: "), "{message}");
    assert!(message.contains("`after`") && message.contains("swap them"), "{message}");
    let (error, _) = bench.error("list", json!({ "sort_by": "age" }));
    assert_eq!(error.kind, ErrorKind::InvalidArguments);
}
