//! Traces of walks over an input, for comparing one walk with another.

use trommel_reader::{Cursor, ErrorKind, Event, Kind, LineColumn, Payload, Result, Scalar, Span};
use trommel_testkit::generate::Random;

/// One observation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TraceEvent {
    Record {
        number: u64,
        start: u64,
    },
    Event {
        event: Event,
        span: Span,
        depth: u32,
        payload: Vec<u8>,
    },
    Skipped(Span),
    Left {
        offset: u64,
    },
    /// The record has ended.
    End,
    Error {
        kind: ErrorKind,
        offset: u64,
        place: Option<LineColumn>,
    },
}

/// The kind of walk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Walk {
    /// Event by event.
    Events,
    /// The same by moves, so that no token is buffered.
    Tokens,
    /// Events with occasional moves between them and rewinds, determined by the seed.
    Mixed(u64),
    /// Skips the value of every record.
    Skips,
    /// Random moves, determined by the seed: entering, skipping, leaving, and peeking.
    Moves(u64),
}

/// Walks all records, and continues after malformed ones if possible.
pub(crate) fn trace(mut cursor: Cursor<'_>, walk: Walk) -> Vec<TraceEvent> {
    let mut seen = Vec::new();
    let mut random = Random::new(if let Walk::Moves(seed) | Walk::Mixed(seed) = walk { seed } else { 0 });
    loop {
        let outcome = match cursor.next_record() {
            Ok(false) => return seen,
            Ok(true) => {
                seen.push(TraceEvent::Record { number: cursor.record(), start: cursor.record_start() });
                match walk {
                    Walk::Events => events(&mut cursor, &mut seen),
                    Walk::Tokens => tokens(&mut cursor, &mut seen),
                    Walk::Mixed(_) => mixed(&mut cursor, &mut random, &mut seen),
                    Walk::Skips => skip(&mut cursor, &mut seen),
                    Walk::Moves(_) => moves(&mut cursor, &mut random, &mut seen),
                }
            }
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            let (kind, offset) = (error.kind(), error.offset());
            let again = seen.last() == Some(&TraceEvent::Error { kind, offset, place: error.line_column() });
            seen.push(TraceEvent::Error { kind, offset, place: error.line_column() });
            if again || !cursor.can_recover() {
                return seen;
            }
        }
    }
}

fn events(cursor: &mut Cursor<'_>, seen: &mut Vec<TraceEvent>) -> Result<()> {
    while let Some(event) = cursor.advance()? {
        see(cursor, event, seen);
    }
    seen.push(TraceEvent::End);
    Ok(())
}

fn tokens(cursor: &mut Cursor<'_>, seen: &mut Vec<TraceEvent>) -> Result<()> {
    let mut open = Vec::new();
    let begin = |cursor: &mut Cursor<'_>, seen: &mut Vec<TraceEvent>, open: &mut Vec<Kind>| {
        let event = cursor.begin_value()?;
        see(cursor, event, seen);
        if let Event::Begin(kind) = event {
            open.push(kind);
        }
        trommel_reader::Result::Ok(())
    };
    begin(cursor, seen, &mut open)?;
    while let Some(&kind) = open.last() {
        let more = if kind == Kind::Object { cursor.next_member()? } else { cursor.next_element()? };
        if !more {
            open.pop();
            see(cursor, Event::End(kind), seen);
            continue;
        }
        if kind == Kind::Object {
            see(cursor, Event::Name, seen);
        }
        begin(cursor, seen, &mut open)?;
    }
    assert_eq!(cursor.advance()?, None);
    seen.push(TraceEvent::End);
    Ok(())
}

/// Events. An expected value is occasionally peeked at, started by a move, or skipped and returned
/// to.
fn mixed(cursor: &mut Cursor<'_>, random: &mut Random, seen: &mut Vec<TraceEvent>) -> Result<()> {
    while let Some(event) = cursor.advance()? {
        see(cursor, event, seen);
        if event != Event::Name || random.chance(70) {
            continue;
        }
        match random.below(4) {
            0 => assert_eq!(cursor.peek()?, cursor.peek()?),
            1 => {
                let event = cursor.begin_value()?;
                see(cursor, event, seen);
            }
            2 => {
                let mark = cursor.hold();
                let (steps, depth) = (random.below(50), cursor.depth());
                // A mark is valid while its container is open. Errors are the same the second time.
                let ended = (0..steps).try_for_each(|_| {
                    if cursor.depth() < depth { Ok(()) } else { cursor.advance().map(drop) }
                });
                cursor.rewind(&mark);
                cursor.release();
                ended?;
            }
            _ => {
                let mark = cursor.hold();
                let skipped = cursor.skip_value();
                cursor.rewind(&mark);
                cursor.release();
                skipped?;
            }
        }
    }
    seen.push(TraceEvent::End);
    Ok(())
}

fn skip(cursor: &mut Cursor<'_>, seen: &mut Vec<TraceEvent>) -> Result<()> {
    let span = cursor.skip_value()?;
    seen.push(TraceEvent::Skipped(span));
    assert_eq!(cursor.advance()?, None);
    seen.push(TraceEvent::End);
    Ok(())
}

fn see(cursor: &Cursor<'_>, event: Event, seen: &mut Vec<TraceEvent>) {
    seen.push(TraceEvent::Event {
        event,
        span: cursor.span(),
        depth: cursor.depth(),
        payload: payload(cursor),
    });
}

/// The bytes of the payload.
pub(crate) fn payload(cursor: &Cursor<'_>) -> Vec<u8> {
    match cursor.payload() {
        Payload::None => Vec::new(),
        Payload::Name(text) | Payload::Scalar(Scalar::String(text)) => {
            assert!(!text.is_cut());
            assert_eq!(text.byte_len(), cursor.span().len() - 2);
            if text.is_escaped() { text.decode().into_owned().into_bytes() } else { text.raw().to_vec() }
        }
        Payload::Scalar(Scalar::Number(number)) => number.lexeme().into(),
        Payload::Scalar(Scalar::Bool(value)) => value.to_string().into(),
        Payload::Scalar(Scalar::Null) => b"null".into(),
    }
}

fn moves(cursor: &mut Cursor<'_>, random: &mut Random, seen: &mut Vec<TraceEvent>) -> Result<()> {
    let mut open = Vec::new();
    value(cursor, random, &mut open, seen)?;
    while let Some(&kind) = open.last() {
        if random.chance(10) {
            cursor.leave()?;
            open.pop();
            seen.push(TraceEvent::Left { offset: cursor.offset() });
            continue;
        }
        let more = if kind == Kind::Object { cursor.next_member()? } else { cursor.next_element()? };
        if !more {
            open.pop();
            see(cursor, Event::End(kind), seen);
            continue;
        }
        if kind == Kind::Object {
            assert!(cursor.name().is_some());
            see(cursor, Event::Name, seen);
        }
        value(cursor, random, &mut open, seen)?;
    }
    assert_eq!(cursor.depth(), 0);
    if random.chance(80) {
        assert_eq!(cursor.advance()?, None);
    }
    seen.push(TraceEvent::End);
    Ok(())
}

/// Enters, skips, or ignores the next value.
fn value(
    cursor: &mut Cursor<'_>,
    random: &mut Random,
    open: &mut Vec<Kind>,
    seen: &mut Vec<TraceEvent>,
) -> Result<()> {
    if random.chance(30) {
        let kind = cursor.peek()?;
        assert_eq!(kind, cursor.peek()?);
    }
    match random.weighted(&[if open.is_empty() { 0 } else { 10 }, 20, 70]) {
        // The next move skips it.
        0 => Ok(()),
        1 => {
            let span = cursor.skip_value()?;
            seen.push(TraceEvent::Skipped(span));
            Ok(())
        }
        _ => {
            let event = cursor.begin_value()?;
            see(cursor, event, seen);
            if let Event::Begin(kind) = event {
                open.push(kind);
            }
            Ok(())
        }
    }
}

/// Reports the first difference between two walks.
pub(crate) fn assert_same(got: &[TraceEvent], expected: &[TraceEvent], context: &dyn std::fmt::Display) {
    if got == expected {
        return;
    }
    let at = got.iter().zip(expected).take_while(|(got, expected)| got == expected).count();
    panic!("{context}: step {at}\n     got {:?}\nexpected {:?}", got.get(at), expected.get(at));
}
