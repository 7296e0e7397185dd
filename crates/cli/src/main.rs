//! The binary `trommel`.
//!
//! Everything is in the library of this crate, because the Python package contains the same
//! program.

use std::process::ExitCode;

use trommel_cli::Invocation;

fn main() -> ExitCode {
    ExitCode::from(trommel_cli::run(Invocation::of_process()))
}
