//! Samples.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::decode::{ByteOrigin, Decoder};

/// The items of a sample, in the order of the input. Each is decoded when it is asked for.
#[pyclass(module = "trommel", frozen)]
pub(crate) struct SampleAnswer {
    answer: trommel::SampleAnswer,
    decoder: Mutex<Decoder>,
}

impl SampleAnswer {
    pub(crate) fn new(py: Python<'_>, answer: trommel::SampleAnswer, is_decimal: bool) -> PyResult<Self> {
        Ok(Self { answer, decoder: Mutex::new(Decoder::new(py, is_decimal)?) })
    }
}

#[pymethods]
impl SampleAnswer {
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

    /// The groups of a stratified sample: the common value of each, its items, and those drawn.
    #[getter]
    fn strata<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(strata) = &self.answer.strata else { return Ok(None) };
        let rows = PyList::empty(py);
        let mut decoder = self.decoder.lock().unwrap_or_else(PoisonError::into_inner);
        for stratum in strata {
            let row = PyDict::new(py);
            if let Some(value) = &stratum.value {
                row.set_item("value", decoder.value(py, value, ByteOrigin::all(" of the group's value"))?)?;
            }
            row.set_item("total", stratum.total)?;
            row.set_item("sampled", stratum.sampled)?;
            rows.append(row)?;
        }
        Ok(Some(rows))
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
            ByteOrigin::all(" of the sampled value"),
        )
    }
}
