//! A cursor alone.

use trommel::reader::{
    Backend, Config, Cursor, Event, Framing, Kind, Listener, Payload, Result, Scalar, Text, Validation, View,
};

use crate::engine::{STRICT, STRUCTURAL};
use crate::{Column, Task};

pub(super) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    let strict = Config::new();
    let structural = strict.validation(Validation::Structural);
    let read = |name, read: fn(Cursor<'_>) -> Result<u64>| {
        Column::reads(name, move || read(Cursor::new(bytes, &strict)).expect("the input is valid"))
    };
    match task.name.as_str() {
        "reader/values" | "reader/pretty" => {
            vec![read(STRICT, values), read("trommel listener", values_heard), stream(bytes)]
        }
        "reader/strings" => vec![read(STRICT, text_bytes)],
        "reader/numbers" => vec![read(STRICT, positive)],
        "reader/skip" => vec![skip(STRICT, bytes, strict), skip(STRUCTURAL, bytes, structural)],
        "backends/values" => backends(|name, backend| {
            let config = strict.backend(backend);
            Column::reads(name, move || values(Cursor::new(bytes, &config)).expect("the input is valid"))
        }),
        "backends/skip" => backends(|name, backend| skip(name, bytes, strict.backend(backend))),
        "backends/structural-skip" => {
            backends(|name, backend| skip(name, bytes, structural.backend(backend)))
        }
        name => panic!("no column of the reader for {name}"),
    }
}

fn backends<'a>(column: impl Fn(&'static str, Backend) -> Column<'a>) -> Vec<Column<'a>> {
    Backend::available().map(|backend| column(backend.name(), backend)).collect()
}

fn stream(bytes: &[u8]) -> Column<'_> {
    Column::reads("trommel stream", move || {
        let cursor = Cursor::from_reader(bytes, Framing::Single, &Config::new());
        values(cursor).expect("the input is valid")
    })
}

fn skip<'a>(name: &'static str, bytes: &'a [u8], config: Config) -> Column<'a> {
    Column::reads(name, move || {
        records_skipped(Cursor::from_view(View::new(bytes), Framing::Lines, &config))
            .expect("the input is valid")
    })
}

/// Counts all values.
fn values(mut cursor: Cursor<'_>) -> Result<u64> {
    let mut values = 0;
    cursor.next_record()?;
    while let Some(event) = cursor.advance()? {
        values += u64::from(matches!(event, Event::Begin(_) | Event::Scalar(_)));
    }
    Ok(values)
}

/// Counts all values by a listener.
fn values_heard(mut cursor: Cursor<'_>) -> Result<u64> {
    let mut heard = Heard(0);
    cursor.next_record()?;
    let Some(event) = cursor.advance()? else { return Ok(0) };
    heard.receive(event, cursor.payload(), 0);
    cursor.listen(0, u64::MAX, &mut heard)?;
    Ok(heard.0)
}

/// The number of values that a listener has received.
struct Heard(u64);

impl Listener for Heard {
    fn begin(&mut self, _: Kind, _: u64) {
        self.0 += 1;
    }

    fn end(&mut self, _: Kind, _: u64) {}

    fn name(&mut self, _: Text<'_>, _: u64) {}

    fn scalar(&mut self, _: Scalar<'_>, _: u64) {
        self.0 += 1;
    }
}

/// Counts the bytes of all decoded strings and names.
fn text_bytes(mut cursor: Cursor<'_>) -> Result<u64> {
    let mut bytes = 0;
    cursor.next_record()?;
    while cursor.advance()?.is_some() {
        if let Payload::Name(text) | Payload::Scalar(Scalar::String(text)) = cursor.payload() {
            bytes += text.decode().len() as u64;
        }
    }
    Ok(bytes)
}

/// Counts the numbers above 0, parsed as doubles.
fn positive(mut cursor: Cursor<'_>) -> Result<u64> {
    let mut positive = 0;
    cursor.next_record()?;
    while cursor.advance()?.is_some() {
        if let Payload::Scalar(Scalar::Number(number)) = cursor.payload() {
            positive += u64::from(number.as_f64() > 0.0);
        }
    }
    Ok(positive)
}

/// Counts the records, and skips each of them.
fn records_skipped(mut cursor: Cursor<'_>) -> Result<u64> {
    let mut records = 0;
    while cursor.next_record()? {
        records += u64::from(!cursor.skip_value()?.is_empty());
    }
    Ok(records)
}
