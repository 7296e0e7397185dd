//! The chores of the workspace, run as `cargo xtask NAME`.
//!
//! - `tidy` checks the rules that a compiler does not know: which crate may use which, where
//!   `unsafe` may stand, how long a file or a function may get, what every manifest and every
//!   promise must carry.
//! - `deep` runs what is too long for every change: features in all combinations, sanitizers, every
//!   backend, fuzzing by the hour, packaging, and the memory of every command on gigabytes.
//! - `corpus` writes the large files that measurements are about.
//! - `rss` measures that memory alone, `coverage` the lines that the tests run, `instructions` what
//!   the core loops take.
//!
//! Nothing here is part of the published crates.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore reports to the terminal")]

mod coverage;
mod deep;
mod instructions;
mod process;
mod rss;
mod source;
mod tidy;
mod workspace;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use process::{cargo, must_run};
use workspace::Workspace;

/// What a chore ends with: whether all was well, or why it could not be done.
type Verdict = Result<bool, Box<dyn Error>>;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the trommel workspace")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check layers, unsafe code, sizes, docs, wording, promises and manifests
    Tidy,
    /// Run everything that is too long for every change, and say what could not be run
    Deep(deep::Options),
    /// Measure the lines that the tests run
    Coverage(coverage::Options),
    /// Write the large files that measurements are about into a folder
    Corpus {
        folder: std::path::PathBuf,
        /// Millions of bytes of the events as one document, and as lines; other files are a fifth
        /// and a tenth of it
        #[arg(default_value_t = 1000)]
        megabytes: u64,
    },
    /// Count the instructions of the core loops, and compare them with those written down
    Instructions(instructions::Options),
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
        Chore::Deep(options) => Ok(deep::run(&workspace, options)),
        Chore::Coverage(options) => match coverage::run(&workspace, options)? {
            coverage::Measured::Enough => Ok(true),
            coverage::Measured::TooLittle => Ok(false),
            coverage::Measured::Not(reason) => Err(reason.into()),
        },
        Chore::Corpus { folder, megabytes } => {
            let program = "run --release -p trommel-benches --bin corpus --";
            let folder = std::path::absolute(folder)?;
            must_run(cargo(&workspace.root, program).arg(folder).arg(megabytes.to_string()))?;
            Ok(true)
        }
        Chore::Instructions(options) => instructions::run(&workspace, options),
        Chore::Rss(options) => rss::run(&workspace, options),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_fit_together() {
        super::Arguments::command().debug_assert();
    }
}
