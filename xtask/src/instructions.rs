//! `cargo xtask instructions`: the instructions per byte of the core loops.
//!
//! Promise R46: within 3 % of the figures in `benches/definitions/instructions.toml`. Wall time on
//! a shared machine varies by a tenth from run to run. The number of instructions does not vary
//! with the same compiler. More instructions are a regression. Fewer are an improvement, which must
//! be recorded so that it is not lost again. In addition, no kernel may call an intrinsic as a
//! function. That happens if a function between them is compiled without the processor's features.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use serde::{Deserialize, Serialize};

use crate::Verdict;
use crate::process::{cargo, must_run, works};
use crate::workspace::Workspace;

/// The tolerance between a loop and its recorded figure.
const TOLERANCE: f64 = 0.03;

const RECORDED_FILE: &str = "benches/definitions/instructions.toml";

const HEAD: &str = "\
# Instructions of trommel's core loops per byte of input, counted by valgrind's callgrind on x86-64 with AVX2.
# Recorded by `cargo xtask instructions --write`.

";

#[derive(Default, clap::Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Record the new counts
    #[arg(long)]
    write: bool,
}

#[derive(Deserialize, Serialize)]
struct Recorded {
    #[serde(rename = "loop")]
    loops: Vec<Loop>,
}

/// Instructions per byte, or the error of the thread that counts them.
type Count = Result<f64, Box<dyn Error + Send + Sync>>;

/// One column of a task of the benchmarks.
#[derive(Deserialize, Serialize)]
struct Loop {
    task: String,
    column: String,
    /// Instructions per byte of input.
    instructions: f64,
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Verdict {
    if let Some(reason) = missing() {
        println!("NOT RUN: {reason}");
        return Ok(true);
    }
    let calls = intrinsics_called(workspace)?;
    for call in &calls {
        println!("intrinsic called as a function: {call}");
    }
    let path = workspace.root.join(RECORDED_FILE);
    let mut recorded: Recorded = toml::from_str(&fs::read_to_string(&path)?)?;
    // Callgrind finds the loops by the names of their functions, which a release is stripped of.
    let build = "build --quiet --profile profiling -p trommel-benches --bin loops";
    must_run(&mut cargo(&workspace.root, build))?;
    let program = workspace.target.join("profiling/loops");
    println!("{:<42} recorded counted", "instructions per byte");
    let mut is_good = calls.is_empty();
    let counts = counts(&program, &recorded.loops);
    for (row, counted) in recorded.loops.iter_mut().zip(counts) {
        let counted = counted.map_err(|error| error.to_string())?;
        let change = counted / row.instructions - 1.0;
        let (name, fault) = (format!("{}, {}", row.task, row.column), fault(change));
        println!("{name:<42} {:>7.2} {counted:>8.2}  {}", row.instructions, fault.unwrap_or_default());
        is_good &= fault.is_none() || options.write;
        row.instructions = (counted * 100.0).round() / 100.0;
    }
    if options.write {
        fs::write(&path, format!("{HEAD}{}", toml::to_string(&recorded)?))?;
    }
    Ok(is_good)
}

/// Returns the calls of intrinsics in the assembly of the kernels. Each intrinsic should be one
/// instruction. A call means that an intermediate function lacks its caller's features, and takes
/// ten times as long.
fn intrinsics_called(workspace: &Workspace) -> Result<Vec<String>, Box<dyn Error>> {
    let folder = workspace.target.join("assembly");
    let mut command = cargo(&workspace.root, "rustc --quiet --release --lib -p trommel-scan -- --emit=asm");
    must_run(command.env("CARGO_TARGET_DIR", &folder))?;
    let mut calls = Vec::new();
    let mut functions = 0;
    for file in fs::read_dir(folder.join("release/deps"))? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "s") {
            let code = fs::read_to_string(&path)?;
            functions += code.matches("KERNELS").count();
            calls.extend(
                code.lines().filter(|line| is_intrinsic_called(line)).map(|line| line.trim().to_owned()),
            );
        }
    }
    if functions == 0 {
        return Err("the assembly of trommel-scan has no kernels".into());
    }
    Ok(calls)
}

/// True if a line of assembly calls an intrinsic.
fn is_intrinsic_called(line: &str) -> bool {
    let line = line.trim_start();
    (line.starts_with("call") || line.starts_with("jmp"))
        && (line.contains("core_arch") || line.contains("_mm"))
}

/// Returns the reason why this machine cannot count instructions.
pub(crate) fn missing() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let has_avx2 = std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    let has_avx2 = false;
    if !has_avx2 {
        return Some("the recorded figures require x86-64 with AVX2");
    }
    let is_installed = works(Command::new("valgrind").arg("--version"));
    (!is_installed).then_some("valgrind is not installed")
}

/// Returns the fault of a relative change, if it exceeds the tolerance.
fn fault(change: f64) -> Option<&'static str> {
    if change > TOLERANCE {
        Some("more than 3 % above the recorded figure")
    } else if change < -TOLERANCE {
        Some("more than 3 % below the recorded figure; record it with --write")
    } else {
        None
    }
}

/// Counts all loops, two at a time. Load on the machine does not affect the counts.
fn counts(program: &Path, loops: &[Loop]) -> Vec<Count> {
    let of_two = |pair: &[Loop]| {
        thread::scope(|scope| {
            let counting: Vec<_> = pair.iter().map(|row| scope.spawn(move || count(program, row))).collect();
            let ended = counting.into_iter().map(thread::ScopedJoinHandle::join);
            ended.map(|ended| ended.unwrap_or_else(|_| Err("a thread panicked".into()))).collect::<Vec<_>>()
        })
    };
    loops.chunks(2).flat_map(of_two).collect()
}

/// Counts the instructions per byte of a loop.
fn count(program: &Path, row: &Loop) -> Count {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*loops*counted*"]);
    let output = command.arg(program).args([&row.task, &row.column]).output()?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{} {}: {log}", row.task, row.column).into());
    }
    let bytes: f64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
    let instructions = collected(&log).ok_or("valgrind's output has no total")?;
    Ok(instructions / bytes)
}

/// The total that callgrind reports as collected: `==7== Collected : 123`.
fn collected(log: &str) -> Option<f64> {
    let line = log.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_total_of_callgrind() {
        assert_eq!(collected("==7== \n==7== Events    : Ir\n==7== Collected : 1234\n"), Some(1234.0));
        assert_eq!(collected("==7== nothing\n"), None);
    }

    #[test]
    fn detects_calls_of_intrinsics() {
        assert!(is_intrinsic_called("\tcallq\t_ZN4core9core_arch3x864avx217_mm256_shuffle_epi8E"));
        assert!(!is_intrinsic_called("\tvpshufb\t%ymm1, %ymm0, %ymm0 # _mm256_shuffle_epi8"));
        assert!(!is_intrinsic_called("\tcallq\t_ZN12trommel_scan4skip4walkE"));
    }

    #[test]
    fn reports_changes_in_both_directions() {
        assert!(fault(0.029).is_none() && fault(-0.029).is_none());
        assert!(fault(0.031).is_some_and(|text| text.contains("above")));
        assert!(fault(-0.031).is_some_and(|text| text.contains("below")));
    }
}
