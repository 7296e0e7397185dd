//! Large payloads stored as seekable zstd behave like plain ones.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};

use proptest::prelude::*;
use trommel::Analysis;
use trommel_store::{ErrorClass, Kind, Origin, Stored};

use crate::support::{Home, all, bytes_of, cases, file_of, named, put_as};

fn packing(over: u64) -> Home {
    Home::with(|options| options.pack_over = Some(over))
}

fn records(count: usize) -> String {
    let records = (0..count).map(|n| format!("{{\"id\": {n}, \"name\": \"user {}\"}}", n * 7919 % 1000));
    format!("{{\"records\": [{}]}}", records.collect::<Vec<_>>().join(",\n"))
}

/// The description without the members that depend on compression.
fn without_compression(stored: &Stored) -> Stored {
    let mut stored = stored.clone();
    (stored.packed, stored.disk_bytes, stored.created_at) = (false, 0, 0);
    stored.guide = None;
    stored
}

#[test]
fn compressed_payloads_equal_plain_ones() {
    let (packing, plain) = (packing(100_000), Home::new());
    for (id, payload) in
        [("long-1", records(80_000)), ("long-2", "a line\n".repeat(200_000)), ("short", records(10))]
    {
        let packed = put_as(&packing, named(id), &payload);
        let plain = put_as(&plain, named(id), &payload);
        assert_eq!(without_compression(&packed), without_compression(&plain));
        assert_eq!(packed.packed, id != "short");
        assert_eq!(bytes_of(&packing, &packed), payload.as_bytes());
        if packed.packed {
            assert!(
                packed.disk_bytes * 3 < packed.size_bytes,
                "{} of {}",
                packed.disk_bytes,
                packed.size_bytes
            );
            let path = file_of(&packing, id, ".json.zst");
            assert_eq!(fs::metadata(&path).unwrap().len(), packed.disk_bytes);
            // A standard zstd decoder can read it.
            let other = zstd::stream::decode_all(fs::File::open(&path).unwrap()).unwrap();
            assert!(other == payload.as_bytes(), "{id}");
        }
    }
    let stored = packing.get("long-1").unwrap();
    let mut document = packing.document(&stored).unwrap();
    for _ in 0..2 {
        let questions = Analysis::new().count("$.records[?@.id >= 79990]".parse().unwrap()).stats();
        let report = questions.run(&mut document).unwrap();
        assert_eq!(report.answers[0].count(), Some(10));
        assert_eq!(report.coverage.bytes_read, stored.size_bytes);
    }
    assert_eq!(
        packing.document(&packing.get("long-2").unwrap()).map(|_| ()).unwrap_err().class(),
        ErrorClass::NotJson
    );
    assert!(packing.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
    packing.rebuild().unwrap();
    assert_eq!(
        packing.list(&all()).unwrap().rows.iter().map(|row| row.size_bytes).max(),
        Some(stored.size_bytes)
    );
    packing.delete("long-1").unwrap();
    assert_eq!(packing.output_files().len(), 4);
}

#[test]
fn repetitive_payloads_are_not_refused() {
    let home = packing(1 << 20);
    let text = format!("[{}1]", " ".repeat(80 << 20));
    let stored = put_as(&home, named("spaces"), &text);
    assert!(stored.packed && stored.disk_bytes * 1000 < stored.size_bytes);
    let report =
        Analysis::new().count("$[*]".parse().unwrap()).run(&mut home.document(&stored).unwrap()).unwrap();
    assert_eq!(report.answers[0].count(), Some(1));
}

#[test]
fn compresses_above_the_threshold() {
    let home = packing(1000);
    for (length, packed) in [(999, false), (1000, false), (1001, true)] {
        let stored = put_as(&home, Origin::of("tool"), "x".repeat(length));
        assert_eq!(stored.packed, packed, "{length}");
        assert_eq!(bytes_of(&home, &stored).len(), length);
        assert_eq!(stored.kind, Kind::Text);
    }
    // The threshold is exceeded after several plain chunks.
    let home = packing(600_000);
    let payload = records(40_000);
    let stored = put_as(&home, Origin::of("tool"), &payload);
    assert!(stored.packed && bytes_of(&home, &stored) == payload.as_bytes());
    assert_eq!(home.output_files().len(), 2);
}

#[test]
fn damage_is_an_error_and_never_hangs() {
    let home = packing(1000);
    let stored = put_as(&home, named("output-1"), records(50_000));
    let path = file_of(&home, "output-1", ".json.zst");
    let good = fs::read(&path).unwrap();
    let length = good.len();
    let places = [
        0,
        1,
        5,
        100,
        length / 2,
        length - 400,
        length - 30,
        length - 20,
        length - 10,
        length - 9,
        length - 5,
        length - 1,
    ];
    for place in places {
        for flip in [0x01, 0x80, 0xFF] {
            let mut bad = good.clone();
            bad[place] ^= flip;
            fs::write(&path, &bad).unwrap();
            let mut bytes = Vec::new();
            let read = home.payload(&stored).map(|mut payload| payload.read_to_end(&mut bytes).map(|_| ()));
            if let Ok(Ok(())) = read {
                assert_eq!(
                    blake3::hash(&bytes).to_hex().to_string(),
                    stored.digest["blake3:".len()..],
                    "{place}"
                );
            }
            let mut damages = Vec::new();
            home.verify(&mut |damage| damages.push(damage.kind)).unwrap();
            let _ =
                home.document(&stored).map(|mut document| Analysis::new().stats().run(&mut document).is_ok());
        }
    }
    // Truncated, but with an intact seek table: the decoder alone would wait for more bytes
    // forever.
    for cut in [1, 100, 5_000] {
        let mut bad = good.clone();
        bad.drain(length / 3..length / 3 + cut);
        fs::write(&path, &bad).unwrap();
        let mut forged = stored.clone();
        forged.disk_bytes = bad.len() as u64;
        let mut bytes = Vec::new();
        let failed =
            home.payload(&forged).map_or(true, |mut payload| payload.read_to_end(&mut bytes).is_err());
        assert!(failed, "{cut}");
    }
    fs::write(&path, &good).unwrap();
    assert_eq!(bytes_of(&home, &stored).len() as u64, stored.size_bytes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(16, 500) as u32))]

    /// Reading any range returns the same bytes, compressed or plain.
    #[test]
    fn any_place_can_be_read(places in prop::collection::vec((0.0..1.05_f64, 0..300_000_usize, 0..3_u8), 1..40)) {
        let payload = records(60_000).into_bytes();
        let (packing, plain) = (packing(1000), Home::new());
        for (home, packed) in [(&packing, true), (&plain, false)] {
            let mut put = home.put(Origin::of("tool")).unwrap();
            put.write_all(&payload).unwrap();
            let stored = put.finish().unwrap();
            prop_assert_eq!(stored.packed, packed);
            let mut reader = home.payload(&stored).unwrap();
            prop_assert_eq!(reader.len(), payload.len() as u64);
            let mut at = 0;
            for (place, count, whence) in &places {
                let target = (payload.len() as f64 * place) as u64;
                let to = match whence {
                    0 => SeekFrom::Start(target),
                    1 => SeekFrom::End(target as i64 - payload.len() as i64),
                    _ => SeekFrom::Current(target as i64 - at as i64),
                };
                prop_assert_eq!(reader.seek(to).unwrap(), target);
                let mut found = Vec::new();
                (&mut reader).take(*count as u64).read_to_end(&mut found).unwrap();
                let start = payload.len().min(target as usize);
                let end = payload.len().min(start + count);
                prop_assert!(found == payload[start..end], "{} of {} at {}", count, payload.len(), target);
                at = target + found.len() as u64;
            }
            prop_assert!(reader.seek(SeekFrom::Current(-i64::MAX)).is_err());
        }
    }
}
