//! The command line: asks the library, prints answers, and ends with a status.
//!
//! `main` parses the arguments, detects the [`screen`], and runs one of [`commands`]. An
//! [`input`] is what a command reads, a [`job`] one run of the engine over it, the [`toolbox`] the
//! tools over the store and the buffers that [`home`] names. [`output`] holds what is printed,
//! [`errors`] what is reported when something goes wrong. Answers go to standard output and
//! nothing else does. Only [`sigbus`] and [`stdio`] contain `unsafe` code.

mod ahead;
mod args;
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
mod screen;
mod sigbus;
mod signals;
mod stdio;
mod toolbox;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::screen::Screen;

fn main() -> ExitCode {
    let screen = Screen::detect();
    let done = match Cli::try_parse() {
        Ok(cli) => commands::run(&cli, &screen),
        Err(error) => errors::usage::report(error, screen.out),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.status())
        }
    }
}
