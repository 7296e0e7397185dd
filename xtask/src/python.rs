//! `cargo xtask python`: builds the Python package, and runs its tests with the programs that read
//! its tables.
//!
//! Everything is installed below `target/python`. The tests are those of `crates/python/tests`.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Verdict;
use crate::process::{must_run, works};
use crate::workspace::Workspace;

/// The packages of `PyPI` that build the package, read its tables, and test it.
const PACKAGES: [&str; 9] = [
    "duckdb==2.0.1",
    "fsspec==2026.9.0",
    "ijson==3.6.0",
    "maturin==1.16.0",
    "mypy==2.4.1",
    "pandas==3.1.1",
    "polars==2.1.0",
    "pyarrow==26.0.1",
    "pytest==9.2.0",
];

/// Maximum size of the package in bytes.
const MAX_BYTES: u64 = 12_000_000;

pub(crate) fn run(workspace: &Workspace) -> Verdict {
    if !works(Command::new("python3").args(["-m", "venv", "--help"])) {
        return Err("NOT RUN: no python3 with venv is installed".into());
    }
    let (folder, package) = (workspace.target.join("python"), workspace.root.join("crates/python"));
    let (environment, wheels) = (folder.join("environment"), folder.join("wheels"));
    fs::create_dir_all(&folder)?;
    let python = environment.join("bin/python");
    if !python.exists() {
        must_run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    let module = |arguments: &[&OsStr]| {
        let mut command = Command::new(&python);
        command.arg("-m").args(arguments).current_dir(&package);
        command
    };
    let words = |text: &'static str| text.split(' ').map(OsStr::new).collect::<Vec<_>>();
    if !works(module(&words("pip install --quiet")).args(PACKAGES)) {
        return Err("NOT RUN: the packages of PyPI cannot be installed".into());
    }
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    let mut build = module(&words("maturin build --release --quiet --out"));
    must_run(build.arg(&wheels).env("CARGO_TARGET_DIR", folder.join("target")).env("PYO3_PYTHON", &python))?;
    let wheel = only_file(&wheels)?;
    let bytes = fs::metadata(&wheel)?.len();
    println!("{} has {bytes} bytes", wheel.display());
    if bytes > MAX_BYTES {
        return Err(format!("the package has more than {MAX_BYTES} bytes").into());
    }
    must_run(module(&words("pip install --quiet --force-reinstall --no-deps")).arg(&wheel))?;
    must_run(module(&words("pytest -q tests")).env("PYTHONDEVMODE", "1"))?;
    must_run(&mut module(&words("mypy.stubtest trommel._trommel")))?;
    Ok(true)
}

/// The only file of a folder.
fn only_file(folder: &Path) -> Result<std::path::PathBuf, Box<dyn std::error::Error>> {
    let mut files = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    match (files.pop(), files.pop()) {
        (Some(file), None) => Ok(file.path()),
        _ => Err(format!("{} does not hold one file", folder.display()).into()),
    }
}
