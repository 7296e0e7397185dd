//! Guides of outputs: stored, used, verified, and removed with them.

use std::fs;
use std::path::PathBuf;

use trommel::Analysis;
use trommel_store::{DamageKind, GcOptions};

use crate::support::{Home, file_of, named, put_as};

fn records(count: usize) -> String {
    let record = |id: usize| format!("{{\"id\":{id},\"name\":\"user {}\",\"tags\":[1,2,{id}]}}", id % 71);
    let records: Vec<String> = (0..count).map(record).collect();
    format!("{{\"data\":{{\"records\":[{}]}},\"end\":true}}", records.join(","))
}

fn count(home: &Home, id: &str, query: &str) -> (Option<u64>, bool) {
    let stored = home.get(id).unwrap();
    let mut document = home.document(&stored).unwrap();
    let report = Analysis::new().count(query.parse().unwrap()).run(&mut document).unwrap();
    (report.answers[0].count(), report.coverage.guide)
}

/// The path of the guide of an output, which may not exist.
fn guide_of(home: &Home, id: &str) -> PathBuf {
    file_of(home, id, ".meta.json").with_file_name(format!("{id}.guide"))
}

#[test]
fn long_outputs_have_guides() {
    let home = Home::new();
    for (id, payload, has_guide) in [
        ("long-json", records(20_000), true),
        ("long-lines", "{\"a\":[1,2]}\n".repeat(20_000), true),
        ("short-json", records(100), false),
        ("long-text", "a line\n".repeat(20_000), false),
        ("long-log", format!("{}oops\n", "{\"a\":1}\n".repeat(20_000)), false),
    ] {
        let stored = put_as(&home, named(id), &payload);
        assert_eq!(stored.guide.is_some(), has_guide, "{id}");
        let path = guide_of(&home, id);
        assert_eq!(path.exists(), has_guide, "{id}");
        if let Some(guide) = &stored.guide {
            assert_eq!(fs::metadata(&path).unwrap().len(), guide.bytes, "{id}");
            assert!(guide.bytes <= payload.len() as u64 / 200 + 4096, "{id}: {}", guide.bytes);
            assert_eq!(stored.bytes_on_disk(), stored.disk_bytes + guide.bytes);
        }
        assert_eq!(home.get(id).unwrap(), stored);
    }
    assert_eq!(count(&home, "long-json", "$.data.records[*]"), (Some(20_000), true));
    assert_eq!(count(&home, "long-json", "$.data.records[-1].tags[*]"), (Some(3), true));
    assert_eq!(count(&home, "long-lines", "$.a[*]"), (Some(40_000), true));
    assert_eq!(count(&home, "short-json", "$.data.records[*]"), (Some(100), false));
    assert!(home.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
    assert_eq!(home.gc(&GcOptions::default()).unwrap().removed, []);
    let guide = guide_of(&home, "long-json");
    home.delete("long-json").unwrap();
    assert!(!guide.exists());
    assert!(home.rebuild().unwrap().outputs == 4 && home.verify(&mut |_| {}).unwrap().is_whole());
}

/// A guide that is damaged, missing, or another output's is reported, and not used.
#[test]
fn damaged_guides_are_reported_and_not_used() {
    let home = Home::new();
    put_as(&home, named("output-a"), records(5_000));
    put_as(&home, named("output-b"), records(6_000));
    let path = guide_of(&home, "output-a");
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let other = fs::read(guide_of(&home, "output-b")).unwrap();
    let damages: [Option<Vec<u8>>; 5] =
        [Some(flipped), Some(whole[..100].to_vec()), Some(other), Some(Vec::new()), None];
    for (number, bytes) in damages.into_iter().enumerate() {
        match bytes {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        assert_eq!(count(&home, "output-a", "$.data.records[*]"), (Some(5_000), false), "damage {number}");
        let mut found = Vec::new();
        let verified = home.verify(&mut |damage| found.push(damage.clone())).unwrap();
        assert!(!verified.is_whole() && found.len() == 1, "damage {number}: {found:?}");
        assert_eq!((found[0].kind, found[0].id.as_deref()), (DamageKind::Guide, Some("output-a")));
    }
    fs::write(&path, whole).unwrap();
    assert!(home.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
    assert_eq!(count(&home, "output-a", "$.data.records[*]"), (Some(5_000), true));
}

/// Guides count toward the limits, and leave with their outputs.
#[test]
fn guides_count_and_are_evicted() {
    let payload = records(20_000);
    let home = Home::new();
    let stored = put_as(&home, named("output-a"), &payload);
    let both = 2 * stored.bytes_on_disk();
    // Both payloads would fit without their guides.
    assert!(both > 2 * stored.disk_bytes);
    let limited = Home::with(|options| options.limits.bytes = Some(both - 1));
    put_as(&limited, named("output-a"), &payload);
    let evicted = guide_of(&limited, "output-a");
    put_as(&limited, named("output-b"), &payload);
    assert!(limited.get("output-a").is_err());
    assert!(!evicted.exists());
    assert!(guide_of(&limited, "output-b").exists());
}
