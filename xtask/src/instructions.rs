//! `cargo xtask instructions`: how many instructions the core loops take for a byte.
//!
//! Promise R46: within 3 % of `benches/definitions/instructions.toml`. Wall time on a shared
//! machine moves by a tenth from run to run; the number of instructions does not, for one compiler.
//! More of them is a step back, and fewer a step forward that is to be written down, so that it is
//! not lost again. And no kernel may call an intrinsic as a function, which happens where a
//! function without the processor's features stands between.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use serde::{Deserialize, Serialize};

use crate::Verdict;
use crate::process::{cargo, must_run, works};
use crate::workspace::Workspace;

/// How far a loop may be from what is written down.
const TOLERANCE: f64 = 0.03;

const WRITTEN: &str = "benches/definitions/instructions.toml";

const HEAD: &str = "\
# Instructions that trommel's core loops take for a byte of their input, as valgrind's callgrind counts them on x86-64 with AVX2.
# Written by `cargo xtask instructions --write`.

";

#[derive(Default, clap::Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Write down what was counted
    #[arg(long)]
    write: bool,
}

#[derive(Deserialize, Serialize)]
struct Written {
    #[serde(rename = "loop")]
    loops: Vec<Loop>,
}

/// Instructions a byte, or why there are none, from another thread.
type Count = Result<f64, Box<dyn Error + Send + Sync>>;

/// A column of a task of the benches.
#[derive(Deserialize, Serialize)]
struct Loop {
    task: String,
    column: String,
    /// For each byte of the input.
    instructions: f64,
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Verdict {
    if let Some(reason) = missing() {
        println!("NOT RUN: {reason}");
        return Ok(true);
    }
    let calls = intrinsics_called(workspace)?;
    for call in &calls {
        println!("an intrinsic is called as a function: {call}");
    }
    let path = workspace.root.join(WRITTEN);
    let mut written: Written = toml::from_str(&fs::read_to_string(&path)?)?;
    must_run(&mut cargo(&workspace.root, "build --quiet --release -p trommel-benches --bin loops"))?;
    let program = workspace.target.join("release/loops");
    println!("{:<42} written  counted", "instructions a byte");
    let mut good = calls.is_empty();
    let counts = counts(&program, &written.loops);
    for (row, counted) in written.loops.iter_mut().zip(counts) {
        let counted = counted.map_err(|error| error.to_string())?;
        let change = counted / row.instructions - 1.0;
        let (name, fault) = (format!("{}, {}", row.task, row.column), fault(change));
        println!("{name:<42} {:>7.2} {counted:>8.2}  {}", row.instructions, fault.unwrap_or_default());
        good &= fault.is_none() || options.write;
        row.instructions = (counted * 100.0).round() / 100.0;
    }
    if options.write {
        fs::write(&path, format!("{HEAD}{}", toml::to_string(&written)?))?;
    }
    Ok(good)
}

/// Calls of intrinsics in the code of the kernels, where each should be one instruction: a function
/// without the features of its caller came between, and takes ten times as long.
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
        return Err("the kernels are not in the assembly of trommel-scan".into());
    }
    Ok(calls)
}

/// Whether a line of assembly calls one of the processor's instructions by name.
fn is_intrinsic_called(line: &str) -> bool {
    let line = line.trim_start();
    (line.starts_with("call") || line.starts_with("jmp"))
        && (line.contains("core_arch") || line.contains("_mm"))
}

/// Why nothing can be counted here.
pub(crate) fn missing() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let has_avx2 = std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    let has_avx2 = false;
    if !has_avx2 {
        return Some("the figures are those of x86-64 with AVX2");
    }
    let is_installed = works(Command::new("valgrind").arg("--version"));
    (!is_installed).then_some("valgrind is not installed")
}

/// What is wrong with a change, given as a share.
fn fault(change: f64) -> Option<&'static str> {
    if change > TOLERANCE {
        Some("more than 3 % above what is written")
    } else if change < -TOLERANCE {
        Some("more than 3 % below: write it down with --write")
    } else {
        None
    }
}

/// The counts of all loops, two at a time: what is counted is not time.
fn counts(program: &Path, loops: &[Loop]) -> Vec<Count> {
    let of_two = |pair: &[Loop]| {
        thread::scope(|scope| {
            let counting: Vec<_> = pair.iter().map(|row| scope.spawn(move || count(program, row))).collect();
            let ended = counting.into_iter().map(thread::ScopedJoinHandle::join);
            ended
                .map(|ended| ended.unwrap_or_else(|_| Err("a thread has panicked".into())))
                .collect::<Vec<_>>()
        })
    };
    loops.chunks(2).flat_map(of_two).collect()
}

/// The instructions that a loop takes for a byte.
fn count(program: &Path, row: &Loop) -> Count {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*loops*counted*"]);
    let output = command.arg(program).args([&row.task, &row.column]).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{} {}: {said}", row.task, row.column).into());
    }
    let bytes: f64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
    let instructions = collected(&said).ok_or("valgrind does not say what it collected")?;
    Ok(instructions / bytes)
}

/// What callgrind says that it has collected: `==7== Collected : 123`.
fn collected(said: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_collected_is_found() {
        assert_eq!(collected("==7== \n==7== Events    : Ir\n==7== Collected : 1234\n"), Some(1234.0));
        assert_eq!(collected("==7== nothing\n"), None);
    }

    #[test]
    fn calls_of_intrinsics_are_known() {
        assert!(is_intrinsic_called("\tcallq\t_ZN4core9core_arch3x864avx217_mm256_shuffle_epi8E"));
        assert!(!is_intrinsic_called("\tvpshufb\t%ymm1, %ymm0, %ymm0 # _mm256_shuffle_epi8"));
        assert!(!is_intrinsic_called("\tcallq\t_ZN12trommel_scan4skip4walkE"));
    }

    #[test]
    fn both_directions_are_noticed() {
        assert!(fault(0.029).is_none() && fault(-0.029).is_none());
        assert!(fault(0.031).is_some_and(|said| said.contains("above")));
        assert!(fault(-0.031).is_some_and(|said| said.contains("below")));
    }
}
