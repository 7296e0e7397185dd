//! An index that is missing, damaged, or written by another program.

use std::fs;
use std::io::Write;

use proptest::prelude::*;
use trommel_store::{Store, StoreOptions};

use crate::many::{fill, origin, pages, remove_index};
use crate::support::{Home, all, cases, file_of, put, put_as};

#[test]
fn rebuild_finds_copied_outputs() {
    let home = Home::new();
    fill(&home, 10);
    assert_eq!(home.list(&all()).unwrap().total, 1);
    assert_eq!(home.rebuild().unwrap().outputs, 10);
    assert_eq!(home.list(&all()).unwrap().total, 10);
    assert!(home.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
}

#[test]
fn ignores_descriptions_in_the_wrong_folder() {
    let home = Home::new();
    let stored = put(&home, "[1]");
    let meta = file_of(&home, &stored.id, ".meta.json");
    let own = meta.parent().unwrap();
    let other = own.with_file_name(if own.ends_with("00") { "01" } else { "00" });
    fs::create_dir_all(&other).unwrap();
    fs::copy(&meta, other.join(meta.file_name().unwrap())).unwrap();
    assert_eq!(home.rebuild().unwrap().outputs, 1);
    assert_eq!(home.list(&all()).unwrap().total, 1);
    assert_eq!(home.verify(&mut |_| {}).unwrap().outputs, 1);
}

#[test]
fn reboot_compares_the_index_with_the_files() {
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
fn rebuilds_a_damaged_index() {
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
            // A rebuild repairs even damage that SQLite does not notice.
            again.rebuild().unwrap();
            assert!(pages(&again) == before, "{at} {length}");
        }
        assert!(pages(&home) == before, "{at} {length}");
    }
}

/// Names of files in a payload folder.
fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9_-]{1,8}\\.(json|json\\.zst|meta\\.json)",
        "(output-1|output-2)\\.(json|json\\.zst|meta\\.json)",
        "[a-zA-Z0-9._ -]{1,20}",
    ]
    .prop_filter("no way out", |name| name != "." && name != "..")
}

/// Contents of a description's file: noise, or a valid description with some bytes changed.
fn contents() -> impl Strategy<Value = (bool, Vec<u8>, Vec<(f64, u8)>)> {
    (
        any::<bool>(),
        prop::collection::vec(any::<u8>(), 0..300),
        prop::collection::vec((0.0..1.0_f64, any::<u8>()), 0..4),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48, 5_000) as u32))]

    /// R13: any files yield an index and a sorted list.
    #[test]
    fn r13_any_files_yield_an_index(
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
