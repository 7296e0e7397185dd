//! The extension module of the Python package `trommel`.
//!
//! The engine runs on threads of its own while the interpreter lock is released. The calling thread
//! checks for signals, so that Ctrl-C cancels a run.

mod decode;
mod document;
mod errors;
mod file;
mod run;
mod sample;
mod table;
mod values;

use pyo3::prelude::*;

#[pymodule]
fn _trommel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(document::open, module)?)?;
    module.add_class::<document::Document>()?;
    module.add_class::<sample::Sample>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<values::Values>()
}
