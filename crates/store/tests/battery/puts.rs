//! Payloads and the descriptions that are derived from them.

use std::fmt::Write as _;
use std::io::Write;

use proptest::prelude::*;
use serde_json::json;
use trommel::Analysis;
use trommel::reader::Framing;
use trommel_store::{ErrorClass, Kind, Origin, Records, Stored, Summary};
use trommel_testkit::chunks::{Chunks, SIZES};
use trommel_testkit::generate::{Shape, document};
use trommel_testkit::naive::{Data, Document, parse};
use trommel_testkit::statistics;

use crate::support::{Home, bytes_of, cases, named, put, put_as};

fn summary(type_: &str, keys: Option<u64>, items: Option<u64>) -> Summary {
    serde_json::from_value(json!({"type": type_, "keys": keys, "items": items})).unwrap()
}

#[test]
fn detects_kind_and_framing() {
    let home = Home::new();
    let json = (Kind::Json, Some(Records::Json), None);
    let lines = |records| (Kind::JsonLines, Some(Records::Jsonl), Some(records));
    let stream = |records| (Kind::JsonLines, Some(Records::Auto), Some(records));
    let sequence = |records| (Kind::JsonLines, Some(Records::JsonSeq), Some(records));
    let text = (Kind::Text, None, None);
    for (payload, what, summary) in [
        (&b"{}"[..], json, summary("object", Some(0), None)),
        (
            b" {\"a\": 1, \"b\": [1, 2], \"c\": [[3, 4, 5]], \"d\": {\"e\": [1,2,3,4]}}\n",
            json,
            summary("object", Some(4), Some(2)),
        ),
        (b"{\"a\": []}", json, summary("object", Some(1), Some(0))),
        (b"{\"a\": 1, \"a\": 2}", json, summary("object", Some(2), None)),
        (b"[]", json, summary("array", None, Some(0))),
        (b"[1, [2, 3], {\"a\": [4]}]", json, summary("array", None, Some(3))),
        (b"\"x\"", json, summary("string", None, None)),
        (b"-1.5e3", json, summary("number", None, None)),
        (b"true", json, summary("boolean", None, None)),
        (b"null\n", json, summary("null", None, None)),
        (b"\xEF\xBB\xBF[1]", json, summary("array", None, Some(1))),
        (b"{\"a\": 1}\n{\"a\": 2}\n", lines(2), summary("object", None, Some(2))),
        (b"{\"a\": 1}\r\n\r\n[2]", lines(2), summary("mixed", None, Some(2))),
        (b"[1, 2, 3]\n[4]\n[5]", lines(3), summary("array", None, Some(3))),
        (b"{\n\"a\": 1\n}\n{\n\"a\": 2}\n", stream(2), summary("object", None, Some(2))),
        (b"1\n2\n{\n}\n", stream(3), summary("mixed", None, Some(3))),
        (b"1\r2\r", stream(2), summary("number", None, Some(2))),
        (b"\x1E{\"a\": 1}\n\x1E{\"a\": 2}\n", sequence(2), summary("object", None, Some(2))),
        (b"\x1E[1]\n", sequence(1), summary("array", None, Some(1))),
        (b"", text, summary("text", None, None)),
        (b"  \n", text, summary("text", None, None)),
        (b"hello", text, summary("text", None, None)),
        (b"{\"a\": 1", text, summary("text", None, None)),
        (b"[1] [2]", text, summary("text", None, None)),
        (b"{\"a\": 1}\n{\"a\": \n", text, summary("text", None, None)),
        (b"\xFF\xFE[\x001\0]\0", text, summary("text", None, None)),
        (b"\x1F\x8B\x08", text, summary("text", None, None)),
    ] {
        let stored = put(&home, payload);
        let shown = String::from_utf8_lossy(payload);
        assert_eq!((stored.kind, stored.framing, stored.records), what, "{shown}");
        assert_eq!(stored.summary, summary, "{shown}");
        assert_eq!(stored.size_bytes, payload.len() as u64);
        assert_eq!(stored.not_json.is_some(), stored.kind == Kind::Text, "{shown}");
        assert_eq!(bytes_of(&home, &stored), payload);
        assert_eq!(home.get(&stored.id).unwrap(), stored);
        assert_eq!(stored.digest, format!("blake3:{}", blake3::hash(payload).to_hex()));
        if stored.kind != Kind::Text {
            let report = Analysis::new().stats().run(&mut home.document(&stored).unwrap()).unwrap();
            assert_eq!(report.coverage.bytes_read, stored.size_bytes, "{shown}");
            assert_eq!(report.coverage.records, stored.records.unwrap_or(1), "{shown}");
        }
    }
}

/// A caller can declare the framing. One line, or none, is then a stream.
#[test]
fn declared_framing_is_used() {
    let home = Home::new();
    let json = |records, count| Some((Kind::JsonLines, records, Some(count)));
    for (framing, payload, what) in [
        (Framing::Lines, &b"{\"a\": 1}\n"[..], json(Records::Jsonl, 1)),
        (Framing::Lines, b"", json(Records::Jsonl, 0)),
        (Framing::Lines, b"1\n\n[2]", json(Records::Jsonl, 2)),
        (Framing::Lines, b"{\n\"a\": 1}\n", None),
        (Framing::Single, b"{\n\"a\": 1}\n", Some((Kind::Json, Records::Json, None))),
        (Framing::Single, b"1\n2\n", None),
        (Framing::Concatenated, b"[1][2] {}", json(Records::Concatenated, 3)),
        (Framing::Concatenated, b"[1]\n", json(Records::Concatenated, 1)),
        (Framing::JsonSeq, b"\x1E1\n", json(Records::JsonSeq, 1)),
        (Framing::JsonSeq, b"1\n", None),
    ] {
        let mut origin = Origin::of("test");
        origin.framing = framing;
        let stored = home.put_from(origin, payload).unwrap();
        let shown = String::from_utf8_lossy(payload);
        let (kind, records, count) =
            what.map_or((Kind::Text, None, None), |(kind, records, count)| (kind, Some(records), count));
        assert_eq!((stored.kind, stored.framing, stored.records), (kind, records, count), "{shown}");
        assert_eq!(home.get(&stored.id).unwrap(), stored);
        if kind != Kind::Text {
            let report = Analysis::new().stats().run(&mut home.document(&stored).unwrap()).unwrap();
            assert_eq!(report.coverage.records, count.unwrap_or(1), "{shown}");
        }
    }
}

#[test]
fn text_has_the_reason_why_it_is_not_json() {
    let home = Home::new();
    let stored = put(&home, "{\"a\": 1,\n \"b\": tru}\n");
    let why = stored.not_json.clone().unwrap();
    assert_eq!((why.offset, why.line, why.column), (15, Some(2), Some(7)));
    assert!(why.message.contains("line 2, column 7"), "{}", why.message);
    let error = home.document(&stored).map(|_| ()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotJson);
    assert!(error.to_string().contains("line 2, column 7"), "{error}");
}

#[test]
fn too_deep_json_is_text() {
    let home = Home::new();
    let stored = put(&home, "[".repeat(20_000) + &"]".repeat(20_000));
    assert_eq!(stored.kind, Kind::Text);
    assert!(stored.not_json.unwrap().message.contains("10000"));
    assert_eq!(put(&home, "[".repeat(10_000) + &"]".repeat(10_000)).kind, Kind::Json);
}

#[test]
fn counts_repeated_names() {
    let home = Home::new();
    let stored = put(&home, r#"{"a": 1, "a": 2, "b": {"c": 1, "\u0063": 2, "c": 3}}"#);
    assert_eq!(stored.duplicate_names, 3);
    let stored = put(&home, "{\"a\": 1}\n{\"a\": 1, \"x\": [{\"b\": 1, \"b\": 2}]}\n{\"a\": 1, \"a\": 1}\n");
    assert_eq!((stored.kind, stored.duplicate_names), (Kind::JsonLines, 2));
}

#[test]
fn previews_and_characters() {
    let home = Home::new();
    let text = format!("[\"{}\"]", "ü€😀".repeat(400));
    let stored = put(&home, &text);
    assert_eq!(stored.preview, text.chars().take(500).collect::<String>());
    assert_eq!(stored.characters, text.chars().count() as u64);
    let stored = put(&home, b"caf\xE9 \xFF\xFE");
    assert_eq!(stored.preview, "caf\u{FFFD} \u{FFFD}\u{FFFD}");
}

#[test]
fn what_an_output_comes_from_is_kept() {
    let home = Home::new();
    let mut origin = named("output-abc123");
    origin.tool_name = "web.fetch".into();
    origin.conversation_id = Some("conv-456".into());
    origin.message_id = Some("msg-789".into());
    origin.created_at = Some(1_700_000_000_000);
    origin.parameters = json!({"url": "https://example.org", "n": 1});
    let mut put = home.put(origin).unwrap();
    assert_eq!(put.id(), "output-abc123");
    put.write_all(b"[1]").unwrap();
    assert_eq!(put.written(), 3);
    put.success(false);
    let stored = put.finish().unwrap();
    assert_eq!(stored.tool_name, "web.fetch");
    assert_eq!(stored.conversation_id.as_deref(), Some("conv-456"));
    assert_eq!(stored.message_id.as_deref(), Some("msg-789"));
    assert_eq!(stored.created_at, 1_700_000_000_000);
    assert_eq!(stored.parameters, json!({"url": "https://example.org", "n": 1}));
    assert!(!stored.success && !stored.pinned && !stored.packed);
}

#[test]
fn large_arguments_are_replaced_by_their_size() {
    let home = Home::new();
    let mut origin = Origin::of("write_file");
    origin.parameters = json!({"content": "x".repeat(100_000)});
    let stored = put_as(&home, origin.clone(), "[]");
    assert_eq!(stored.parameters, json!({"$truncated": true, "bytes": 100_014}));
    origin.parameters = json!({"content": "x".repeat(60_000)});
    assert_eq!(put_as(&home, origin.clone(), "[]").parameters, origin.parameters);
    origin.tool_name = "t".repeat(1025);
    assert_eq!(home.put(origin).map(|_| ()).unwrap_err().class(), ErrorClass::Invalid);
}

/// The description without ID and time.
fn without_identity(mut stored: Stored) -> Stored {
    (stored.id, stored.created_at) = (String::new(), 0);
    stored
}

#[test]
fn short_and_long_payloads_are_analyzed_alike() {
    let home = Home::new();
    // Long enough for the analysis thread, with writes of many sizes.
    let line = |n: u32| format!("{{\"id\": {n}, \"name\": \"ü{n}\"}}\n");
    let lines = (0..40_000).map(line).collect::<Vec<_>>().concat();
    let pretty = format!("[\n{}1]", "{\"a\": [1, 2],\n \"b\": null},\n".repeat(30_000));
    let broken = lines.clone() + "{\"id\": }\n" + &lines;
    let text = "a line of a log\n".repeat(50_000);
    for (payload, kind, records) in [
        (lines, Kind::JsonLines, Some(40_000)),
        (pretty, Kind::Json, None),
        (broken, Kind::JsonLines, Some(80_001)),
        (text, Kind::Text, None),
    ] {
        let whole = put(&home, &payload);
        assert_eq!((whole.kind, whole.records), (kind, records));
        assert_eq!(bytes_of(&home, &whole), payload.as_bytes());
        for size in [1009, 65_536, 262_143, 262_144, 262_145] {
            let mut put = home.put(Origin::of("tool")).unwrap();
            payload.as_bytes().chunks(size).for_each(|chunk| put.write_all(chunk).unwrap());
            assert_eq!(
                without_identity(put.finish().unwrap()),
                without_identity(whole.clone()),
                "in writes of {size}"
            );
        }
    }
}

#[test]
fn stores_from_a_reader() {
    let home = Home::new();
    let payload = br#"{"a": [1, 2, 3]}"#;
    for size in SIZES {
        let stored = home.put_from(Origin::of("tool"), Chunks::new(&payload[..], &[size])).unwrap();
        assert_eq!(stored.summary, summary("object", Some(1), Some(3)));
    }
    let failing = std::io::Read::chain(&b"[1, 2"[..], Failing);
    let error = home.put_from(Origin::of("tool"), failing).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Io);
    assert!(error.to_string().contains("after 5 bytes"), "{error}");
    assert_eq!(home.output_files().len(), 2 * SIZES.len());
}

struct Failing;

impl std::io::Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the pipe burst"))
    }
}

#[test]
fn dropped_puts_leave_nothing() {
    let home = Home::new();
    for length in [0, 10, 1 << 20] {
        let mut put = home.put(Origin::of("tool")).unwrap();
        put.write_all(&vec![b' '; length]).unwrap();
        drop(put);
        assert!(home.output_files().is_empty());
    }
    assert_eq!(home.list(&crate::support::all()).unwrap().total, 0);
}

#[test]
fn ids_are_unique() {
    let home = Home::new();
    let first = home.put(named("the-one")).unwrap();
    let error = home.put(named("the-one")).map(|_| ()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Exists);
    drop(first);
    put_as(&home, named("the-one"), "[1]");
    let error = home.again().put(named("the-one")).map(|_| ()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Exists);
    assert_eq!(bytes_of(&home, &home.get("the-one").unwrap()), b"[1]");
}

#[test]
fn generated_ids_increase() {
    let home = Home::new();
    let other = home.again();
    let ids = (0..200).map(|n| put(if n % 2 == 0 { &home } else { &other }, "[]").id).collect::<Vec<_>>();
    assert!(ids.is_sorted(), "{ids:?}");
    assert!(ids.iter().all(|id| id.len() == 26 && !id.bytes().any(|byte| byte.is_ascii_uppercase())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(64, 5_000) as u32))]

    /// Any document is stored and described as an independent parser sees it. Any bytes are stored.
    #[test]
    fn any_payload_is_stored(seed: u64, damage in proptest::option::of((0.0..1.0_f64, any::<u8>()))) {
        let home = Home::new();
        let mut payload = document(seed, &Shape::default());
        if let Some((place, byte)) = damage {
            let at = (payload.len() as f64 * place) as usize;
            if let Some(found) = payload.get_mut(at) {
                *found = byte;
            }
        }
        let stored = put(&home, &payload);
        prop_assert_eq!(bytes_of(&home, &stored), payload.clone());
        if let Ok(tree) = parse(&payload) {
            let figures = statistics::structure(&[(&tree, tree.root())]);
            let (keys, items) = keys_and_items(&tree);
            prop_assert_eq!(stored.kind, Kind::Json);
            prop_assert_eq!(stored.duplicate_names, figures.duplicate_names);
            prop_assert_eq!(stored.characters, statistics::size(&payload).characters);
            prop_assert_eq!(stored.summary, summary(figures.root_type.unwrap().name(), keys, items));
        }
    }
}

/// A naive computation of the figures of a root.
fn keys_and_items(tree: &Document) -> (Option<u64>, Option<u64>) {
    let length = |data: &Data| match data {
        Data::Array(elements) => Some(elements.len() as u64),
        _ => None,
    };
    match &tree[tree.root()].data {
        Data::Object(members) => {
            let longest = members.iter().filter_map(|member| length(&tree[member.value].data)).max();
            (Some(members.len() as u64), longest)
        }
        data => (None, length(data)),
    }
}

/// If the check for repeated names was incomplete, the count is not zero.
#[test]
fn incomplete_name_check_is_not_zero() {
    let home = Home::new();
    for (count, expected) in [(100_000, 0), (4_400_000, 1)] {
        let mut text = String::from("{\"first\":0");
        for number in 1..count {
            write!(text, ",\"{number:x}\":0").unwrap();
        }
        text.push('}');
        let stored = put(&home, text);
        assert_eq!((stored.kind, stored.summary.keys), (Kind::Json, Some(count)));
        assert_eq!(stored.duplicate_names, expected, "{count}");
    }
}
