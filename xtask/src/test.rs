//! `cargo xtask test`: runs the tests of the workspace, two binaries at a time.
//!
//! `cargo test` runs one binary after another, and most end with one long test while the other
//! processor waits. Here, three tests run at a time on two processors. Binaries that measure time
//! run alone, after the others.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::Verdict;
use crate::process::{cargo, output};
use crate::workspace::Workspace;

/// The binaries that take longest, in the order in which they start.
const LONGEST: [(&str, &str); 10] = [
    ("trommel-cli", "program"),
    ("trommel", "battery"),
    ("trommel-path", "matching"),
    ("trommel-session", "battery"),
    ("trommel-toolbox", "battery"),
    ("trommel-store", "trommel_store"),
    ("trommel-store", "battery"),
    ("trommel-cli", "memory"),
    ("trommel-stats", "merge"),
    ("trommel-reader", "battery"),
];

/// Binaries that measure time.
const TIMED: &str = "timed";

/// The crates of the engine, whose tests also run on the scalar backend: those of the library, and
/// these binaries. `cargo xtask deep --only backends` runs all of them on each backend.
const ENGINE: [&str; 5] = ["trommel", "trommel-path", "trommel-reader", "trommel-scan", "trommel-stats"];
const ON_SCALAR: [&str; 4] = ["hostile", "oracle", "regress", "schema"];

/// A compiled test binary.
#[derive(Clone)]
struct TestBinary {
    package: String,
    name: String,
    is_library: bool,
    path: PathBuf,
    /// The folder of its package, where it runs.
    folder: PathBuf,
    /// The backend that it is restricted to.
    backend: Option<&'static str>,
}

/// Tests that run in one process after another.
enum Job {
    Binary(TestBinary),
    /// The examples in the docs of all crates, from this root folder.
    Examples(PathBuf),
}

pub(crate) fn run(workspace: &Workspace) -> Verdict {
    let mut binaries = compiled(workspace)?;
    check_names(&binaries)?;
    let on_scalar = |binary: &TestBinary| {
        let is_named = binary.is_library || ON_SCALAR.contains(&&*binary.name);
        is_named && ENGINE.contains(&&*binary.package)
    };
    let scalar: Vec<_> = binaries.iter().filter(|binary| on_scalar(binary)).cloned().collect();
    binaries.extend(scalar.into_iter().map(|binary| TestBinary { backend: Some("scalar"), ..binary }));
    binaries.sort_by_key(|binary| {
        let key = (&*binary.package, &*binary.name);
        LONGEST.iter().position(|long| *long == key).unwrap_or(LONGEST.len())
    });
    let (timed, others): (Vec<_>, Vec<_>) = binaries.into_iter().partition(|binary| binary.name == TIMED);
    let mut jobs: VecDeque<_> = others.into_iter().map(Job::Binary).collect();
    // The second worker begins with the examples, which take long to compile, one crate at a time.
    jobs.insert(1, Job::Examples(workspace.root.clone()));
    let mut failed = run_all(jobs, &[2, 1]);
    failed.extend(run_all(timed.into_iter().map(Job::Binary).collect(), &[2]));
    if failed.is_empty() { Ok(true) } else { Err(format!("failed: {}", failed.join(", ")).into()) }
}

/// The lists above name only binaries that exist.
fn check_names(binaries: &[TestBinary]) -> Result<(), Box<dyn std::error::Error>> {
    let is_known = |package: Option<&str>, name: &str| {
        let named = |binary: &&TestBinary| binary.name == name;
        binaries.iter().filter(named).any(|binary| package.is_none_or(|package| binary.package == package))
    };
    let longest =
        LONGEST.iter().filter(|(package, name)| !is_known(Some(package), name)).map(|(_, name)| name);
    let unknown: Vec<&str> =
        longest.chain(ON_SCALAR.iter().filter(|name| !is_known(None, name))).copied().collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(format!("no such test binary: {}", unknown.join(", ")).into())
    }
}

/// Compiles the tests of the workspace.
fn compiled(workspace: &Workspace) -> Result<Vec<TestBinary>, Box<dyn std::error::Error>> {
    let mut build =
        cargo(&workspace.root, "test --workspace --no-run --message-format json-render-diagnostics");
    let messages = output(build.stderr(Stdio::inherit()))?;
    let messages = messages.lines().map(serde_json::from_str::<Value>);
    let binaries =
        messages.filter_map(|message| message.map(|message| test_binary(workspace, &message)).transpose());
    Ok(binaries.collect::<Result<_, _>>()?)
}

/// The test binary that a message of cargo reports, if it does.
fn test_binary(workspace: &Workspace, message: &Value) -> Option<TestBinary> {
    if message["profile"]["test"] != true {
        return None;
    }
    let path = message["executable"].as_str()?;
    let manifest = Path::new(message["manifest_path"].as_str()?);
    let folder = manifest.parent()?.to_owned();
    let package = workspace.packages.iter().find(|package| package.manifest_path == manifest)?;
    let package = package.name.clone();
    let target = &message["target"];
    let is_library = target["kind"] == serde_json::json!(["lib"]);
    let name = target["name"].as_str()?.to_owned();
    Some(TestBinary { package, name, is_library, path: path.into(), folder, backend: None })
}

/// Runs jobs in as many workers as there are numbers, each of which is the number of tests that a
/// binary runs at a time. Returns the names of the failed ones.
fn run_all(jobs: VecDeque<Job>, workers: &[usize]) -> Vec<String> {
    let queue = Mutex::new(jobs);
    let failed = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    std::thread::scope(|scope| {
        for threads in workers {
            scope.spawn(|| {
                while let Some(job) = next() {
                    if !passes(&job, *threads) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).push(job.shown());
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a job, and prints its output once it has ended.
fn passes(job: &Job, threads: usize) -> bool {
    let started = std::time::Instant::now();
    let (said, is_success) = match job.command(threads).output() {
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            (String::from_utf8_lossy(&said).into_owned(), output.status.success())
        }
        Err(error) => (error.to_string(), false),
    };
    let seconds = started.elapsed().as_secs();
    // One call, so that the outputs of two workers do not mix.
    println!("\n     Running {} ({seconds} s)\n{}", job.shown(), said.trim_end());
    is_success
}

impl Job {
    fn command(&self, threads: usize) -> Command {
        let binary = match self {
            Self::Examples(root) => return cargo(root, "test --quiet --workspace --doc"),
            Self::Binary(binary) => binary,
        };
        let mut command = Command::new(&binary.path);
        command.current_dir(&binary.folder).env("RUST_TEST_THREADS", threads.to_string());
        if let Some(backend) = binary.backend {
            // The division among threads does not depend on the backend.
            command.env("TROMMEL_BACKEND", backend).args(["--skip", "divided::"]);
        }
        command
    }

    fn shown(&self) -> String {
        let binary = match self {
            Self::Examples(_) => return "examples in docs".to_owned(),
            Self::Binary(binary) => binary,
        };
        let kind = if binary.is_library { " (unit tests)" } else { "" };
        let backend = binary.backend.map_or_else(String::new, |backend| format!(" on {backend}"));
        format!("{} {}{kind}{backend}", binary.package, binary.name)
    }
}
