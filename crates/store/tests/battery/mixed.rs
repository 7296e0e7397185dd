//! Logs in which some lines are not JSON.

use proptest::prelude::*;
use trommel::reader::Framing;
use trommel::{Analysis, OnBadRecord};
use trommel_store::{Kind, Origin, Records, Store, StoreOptions, Stored};

use crate::support::{Home, all, bytes_of, cases, put};

fn put_in(store: &Store, framing: Framing, payload: &str) -> Stored {
    let mut origin = Origin::of("test");
    origin.framing = framing;
    store.put_from(origin, payload.as_bytes()).unwrap()
}

/// `count` lines, of which those with these numbers are not JSON.
fn log(count: usize, damaged: &[usize]) -> String {
    let line = |number| {
        let is_damaged = damaged.contains(&number);
        if is_damaged { format!("Killed: {number}\n") } else { format!("{{\"n\": {number}}}\n") }
    };
    (0..count).map(line).collect()
}

#[test]
fn nine_of_ten_lines_make_a_stream() {
    let home = Home::new();
    for (payload, found) in [
        (log(10, &[3]), Some((10, 1, 3))),
        (log(20, &[0, 19]), Some((20, 2, 0))),
        (log(19, &[0, 18]), None),
        (log(9, &[8]), None),
        (log(2, &[1]), None),
        // Blank lines do not count.
        (format!("\n \r\n{}\n\n", log(10, &[9])), Some((10, 1, 9))),
        (format!("{}{}", "\n".repeat(50), log(9, &[8])), None),
        // A line with two values is damaged, and so are the lines of a value on several lines.
        (format!("{}{{}} {{}}\n", log(9, &[])), Some((10, 1, 9))),
        (format!("{{\n\"a\": [\n1]}}\n{}oops\n", log(36, &[])), Some((40, 4, 0))),
        (format!("{{\n\"a\": [\n1]}}\n{}oops\n", log(35, &[])), None),
        // A value that continues on the next line swallows it only in the reading as one document.
        (format!("{}{{\"a\": [\n{}", log(9, &[]), log(20, &[])), Some((30, 1, 9))),
        (format!("{}{{\"a\": \"\u{1}\n{}", log(9, &[]), log(20, &[])), Some((30, 1, 9))),
        // A line beyond the limit of depth cannot be queried either.
        (format!("{}{}\n", log(9, &[]), "[".repeat(20_000) + &"]".repeat(20_000)), Some((10, 1, 9))),
        // The last line may be cut off.
        (format!("{}{{\"n\"", log(9, &[])), Some((10, 1, 9))),
    ] {
        for framing in [Framing::Auto, Framing::Lines] {
            let stored = put_in(&home, framing, &payload);
            let first = stored.first_damaged.as_ref().map(|first| first.record);
            let result = (stored.records.unwrap_or(0), stored.damaged_records, first.unwrap_or(0));
            let Some(found) = found else {
                assert_eq!((stored.kind, stored.framing, result), (Kind::Text, None, (0, 0, 0)), "{payload}");
                assert!(stored.not_json.is_some() && stored.summary.type_ == "text");
                continue;
            };
            assert_eq!((stored.kind, stored.framing), (Kind::JsonLines, Some(Records::Jsonl)), "{payload}");
            assert_eq!(result, found, "{payload}");
            assert_eq!(stored.summary.items, stored.records);
            assert!(stored.not_json.is_none());
            assert_eq!(bytes_of(&home, &stored), payload.as_bytes());
            assert_eq!(home.get(&stored.id).unwrap(), stored);
        }
    }
    assert!(home.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
}

#[test]
fn declared_documents_stay_strict() {
    let home = Home::new();
    for framing in [Framing::Single, Framing::JsonSeq, Framing::Concatenated] {
        let stored = put_in(&home, framing, &log(100, &[50]));
        assert_eq!((stored.kind, stored.damaged_records), (Kind::Text, 0), "{framing:?}");
    }
    // Neither is text of which no line is JSON, nor a document that is damaged.
    for payload in ["a\nb\n", "\u{feff}", "[1,\n2,\n3\n", "{\"a\": 1}x", "\u{0}\u{0}\n1\n"] {
        assert_eq!(put(&home, payload).kind, Kind::Text, "{payload:?}");
    }
}

#[test]
fn the_first_damaged_line_has_a_position() {
    let home = Home::new();
    let payload = format!("{}{{\"é\": tru}}\n{}", log(3, &[]), log(20, &[5]));
    let stored = put(&home, &payload);
    let first = stored.first_damaged.unwrap();
    let offset = payload.find("tru").unwrap() as u64;
    assert_eq!((first.record, first.why.offset), (3, offset));
    assert_eq!((first.why.line, first.why.column), (Some(4), Some(7)));
    assert!(first.why.message.contains("line 4, column 7"), "{}", first.why.message);
    let row = home.list(&all()).unwrap().rows.remove(0);
    assert_eq!((row.damaged_records, row.kind), (2, Some(Kind::JsonLines)));
    let text = serde_json::to_string(&home.get(&stored.id).unwrap()).unwrap();
    assert!(text.contains(r#""damaged_records":2,"first_damaged":{"record":3,"message":"#), "{text}");
}

#[test]
fn long_and_packed_logs_are_recognized() {
    let payload = log(60_000, &[1, 30_000, 59_999]);
    for pack_over in [None, Some(0), Some(100_000)] {
        let home = Home::with(|options| options.pack_over = pack_over);
        let stored = put(&home, &payload);
        assert_eq!((stored.records, stored.damaged_records), (Some(60_000), 3));
        let counting = Analysis::new().count("$.n".parse().unwrap()).on_bad_record(stored.on_bad_record());
        let report = counting.run(&mut home.document(&stored).unwrap()).unwrap();
        assert_eq!((report.answers[0].count(), report.coverage.bad_records), (Some(59_997), 3));
    }
}

/// Descriptions of streams without damage have no new members, and old ones can be read.
#[test]
fn sound_streams_are_described_as_before() {
    let home = Home::new();
    let stored = put(&home, log(3, &[]));
    let text = serde_json::to_string(&stored).unwrap();
    assert!(!text.contains("damaged") && stored.on_bad_record() == OnBadRecord::Stop, "{text}");
    let again: Stored = serde_json::from_str(&text).unwrap();
    assert_eq!(again, stored);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200, 10_000) as u32))]

    /// Any lines in any framing are described as a line-by-line parser sees them.
    #[test]
    fn logs_are_recognized_line_by_line(
        lines in proptest::collection::vec((0..60_usize, 0..12_usize), 0..60), packed: bool,
    ) {
        const GOOD: [&str; 6] = ["{\"a\": 1}", " [1, {\"b\": 2}]\r", "\"x\"", "-1.5", "{\"a\": 1, \"a\": 2}", "null"];
        const BAD: [&str; 12] = [
            "", " ", "ERROR", "{\"a\": ", "[1,", "1 2", "]", "\"", "{\"b\": \u{7f}}", "tru", "{\n\"a\": 1\n}", "[\n1\n,\n2\n]",
        ];
        let line = |&(good, bad): &(usize, usize)| {
            if good < 55 { GOOD[good % GOOD.len()] } else { BAD[bad] }
        };
        let payload: String = lines.iter().flat_map(|choice| [line(choice), "\n"]).collect();
        let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
        let written: Vec<&str> = payload.lines().filter(|line| !line.trim().is_empty()).collect();
        let good: Vec<&str> = written.iter().copied().filter(|line| is_json(line)).collect();
        let damaged = written.len() - good.len();

        let home = Home::with(|options| options.pack_over = packed.then_some(0));
        let stored = put(&home, &payload);
        let is_sound = put(&home, good.join("\n"));
        if stored.kind == Kind::Text {
            prop_assert!(good.is_empty() || damaged * 10 > written.len(), "{}", payload);
        } else if stored.damaged_records > 0 {
            prop_assert!(damaged * 10 <= written.len());
            prop_assert_eq!(stored.records, Some(written.len() as u64));
            prop_assert_eq!(stored.damaged_records, damaged as u64);
            let first = written.iter().position(|line| !is_json(line)).unwrap() as u64;
            prop_assert_eq!(stored.first_damaged.unwrap().record, first);
            prop_assert_eq!(stored.duplicate_names, is_sound.duplicate_names);
            if is_sound.kind == Kind::JsonLines {
                prop_assert_eq!(stored.summary.type_, is_sound.summary.type_);
            }
        }
    }
}

#[test]
fn another_process_reads_the_description() {
    let home = Home::new();
    let stored = put(&home, log(50, &[49]));
    let other = Store::open(home.root(), StoreOptions::default()).unwrap();
    assert_eq!(other.get(&stored.id).unwrap(), stored);
    assert_eq!(other.rebuild().unwrap().outputs, 1);
    assert_eq!(other.list(&all()).unwrap().rows[0].damaged_records, 1);
}
