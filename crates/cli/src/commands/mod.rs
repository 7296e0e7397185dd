//! The commands, one module each.

mod buffers;
mod call;
mod check;
mod count;
mod du;
#[cfg(feature = "explore")]
mod explore;
mod extract;
mod group;
mod guide;
mod list;
mod manual;
#[cfg(feature = "mcp")]
mod mcp;
mod put;
mod read;
mod report;
mod run;
mod sample;
mod schema;
mod search;
mod sessions;
mod stats;
mod tools;
mod upkeep;

use crate::args::{Cli, Command};
use crate::errors::Failure;
use crate::output::Screen;

/// Runs the command.
pub(crate) fn run(cli: &Cli, screen: &Screen) -> Result<(), Failure> {
    match &cli.command {
        Command::Extract(args) => extract::run(args, screen),
        Command::Count(args) => count::run(args, screen),
        Command::Group(args) => group::run(args, screen),
        Command::Sample(args) => sample::run(args, screen),
        Command::Stats(args) => stats::run(args, screen),
        Command::Du(args) => du::run(args, screen),
        Command::Report(args) => report::run(args, screen),
        Command::Schema(args) => schema::run(args, screen),
        Command::Check(args) => check::run(args, screen),
        Command::Guide(args) => guide::run(args, screen),
        #[cfg(feature = "explore")]
        Command::Explore(args) => explore::run(args, screen),
        Command::Put(args) => put::run(args, screen),
        Command::List(args) => list::run(args, screen),
        Command::Read(args) => read::run(args, screen),
        Command::Search(args) => search::run(args, screen),
        Command::Rm(args) => upkeep::rm(args, screen),
        Command::Pin(args) => upkeep::pin(args, screen),
        Command::Gc(args) => upkeep::gc(args, screen),
        Command::Verify(args) => upkeep::verify(args, screen),
        Command::Rebuild(args) => upkeep::rebuild(args, screen),
        Command::Tools(args) => tools::run(args, screen),
        Command::Call(args) => call::run(args, screen),
        Command::History(args) => tools::history(args, screen),
        Command::Run(args) => run::run(args, screen),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::run(args, screen),
        Command::Buffers(args) => buffers::run(args, screen),
        Command::Sessions(args) => sessions::run(args, screen),
        Command::Help { command } => manual::help(command, screen),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { all: Some(folder), .. } => manual::all_pages(folder),
        Command::Man { command, .. } => manual::man(command),
    }
}

/// Fails with status 1 under `--exit-status` if nothing matched.
fn matched(any: bool, exit_status: bool) -> Result<(), Failure> {
    if any || !exit_status { Ok(()) } else { Err(Failure::AlreadyReported) }
}
