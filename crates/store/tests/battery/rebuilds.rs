//! An index that is gone, damaged, or of somebody else's making.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use trommel_store::{Filter, Origin, Page, SortBy, SortOrder, Store, StoreOptions};

use crate::support::{Home, all, cases, file_of, put, put_as};

/// Pages of all kinds, as the bytes of their JSON.
fn pages(store: &Store) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut take = |page: Page| serde_json::to_writer(&mut bytes, &page).unwrap();
    take(store.list(&all()).unwrap());
    for sort_by in [SortBy::CreatedAt, SortBy::Size, SortBy::ToolName] {
        for sort_order in [SortOrder::Asc, SortOrder::Desc] {
            let mut filter = Filter::default();
            (filter.sort_by, filter.sort_order, filter.offset) = (sort_by, sort_order, 7);
            take(store.list(&filter).unwrap());
            filter.conversation_id = Some("conv-1".into());
            take(store.list(&filter).unwrap());
        }
    }
    bytes
}

/// An output as many come: some hundred bytes, with all that can be filtered by.
pub(crate) fn origin(number: u64) -> Origin {
    let mut origin = Origin::of(["web.fetch", "search.rg", "file.read", "exec.run"][number as usize % 4]);
    origin.conversation_id = (!number.is_multiple_of(7)).then(|| format!("conv-{}", number % 50));
    origin.message_id = Some(format!("msg-{number}"));
    origin.success = !number.is_multiple_of(9);
    // Some at the same time.
    origin.created_at = Some(1_700_000_000_000 + (number as i64 / 3) * 977);
    origin
}

/// Puts files of outputs into the folders without waiting for the disk: many are wanted, and nobody is killed.
pub(crate) fn fill(store: &Store, count: u64) {
    let template = put_as(store, origin(0), r#"{"status": 200, "users": [{"id": 1}, {"id": 2}]}"#);
    let payload = fs::read(file_of(store, &template.id, ".json")).unwrap();
    for number in 1..count {
        let (id, made) = (format!("output-{number:08}"), origin(number));
        let mut stored = template.clone();
        (stored.id, stored.tool_name) = (id.clone(), made.tool_name);
        (stored.conversation_id, stored.message_id) = (made.conversation_id, made.message_id);
        (stored.success, stored.created_at) = (made.success, made.created_at.unwrap());
        let payload = [payload.as_slice(), &vec![b' '; number as usize * 31 % 1000]].concat();
        (stored.size_bytes, stored.disk_bytes) = (payload.len() as u64, payload.len() as u64);
        stored.characters = stored.size_bytes;
        stored.digest = format!("blake3:{}", blake3::hash(&payload).to_hex());
        let text = serde_json::to_string(&stored).unwrap();
        let seal = blake3::hash(text.as_bytes()).to_hex();
        let sealed = format!("{},\"seal\":\"{}\"}}\n", &text[..text.len() - 1], &seal[..32]);
        let folder = store.root().join("payload").join(&blake3::hash(id.as_bytes()).to_hex()[..2]);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{id}.json")), payload).unwrap();
        fs::write(folder.join(format!("{id}.meta.json")), sealed).unwrap();
    }
}

fn remove_index(root: &Path) {
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let _ = fs::remove_file(root.join(name));
    }
}

/// R20: the index can be deleted; what comes of the files alone is listed byte for byte as before.
#[test]
fn r20_the_index_is_disposable() {
    let home = Home::new();
    let count = cases(2_000, 100_000);
    fill(&home, count);
    for number in 0..20 {
        put_as(&home, origin(number), format!("[{number}]"));
    }
    fs::write(file_of(&home, "output-00000005", ".meta.json"), "damaged").unwrap();
    home.rebuild().unwrap();
    let before = pages(&home);
    let start = Instant::now();
    remove_index(home.root());
    // Who has it open goes on with a new one, and so does who opens it.
    home.list(&Filter::default()).unwrap();
    let took = start.elapsed();
    println!("{count} outputs: the index was made anew, and a page listed, in {took:?}");
    assert!(took < Duration::from_secs(30));
    assert!(pages(&home) == before);
    remove_index(home.root());
    assert!(pages(&home.again()) == before);
    assert!(pages(&home) == before);
    let rebuilt = home.rebuild().unwrap();
    assert_eq!((rebuilt.outputs, rebuilt.corrupted, rebuilt.strays), (count + 20, 1, 0));
    assert!(pages(&home) == before);
}

#[test]
fn outputs_that_were_copied_in_are_found_after_a_rebuild() {
    let home = Home::new();
    fill(&home, 10);
    assert_eq!(home.list(&all()).unwrap().total, 1);
    assert_eq!(home.rebuild().unwrap().outputs, 10);
    assert_eq!(home.list(&all()).unwrap().total, 10);
    assert!(home.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
}

#[test]
fn after_a_start_of_the_system_names_are_compared() {
    let home = Home::new();
    fill(&home, 10);
    let gone = put(&home, "[1]");
    let index = rusqlite::Connection::open(home.root().join("index.sqlite")).unwrap();
    index.execute("UPDATE fact SET value = 'another' WHERE name = 'boot'", []).unwrap();
    fs::remove_file(file_of(&home, &gone.id, ".meta.json")).unwrap();
    let again = home.again();
    assert_eq!(again.list(&all()).unwrap().total, 10);
}

#[test]
fn a_damaged_index_is_made_anew() {
    let home = Home::new();
    for number in 0..40 {
        put_as(&home, origin(number), format!("[{number}]"));
    }
    let before = pages(&home);
    let path = home.root().join("index.sqlite");
    rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_update_and_check(None, "wal_checkpoint", "truncate", |_| Ok(()))
        .unwrap();
    let good = fs::read(&path).unwrap();
    for (at, length) in
        [(0, 100), (0, 16), (18, 4), (56, 4), (100, 3000), (4096, 4096), (8192, 60_000), (0, good.len())]
    {
        remove_index(home.root());
        let mut bad = good.clone();
        let end = bad.len().min(at + length);
        bad[at..end]
            .iter_mut()
            .zip((0..=255).cycle())
            .for_each(|(byte, noise): (_, u8)| *byte = noise.wrapping_mul(37));
        fs::write(&path, bad).unwrap();
        let again = Store::open(home.root(), StoreOptions::default()).unwrap();
        let stored = put(&again, "[]");
        again.delete(&stored.id).unwrap();
        let found = pages(&again);
        if found != before {
            // What SQLite does not notice, a rebuild puts right.
            again.rebuild().unwrap();
            assert!(pages(&again) == before, "{at} {length}");
        }
        assert!(pages(&home) == before, "{at} {length}");
    }
    // An index that is a folder is somebody else's.
    remove_index(home.root());
    fs::create_dir(&path).unwrap();
    assert!(Store::open(home.root(), StoreOptions::default()).is_err());
}

/// Names as they may lie in a folder of payloads.
fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9_-]{1,8}\\.(json|json\\.zst|meta\\.json)",
        "(output-1|output-2)\\.(json|json\\.zst|meta\\.json)",
        "[a-zA-Z0-9._ -]{1,20}",
    ]
    .prop_filter("no way out", |name| name != "." && name != "..")
}

/// What may stand in the file of a description: noise, or a good one with some bytes changed.
fn contents() -> impl Strategy<Value = (bool, Vec<u8>, Vec<(f64, u8)>)> {
    (
        any::<bool>(),
        prop::collection::vec(any::<u8>(), 0..300),
        prop::collection::vec((0.0..1.0_f64, any::<u8>()), 0..4),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48, 5_000) as u32))]

    /// R13: whatever lies in the folders, an index is made of it, and listed, in order.
    #[test]
    fn r13_an_index_is_made_of_any_bytes(
        files in prop::collection::vec((names(), contents()), 0..8),
        index in prop::option::of(prop::collection::vec(any::<u8>(), 0..2000)),
    ) {
        let home = Home::new();
        let mut one = crate::support::named("output-1");
        one.created_at = Some(5);
        put_as(&home, one, "[1]");
        let good = fs::read(file_of(&home, "output-1", ".meta.json")).unwrap();
        for (name, (noise, bytes, changes)) in &files {
            let mut bytes = if *noise { bytes.clone() } else { good.clone() };
            for (place, byte) in changes {
                let at = (bytes.len() as f64 * place) as usize;
                if let Some(found) = bytes.get_mut(at) {
                    *found = *byte;
                }
            }
            let id = name.split('.').next().unwrap();
            let folder = home.root().join("payload").join(&blake3::hash(id.as_bytes()).to_hex()[..2]);
            fs::create_dir_all(&folder).unwrap();
            fs::File::create(folder.join(name)).unwrap().write_all(&bytes).unwrap();
        }
        if let Some(bytes) = index {
            remove_index(home.root());
            fs::write(home.root().join("index.sqlite"), bytes).unwrap();
        }
        let again = home.again();
        let rebuilt = again.rebuild().unwrap();
        let page = again.list(&all()).unwrap();
        prop_assert_eq!(page.total, rebuilt.outputs);
        prop_assert_eq!(page.rows.iter().filter(|row| row.corrupted).count() as u64, rebuilt.corrupted);
        for row in &page.rows {
            let _ = again.get(&row.id).map(|stored| again.payload(&stored).map(|_| ()));
        }
        again.verify(&mut |_| {}).unwrap();
        again.gc(&trommel_store::GcOptions::default()).unwrap();
        for row in &page.rows {
            again.delete(&row.id).unwrap();
        }
        prop_assert_eq!(again.list(&all()).unwrap().total, 0);
    }
}
