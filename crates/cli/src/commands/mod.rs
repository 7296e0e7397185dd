//! What the commands do.

mod check;
mod count;
mod extract;
mod manual;
mod sample;
mod schema;
mod stats;

use crate::args::{Cli, Command};
use crate::errors::Failure;

/// Does what was asked.
pub(crate) fn run(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Extract(args) => extract::run(args),
        Command::Count(args) => count::run(args),
        Command::Sample(args) => sample::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Schema(args) => schema::run(args),
        Command::Check(args) => check::run(args),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { command } => manual::man(command.as_deref()),
    }
}

/// The failure that is none but for `--exit-status`.
fn matched(any: bool, exit_status: bool) -> Result<(), Failure> {
    if any || !exit_status { Ok(()) } else { Err(Failure::Said) }
}
