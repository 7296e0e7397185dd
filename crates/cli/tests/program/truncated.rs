//! A mapped file that another process truncates: one message and status 1, regardless of standard
//! error.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::common::{Folder, trommel, wait};

/// The size of the file, so that several threads are in the middle of it.
const LENGTH: usize = 48 << 20;

/// Runs per case: which threads fault first differs from run to run.
const RUNS: usize = 3;

/// A large file that is truncated while the program reads it.
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

    fn spawn(&self, args: &[&str], threads: &str, stderr: Stdio) -> Child {
        let args = [args[0], &self.file].into_iter().chain(args[1..].iter().copied());
        let mut command = trommel(args.chain(["--threads", threads]));
        command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap()
    }

    /// Starts the program, which blocks until its output is read, and truncates the file after the
    /// first bytes.
    ///
    /// A thread reads the rest of the output: a program that does not end must fail the test.
    fn truncate_while_waiting(&self, threads: &str, stderr: Stdio) -> Child {
        let mut child = self.spawn(&["extract", "$.item"], threads, stderr);
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 8]).unwrap();
        self.truncate();
        thread::spawn(move || stdout.read_to_end(&mut Vec::new()));
        child
    }

    fn truncate(&self) {
        File::options().write(true).open(&self.file).unwrap().set_len(1 << 16).unwrap();
    }
}

/// Returns a full pipe.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'.'; 4096]).is_ok() {}
    while writer.write(b".").is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

/// R22: the message has no reader.
#[test]
fn r22_full_standard_error_does_not_matter() {
    for threads in ["1", "2", "8"] {
        for _ in 0..RUNS {
            let case = Case::new("truncated-deaf");
            let (_reader, writer) = full_pipe();
            let mut child = case.truncate_while_waiting(threads, writer.into());
            assert_eq!(wait(&mut child), Some(1), "{threads} threads");
        }
    }
}

/// R22: several threads touch the missing pages at the same time, and the message has no reader for
/// a while.
#[test]
fn r22_threads_that_fault_together_end_in_status_1() {
    let mut failed = 0;
    for threads in ["2", "8"] {
        for run in 0..2 * RUNS as u64 {
            let case = Case::new("truncated-together");
            let (mut reader, writer) = full_pipe();
            let mut child = case.spawn(&["count", "$..item"], threads, writer.into());
            thread::sleep(Duration::from_millis(20 + 5 * run));
            case.truncate();
            // If no thread faults because the scan has ended, the change is an ordinary error that
            // waits for the pipe.
            thread::spawn(move || {
                thread::sleep(Duration::from_secs(2));
                reader.read_to_end(&mut Vec::new())
            });
            let status = wait(&mut child);
            assert!(matches!(status, Some(0 | 1)), "{threads} threads: {status:?}");
            failed += u32::from(status == Some(1));
        }
    }
    assert!(failed > 3, "only {failed} runs met the change");
}

/// R22: the message appears once, for any number of threads.
#[test]
fn r22_exactly_one_thread_reports() {
    for threads in ["1", "2", "8"] {
        for _ in 0..RUNS {
            let case = Case::new("truncated");
            let mut child = case.truncate_while_waiting(threads, Stdio::piped());
            assert_eq!(wait(&mut child), Some(1), "{threads} threads");
            let mut err = String::new();
            child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
            let end = "items.jsonl changed while it was read; run again with --no-mmap\n";
            assert!(err.starts_with("error: ") && err.ends_with(end) && err.lines().count() == 1, "{err}");
        }
    }
}

/// R22: a slow reader that reads within a second gets the message.
#[test]
fn r22_slow_reader_gets_the_message() {
    let case = Case::new("truncated-slow");
    let (mut reader, writer) = full_pipe();
    let mut child = case.truncate_while_waiting("8", writer.into());
    thread::sleep(Duration::from_millis(300));
    let mut err = String::new();
    reader.read_to_string(&mut err).unwrap();
    assert_eq!(wait(&mut child), Some(1));
    let message = err.trim_start_matches('.');
    assert!(message.starts_with("error: ") && message.ends_with("--no-mmap\n"), "{message}");
}
