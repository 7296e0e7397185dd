//! Pulled values beside those that a sink receives.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use trommel::path::{Order, Query};
use trommel::reader::{Framing, Span};
use trommel::{Analysis, Cancel, Document, Error, Match, Report, Sink};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Random, Shape, damage, stream};
use trommel_testkit::naive;
use trommel_values::Values;

/// An emitted value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    measure: usize,
    text: String,
    span: Span,
    record: u64,
    location: Option<String>,
}

/// A sink that remembers the values, in order.
#[derive(Debug, Default)]
struct Memory(Vec<Value>);

impl Sink for Memory {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        self.0.push(Value {
            measure: found.measure,
            text: String::from_utf8_lossy(found.value).into_owned(),
            span: found.span,
            record: found.record,
            location: found.location.map(str::to_owned),
        });
        Ok(())
    }

    fn wants_location(&self) -> bool {
        true
    }
}

fn query(text: &str) -> Query {
    text.parse().unwrap()
}

/// All values, and the error that ends them.
fn pull(values: &mut Values) -> (Vec<Value>, Option<String>) {
    let mut found = Vec::new();
    loop {
        match values.next_batch() {
            Ok(Some(batch)) => {
                assert_eq!(batch.len(), batch.iter().len());
                found.extend(batch.iter().map(|value| Value {
                    measure: value.measure,
                    text: String::from_utf8_lossy(value.bytes).into_owned(),
                    span: value.span,
                    record: value.record,
                    location: value.location.map(str::to_owned),
                }));
            }
            Ok(None) => return (found, None),
            Err(error) => {
                assert!(values.next_batch().unwrap().is_none());
                return (found, Some(error.to_string()));
            }
        }
    }
}

/// Pulled values are those that a sink receives, from any kind of input, with the same report or
/// after the same error.
#[test]
fn pulled_values_are_those_of_a_sink() {
    for seed in 0..cases(300, 3000) {
        let mut random = Random::new(seed);
        let text = stream(seed, &Shape::plain(), naive::Framing::Lines, random.between(0, 20));
        let text = if seed % 3 == 0 { damage(seed, &text) } else { text };
        let order = if random.below(2) == 0 { Order::Rfc } else { Order::Document };
        let analysis = Analysis::new().extract(query("$..a")).extract(query("$.*")).stats().order(order);
        let document = |bytes: &[u8]| {
            let bytes = io::Cursor::new(bytes.to_vec());
            let document = match seed % 4 {
                0 => Document::from_bytes(bytes.into_inner()),
                1 => Document::from_seekable(bytes).unwrap(),
                _ => Document::from_reader(Chunks::new(bytes, &[1, 20])),
            };
            document.framing(Framing::Lines)
        };
        let mut memory = Memory::default();
        let expected = analysis.run_with(&mut document(&text), &mut memory);
        let mut values = Values::located(&analysis, document(&text)).unwrap();
        let (found, error) = pull(&mut values);
        assert_eq!(found, memory.0, "seed {seed}");
        assert_eq!(error, expected.as_ref().err().map(ToString::to_string), "seed {seed}");
        if let Ok(report) = expected {
            let shown = |report: &Report| format!("{:?} {:?}", report.answers, report.coverage);
            assert_eq!(shown(values.report().unwrap()), shown(&report), "seed {seed}");
            assert!(values.next_batch().unwrap().is_none());
        }
    }
}

/// Yields what the test sends, and counts the bytes.
struct Sent {
    pieces: Receiver<Vec<u8>>,
    piece: io::Cursor<Vec<u8>>,
    read: Arc<AtomicU64>,
}

impl Read for Sent {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.piece.position() == self.piece.get_ref().len() as u64 {
            let Ok(piece) = self.pieces.recv() else { return Ok(0) };
            self.piece = io::Cursor::new(piece);
        }
        let count = self.piece.read(into)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

fn sent(analysis: &Analysis) -> (Values, Sender<Vec<u8>>, Arc<AtomicU64>) {
    let (sender, pieces) = mpsc::channel();
    let read = Arc::new(AtomicU64::new(0));
    let reader = Sent { pieces, piece: io::Cursor::default(), read: Arc::clone(&read) };
    let values = Values::new(analysis, Document::from_reader(reader).framing(Framing::Lines)).unwrap();
    (values, sender, read)
}

/// A value arrives while the input after it is still missing.
#[test]
fn values_arrive_before_the_input_ends() {
    let (mut values, sender, _) = sent(&Analysis::new().extract(query("$.a")));
    for number in 0..20 {
        sender.send(format!("{{\"a\":{number}}}\n").into_bytes()).unwrap();
        let batch = values.next_batch().unwrap().unwrap();
        let found: Vec<_> = batch.iter().map(|value| (value.record, value.bytes.to_vec())).collect();
        assert_eq!(found, [(number, number.to_string().into_bytes())]);
    }
    drop(sender);
    assert!(values.next_batch().unwrap().is_none());
    assert_eq!(values.report().unwrap().coverage.records, 20);
}

/// The run is at most a batch ahead, and ends when the values are dropped or cancelled.
#[test]
fn the_run_waits_for_the_values_and_ends_with_them() {
    let cancel = Cancel::new();
    for by_token in [false, true] {
        let analysis = Analysis::new().extract(query("$.a")).cancel_with(&cancel);
        let (mut values, sender, read) = sent(&analysis);
        let piece = format!("{{\"a\":\"{}\"}}\n", "x".repeat(60_000)).into_bytes();
        for _ in 0..200 {
            sender.send(piece.clone()).unwrap();
        }
        assert!(!values.next_batch().unwrap().unwrap().is_empty());
        // The reader is idle once its count no longer grows.
        let mut before = 0;
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let now = read.load(Ordering::Relaxed);
            if now == before {
                break;
            }
            before = now;
        }
        assert!(before < 2 << 20, "{before} bytes were read ahead");
        if by_token {
            cancel.cancel();
            let failed = loop {
                match values.next_batch() {
                    Ok(batch) => assert!(batch.is_some(), "a cancelled run has no end"),
                    Err(error) => break error,
                }
            };
            assert!(matches!(failed, Error::Read { .. }), "{failed}");
        }
        drop(values);
        let since = Instant::now();
        // Sending fails once the reader is dropped.
        while sender.send(piece.clone()).is_ok() {
            assert!(since.elapsed() < Duration::from_secs(20), "the run has not ended");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A panic of a callback is an error, and not the end of the values.
#[test]
fn a_panic_of_a_callback_is_an_error() {
    let analysis = Analysis::new().extract(query("$.a")).on_progress(|_| panic!("of the callback"));
    let mut values = Values::new(&analysis, Document::from_bytes("{\"a\":1}")).unwrap();
    let (found, error) = pull(&mut values);
    assert!(found.len() <= 1);
    assert_eq!(error.as_deref(), Some("cannot write: the thread that reads the values panicked"));
}
