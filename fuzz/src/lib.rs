//! Code shared by the fuzz targets: traces of a cursor and answers of a matcher, for comparison.

pub mod matching;

use trommel_reader::{Cursor, Event, Framing, Kind, Payload, Scalar};

/// One line per event, with its span and text. An error that ended a record is a line too.
pub type Trace = Vec<String>;

/// Returns the framing that a byte selects.
pub fn framing(byte: u8) -> Framing {
    match byte % 5 {
        0 => Framing::Single,
        1 => Framing::Lines,
        2 => Framing::Concatenated,
        3 => Framing::JsonSeq,
        _ => Framing::Auto,
    }
}

/// Returns all records, events, and errors of a cursor. With `skip`, skips some values and leaves
/// some containers early.
pub fn trace(cursor: Cursor<'_>, skip: bool) -> Trace {
    records(cursor, |cursor, trace| record(cursor, skip, trace))
}

/// Like [`trace`] without skips, but moves from token to token, so that the cursor does not batch
/// tokens.
pub fn tokens(cursor: Cursor<'_>) -> Trace {
    records(cursor, one_by_one)
}

/// Returns the end of each record's value, or its error, found by skipping the value.
pub fn skips(cursor: Cursor<'_>) -> Trace {
    records(cursor, |cursor, trace| {
        cursor.skip_value()?;
        trace.push(format!("value ends at {}", cursor.offset()));
        cursor.advance().map(drop)
    })
}

/// Like [`skips`], but moves from token to token.
pub fn ends(cursor: Cursor<'_>) -> Trace {
    records(cursor, |cursor, trace| {
        let mut events = Trace::new();
        walk(cursor, &mut events)?;
        trace.push(format!("value ends at {}", cursor.offset()));
        cursor.advance().map(drop)
    })
}

fn one_by_one(cursor: &mut Cursor<'_>, trace: &mut Trace) -> trommel_reader::Result<()> {
    walk(cursor, trace)?;
    cursor.advance().map(drop)
}

fn walk(cursor: &mut Cursor<'_>, trace: &mut Trace) -> trommel_reader::Result<()> {
    let mut open = Vec::new();
    let mut value_due = true;
    loop {
        let event = if value_due {
            cursor.begin_value()?
        } else {
            let Some(&kind) = open.last() else { return Ok(()) };
            let more = if kind == Kind::Object { cursor.next_member()? } else { cursor.next_element()? };
            match kind {
                Kind::Object if more => Event::Name,
                _ if more => cursor.begin_value()?,
                _ => Event::End(kind),
            }
        };
        trace.push(format!("{event:?} {} {}", cursor.span(), text(cursor)));
        value_due = event == Event::Name;
        match event {
            Event::Begin(kind) => open.push(kind),
            Event::End(_) => drop(open.pop()),
            Event::Name | Event::Scalar(_) => {}
        }
    }
}

fn records(
    mut cursor: Cursor<'_>,
    mut record: impl FnMut(&mut Cursor<'_>, &mut Trace) -> trommel_reader::Result<()>,
) -> Trace {
    let mut trace = Trace::new();
    loop {
        match cursor.next_record() {
            Ok(true) => trace.push(format!("record {} at {}", cursor.record(), cursor.record_start())),
            Ok(false) => return trace,
            Err(error) => {
                trace.push(error.to_string());
                return trace;
            }
        }
        if let Err(error) = record(&mut cursor, &mut trace) {
            trace.push(error.to_string());
            if !cursor.can_recover() {
                return trace;
            }
        }
    }
}

fn record(cursor: &mut Cursor<'_>, skip: bool, trace: &mut Trace) -> trommel_reader::Result<()> {
    let mut events = 0_u32;
    while let Some(event) = cursor.advance()? {
        events += 1;
        trace.push(format!("{event:?} {} {}", cursor.span(), text(cursor)));
        if skip && event == Event::Name && events.is_multiple_of(3) {
            let span = cursor.skip_value()?;
            trace.push(format!("skipped {span}"));
        } else if skip && matches!(event, Event::Begin(Kind::Array)) && events.is_multiple_of(5) {
            cursor.leave()?;
            trace.push(format!("left at {}", cursor.offset()));
        }
    }
    Ok(())
}

fn text(cursor: &Cursor<'_>) -> String {
    match cursor.payload() {
        Payload::Name(text) | Payload::Scalar(Scalar::String(text)) => text.decode().into_owned(),
        Payload::Scalar(Scalar::Number(number)) => number.lexeme().to_owned(),
        Payload::Scalar(Scalar::Bool(value)) => value.to_string(),
        Payload::Scalar(Scalar::Null) | Payload::None => String::new(),
    }
}
