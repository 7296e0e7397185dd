//! Answers to parts of an input, which are stored, sent, and merged.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple, PyType};
use serde::{Deserialize, Serialize};
use trommel::path::Query;
use trommel::reader::Validation;
use trommel::{Analysis, Measure};

use crate::answers::{self, Extracted};
use crate::errors::{of_run, parsed, query};
use crate::requests::Request;

/// The questions of a run: what is asked, of which records.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Questions {
    pub(crate) requests: Vec<Request>,
    pub(crate) each: Option<String>,
    pub(crate) filters: Vec<String>,
    pub(crate) strict: bool,
}

impl Questions {
    pub(crate) fn measures(&self, py: Python<'_>) -> PyResult<Vec<Measure>> {
        self.requests.iter().map(|request| request.measure(py)).collect()
    }

    /// The analysis that the partials answer.
    fn analysis(&self, py: Python<'_>) -> PyResult<Analysis> {
        let validation = if self.strict { Validation::Strict } else { Validation::Structural };
        let mut analysis = Analysis::new().validation(validation);
        if let Some(each) = &self.each {
            analysis = analysis.each(parsed(py, each)?);
        }
        for filter in &self.filters {
            let filter = Query::parse_filter(filter).map_err(|error| query(py, &error.to_string()))?;
            analysis = analysis.filter(filter);
        }
        Ok(self.measures(py)?.into_iter().fold(analysis, Analysis::ask))
    }
}

/// The answers to a part of an input, or to several merged parts.
#[pyclass(module = "trommel", frozen)]
pub(crate) struct Partial {
    questions: Questions,
    partial: trommel::Partial,
}

impl Partial {
    pub(crate) fn new(questions: Questions, partial: trommel::Partial) -> Self {
        Self { questions, partial }
    }
}

#[pymethods]
impl Partial {
    /// The stored form: the same bytes for the same answers.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        // A line with the questions, then the answers.
        let mut bytes = serde_json::to_vec(&self.questions).map_err(crate::errors::internal)?;
        bytes.push(b'\n');
        bytes.extend(self.partial.to_bytes().map_err(|error| of_run(py, &error))?);
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads the stored form.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let damaged = |why: String| PyValueError::new_err(format!("not a partial: {why}"));
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let end = end.ok_or_else(|| damaged("it has no line of questions".into()))?;
        let questions: Questions =
            serde_json::from_slice(&bytes[..end]).map_err(|error| damaged(error.to_string()))?;
        let partial = trommel::Partial::from_bytes(&bytes[end + 1..])
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        questions.measures(py)?;
        Ok(Self { questions, partial })
    }

    /// The answers, in the order of the requests.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let analysis = self.questions.analysis(py)?;
        let finished = analysis.finish(self.partial.clone());
        let report = finished.map_err(|error| PyValueError::new_err(error.to_string()))?;
        answers::warn_skipped(py, &report.coverage)?;
        let measures = self.questions.measures(py)?;
        answers::list(py, &self.questions.requests, &measures, (report, &Extracted::default()))
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
    let mut merged: Option<Partial> = None;
    for partial in partials {
        let partial = partial.cast::<Partial>().map_err(|_| {
            let name = partial.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string());
            PyTypeError::new_err(format!("{name} is not a Partial"))
        })?;
        let (questions, later) = (partial.get().questions.clone(), partial.get().partial.clone());
        merged = Some(match merged {
            None => Partial { questions, partial: later },
            Some(Partial { questions, partial: earlier }) => {
                let partial = earlier.merge(later);
                let partial = partial.map_err(|error| PyValueError::new_err(error.to_string()))?;
                Partial { questions, partial }
            }
        });
    }
    merged.ok_or_else(|| PyTypeError::new_err("merge() needs at least one Partial"))
}
