//! What the commands do.

mod buffers;
mod call;
mod check;
mod count;
mod extract;
mod list;
mod manual;
mod put;
mod read;
mod run;
mod sample;
mod schema;
mod sessions;
mod stats;
mod tools;
mod upkeep;

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
        Command::Put(args) => put::run(args),
        Command::List(args) => list::run(args),
        Command::Read(args) => read::run(args),
        Command::Rm(args) => upkeep::rm(args),
        Command::Pin(args) => upkeep::pin(args),
        Command::Gc(args) => upkeep::gc(args),
        Command::Verify(args) => upkeep::verify(args),
        Command::Rebuild(args) => upkeep::rebuild(args),
        Command::Tools(args) => tools::run(args),
        Command::Call(args) => call::run(args),
        Command::History(args) => tools::history(args),
        Command::Run(args) => run::run(args),
        Command::Buffers(args) => buffers::run(args),
        Command::Sessions(args) => sessions::run(args),
        Command::Help { command } => manual::help(command),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { command } => manual::man(command.as_deref()),
    }
}

/// The failure that is none but for `--exit-status`.
fn matched(any: bool, exit_status: bool) -> Result<(), Failure> {
    if any || !exit_status { Ok(()) } else { Err(Failure::Said) }
}
