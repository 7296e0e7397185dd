//! Rows: one for each record, with one column for each query.
//!
//! The cells of the current row are held until its record ends: in memory up to 16 MiB in all, then
//! in temporary files within the spool limit. No other row is held.

mod cell;
mod delimited;

use std::io;

use cell::Cell;
use delimited::{Delimited, Dialect};
use trommel::{Damage, Match, Sink};

use super::line::FileNames;
use super::{
    BadValue, Budget, InputSink, JsonStyle, Notes, Out, Refusal, Target, Values, escape, json_string,
};

/// The form of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowForm {
    /// A JSON object.
    Objects,
    /// RFC 4180.
    Csv,
    /// Cells between tabs, with escapes.
    Tsv,
}

/// The rows to print.
#[derive(Debug)]
pub(crate) struct RowsRequest<'a> {
    pub(crate) form: RowForm,
    /// The names of the columns, one for each query.
    pub(crate) columns: &'a [String],
    /// The value of cells without a match, as JSON without insignificant white space.
    pub(crate) default: Option<&'a str>,
    /// True if CSV and TSV begin with the names of the columns.
    pub(crate) header: bool,
    pub(crate) skip: u64,
    pub(crate) limit: Option<u64>,
    pub(crate) files: FileNames,
    pub(crate) style: JsonStyle,
    pub(crate) spool_limit: u64,
}

/// Prints a row when its record ends.
#[derive(Debug)]
pub(crate) struct Rows {
    out: Out,
    values: Values,
    layout: RowLayout,
    /// The cells of the current row.
    cells: Vec<Cell>,
    /// Rows to skip.
    skip: u64,
    /// Rows to print, if there is a limit.
    left: Option<u64>,
    /// Rows so far, skipped ones included.
    seen: u64,
    is_started: bool,
    /// True if a printed row has a value.
    has_values: bool,
    /// True if a cell holds several values.
    has_arrays: bool,
    notes: Notes,
    bad: Option<BadValue>,
}

/// The text around and between the cells.
#[derive(Debug)]
enum RowLayout {
    Objects {
        /// The names as JSON strings.
        names: Vec<String>,
        default: String,
        files: FileNames,
        /// The start of each row: the name of the current input and a tab, or nothing.
        prefix: Vec<u8>,
    },
    Delimited(Box<Delimited>),
}

impl Rows {
    pub(crate) fn new(request: &RowsRequest<'_>, values: Values, out: Out, notes: Notes) -> Self {
        let is_escaped = values.is_escaped();
        let default = request.default.unwrap_or("null");
        let delimited = |dialect| {
            let header = if request.header { request.columns } else { &[] };
            RowLayout::Delimited(Box::new(Delimited::new(dialect, header, default, is_escaped)))
        };
        let (layout, style) = match request.form {
            RowForm::Objects => {
                let names =
                    request.columns.iter().map(|name| super::for_reader(json_string(name), is_escaped));
                let default = super::for_reader(default.to_owned(), is_escaped);
                let files = request.files;
                let layout =
                    RowLayout::Objects { names: names.collect(), default, files, prefix: Vec::new() };
                (layout, JsonStyle { prefixed: files == FileNames::Prefix, ..request.style })
            }
            RowForm::Csv => (delimited(Dialect::Csv), JsonStyle::default()),
            RowForm::Tsv => (delimited(Dialect::Tsv), JsonStyle::default()),
        };
        let budget = Budget::of_row(request.spool_limit, request.columns.len());
        Self {
            out: out.styled(style),
            values,
            layout,
            cells: request.columns.iter().map(|_| Cell::new(&budget)).collect(),
            skip: request.skip,
            left: request.limit,
            seen: 0,
            is_started: false,
            has_values: false,
            has_arrays: false,
            notes,
            bad: None,
        }
    }

    /// Returns the value that ended the run because it cannot be printed, if one did.
    pub(crate) fn bad_value(&mut self) -> Option<BadValue> {
        self.bad.take()
    }

    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// True if a printed row has a value.
    pub(crate) fn has_values(&self) -> bool {
        self.has_values
    }

    /// True if the run has ended with a single row, and not because of the limit.
    pub(crate) fn is_single(&self) -> bool {
        self.seen == 1 && self.left != Some(0)
    }

    /// True if a cell of a row holds several values.
    pub(crate) fn has_arrays(&self) -> bool {
        self.has_arrays
    }

    /// Prints the header if there is no row. A run that failed before its first row prints nothing.
    pub(crate) fn finish(&mut self, is_complete: bool) -> io::Result<()> {
        if is_complete {
            self.begin()?;
        }
        self.out.finish()
    }

    /// Prints the header before the first row.
    fn begin(&mut self) -> io::Result<()> {
        match &self.layout {
            RowLayout::Delimited(delimited) if !std::mem::replace(&mut self.is_started, true) => {
                self.out.write(delimited.header())
            }
            _ => Ok(()),
        }
    }

    /// Prints the current row.
    fn print(&mut self) -> io::Result<()> {
        self.begin()?;
        let mut page = self.out.page();
        match &self.layout {
            RowLayout::Delimited(delimited) => delimited.put_row(&mut self.cells, &mut page),
            RowLayout::Objects { names, default, prefix, .. } => {
                page.bytes().extend_from_slice(prefix);
                for (number, (name, cell)) in names.iter().zip(&mut self.cells).enumerate() {
                    page.bytes().push(if number == 0 { b'{' } else { b',' });
                    page.bytes().extend_from_slice(name.as_bytes());
                    page.bytes().push(b':');
                    if cell.is_missing() {
                        page.bytes().extend_from_slice(default.as_bytes());
                    } else {
                        cell.read_json(&mut |piece| {
                            page.bytes().extend_from_slice(piece);
                            page.flush_if_full()
                        })?;
                    }
                }
                page.bytes().extend_from_slice(b"}\n");
                page.flush_if_full()
            }
        }
    }
}

impl InputSink for Rows {
    fn begin_input(&mut self, name: &str) {
        self.notes.begin_input(name);
        if let RowLayout::Objects { files: FileNames::Prefix, prefix, .. } = &mut self.layout {
            let name = if self.values.is_escaped() { escape::text(name) } else { name.into() };
            *prefix = format!("{name}\t").into_bytes();
        }
    }
}

impl Sink for Rows {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        if self.skip > 0 {
            return Ok(());
        }
        let checked = match self.values.check(found.view()) {
            Ok(checked) => checked,
            Err(error) => {
                self.bad = Some(BadValue { refusal: Refusal::Malformed(error), record: found.record });
                return Err(io::Error::other("a value is not valid JSON"));
            }
        };
        self.cells[found.measure].add(found.value, &checked, &mut self.values)
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.notes.bad_record(damage);
        Ok(())
    }

    fn record_ended(&mut self, _: u64) -> io::Result<()> {
        self.seen += 1;
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(());
        }
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
        self.has_values |= self.cells.iter().any(|cell| !cell.is_missing());
        self.has_arrays |= self.cells.iter().any(Cell::is_array);
        self.print()?;
        self.cells.iter_mut().for_each(Cell::clear);
        Ok(())
    }

    fn wants_records(&self) -> bool {
        true
    }

    fn records_left(&self) -> Option<u64> {
        self.left.map(|left| if left == 0 { 0 } else { left.saturating_add(self.skip) })
    }
}
