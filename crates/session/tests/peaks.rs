//! Memory: the peak of a query depends on its answer, not on the length of a log or of its lines.
//!
//! The allocator counts the whole process, so this binary has a single test, which runs one query
//! after the other.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test tells its figures, and fails by panicking"
)]

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use trommel_session::{
    AggregateQuery, EventQuery, Outliner, Page, RewindQuery, SearchQuery, Sessions, TranscriptQuery, Watch,
    message_outline,
};
use trommel_testkit::alloc::CountingAllocator;
use trommel_testkit::effort::cases;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

const MIB: usize = 1 << 20;

/// The maximum peak of any query.
const MOST: usize = 24 * MIB;

/// Writes a line of a log with `bytes` bytes.
fn long(out: &mut impl Write, head: &str, bytes: usize, tail: &str) {
    let part = "all of the history, again \\n".repeat(1_000);
    out.write_all(head.as_bytes()).unwrap();
    for _ in 0..bytes / part.len() {
        out.write_all(part.as_bytes()).unwrap();
    }
    writeln!(out, "{tail}").unwrap();
}

/// Writes a session with `mib` MiB of events, and in each file a line of 50 MB or a tenth of the
/// log.
fn write(folder: &Path, mib: usize) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("metadata.json"), "{\"session_id\": \"s\", \"turn_count\": 0}").unwrap();
    let mut transcript = BufWriter::new(File::create(folder.join("transcript.jsonl")).unwrap());
    let mut events = BufWriter::new(File::create(folder.join("events.jsonl")).unwrap());
    let giant = (50 * MIB).min(mib * MIB / 10);
    for turn in 0..mib * 5 {
        let bytes = if turn == mib { giant } else { 200_000 };
        let ts = format!(
            "2026-03-{:02}T{:02}:{:02}:{:02}Z",
            1 + turn / 86_400,
            turn / 3_600 % 24,
            turn / 60 % 60,
            turn % 60
        );
        let user = if turn == mib { giant } else { 2_000 };
        long(
            &mut transcript,
            &format!("{{\"role\":\"user\",\"timestamp\":\"{ts}\",\"content\":\""),
            user,
            "\"}",
        );
        writeln!(events, "{{\"ts\":\"{ts}\",\"lvl\":\"INFO\",\"event\":\"prompt:submit\",\"data\":{{}}}}")
            .unwrap();
        let head = format!(
            "{{\"ts\":\"{ts}\",\"lvl\":\"DEBUG\",\"event\":\"llm:request:raw\",\"data\":{{\"model\":\"m\",\"messages\":[\""
        );
        long(&mut events, &head, bytes, "\"]}}");
        writeln!(events, "{{\"ts\":\"{ts}\",\"event\":\"llm:response\",\"data\":{{\"model\":\"m\",\"duration_ms\":{turn},\"usage\":{{\"input_tokens\":5,\"output_tokens\":1}}}}}}").unwrap();
    }
    transcript.flush().unwrap();
    events.flush().unwrap();
}

fn measured<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (answer, usage) = ALLOCATOR.measure(work);
    println!("{what}: {} KiB", usage.peak / 1024);
    assert!(usage.peak < MOST, "{what}: {} KiB", usage.peak / 1024);
    answer
}

/// Outlines an event and a message of 50 MB each, which are generated on the fly.
fn outlines() {
    let record = |head: &'static str| {
        let text = std::io::repeat(b'x').take(50 * MIB as u64);
        head.as_bytes().chain(text).chain(&b"\"]}}"[..])
    };
    let event = record("{\"ts\":\"2026-03-01T09:00:00Z\",\"data\":{\"model\":\"m\",\"messages\":[\"");
    let outline = measured("outline", || Outliner::new().event(event).unwrap());
    assert_eq!(outline.unwrap(), "{\"ts\":\"2026-03-01T09:00:00Z\",\"data\":{\"model\":\"m\"}}");
    let event = record("{\"a\":{\"b\":[\"");
    let outline = measured("outline of nothing", || Outliner::new().event(event).unwrap());
    assert_eq!(outline.unwrap(), "{}");
    let message = record("{\"role\":\"user\",\"content\":\"y\",\"more\":{\"b\":[\"");
    let outline = measured("outline of a message", || message_outline(message).unwrap());
    assert!(outline.unwrap().is_user_prompt);
}

/// R7: in a deep run, the log has a gigabyte, with a line of 50 MB.
#[test]
fn r7_memory_is_independent_of_log_length() {
    let home = tempfile::tempdir().unwrap();
    let mib = cases(40, 1024) as usize;
    write(&home.path().join("projects/-p/sessions/s"), mib);
    let sessions = Sessions::new().at("2026-03-04T12:00[UTC]".parse().unwrap()).amplifier(home.path());
    let (session, watch) = (sessions.find("s").unwrap(), Watch::new());
    let turns = mib as u64 * 5;
    let mut query = EventQuery::default();
    query.fields = vec!["data.model".into(), "data.messages".into()];
    let page = measured("get_events", || session.get_events(&query, &watch).unwrap());
    assert_eq!((page.total_count, &*page.events[1].omitted), (turns * 3, &["data.messages".to_owned()][..]));
    assert_eq!(measured("summary", || session.summary(&watch).unwrap()).total_events, turns * 3);
    assert_eq!(measured("usage", || sessions.usage(&session, &watch).unwrap()).total_input_tokens, turns * 5);
    assert_eq!(
        measured("timeline", || session.timeline(Page::default(), &watch).unwrap()).total_count,
        turns
    );
    assert_eq!(measured("errors", || session.errors(Page::default(), &watch).unwrap()).total_count, 0);
    let mut figures = AggregateQuery::default();
    (figures.field, figures.by) = ("duration_ms".to_owned(), Some("model".to_owned()));
    assert_eq!(measured("aggregate", || session.aggregate(&figures, &watch).unwrap()).groups.len(), 1);
    let messages = measured("messages", || session.messages(&TranscriptQuery::default(), &watch).unwrap());
    assert_eq!(messages.turns, turns);
    let found = measured("search", || sessions.search(&SearchQuery::new("AGAIN \nall"), &watch).unwrap());
    assert_eq!(found.matches.len(), 20);
    let mut rewind = RewindQuery::default();
    (rewind.to_turn, rewind.dry_run) = (Some(turns / 2), false);
    let rewound = measured("rewind", || sessions.rewind(&session, &rewind, &watch).unwrap());
    assert_eq!((rewound.would_remove.messages, rewound.events_left), (turns - turns / 2, turns / 2 * 3));
    assert_eq!(measured("diagnose", || session.diagnose(&watch).unwrap()).status, "healthy");
    outlines();
    measured("undo", || sessions.undo(&session, &watch).unwrap());
    assert_eq!(session.summary(&watch).unwrap().total_events, turns * 3);
}
