//! The extension module of the Python package `trommel`.
//!
//! The engine runs on threads of its own while the interpreter lock is released. The calling thread
//! checks for signals, so that Ctrl-C cancels a run.

mod answers;
mod decode;
mod document;
mod errors;
mod file;
mod partial;
mod program;
mod progress;
mod run;
mod sample;
mod settings;
mod source;
mod store;
mod table;
mod values;

use pyo3::prelude::*;

#[pymodule]
fn _trommel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(document::open, module)?)?;
    module.add_function(wrap_pyfunction!(partial::merge, module)?)?;
    module.add_function(wrap_pyfunction!(program::run_program, module)?)?;
    module.add_function(wrap_pyfunction!(store::store, module)?)?;
    module.add_class::<document::Document>()?;
    module.add_class::<document::Part>()?;
    module.add_class::<partial::Partial>()?;
    module.add_class::<sample::SampleAnswer>()?;
    module.add_class::<store::Store>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<values::ValueIterator>()
}
