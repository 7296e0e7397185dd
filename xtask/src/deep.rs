//! `cargo xtask deep`: checks that take too long for every change, step by step.
//!
//! A failed step does not stop the others. At the end, a table lists all steps with their times. A
//! step that cannot run here, because a tool or a processor feature is missing, is listed with the
//! reason, and does not count as passed.

mod cloud;
mod workflows;

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::process::{cargo, is_installed, must_run, output, release_tests};
use crate::workspace::{Package, Workspace};
use crate::{Verdict, browser, capi, coverage, instructions, mcp, python, rss};

/// The target platform of sanitizer builds. Naming it keeps build scripts and macros
/// uninstrumented.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// The crates whose answers could depend on the backend.
const READING: &str =
    "-p trommel-scan -p trommel-reader -p trommel-path -p trommel-stats -p trommel -p trommel-cli";

/// The fuzz targets that compare two implementations. They run for the full time, the others for a
/// fifth.
const COMPARING: &[&str] = &[
    "guide",
    "match_vs_oracle",
    "mcp_message",
    "path_trails",
    "reader_backends",
    "reader_chunks",
    "strict_groups",
];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Skip this step (repeatable)
    #[arg(long, value_name = "STEP", conflicts_with = "only")]
    skip: Vec<Step>,
    /// Run only this step (repeatable)
    #[arg(long, value_name = "STEP")]
    only: Vec<Step>,
    /// Minutes for each comparing fuzz target; the others get a fifth
    #[arg(long, value_name = "X", default_value_t = 10.0)]
    fuzz_minutes: f64,
    #[command(flatten)]
    rss: rss::Options,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Clippy with every combination of features of every published library, and tests of tables
    Features,
    /// All tests in release mode with debug assertions, at full size (`TROMMEL_DEEP=1`), and each
    /// benchmark once
    Tests,
    /// Licenses, sources, and versions of dependencies, with `cargo deny`
    Licenses,
    /// Cloud storages with every feature, against emulators
    Cloud,
    /// Clients, servers, and the conformance suite of others: `cargo xtask mcp`
    Mcp,
    /// Pages in a browser: `cargo xtask browser`
    Browser,
    /// The Python package, and the programs that read its tables: `cargo xtask python`
    Python,
    /// The Python package in Spark, with two executors: `cargo xtask spark`
    Spark,
    /// The C library, and programs that use it: `cargo xtask c`
    C,
    /// The README's first command, in a release build
    Readme,
    /// The tests of the engine under each backend
    Backends,
    /// The tests of the unsafe code's users under `AddressSanitizer`
    Asan,
    /// The unit tests of scan and reader under valgrind
    Valgrind,
    /// The answers of `jsonpath_lib` beside trommel's, in a workspace of their own
    Dialect,
    /// Instructions per byte of the core loops: `cargo xtask instructions`
    Instructions,
    /// Lines that the tests run: `cargo xtask coverage`
    Coverage,
    /// Every fuzz target
    Fuzz,
    /// `cargo package` for every published crate
    Package,
    /// The workflows of GitHub Actions, with `actionlint`
    Workflows,
    /// The archive of a release: size, time of a cold build, contents
    Archive,
    /// Peak memory on large files: `cargo xtask rss`
    Rss,
}

enum Outcome {
    Passed,
    Failed(String),
    NotRun(String),
}

type Ran = Result<Outcome, Box<dyn Error>>;

pub(crate) fn run(workspace: &Workspace, options: &Options) -> bool {
    let chosen = Step::value_variants().iter().filter(|step| match options.only.as_slice() {
        [] => !options.skip.contains(step),
        only => only.contains(step),
    });
    let mut rows = Vec::new();
    for step in chosen {
        eprintln!("\n== {}", step.name());
        let started = Instant::now();
        let outcome = step.run(workspace, options).unwrap_or_else(|error| Outcome::Failed(error.to_string()));
        rows.push((step.name(), outcome, started.elapsed()));
    }
    println!("\nstep         time      result");
    for (name, outcome, time) in &rows {
        println!("{name:<12} {:<9} {outcome}", minutes(*time));
    }
    !rows.iter().any(|(_, outcome, _)| matches!(outcome, Outcome::Failed(_)))
}

impl Step {
    #[expect(clippy::expect_used, reason = "no step is hidden from the command line")]
    fn name(self) -> String {
        self.to_possible_value().expect("no step is hidden").get_name().to_owned()
    }

    fn run(self, workspace: &Workspace, options: &Options) -> Ran {
        match self {
            Self::Features => features(workspace),
            Self::Tests => tests(workspace),
            Self::Licenses => licenses(workspace),
            Self::Cloud => cloud::run(workspace),
            Self::Mcp => Ok(by_others(mcp::run(workspace))),
            Self::Browser => Ok(by_others(browser::deep(workspace))),
            Self::Python => Ok(by_others(python::deep(workspace))),
            Self::Spark => Ok(by_others(python::spark(workspace))),
            Self::C => Ok(by_others(capi::run(workspace))),
            Self::Readme => readme(workspace),
            Self::Backends => backends(workspace),
            Self::Asan => asan(workspace),
            Self::Valgrind => valgrind(workspace),
            Self::Dialect => dialect(workspace),
            Self::Instructions => counts(workspace),
            Self::Coverage => coverage(workspace),
            Self::Fuzz => fuzz(workspace, options.fuzz_minutes),
            Self::Package => package(workspace),
            Self::Workflows => workflows::run(workspace),
            Self::Archive => archive(workspace),
            Self::Rss => memory(workspace, &options.rss),
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed(reason) => write!(f, "FAILED: {reason}"),
            Self::NotRun(reason) => write!(f, "NOT RUN: {reason}"),
        }
    }
}

fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn features(workspace: &Workspace) -> Ran {
    let is_library = |package: &&Package| {
        package.is_published()
            && package.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "lib"))
    };
    for package in workspace.packages.iter().filter(is_library) {
        for features in powerset(package) {
            let arguments = format!(
                "clippy --quiet -p {} --lib --no-default-features --features={} -- -D warnings",
                package.name,
                features.join(",")
            );
            must_run(&mut cargo(&workspace.root, &arguments))?;
        }
    }
    // The features of the program that neither its default nor another step tests.
    let tests =
        "-p trommel-cli --features table,explore --test program -- tables:: explore:: help:: examples::";
    must_run(&mut release_tests(&workspace.root, tests))?;
    Ok(Outcome::Passed)
}

/// Returns every set of a package's features, the empty set first. Omits `default`, which is such a
/// set.
fn powerset(package: &Package) -> Vec<Vec<&str>> {
    let mut sets = vec![Vec::new()];
    for feature in package.features.keys().filter(|feature| *feature != "default") {
        let larger = sets.iter().cloned().map(|mut set| {
            set.push(feature.as_str());
            set
        });
        sets.extend(larger.collect::<Vec<_>>());
    }
    sets
}

fn tests(workspace: &Workspace) -> Ran {
    must_run(release_tests(&workspace.root, "--workspace --no-fail-fast").env("TROMMEL_DEEP", "1"))?;
    // Built like a test, a benchmark runs each of its cases once and checks the answer.
    must_run(&mut release_tests(&workspace.root, "--workspace --bench *"))?;
    Ok(Outcome::Passed)
}

/// The outcome of a chore that needs programs of others, where they can be installed.
fn by_others(verdict: Verdict) -> Outcome {
    match verdict {
        Ok(true) => Outcome::Passed,
        Ok(false) => Outcome::Failed("see above".to_owned()),
        Err(error) => match error.to_string().strip_prefix("NOT RUN: ") {
            Some(reason) => Outcome::NotRun(reason.to_owned()),
            None => Outcome::Failed(error.to_string()),
        },
    }
}

/// Runs the README's first command, whose input any Rust installation can produce.
fn readme(workspace: &Workspace) -> Ran {
    let mut metadata =
        cargo(&workspace.root, "metadata --format-version 1").stdout(Stdio::piped()).spawn()?;
    let mut stats = cargo(&workspace.root, "run --quiet --release --bin trommel -- stats -");
    let result = must_run(stats.stdin(metadata.stdout.take().ok_or("cargo has no output")?));
    let has_metadata = metadata.wait()?.success();
    result?;
    Ok(if has_metadata { Outcome::Passed } else { Outcome::Failed("cargo metadata failed".to_owned()) })
}

fn counts(workspace: &Workspace) -> Ran {
    if let Some(reason) = instructions::missing() {
        return Ok(Outcome::NotRun(reason.to_owned()));
    }
    let are_good = instructions::run(workspace, &instructions::Options::default())?;
    Ok(if are_good {
        Outcome::Passed
    } else {
        Outcome::Failed("a loop takes more instructions than recorded".to_owned())
    })
}

fn backends(workspace: &Workspace) -> Ran {
    let mut missing = Vec::new();
    for backend in ["scalar", "sse2", "avx2"] {
        if !has_backend(backend) {
            missing.push(backend);
            continue;
        }
        let mut command = cargo(&workspace.root, &format!("test {READING} --tests"));
        must_run(command.env("TROMMEL_BACKEND", backend))?;
    }
    Ok(match missing.as_slice() {
        [] => Outcome::Passed,
        missing => {
            Outcome::NotRun(format!("this processor has no {}; the others passed", missing.join(", ")))
        }
    })
}

#[cfg(target_arch = "x86_64")]
fn has_backend(backend: &str) -> bool {
    backend != "avx2"
        || std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("pclmulqdq")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_backend(backend: &str) -> bool {
    backend == "scalar"
}

fn has_nightly(workspace: &Workspace) -> bool {
    let mut install = Command::new("rustup");
    install.args(["toolchain", "install", "nightly", "--profile", "minimal"]);
    is_installed(&mut cargo(&workspace.root, "+nightly --version"), &mut install)
}

fn asan(workspace: &Workspace) -> Ran {
    if !has_nightly(workspace) {
        return Ok(Outcome::NotRun("no nightly toolchain is installed".to_owned()));
    }
    let arguments = format!(
        "+nightly test --target {PLATFORM} --tests -p trommel-scan -p trommel-reader -p trommel-path -p trommel"
    );
    let mut command = cargo(&workspace.root, &arguments);
    // A separate folder, because other flags would rebuild the usual one now and again afterwards.
    command.env("RUSTFLAGS", "-Zsanitizer=address").env("TROMMEL_SANITIZED", "1");
    command.env("CARGO_TARGET_DIR", workspace.target.join("asan"));
    must_run(&mut command)?;
    Ok(Outcome::Passed)
}

fn licenses(workspace: &Workspace) -> Ran {
    let mut install = cargo(&workspace.root, "install --quiet --locked --debug cargo-deny --version 0.20.2");
    if !is_installed(Command::new("cargo-deny").arg("--version"), &mut install) {
        return Ok(Outcome::NotRun("cargo-deny is not installed, and installing it failed".to_owned()));
    }
    must_run(&mut cargo(&workspace.root, "deny --log-level error check licenses bans sources"))?;
    Ok(Outcome::Passed)
}

fn valgrind(workspace: &Workspace) -> Ran {
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--quiet", "valgrind"]);
    if !is_installed(Command::new("valgrind").arg("--version"), &mut install) {
        return Ok(Outcome::NotRun("valgrind is not installed, and installing it failed".to_owned()));
    }
    let mut command = cargo(&workspace.root, "test -p trommel-scan -p trommel-reader --lib");
    command.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "valgrind --quiet --error-exitcode=9");
    must_run(&mut command)?;
    Ok(Outcome::Passed)
}

/// Compares with a crate that enables a feature of `serde_json` which the workspace must not have.
fn dialect(workspace: &Workspace) -> Ran {
    must_run(&mut cargo(&workspace.root, "test --quiet --manifest-path benches/jsonpath_lib/Cargo.toml"))?;
    Ok(Outcome::Passed)
}

fn coverage(workspace: &Workspace) -> Ran {
    Ok(match coverage::run(workspace, &coverage::Options::default())? {
        coverage::Measured::Enough => Outcome::Passed,
        coverage::Measured::TooLittle => {
            Outcome::Failed("the tests run fewer lines than promised".to_owned())
        }
        coverage::Measured::NotRun(reason) => Outcome::NotRun(reason),
    })
}

fn fuzz(workspace: &Workspace, most: f64) -> Ran {
    if !has_nightly(workspace) {
        return Ok(Outcome::NotRun("no nightly toolchain is installed".to_owned()));
    }
    let mut install = cargo(&workspace.root, "install --locked cargo-fuzz");
    if !is_installed(&mut cargo(&workspace.root, "+nightly fuzz --version"), &mut install) {
        return Ok(Outcome::NotRun("cargo-fuzz could not be installed".to_owned()));
    }
    let list = output(&mut cargo(&workspace.root, "+nightly fuzz list"))?;
    let mut failed = Vec::new();
    for target in list.split_whitespace() {
        let share = if COMPARING.contains(&target) { 1.0 } else { 0.2 };
        let seconds = (most * share * 60.0).ceil();
        let arguments = format!(
            "+nightly fuzz run {target} {} -- -max_total_time={seconds}",
            corpora(workspace, target)?
        );
        if let Err(error) = must_run(&mut cargo(&workspace.root, &arguments)) {
            eprintln!("{error}");
            failed.push(target);
        }
    }
    Ok(match failed.as_slice() {
        [] => Outcome::Passed,
        failed => Outcome::Failed(failed.join(", ")),
    })
}

/// Returns the folder of a target's corpus, and the folder of its seeds if it has any.
fn corpora(workspace: &Workspace, target: &str) -> std::io::Result<String> {
    let (grown, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
    fs::create_dir_all(workspace.root.join(&grown))?;
    let seeded = workspace.root.join(&seeds).is_dir();
    Ok(if seeded { format!("{grown} {seeds}") } else { grown })
}

fn package(workspace: &Workspace) -> Ran {
    forget_unpacked()?;
    // Cargo caches compiled registry packages by version, so packaging builds in a separate folder,
    // from scratch.
    let target = workspace.target.join("packaging");
    if target.is_dir() {
        fs::remove_dir_all(&target)?;
    }
    // Uncommitted changes are packaged too, to find out whether the working tree can be published.
    let mut command = cargo(&workspace.root, "package --workspace --allow-dirty");
    command.env("CARGO_TARGET_DIR", &target);
    let private = workspace.packages.iter().filter(|package| !package.is_published());
    must_run(command.args(private.flat_map(|package| ["--exclude", &package.name])))?;
    Ok(Outcome::Passed)
}

/// Removes packages that cargo has unpacked from local registries, such as that of `cargo package`.
/// Cargo caches them by version, and would use the crates of the previous run.
fn forget_unpacked() -> std::io::Result<()> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let Some(unpacked) = home.map(|home| home.join("registry/src")).filter(|folder| folder.is_dir()) else {
        return Ok(());
    };
    for registry in fs::read_dir(unpacked)? {
        let registry = registry?;
        // The folder's name begins with the host, which is empty for a local registry.
        if registry.file_name().as_encoded_bytes().starts_with(b"-") {
            fs::remove_dir_all(registry.path())?;
        }
    }
    Ok(())
}

fn archive(workspace: &Workspace) -> Ran {
    must_run(Command::new(workspace.root.join(".ci/archive")).current_dir(&workspace.root))?;
    Ok(Outcome::Passed)
}

fn memory(workspace: &Workspace, options: &rss::Options) -> Ran {
    let good = rss::run(workspace, options)?;
    Ok(if good { Outcome::Passed } else { Outcome::Failed("over a bound, see the rows above".to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powerset_has_every_set_once() {
        let package = serde_json::from_str(
            r#"{"name": "x", "manifest_path": "x/Cargo.toml", "dependencies": [], "targets": [],
                "features": {"default": ["a"], "a": [], "b": []}}"#,
        );
        assert_eq!(powerset(&package.unwrap()), [vec![], vec!["a"], vec!["b"], vec!["a", "b"]]);
    }

    #[test]
    fn shows_times_in_minutes() {
        assert_eq!(minutes(Duration::from_secs(605)), "10:05");
    }
}
