//! Tests of offsets beyond 32 bits.

use trommel_reader::{Backend, Config, Cursor, ErrorKind, Framing, Span, Syntax, Validation, View};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Shape, damage, document};
use trommel_testkit::repeat::Repeat;

use super::trace::{TraceEvent, Walk, assert_same, trace};

const FOUR_GIB: u64 = 1 << 32;

fn moved(seen: Vec<TraceEvent>, by: u64) -> Vec<TraceEvent> {
    let span = |span: Span| Span::new(span.start + by, span.end + by);
    seen.into_iter()
        .map(|seen| match seen {
            TraceEvent::Record { number, start } => TraceEvent::Record { number, start: start + by },
            TraceEvent::Event { event, span: at, depth, payload } => {
                TraceEvent::Event { event, span: span(at), depth, payload }
            }
            TraceEvent::Skipped(at) => TraceEvent::Skipped(span(at)),
            TraceEvent::Left { offset } => TraceEvent::Left { offset: offset + by },
            TraceEvent::End => TraceEvent::End,
            TraceEvent::Error { kind, offset, place } => {
                TraceEvent::Error { kind, offset: offset + by, place }
            }
        })
        .collect()
}

/// R42: a view across 4 GiB, at every offset within 64 bytes: all offsets are those of the same
/// text at the start, moved.
#[test]
fn views_across_four_gib() {
    for seed in 0..12 {
        let mut text = document(seed, &Shape::default());
        if seed % 3 == 0 {
            text = damage(seed, &text);
        }
        for validation in [Validation::Strict, Validation::Structural] {
            let config = Config::new().validation(validation);
            let walk = Walk::Moves(seed);
            let expected = trace(Cursor::from_view(View::at(&text, 0), Framing::Single, &config), walk);
            for distance in 0..=128 {
                let base = FOUR_GIB + 64 - distance;
                let seen = trace(Cursor::from_view(View::at(&text, base), Framing::Single, &config), walk);
                assert_same(&seen, &moved(expected.clone(), base), &format_args!("seed {seed} base {base}"));
            }
        }
    }
}

/// R42: a stream across 4 GiB: spans, skips, and errors have the right offsets. The full distance
/// is for deep runs; otherwise the stream only passes window edges.
#[test]
fn stream_across_four_gib() {
    let goal = cases(1 << 26, FOUR_GIB);
    let item = format!("[1{},{{\"k\":\"é\\n\"}}]", " ".repeat((1 << 16) - 20));
    for validation in [Validation::Strict, Validation::Structural] {
        for end in [goal - 64, goal + 64] {
            let count = end / (item.len() as u64 + 1) - 1;
            let rest = end - Repeat::new("[", &item, ",", "", count).len();
            let tail = format!(",{}\"é\", 7, \"x\"}}", " ".repeat(rest as usize));
            let text = Repeat::new("[", &item, ",", &tail, count);
            let value = text.len() - tail.len() as u64 + 1 + rest;
            let config = Config::new().validation(validation);
            let mut cursor = Cursor::from_reader(text, Framing::Single, &config);
            cursor.begin_value().unwrap();
            for index in 0..count {
                assert!(cursor.next_element().unwrap());
                let span = cursor.skip_value().unwrap();
                assert_eq!(span.start, 1 + index * (item.len() as u64 + 1));
                assert_eq!(span.len(), item.len() as u64);
            }
            assert!(cursor.next_element().unwrap());
            assert_eq!(cursor.skip_value().unwrap(), Span::new(value, value + 4));
            assert!(cursor.next_element().unwrap() && cursor.next_element().unwrap());
            cursor.begin_value().unwrap();
            assert_eq!(cursor.span(), Span::new(value + 9, value + 12));
            let error = cursor.next_element().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Syntax(Syntax::MismatchedBracket));
            assert_eq!(error.offset(), value + 12);
            // Every `é` before is one column and two bytes: one per item, and one in the value.
            assert_eq!(error.line_column().unwrap().column, error.offset() + 1 - count - 1);
        }
    }
}

/// R42: a stream with 4 GiB of white space in full: the value after it, its offset, line, and
/// error.
#[test]
fn white_space_across_four_gib() {
    let line = format!("{}\n", " ".repeat((1 << 16) - 1));
    let tails = [(0, "\n\n[\"\\x\"]".to_owned()), (1, format!("{}[1,é]", " ".repeat((1 << 16) - 3)))];
    for (short, tail) in tails.into_iter().take(cases(1, 2) as usize) {
        let lines = (1 << 16) - short;
        let text = Repeat::new("", &line, "", &tail, lines);
        let start = text.len() - tail.trim_start().len() as u64;
        assert!(start.abs_diff(FOUR_GIB) < 64);
        let mut cursor = Cursor::from_reader(text, Framing::Auto, &Config::new());
        assert!(cursor.next_record().unwrap());
        assert_eq!((cursor.record_start(), cursor.offset()), (start, start));
        let error = cursor.skip_value().unwrap_err();
        let place = error.line_column().unwrap();
        if short == 1 {
            assert_eq!((error.kind(), error.offset()), (ErrorKind::Syntax(Syntax::ExpectedValue), start + 3));
            assert_eq!((place.line, place.column), (lines + 1, (1 << 16) - 2 + 3));
        } else {
            assert_eq!((error.kind(), error.offset()), (ErrorKind::Syntax(Syntax::Escape), start + 2));
            assert_eq!((place.line, place.column), (lines + 3, 3));
        }
    }
}

/// R42: a skip counts beyond 4 GiB of brackets and strings in one container, on every backend.
#[test]
fn skip_across_four_gib() {
    let goal = cases(1 << 26, FOUR_GIB + 100);
    for backend in Backend::available() {
        let text =
            Repeat::new("{\"a\":[", &"{\"b\":[\"]\\\\\"]},".repeat(2000), "", "0],\"c\":tru", goal / 26_000);
        let length = text.len();
        let config = Config::new().backend(backend).validation(Validation::Structural);
        let mut cursor = Cursor::from_reader(text, Framing::Single, &config);
        cursor.begin_value().unwrap();
        assert!(cursor.next_member().unwrap());
        assert_eq!(cursor.skip_value().unwrap(), Span::new(5, length - 8));
        assert!(cursor.next_member().unwrap());
        let error = cursor.skip_value().unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Syntax(Syntax::UnexpectedEnd), length));
    }
}
