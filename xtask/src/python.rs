//! `cargo xtask python` and `cargo xtask spark`: build the Python package, and run its tests with
//! the programs that read its tables, and in Spark with two executors.
//!
//! Everything is installed below `target/python`. The tests are those of `crates/python/tests`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::Verdict;
use crate::process::{must_run, works};
use crate::workspace::Workspace;

/// The packages of `PyPI` that build the package, read its tables, and test it.
const PACKAGES: [&str; 10] = [
    "duckdb==2.0.1",
    "fsspec==2026.9.0",
    "ijson==3.6.0",
    "maturin==1.16.0",
    "mypy==2.4.1",
    "pandas==3.1.1",
    "polars==2.1.0",
    "pyarrow==26.0.1",
    "pytest==9.2.0",
    "tqdm==4.70.1",
];

/// Spark, which needs Java 17.
const SPARK: &str = "pyspark==4.3.0";

/// Maximum size of the package in bytes.
const MAX_BYTES: u64 = 12_000_000;

#[derive(Args)]
pub(crate) struct Options {
    /// Build with little optimization, and do not check the package's size
    #[arg(long)]
    quick: bool,
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Verdict {
    let package = Package::install(workspace, options.quick)?;
    must_run(package.python("-m pytest -q tests").env("PYTHONDEVMODE", "1"))?;
    must_run(&mut package.python("-m mypy.stubtest trommel._trommel"))?;
    Ok(true)
}

pub(crate) fn deep(workspace: &Workspace) -> Verdict {
    run(workspace, &Options { quick: false })
}

pub(crate) fn spark(workspace: &Workspace) -> Verdict {
    if !works(Command::new("java").arg("-version")) {
        return Err("NOT RUN: no java is installed".into());
    }
    let package = Package::install(workspace, false)?;
    if !works(package.python("-m pip install --quiet").arg(SPARK)) {
        return Err("NOT RUN: pyspark cannot be installed".into());
    }
    must_run(package.python("-m pytest -q tests/test_spark.py").env("TROMMEL_SPARK", "1"))?;
    Ok(true)
}

/// The package, installed in an environment of its own.
struct Package {
    python: PathBuf,
    root: PathBuf,
}

impl Package {
    fn install(workspace: &Workspace, is_quick: bool) -> Result<Self, Box<dyn std::error::Error>> {
        if !works(Command::new("python3").args(["-m", "venv", "--help"])) {
            return Err("NOT RUN: no python3 with venv is installed".into());
        }
        let folder = workspace.target.join("python");
        let (environment, wheels) = (folder.join("environment"), folder.join("wheels"));
        fs::create_dir_all(&folder)?;
        let installed =
            Self { python: environment.join("bin/python"), root: workspace.root.join("crates/python") };
        if !installed.python.exists() {
            must_run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        }
        if !works(installed.python("-m pip install --quiet").args(PACKAGES)) {
            return Err("NOT RUN: the packages of PyPI cannot be installed".into());
        }
        if wheels.exists() {
            fs::remove_dir_all(&wheels)?;
        }
        // What the tests of the workspace have compiled is reused by the quick build.
        let (options, target) = if is_quick {
            ("--profile dev --features table,as-tested", workspace.target.clone())
        } else {
            ("", folder.join("target"))
        };
        let mut build = installed.python(&format!("-m maturin build {options} --quiet --out"));
        build.arg(&wheels).env("CARGO_TARGET_DIR", target);
        must_run(build.env("PYO3_PYTHON", &installed.python))?;
        let wheel = only_file(&wheels)?;
        let bytes = fs::metadata(&wheel)?.len();
        println!("{} has {bytes} bytes", wheel.display());
        if !is_quick && bytes > MAX_BYTES {
            return Err(format!("the package has more than {MAX_BYTES} bytes").into());
        }
        must_run(installed.python("-m pip install --quiet --force-reinstall --no-deps").arg(&wheel))?;
        Ok(installed)
    }

    /// The interpreter with arguments, which white space separates.
    fn python(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.args(arguments.split_whitespace()).current_dir(&self.root);
        command
    }
}

/// The only file of a folder.
fn only_file(folder: &Path) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let mut files = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    match (files.pop(), files.pop()) {
        (Some(file), None) => Ok(file.path()),
        _ => Err(format!("{} does not hold one file", folder.display()).into()),
    }
}
