//! Runs the program and compares its output with the expected one.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// The folder of the test documents.
pub(crate) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cli").canonicalize().unwrap()
}

/// The program in the folder of the test documents, with a clean environment and an empty store.
pub(crate) fn trommel<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trommel"));
    command.args(args).current_dir(data()).stdin(Stdio::null());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "CI", "COLUMNS", "TROMMEL_LOG"] {
        command.env_remove(variable);
    }
    for variable in ["AMPLIFIER_HOME", "CLAUDE_CONFIG_DIR"] {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm-256color").env("TZ", "UTC");
    command.env("TROMMEL_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing-stored"));
    command
}

/// The result of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            status: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Returns standard output. Fails unless the status is 0 and standard error is empty.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!((self.status, self.err.as_str()), (Some(0), ""), "{self:?}");
        self.out
    }

    /// Returns standard output as JSON. Fails like [`ok`](Self::ok).
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let out = self.ok();
        assert!(out.ends_with('\n') && out.lines().count() == 1, "not one line: {out}");
        serde_json::from_str(&out).unwrap()
    }

    /// Returns standard error. Fails unless the run has this status and printed nothing.
    #[track_caller]
    pub(crate) fn failed(self, status: i32) -> String {
        assert_eq!((self.status, self.out.as_str()), (Some(status), ""), "{self:?}");
        self.err
    }
}

/// Runs the program.
pub(crate) fn run<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Run {
    Run::of(trommel(args).output().unwrap())
}

/// Runs the program with the words of a line, which may be quoted with `'`.
pub(crate) fn line(line: &str) -> Run {
    run(words(line))
}

/// Splits a line into words.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut any) = (String::new(), false, false);
    for c in line.chars().chain([' ']) {
        match c {
            '\'' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => word.push(c),
        }
    }
    words
}

/// Runs the program with standard input from a pipe.
pub(crate) fn piped<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>, input: &[u8]) -> Run {
    fed(trommel(args), input)
}

/// Runs a command with standard input from a pipe.
pub(crate) fn fed(mut command: Command, input: &[u8]) -> Run {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = thread::spawn(move || {
        // The program closes the pipe when it needs no more input.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run::of(output)
}

/// Waits for a child for at most ten seconds, and returns its exit status.
pub(crate) fn wait(child: &mut Child) -> Option<i32> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if started.elapsed() > Duration::from_secs(10) {
            child.kill().unwrap();
            panic!("the program does not end");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// A temporary folder, removed when dropped.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{name}-{}-{number}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn entries(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A temporary home with a store.
#[derive(Debug)]
pub(crate) struct Home(Folder);

impl Home {
    pub(crate) fn new(name: &str) -> Self {
        Self(Folder::new(&format!("home-{name}")))
    }

    /// The folder for files, beside the store.
    pub(crate) fn folder(&self) -> &Folder {
        &self.0
    }

    /// The folder `TROMMEL_HOME`, which the program creates.
    pub(crate) fn path(&self) -> PathBuf {
        self.0.path("home")
    }

    /// Returns the program with this home.
    pub(crate) fn trommel<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = trommel(args);
        command.env("TROMMEL_HOME", self.path());
        command
    }

    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Run {
        Run::of(self.trommel(args).output().unwrap())
    }

    pub(crate) fn line(&self, line: &str) -> Run {
        self.run(words(line))
    }

    pub(crate) fn fed<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>, input: &[u8]) -> Run {
        fed(self.trommel(args), input)
    }

    /// Stores a payload under an ID.
    #[track_caller]
    pub(crate) fn put(&self, id: &str, payload: impl AsRef<[u8]>) {
        let stored = self.fed(["put", "--tool", "web.fetch", "--id", id], payload.as_ref());
        assert_eq!(stored.ok(), format!("{id}\n"));
    }

    /// Calls a tool of stored outputs.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Run {
        self.run(["call", &format!("tool_outputs.{tool}"), &arguments.to_string()])
    }

    /// Lists all files of the store.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.path()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    }

    /// Lists the leftovers of writers.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        let pending = fs::read_dir(self.path().join("outputs/pending")).into_iter().flatten();
        pending.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Compares a text with a snapshot in `tests/snapshots`. With `UPDATE_SNAPSHOTS` set, writes the
/// snapshot instead.
#[track_caller]
pub(crate) fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    trommel_testkit::golden::assert_golden(path, text);
}

/// Compresses bytes with gzip as one member.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    flate2::bufread::GzEncoder::new(bytes, flate2::Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

/// Compresses bytes with zstd as one frame.
pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// Reads a file to its end.
pub(crate) fn read(path: impl AsRef<Path>) -> Vec<u8> {
    let mut bytes = Vec::new();
    File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}
