//! Checks that tokens read by masks equal those read one by one, and that errors are at the same
//! offset.

use trommel_reader::{
    Backend, Config, Cursor, ErrorKind, Event, Framing, Kind, Listener, Scalar, Text, Validation, View,
};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Layout, Shape, damage, document, stream};
use trommel_testkit::naive;

use super::corpus::{own, real};
use super::trace::{TraceEvent, Walk, assert_same, trace};

/// The trace of a walk that skips values: records with their spans, and errors.
fn skipped(tokens: &[TraceEvent]) -> Vec<TraceEvent> {
    let mut left = Vec::new();
    let mut value: Option<trommel_reader::Span> = None;
    for seen in tokens {
        match seen {
            TraceEvent::Event { span, .. } => {
                value = Some(value.map_or(*span, |value| trommel_reader::Span::new(value.start, span.end)));
            }
            TraceEvent::End => left.extend([TraceEvent::Skipped(value.take().unwrap()), TraceEvent::End]),
            other => {
                value = None;
                left.push(other.clone());
            }
        }
    }
    left
}

/// Compares walks by tokens, by events, by events with other moves between them, and by skips: as a
/// slice and in pieces, on every backend.
fn compare(bytes: &[u8], framing: Framing, sizes: &[usize], note: &str) {
    let config = Config::new().validation(Validation::Strict);
    let tokens = trace(Cursor::from_view(View::new(bytes), framing, &config), Walk::Tokens);
    let skips = skipped(&tokens);
    let note = |how: &str| format!("{note} {how}: {}", bytes[..bytes.len().min(3000)].escape_ascii());
    for backend in Backend::available() {
        let config = config.backend(backend);
        let slice = || Cursor::from_view(View::new(bytes), framing, &config);
        let name = backend.name();
        assert_same(&trace(slice(), Walk::Events), &tokens, &note(&format!("{name}, events")));
        assert_same(&without_trailing(trace(slice(), Walk::Skips)), &skips, &note(&format!("{name}, skips")));
        for &size in sizes {
            let pieces = || Cursor::from_reader(Chunks::new(bytes, &[size]), framing, &config.window(size));
            assert_same(&trace(pieces(), Walk::Events), &tokens, &note(&format!("{name}, events by {size}")));
        }
    }
}

/// A walk without the values that were skipped before an error after them.
fn without_trailing(mut walk: Vec<TraceEvent>) -> Vec<TraceEvent> {
    let fails: Vec<bool> = walk.iter().skip(1).map(|next| matches!(next, TraceEvent::Error { .. })).collect();
    let mut fails = fails.into_iter();
    walk.retain(|seen| !(fails.next().unwrap_or(false) && matches!(seen, TraceEvent::Skipped(_))));
    walk
}

/// Compares the valid text, and the text with an error.
fn both(bytes: &[u8], seed: u64, framing: Framing, sizes: &[usize]) {
    compare(bytes, framing, sizes, &format!("seed {seed}"));
    for again in 0..4 {
        compare(&damage(4 * seed + again, bytes), framing, sizes, &format!("seed {seed} damaged {again}"));
    }
}

#[test]
fn in_random_documents() {
    for seed in 0..cases(300, 3_000) {
        let layout = [Layout::Random, Layout::Compact, Layout::Pretty, Layout::OneLine][seed as usize % 4];
        let values = [40, 400, 4000][seed as usize % 3];
        let shape = Shape { layout, values, width: 12, ..Shape::default() };
        both(&document(seed, &shape), seed, Framing::Single, &[1, 63, 1500]);
    }
}

#[test]
fn in_random_streams() {
    for seed in 0..cases(100, 1_000) {
        let (framing, made) = [
            (Framing::Lines, naive::Framing::Lines),
            (Framing::Concatenated, naive::Framing::Concatenated),
            (Framing::JsonSeq, naive::Framing::JsonSeq),
        ][seed as usize % 3];
        let shape = Shape { layout: Layout::OneLine, values: 100, ..Shape::default() };
        both(&stream(seed, &shape, made, 8), seed, framing, &[1, 64, 700]);
    }
}

#[test]
fn in_deep_documents() {
    for seed in 0..cases(20, 200) {
        let layout = if seed % 2 == 0 { Layout::Random } else { Layout::Compact };
        both(&document(seed, &Shape { layout, ..Shape::deep(300) }), seed, Framing::Single, &[65]);
    }
}

#[test]
fn in_documents() {
    for text in own() {
        compare(&text.bytes, text.framing, &[1, 65, 4096], &text.name);
    }
    for text in real(cases(1_000_000, 40_000_000) as usize) {
        compare(&text.bytes, text.framing, &[4096], &text.name);
    }
}

/// More tokens than are read one by one before masks are tried.
const ZEROS: &str = "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]";

/// Every token next to every other, at every offset of a block: valid sequences pass, and invalid
/// ones are detected.
#[test]
fn token_pairs_at_every_offset_of_a_block() {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"\\n\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\x\"",
        "\"\u{1}\"",
        "0",
        "-0",
        "01",
        "-",
        "12.5e+3",
        "1.",
        ".5",
        "1e",
        "1E-7",
        "--1",
        "1.2.3",
        "true",
        "truer",
        "nul",
        "null",
        "false",
        " ",
        "\n",
        "\u{b}",
        "é",
    ];
    for first in pieces {
        for second in pieces {
            for before in [0, 1, 29, 30, 31, 57, 58, 59, 60, 61, 62, 63, 64].map(|length| " ".repeat(length))
            {
                let text = format!("[[[0,{before}{first}{second}],1],2]");
                compare(format!("[{ZEROS},{text}]").as_bytes(), Framing::Single, &[], &text);
                let text = format!("[{before}{{\"k\":{first}{second}}}]");
                compare(format!("[{ZEROS},{text}]").as_bytes(), Framing::Single, &[], &text);
            }
        }
    }
}

/// An error drops the buffered tokens, and is returned by every later move.
#[test]
fn errors_are_final() {
    let text = format!("[{}]", ["1"; 500].join(","));
    let mut cursor = Cursor::from_view(View::new(text.as_bytes()), Framing::Single, &Config::new());
    for _ in 0..100 {
        cursor.advance().unwrap();
    }
    // An array has no members.
    cursor.next_member().unwrap_err();
    for _ in 0..3 {
        cursor.advance().unwrap_err();
    }
}

/// A received event with its offset and its text.
#[derive(Default)]
struct Heard {
    names_alone: bool,
    events: Vec<(Event, u64, Vec<u8>)>,
}

impl Listener for Heard {
    fn wants_scalars(&self) -> bool {
        !self.names_alone
    }

    fn begin(&mut self, kind: Kind, at: u64) {
        self.events.push((Event::Begin(kind), at, Vec::new()));
    }

    fn end(&mut self, kind: Kind, at: u64) {
        self.events.push((Event::End(kind), at, Vec::new()));
    }

    fn name(&mut self, name: Text<'_>, at: u64) {
        self.events.push((Event::Name, at, name.decode().into_owned().into_bytes()));
    }

    fn scalar(&mut self, scalar: Scalar<'_>, at: u64) {
        if !self.names_alone {
            self.events.push((Event::Scalar(scalar.kind()), at, Vec::new()));
        }
    }
}

/// The events that a listener receives from a record, some bytes at a time, and the error.
fn listened(mut cursor: Cursor<'_>, step: u64, names_alone: bool) -> (Heard, Option<(ErrorKind, u64)>) {
    let mut heard = Heard { names_alone, ..Heard::default() };
    let mut listen = || {
        let first = cursor.begin_value()?;
        if matches!(first, Event::Begin(_)) {
            while cursor.depth() > 0 {
                let (depth, until) = (cursor.depth().saturating_sub(2), cursor.offset() + step);
                cursor.listen(depth, until, &mut heard)?;
            }
        }
        Ok(())
    };
    let ended: trommel_reader::Result<()> = listen();
    (heard, ended.err().map(|error| (error.kind(), error.offset())))
}

/// A listener receives the events of tokens, with scalars and without, up to the error.
#[test]
fn listeners_receive_the_same_events() {
    for seed in 0..cases(300, 3_000) {
        let layout = [Layout::Random, Layout::Compact, Layout::Pretty][seed as usize % 3];
        let shape = Shape { layout, values: 2000, width: 12, ..Shape::default() };
        let good = document(seed, &shape);
        for bytes in [damage(seed, &good), good] {
            let config = Config::new().validation(Validation::Strict);
            let tokens = trace(Cursor::from_view(View::new(&bytes), Framing::Single, &config), Walk::Tokens);
            for (names_alone, size) in [(false, 7777), (true, 7777), (true, 100)] {
                let step = [50, 3000, u64::MAX / 2][seed as usize / 3 % 3];
                let pieces = Cursor::from_reader(
                    Chunks::new(&bytes[..], &[size]),
                    Framing::Single,
                    &config.window(size),
                );
                for cursor in [Cursor::from_view(View::new(&bytes), Framing::Single, &config), pieces] {
                    let (heard, wrong) = listened(cursor, step, names_alone);
                    let note = format!("seed {seed}, {names_alone}, by {size}, {step} at a time");
                    assert_eq!(heard.events, expected_events(&tokens, names_alone), "{note}");
                    let expected = tokens.iter().find_map(|seen| match seen {
                        TraceEvent::Error { kind, offset, .. } => Some((*kind, *offset)),
                        _ => None,
                    });
                    // The bytes after the value are not read.
                    assert!(wrong == expected || wrong.is_none() && whole(&tokens), "{note}: {wrong:?}");
                }
            }
        }
    }
}

/// True if the value is complete, regardless of the bytes after it.
fn whole(tokens: &[TraceEvent]) -> bool {
    let last = tokens.iter().rev().find(|seen| matches!(seen, TraceEvent::Event { .. }));
    last.is_some_and(|seen| matches!(seen, TraceEvent::Event { depth: 0, .. }))
}

/// The events after the first one, which is read before listening.
fn expected_events(tokens: &[TraceEvent], names_alone: bool) -> Vec<(Event, u64, Vec<u8>)> {
    let events = tokens.iter().filter_map(|seen| match seen {
        TraceEvent::Event { event: Event::Name, span, payload, .. } => {
            Some((Event::Name, span.start, payload.clone()))
        }
        TraceEvent::Event { event, span, .. } => Some((*event, span.start, Vec::new())),
        _ => None,
    });
    let wanted = |event: &Event| !names_alone || !matches!(event, Event::Scalar(_));
    events.skip(1).filter(|(event, ..)| wanted(event)).collect()
}

/// Moves between events do not change the events.
#[test]
fn with_moves_between() {
    let config = Config::new().validation(Validation::Strict);
    for seed in 0..cases(500, 10_000) {
        let shape = Shape { values: 800, width: 12, ..Shape::default() };
        let bytes = document(seed, &shape);
        let tokens = trace(Cursor::from_view(View::new(&bytes), Framing::Single, &config), Walk::Tokens);
        let mixed = |cursor| trace(cursor, Walk::Mixed(seed));
        let found = mixed(Cursor::from_view(View::new(&bytes), Framing::Single, &config));
        assert_same(&found, &tokens, &format!("seed {seed}"));
        let pieces =
            Cursor::from_reader(Chunks::new(&bytes[..], &[777]), Framing::Single, &config.window(777));
        assert_same(&mixed(pieces), &tokens, &format!("seed {seed}, in pieces"));
    }
}

/// After a rewind, tokens that were buffered before a hold are not in the window, or only partly.
#[test]
fn tokens_come_again_after_a_rewind() {
    let expected: Vec<Event> = (0..151).map(|_| Event::Scalar(Kind::Number)).collect();
    for large in [10, 4_000, 400_000, 600_000, 3_000_000] {
        let text = format!("[{}0,[{}2]]", "1,".repeat(400), " ".repeat(large));
        for validation in [Validation::Strict, Validation::Structural] {
            let config = Config::new().validation(validation);
            let slice = Cursor::from_view(View::new(text.as_bytes()), Framing::Single, &config);
            let stream = Cursor::from_reader(text.as_bytes(), Framing::Single, &config);
            for mut cursor in [slice, stream] {
                for _ in 0..251 {
                    cursor.advance().unwrap();
                }
                let mark = cursor.hold();
                while cursor.next_element().unwrap() {
                    cursor.skip_value().unwrap();
                }
                cursor.rewind(&mark);
                let again: Vec<Event> = (0..151).map(|_| cursor.advance().unwrap().unwrap()).collect();
                assert_eq!(again, expected, "{large} {validation:?}");
                let span = cursor.span();
                assert_eq!((span.start, span.len()), (1 + 2 * 400, 1), "{large} {validation:?}");
            }
        }
    }
}

/// The window of a stream moves during a hold. After the rewind, the buffered tokens are passed to
/// the listener.
#[test]
fn listening_continues_after_the_window_has_moved() {
    let text = format!("[{}{}]", "1,".repeat(400), format_args!("[{:4000}]", 2));
    let heard = |mut cursor: Cursor<'_>| {
        for _ in 0..250 {
            cursor.advance().unwrap();
        }
        let mark = cursor.hold();
        while cursor.next_element().unwrap() {
            cursor.skip_value().unwrap();
        }
        cursor.rewind(&mark);
        let mut heard = Heard::default();
        cursor.listen(0, u64::MAX, &mut heard).unwrap();
        heard.events
    };
    let config = Config::new().validation(Validation::Structural);
    let expected = heard(Cursor::from_view(View::new(text.as_bytes()), Framing::Single, &config));
    for window in [64, 640, 1000, 2000] {
        let chunks = Chunks::new(text.as_bytes(), &[window]);
        let streamed = heard(Cursor::from_reader(chunks, Framing::Single, &config.window(window)));
        assert_eq!(streamed, expected, "{window}");
    }
}
