//! The command line, for the package's entry point.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use trommel_cli::Invocation;

/// Runs the command line with its arguments, the first of which is its name. Returns the exit
/// status. `program` is the file that starts it.
#[pyfunction]
#[pyo3(signature = (arguments, program=None))]
pub(crate) fn run_program(py: Python<'_>, arguments: Vec<OsString>, program: Option<PathBuf>) -> u8 {
    py.detach(|| trommel_cli::run(Invocation { arguments, program }))
}
