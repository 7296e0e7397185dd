//! Damaged payloads.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::Bench;

/// Returns the path of a payload's file.
fn file(folder: &Path, id: &str) -> Option<PathBuf> {
    fs::read_dir(folder).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return file(&path, id);
        }
        path.file_name().is_some_and(|name| name == format!("{id}.json").as_str()).then_some(path)
    })
}

/// Overwrites a part of a payload with the same number of bytes.
pub(crate) fn damage(bench: &Bench, id: &str, from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let path = file(bench.store.root(), id).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn returns_values_before_damage_and_reports_the_rest() {
    let bench = Bench::new();
    bench.put("broken", r#"{"z": 0, "a": [1, 2, 3, {"x": true}, 5], "b": 6}"#);
    damage(&bench, "broken", "true", "tr}e");
    let answer = bench.ok("extract", json!({ "id": "broken", "paths": ["$.a[*]", "$.b"] }));
    assert_eq!(answer.value["extracted"], json!({ "$.a[*]": [1, 2, 3] }));
    assert_eq!(answer.truncated(), Some(("damage", 3, None)));
    let warning = answer.value["warning"].as_str().unwrap();
    assert!(warning.contains("damaged at byte 3") && warning.contains("the rest is omitted"), "{warning}");
    let read = bench.ok("read", json!({ "id": "broken", "path": "$" }));
    assert_eq!(read.truncated(), Some(("damage", 1, None)));
    assert_eq!(read.value["content"], json!({ "z": 0, "$more": 2 }));
    for (tool, arguments) in [
        ("stats", json!({ "id": "broken" })),
        (
            "count",
            json!({ "id": "broken", "counts": [{ "name": "n", "path": "$.a[3]", "count_type": "object_keys" }] }),
        ),
        ("extract", json!({ "id": "broken", "paths": ["$.b"] })),
    ] {
        let (error, metadata) = bench.error(tool, arguments);
        assert!(error.message.contains("the payload is damaged at byte"), "{tool}: {}", error.message);
        assert!(error.message.ends_with("rerun the tool that created it"), "{tool}: {}", error.message);
        assert!(metadata["offset"].is_u64());
    }
}

#[test]
fn damaged_records_of_a_stream_are_skipped() {
    let bench = Bench::new();
    bench.put("lines", "{\"n\":1}\n{\"n\":22}\n{\"n\":3}\n{\"n\":44}\n{\"n\":5}\n");
    damage(&bench, "lines", "22", "x2");
    let answer = bench.ok("extract", json!({ "id": "lines", "paths": ["$.n"] }));
    assert_eq!(answer.value["extracted"], json!({ "$.n": [1, 3, 44, 5] }));
    assert_eq!(answer.truncated(), Some(("damage", 4, None)));
    let warning = answer.value["warning"].as_str().unwrap();
    assert!(warning.contains("record 1") && warning.contains("that record is skipped"), "{warning}");
    let pages = bench.walk("extract", &json!({ "id": "lines", "paths": ["$.n"], "max_chars": 200 }));
    assert_eq!(pages.last().unwrap().truncated().unwrap().0, "damage");
    // A page that is cut for its length still reports the damage.
    let many: Vec<String> = (0..2000).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    bench.put("many", many.concat());
    damage(&bench, "many", "{\"n\":7}", "{\"n\":x}");
    let pages = bench.walk("extract", &json!({ "id": "many", "paths": ["$.n"], "max_chars": 1200 }));
    let first = &pages[0];
    assert_eq!(first.truncated().unwrap().0, "max_chars");
    let warning = first.value["warning"].as_str().unwrap();
    assert!(warning.contains("record 7") && warning.contains("that record is skipped"), "{warning}");
}

#[test]
fn truncated_and_missing_payloads_are_errors() {
    let bench = Bench::new();
    bench.put("short", format!("[{}1]", "1,".repeat(5_000)));
    bench.put("gone", "[1]");
    let path = file(bench.store.root(), "short").unwrap();
    fs::File::options().write(true).open(path).unwrap().set_len(5_000).unwrap();
    fs::remove_file(file(bench.store.root(), "gone").unwrap()).unwrap();
    for id in ["short", "gone"] {
        for (tool, arguments) in [
            ("stats", json!({ "id": id })),
            ("extract", json!({ "id": id, "paths": ["$[4000]"] })),
            ("sample", json!({ "id": id, "path": "$", "size": 1 })),
        ] {
            let (error, _) = bench.error(tool, arguments);
            assert!(error.message.starts_with(&format!("tool_outputs.{tool}: cannot ")), "{}", error.message);
        }
    }
}
