//! For any contents of a session's files, queries are answered or refused, no answer exceeds its
//! bounds, and undoing a rewind restores every byte.
//!
//! The input is a sequence of files: a byte that selects the file, two bytes with its length, and
//! its contents.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use trommel_session::{
    AggregateQuery, EventQuery, FIELD_CHARS, GetQuery, ListQuery, Page, RewindQuery, SearchQuery, Session,
    Sessions, TranscriptQuery, Watch,
};

const FILES: [&str; 3] = ["transcript.jsonl", "events.jsonl", "metadata.json"];
const FIELDS: [&str; 7] = ["data", "model", "data.usage", "data.messages", "error", "x", "data.data"];
const MAX_CHARS: usize = 2_000;

struct Home {
    sessions: Sessions,
    folder: PathBuf,
    _root: tempfile::TempDir,
}

fn home() -> &'static Home {
    static HOME: OnceLock<Home> = OnceLock::new();
    HOME.get_or_init(|| {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("projects/-p/sessions/s");
        let now = "2026-03-04T12:00[UTC]".parse().unwrap();
        Home { sessions: Sessions::new().at(now).amplifier(root.path()), folder, _root: root }
    })
}

fuzz_target!(|input: &[u8]| {
    let home = home();
    let _ = fs::remove_dir_all(&home.folder);
    fs::create_dir_all(&home.folder).unwrap();
    let mut rest = input;
    let mut choice = 0;
    while let Some((which, contents)) = next(&mut rest) {
        choice = which;
        fs::write(home.folder.join(FILES[usize::from(which) % 3]), contents).unwrap();
    }
    let session = home.sessions.find("s").unwrap();
    run_queries(home, &session);
    events(home, &session, choice);
    messages(&session, choice);
    change(home, &session, choice);
});

/// Returns the next file of the input.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let [which, low, high, after @ ..] = rest else { return None };
    let length = usize::from(u16::from_le_bytes([*low, *high])).min(after.len());
    let (contents, after) = after.split_at(length);
    let which = *which;
    *rest = after;
    Some((which, contents))
}

/// Runs queries that must not panic, and checks their progress.
fn run_queries(home: &Home, session: &Session) {
    let mut progress = Vec::new();
    let watch = Watch::new().progress(|report| progress.push((report.bytes, report.total.unwrap())));
    let mut list = ListQuery::default();
    list.top_level_only = false;
    assert_eq!(home.sessions.list(&list, &watch).unwrap().total, 1);
    let found = home.sessions.search(&SearchQuery::new("a"), &watch).unwrap();
    assert!(found.matches.iter().all(|row| row.excerpt.chars().count() <= 400));
    let mut get = GetQuery::default();
    (get.transcript, get.events_summary) = (Some(TranscriptQuery::default()), true);
    session.get(&get, &watch).unwrap();
    let _ = session.errors(Page::default(), &watch);
    let _ = session.timeline(Page::default(), &watch);
    let _ = home.sessions.usage(session, &watch);
    let _ = session.diagnose(&watch);
    let mut figures = AggregateQuery::default();
    (figures.field, figures.by) = ("duration_ms".to_owned(), Some("model".to_owned()));
    let _ = session.aggregate(&figures, &watch);
    drop(watch);
    assert!(progress.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1), "{progress:?}");
    assert!(progress.iter().all(|(done, total)| done <= total), "{progress:?}");
}

/// Reads pages of events. Fields and lengths are bounded, and each event appears once.
fn events(home: &Home, session: &Session, choice: u8) {
    let mut query = EventQuery::default();
    (query.max_chars, query.limit) = (MAX_CHARS, usize::from(choice) + 1);
    if choice % 2 == 1 {
        query.fields = FIELDS.map(str::to_owned).to_vec();
    }
    let (mut records, mut total) = (Vec::new(), 0);
    while let Ok(page) = session.get_events(&query, &Watch::new()) {
        assert!(serde_json::to_string(&page.events).unwrap().chars().count() <= MAX_CHARS);
        for row in &page.events {
            assert!(row.fields.get(&["data"]).is_none());
            let row = serde_json::to_value(row).unwrap();
            assert!(longest(&row) <= FIELD_CHARS, "{row}");
        }
        records.extend(page.events.iter().map(|row| row.record));
        (query.offset, total) = (records.len() as u64, page.total_count);
        assert_eq!(page.has_more, query.offset < total);
        if !page.has_more {
            break;
        }
    }
    assert!(records.is_sorted_by(|a, b| a < b) && records.len() as u64 == total);
    let bytes = fs::read(home.folder.join("events.jsonl")).unwrap_or_default();
    if let Some(count) = objects(&bytes) {
        assert_eq!(session.summary(&Watch::new()).unwrap().total_events, count);
        assert_eq!(total, count);
    }
}

/// Returns the number of lines that are objects, if all lines are values that every parser accepts.
fn objects(bytes: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty())?;
    let mut count = 0;
    for line in text.split('\n').filter(|line| !line.trim_matches([' ', '\t', '\r']).is_empty()) {
        let value = serde_json::from_str::<Value>(line).ok()?;
        count += u64::from(value.is_object());
    }
    Some(count)
}

/// Returns the length of the longest value in an answer, in characters of its JSON.
fn longest(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(longest).max().unwrap_or(0),
        other => other.to_string().chars().count(),
    }
}

fn messages(session: &Session, choice: u8) {
    let mut query = TranscriptQuery::default();
    (query.max_chars, query.limit) = (200 + usize::from(choice) * 10, usize::from(choice) + 1);
    let mut count = 0;
    while let Ok(page) = session.messages(&query, &Watch::new()) {
        assert!(serde_json::to_string(&page.messages).unwrap().chars().count() <= query.max_chars);
        count += page.messages.len() as u64;
        query.offset = count;
        assert_eq!(page.has_more, count < page.total_count);
        if !page.has_more {
            break;
        }
        assert!(!page.messages.is_empty());
    }
}

/// Previews a rewind, makes it, and undoes it. Then makes a repair.
fn change(home: &Home, session: &Session, choice: u8) {
    let before = bytes(home);
    let mut query = RewindQuery::default();
    match choice % 3 {
        0 => query.to_turn = Some(1 + u64::from(choice / 3) % 4),
        1 => query.to_message = Some(u64::from(choice / 3) % 8),
        _ => query.before_timestamp = Some("2026-03-01T09:02:00Z".to_owned()),
    }
    let shown = home.sessions.rewind(session, &query, &Watch::new());
    assert!(bytes(home) == before);
    query.dry_run = false;
    let made = home.sessions.rewind(session, &query, &Watch::new());
    if let Ok(made) = &made {
        let shown = shown.unwrap();
        assert_eq!(made.would_remove, shown.would_remove);
        assert_eq!((made.messages_left, made.events_left), (shown.messages_left, shown.events_left));
    }
    undo(home, session, made.is_ok_and(|made| made.backup_created), &before);
    let repaired = home.sessions.repair(session, false, &Watch::new());
    if repaired.as_ref().is_ok_and(|repaired| repaired.backup_created) {
        // A repair keeps unreadable records.
        let diagnosis = session.diagnose(&Watch::new()).unwrap();
        let expected = if diagnosis.damage.count > 0 { "damaged" } else { "healthy" };
        assert_eq!(diagnosis.status, expected);
    }
    undo(home, session, repaired.is_ok_and(|repaired| repaired.backup_created), &before);
}

fn undo(home: &Home, session: &Session, is_changed: bool, before: &[Option<Vec<u8>>; 3]) {
    if is_changed {
        home.sessions.undo(session, &Watch::new()).unwrap();
    }
    assert!(bytes(home) == *before);
}

fn bytes(home: &Home) -> [Option<Vec<u8>>; 3] {
    FILES.map(|name| fs::read(home.folder.join(name)).ok())
}
