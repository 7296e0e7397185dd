//! struson: a pull reader over a stream in constant memory, like trommel.

use std::hint::black_box;

use struson::json_path;
use struson::reader::{JsonReader, JsonStreamReader, ReaderSettings, ValueType};
use trommel_benches::{Column, Task};

type Reader<'a> = JsonStreamReader<&'a [u8]>;

pub(super) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    let column = |run: fn(Reader<'_>) -> u64| {
        vec![Column::reads("struson", move || run(JsonStreamReader::new_custom(bytes, settings())))]
    };
    match task.name.as_str() {
        "reader/values" | "reader/pretty" => column(|reader| walk(reader, |_| 1)),
        "reader/numbers" => {
            column(|reader| walk(reader, |value| u64::from(matches!(value, Some(value) if value > 0.0))))
        }
        "path/one" | "path/pretty" => column(ids),
        "path/length" => column(length),
        "path/last-key" => column(source),
        "facade/check" => column(|mut reader| {
            reader.skip_value().unwrap();
            reader.consume_trailing_whitespace().unwrap();
            1
        }),
        _ => Vec::new(),
    }
}

/// Without paths in errors, which cost time that trommel does not spend.
fn settings() -> ReaderSettings {
    ReaderSettings { track_path: false, ..ReaderSettings::default() }
}

fn enter_records(reader: &mut Reader<'_>) {
    reader.seek_to(&json_path!["data", "records"]).unwrap();
    reader.begin_array().unwrap();
}

fn ids(mut reader: Reader<'_>) -> u64 {
    let mut found = 0;
    enter_records(&mut reader);
    while reader.has_next().unwrap() {
        reader.begin_object().unwrap();
        while reader.has_next().unwrap() {
            if reader.next_name().unwrap() == "id" {
                found += u64::from(!black_box(reader.next_str().unwrap()).is_empty());
            } else {
                reader.skip_value().unwrap();
            }
        }
        reader.end_object().unwrap();
    }
    reader.skip_to_top_level().unwrap();
    found
}

fn length(mut reader: Reader<'_>) -> u64 {
    let mut found = 0;
    enter_records(&mut reader);
    while reader.has_next().unwrap() {
        reader.skip_value().unwrap();
        found += 1;
    }
    reader.skip_to_top_level().unwrap();
    found
}

fn source(mut reader: Reader<'_>) -> u64 {
    reader.seek_to(&json_path!["meta", "source"]).unwrap();
    let found = u64::from(!black_box(reader.next_str().unwrap()).is_empty());
    reader.skip_to_top_level().unwrap();
    found
}

/// Adds up the figure that `weigh` returns for each value. A number is passed to it as a double.
fn walk(mut reader: Reader<'_>, mut weigh: impl FnMut(Option<f64>) -> u64) -> u64 {
    let mut sum = 0;
    let mut objects = Vec::new();
    loop {
        if let Some(&in_object) = objects.last() {
            if !reader.has_next().unwrap() {
                if in_object { reader.end_object() } else { reader.end_array() }.unwrap();
                objects.pop();
                if objects.is_empty() {
                    return sum;
                }
                continue;
            }
            if in_object {
                black_box(reader.next_name().unwrap());
            }
        }
        let mut number = None;
        match reader.peek().unwrap() {
            ValueType::Array => reader.begin_array().map(|()| objects.push(false)),
            ValueType::Object => reader.begin_object().map(|()| objects.push(true)),
            ValueType::String => reader.next_str().map(look),
            ValueType::Number => reader.next_number().map(|parsed| number = Some(parsed.unwrap())),
            ValueType::Boolean => reader.next_bool().map(look),
            ValueType::Null => reader.next_null(),
        }
        .unwrap();
        sum += weigh(number);
    }
}

fn look<T>(value: T) {
    black_box(value);
}
