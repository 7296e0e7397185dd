//! Spans without decoding: `serde_json`'s `RawValue`, and sonic-rs's lazy values in their checked
//! form (the unchecked calls are faster, and `unsafe`).

use std::hint::black_box;

use serde::Deserialize;
use serde_json::value::RawValue;
use sonic_rs::{LazyValue, PointerTree, pointer};
use trommel_benches::{Column, Task};

pub(super) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    let lazy = |run: fn(&[u8]) -> u64| vec![Column::reads("sonic-rs lazy", move || run(bytes))];
    match task.name.as_str() {
        "path/one" | "path/pretty" => {
            lazy(|bytes| records(bytes).map(|record| id(record.as_raw_str())).sum())
        }
        "path/five" => lazy(five),
        "path/length" => lazy(|bytes| records(bytes).count() as u64),
        "path/last" => lazy(|bytes| records(bytes).last().map_or(0, |record| id(record.as_raw_str()))),
        "path/first" => {
            lazy(|bytes| id(sonic_rs::get(bytes, pointer!["data", "records", 0]).unwrap().as_raw_str()))
        }
        "path/last-key" => lazy(|bytes| {
            let source = sonic_rs::get(bytes, pointer!["meta", "source"]).unwrap();
            u64::from(!black_box(source).as_raw_str().is_empty())
        }),
        "lines/extract" => lazy(|bytes| super::lines(bytes).map(id).sum()),
        "lines/count" => vec![
            Column::reads("serde_json raw", move || {
                let lines = serde_json::Deserializer::from_slice(bytes).into_iter::<&RawValue>();
                lines.map(|line| u64::from(!black_box(line.unwrap()).get().is_empty())).sum()
            }),
            Column::reads("sonic-rs lazy", move || {
                let value = |line| sonic_rs::from_slice::<LazyValue<'_>>(line).unwrap();
                super::lines(bytes)
                    .map(|line| u64::from(!black_box(value(line)).as_raw_str().is_empty()))
                    .sum()
            }),
        ],
        "facade/sample" => vec![
            Column::reads("serde_json raw", move || {
                let document: Document<'_> = serde_json::from_slice(bytes).unwrap();
                some(&document.data.records)
            }),
            Column::reads("sonic-rs lazy", move || some(&records(bytes).collect::<Vec<_>>())),
        ],
        _ => Vec::new(),
    }
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow)]
    records: Vec<&'a RawValue>,
}

fn records(bytes: &[u8]) -> impl Iterator<Item = LazyValue<'_>> {
    let records = sonic_rs::get_from_slice(bytes, pointer!["data", "records"]).unwrap();
    records.into_array_iter().unwrap().map(Result::unwrap)
}

fn id<'a>(record: impl sonic_rs::JsonInput<'a>) -> u64 {
    u64::from(!black_box(sonic_rs::get(record, pointer!["id"]).unwrap()).as_raw_str().is_empty())
}

fn five(bytes: &[u8]) -> u64 {
    let mut paths = PointerTree::new();
    paths.add_path(&pointer!["id"]);
    paths.add_path(&pointer!["type"]);
    paths.add_path(&pointer!["actor", "login"]);
    paths.add_path(&pointer!["repo", "name"]);
    paths.add_path(&pointer!["created_at"]);
    let found = |record: LazyValue<'_>| {
        let values = sonic_rs::get_many(record.as_raw_str(), &paths).unwrap();
        black_box(&values).iter().flatten().count() as u64
    };
    records(bytes).map(found).sum()
}

/// Selects a hundred values at equal distances.
fn some<T>(records: &[T]) -> u64 {
    let chosen: Vec<&T> = (0..100).map(|at| &records[at * records.len() / 100]).collect();
    black_box(&chosen).len() as u64
}
