//! The chores of the workspace, run as `cargo xtask NAME`.
//!
//! - `tidy` checks rules that the compiler does not check: dependencies between crates, files that
//!   may contain `unsafe`, lengths of files and functions, and required entries of manifests and
//!   promises.
//! - `test` runs the tests of the workspace, two binaries at a time.
//! - `deep` runs checks that take too long for every change: all combinations of features,
//!   sanitizers, every backend, hours of fuzzing, packaging, and the memory of every command on
//!   gigabytes.
//! - `corpus` writes the large files for measurements.
//! - `python` builds the Python package, and runs its tests; `spark` runs those in Spark.
//! - `c` builds the C library, and runs programs that use it; `header` compares its header.
//! - `browser` opens the pages of `trommel report` in Chromium.
//! - `mcp` runs the clients, servers, and conformance suite of others against `trommel mcp`.
//! - `rss` measures only that memory, `coverage` the lines that the tests run, and `instructions`
//!   the instructions of the core loops.
//!
//! This program is not part of the published crates.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore reports to the terminal")]

mod browser;
mod capi;
mod coverage;
mod deep;
mod instructions;
mod mcp;
mod process;
mod python;
mod rss;
mod source;
mod test;
mod tidy;
mod workspace;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use process::{cargo, must_run};
use workspace::Workspace;

/// The result of a chore: true if all checks passed, or the error that stopped it.
type Verdict = Result<bool, Box<dyn Error>>;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the trommel workspace")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check layers, unsafe code, sizes, docs, wording, promises, and manifests
    Tidy,
    /// Run the tests of the workspace, two binaries at a time
    Test,
    /// Run the checks that take too long for every change
    Deep(deep::Options),
    /// Measure the lines that the tests run
    Coverage(coverage::Options),
    /// Write the large files for measurements into a folder
    Corpus {
        folder: std::path::PathBuf,
        /// Size in MB of the events, as one document and as lines; other files are a fifth and a
        /// tenth
        #[arg(default_value_t = 1000)]
        megabytes: u64,
    },
    /// Count the instructions of the core loops, and compare them with the recorded counts
    Instructions(instructions::Options),
    /// Open the pages of `trommel report` in a browser, and check what people do with them
    Browser(browser::Options),
    /// Run the clients, servers, and conformance suite of others against `trommel mcp`
    Mcp,
    /// Build the Python package, and run its tests
    Python(python::Options),
    /// Build the C library, and run programs that use it
    C,
    /// Compare the header of the C library with its code
    Header(capi::HeaderOptions),
    /// Run the tests of the Python package in Spark
    Spark,
    /// Measure the peak resident memory of every command on large generated files
    Rss(rss::Options),
}

fn main() -> ExitCode {
    let verdict = coverage::compile().unwrap_or_else(|| run(&Arguments::parse().chore));
    match verdict {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &Chore) -> Verdict {
    let workspace = Workspace::load()?;
    match chore {
        Chore::Tidy => tidy::run(&workspace),
        Chore::Test => test::run(&workspace),
        Chore::Deep(options) => Ok(deep::run(&workspace, options)),
        Chore::Coverage(options) => match coverage::run(&workspace, options)? {
            coverage::Measured::Enough => Ok(true),
            coverage::Measured::TooLittle => Ok(false),
            coverage::Measured::NotRun(reason) => Err(reason.into()),
        },
        Chore::Corpus { folder, megabytes } => {
            let program = "run --release -p trommel-benches --bin corpus --";
            let folder = std::path::absolute(folder)?;
            must_run(cargo(&workspace.root, program).arg(folder).arg(megabytes.to_string()))?;
            Ok(true)
        }
        Chore::Instructions(options) => instructions::run(&workspace, options),
        Chore::Browser(options) => browser::run(&workspace, options),
        Chore::Mcp => mcp::run(&workspace),
        Chore::Python(options) => python::run(&workspace, options),
        Chore::C => capi::run(&workspace),
        Chore::Header(options) => capi::header(&workspace, options),
        Chore::Spark => python::spark(&workspace),
        Chore::Rss(options) => rss::run(&workspace, options),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
