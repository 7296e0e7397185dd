//! Errors of the engine as exceptions of the package.

use std::io;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use trommel::reader::{self, ErrorKind};
use trommel::{Error, path};
use trommel_answer::RequestError;

/// An exception class of the module `trommel._errors`, called with arguments.
pub(crate) fn raised<'py>(
    py: Python<'py>,
    class: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyErr {
    let made = py.import("trommel._errors").and_then(|errors| errors.getattr(class));
    match made.and_then(|class| class.call1(arguments)) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The exception of an error of a run. An exception that a file object or a callback raised comes
/// out as itself.
pub(crate) fn of_run(py: Python<'_>, error: &Error) -> PyErr {
    if let Some(exception) = of_python(py, error) {
        return exception;
    }
    match error {
        Error::Read { error, .. } => of_reader(py, error, &error_text(error)),
        Error::Query(error) => query(py, &error.to_string()),
        Error::Open { cause, path } => of_io(cause, &path.display().to_string()),
        error => raised(py, "Error", (error.to_string(),)),
    }
}

fn error_text(error: &reader::Error) -> String {
    error.to_string()
}

/// The exception of an error of reading, with a message.
pub(crate) fn of_reader(py: Python<'_>, error: &reader::Error, message: &str) -> PyErr {
    match error.kind() {
        ErrorKind::Limit(_) => raised(py, "LimitError", (message,)),
        ErrorKind::SourceChanged => raised(py, "ChangedError", (message,)),
        ErrorKind::Syntax(_) => {
            let position = error.line_column();
            let (line, column) = (position.map(|at| at.line), position.map(|at| at.column));
            let excerpt = PyBytes::new(py, error.excerpt().bytes());
            raised(py, "JsonError", (message, error.kind().code(), error.offset(), line, column, excerpt))
        }
        _ => PyOSError::new_err(message.to_owned()),
    }
}

/// The exception that Python code raised while the engine called it, anywhere among the causes.
fn of_python(py: Python<'_>, error: &(dyn std::error::Error + 'static)) -> Option<PyErr> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(raised) = inner.and_then(|inner| inner.downcast_ref::<PyErr>()) {
            return Some(raised.clone_ref(py));
        }
        cause = error.source();
    }
    None
}

fn of_io(cause: &io::Error, path: &str) -> PyErr {
    // `OSError` becomes `FileNotFoundError` and so on by its number.
    match cause.raw_os_error() {
        Some(number) => PyOSError::new_err((number, cause.to_string(), path.to_owned())),
        None => PyOSError::new_err(format!("{path}: {cause}")),
    }
}

/// The exception of an invalid query.
pub(crate) fn query(py: Python<'_>, message: &str) -> PyErr {
    raised(py, "QueryError", (message,))
}

/// The exception of an error of a request.
pub(crate) fn of_request(py: Python<'_>, error: &RequestError) -> PyErr {
    match error {
        RequestError::Query(error) => query(py, &error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// Parses a query.
pub(crate) fn parsed(py: Python<'_>, text: &str) -> PyResult<path::Query> {
    text.parse().map_err(|error: path::ParseError| query(py, &error.to_string()))
}

/// The exception of an error of a table.
pub(crate) fn of_table(py: Python<'_>, error: &trommel_table::Error) -> PyErr {
    match error {
        trommel_table::Error::Run(error) => of_run(py, error),
        trommel_table::Error::Malformed { error, .. } => of_reader(py, error, &error.to_string()),
        trommel_table::Error::Misfit(_) | trommel_table::Error::Schema(_) => {
            PyValueError::new_err(error.to_string())
        }
        trommel_table::Error::Io(cause) => PyOSError::new_err(cause.to_string()),
        error => PyRuntimeError::new_err(error.to_string()),
    }
}

/// The exception of an error of a store.
pub(crate) fn of_store(py: Python<'_>, error: &trommel_store::Error) -> PyErr {
    let exception = || raised(py, "StoreError", (error.to_string(), error.candidates().to_vec()));
    of_python(py, error).unwrap_or_else(exception)
}

/// The exception of a failed thread or a broken invariant.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes values")]
pub(crate) fn internal(message: impl ToString) -> PyErr {
    PyRuntimeError::new_err(message.to_string())
}
