//! Cancellation and progress.

use std::io::Read;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use trommel::path::{Order, Query};
use trommel::reader::Framing;
use trommel::{
    Analysis, Cancel, Document, Error, Extract, Match, Measure, Progress, Sample, Stats, Strategy,
};
use trommel_testkit::repeat::Repeat;

use crate::support::{Scratch, Source, cases, gzip, query, size};

/// A reader that signals when reading has started.
struct Started<R> {
    reader: R,
    reads: Arc<AtomicUsize>,
}

impl<R: Read> Read for Started<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.reader.read(into)
    }
}

/// The time a run may take to stop: as promised where all tests run at their full numbers, and with
/// a margin for a busy machine and a build without optimization.
fn max_delay() -> Duration {
    Duration::from_millis(cases(2000, 50))
}

/// Repeats an attempt that takes longer: on a busy machine a thread may wait that long for a core.
fn stops(name: &str, attempt: impl Fn() -> Duration) {
    let mut took = Vec::new();
    while took.len() < 5 {
        took.push(attempt());
        if took.last().is_some_and(|took| *took < max_delay()) {
            return;
        }
    }
    panic!("{name}: took {took:?}");
}

/// The time that a run continues after it was cancelled.
fn time_to_stop(
    name: &str,
    analysis: &Analysis,
    mut document: Document<'_>,
    is_on_its_way: impl Fn() -> bool,
) -> Duration {
    let cancel = Cancel::new();
    let analysis = analysis.clone().cancel_with(&cancel);
    let (ended, raised) = thread::scope(|scope| {
        let run = scope.spawn(|| {
            let ran = analysis.run(&mut document);
            (ran.map(|report| report.coverage), Instant::now())
        });
        while !is_on_its_way() && !run.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        let raised = Instant::now();
        cancel.cancel();
        (run.join().unwrap(), raised)
    });
    let (ran, at) = ended;
    match ran {
        Err(Error::Read { error, .. }) => assert!(error.is_cancelled(), "{name}: {error}"),
        other => panic!("{name}: {other:?}"),
    }
    at.saturating_duration_since(raised)
}

/// R31: whatever a run is doing, it stops soon after the token is cancelled. The inputs would take
/// minutes to hours.
#[test]
fn a_cancelled_run_stops() {
    let record = format!(r#"{{"id": 1, "a": [1, 2, {{"b": "{}"}}]}}"#, "x".repeat(200));
    let mut rich = Stats::new();
    (rich.schema, rich.values) = (true, true);
    let stratified = Strategy::Stratified(query("$.id"));
    let records = || query("$.data.records[*]");
    let analyses = [
        ("count", Analysis::new().count(query("$..b"))),
        ("extract", Analysis::new().extract(query("$..b"))),
        ("filter", Analysis::new().count(query("$.data.records[?@.a[2].b == 'y']"))),
        ("sample", Analysis::new().sample(Sample::new(records(), size(10)))),
        ("last", Analysis::new().sample(Sample::new(records(), size(10)).strategy(Strategy::Last))),
        (
            "kept",
            Analysis::new().sample(Sample::new(records(), size(10)).strategy(Strategy::Systematic(None))),
        ),
        ("strata", Analysis::new().sample(Sample::new(records(), size(10)).strategy(stratified))),
        ("stats", Analysis::new().ask(Measure::Stats(rich))),
    ];
    for (name, analysis) in analyses {
        stops(name, || {
            let reads = Arc::new(AtomicUsize::new(0));
            let reader = Started { reader: Repeat::records(&record, 1 << 40), reads: reads.clone() };
            let is_on_its_way = || reads.load(Ordering::Relaxed) > 100;
            time_to_stop(name, &analysis, Document::from_reader(reader), is_on_its_way)
        });
    }
}

/// R31: this holds where the cursor does not move: many selections of one node, and filters that
/// read the same bytes repeatedly.
#[test]
fn a_cancelled_run_stops_between_reads() {
    let time = |name: &str, analysis: &Analysis, text: &str| {
        let begun = Instant::now();
        let is_on_its_way = || begun.elapsed() > Duration::from_millis(50);
        time_to_stop(name, analysis, Document::from_bytes(text.to_owned()), is_on_its_way)
    };
    let often = query(&format!("${}", "[0,0]".repeat(60)));
    let text = format!("{}7{}", "[".repeat(60), "]".repeat(60));
    for order in [Order::Rfc, Order::Document] {
        let analysis = Analysis::new().order(order).extract(often.clone());
        stops("explosion", || time("explosion", &analysis, &text));
    }
    let limited = Analysis::new().ask(Measure::Extract(Extract::new(often).limit(3)));
    stops("explosion with a limit", || time("explosion with a limit", &limited, &text));
    let deep = format!("{}{}", "[".repeat(9000), "]".repeat(9000));
    let wide = format!("[{deep}{}]", format!(",{deep}").repeat(100));
    let again = Analysis::new().count(query("$..[?@..x]"));
    stops("filter", || time("filter", &again, &wide));
}

/// R31: on several threads, and while values are emitted.
#[test]
fn a_cancelled_run_stops_on_every_thread() {
    let text: String = "{\"a\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}\n".repeat(300_000);
    let cancel = Cancel::new();
    let analysis = Analysis::new().extract(query("$.a[*]")).threads(4).cancel_with(&cancel);
    let mut heard = 0_u64;
    let mut sink = |_: &Match<'_>| {
        heard += 1;
        if heard == 100_000 {
            cancel.cancel();
        }
        Ok(())
    };
    let error =
        analysis.run_with(&mut Document::from_bytes(text).framing(Framing::Lines), &mut sink).unwrap_err();
    assert!(matches!(&error, Error::Read { error, .. } if error.is_cancelled()), "{error}");
    assert!((100_000..103_000).contains(&heard), "{heard}");
}

#[test]
fn a_cancelled_token_prevents_the_run() {
    let cancel = Cancel::new();
    cancel.cancel();
    assert!(cancel.is_cancelled() && cancel.clone().is_cancelled());
    for source in Source::all() {
        let mut document = source.document(b"[1, 2, 3]", Framing::Auto);
        let error = Analysis::new().count(query("$[*]")).cancel_with(&cancel).run(&mut document).unwrap_err();
        assert!(error.to_string().contains("cancelled"), "{source:?} {error}");
    }
}

fn progress(analysis: &Analysis, document: &mut Document<'_>) -> Vec<Progress> {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let heard = reported.clone();
    let analysis = analysis.clone().on_progress(move |progress| heard.lock().unwrap().push(progress));
    analysis.run(document).unwrap();
    let reported = reported.lock().unwrap();
    reported.clone()
}

fn check(reported: &[Progress], bytes: u64, total: Option<u64>, note: &str) {
    assert!(reported.windows(2).all(|pair| pair[0].bytes < pair[1].bytes), "never less: {note} {reported:?}");
    assert!(reported.iter().all(|progress| progress.total == total), "{note} {reported:?}");
    assert_eq!(reported.last().unwrap().bytes, bytes, "{note}");
    assert!(total.is_none_or(|total| total == bytes), "the last is the total: {note}");
}

/// R32: progress grows and ends at the total. It is reported at least once per MiB on a slice, and
/// once per read on a stream.
#[test]
fn progress_grows_to_the_total() {
    let lines = "{\"a\": [1, 2, 3], \"pad\": \"xxxxxxxxxxxxxxxxxxxxxxxx\"}\n".repeat(120_000);
    let length = lines.len() as u64;
    let file = Scratch::new("lines.jsonl", lines.as_bytes());
    let count = Analysis::new().count(query("$.a[*]"));
    let sample = Analysis::new().sample(Sample::new(Query::root(), size(9)));
    let twice = Sample::new(Query::root(), size(9)).strategy(Strategy::Systematic(None));
    let twice = Analysis::new().sample(twice.clone()).sample(twice);
    for threads in [1, 2, 8] {
        for (name, analysis, passes) in [("count", &count, 1), ("sample", &sample, 1), ("twice", &twice, 2)] {
            let analysis = analysis.clone().threads(threads);
            let note = format!("{name} {threads}");
            let bytes = || Document::from_bytes(lines.clone()).framing(Framing::Lines);
            let reported = progress(&analysis, &mut bytes());
            check(&reported, passes * length, Some(passes * length), &note);
            assert!(reported.len() as u64 >= (passes * length) >> 20, "{note} {}", reported.len());
            let reported = progress(&analysis, &mut Document::open(file.path()).unwrap());
            check(&reported, passes * length, Some(passes * length), &note);
            assert!(reported.len() as u64 >= (passes * length) >> 16, "{note} {}", reported.len());
            let packed = gzip(lines.as_bytes());
            let reported = progress(&analysis, &mut Document::from_bytes(packed).framing(Framing::Lines));
            check(&reported, passes * length, None, &note);
        }
    }
}

/// R32: while a pipe is slow, each read is reported.
#[test]
fn reports_progress_at_every_read() {
    let text = format!("[{}]", vec!["1"; 1000].join(","));
    let mut document = Source::Reads(10).document(text.as_bytes(), Framing::Auto);
    let reported = progress(&Analysis::new().count(query("$[*]")), &mut document);
    check(&reported, 2001, None, "pipe");
    assert!(reported.len() >= 190, "{}", reported.len());
}

/// R32: progress does not decrease when an input is spooled, nor when it is read again.
#[test]
fn progress_never_decreases_on_rereads() {
    let text = format!("[{}]", vec!["1"; 100_000].join(","));
    let length = text.len() as u64;
    let sample = Sample::new(query("$"), size(9)).strategy(Strategy::Systematic(None));
    let reported = progress(
        &Analysis::new().sample(sample),
        &mut Source::Reads(4096).document(text.as_bytes(), Framing::Auto),
    );
    assert!(reported.windows(2).all(|pair| pair[0].bytes < pair[1].bytes), "{reported:?}");
    assert_eq!(reported.last().map(|last| (last.bytes, last.total)), Some((3 * length, Some(3 * length))));
    let arrays = format!("{text}\n{text}\n");
    let reported = progress(
        &Analysis::new().sample(Sample::new(query("$"), size(9))),
        &mut Document::from_bytes(arrays),
    );
    check(&reported, 2 * length + 2, Some(2 * length + 2), "a stream of arrays");
}

/// The callback is never called by two threads at once, and may be slow.
#[test]
fn never_reports_progress_concurrently() {
    let lines = "{\"a\": [1, 2, 3]}\n".repeat(600_000);
    let (busy, calls) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
    let counted = calls.clone();
    let analysis = Analysis::new().stats().threads(4).on_progress(move |_| {
        assert_eq!(busy.fetch_add(1, Ordering::SeqCst), 0);
        thread::sleep(Duration::from_millis(1));
        busy.fetch_sub(1, Ordering::SeqCst);
        counted.fetch_add(1, Ordering::Relaxed);
    });
    analysis.run(&mut Document::from_bytes(lines).framing(Framing::Lines)).unwrap();
    assert!(calls.load(Ordering::Relaxed) >= 9);
}
