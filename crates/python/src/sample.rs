//! Samples.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use trommel::{Answer, Report, SampleAnswer};

use crate::decode::Decoder;
use crate::errors::internal;

/// The items of a sample, in the order of the input. Each is decoded when it is asked for.
#[pyclass(module = "trommel", frozen)]
pub(crate) struct Sample {
    answer: SampleAnswer,
    decoder: Mutex<Decoder>,
}

impl Sample {
    pub(crate) fn new(py: Python<'_>, report: Report, is_decimal: bool) -> PyResult<Self> {
        let answer = report.answers.into_iter().find_map(|answer| match answer {
            Answer::Sample(sample) => Some(sample),
            _ => None,
        });
        let answer = answer.ok_or_else(|| internal("the run has no sample"))?;
        Ok(Self { answer, decoder: Mutex::new(Decoder::new(py, is_decimal)?) })
    }
}

#[pymethods]
impl Sample {
    /// The size of the population.
    #[getter]
    fn total(&self) -> u64 {
        self.answer.total
    }

    /// The index of each item in the population.
    #[getter]
    fn indices(&self) -> Vec<u64> {
        self.answer.items.iter().map(|item| item.index).collect()
    }

    fn __len__(&self) -> usize {
        self.answer.items.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let count = self.answer.items.len();
        let at = if index < 0 { count.checked_sub(index.unsigned_abs()) } else { Some(index.unsigned_abs()) };
        let item = at.and_then(|at| self.answer.items.get(at));
        let item = item.ok_or_else(|| PyIndexError::new_err("there is no such item"))?;
        self.decoder.lock().unwrap_or_else(PoisonError::into_inner).value(
            py,
            &item.value,
            (0, " of the sampled value"),
        )
    }
}
