//! The same queries on the documents of the conformance suites, if these are available. Each
//! document is repeated as the elements of one array.
//!
//! Their answers are not recorded. An answer is correct if it equals that of `serde_json`.

use criterion::Criterion;
use trommel_benches::{BYTES, Column, Input, Run, Task};
use trommel_testkit::conformance;

use super::{compare, peers};

/// The minimum size. Shorter documents mostly measure the start and the end of a run.
const LEAST: usize = 500_000;

/// The tasks for any document: the name of a task that peers implement too, its query if any, and
/// true if matches are only counted.
const QUESTIONS: [(&str, Option<&str>, bool); 6] = [
    ("reader/values", None, false),
    ("stats/types", None, false),
    ("facade/check", None, false),
    ("path/elements", Some("$[*]"), true),
    ("path/nested", Some("$[*].*"), false),
    ("path/ids", Some("$..id"), false),
];

pub(crate) fn bench(criterion: &mut Criterion) {
    let Some(root) = conformance::root() else { return };
    let large = conformance::documents(&root).into_iter().filter(|document| document.bytes.len() >= LEAST);
    for document in large {
        let bytes = repeated(&document.bytes);
        for (name, query, count) in QUESTIONS {
            let task = task(name, query, count, &bytes);
            compare(criterion, &format!("documents/{}/{}", document.name, task.name), &task, &bytes);
        }
    }
}

/// Returns an array that repeats a document until it is as large as the other inputs.
fn repeated(document: &[u8]) -> Vec<u8> {
    let times = (BYTES as usize).div_ceil(document.len());
    let mut bytes = vec![b'['];
    bytes.extend_from_slice(&vec![document; times].join(&b','));
    bytes.push(b']');
    bytes
}

fn task(name: &str, query: Option<&str>, count: bool, bytes: &[u8]) -> Task {
    let queries = query.map(str::to_owned).into_iter().collect();
    let mut task = Task {
        name: name.to_owned(),
        input: Input::Document,
        queries,
        count,
        jq: None,
        peak: false,
        answer: 0,
    };
    task.answer = by_serde(&task, bytes);
    task
}

fn by_serde(task: &Task, bytes: &[u8]) -> u64 {
    let columns = peers::columns(task, bytes);
    let column = columns.into_iter().find(|column| column.name.starts_with("serde_json"));
    match column {
        Some(Column { run: Run::Reads(mut run), .. }) => run(),
        _ => panic!("serde_json has no column for {}", task.name),
    }
}
