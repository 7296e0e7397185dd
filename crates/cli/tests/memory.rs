//! Memory: the memory for storing and querying depends on the queries, never on the length of the
//! output.
//!
//! A separate binary that holds little, because the peak of a parent process counts as that of its
//! child.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "program/common.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod common;

use std::io;
use std::process::{Command, Stdio};
use std::thread;

use crate::common::Home;
use serde_json::{Value, json};
use trommel_testkit::effort::cases;
use trommel_testkit::repeat::Repeat;
use wait4::Wait4;

const RECORD: &str = r#"{"id": 12345, "name": "a name that is some letters long", "tags": ["x", 1, null, {"k": [true]}], "ok": false}"#;

const MIB: u64 = 1 << 20;

/// The maximum resident memory of a process, without windows.
const ALLOWED: u64 = 64 * MIB;

/// The maximum memory that windows on the payload add per thread.
const WINDOWS_PER_THREAD: u64 = 2 * MIB;

/// The memory that exact statistics of values may use.
const VALUES: u64 = 64 * MIB;

/// Returns the peak resident memory of a process, mapped pages included, after it has succeeded.
fn peak(mut command: Command, input: Option<Repeat>) -> u64 {
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child = command.stdin(stdin).stdout(Stdio::null()).spawn().unwrap();
    let feeder = input.map(|mut input| {
        let mut stdin = child.stdin.take().unwrap();
        thread::spawn(move || io::copy(&mut input, &mut stdin).unwrap())
    });
    let used = child.wait4().unwrap();
    if let Some(feeder) = feeder {
        feeder.join().unwrap();
    }
    assert!(used.status.success(), "{command:?}: {}", used.status);
    used.rusage.maxrss
}

/// Returns calls of all tools that read the output `large`, with their declared memory.
fn questions(records: &str) -> Vec<(&'static str, Value, u64)> {
    let at = |rest: &str| format!("{records}{rest}");
    let counts = json!([
        {"name": "tags", "path": "$..tags"},
        {"name": "named", "path": at(""), "count_type": "nested_total", "filter": "@.name"}
    ]);
    vec![
        ("list", json!({}), 0),
        ("stats", json!({"id": "large-1", "include_schema": true}), 0),
        ("stats", json!({"id": "large-1", "include_values": true, "paths": [at(".id")]}), VALUES),
        ("extract", json!({"id": "large-1", "paths": [at(".name"), "$..tags[0]"]}), 0),
        ("extract", json!({"id": "large-1", "paths": [at("[?@.k == 1]"), "$..none"]}), 0),
        ("count", json!({"id": "large-1", "counts": counts}), 0),
        ("sample", json!({"id": "large-1", "path": at(".tags[*]"), "size": 1000}), 0),
        ("read", json!({"id": "large-1"}), 0),
    ]
}

/// Returns arguments of `extract` for the output `large`, with every form that holds a part of a
/// value or a row.
fn forms(records: &str) -> Vec<Vec<&str>> {
    vec![
        vec![records, "-o", "gron"],
        vec![records, "-o", "keys", "-r", "-0"],
        vec!["$", "--pretty", "--color", "always"],
        vec!["--each", records, "$.id", "$.tags[*]", "$.none", "-o", "csv"],
        vec!["--each", records, "$", "-o", "objects", "--pretty"],
        // One document is one row, with all of it in a cell.
        vec!["$", "all=$..tags", "-o", "csv"],
        vec!["$", "-o", "tsv", "--no-header"],
    ]
}

/// R7: storing an output, and each tool's answer about it, takes at most 64 MiB and the windows.
#[test]
fn r7_outputs_take_no_more_for_their_length() {
    let bytes = cases(24 * MIB, 1024 * MIB);
    let count = bytes / (RECORD.len() as u64 + 1);
    let threads = thread::available_parallelism().unwrap().get() as u64;
    let bound = ALLOWED + threads * WINDOWS_PER_THREAD;
    for (payload, records) in
        [(Repeat::records(RECORD, count), "$.data.records[*]"), (Repeat::lines(RECORD, count), "$")]
    {
        let home = Home::new("memory");
        let put = home.trommel(["put", "--tool", "t", "--id", "large-1"]);
        let taken = peak(put, Some(payload));
        println!("put: {} MiB of {}", taken / MIB, bound / MIB);
        assert!(taken <= bound, "put: {} MiB", taken / MIB);
        for (tool, arguments, budget) in questions(records) {
            let call = home.trommel(["call", &format!("tool_outputs.{tool}"), &arguments.to_string()]);
            let taken = peak(call, None);
            println!("{tool} {arguments}: {} MiB of {}", taken / MIB, (bound + budget) / MIB);
            assert!(taken <= bound + budget, "{tool} {arguments}: {} MiB", taken / MIB);
        }
        for form in forms(records) {
            let extract = home.trommel(["extract", "output:large-1", "-q"].iter().chain(&form));
            let taken = peak(extract, None);
            println!("extract {form:?}: {} MiB of {}", taken / MIB, bound / MIB);
            assert!(taken <= bound, "extract {form:?}: {} MiB", taken / MIB);
        }
    }
}

/// R7: routing a content of any length on one line, and searching, reading, and exporting its
/// buffer, takes at most 64 MiB.
#[test]
fn r7_contents_are_routed_in_bounded_memory() {
    let home = Home::new("routes-memory");
    let count = cases(48 * MIB, 1024 * MIB) / (RECORD.len() as u64 + 1);
    let file = home.folder().path("long.txt");
    // Some characters have two bytes, so that offsets must be found by counting.
    let record = RECORD.replace("a name", "ä name");
    io::copy(&mut Repeat::records(&record, count), &mut std::fs::File::create(&file).unwrap()).unwrap();
    let document = "## All\n\
        @input file: long.txt (output=file:copy.txt)\n\
        @input file: copy.txt (output=variable:v, scope=session)\n\
        @input variable: v (output=file:again.txt)\n\
        @input file: again.txt (output=variable:run)\n\
        @input variable: run (output=variable:v, scope=session)\n\
        @input variable: run (output=discard)\n\
        @input variable: run (head=10)\n\
        @model none\n";
    let document = home.folder().file("day.md", document);
    let root = home.folder().path("");
    let commands = [
        vec!["run", &document],
        vec!["buffers", "list"],
        vec!["buffers", "info", "v"],
        vec!["buffers", "search", "v", "no such text [0-9]+x"],
        vec!["buffers", "search", "v", "ä name", "--context", "2"],
        vec!["buffers", "peek", "v", "--offset", "30000000"],
        vec!["buffers", "read", "v", "--offset", "40000000", "--length", "8000"],
        vec!["buffers", "export", "v", "exported.txt", "--root", root.to_str().unwrap()],
    ];
    for args in commands {
        let taken = peak(home.trommel(&args), None);
        println!("{args:?}: {} MiB of {}", taken / MIB, ALLOWED / MIB);
        assert!(taken <= ALLOWED, "{args:?}: {} MiB", taken / MIB);
    }
    let long = |name: &str| std::fs::metadata(home.folder().path(name)).unwrap().len();
    assert_eq!(long("copy.txt"), long("long.txt") + 1);
    assert_eq!(long("exported.txt"), 2 * long("copy.txt"));
    assert_eq!(long("again.txt"), long("copy.txt"));
}
