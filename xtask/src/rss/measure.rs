//! The peak resident memory of one run of the program.
//!
//! The figure is `ru_maxrss` of `wait4`, which the kernel keeps for each process, mapped file pages
//! included, and hands over when the process has ended, however short it ran. A poll of
//! `/proc/PID/status` could miss the peak of a run that ends between two looks. The one distortion
//! is a floor: a started process inherits the peak of the starter's memory, so this program keeps
//! its own small and hands files on without holding them.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use wait4::Wait4;

/// How the input reaches the program.
#[derive(Clone, Copy)]
pub(super) enum Feed {
    Mapped,
    Windows,
    Pipe,
}

pub(super) struct Peak {
    pub(super) bytes: u64,
    pub(super) time: Duration,
    /// Why the run does not count, when it ended badly.
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

    /// Runs the program with these arguments on this file; what it prints is dropped, what it
    /// complains is shown.
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
            feeder.join().unwrap_or_else(|_| Err(io::Error::other("the thread that fed the pipe broke")))
        });
        let ended = (!used.status.success()).then(|| used.status.to_string());
        let failure = ended.or_else(|| fed.err().map(|error| format!("the pipe: {error}")));
        Ok(Peak { bytes: used.rusage.maxrss, time, failure })
    }

    fn command(self, program: &Path, arguments: &str, file: &Path) -> Command {
        let mut command = Command::new(program);
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
            // The framing that the file's name tells otherwise.
            Self::Pipe => command.args(["--input", framing(file)]).stdin(Stdio::piped()),
        };
        command
    }
}

fn framing(file: &Path) -> &'static str {
    if file.extension().is_some_and(|extension| extension == "jsonl") { "jsonl" } else { "json" }
}

/// Pours a file into a pipe, inside the kernel where it can; a reader that had enough is no error.
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
    fn the_peak_is_the_process_s_own() {
        // `tail` keeps what it may have to print; the shell's figure covers its children.
        let greedy = "-c head${IFS}-c60000000${IFS}/dev/zero|tail${IFS}-c60000000 FILE";
        let modest = Feed::Mapped.measure(Path::new("/bin/sh"), "-c true FILE", Path::new("x")).unwrap();
        let greedy = Feed::Mapped.measure(Path::new("/bin/sh"), greedy, Path::new("x")).unwrap();
        assert!(modest.bytes > 0 && modest.bytes < 60_000_000, "{}", modest.bytes);
        assert!(greedy.bytes > 60_000_000 && greedy.bytes < 120_000_000, "{}", greedy.bytes);
    }

    #[test]
    fn a_pipe_is_fed_and_a_bad_end_is_told() {
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
