//! gzip, zstd, bzip2, and xz.

use trommel::path::Query;
use trommel::reader::{ErrorKind, Framing, Limit};
use trommel::{Analysis, Document, Error, Sample, Strategy};
use trommel_testkit::chunks::{Chunks, FailAfter, Interrupting};
use trommel_testkit::generate::{Random, Shape, damage, stream};
use trommel_testkit::naive;

use crate::support::{Scratch, answer_text, bzip2, cases, gzip, query, run, size, xz, zstd};

fn all_measures() -> Analysis {
    Analysis::new()
        .extract(query("$..a"))
        .count(query("$..*"))
        .stats()
        .sample(Sample::new(Query::root(), size(4)).strategy(Strategy::Systematic(None)))
}

fn answers(document: Document<'_>) -> Result<(Vec<String>, Vec<crate::support::SinkCall>, u64), Error> {
    let (report, memory) = run(&all_measures(), &mut document.framing(Framing::Lines))?;
    Ok((report.answers.iter().map(answer_text).collect(), memory.heard, report.coverage.bytes_read))
}

type Pack = fn(&[u8]) -> Vec<u8>;

const PACKS: [(&str, Pack); 4] = [("gz", gzip), ("zst", zstd), ("bz2", bzip2), ("xz", xz)];

/// R41: compressed in one member or several, as bytes, file, or pipe, an input gives the same
/// answers as uncompressed.
#[test]
fn packed_inputs_are_answered_as_plain_ones() {
    for seed in 0..cases(60, 500) {
        let mut random = Random::new(seed);
        let text = stream(seed, &Shape::plain(), naive::Framing::Lines, random.between(1, 30));
        let plain = answers(Document::from_bytes(text.clone())).unwrap();
        for (name, pack) in PACKS {
            let at = random.below(text.len() + 1);
            let members = [pack(&text[..at]), pack(b""), pack(&text[at..])].concat();
            for packed in [pack(&text), members] {
                let file = Scratch::new(&format!("lines.jsonl.{name}"), &packed);
                let opened = Document::open(file.path()).unwrap();
                assert_eq!((opened.current_framing(), opened.is_repeatable()), (Framing::Lines, true));
                let bytes = std::io::Cursor::new(packed.clone());
                let reads = Document::from_reader(Chunks::new(bytes.clone(), &[random.between(1, 70)]));
                let interrupted = Document::from_reader(Interrupting::new(bytes, 3));
                for document in [opened, reads, interrupted, Document::from_bytes(packed.clone())] {
                    assert_eq!(answers(document).unwrap(), plain, "seed {seed} {name}");
                }
            }
        }
    }
}

/// R41: truncated input is an error, not the answer to a part.
#[test]
fn truncated_input_is_an_error() {
    let text = stream(1, &Shape::plain(), naive::Framing::Lines, 20);
    for (name, pack) in PACKS {
        let packed = pack(&text);
        for end in (4..packed.len()).step_by(7) {
            let error = answers(Document::from_bytes(&packed[..end])).unwrap_err();
            assert!(matches!(error, Error::Read { .. }), "{name} cut at {end}: {error}");
            let format = match name {
                "gz" => "gzip",
                "zst" => "zstd",
                "bz2" => "bzip2",
                other => other,
            };
            let message = format!("the {format} data ends early: the file is truncated");
            assert!(error.to_string().contains(&message), "{name} cut at {end}: {error}");
        }
    }
}

/// R41: a wrong checksum is an error, and so are bytes after the end that are not a member.
#[test]
fn a_wrong_checksum_is_an_error() {
    let text = stream(2, &Shape::plain(), naive::Framing::Lines, 20);
    for (name, pack) in PACKS {
        let mut packed = pack(&text);
        let at = packed.len() - if name == "gz" { 6 } else { 2 };
        packed[at] ^= 1;
        let error = answers(Document::from_bytes(packed)).unwrap_err();
        assert!(
            matches!(&error, Error::Read { error, .. } if matches!(error.kind(), ErrorKind::Io(_))),
            "{name}: {error}"
        );
        assert!(!error.to_string().contains("write"), "{name}: {error}");
    }
    let trailing = [zstd(&text), b"garbage".to_vec()].concat();
    assert!(matches!(answers(Document::from_bytes(trailing)), Err(Error::Read { .. })));
}

/// R41: zero bytes after a member are padding, both between members and at the end.
#[test]
fn zero_padding_is_accepted() {
    let text = stream(5, &Shape::plain(), naive::Framing::Lines, 20);
    let plain = answers(Document::from_bytes([text.clone(), text.clone()].concat())).unwrap();
    for (name, pack) in PACKS {
        for zeros in [1, 7, 512, 100_000] {
            let padding = vec![0; zeros];
            let packed = [pack(&text), padding.clone(), pack(&text), padding.clone()].concat();
            assert_eq!(answers(Document::from_bytes(packed.clone())).unwrap(), plain, "{name}, {zeros}");
            let reader = Chunks::new(std::io::Cursor::new(packed), &[3, 1]);
            let document = Document::from_reader(reader).framing(Framing::Lines);
            assert_eq!(answers(document).unwrap().0, plain.0, "{name}, {zeros}");
            // Other bytes after a member are not padding.
            let packed = [pack(&text), padding, b"x".to_vec()].concat();
            assert!(
                matches!(answers(Document::from_bytes(packed)), Err(Error::Read { .. })),
                "{name}, {zeros}"
            );
        }
    }
}

/// R41: damaged input gives the right answer or an error.
#[test]
fn damage_never_changes_an_answer() {
    let text = stream(3, &Shape::plain(), naive::Framing::Lines, 20);
    let plain = answers(Document::from_bytes(text.clone())).unwrap();
    let mut refused = 0;
    for (name, pack) in PACKS {
        let packed = pack(&text);
        for seed in 0..cases(300, 2000) {
            let damaged = damage(seed, &packed);
            // If the first bytes change, the input is not compressed at all.
            if damaged.len() < 4 || damaged[..4] != packed[..4] {
                continue;
            }
            match answers(Document::from_bytes(damaged)) {
                Ok(found) => assert_eq!(found, plain, "{name} {seed}"),
                Err(error) => {
                    assert!(matches!(error, Error::Read { .. }), "{name} {seed}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 300, "{refused}");
}

/// R41: input that decompresses beyond the ratio is refused after the first 64 MiB, and the error
/// names the ratio.
#[test]
fn refuses_decompression_bombs() {
    let spaces = vec![b' '; 80 << 20];
    for (name, pack) in PACKS {
        let bomb = pack(&spaces);
        let count = Analysis::new().count(query("$"));
        let mut document = Document::from_bytes(bomb.clone()).ratio_limit(100);
        match count.run(&mut document).unwrap_err() {
            Error::Read { error, .. } => {
                assert_eq!(error.kind(), ErrorKind::Limit(Limit::Ratio(100)), "{name}");
                assert!((63 << 20..66 << 20).contains(&error.offset()), "{name} {}", error.offset());
                assert!(error.to_string().contains("100"), "{error}");
            }
            other => panic!("{name}: {other}"),
        }
        // With a larger ratio the input is read to its end, and is only white space.
        let mut document = Document::from_bytes(bomb).ratio_limit(1 << 40).framing(Framing::Lines);
        let report = count.run(&mut document).unwrap();
        assert_eq!((report.answers[0].count(), report.coverage.bytes_read), (Some(0), 80 << 20), "{name}");
    }
}

/// A failing pipe is a read error, wherever it fails.
#[test]
fn a_failing_pipe_is_an_error_of_reading() {
    let text = stream(4, &Shape::plain(), naive::Framing::Lines, 5);
    for (name, pack) in [("plain", (|text| text.to_vec()) as Pack)].into_iter().chain(PACKS) {
        let packed = pack(&text);
        for fails in [0, 1, 3, packed.len() as u64 / 2] {
            for analysis in [all_measures(), Analysis::new().count(query("$..*"))] {
                let bytes = std::io::Cursor::new(packed.clone());
                let reader = FailAfter::new(bytes, fails, std::io::ErrorKind::TimedOut);
                let error =
                    analysis.run(&mut Document::from_reader(reader).framing(Framing::Lines)).unwrap_err();
                let timed_out = ErrorKind::Io(std::io::ErrorKind::TimedOut);
                assert!(
                    matches!(&error, Error::Read { error, .. } if error.kind() == timed_out),
                    "{name} {fails}: {error}"
                );
            }
        }
    }
}

/// Offsets count decompressed bytes.
#[test]
fn error_offsets_count_decompressed_bytes() {
    for (name, pack) in PACKS {
        let error = Analysis::new().stats().run(&mut Document::from_bytes(pack(b"[1,\n  nul]"))).unwrap_err();
        assert!(error.to_string().contains("byte 6 (line 2, column 3)"), "{name}: {error}");
    }
}

/// A dictionary that needs too much memory is refused before it is allocated.
#[test]
fn large_dictionaries_are_refused() {
    let mut packed = xz(b"[1]");
    // The header of the block begins after the 12 bytes of the stream header: its size, flags, and
    // the filter LZMA2 with one byte of properties, the size of the dictionary. 39 is 3 GiB.
    let (start, properties) = (12, 16);
    assert_eq!(packed[start..properties], [2, 0, 0x21, 1]);
    packed[properties] = 39;
    let checksum = crc32(&packed[start..20]).to_le_bytes();
    packed[20..24].copy_from_slice(&checksum);
    let error = answers(Document::from_bytes(packed)).unwrap_err();
    assert!(error.to_string().contains("the xz data needs more than 256 MiB of memory"), "{error}");
}

/// The checksum of headers in xz.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}
