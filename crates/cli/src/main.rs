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
mod progress;
mod sigbus;
mod signals;
mod toolbox;

use std::io;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::Cli;
use crate::errors::Failure;

fn main() -> ExitCode {
    let done = match Cli::try_parse() {
        Ok(cli) => commands::run(&cli),
        Err(error) => return explain(&with_commands(error)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.status())
        }
    }
}

/// Adds to the error about a misplaced `--where` the commands that take it.
fn with_commands(mut error: clap::Error) -> clap::Error {
    let argument = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    if error.kind() == ErrorKind::UnknownArgument && argument.as_deref() == Some("--where") {
        let tip = "extract, count, sample, stats, and schema take --where".into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
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
