//! Progress of a run: a callback, or a bar.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use trommel::Progress as Figures;

/// The receiver of progress.
pub(crate) enum Progress {
    /// A callable that takes the bytes that were read, and their total or None.
    Call(Py<PyAny>),
    /// A new bar for each run, made by a class.
    Bar(Py<PyAny>),
}

/// The progress of one run.
pub(crate) struct Shown {
    callable: PyResult<Py<PyAny>>,
    is_bar: bool,
}

impl Progress {
    /// The meaning of the argument `progress`: None or a boolean, or a callable.
    pub(crate) fn of(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Self>> {
        let Some(argument) = argument else { return Ok(None) };
        if let Ok(is_shown) = argument.extract::<bool>() {
            let class = argument.py().import("trommel._progress")?.getattr("Bar")?;
            return Ok(is_shown.then(|| Self::Bar(class.unbind())));
        }
        if argument.is_callable() {
            return Ok(Some(Self::Call(argument.clone().unbind())));
        }
        Err(PyTypeError::new_err("progress must be True, False, or a callable"))
    }

    /// The progress of a run that starts.
    pub(crate) fn start(&self) -> Shown {
        Python::attach(|py| match self {
            Self::Call(callable) => Shown { callable: Ok(callable.clone_ref(py)), is_bar: false },
            Self::Bar(class) => Shown { callable: class.call0(py), is_bar: true },
        })
    }
}

impl Shown {
    /// Passes the figures on. Returns what the callable raises.
    pub(crate) fn update(&self, figures: Figures) -> PyResult<()> {
        Python::attach(|py| {
            let callable = self.callable.as_ref().map_err(|error| error.clone_ref(py))?;
            callable.call1(py, (figures.bytes, figures.total)).map(drop)
        })
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let (Ok(bar), true) = (&self.callable, self.is_bar) {
            // Nothing can be raised here; a bar that cannot be closed stays on the screen.
            let _ = Python::try_attach(|py| bar.call_method0(py, "close").map(drop));
        }
    }
}
