//! The end of the program: signals, closed pipes, full disks, and exit statuses.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{self, Folder, Run, line, run, trommel, wait};
use rustix::process::{Pid, Signal, kill_process};

/// Writes a file of numbers that is too large to be processed instantly.
fn large(folder: &Folder) -> String {
    let numbers: Vec<String> = (0..400_000_u32).map(|number| format!("{{\"n\": {number}}}")).collect();
    folder.file("large.json", format!("[{}]", numbers.join(",\n")))
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// R48: a closed pipe ends the program with status 141 and without a message.
#[test]
fn r48_closed_pipe() {
    let folder = Folder::new("closed");
    let file = large(&folder);
    for args in [
        &["extract", &file, "$[*].n"][..],
        &["extract", &file, "$..*", "--json"],
        &["sample", &file, "$", "-n", "100000", "--seed", "1"],
        &["check", &file, "--input", "jsonl", "--on-bad-record", "skip"],
    ] {
        let mut child = trommel(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut first = [0; 10];
        lines.read_exact(&mut first).unwrap();
        drop(lines);
        assert_eq!(wait(&mut child), Some(141), "{args:?}");
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(!said.contains("error"), "{args:?}: {said}");
    }
}

/// R48: so does a pipe that is closed while nothing more is found.
#[test]
fn r48_closed_pipe_before_any_match() {
    let mut child = trommel(["extract", "-", "$.a"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let started = Instant::now();
    stdin.write_all(b"{\"a\": 1}\n").unwrap();
    while child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(10) {
        // The pipe breaks when the program has ended.
        if stdin.write_all(&b"{\"b\": 1}\n".repeat(1000)).is_err() {
            break;
        }
    }
    assert_eq!(wait(&mut child), Some(141));
}

/// R48: interruption and termination end the program at once, silently, and without leftovers.
/// Matches found before the signal are printed as whole lines.
#[test]
fn r48_signals() {
    for (number, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let folder = Folder::new(&format!("signal-{status}"));
        let mut child = trommel(["extract", "-", "$[*]", "$[*]"])
            .env("TMPDIR", folder.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Exceeds the memory for held values of the second query, so that a temporary file exists.
        let numbers = b"1234567,".repeat(1 << 20);
        stdin.write_all(b"[").unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let reading = thread::spawn(move || {
            let mut out = Vec::new();
            stdout.read_to_end(&mut out).map(|_| out)
        });
        for _ in 0..4 {
            stdin.write_all(&numbers).unwrap();
        }
        thread::sleep(Duration::from_millis(100));
        let started = Instant::now();
        signal(&child, number);
        assert_eq!(wait(&mut child), Some(status));
        // R31: immediately; the bound leaves room for a busy machine.
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        let out = reading.join().unwrap().unwrap();
        assert!(out.ends_with(b"1234567\n"), "a line is cut: {:?}", out.len());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
        assert_eq!(folder.entries().len(), 0);
    }
}

/// R31: scanning a file is interrupted, too.
#[test]
fn r31_interrupted_scan() {
    let folder = Folder::new("interrupted");
    let file = large(&folder);
    let mut child = trommel(["extract", &file, "$[*]"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    signal(&child, Signal::INT);
    assert_eq!(wait(&mut child), Some(130));
}

/// A full disk is an error for every command.
#[test]
fn full_disks_are_errors() {
    for args in [
        "extract users.json $..*",
        "extract users.json $..* --json",
        "count users.json $..*",
        "sample users.json $.users -n 2 --seed 1",
        "stats users.json",
        "schema users.json",
        "check damaged.jsonl --on-bad-record skip",
        "completions bash",
        "man",
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = trommel(common::words(args)).stdout(full).output().unwrap();
        let run = Run::of(output);
        assert_eq!(run.status, Some(1), "{args}: {}", run.err);
        assert!(run.err.contains("cannot write the output: No space left"), "{args}: {}", run.err);
    }
}

/// The first match of a slow pipe is printed before the input ends.
#[test]
fn matches_do_not_wait_for_the_end() {
    for (query, form, input, end) in [
        ("$[*].a", "values", "[{\"a\": 1},\n", "{\"a\": 2}]"),
        ("$.a", "values", "{\"a\": 1}\n", "{\"a\": 2}\n"),
        ("$..a", "paths", "{\"a\": 1}\n", "{\"b\": 2}\n"),
    ] {
        let mut child = trommel(["extract", "-", query, "--order", "document", "--output", form])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert_eq!(first, if form == "paths" { "$['a']\n" } else { "1\n" });
        stdin.write_all(end.as_bytes()).unwrap();
        drop(stdin);
        wait(&mut child);
    }
}

/// The status distinguishes invalid requests from failed work.
#[test]
fn statuses_distinguish_usage_from_failure() {
    for (args, status) in [
        ("", 2),
        ("--help", 0),
        ("extract --help", 0),
        ("-V", 0),
        ("--version", 0),
        ("nothing", 2),
        ("check ''", 2),
        ("put users.json", 2),
        ("extract users.json", 0),
        ("extract users.json missing.json", 1),
        ("check users.json $.a", 2),
        ("sample users.json $.a $.b -n 1", 2),
        ("extract - - $", 2),
        ("extract users.json $.a --wrong", 2),
        ("extract users.json $.", 2),
        ("extract users.json $ --flatten", 2),
        ("extract users.json $ --json --output verbatim", 2),
        ("extract users.json $ --json --default N/A", 2),
        ("count users.json $ --where @.x==", 2),
        ("count users.json $ --as lengths", 2),
        ("man nothing", 2),
        ("completions nothing", 2),
        ("extract missing.json $", 1),
        ("extract bad.json $", 1),
        ("extract users.json $.a", 0),
    ] {
        assert_eq!(line(args).status, Some(status), "{args}");
    }
    // Help that cannot be written is a failure.
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut child = Command::new(env!("CARGO_BIN_EXE_trommel")).arg("--help").stdout(writer).spawn().unwrap();
    assert_eq!(wait(&mut child), Some(141));
    assert_eq!(run(["--version"]).ok(), format!("trommel {}\n", env!("CARGO_PKG_VERSION")));
}
