//! Everything a walk over an input sees, to compare one walk with another.

use trommel_reader::{Cursor, ErrorKind, Event, Kind, Payload, Place, Result, Scalar, Span};
use trommel_testkit::generate::Random;

/// One thing seen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
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
    /// The record has ended as it should.
    End,
    Error {
        kind: ErrorKind,
        offset: u64,
        place: Option<Place>,
    },
}

/// How to walk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Walk {
    /// Event by event.
    Events,
    /// The same by moves, so that nothing is read ahead.
    Tokens,
    /// Events, with moves between them now and then, and back again; the same for the same seed.
    Mixed(u64),
    /// Every record's value is skipped.
    Skips,
    /// By random moves, the same for the same seed: entering, skipping, leaving, looking ahead.
    Moves(u64),
}

/// Walks all records, going on after bad ones where that is possible.
pub(crate) fn trace(mut cursor: Cursor<'_>, walk: Walk) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut random = Random::new(if let Walk::Moves(seed) | Walk::Mixed(seed) = walk { seed } else { 0 });
    loop {
        let outcome = match cursor.next_record() {
            Ok(false) => return seen,
            Ok(true) => {
                seen.push(Seen::Record { number: cursor.record(), start: cursor.record_start() });
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
            let again = seen.last() == Some(&Seen::Error { kind, offset, place: error.place() });
            seen.push(Seen::Error { kind, offset, place: error.place() });
            if again || !cursor.can_recover() {
                return seen;
            }
        }
    }
}

fn events(cursor: &mut Cursor<'_>, seen: &mut Vec<Seen>) -> Result<()> {
    while let Some(event) = cursor.advance()? {
        see(cursor, event, seen);
    }
    seen.push(Seen::End);
    Ok(())
}

fn tokens(cursor: &mut Cursor<'_>, seen: &mut Vec<Seen>) -> Result<()> {
    let mut open = Vec::new();
    let begin = |cursor: &mut Cursor<'_>, seen: &mut Vec<Seen>, open: &mut Vec<Kind>| {
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
    seen.push(Seen::End);
    Ok(())
}

/// Events. Where a value is due, it is now and then looked at, begun by a move, or skipped and come
/// back to.
fn mixed(cursor: &mut Cursor<'_>, random: &mut Random, seen: &mut Vec<Seen>) -> Result<()> {
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
                // A mark is good for as long as its container is open. What is wrong is wrong the
                // second time, too.
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
    seen.push(Seen::End);
    Ok(())
}

fn skip(cursor: &mut Cursor<'_>, seen: &mut Vec<Seen>) -> Result<()> {
    let span = cursor.skip_value()?;
    seen.push(Seen::Skipped(span));
    assert_eq!(cursor.advance()?, None);
    seen.push(Seen::End);
    Ok(())
}

fn see(cursor: &Cursor<'_>, event: Event, seen: &mut Vec<Seen>) {
    seen.push(Seen::Event { event, span: cursor.span(), depth: cursor.depth(), payload: payload(cursor) });
}

/// What the payload holds, in bytes.
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

fn moves(cursor: &mut Cursor<'_>, random: &mut Random, seen: &mut Vec<Seen>) -> Result<()> {
    let mut open = Vec::new();
    value(cursor, random, &mut open, seen)?;
    while let Some(&kind) = open.last() {
        if random.chance(10) {
            cursor.leave()?;
            open.pop();
            seen.push(Seen::Left { offset: cursor.offset() });
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
    seen.push(Seen::End);
    Ok(())
}

/// Enters, skips or ignores the value that comes next.
fn value(
    cursor: &mut Cursor<'_>,
    random: &mut Random,
    open: &mut Vec<Kind>,
    seen: &mut Vec<Seen>,
) -> Result<()> {
    if random.chance(30) {
        let kind = cursor.peek()?;
        assert_eq!(kind, cursor.peek()?);
    }
    match random.weighted(&[if open.is_empty() { 0 } else { 10 }, 20, 70]) {
        // The next move passes over it.
        0 => Ok(()),
        1 => {
            let span = cursor.skip_value()?;
            seen.push(Seen::Skipped(span));
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

/// Shows the first place where two walks differ.
pub(crate) fn assert_same(got: &[Seen], expected: &[Seen], context: &dyn std::fmt::Display) {
    if got == expected {
        return;
    }
    let at = got.iter().zip(expected).take_while(|(got, expected)| got == expected).count();
    panic!("{context}: step {at}\n     got {:?}\nexpected {:?}", got.get(at), expected.get(at));
}
