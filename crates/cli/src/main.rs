//! The command line: calls the library, prints answers, and exits with a status.
//!
//! `main` parses the arguments, detects the [`screen`], and runs one of [`commands`]. An [`input`]
//! is opened for a command, a [`job`] runs the engine over it, and the [`toolbox`] holds the tools
//! over the store and buffers of [`home`]. [`output`] formats answers and [`errors`] formats
//! failures. Answers go to standard output and nothing else does. Only [`sigbus`] and [`stdio`]
//! contain `unsafe` code.

mod args;
mod arguments;
#[cfg(feature = "cloud")]
mod cloud;
mod commands;
mod errors;
mod home;
mod input;
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

use std::process::ExitCode;

use clap::FromArgMatches;

use crate::args::Cli;
use crate::screen::Screen;

fn main() -> ExitCode {
    let parsed = args::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let done = match parsed {
        Ok(cli) => {
            let screen = Screen::detect_with(cli.appearance);
            if cli.appearance.quiet {
                output::Notes::silence();
            }
            commands::run(&cli, &screen)
        }
        Err(error) => {
            screen::choose_colors(std::env::args_os());
            errors::usage::report(error, Screen::detect().out)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.status())
        }
    }
}
