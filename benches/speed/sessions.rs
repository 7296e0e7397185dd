//! Queries of a session's events, compared with `$.event` on the same file. The difference is the
//! cost of reading every record to its end.

use std::fmt::Write;
use std::fs;

use criterion::{Criterion, SamplingMode, Throughput};
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Document, Match};
use trommel_session::{EventQuery, Page, Session, Sessions, Watch};

/// Events, of which every third carries a history.
const EVENTS: u64 = 1_200;

/// Bytes of the longest history.
const LONGEST: usize = 3 << 20;

type Ask = fn(&Session) -> u64;

pub(crate) fn bench(criterion: &mut Criterion) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("projects/-p/sessions/s");
    fs::create_dir_all(&folder).unwrap();
    let log = log(EVENTS / 3);
    let path = folder.join("events.jsonl");
    fs::write(&path, &log).unwrap();
    let session = Sessions::new().amplifier(home.path()).find("s").unwrap();
    let asks: [(&str, Ask); 6] = [
        ("get_events", |session| events(session, &[])),
        ("get_events by fields", |session| events(session, &["data.model", "data.usage.input_tokens"])),
        ("summary", |session| session.summary(&Watch::new()).unwrap().total_events),
        ("errors", |session| EVENTS - session.errors(Page::default(), &Watch::new()).unwrap().total_count),
        ("timeline", |session| session.timeline(Page::default(), &Watch::new()).unwrap().total_count * 3),
        ("usage", |session| session.usage(&Watch::new()).unwrap().llm_requests * 3),
    ];
    let mut group = criterion.benchmark_group("sessions");
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Bytes(log.len() as u64));
    let in_memory = Document::from_bytes(log).framing(Framing::Lines);
    let extracts = [
        ("extract $.event of the file", Document::open(&path).unwrap()),
        ("extract $.event in memory", in_memory),
    ];
    for (name, mut document) in extracts {
        group.bench_function(name, |bencher| {
            bencher.iter(|| assert_eq!(extract(&mut document), EVENTS, "{name}"));
        });
    }
    for (name, ask) in asks {
        group.bench_function(name, |bencher| {
            bencher.iter(|| assert_eq!(ask(&session), EVENTS, "{name}"));
        });
    }
    group.finish();
}

/// Returns a log of `turns` turns, with three events each.
pub(crate) fn log(turns: u64) -> String {
    let mut log = String::new();
    let message = r#"{"role":"assistant","content":"so it says: \"no\"\nand more of it, again and again"},"#;
    for turn in 0..turns {
        let ts = format!("2026-03-01T{:02}:{:02}:{:02}.000+00:00", turn / 3600, turn / 60 % 60, turn % 60);
        let bytes = if turn == 50 { LONGEST } else { 150_000 };
        let history = message.repeat(bytes / message.len());
        writeln!(log, r#"{{"ts":"{ts}","lvl":"INFO","event":"prompt:submit","data":{{}}}}"#).unwrap();
        writeln!(log, r#"{{"ts":"{ts}","lvl":"DEBUG","event":"llm:request","data":{{"model":"m","messages":[{history}0]}}}}"#).unwrap();
        writeln!(log, r#"{{"ts":"{ts}","lvl":"INFO","event":"llm:response","data":{{"model":"m","usage":{{"input_tokens":9,"output_tokens":1}}}}}}"#).unwrap();
    }
    log
}

fn events(session: &Session, fields: &[&str]) -> u64 {
    let mut query = EventQuery::default();
    query.fields = fields.iter().map(ToString::to_string).collect();
    session.get_events(&query, &Watch::new()).unwrap().total_count
}

/// Leaves each record once the event is known, which session queries must not do.
fn extract(document: &mut Document<'_>) -> u64 {
    let mut count = 0;
    let analysis = Analysis::new().validation(Validation::Structural).extract("$.event".parse().unwrap());
    analysis
        .run_with(document, &mut |_: &Match<'_>| {
            count += 1;
            Ok(())
        })
        .unwrap();
    count
}
