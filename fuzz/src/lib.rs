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

/// Everything a cursor says about its input. With `skip`, values of members named `skip` and elements at odd places are
/// skipped.
pub fn trace(mut cursor: Cursor<'_>, skip: bool) -> Trace {
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
        if let Err(error) = record(&mut cursor, skip, &mut trace) {
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
