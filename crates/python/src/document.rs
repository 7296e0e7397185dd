//! Documents: what to read, and which of its records.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use trommel::path::{Order, Query};
use trommel::reader::{Framing, Validation};
use trommel::{Cancel, Count, ElementPart, Match, Measure, OnBadRecord, Stats};
use trommel_answer::Request;

use crate::answers;
use crate::errors::{internal, of_request, parsed, query};
use crate::partial::{Partial, requests};
use crate::progress::Progress;
use crate::run::interruptible;
use crate::settings::Settings;
use crate::source::{Source, framing_of};
use crate::table::{Table, TableKeywords, TableOptions};
use crate::values::{Selection, ValueIterator};

/// JSON of any size, and the records in it that count.
#[pyclass(module = "trommel", frozen, subclass)]
pub(crate) struct Document(Settings);

/// A part of a document of lines. Its runs return partial answers.
#[pyclass(module = "trommel", frozen, extends = Document)]
pub(crate) struct Part;

/// How to read a document.
#[derive(Default)]
pub(crate) struct OpenOptions {
    pub(crate) framing: Option<Framing>,
    pub(crate) is_strict: bool,
    pub(crate) on_bad_record: OnBadRecord,
    pub(crate) threads: Option<NonZeroUsize>,
    pub(crate) progress: Option<Progress>,
}

/// Opens a path, a URL of fsspec, bytes, or a binary file object. Nothing is read yet.
#[pyfunction]
#[pyo3(signature = (source, *, framing=None, trusted=false, strict=false, on_bad_record="stop", threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the arguments are those of Python")]
pub(crate) fn open(
    source: &Bound<'_, PyAny>,
    framing: Option<&str>,
    trusted: bool,
    strict: bool,
    on_bad_record: &str,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Document> {
    let threads = threads
        .map(|threads| {
            NonZeroUsize::new(threads).ok_or_else(|| PyValueError::new_err("threads must be at least 1"))
        })
        .transpose()?;
    let on_bad_record = match on_bad_record {
        "stop" => OnBadRecord::Stop,
        "skip" => OnBadRecord::Skip { at_most: u64::MAX },
        other => {
            let message = format!("on_bad_record must be stop or skip, not {other:?}");
            return Err(PyValueError::new_err(message));
        }
    };
    let options = OpenOptions {
        framing: framing.map(framing_of).transpose()?,
        is_strict: strict,
        on_bad_record,
        threads,
        progress: Progress::of(progress)?,
    };
    Ok(Document::new(Source::of(source, trusted)?, options))
}

impl Document {
    pub(crate) fn new(source: Source, options: OpenOptions) -> Self {
        Self(Settings {
            source: Arc::new(source),
            framing: options.framing,
            each: None,
            filters: Vec::new(),
            part: None,
            elements: None,
            within: None,
            is_strict: options.is_strict,
            on_bad_record: options.on_bad_record,
            threads: options.threads.map(NonZeroUsize::get),
            progress: options.progress.map(Arc::new),
            raised: Arc::default(),
        })
    }

    /// A document or a part with other settings.
    fn with(py: Python<'_>, settings: Settings) -> PyResult<Py<PyAny>> {
        let is_part = settings.part.is_some();
        let document = PyClassInitializer::from(Self(settings));
        if is_part {
            return Ok(Py::new(py, document.add_subclass(Part))?.into_any());
        }
        Ok(Py::new(py, document)?.into_any())
    }

    /// One part: of lines, or of `total` elements.
    fn part_of(&self, py: Python<'_>, number: u64, count: u64, total: Option<u64>) -> PyResult<Py<PyAny>> {
        let part = Some((number, count));
        if let Some(total) = total {
            // At most the total.
            let at = |number: u64| (u128::from(total) * u128::from(number) / u128::from(count)) as u64;
            let elements = Some(at(number)..at(number + 1));
            return Self::with(py, Settings { part, elements, ..self.0.clone() });
        }
        let settings = Settings { part, ..self.0.clone() };
        if settings.source.is_repeatable() {
            let of_part = settings.clone();
            let opened = interruptible(py, &Cancel::new(), move || of_part.document().map(drop))?;
            opened.map_err(|error| match error {
                trommel::Error::Part(error) => PyValueError::new_err(error.to_string()),
                error => settings.error(py, &error),
            })?;
        }
        Self::with(py, settings)
    }

    fn part_within(&self, py: Python<'_>, part: ElementPart) -> PyResult<Py<PyAny>> {
        let number = Some((part.number, part.count));
        Self::with(py, Settings { part: number, within: Some(part), ..self.0.clone() })
    }

    /// The answers to requests.
    fn answers<'py>(&self, py: Python<'py>, requests: &[Request]) -> PyResult<Bound<'py, PyList>> {
        let measures = requests.iter().map(Request::measure).collect::<Result<Vec<_>, _>>();
        let measures = measures.map_err(|error| of_request(py, &error))?;
        let (report, extracted) = self.0.run(py, measures.clone())?;
        answers::list(py, requests, &measures, report, &extracted)
    }

    /// The answer to a request, made by its class.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        class: &str,
        arguments: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = py.import("trommel._requests")?.getattr(class)?.call(arguments, named)?;
        self.answers(py, &requests([request])?)?.get_item(0)
    }
}

#[pymethods]
impl Document {
    /// The nodes of a query as records.
    fn each(&self, py: Python<'_>, query: &str) -> PyResult<Py<PyAny>> {
        self.0.check_undivided()?;
        let each = Some(parsed(py, query)?);
        Self::with(py, Settings { each, ..self.0.clone() })
    }

    /// The records for which a filter holds, such as `@.type == 'PushEvent'`.
    #[pyo3(name = "where")]
    fn filter(&self, py: Python<'_>, filter: &str) -> PyResult<Py<PyAny>> {
        let parsed = Query::parse_filter(filter).map_err(|error| query(py, &error.to_string()))?;
        let mut settings = self.0.clone();
        settings.filters.push(parsed);
        Self::with(py, settings)
    }

    /// Part `number`, from 0, of `count` parts, which contain each record once. The records must be
    /// lines, or the elements of an array: `each("$.users[*]")`. A single document whose file has a
    /// guide is divided in its longest array, into at most `count` parts. One part is the whole
    /// document.
    fn part(&self, py: Python<'_>, number: u64, count: u64) -> PyResult<Py<PyAny>> {
        let total = if count == 1 || number >= count { None } else { self.0.divisible_elements(py)? };
        let found = if count == 1 || total.is_some() { None } else { self.0.document_parts(py, count)? };
        let Some(found) = found else { return self.part_of(py, number, count, total) };
        let count = found.len();
        let part = usize::try_from(number).ok().and_then(|number| found.into_iter().nth(number));
        let none = || PyValueError::new_err(format!("the document has {count} parts, and no part {number}"));
        self.part_within(py, part.ok_or_else(none)?)
    }

    /// All of `count` parts. An array is counted once.
    fn parts(&self, py: Python<'_>, count: u64) -> PyResult<Vec<Py<PyAny>>> {
        let total = if count <= 1 { None } else { self.0.divisible_elements(py)? };
        if count > 1
            && total.is_none()
            && let Some(found) = self.0.document_parts(py, count)?
        {
            return found.into_iter().map(|part| self.part_within(py, part)).collect();
        }
        (0..count).map(|number| self.part_of(py, number, count, total)).collect()
    }

    /// The part of the document that `cut` describes, the attribute of a part found elsewhere.
    fn within(&self, py: Python<'_>, cut: &str) -> PyResult<Py<PyAny>> {
        self.0.check_undivided()?;
        let part = serde_json::from_str(cut);
        self.part_within(py, part.map_err(|error| PyValueError::new_err(format!("not a cut: {error}")))?)
    }

    /// The elements of the array of `each("$.users[*]")` from index `start` to `stop`, without
    /// `stop`, as a part.
    fn elements(&self, py: Python<'_>, start: u64, stop: u64) -> PyResult<Py<PyAny>> {
        self.0.check_elements()?;
        let (part, elements) = (Some((0, 1)), Some(start..stop.max(start)));
        Self::with(py, Settings { part, elements, ..self.0.clone() })
    }

    /// Answers requests in one pass. Returns their answers in order.
    #[pyo3(signature = (*asked))]
    fn run<'py>(&self, py: Python<'py>, asked: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyList>> {
        self.answers(py, &requests(asked)?)
    }

    /// Describes size, structure, types, arrays, and objects.
    #[pyo3(signature = (*arguments, **named))]
    fn stats<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.answer(py, "Stats", arguments, named)
    }

    /// Infers a JSON Schema that every record satisfies.
    #[pyo3(signature = (*arguments, **named))]
    fn schema<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.answer(py, "Schema", arguments, named)
    }

    /// Groups records by the values of queries.
    #[pyo3(signature = (*arguments, **named))]
    fn group<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.answer(py, "Group", arguments, named)
    }

    /// Draws a sample of the elements of an array, or of the nodes of a query.
    #[pyo3(signature = (*arguments, **named))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.answer(py, "Sample", arguments, named)
    }

    /// Validates the whole input strictly, and counts repeated names. The first `limit` of them are
    /// listed if the input can be read again.
    #[pyo3(signature = (*, limit=10))]
    fn check<'py>(&self, py: Python<'py>, limit: usize) -> PyResult<Bound<'py, PyDict>> {
        let is_repeatable = self.0.source.is_repeatable();
        let (report, first) = self.0.perform(py, move |analysis, document| {
            let mut stats = Stats::new();
            (stats.per_path, stats.counts) = (false, false);
            let analysis = analysis.validation(Validation::Strict).ask(Measure::Stats(stats));
            let report = analysis.run_with(document, &mut |_: &Match<'_>| Ok(()))?;
            let first = if is_repeatable { analysis.repeated_names(document, limit)? } else { Vec::new() };
            Ok((report, first))
        })?;
        answers::warn_skipped(py, &report.coverage)?;
        answers::checked(py, &report, &first)
    }

    /// Iterates over the values of a query.
    #[pyo3(signature = (query, *, order="rfc", limit=None, decimal=false))]
    #[expect(clippy::too_many_arguments, reason = "the arguments are those of Python")]
    fn values(
        &self,
        py: Python<'_>,
        query: &str,
        order: &str,
        limit: Option<u64>,
        decimal: bool,
    ) -> PyResult<ValueIterator> {
        let order = match order {
            "rfc" => Order::Rfc,
            "document" => Order::Document,
            _ => return Err(PyValueError::new_err(format!("order must be rfc or document, not {order:?}"))),
        };
        let selection = Selection { query: parsed(py, query)?, order, limit };
        ValueIterator::new(py, self.0.clone(), selection, decimal)
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
        let counts = asked.iter().map(|(_, query)| Measure::Count(Count::new(query.clone())));
        let (report, _) = self.0.run(py, counts.collect())?;
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

    /// A table of the records, as an Arrow stream or a Parquet file. Nothing is read yet.
    #[pyo3(signature = (*, rows=None, columns=None, numbers="exact", schema=None, types=None, on_bad_row="stop", depth=8))]
    #[expect(clippy::too_many_arguments, reason = "the arguments are those of Python")]
    fn table(
        &self,
        py: Python<'_>,
        rows: Option<&str>,
        columns: Option<&Bound<'_, PyAny>>,
        numbers: &str,
        schema: Option<&str>,
        types: Option<&Bound<'_, PyAny>>,
        on_bad_row: &str,
        depth: u32,
    ) -> PyResult<Table> {
        if self.0.within.is_some() {
            return Err(PyValueError::new_err(
                "a table is divided by its rows: choose them before the parts",
            ));
        }
        let mut settings = self.0.clone();
        if let Some(rows) = rows {
            settings.check_undivided()?;
            settings.each = Some(parsed(py, rows)?);
        }
        let keywords = TableKeywords { columns, numbers, on_bad_row, schema, types, depth };
        let options = TableOptions::new(py, &keywords)?;
        Ok(Table::new(settings, options))
    }
}

#[pymethods]
impl Part {
    /// The indices of its elements, `(start, stop)`; None if it is a part of lines.
    #[getter]
    fn range(this: &Bound<'_, Self>) -> Option<(u64, u64)> {
        let Settings { elements, within, .. } = &this.as_super().get().0;
        let elements = elements.as_ref().or(within.as_ref().map(|part| &part.elements))?;
        Some((elements.start, elements.end))
    }

    /// The part of a single document as text, for `Document.within` in another process; else None.
    #[getter]
    fn cut(this: &Bound<'_, Self>) -> PyResult<Option<String>> {
        let within = this.as_super().get().0.within.as_ref();
        within.map(|part| serde_json::to_string(part).map_err(internal)).transpose()
    }

    /// Answers requests in one pass over the part. `number` is the number of the part among all
    /// merged parts, also those of other documents; by default that of this part.
    #[pyo3(signature = (*asked, number=None))]
    fn run(
        this: &Bound<'_, Self>,
        py: Python<'_>,
        asked: &Bound<'_, PyTuple>,
        number: Option<u64>,
    ) -> PyResult<Partial> {
        let settings = &this.as_super().get().0;
        let requests = requests(asked)?;
        if requests.iter().any(|request| matches!(request, Request::Values { .. })) {
            return Err(PyValueError::new_err("partial answers have no values: use values() of the part"));
        }
        let (own, _) = settings.part.ok_or_else(|| internal("a part has no number"))?;
        settings.run_part(py, requests, number.unwrap_or(own))
    }
}
