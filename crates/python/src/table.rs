//! Tables: the Arrow stream interface, and Parquet files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use trommel::Cancel;
use trommel_table::{Column, NumberPolicy, OnMisfit, TableReport, TableRequest, TableSchema, write_parquet};

use crate::document::Settings;
use crate::errors::{of_table, parsed, query};
use crate::run::interruptible;

/// The options of a table.
pub(crate) struct TableOptions {
    columns: Vec<Column>,
    numbers: NumberPolicy,
    on_misfit: OnMisfit,
    schema: Option<TableSchema>,
    depth: u32,
}

impl TableOptions {
    pub(crate) fn new(
        py: Python<'_>,
        columns: Option<&Bound<'_, PyAny>>,
        (numbers, on_bad_row): (&str, &str),
        schema: Option<&str>,
        depth: u32,
    ) -> PyResult<Self> {
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
        let schema = schema.map(TableSchema::from_json_schema).transpose();
        let schema = schema.map_err(|error| of_table(py, &error))?;
        let columns = columns.map_or(Ok(Vec::new()), columns_of)?;
        Ok(Self { columns, numbers, on_misfit, schema, depth })
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

/// A table of records. It can be read any number of times, if its input can.
#[pyclass(module = "trommel", frozen)]
pub(crate) struct Table {
    settings: Settings,
    options: TableOptions,
    /// The types, once a pass has found them.
    found: Mutex<Option<TableSchema>>,
    report: Mutex<TableReport>,
}

impl Table {
    pub(crate) fn new(settings: Settings, options: TableOptions) -> Self {
        Self { settings, options, found: Mutex::new(None), report: Mutex::default() }
    }

    fn open(&self, py: Python<'_>, cancel: &Cancel) -> PyResult<trommel_table::Table> {
        let Self { settings, options, found, report } = self;
        let mut request = TableRequest::new(settings.analysis(cancel));
        request.columns.clone_from(&options.columns);
        (request.numbers, request.on_misfit, request.depth) =
            (options.numbers, options.on_misfit, options.depth);
        let known = found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        request.schema = options.schema.clone().or(known);
        let (asked, source) = (request.clone(), settings.clone());
        let opened =
            interruptible(py, cancel, move || trommel_table::Table::open(&asked, source.document()?))?;
        if let Some(raised) = settings.raised() {
            return Err(raised);
        }
        let table = opened.map_err(|error| of_table(py, &error))?;
        if request.schema.is_none() {
            *report.lock().unwrap_or_else(PoisonError::into_inner) = table.report();
            *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(table.table_schema());
        }
        Ok(table)
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let table = self.open(py, &Cancel::new())?;
        Ok(table.columns().iter().map(|column| column.name.clone()).collect())
    }

    /// What the table changes: columns that were renamed; and after `to_parquet`, numbers that were
    /// rounded, and values that did not fit the schema.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        let renamed = report.renamed.iter().map(|renamed| format!("{:?} is {:?}", renamed.from, renamed.to));
        let mut notes = renamed.collect::<Vec<_>>();
        if report.rounded > 0 {
            notes.push(format!("{} numbers were rounded to doubles", report.rounded));
        }
        if let Some(first) = &report.first_misfit {
            notes.push(format!("{} values did not fit the schema; the first: {first}", report.misfits));
        }
        notes
    }

    /// The Arrow PyCapsule interface. Each call reads the rows from the first one.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may ask for other types; producers need not follow.
        let _ = requested_schema;
        let table = self.open(py, &Cancel::new())?;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(table)), c"arrow_array_stream")
    }

    /// Writes a Parquet file. Returns the number of rows. A file that cannot be finished does not
    /// appear.
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
