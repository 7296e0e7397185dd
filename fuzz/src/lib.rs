//! What the fuzz targets share: the trace of a cursor and the answers of a matcher, to be compared.

pub mod matching;

use trommel_reader::{Cursor, Event, Framing, Kind, Payload, Scalar};

/// An event, its text and its place; or the error that ended the reading.
pub type Trace = Vec<String>;

/// The framing that a byte stands for.
pub fn framing(byte: u8) -> Framing {
    match byte % 5 {
        0 => Framing::Single,
        1 => Framing::Lines,
        2 => Framing::Concatenated,
        3 => Framing::JsonSeq,
        _ => Framing::Auto,
    }
}

/// Everything a cursor says about its input. With `skip`, some values are skipped and some
/// containers left.
pub fn trace(cursor: Cursor<'_>, skip: bool) -> Trace {
    records(cursor, |cursor, trace| record(cursor, skip, trace))
}

/// The same without skips by moves from token to token, so that nothing is read ahead.
pub fn tokens(cursor: Cursor<'_>) -> Trace {
    records(cursor, one_by_one)
}

/// Where each record's value ends, and what is wrong with it, by skipping it.
pub fn skips(cursor: Cursor<'_>) -> Trace {
    records(cursor, |cursor, trace| {
        cursor.skip_value()?;
        trace.push(format!("value ends at {}", cursor.offset()));
        cursor.advance().map(drop)
    })
}

/// The same by moves from token to token.
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
