//! Documents: what to read, and which of its records.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMemoryView, PyTuple};
use trommel::path::{Order, Query};
use trommel::reader::{Framing, MapPolicy, Validation};
use trommel::sampler::Seed;
use trommel::{Analysis, Cancel, Error};

use crate::errors::{internal, of_run, parsed, query};
use crate::file::{FileObject, SharedFile};
use crate::run::interruptible;
use crate::sample::Sample;
use crate::table::{Table, TableOptions};
use crate::values::Values;

/// JSON of any size, and the records in it that count.
#[pyclass(module = "trommel", frozen)]
pub(crate) struct Document(Settings);

/// What to read and how.
#[derive(Clone)]
pub(crate) struct Settings {
    source: Arc<Source>,
    framing: Option<Framing>,
    each: Option<Query>,
    filters: Vec<trommel::path::Logical>,
    part: Option<(u64, u64)>,
    is_strict: bool,
    threads: Option<usize>,
    progress: Option<Arc<Py<PyAny>>>,
    /// The exception of the progress callback, which ends the run.
    raised: Arc<Mutex<Option<PyErr>>>,
}

enum Source {
    Path {
        path: PathBuf,
        is_trusted: bool,
    },
    Bytes(Arc<PyBackedBytes>),
    Seekable(Arc<SharedFile>),
    /// A file object that can be read once.
    Stream(Mutex<Option<FileObject>>),
}

/// Shares bytes among the documents of several runs.
struct SharedBytes(Arc<PyBackedBytes>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Opens a path, a URL of fsspec, bytes, or a binary file object. Nothing is read yet.
#[pyfunction]
#[pyo3(signature = (source, *, framing=None, trusted=false, strict=false, threads=None, progress=None))]
pub(crate) fn open(
    source: &Bound<'_, PyAny>,
    framing: Option<&str>,
    trusted: bool,
    strict: bool,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Document> {
    let framing = framing.map(framing_of).transpose()?;
    if threads == Some(0) {
        return Err(PyValueError::new_err("threads must be at least 1"));
    }
    Ok(Document(Settings {
        source: Arc::new(Source::of(source, trusted)?),
        framing,
        each: None,
        filters: Vec::new(),
        part: None,
        is_strict: strict,
        threads,
        progress: progress.map(Arc::new),
        raised: Arc::default(),
    }))
}

fn framing_of(name: &str) -> PyResult<Framing> {
    Ok(match name {
        "auto" => Framing::Auto,
        "json" => Framing::Single,
        "jsonl" => Framing::Lines,
        "concatenated" => Framing::Concatenated,
        "json-seq" => Framing::JsonSeq,
        _ => {
            let names = "auto, json, jsonl, concatenated, json-seq";
            return Err(PyValueError::new_err(format!("framing must be one of {names}, not {name:?}")));
        }
    })
}

impl Source {
    fn of(source: &Bound<'_, PyAny>, is_trusted: bool) -> PyResult<Self> {
        let py = source.py();
        if let Ok(bytes) = source.cast::<PyBytes>() {
            return Ok(Self::Bytes(Arc::new(PyBackedBytes::from(bytes.clone()))));
        }
        if source.is_instance_of::<PyByteArray>() || source.is_instance_of::<PyMemoryView>() {
            // A copy: the owner may change or resize them.
            let bytes = py.get_type::<PyBytes>().call1((source,))?.cast_into::<PyBytes>()?;
            return Ok(Self::Bytes(Arc::new(PyBackedBytes::from(bytes))));
        }
        if source.hasattr("read")? {
            let shared = SharedFile::new(source.clone().unbind());
            return Ok(if shared.is_seekable(py)? {
                Self::Seekable(Arc::new(shared))
            } else {
                Self::Stream(Mutex::new(Some(FileObject::new(&Arc::new(shared)))))
            });
        }
        if let Ok(text) = source.extract::<String>()
            && text.contains("://")
        {
            let opened = py.import("fsspec")?.call_method1("open", (text, "rb"))?.call_method0("open")?;
            return Self::of(&opened, is_trusted);
        }
        let path = source.extract::<PathBuf>().map_err(|_| {
            let name = source.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string());
            PyTypeError::new_err(format!("cannot open {name}: give a path, bytes, or a binary file object"))
        })?;
        Ok(Self::Path { path, is_trusted })
    }
}

impl Settings {
    /// Opens the input. Runs without the interpreter lock.
    pub(crate) fn document(&self) -> Result<trommel::Document<'static>, Error> {
        let mut document = match &*self.source {
            Source::Path { path, is_trusted: false } => trommel::Document::open(path)?,
            Source::Path { path, is_trusted: true } => {
                // SAFETY: the caller of `open` states that no other process truncates the file.
                let policy = unsafe { MapPolicy::trusted() };
                trommel::Document::open_with(path, policy)?
            }
            Source::Bytes(bytes) => trommel::Document::from_bytes(SharedBytes(Arc::clone(bytes))),
            Source::Seekable(shared) => trommel::Document::from_seekable(FileObject::new(shared))?,
            Source::Stream(object) => {
                let object = object.lock().unwrap_or_else(PoisonError::into_inner).take();
                trommel::Document::from_reader(object.ok_or(Error::Consumed)?)
            }
        };
        if let Some(framing) = self.framing {
            document = document.framing(framing);
        }
        match self.part {
            Some((number, count)) => document.part(number, count),
            None => Ok(document),
        }
    }

    /// The analysis of the records, without measures.
    pub(crate) fn analysis(&self, cancel: &Cancel) -> Analysis {
        let validation = if self.is_strict { Validation::Strict } else { Validation::Structural };
        let mut analysis = Analysis::new().validation(validation).cancel_with(cancel);
        if let Some(threads) = self.threads {
            analysis = analysis.threads(threads);
        }
        if let Some(each) = &self.each {
            analysis = analysis.each(each.clone());
        }
        if let Some(callback) = &self.progress {
            let (callback, raised, cancel) = (Arc::clone(callback), Arc::clone(&self.raised), cancel.clone());
            analysis = analysis.on_progress(move |progress| {
                let called = Python::attach(|py| callback.call1(py, (progress.bytes, progress.total)));
                if let Err(error) = called {
                    raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    cancel.cancel();
                }
            });
        }
        self.filters.iter().cloned().fold(analysis, Analysis::filter)
    }

    /// The exception of a failed run: that of the progress callback, if it raised one.
    pub(crate) fn error(&self, py: Python<'_>, error: &Error) -> PyErr {
        self.raised().unwrap_or_else(|| of_run(py, error))
    }

    /// Removes the exception that the progress callback raised.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Answers measures over the document.
    pub(crate) fn run(
        &self,
        py: Python<'_>,
        with: impl FnOnce(Analysis) -> Analysis,
    ) -> PyResult<trommel::Report> {
        let cancel = Cancel::new();
        let analysis = with(self.analysis(&cancel));
        let settings = self.clone();
        let ran = interruptible(py, &cancel, move || analysis.run(&mut settings.document()?))?;
        if let Some(raised) = self.raised() {
            return Err(raised);
        }
        ran.map_err(|error| self.error(py, &error))
    }
}

#[pymethods]
impl Document {
    /// The nodes of a query as records.
    fn each(&self, py: Python<'_>, query: &str) -> PyResult<Self> {
        let each = Some(parsed(py, query)?);
        Ok(Self(Settings { each, ..self.0.clone() }))
    }

    /// The records for which a filter holds, such as `@.type == 'PushEvent'`.
    #[pyo3(name = "where")]
    fn filter(&self, py: Python<'_>, filter: &str) -> PyResult<Self> {
        let parsed = Query::parse_filter(filter).map_err(|error| query(py, &error.to_string()))?;
        let mut settings = self.0.clone();
        settings.filters.push(parsed);
        Ok(Self(settings))
    }

    /// Part `number`, from 0, of `count` parts, which contain each record once. The records must be
    /// lines.
    fn part(&self, py: Python<'_>, number: u64, count: u64) -> PyResult<Self> {
        let settings = Settings { part: Some((number, count)), ..self.0.clone() };
        if !matches!(*settings.source, Source::Stream(_)) {
            let of_part = settings.clone();
            let opened = interruptible(py, &Cancel::new(), move || of_part.document().map(drop))?;
            opened.map_err(|error| PyValueError::new_err(error.to_string()))?;
        }
        Ok(Self(settings))
    }

    /// Iterates over the values of a query.
    #[pyo3(signature = (query, *, order="rfc", limit=None, decimal=false))]
    fn values(
        &self,
        py: Python<'_>,
        query: &str,
        order: &str,
        limit: Option<u64>,
        decimal: bool,
    ) -> PyResult<Values> {
        let order = match order {
            "rfc" => Order::Rfc,
            "document" => Order::Document,
            _ => return Err(PyValueError::new_err(format!("order must be rfc or document, not {order:?}"))),
        };
        Values::new(py, self.0.clone(), (parsed(py, query)?, order, limit), decimal)
    }

    /// Counts the nodes of queries: a number for one query, otherwise a dictionary.
    #[pyo3(signature = (*queries, **named))]
    fn count(
        &self,
        py: Python<'_>,
        queries: &Bound<'_, PyTuple>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let mut asked = Vec::new();
        for query in queries {
            let text: String = query.extract()?;
            asked.push((text.clone(), parsed(py, &text)?));
        }
        for (name, query) in named.into_iter().flatten() {
            asked.push((name.extract()?, parsed(py, &query.extract::<String>()?)?));
        }
        let mut seen = HashSet::new();
        if let Some((twice, _)) = asked.iter().find(|(name, _)| !seen.insert(name)) {
            return Err(PyValueError::new_err(format!("two counts are named {twice:?}")));
        }
        if asked.is_empty() {
            return Err(PyTypeError::new_err("count() needs at least one query"));
        }
        let is_one = named.is_none() && asked.len() == 1;
        let counts = asked.iter().map(|(_, query)| query.clone()).collect::<Vec<_>>();
        let report = self.0.run(py, |analysis| counts.into_iter().fold(analysis, Analysis::count))?;
        let totals: Option<Vec<u64>> = report.answers.iter().map(trommel::Answer::count).collect();
        let totals = totals.ok_or_else(|| internal("a count has another answer"))?;
        if let (true, [total]) = (is_one, totals.as_slice()) {
            return Ok(total.into_pyobject(py)?.into_any().unbind());
        }
        let answer = PyDict::new(py);
        for ((name, _), total) in asked.iter().zip(totals) {
            answer.set_item(name, total)?;
        }
        Ok(answer.into_any().unbind())
    }

    /// Draws a random sample of the elements of an array, or of the nodes of a query.
    #[pyo3(signature = (query, size, *, seed=0, decimal=false))]
    fn sample(&self, py: Python<'_>, query: &str, size: usize, seed: u64, decimal: bool) -> PyResult<Sample> {
        let Some(size) = std::num::NonZeroUsize::new(size) else {
            return Err(PyValueError::new_err("size must be at least 1"));
        };
        let sample = trommel::Sample::new(parsed(py, query)?, size).seed(Seed::new(seed));
        let report = self.0.run(py, |analysis| analysis.sample(sample))?;
        Sample::new(py, report, decimal)
    }

    /// A table of the records, as an Arrow stream or a Parquet file. Nothing is read yet.
    #[pyo3(signature = (*, rows=None, columns=None, numbers="exact", schema=None, on_bad_row="stop", depth=8))]
    #[expect(clippy::too_many_arguments, reason = "the arguments are those of Python")]
    fn table(
        &self,
        py: Python<'_>,
        rows: Option<&str>,
        columns: Option<&Bound<'_, PyAny>>,
        numbers: &str,
        schema: Option<&str>,
        on_bad_row: &str,
        depth: u32,
    ) -> PyResult<Table> {
        let mut settings = self.0.clone();
        if let Some(rows) = rows {
            settings.each = Some(parsed(py, rows)?);
        }
        let options = TableOptions::new(py, columns, (numbers, on_bad_row), schema, depth)?;
        Ok(Table::new(settings, options))
    }
}
