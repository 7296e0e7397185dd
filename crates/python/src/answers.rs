//! Answers as Python values.

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use trommel::{Answer, Coverage, Measure, Report};
use trommel_answer::{GroupRequest, Request, StatsRequest};

use crate::decode::{ByteOrigin, Decoder};
use crate::errors::internal;
use crate::sample::SampleAnswer;

/// The bytes of extracted values, of all requests.
#[derive(Default)]
pub(crate) struct Extracted {
    bytes: Vec<u8>,
    /// The measure of each value, its offset in the input, and the end of its bytes.
    ends: Vec<(usize, u64, usize)>,
}

impl Extracted {
    pub(crate) fn push(&mut self, found: &trommel::Match<'_>) {
        self.bytes.extend_from_slice(found.value);
        self.ends.push((found.measure, found.span.start, self.bytes.len()));
    }

    /// The values of a measure as a list.
    fn list<'py>(&self, py: Python<'py>, measure: usize, is_decimal: bool) -> PyResult<Bound<'py, PyAny>> {
        let list = PyList::empty(py);
        let mut decoder = Decoder::new(py, is_decimal)?;
        let mut start = 0;
        for &(of, offset, end) in &self.ends {
            if of == measure {
                list.append(decoder.value(py, &self.bytes[start..end], ByteOrigin::input(offset))?)?;
            }
            start = end;
        }
        Ok(list.into_any())
    }
}

/// The answers to requests, in their order. `extracted` has the values, unless the run was that of
/// parts.
pub(crate) fn list<'py>(
    py: Python<'py>,
    requests: &[Request],
    measures: &[Measure],
    report: Report,
    extracted: &Extracted,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    let answers = requests.iter().zip(measures).zip(report.answers);
    for (number, ((request, measure), answer)) in answers.enumerate() {
        let value = match request {
            Request::Values { decimal, .. } => extracted.list(py, number, *decimal)?,
            request => one(py, request, measure, answer)?,
        };
        list.append(value)?;
    }
    Ok(list)
}

fn one<'py>(
    py: Python<'py>,
    request: &Request,
    measure: &Measure,
    answer: Answer,
) -> PyResult<Bound<'py, PyAny>> {
    let mut text = Vec::new();
    let is_decimal = match (request, answer) {
        (Request::Count { .. }, Answer::Count(count)) => return Ok(count.into_pyobject(py)?.into_any()),
        (Request::Sample(sample), Answer::Sample(drawn)) => {
            return Ok(Bound::new(py, SampleAnswer::new(py, drawn, sample.decimal)?)?.into_any());
        }
        (request, answer) => {
            request.push_answer(measure, &answer, &mut text).map_err(internal)?;
            matches!(
                request,
                Request::Stats(StatsRequest { decimal: true, .. })
                    | Request::Group(GroupRequest { decimal: true, .. })
            )
        }
    };
    Decoder::new(py, is_decimal)?.value(py, &text, ByteOrigin::all(" of the answer"))
}

/// The answer to `check`.
pub(crate) fn checked<'py>(
    py: Python<'py>,
    report: &Report,
    first: &[trommel::RepeatedName],
) -> PyResult<Bound<'py, PyDict>> {
    let repeated = report.answers.iter().find_map(|answer| match answer {
        Answer::Stats(stats) => {
            Some((stats.summary.structure.duplicate_names, stats.summary.capped.duplicate_names))
        }
        _ => None,
    });
    let (repeated, is_capped) = repeated.ok_or_else(|| internal("the check has no statistics"))?;
    let answer = PyDict::new(py);
    answer.set_item("bytes", report.coverage.bytes_read)?;
    answer.set_item("records", report.coverage.records)?;
    answer.set_item("repeated_names", repeated)?;
    // True if there may be more: some names were not remembered.
    answer.set_item("capped", is_capped)?;
    let rows = PyList::empty(py);
    for name in first {
        let row = PyDict::new(py);
        row.set_item("path", &name.location)?;
        row.set_item("record", name.record)?;
        row.set_item("offset", name.offset)?;
        row.set_item("line", name.line_column.map(|at| at.line))?;
        row.set_item("column", name.line_column.map(|at| at.column))?;
        rows.append(row)?;
    }
    answer.set_item("first", rows)?;
    Ok(answer)
}

/// A number with its noun and verb.
pub(crate) fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// The message about malformed records that were skipped.
pub(crate) fn skipped(records: u64) -> String {
    counted(records, "malformed record was skipped", "malformed records were skipped")
}

/// Warns if malformed records were skipped.
pub(crate) fn warn_skipped(py: Python<'_>, coverage: &Coverage) -> PyResult<()> {
    if coverage.bad_records == 0 {
        return Ok(());
    }
    let message = std::ffi::CString::new(skipped(coverage.bad_records)).map_err(internal)?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)
}
