//! The peak resident memory of one run of the program.
//!
//! The figure is `ru_maxrss` of `wait4`. The kernel maintains it for each process, including mapped
//! file pages, and returns it when the process ends, even after a short run. Polling
//! `/proc/PID/status` could miss the peak of a run that ends between two reads. The only distortion
//! is a minimum: a started process inherits the peak of its parent. So this program keeps its own
//! memory small, and streams files instead of loading them.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use wait4::Wait4;

/// The kind of input that the program gets.
#[derive(Clone, Copy)]
pub(super) enum Feed {
    Mapped,
    Windows,
    Pipe,
}

pub(super) struct Peak {
    pub(super) bytes: u64,
    pub(super) time: Duration,
    /// The reason for a failed run.
    pub(super) failure: Option<String>,
}

impl Feed {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mapped => "map",
            Self::Windows => "windows",
            Self::Pipe => "pipe",
        }
    }

    /// Runs the program with these arguments on this file. Discards its standard output, and shows
    /// its standard error.
    pub(super) fn measure(self, program: &Path, arguments: &str, file: &Path) -> io::Result<Peak> {
        let mut command = self.command(program, arguments, file);
        let started = Instant::now();
        let mut child = command.stdout(Stdio::null()).spawn()?;
        let feeder = child.stdin.take().map(|stdin| {
            let file = file.to_owned();
            thread::spawn(move || feed(&file, stdin))
        });
        let used = child.wait4()?;
        let time = started.elapsed();
        let fed = feeder.map_or(Ok(()), |feeder| {
            feeder.join().unwrap_or_else(|_| Err(io::Error::other("the thread that feeds the pipe panicked")))
        });
        let ended = (!used.status.success()).then(|| used.status.to_string());
        let failure = ended.or_else(|| fed.err().map(|error| format!("the pipe: {error}")));
        Ok(Peak { bytes: used.rusage.maxrss, time, failure })
    }

    fn command(self, program: &Path, arguments: &str, file: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("TROMMEL_GUIDE", "off");
        for argument in arguments.split(' ') {
            match (argument, self) {
                ("FILE", Self::Pipe) => command.arg("-"),
                ("FILE", _) => command.arg(file),
                _ => command.arg(argument),
            };
        }
        match self {
            Self::Mapped => command.stdin(Stdio::null()),
            Self::Windows => command.arg("--no-mmap").stdin(Stdio::null()),
            // A pipe has no file name from which the framing follows.
            Self::Pipe => command.args(["--input", framing(file)]).stdin(Stdio::piped()),
        };
        command
    }
}

fn framing(file: &Path) -> &'static str {
    if file.extension().is_some_and(|extension| extension == "jsonl") { "jsonl" } else { "json" }
}

/// Copies a file into a pipe, inside the kernel if possible. A reader that stops early is not an
/// error.
fn feed(file: &Path, mut stdin: ChildStdin) -> io::Result<()> {
    match io::copy(&mut File::open(file)?, &mut stdin) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_the_peak_of_the_process_itself() {
        // `tail` holds the bytes that it may print. The shell's figure includes its children.
        let greedy = "-c head${IFS}-c60000000${IFS}/dev/zero|tail${IFS}-c60000000 FILE";
        let modest = Feed::Mapped.measure(Path::new("/bin/sh"), "-c true FILE", Path::new("x")).unwrap();
        let greedy = Feed::Mapped.measure(Path::new("/bin/sh"), greedy, Path::new("x")).unwrap();
        assert!(modest.bytes > 0 && modest.bytes < 60_000_000, "{}", modest.bytes);
        assert!(greedy.bytes > 60_000_000 && greedy.bytes < 120_000_000, "{}", greedy.bytes);
    }

    #[test]
    fn feeds_a_pipe_and_reports_a_failure() {
        let file = std::env::temp_dir().join(format!("xtask-rss-{}", std::process::id()));
        std::fs::write(&file, vec![b'x'; 100_000]).unwrap();
        let sum = Feed::Pipe.measure(Path::new("/bin/sh"), "-c wc FILE", &file).unwrap();
        let bad = Feed::Mapped.measure(Path::new("/bin/sh"), "-c false FILE", &file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(sum.failure.is_none(), "{:?}", sum.failure);
        assert!(sum.bytes > 0);
        assert!(bad.failure.is_some());
    }
}
