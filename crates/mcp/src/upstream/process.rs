//! The process of a server: started with a clean environment, ended with its children.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Variables of this process that a server gets besides those of its configuration.
const INHERITED: [&str; 3] = ["PATH", "HOME", "LANG"];

/// The size of the pipe from a server, which Linux permits to all users.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// How long a server may take to end once its input is closed.
const CLOSED: Duration = Duration::from_millis(700);

/// How long it may take to end once it was asked to by a signal.
const TERMINATED: Duration = Duration::from_millis(1_500);

/// The interval in which its end is looked for.
const POLL: Duration = Duration::from_millis(10);

/// The command of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerCommand {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) dir: Option<PathBuf>,
}

/// A running process. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Process {
    child: Mutex<Child>,
}

/// The streams of a process.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) errors: ChildStderr,
}

impl ServerCommand {
    /// Starts the process, in a group of its own, so that signals of the terminal do not reach it
    /// and its children end with it.
    pub(super) fn start(&self) -> io::Result<(Process, Streams)> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear();
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(&self.env).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Process { child: Mutex::new(child) };
        match streams {
            (Some(input), Some(output), Some(errors)) => {
                enlarge(&output);
                Ok((process, Streams { input, output, errors }))
            }
            _ => Err(io::Error::other("a stream of the server is missing")),
        }
    }
}

/// Enlarges a pipe, so that long results need fewer switches between the processes.
#[cfg(target_os = "linux")]
fn enlarge(pipe: &ChildStdout) {
    // Beyond the limit of an unprivileged user, it stays as it is.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
}

#[cfg(not(target_os = "linux"))]
fn enlarge(_: &ChildStdout) {}

impl Process {
    /// The status of a process that has ended.
    pub(super) fn status(&self) -> Option<String> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.try_wait().ok().flatten().map(|status| status.to_string())
    }

    /// Ends the process, whose input is closed: waits, then sends signals to its group. Returns
    /// once it has ended.
    pub(super) fn end(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if !has_ended(&mut child, CLOSED) {
            signal(&child, Signal::Terminate);
            if !has_ended(&mut child, TERMINATED) {
                signal(&child, Signal::Kill);
                let _ = child.wait();
            }
        }
        // Children that outlive it would keep its streams open.
        signal(&child, Signal::Kill);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn has_ended(child: &mut Child, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
            Ok(None) => return false,
            Ok(Some(_)) | Err(_) => return true,
        }
    }
}

#[derive(Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

/// Sends a signal to the group of a process. Fails only if all of them have ended.
#[cfg(unix)]
fn signal(child: &Child, signal: Signal) {
    let signal = match signal {
        Signal::Terminate => rustix::process::Signal::TERM,
        Signal::Kill => rustix::process::Signal::KILL,
    };
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

#[cfg(not(unix))]
fn signal(_: &Child, _: Signal) {}
