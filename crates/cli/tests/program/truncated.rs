//! A mapped file that another process truncates: one message and status 1, whatever standard error is.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::common::{Folder, trommel, wait};

/// Bytes of the file, so that several threads are in the middle of it.
const LENGTH: usize = 48 << 20;

/// Runs per case: which threads fault first differs from run to run.
const RUNS: usize = 5;

/// A large file, and the program that waits for its output to be read.
struct Case {
    file: String,
    _folder: Folder,
}

impl Case {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let line = b"{\"item\": 1234567, \"pad\": \"xxxxxxxxxxxxxxxxxxxxxxxx\"}\n";
        let file = folder.file("items.jsonl", line.repeat(LENGTH / line.len()));
        Self { file, _folder: folder }
    }

    /// Starts the program, and waits for its first bytes.
    fn start(&self, threads: &str, stderr: Stdio) -> Child {
        let mut child = trommel(["extract", &self.file, "$.item", "--threads", threads])
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 8]).unwrap();
        child
    }

    /// Truncates the file, and reads the output to its end.
    fn truncate(&self, child: &mut Child) {
        File::options().write(true).open(&self.file).unwrap().set_len(1 << 16).unwrap();
        let mut out = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut out).unwrap();
        assert!(out.len() < LENGTH / 8, "the whole file was read before it was truncated");
    }
}

/// A pipe that holds as many bytes as it can.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'.'; 4096]).is_ok() {}
    while writer.write(b".").is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

/// R22: several threads touch the missing pages at once, and nobody reads the message.
#[test]
fn r22_full_standard_error_does_not_matter() {
    for threads in ["1", "2", "8"] {
        for _ in 0..RUNS {
            let case = Case::new("truncated-deaf");
            let (reader, writer) = full_pipe();
            let mut child = case.start(threads, writer.into());
            let started = Instant::now();
            case.truncate(&mut child);
            assert_eq!(wait(&mut child), Some(1), "{threads} threads");
            assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
            drop(reader);
        }
    }
}

/// R22: the message is there once, whatever the number of threads.
#[test]
fn r22_exactly_one_thread_reports() {
    for threads in ["1", "2", "8"] {
        for _ in 0..RUNS {
            let case = Case::new("truncated");
            let mut child = case.start(threads, Stdio::piped());
            case.truncate(&mut child);
            assert_eq!(wait(&mut child), Some(1), "{threads} threads");
            let mut err = String::new();
            child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
            let end = "items.jsonl changed while it was read; run again with --no-mmap\n";
            assert!(err.starts_with("error: ") && err.ends_with(end) && err.lines().count() == 1, "{err}");
        }
    }
}

/// R22: a reader that is slow, but within a second, gets the message.
#[test]
fn r22_slow_reader_gets_the_message() {
    let case = Case::new("truncated-slow");
    let (mut reader, writer) = full_pipe();
    let mut child = case.start("8", writer.into());
    let reading = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        let mut err = String::new();
        reader.read_to_string(&mut err).map(|_| err)
    });
    case.truncate(&mut child);
    let err = reading.join().unwrap().unwrap();
    assert_eq!(wait(&mut child), Some(1));
    assert!(err.trim_start_matches('.').starts_with("error: "), "{}", err.trim_start_matches('.'));
}
