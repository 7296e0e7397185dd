//! Several processes that write to one buffer and one file.

use std::process::{Child, Command, Stdio};

use trommel_route::{Scope, WriteMode};

use crate::support::{Bench, destinations, put, route};

const FOLDER: &str = "TROMMEL_ROUTE_CHILDS_FOLDER";
const NUMBER: &str = "TROMMEL_ROUTE_CHILDS_NUMBER";

/// Number of appends per process.
fn appends() -> usize {
    if std::env::var_os("TROMMEL_DEEP").is_some() { 1_000 } else { 60 }
}

/// A line that only this child writes. Some are long enough for several writes.
fn line(child: &str, number: usize) -> String {
    let length = if number % 10 == 3 { 300_000 } else { 40 };
    format!("{child}-{number}-{}\n", child.repeat(length))
}

/// The work of a child process, which runs this test alone.
#[test]
fn childs_work() {
    let (Some(folder), Some(child)) = (std::env::var_os(FOLDER), std::env::var_os(NUMBER)) else { return };
    let child = child.into_string().unwrap();
    let destinations = destinations(folder.as_ref());
    for number in 0..appends() {
        let line = line(&child, number);
        put(&destinations, &route("variable:log").scope(Scope::Session), &line).unwrap();
        put(&destinations, &route("file:log.txt"), &line).unwrap();
        let numbered = route("variable:numbered").scope(Scope::Session).write_mode(WriteMode::New);
        put(&destinations, &numbered, &line).unwrap();
        put(&destinations, &route("file:numbered/{today}").write_mode(WriteMode::New), &line).unwrap();
    }
}

fn child(bench: &Bench, number: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["processes::childs_work", "--exact"]).stdout(Stdio::null());
    command.env(FOLDER, bench.folder.path()).env(NUMBER, number).spawn().unwrap()
}

/// R45, R27: two processes append to one buffer and one file. No line is lost or incomplete, and no
/// number is assigned twice.
#[test]
fn r27_concurrent_processes_lose_nothing() {
    let bench = Bench::new();
    let mut children = [child(&bench, "1"), child(&bench, "2")];
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let mut expected: Vec<String> =
        ["1", "2"].iter().flat_map(|child| (0..appends()).map(|number| line(child, number))).collect();
    expected.sort();
    let sorted = |text: String| {
        let mut lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert!(sorted(bench.variable("log").unwrap()) == expected, "the buffer has lost or torn lines");
    assert!(sorted(bench.file("log.txt").unwrap()) == expected, "the file has lost or torn lines");
    let numbers = 0..expected.len();
    let numbered: String =
        numbers.filter_map(|number| bench.variable(&format!("numbered_{number:03}"))).collect();
    assert!(sorted(numbered) == expected, "a number was assigned twice");
    let files: String = bench
        .files()
        .iter()
        .filter(|path| path.starts_with("numbered/"))
        .filter_map(|path| bench.file(path))
        .collect();
    assert!(sorted(files) == expected, "a number was assigned twice");
}
