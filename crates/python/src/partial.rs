//! Requests of Python, and answers to parts of an input, which are stored, sent, and merged.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple, PyType};
use trommel_answer::{PartialAnswers, Questions, Request};

use crate::answers::{self, Extracted};
use crate::errors::{of_request, of_run};

/// The requests among the arguments of a call: objects of the classes in `trommel._requests`.
pub(crate) fn requests<'py>(
    arguments: impl IntoIterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Vec<Request>> {
    let requests = arguments.into_iter().map(|request| one(&request)).collect::<PyResult<Vec<_>>>()?;
    if requests.is_empty() {
        return Err(PyTypeError::new_err("give at least one request, such as trommel.Count(\"$\")"));
    }
    Ok(requests)
}

fn one(request: &Bound<'_, PyAny>) -> PyResult<Request> {
    let py = request.py();
    let name = request.get_type().name()?;
    if !request.is_instance(&py.import("trommel._requests")?.getattr("Request")?)? {
        return Err(PyTypeError::new_err(format!(
            "{name} is not a request: give Values, Count, Sample, Stats, Schema, or Group"
        )));
    }
    let text: String = request.call_method0("_text")?.extract()?;
    serde_json::from_str(&text)
        .map_err(|error| PyValueError::new_err(format!("{name} has a wrong argument: {error}")))
}

/// The answers to a part of an input, or to several merged parts.
#[pyclass(module = "trommel", frozen)]
pub(crate) struct Partial(PartialAnswers);

impl Partial {
    pub(crate) fn new(questions: Questions, partial: trommel::Partial) -> Self {
        Self(PartialAnswers { questions, partial })
    }
}

fn invalid(error: &trommel::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Partial {
    /// The stored form: the same bytes for the same answers.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.to_bytes().map_err(|error| of_run(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads the stored form.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, bytes: &[u8]) -> PyResult<Self> {
        PartialAnswers::from_bytes(bytes).map(Self).map_err(|error| invalid(&error))
    }

    /// The answers, in the order of the requests.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let Self(PartialAnswers { questions, .. }) = self;
        let report = self.0.clone().finish().map_err(|error| invalid(&error))?;
        answers::warn_skipped(py, &report.coverage)?;
        let measures = questions.measures().map_err(|error| of_request(py, &error))?;
        answers::list(py, &questions.requests, &measures, report, &Extracted::default())
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let bytes = this.get().to_bytes(this.py())?;
        Ok((this.get_type().getattr("from_bytes")?, PyTuple::new(this.py(), [bytes])?))
    }
}

/// Merges partials in the order of the input.
#[pyfunction]
#[pyo3(signature = (*partials))]
pub(crate) fn merge(partials: &Bound<'_, PyTuple>) -> PyResult<Partial> {
    let mut merged: Option<PartialAnswers> = None;
    for partial in partials {
        let partial = partial.cast::<Partial>().map_err(|_other_type| {
            let name = partial.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string());
            PyTypeError::new_err(format!("{name} is not a Partial"))
        })?;
        let later = partial.get().0.clone();
        merged = Some(match merged {
            None => later,
            Some(earlier) => earlier.merge(later).map_err(|error| invalid(&error))?,
        });
    }
    merged.map(Partial).ok_or_else(|| PyTypeError::new_err("merge() needs at least one Partial"))
}
