//! The command line: asks the library, prints answers, and ends with a status.
//!
//! `main` reads the arguments and hands over to one of [`commands`]; a [`job`] is one run over one input, the [`toolbox`]
//! the tools over the store and the buffers that lie in [`home`], [`model`] what answers documents; [`output`] holds what is printed, [`errors`] what is said when something
//! goes wrong. Answers go to standard output and nothing else does. `unsafe` stands in [`sigbus`] only.

mod ahead;
mod args;
#[cfg(feature = "cloud")]
mod cloud;
mod commands;
mod errors;
mod home;
mod job;
mod model;
mod output;
mod prefix;
mod progress;
mod sigbus;
mod signals;
mod toolbox;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::errors::Failure;

fn main() -> ExitCode {
    let done = match Cli::try_parse() {
        Ok(cli) => commands::run(&cli),
        Err(error) => return explain(&args::with_commands(error)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.status())
        }
    }
}

/// Prints help, the version, or what is wrong with the arguments.
fn explain(error: &clap::Error) -> ExitCode {
    match error.print() {
        Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::from(Failure::Output(cause).status())
        }
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
    }
}
