//! Cancellation and progress of queries and changes.

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use trommel_session::{
    AggregateQuery, Cancel, ErrorClass, EventQuery, GetQuery, ListQuery, Page, Progress, Result, RewindQuery,
    SearchQuery, Session, Sessions, TranscriptQuery, Watch,
};

use crate::support::{Home, watch};

/// A query or a change.
type Work = fn(&Sessions, &Session, &Watch<'_>) -> Result<()>;

fn get() -> GetQuery {
    let mut query = GetQuery::default();
    (query.transcript, query.events_summary) = (Some(TranscriptQuery::default()), true);
    query
}

fn rewind(dry_run: bool) -> RewindQuery {
    let mut query = RewindQuery::default();
    (query.to_turn, query.dry_run) = (Some(2), dry_run);
    query
}

fn figures() -> AggregateQuery {
    let mut query = AggregateQuery::default();
    "duration_ms".clone_into(&mut query.field);
    query
}

/// All queries and changes. A change comes before its undo.
const WORKS: [(&str, Work); 14] = [
    ("list", |all, _, watch| all.list(&ListQuery::default(), watch).map(drop)),
    ("search", |all, _, watch| all.search(&SearchQuery::new("question"), watch).map(drop)),
    ("get", |_, one, watch| one.get(&get(), watch).map(drop)),
    ("messages", |_, one, watch| one.messages(&TranscriptQuery::default(), watch).map(drop)),
    ("get_events", |_, one, watch| one.get_events(&EventQuery::default(), watch).map(drop)),
    ("summary", |_, one, watch| one.summary(watch).map(drop)),
    ("errors", |_, one, watch| one.errors(Page::default(), watch).map(drop)),
    ("timeline", |_, one, watch| one.timeline(Page::default(), watch).map(drop)),
    ("aggregate", |_, one, watch| one.aggregate(&figures(), watch).map(drop)),
    ("usage", |all, one, watch| all.usage(one, watch).map(drop)),
    ("diagnose", |_, one, watch| one.diagnose(watch).map(drop)),
    ("repair", |all, one, watch| all.repair(one, false, watch).map(drop)),
    ("rewind", |all, one, watch| all.rewind(one, &rewind(false), watch).map(drop)),
    ("undo", |all, one, watch| all.undo(one, watch).map(drop)),
];

/// Writes a session with a lost result and its sub-sessions.
fn home() -> (Home, Session) {
    let home = Home::new();
    let session = home.turns("s", 5);
    let path = home.folder("s").join("transcript.jsonl");
    let lines = fs::read_to_string(&path).unwrap();
    let kept =
        lines.lines().enumerate().filter(|(number, _)| *number != 2).map(|(_, line)| line.to_owned() + "\n");
    fs::write(path, kept.collect::<String>()).unwrap();
    home.turns("a_child", 3);
    home.metadata("a_child", ", \"parent_id\": \"s\"");
    (home, session)
}

/// Returns the processed bytes and the total, which is always known. There are no items.
fn done_and_total(progress: Progress) -> (u64, u64) {
    let Progress { bytes, total, items, total_items, .. } = progress;
    assert_eq!((items, total_items), (0, None));
    (bytes, total.unwrap())
}

/// R31: after cancellation, nothing continues and nothing is changed.
#[test]
fn r31_cancellation_stops_every_operation() {
    let (home, session) = home();
    home.sessions.rewind(&session, &rewind(false), &watch()).unwrap();
    let before = home.bytes("s");
    let cancel = Cancel::new();
    cancel.cancel();
    for (name, work) in WORKS {
        let error = work(&home.sessions, &session, &Watch::new().cancel_with(&cancel)).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Cancelled, "{name}");
    }
    assert!(home.bytes("s") == before);
}

/// R32: progress never decreases, the total is known from the start and is reached at the end.
#[test]
fn r32_progress_is_monotone_and_reaches_the_total() {
    let (home, session) = home();
    for (name, work) in WORKS {
        let mut reports = Vec::new();
        let watch = Watch::new().progress(|progress| reports.push(done_and_total(progress)));
        work(&home.sessions, &session, &watch).unwrap();
        drop(watch);
        let Some(last) = reports.last().copied().filter(|_| name != "list") else {
            assert!(name == "list" && reports.is_empty(), "{name}");
            continue;
        };
        assert_eq!(last.0, last.1, "{name}");
        assert!(reports.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1 && a != b), "{name}: {reports:?}");
        assert_eq!(reports[0], (0, last.1), "{name}: {reports:?}");
    }
}

/// R32: several queries with one watch accumulate their progress.
#[test]
fn r32_progress_accumulates_over_queries() {
    let (_home, session) = home();
    let mut reports = Vec::new();
    let watch = Watch::new().progress(|progress| reports.push(done_and_total(progress)));
    session.summary(&watch).unwrap();
    session.summary(&watch).unwrap();
    drop(watch);
    assert!(reports.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1), "{reports:?}");
    let last = reports.last().unwrap();
    assert_eq!((last.0, last.1), (reports[0].1 * 2, reports[0].1 * 2));
}

/// R31, R32: also within a line of 50 MB.
#[test]
fn r32_long_lines_report_progress_and_cancel() {
    let home = Home::new();
    let mut line = b"{\"role\":\"user\",\"content\":\"".to_vec();
    line.resize(50 << 20, b'a');
    line.write_all(b"\"}\n").unwrap();
    home.write("s", "transcript.jsonl", &line);
    let session = home.find("s");
    let (mut steps, mut last) = (0, (0, 0));
    let report = |progress| {
        steps += 1;
        last = done_and_total(progress);
    };
    session.messages(&TranscriptQuery::default(), &Watch::new().progress(report)).unwrap();
    assert!(steps > 20 && last == (line.len() as u64, line.len() as u64), "{steps} {last:?}");
    for (name, work) in
        WORKS.into_iter().filter(|(name, _)| ["search", "messages", "diagnose"].contains(name))
    {
        let cancel = Cancel::new();
        let mut since = None;
        let report = |progress: Progress| {
            if progress.bytes > 10 << 20 && since.is_none() {
                cancel.cancel();
                since = Some(Instant::now());
            }
        };
        let error =
            work(&home.sessions, &session, &Watch::new().cancel_with(&cancel).progress(report)).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Cancelled, "{name}");
        // Generous, for builds without optimization on a busy machine.
        assert!(since.unwrap().elapsed() < Duration::from_secs(1), "{name}");
    }
}
