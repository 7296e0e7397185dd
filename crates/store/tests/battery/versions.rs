//! Stability of the format of version 1, and handling of newer versions.

use std::fs;

use serde_json::json;
use trommel_store::{ErrorClass, Store, StoreOptions};

use crate::support::{Home, all, file_of, named, put, put_as};

/// The description of a fixed output, as version 1 writes it.
const GOLDEN: &str = include_str!("golden/version-1.meta.json");
/// Its payload.
const PAYLOAD: &str = "{\"status\": 200, \"users\": [1, 2, 3], \"status\": 404}\n";

fn certain(store: &Store) -> String {
    let mut origin = named("output-abc123");
    origin.tool_name = "web.fetch".into();
    origin.conversation_id = Some("conv-456".into());
    origin.message_id = Some("msg-789".into());
    origin.created_at = Some(1_700_000_000_000);
    origin.parameters = json!({"url": "https://example.org", "retries": 3});
    put_as(store, origin, PAYLOAD);
    fs::read_to_string(file_of(store, "output-abc123", ".meta.json")).unwrap()
}

/// R47: the format of descriptions is frozen.
#[test]
fn r47_descriptions_are_frozen() {
    assert_eq!(certain(&Home::new()), GOLDEN);
}

/// R47: the files of an output of version 1 can be read.
#[test]
fn r47_version_1_is_read() {
    let home = Home::new();
    let folder = home.root().join("payload").join(&blake3::hash(b"output-abc123").to_hex()[..2]);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("output-abc123.json"), PAYLOAD).unwrap();
    fs::write(folder.join("output-abc123.meta.json"), GOLDEN).unwrap();
    assert_eq!(home.rebuild().unwrap().outputs, 1);
    let stored = home.get("output").unwrap();
    assert_eq!((stored.duplicate_names, stored.summary.items), (1, Some(3)));
    assert!(home.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
}

/// R47: members added by a newer release are ignored, and are preserved when the output is pinned.
#[test]
fn r47_members_may_be_added() {
    let home = Home::new();
    let text = certain(&home);
    let (object, _) = text.split_once(",\"seal\"").unwrap();
    let object = format!("{object},\"guide\":{{\"b\":1,\"a\":[0.1]}}}}");
    let seal = blake3::hash(object.as_bytes()).to_hex();
    let text = format!("{},\"seal\":\"{}\"}}\n", object.strip_suffix('}').unwrap(), &seal[..32]);
    let path = file_of(&home, "output-abc123", ".meta.json");
    fs::write(&path, &text).unwrap();
    let stored = home.get("output-abc123").unwrap();
    assert!(home.pin("output-abc123", true).unwrap().pinned);
    assert!(
        fs::read_to_string(&path)
            .unwrap()
            .contains("\"guide\":{\"b\":1,\"a\":[0.1]},\"pinned\":true,\"seal\"")
    );
    assert_eq!(home.pin("output-abc123", false).unwrap(), stored);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

/// R47: an output of a newer version is refused and hides no other.
#[test]
fn r47_newer_outputs_are_refused() {
    let home = Home::new();
    let text = certain(&home).replace("\"version\":1", "\"version\":7");
    fs::write(file_of(&home, "output-abc123", ".meta.json"), text).unwrap();
    put(&home, "[]");
    let error = home.get("output-abc123").unwrap_err();
    assert_eq!(error.class(), ErrorClass::Version);
    assert_eq!(
        error.to_string(),
        "output output-abc123 was stored by a newer version (metadata version 7; this program supports 1); use that version or a newer one"
    );
    assert_eq!(home.pin("output-abc123", true).unwrap_err().class(), ErrorClass::Version);
    let rows = home.list(&all()).unwrap().rows;
    assert_eq!(rows.iter().map(|row| row.corrupted).collect::<Vec<_>>(), [false, true]);
}

/// R47: an index of any other version is rebuilt.
#[test]
fn r47_index_of_another_version_is_rebuilt() {
    let home = Home::new();
    put(&home, "[1]");
    let listed = home.list(&all()).unwrap();
    for (pragma, value) in [
        ("user_version", 0),
        ("user_version", 1),
        ("user_version", 3),
        ("user_version", -1),
        ("application_id", 5),
    ] {
        let index = rusqlite::Connection::open(home.root().join("index.sqlite")).unwrap();
        index.execute_batch("DROP TABLE IF EXISTS shown").unwrap();
        index.pragma_update(None, pragma, value).unwrap();
        drop(index);
        let again = Store::open(home.root(), StoreOptions::default()).unwrap();
        assert_eq!(again.list(&all()).unwrap(), listed, "{pragma} {value}");
        assert_eq!(home.list(&all()).unwrap(), listed, "{pragma} {value}");
    }
}
