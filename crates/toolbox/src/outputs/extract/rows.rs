//! Rows: an object for each record, with a member for each path.

use std::fmt::Write;
use std::io;

use trommel::reader::{Error, Kind};
use trommel::{Damage, Match, Sink};

use super::pass::{Collect, Pass};
use crate::outputs::cursor::Binding;
use crate::outputs::item::{Item, kind_of};
use crate::outputs::job::ResultNotifier;
use crate::outputs::mark::{TruncationMark, of_record};
use crate::outputs::page::{Next, PagedAnswer, Reason, Truncation, push_warning};
use crate::outputs::source::rendering;
use crate::text::{chars, string};

/// The options of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowOptions<'a> {
    /// The maximum length of an answer in characters.
    pub(super) max_chars: usize,
    /// True if the payload is a stream.
    pub(super) stream: bool,
    /// The text of cells without a value.
    pub(super) default: &'a str,
    /// The number of rows to skip, because earlier pages have them.
    pub(super) skip: u64,
}

/// Collects rows, up to the size of an answer. It holds one row more than fits.
pub(super) struct RowCollector<'a> {
    options: RowOptions<'a>,
    cells: Vec<Cell>,
    pub(super) rows: Vec<Row>,
    /// Rows so far, skipped ones included.
    pub(super) seen: u64,
    chars: usize,
    /// True if a cell holds several values.
    pub(super) has_arrays: bool,
    pass: Pass,
    notifier: ResultNotifier,
}

/// A row as a JSON object.
pub(super) struct Row {
    text: String,
    /// True if a value is replaced by a mark.
    is_marked: bool,
}

/// The values of one path in the current record.
#[derive(Default)]
struct Cell {
    /// The name as a JSON string.
    name: String,
    values: Vec<Item>,
    chars: usize,
    /// The number of values, and the sum of their bytes.
    count: u64,
    bytes: u64,
    /// The location and the type of the first value.
    location: String,
    kind: Option<Kind>,
    /// True if a value of any row was found.
    is_used: bool,
}

impl Cell {
    fn add(&mut self, item: Item, bytes: u64, max_chars: usize) {
        self.count += 1;
        self.bytes += bytes + 1;
        self.is_used = true;
        self.chars += item.chars() + 1;
        if self.chars <= max_chars {
            self.values.push(item);
        }
    }

    /// True if a value is, or must be, replaced by a mark.
    fn is_marked(&self) -> bool {
        self.values.len() as u64 != self.count || self.values.iter().any(Item::is_large)
    }

    /// Returns the value of the cell, and clears it.
    fn take(&mut self, default: &str) -> String {
        let values = std::mem::take(&mut self.values);
        let (count, bytes) = (std::mem::take(&mut self.count), std::mem::take(&mut self.bytes));
        self.chars = 0;
        let texts = || values.iter().map(Item::text).collect::<Vec<_>>().join(",");
        match (count, values.as_slice()) {
            (0, _) => default.to_owned(),
            (1, [value]) => value.text().to_owned(),
            (_, values) if values.len() as u64 == count => format!("[{}]", texts()),
            _ => {
                let location = std::mem::take(&mut self.location);
                let kind = if count == 1 { self.kind } else { None }.unwrap_or(Kind::Array);
                let mark = TruncationMark::new(location, kind, bytes).preview(&texts());
                mark.text(usize::MAX).unwrap_or_else(|| "null".to_owned())
            }
        }
    }
}

impl<'a> RowCollector<'a> {
    pub(super) fn new<'n>(
        names: impl Iterator<Item = &'n str>,
        options: RowOptions<'a>,
        notifier: ResultNotifier,
    ) -> Self {
        let cells = names.map(|name| Cell { name: string(name), ..Cell::default() }).collect();
        let rows = Vec::new();
        Self { options, cells, rows, seen: 0, chars: 0, has_arrays: false, pass: Pass::default(), notifier }
    }

    /// For each path, true if it has a value in any row.
    pub(super) fn used(&self) -> impl Iterator<Item = bool> {
        self.cells.iter().map(|cell| cell.is_used)
    }

    /// Adds a value to its cell.
    fn add(&mut self, found: &Match<'_>) -> Result<(), Error> {
        let RowOptions { max_chars, stream, .. } = self.options;
        let location = found.location.unwrap_or("$");
        let path = || if stream { of_record(found.record, location) } else { location.to_owned() };
        let rendering = rendering(found.view(), found.span.len(), max_chars)?;
        let mark = || TruncationMark::new(path(), kind_of(found.value), found.span.len());
        let item = Item::new(rendering, max_chars, mark);
        let cell = &mut self.cells[found.measure];
        if cell.count == 0 {
            cell.location = path();
            cell.kind = Some(kind_of(found.value));
        }
        cell.add(item, found.span.len(), max_chars);
        self.has_arrays |= cell.count > 1;
        Ok(())
    }
}

impl Sink for RowCollector<'_> {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        self.pass.found(found);
        if self.seen < self.options.skip {
            return Ok(());
        }
        let record = self.options.stream.then_some(found.record);
        self.add(found).map_err(|error| self.pass.refuse(error, record))
    }

    fn record_ended(&mut self, _: u64) -> io::Result<()> {
        self.seen += 1;
        if self.seen <= self.options.skip {
            return Ok(());
        }
        let default = self.options.default;
        let is_marked = self.cells.iter().any(Cell::is_marked);
        let cells = self.cells.iter_mut().map(|cell| {
            let value = cell.take(default);
            format!("{}:{value}", cell.name)
        });
        let row = format!("{{{}}}", cells.collect::<Vec<_>>().join(","));
        self.notifier.notify();
        self.chars += chars(&row) + 1;
        self.rows.push(Row { text: row, is_marked });
        // The row that exceeds the page shows that more follow.
        self.pass.enough = self.chars > self.options.max_chars && self.rows.len() > 1;
        self.pass.check()
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.pass.skipped(damage);
        Ok(())
    }

    fn wants_location(&self) -> bool {
        true
    }

    fn wants_records(&self) -> bool {
        true
    }
}

impl Collect for RowCollector<'_> {
    fn pass(&self) -> &Pass {
        &self.pass
    }

    fn has_first(&self) -> bool {
        self.has_any()
    }

    fn has_any(&self) -> bool {
        !self.rows.is_empty()
    }

    fn limit(&self, _: u64) -> Option<u64> {
        None
    }

    fn skip(&self) -> u64 {
        0
    }
}

/// `{"extracted": [{NAME: value, …}, …], "missing_paths": […]}`
pub(super) struct RowsAnswer<'a> {
    pub(super) binding: &'a Binding,
    /// The index of the first row.
    pub(super) start: u64,
    pub(super) rows: Vec<Row>,
    /// The paths without a value in any record.
    pub(super) missing: Vec<&'a str>,
    /// The reason why more rows may follow.
    pub(super) end: Option<Reason>,
    pub(super) warning: Option<String>,
}

impl RowsAnswer<'_> {
    fn truncation(&self, shown: usize) -> Option<Truncation> {
        let is_cut = shown < self.rows.len();
        let is_marked = self.rows[..shown].iter().any(|row| row.is_marked);
        let reason = match self.end {
            Some(reason) if !is_cut => reason,
            None if !is_cut && !is_marked => return None,
            _ => Reason::MaxChars,
        };
        let next = (is_cut || reason == Reason::Time)
            .then(|| Next::Cursor(self.binding.cursor(&[0, self.start + shown as u64])));
        Some(Truncation { reason, returned: shown as u64, next })
    }
}

impl PagedAnswer for RowsAnswer<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn min_chars(&self, unit: usize) -> usize {
        chars(&self.rows[unit].text)
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let rows = self.rows[..shown].iter().map(|row| row.text.as_str());
        let rows: Vec<&str> = first.into_iter().chain(rows.skip(usize::from(first.is_some()))).collect();
        let mut out = format!(r#"{{"extracted":[{}]"#, rows.join(","));
        if !self.missing.is_empty() {
            let missing: Vec<String> = self.missing.iter().map(|path| string(path)).collect();
            let _ = write!(out, r#","missing_paths":[{}]"#, missing.join(","));
        }
        if let Some(truncation) = self.truncation(shown) {
            truncation.push(&mut out);
        }
        push_warning(self.warning.as_deref(), &mut out);
        out.push('}');
        out
    }

    fn stand_in(&self, _: usize) -> Option<String> {
        None
    }
}
