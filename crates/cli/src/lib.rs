//! The command line: calls the library, prints answers, and returns an exit status.
//!
//! `run` is the whole program. The binary `trommel` and the Python package call it.
//!
//! It parses the arguments, detects the `screen`, and runs one of `commands`. An `input`
//! is opened for a command, a `job` runs the engine over it, and the `toolbox` holds the tools
//! over the store and buffers of `home`. `output` formats answers and `errors` formats
//! failures. Answers go to standard output and nothing else does. Only `sigbus` and `stdio`
//! contain `unsafe` code.

mod args;
mod arguments;
#[cfg(feature = "cloud")]
mod cloud;
mod commands;
mod errors;
mod home;
mod input;
mod invocation;
mod job;
mod output;
mod prefix;
mod progress;
mod read_ahead;
mod screen;
mod sigbus;
mod signals;
mod stdio;
mod toolbox;

use clap::FromArgMatches;

use crate::args::Cli;
use crate::screen::Screen;

pub use home::{guides_folder, outputs_folder};
pub use invocation::Invocation;

/// Runs the program, and returns its exit status. Uses the standard streams, handles signals, and
/// may end the process: call it once, from a process that does nothing else.
pub fn run(invocation: Invocation) -> u8 {
    let invocation = invocation::set(invocation);
    let matches = args::command().try_get_matches_from(&invocation.arguments);
    let parsed = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    let done = match parsed {
        Ok(cli) => {
            let screen = Screen::detect_with(cli.appearance);
            if cli.appearance.quiet {
                output::Notes::silence();
            }
            commands::run(&cli, &screen)
        }
        Err(error) => {
            screen::choose_colors(invocation.arguments.iter().cloned());
            errors::usage::report(error, Screen::detect().out)
        }
    };
    match done {
        Ok(()) => 0,
        Err(failure) => {
            failure.report();
            failure.status()
        }
    }
}
