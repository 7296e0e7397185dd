//! `cargo xtask coverage`: the percentage of lines that the tests run, for each crate.
//!
//! Promise R44: 90 % of the lines of all published crates, and 95 % of the tokenizer, the matcher,
//! and the store. The crates are built with the compiler's own instrumentation. LLVM's tools read
//! the profiles: the tools of the compiler, which are installed if necessary, or others of a
//! version that supports the format (19 or later).

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::process::{cargo, must_run, output, works};
use crate::workspace::Workspace;

/// Percentage of lines required for all crates together.
const MIN_PERCENT: f64 = 90.0;

/// Percentage of lines required for each core crate.
const CORE_MIN_PERCENT: f64 = 95.0;

/// Crates that tokenize, match, and store.
const CORE: &[&str] = &["scan", "reader", "query", "path", "store"];

/// Features that are not on by default, but have tests. Storages in the cloud are tested with
/// emulators, by another step of `deep`.
const FEATURES: &str = "trommel-cli/explore,trommel-cli/table";

/// Versions of LLVM's tools to search for, after those without a version in their names.
const VERSIONS: std::ops::RangeInclusive<u32> = 19..=30;

#[derive(clap::Args, Default)]
#[group(skip)]
pub(crate) struct Options {
    /// Test and measure only this package (repeatable)
    #[arg(long, short, value_name = "NAME")]
    package: Vec<String>,
}

impl Options {
    /// Cargo's options for the packages to test.
    fn packages(&self) -> String {
        if self.package.is_empty() {
            return format!("--workspace --exclude xtask --exclude trommel-benches --features {FEATURES}");
        }
        self.package.iter().map(|name| format!("--package {name}")).collect::<Vec<_>>().join(" ")
    }

    /// True if the crate in this folder is measured.
    fn has(&self, folder: &str) -> bool {
        let is_of = |name: &String| name.strip_prefix("trommel-").unwrap_or(name) == folder;
        self.package.is_empty() || self.package.iter().any(is_of)
    }
}

/// The result of a measurement.
pub(crate) enum Measured {
    Enough,
    TooLittle,
    /// The reason for a failure.
    NotRun(String),
}

/// LLVM's tools for profiles.
struct Tools {
    merge: PathBuf,
    report: PathBuf,
}

#[derive(Deserialize)]
struct Exported {
    data: Vec<Data>,
}

#[derive(Deserialize)]
struct Data {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    filename: PathBuf,
    summary: Summary,
}

#[derive(Deserialize)]
struct Summary {
    lines: Lines,
}

/// Lines of code, and the lines that were run.
#[derive(Clone, Copy, Default, Deserialize)]
struct Lines {
    count: u64,
    covered: u64,
}

#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
}

/// Set if this program replaces the compiler.
const WRAPS: &str = "TROMMEL_XTASK_WRAPS_RUSTC";

/// Instruments a crate of the workspace, if cargo has started this program to compile one. External
/// crates are not instrumented: with them, a test of uniformity takes a hundred times as long.
pub(crate) fn compile() -> Option<Result<bool, Box<dyn Error>>> {
    env::var_os(WRAPS)?;
    let mut arguments = env::args_os().skip(1);
    let compiler = arguments.next()?;
    // Counters that are moved into a file keep the lines of programs that a test kills.
    let counters = ["-Cinstrument-coverage", "-Cllvm-args=-runtime-counter-relocation"];
    let status = Command::new(compiler).args(arguments).args(counters).status();
    Some(status.map(|status| status.success()).map_err(Into::into))
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<Measured, Box<dyn Error>> {
    let Some(tools) = Tools::find(workspace) else {
        return Ok(Measured::NotRun(
            "LLVM's tools are missing; run `rustup component add llvm-tools`".to_owned(),
        ));
    };
    let folder = workspace.target.join("coverage");
    let profiles = folder.join("profiles");
    if profiles.exists() {
        fs::remove_dir_all(&profiles)?;
    }
    let wrapper = env::current_exe()?;
    let test = |rest: &str| {
        let arguments = format!("test {} --tests {rest}", options.packages());
        let mut command = cargo(&workspace.root, &arguments);
        command.env("RUSTC_WORKSPACE_WRAPPER", &wrapper).env(WRAPS, "1").env("CARGO_TARGET_DIR", &folder);
        // The processes of one program share a few files, and write to them while they run.
        command.env("LLVM_PROFILE_FILE", profiles.join("%c%4m.profraw"));
        command
    };
    let programs = programs(&output(&mut test("--no-run --message-format=json"))?);
    // A failed test is reported at the end; the lines that the others run are still measured.
    let tested = must_run(&mut test("--no-fail-fast"));
    let merged = folder.join("merged.profdata");
    let mut merge = Command::new(&tools.merge);
    merge.args(["merge", "--sparse", "--output"]).arg(&merged);
    for profile in fs::read_dir(&profiles)? {
        merge.arg(profile?.path());
    }
    must_run(&mut merge)?;
    let mut report = Command::new(&tools.report);
    report.args(["export", "--summary-only", "--instr-profile"]).arg(&merged);
    for program in &programs {
        report.arg("--object").arg(program);
    }
    let exported: Exported = serde_json::from_str(&output(&mut report)?)?;
    let mut crates = by_crate(&workspace.root, &exported);
    crates.retain(|folder, _| options.has(folder));
    let measured = judge(&crates);
    tested.map(|()| measured)
}

impl Tools {
    /// Returns the compiler's tools. If they cannot be installed, returns the newest of the system.
    fn find(workspace: &Workspace) -> Option<Self> {
        let install = || {
            let mut rustup = Command::new("rustup");
            must_run(rustup.args(["component", "add", "llvm-tools"]).current_dir(&workspace.root)).ok()?;
            Self::from_compiler(workspace)
        };
        Self::from_compiler(workspace).or_else(install).or_else(Self::from_system)
    }

    /// Returns the component `llvm-tools` of the toolchain that builds the workspace.
    fn from_compiler(workspace: &Workspace) -> Option<Self> {
        let mut compiler = Command::new("rustc");
        let libraries =
            output(compiler.args(["--print", "target-libdir"]).current_dir(&workspace.root)).ok()?;
        let tool = |name: &str| Path::new(libraries.trim()).with_file_name("bin").join(name);
        let tools = Self { merge: tool("llvm-profdata"), report: tool("llvm-cov") };
        (tools.merge.is_file() && tools.report.is_file()).then_some(tools)
    }

    fn from_system() -> Option<Self> {
        let numbered = VERSIONS.rev().map(|version| format!("-{version}"));
        let knows = |tool: &String| {
            let version = output(Command::new(tool).arg("--version")).unwrap_or_default();
            let number =
                version.split("version ").nth(1).and_then(|rest| rest.split('.').next()?.parse().ok());
            number.is_some_and(|number: u32| VERSIONS.contains(&number))
        };
        numbered.chain([String::new()]).find_map(|suffix| {
            let (merge, report) = (format!("llvm-profdata{suffix}"), format!("llvm-cov{suffix}"));
            let found = works(Command::new(&merge).arg("merge").arg("--help")) && knows(&report);
            found.then(|| Self { merge: merge.into(), report: report.into() })
        })
    }
}

/// Returns the programs that cargo reports as built.
fn programs(messages: &str) -> Vec<PathBuf> {
    messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok()?.executable).collect()
}

/// Returns the lines of each crate, without separate test files.
fn by_crate(root: &Path, exported: &Exported) -> BTreeMap<String, Lines> {
    let mut crates: BTreeMap<String, Lines> = BTreeMap::new();
    for File { filename, summary } in exported.data.iter().flat_map(|data| &data.files) {
        let Ok(inside) = filename.strip_prefix(root.join("crates")) else { continue };
        let mut parts = inside.iter().map(|part| part.to_string_lossy());
        let (Some(name), Some(place)) = (parts.next(), parts.next()) else { continue };
        let is_test = parts.any(|part| matches!(&*part, "tests.rs" | "tests"));
        if name == "testkit" || place != "src" || is_test {
            continue;
        }
        let lines = crates.entry(name.into_owned()).or_default();
        lines.count += summary.lines.count;
        lines.covered += summary.lines.covered;
    }
    crates
}

fn judge(crates: &BTreeMap<String, Lines>) -> Measured {
    let mut all = Lines::default();
    let mut enough = true;
    println!("{:<10} {:>7} {:>7}", "crate", "lines", "run");
    for (name, lines) in crates {
        println!("{name:<10} {:>7} {:>6.1}%", lines.count, lines.percent());
        enough &= !CORE.contains(&&**name) || lines.percent() >= CORE_MIN_PERCENT;
        all.count += lines.count;
        all.covered += lines.covered;
    }
    println!("{:<10} {:>7} {:>6.1}%", "all", all.count, all.percent());
    if enough && all.percent() >= MIN_PERCENT { Measured::Enough } else { Measured::TooLittle }
}

impl Lines {
    fn percent(self) -> f64 {
        if self.count == 0 { 100.0 } else { 100.0 * self.covered as f64 / self.count as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exported(files: &[(&str, u64, u64)]) -> Exported {
        let files = files.iter().map(|&(name, count, covered)| File {
            filename: name.into(),
            summary: Summary { lines: Lines { count, covered } },
        });
        Exported { data: vec![Data { files: files.collect() }] }
    }

    #[test]
    fn counts_only_lines_of_published_code() {
        let exported = exported(&[
            ("/w/crates/reader/src/a.rs", 100, 96),
            ("/w/crates/scan/src/tests.rs", 100, 0),
            ("/w/crates/store/src/tests/broken.rs", 100, 0),
            ("/w/crates/reader/tests/b.rs", 100, 0),
            ("/w/crates/testkit/src/c.rs", 100, 0),
            ("/elsewhere/d.rs", 100, 0),
            ("/w/crates/cli/src/e.rs", 100, 85),
        ]);
        let crates = by_crate(Path::new("/w"), &exported);
        let found: Vec<_> = crates.iter().map(|(name, lines)| (name.as_str(), lines.covered)).collect();
        assert_eq!(found, [("cli", 85), ("reader", 96)]);
        assert!(matches!(judge(&crates), Measured::Enough));
    }

    #[test]
    fn selects_packages() {
        let all = Options::default();
        assert!(all.packages().starts_with("--workspace") && all.has("store"));
        let some = Options { package: vec!["trommel-store".to_owned(), "trommel".to_owned()] };
        assert_eq!(some.packages(), "--package trommel-store --package trommel");
        assert!(some.has("store") && some.has("trommel") && !some.has("tool"));
    }

    #[test]
    fn core_crates_require_higher_coverage() {
        let exported = exported(&[("/w/crates/path/src/a.rs", 100, 94), ("/w/crates/cli/src/e.rs", 100, 99)]);
        assert!(matches!(judge(&by_crate(Path::new("/w"), &exported)), Measured::TooLittle));
    }

    #[test]
    fn reads_programs_from_cargo_messages() {
        let messages =
            "{\"reason\":\"compiler-artifact\",\"executable\":null}\n{\"executable\":\"/t/a\"}\nnoise\n";
        assert_eq!(programs(messages), [PathBuf::from("/t/a")]);
    }
}
