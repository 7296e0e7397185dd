//! Damaged and growing logs: no line hides another, and unreadable records are reported.

use std::fs::OpenOptions;
use std::io::Write as _;

use trommel_session::{EventQuery, TranscriptQuery};

use crate::support::{Home, Written, watch};

#[test]
fn reports_and_skips_damaged_lines() {
    let home = Home::new();
    let written = Written::turns(2).events;
    let mut lines = written.lines().map(str::to_owned).collect::<Vec<_>>();
    lines.insert(0, "{\"ts\": \"2026-03-01T0".to_owned());
    lines.insert(4, "\u{0}\u{0}\u{0}".to_owned());
    lines.insert(9, "\"a text\"".to_owned());
    lines.insert(10, "{\"event\": \"x\"} {\"event\": \"y\"}".to_owned());
    home.write("s", "events.jsonl", lines.join("\n") + "\n");
    let page = home.find("s").get_events(&EventQuery::default(), &watch()).unwrap();
    assert_eq!((page.total_count, page.damage.count), (16, 4));
    let first = page.damage.first.iter().map(|damaged| (damaged.record, damaged.line)).collect::<Vec<_>>();
    assert_eq!(first, [(0, Some(1)), (4, Some(5)), (9, Some(10)), (10, Some(11))]);
    assert_eq!(page.damage.first[2].kind, "not_an_object");
    assert_eq!(page.damage.unfinished, None);
    assert_eq!(home.find("s").summary(&watch()).unwrap().damage.count, 4);
}

#[test]
fn counts_all_damaged_lines_and_lists_a_few() {
    let home = Home::new();
    home.write("s", "transcript.jsonl", "{\n".repeat(500) + "{\"role\":\"user\",\"content\":\"x\"}\n");
    let page = home.find("s").messages(&TranscriptQuery::default(), &watch()).unwrap();
    assert_eq!((page.total_count, page.damage.count, page.damage.first.len()), (1, 500, 10));
    assert!(serde_json::to_string(&page.damage).unwrap().len() < 4_000);
}

#[test]
fn incomplete_last_line_is_not_damage() {
    let home = Home::new();
    let session = home.turns("s", 1);
    let path = home.folder("s").join("events.jsonl");
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"{\"ts\":\"2026-03-01T09:09:09Z\",\"eve").unwrap();
    let page = session.get_events(&EventQuery::default(), &watch()).unwrap();
    assert_eq!((page.total_count, page.damage.count), (8, 0));
    assert_eq!(page.damage.unfinished.unwrap().line, Some(9));
    file.write_all(b"nt\":\"x\"}\n").unwrap();
    let page = session.get_events(&EventQuery::default(), &watch()).unwrap();
    assert!(page.total_count == 9 && page.damage.is_none());
}

#[test]
fn accepts_empty_files() {
    let home = Home::new();
    home.write("s", "events.jsonl", "").write("s", "transcript.jsonl", "\n\n");
    let session = home.find("s");
    assert_eq!(session.summary(&watch()).unwrap().total_events, 0);
    assert_eq!(session.messages(&TranscriptQuery::default(), &watch()).unwrap().total_count, 0);
}
