//! Reports of damage.

use std::fs;
use std::path::Path;

use trommel_store::{Damage, DamageKind, Store};

use crate::support::{Home, file_of, named, put_as};

fn damages(store: &Store) -> Vec<(Option<String>, DamageKind)> {
    let mut damages: Vec<Damage> = Vec::new();
    let verified = store.verify(&mut |damage| damages.push(damage.clone())).unwrap();
    let strays = damages.iter().filter(|damage| damage.kind == DamageKind::Stray).count();
    assert_eq!((verified.damaged, verified.strays), ((damages.len() - strays) as u64, strays as u64));
    assert_eq!(verified.is_whole(), verified.damaged == 0);
    for damage in &damages {
        assert!(damage.path.is_relative() && damage.message.len() > 20, "{damage:?}");
    }
    let mut found = damages.into_iter().map(|damage| (damage.id, damage.kind)).collect::<Vec<_>>();
    found.sort_by_key(|(id, kind)| (id.clone(), format!("{kind:?}")));
    found
}

fn change(path: &Path, change: impl Fn(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

#[test]
fn reports_every_kind_of_damage() {
    let home = Home::with(|options| options.pack_over = Some(10_000));
    for id in ["whole", "meta", "later", "missing", "length", "content", "index", "gone"] {
        put_as(&home, named(id), format!("{{\"id\": \"{id}\"}}"));
    }
    put_as(&home, named("packed"), " ".repeat(50_000));
    assert_eq!(damages(&home), []);
    let verified = home.verify(&mut |_| {}).unwrap();
    assert_eq!((verified.outputs, verified.bytes > 50_000), (9, true));

    change(&file_of(&home, "meta", ".meta.json"), |bytes| bytes[30] ^= 1);
    change(&file_of(&home, "later", ".meta.json"), |bytes| bytes[11] = b'3');
    fs::remove_file(file_of(&home, "missing", ".json")).unwrap();
    change(&file_of(&home, "length", ".json"), |bytes| bytes.push(b' '));
    change(&file_of(&home, "content", ".json"), |bytes| bytes[3] ^= 1);
    change(&file_of(&home, "packed", ".json.zst"), |bytes| bytes[20] ^= 1);
    fs::remove_file(file_of(&home, "gone", ".meta.json")).unwrap();
    let index = rusqlite::Connection::open(home.root().join("index.sqlite")).unwrap();
    index.execute("UPDATE output SET created_at = 5, stamp = 'x' WHERE id = 'index'", []).unwrap();
    drop(index);
    fs::write(home.root().join("pending/left"), "x").unwrap();

    let some = |id: &str, kind| (Some(id.to_owned()), kind);
    let expected = [
        some("content", DamageKind::Content),
        some("gone", DamageKind::Index),
        some("gone", DamageKind::Stray),
        some("index", DamageKind::Index),
        some("later", DamageKind::Index),
        some("later", DamageKind::Version),
        some("left", DamageKind::Stray),
        some("length", DamageKind::Index),
        some("length", DamageKind::Length),
        some("meta", DamageKind::Index),
        some("meta", DamageKind::Metadata),
        some("missing", DamageKind::Index),
        some("missing", DamageKind::Missing),
        some("packed", DamageKind::Content),
    ];
    assert_eq!(damages(&home), expected);
    // A rebuild repairs the index; the other damage needs manual action.
    home.rebuild().unwrap();
    let index = |found: &&(Option<String>, DamageKind)| found.1 != DamageKind::Index;
    assert_eq!(damages(&home), expected.iter().filter(index).cloned().collect::<Vec<_>>());
}

/// Files left by a killed writer are reported, but are not damage.
#[test]
fn leftovers_are_not_damage() {
    let home = Home::new();
    put_as(&home, named("output-1"), "[1]");
    let orphan = file_of(&home, "output-1", ".json").with_file_name("orphan-1.json");
    for path in [home.root().join("pending/left"), home.root().join("pending/left.payload"), orphan] {
        fs::write(path, "x").unwrap();
    }
    let again = home.again();
    let found = damages(&again);
    assert!(found.len() == 3 && found.iter().all(|(_, kind)| *kind == DamageKind::Stray), "{found:?}");
    assert!(again.verify(&mut |_| {}).unwrap().is_whole());
}

#[test]
fn damage_serializes_to_json() {
    let home = Home::new();
    put_as(&home, named("output-1"), "[1]");
    fs::remove_file(file_of(&home, "output-1", ".json")).unwrap();
    let mut reported = Vec::new();
    home.verify(&mut |damage| reported.push(serde_json::to_value(damage).unwrap())).unwrap();
    assert_eq!(reported[0]["kind"], "missing");
    assert_eq!(reported[0]["id"], "output-1");
    assert_eq!(
        reported[0]["message"],
        "the payload of output output-1 is missing; delete the output, and create it again"
    );
}
