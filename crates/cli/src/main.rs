//! The command line: asks the library, prints answers, and ends with a status.
//!
//! `main` reads the arguments and hands over to one of [`commands`]; a [`job`] is one run over one input, the [`toolbox`]
//! the tools over the store and the buffers that lie in [`home`], [`model`] what answers documents; [`output`] holds what is printed, [`errors`] what is said when something
//! goes wrong. Answers go to standard output and nothing else does. Only [`sigbus`] and [`stdio`] contain `unsafe` code.

mod ahead;
mod args;
#[cfg(feature = "cloud")]
mod cloud;
mod commands;
mod errors;
mod home;
mod input;
mod job;
mod model;
mod output;
mod prefix;
mod progress;
mod sigbus;
mod signals;
mod stdio;
mod toolbox;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::output::Screen;

fn main() -> ExitCode {
    let screen = Screen::detect();
    let done = match Cli::try_parse() {
        Ok(cli) => commands::run(&cli, &screen),
        Err(error) => errors::usage::report(args::with_commands(error), screen.out),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.status())
        }
    }
}
