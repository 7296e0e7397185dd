//! Iteration over the values of a query.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use trommel::path::{Order, Query};
use trommel::{Cancel, Extract, Measure};
use trommel_values::Values;

use crate::answers::warn_skipped;
use crate::decode::{ByteOrigin, Decoder};
use crate::run::interruptible;
use crate::settings::Settings;

/// An iterator over the values of a query. Leaving the loop stops the run.
#[pyclass(module = "trommel")]
pub(crate) struct ValueIterator {
    settings: Settings,
    selection: Selection,
    form: Form,
    decoder: Decoder,
    cancel: Cancel,
    state: State,
    /// The number of the next value in the current batch.
    at: usize,
}

/// The values that are returned.
#[derive(Clone)]
pub(crate) struct Selection {
    pub(crate) query: Query,
    pub(crate) order: Order,
    pub(crate) limit: Option<u64>,
}

/// The form of the returned values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Decoded,
    Raw,
    Located,
}

enum State {
    NotStarted,
    Running(Box<Values>),
    Over,
}

impl ValueIterator {
    pub(crate) fn new(
        py: Python<'_>,
        settings: Settings,
        selection: Selection,
        is_decimal: bool,
    ) -> PyResult<Self> {
        let decoder = Decoder::new(py, is_decimal)?;
        let (form, cancel, state) = (Form::Decoded, Cancel::new(), State::NotStarted);
        Ok(Self { settings, selection, form, decoder, cancel, state, at: 0 })
    }

    /// Starts the run, and reads the next batch. Returns false after the last one.
    fn advance(&mut self, py: Python<'_>) -> PyResult<bool> {
        if matches!(self.state, State::NotStarted) {
            self.state = State::Over;
            let analysis = self.settings.analysis(&self.cancel);
            let Selection { query, order, limit } = self.selection.clone();
            let extract = Extract::new(query);
            let extract = match limit {
                Some(limit) => extract.limit(limit),
                None => extract,
            };
            let analysis = analysis.order(order).ask(Measure::Extract(extract));
            let (settings, form) = (self.settings.clone(), self.form);
            let started = interruptible(py, &self.cancel, move || {
                let document = settings.document()?;
                if form == Form::Located {
                    Values::located(&analysis, document)
                } else {
                    Values::new(&analysis, document)
                }
            })?;
            self.state = State::Running(Box::new(started.map_err(|error| self.settings.error(py, &error))?));
        }
        self.at = 0;
        // An interrupt leaves the values to the thread that waits for them.
        let State::Running(mut values) = std::mem::replace(&mut self.state, State::Over) else {
            return Ok(false);
        };
        let (values, next) = interruptible(py, &self.cancel, move || {
            let next = values.next_batch().map(|batch| batch.is_some());
            (values, next)
        })?;
        let report = values.report().map(|report| report.coverage);
        let raised = self.settings.raised();
        if raised.is_none() && matches!(next, Ok(true)) {
            self.state = State::Running(values);
        }
        if let Some(raised) = raised {
            return Err(raised);
        }
        let is_more = next.map_err(|error| self.settings.error(py, &error))?;
        if let Some(report) = report {
            warn_skipped(py, &report)?;
        }
        Ok(is_more)
    }

    fn with_form(&self, py: Python<'_>, form: Form) -> PyResult<Self> {
        if !matches!(self.state, State::NotStarted) {
            return Err(PyRuntimeError::new_err("the values are already being read"));
        }
        let decoder = self.decoder.again(py);
        let (settings, selection) = (self.settings.clone(), self.selection.clone());
        let (cancel, state) = (Cancel::new(), State::NotStarted);
        Ok(Self { settings, selection, form, decoder, cancel, state, at: 0 })
    }
}

#[pymethods]
impl ValueIterator {
    /// The bytes of each value as they are in the input, instead of Python values.
    fn raw(&self, py: Python<'_>) -> PyResult<Self> {
        self.with_form(py, Form::Raw)
    }

    /// A tuple for each value: its normalized path, its span in bytes, and the value.
    fn located(&self, py: Python<'_>) -> PyResult<Self> {
        self.with_form(py, Form::Located)
    }

    /// Stops the run.
    fn close(&mut self) {
        self.cancel.cancel();
        self.state = State::Over;
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            if let State::Running(values) = &self.state
                && let Some(value) = values.batch().get(self.at)
            {
                self.at += 1;
                return Ok(Some(match self.form {
                    Form::Raw => PyBytes::new(py, value.bytes).into_any(),
                    Form::Decoded => {
                        self.decoder.value(py, value.bytes, ByteOrigin::input(value.span.start))?
                    }
                    Form::Located => {
                        let decoded =
                            self.decoder.value(py, value.bytes, ByteOrigin::input(value.span.start))?;
                        let span = (value.span.start, value.span.end).into_pyobject(py)?.into_any();
                        let path = value.location.into_pyobject(py)?.into_any();
                        PyTuple::new(py, [path, span, decoded])?.into_any()
                    }
                }));
            }
            if !self.advance(py)? {
                return Ok(None);
            }
        }
    }
}
