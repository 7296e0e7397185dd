//! Several processes at one buffer and one file.

use std::process::{Child, Command, Stdio};

use trommel_route::{Scope, WriteMode};

use crate::support::{Bench, places, put, route};

const FOLDER: &str = "TROMMEL_ROUTE_CHILDS_FOLDER";
const NUMBER: &str = "TROMMEL_ROUTE_CHILDS_NUMBER";

/// Appends of each process.
fn appends() -> usize {
    if std::env::var_os("TROMMEL_DEEP").is_some() { 1_000 } else { 60 }
}

/// A line that only this child writes, long enough for several writes now and then.
fn line(child: &str, number: usize) -> String {
    let length = if number % 10 == 3 { 300_000 } else { 40 };
    format!("{child}-{number}-{}\n", child.repeat(length))
}

/// What a child does: a part of this very test, in a process of its own.
#[test]
fn childs_work() {
    let (Some(folder), Some(child)) = (std::env::var_os(FOLDER), std::env::var_os(NUMBER)) else { return };
    let child = child.into_string().unwrap();
    let places = places(folder.as_ref());
    for number in 0..appends() {
        let line = line(&child, number);
        put(&places, &route("variable:log").scope(Scope::Session), &line).unwrap();
        put(&places, &route("file:log.txt"), &line).unwrap();
        let numbered = route("variable:numbered").scope(Scope::Session).write_mode(WriteMode::New);
        put(&places, &numbered, &line).unwrap();
        put(&places, &route("file:numbered/{today}").write_mode(WriteMode::New), &line).unwrap();
    }
}

fn child(bench: &Bench, number: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["processes::childs_work", "--exact"]).stdout(Stdio::null());
    command.env(FOLDER, bench.folder.path()).env(NUMBER, number).spawn().unwrap()
}

/// R45, R27: two processes that append to one buffer and one file lose nothing, and no line is
/// torn; two that number never take the same number.
#[test]
fn r27_two_processes_lose_nothing() {
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
    assert!(sorted(numbered) == expected, "two have taken the same number");
    let files: String = bench
        .files()
        .iter()
        .filter(|path| path.starts_with("numbered/"))
        .filter_map(|path| bench.file(path))
        .collect();
    assert!(sorted(files) == expected, "two have taken the same number");
}
