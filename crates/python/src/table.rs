//! Tables: the Arrow stream interface, and Parquet files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyCapsule, PyDict};
use trommel::Cancel;
use trommel_table::{
    Column, ColumnType, NumberPolicy, OnMisfit, TableReport, TableRequest, TableSchema, TableShape,
    write_parquet,
};

use crate::answers::{counted, skipped};
use crate::errors::{internal, of_table, parsed, query};
use crate::run::interruptible;
use crate::settings::Settings;

/// The options of a table.
pub(crate) struct TableOptions {
    columns: Vec<Column>,
    numbers: NumberPolicy,
    on_misfit: OnMisfit,
    schema: Option<TableSchema>,
    types: Option<TableShape>,
    depth: u32,
}

/// The keyword arguments of a table.
pub(crate) struct TableKeywords<'a, 'py> {
    pub(crate) columns: Option<&'a Bound<'py, PyAny>>,
    pub(crate) numbers: &'a str,
    pub(crate) on_bad_row: &'a str,
    pub(crate) schema: Option<&'a str>,
    pub(crate) types: Option<&'a Bound<'py, PyAny>>,
    pub(crate) depth: u32,
}

impl TableOptions {
    pub(crate) fn new(py: Python<'_>, keywords: &TableKeywords<'_, '_>) -> PyResult<Self> {
        let TableKeywords { columns, numbers, on_bad_row, schema, types, depth } = *keywords;
        let numbers = match numbers {
            "exact" => NumberPolicy::Exact,
            "float" => NumberPolicy::Rounded,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "numbers must be exact or float, not {numbers:?}"
                )));
            }
        };
        let on_misfit = match on_bad_row {
            "stop" => OnMisfit::Stop,
            "null" => OnMisfit::Null,
            "skip" => OnMisfit::Skip,
            other => {
                let message = format!("on_bad_row must be stop, null, or skip, not {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        if schema.is_some() && types.is_some() {
            return Err(PyValueError::new_err("give either schema or types"));
        }
        let schema = schema.map(TableSchema::from_json_schema).transpose();
        let schema = schema.map_err(|error| of_table(py, &error))?;
        let types = types.map(merged).transpose()?;
        let columns = columns.map_or(Ok(Vec::new()), columns_of)?;
        Ok(Self { columns, numbers, on_misfit, schema, types, depth })
    }
}

/// The columns of a mapping from names to queries, or of a sequence of queries.
fn columns_of(columns: &Bound<'_, PyAny>) -> PyResult<Vec<Column>> {
    let py = columns.py();
    if let Ok(named) = columns.cast::<PyDict>() {
        let column = |(name, text): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok(Column::new(name.extract::<String>()?, parsed(py, &text.extract::<String>()?)?))
        };
        return named.iter().map(column).collect();
    }
    if columns.extract::<String>().is_ok() {
        return Err(PyTypeError::new_err(
            "columns must be a mapping of names to queries, or a list of queries",
        ));
    }
    let mut found = Vec::new();
    for text in columns.try_iter()? {
        let text: String = text?.extract()?;
        let parsed = parsed(py, &text)?;
        let name = parsed.last_name().map(str::to_owned);
        let name = name.ok_or_else(|| query(py, &format!("{text} names no column; use a mapping")))?;
        found.push(Column::new(name, parsed));
    }
    Ok(found)
}

/// The types of one table, or of several together.
fn merged(types: &Bound<'_, PyAny>) -> PyResult<TableShape> {
    let py = types.py();
    let read = |bytes: &[u8]| TableShape::from_bytes(bytes).map_err(|error| of_table(py, &error));
    if let Ok(bytes) = types.cast::<PyBytes>() {
        return read(bytes.as_bytes());
    }
    let mut whole: Option<TableShape> = None;
    for one in types.try_iter()? {
        let shape = read(one?.cast::<PyBytes>()?.as_bytes())?;
        whole = Some(match whole {
            None => shape,
            Some(earlier) => earlier.merge(shape).map_err(|error| of_table(py, &error))?,
        });
    }
    whole.ok_or_else(|| PyValueError::new_err("types must not be empty"))
}

/// A table of records. It can be read any number of times, if its input can.
#[pyclass(module = "trommel", frozen)]
pub(crate) struct Table {
    settings: Settings,
    options: TableOptions,
    /// The types and names of the columns, once they are known.
    known: Mutex<Option<KnownColumns>>,
    report: Arc<Mutex<TableReport>>,
}

/// What the first pass found.
#[derive(Clone)]
struct KnownColumns {
    schema: TableSchema,
    /// The name and the kind of each column.
    columns: Vec<(String, &'static str)>,
}

/// Batches, with a report about those that were read.
struct Batches {
    table: trommel_table::Table,
    report: Arc<Mutex<TableReport>>,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.table.next();
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = self.table.report();
        batch
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }
}

impl Table {
    pub(crate) fn new(settings: Settings, options: TableOptions) -> Self {
        Self { settings, options, known: Mutex::new(None), report: Arc::default() }
    }

    /// The table, without its types.
    fn request(&self, cancel: &Cancel) -> TableRequest {
        let Self { settings, options, .. } = self;
        let mut request = TableRequest::new(settings.analysis(cancel));
        request.columns.clone_from(&options.columns);
        (request.numbers, request.on_misfit, request.depth) =
            (options.numbers, options.on_misfit, options.depth);
        request
    }

    /// Calls `work` with the request and the input, without the interpreter lock.
    fn perform<T: Send + 'static>(
        &self,
        py: Python<'_>,
        request: TableRequest,
        cancel: &Cancel,
        work: impl FnOnce(&TableRequest, trommel::Document<'static>) -> Result<T, trommel_table::Error>
        + Send
        + 'static,
    ) -> PyResult<T> {
        let source = self.settings.clone();
        let done = interruptible(py, cancel, move || work(&request, source.document()?))?;
        match self.settings.raised() {
            Some(raised) => Err(raised),
            None => done.map_err(|error| of_table(py, &error)),
        }
    }

    fn open(&self, py: Python<'_>, cancel: &Cancel) -> PyResult<trommel_table::Table> {
        let mut request = self.request(cancel);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        request.schema = match (&self.options.schema, &self.options.types, known) {
            (Some(schema), ..) => Some(schema.clone()),
            (None, _, Some(columns)) => Some(columns.schema),
            (None, Some(types), None) => {
                Some(types.clone().schema(&request).map_err(|error| of_table(py, &error))?)
            }
            (None, None, None) => None,
        };
        let table = self.perform(py, request, cancel, trommel_table::Table::open)?;
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = table.report();
        let columns = table.columns().iter().map(|column| (column.name.clone(), kind(&column.column_type)));
        let known = KnownColumns { schema: table.table_schema(), columns: columns.collect() };
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(known);
        Ok(table)
    }

    /// The name and the kind of each column.
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str)>> {
        let known = || {
            let found = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            found.as_ref().map(|found| found.columns.clone())
        };
        if let Some(columns) = known() {
            return Ok(columns);
        }
        drop(self.open(py, &Cancel::new())?);
        known().ok_or_else(|| internal("the table has no columns"))
    }
}

/// The short name of a type.
fn kind(column_type: &ColumnType) -> &'static str {
    match column_type {
        ColumnType::Null => "null",
        ColumnType::Boolean => "bool",
        ColumnType::Int64 => "int64",
        ColumnType::UInt64 => "uint64",
        ColumnType::Decimal => "decimal",
        ColumnType::Float64 { rounded: false } => "float64",
        ColumnType::Float64 { rounded: true } => "rounded float64",
        ColumnType::NumberText => "number as text",
        ColumnType::Text => "text",
        ColumnType::Json => "json",
        ColumnType::List(_) => "list",
        ColumnType::Struct(_) => "struct",
        _ => "other",
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.columns(py)?.into_iter().map(|(name, _)| name).collect())
    }

    /// The kind of each column, such as `int64`, `text`, or `json`.
    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.columns(py)?.into_py_dict(py)
    }

    /// The types of all values, in a form for `table(types=…)` of documents that share one schema.
    /// Reads the input.
    fn types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let cancel = Cancel::new();
        let request = self.request(&cancel);
        let shape = self.perform(py, request, &cancel, |request, mut document| {
            TableShape::observe(request, &mut document)
        })?;
        Ok(PyBytes::new(py, &shape.to_bytes()))
    }

    /// What the table changes: columns that were renamed; and, of the rows that were read, numbers
    /// that were rounded, values that did not fit the schema, and records that were skipped.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        let renamed = report.renamed.iter().map(|renamed| format!("{:?} is {:?}", renamed.from, renamed.to));
        let mut notes = renamed.collect::<Vec<_>>();
        if report.rounded > 0 {
            notes.push(counted(
                report.rounded,
                "number was rounded to a double",
                "numbers were rounded to doubles",
            ));
        }
        if let Some(first) = &report.first_misfit {
            let misfits = counted(report.misfits, "value did not fit", "values did not fit");
            notes.push(format!("{misfits} the schema; the first: {first}"));
        }
        if report.bad_records > 0 {
            notes.push(skipped(report.bad_records));
        }
        notes
    }

    /// The Arrow `PyCapsule` interface. Each call reads the rows from the first one.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may ask for other types; producers need not follow.
        let _ = requested_schema;
        let table = self.open(py, &Cancel::new())?;
        let batches = Batches { table, report: Arc::clone(&self.report) };
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    /// Writes a Parquet file. Returns the number of rows. A file that cannot be finished does not
    /// appear.
    #[expect(clippy::needless_pass_by_value, reason = "Python passes values")]
    fn to_parquet(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        let cancel = Cancel::new();
        let mut table = self.open(py, &cancel)?;
        let target = path.clone();
        let written = interruptible(py, &cancel, move || write_whole(&mut table, &target))?;
        if let Some(raised) = self.settings.raised() {
            return Err(raised);
        }
        let report = written.map_err(|error| match error {
            trommel_table::Error::Io(cause) => PyOSError::new_err(format!("{}: {cause}", path.display())),
            error => of_table(py, &error),
        })?;
        let rows = report.rows;
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
        Ok(rows)
    }
}

/// Writes a file under another name, and renames it once it is whole.
fn write_whole(table: &mut trommel_table::Table, path: &Path) -> Result<TableReport, trommel_table::Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The permissions of other new files, which the process's mask restricts.
    let permissions = fs::Permissions::from_mode(0o666);
    let file = tempfile::Builder::new().permissions(permissions).tempfile_in(folder)?;
    let report = write_parquet(table, std::io::BufWriter::new(file.as_file()))?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(report)
}
