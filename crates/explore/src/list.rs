//! Lists the children of a container, or the records: a page at a time.

use trommel::Cancel;
use trommel::reader::{
    self, Cursor, ErrorKind, Event, Framing, Guide as _, Kind, Span, Syntax, Waypoint, compact,
};
use trommel_base::text;

use crate::source::{Holder, Node, Source};

/// Rows of a page.
pub(crate) const PAGE: u64 = 64;

/// Children of a container are counted within its first bytes only, unless a guide knows them.
const COUNTED: u64 = 64 << 10;

/// Bytes that a preview is made of, and its characters.
pub(crate) const PREVIEW_BYTES: usize = 512;
const PREVIEW_CHARS: usize = 240;

/// Bytes of an element whose members become cells, the number of cells, and their characters.
const CELL_BYTES: u64 = 16 << 10;
const MAX_CELLS: usize = 64;
const CELL_CHARS: usize = 60;

/// A child of a container, or a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The number of children before it.
    pub(crate) index: u64,
    /// Its name, in an object.
    pub(crate) name: Option<String>,
    pub(crate) node: Node,
    /// The offset after it, if it is known yet.
    pub(crate) end: Option<u64>,
    /// The number of its children, if it is a container whose children were counted.
    pub(crate) children: Option<u64>,
    pub(crate) preview: String,
    /// The members of an element that is an object, as far as they were read.
    pub(crate) cells: Vec<(String, String)>,
    /// The reason why this record is malformed. The records after it are listed all the same.
    pub(crate) fault: Option<String>,
}

impl Row {
    /// The row of a value of which nothing is known but where it begins.
    const fn new(index: u64, node: Node) -> Self {
        let (name, end, children, fault) = (None, None, None, None);
        Self { index, name, node, end, children, preview: String::new(), cells: Vec::new(), fault }
    }
}

/// Consecutive rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) rows: Vec<Row>,
    /// True if more of its rows are being read.
    pub(crate) is_partial: bool,
    /// The number of all rows, if their end was reached.
    pub(crate) count: Option<u64>,
    /// The reason why no further row could be read.
    pub(crate) error: Option<String>,
}

impl Page {
    /// The memory that it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let cell =
            |(name, value): &(String, String)| size_of::<(String, String)>() + name.len() + value.len();
        let row = |row: &Row| {
            let texts = [&row.name, &row.fault].into_iter().flatten().map(String::len).sum::<usize>();
            size_of::<Row>() + texts + row.preview.len() + row.cells.iter().map(cell).sum::<usize>()
        };
        size_of::<Self>() + self.rows.iter().map(row).sum::<usize>()
    }
}

/// Lists up to [`PAGE`] rows from a number. Passes the rows so far to `early` before a long value
/// is read to its end.
pub(crate) fn list(
    source: &Source,
    holder: Holder,
    first: u64,
    cancel: &Cancel,
    early: &mut dyn FnMut(&Page),
) -> Page {
    let page = Page { is_partial: true, ..Page::default() };
    let mut lister = Lister { source, first, passed: 0, page, early };
    let read = match holder {
        Holder::Records => lister.records(cancel),
        Holder::Value(node) => source.read_value(node, cancel, |cursor| lister.children(cursor, node)),
    };
    let Lister { passed, mut page, .. } = lister;
    page.is_partial = false;
    if let Err(error) = read {
        // A value with a fault in it is a row, too.
        let count = if page.rows.is_empty() { passed } else { first + page.rows.len() as u64 };
        (page.count, page.error) = (Some(count), Some(error.to_string()));
    }
    page
}

/// The number of children of a container, or of records, up to a fault.
pub(crate) fn count(source: &Source, holder: Holder, cancel: &Cancel) -> u64 {
    let mut count = 0;
    let counted = match holder {
        Holder::Records => count_records(source, cancel, &mut count),
        Holder::Value(node) => count_children(source, node, cancel, &mut count),
    };
    // The page of the last row shows the fault.
    let _ = counted;
    count
}

fn count_records(source: &Source, cancel: &Cancel, count: &mut u64) -> reader::Result<()> {
    // An input that has grown has more records than its guide knows.
    let length = source.length().map_err(|cause| reader::Error::io(cause, 0))?;
    if let Some(index) = source.index().filter(|index| index.length() == length) {
        *count = index.records();
        return Ok(());
    }
    let known = known_record(source, u64::MAX);
    *count = known.index;
    source.read_records(known.offset, cancel, |cursor| {
        loop {
            let passed = match cursor.next_record() {
                Ok(true) => cursor.skip_value().map(|_| true),
                ended => ended,
            };
            if !matches!(passed, Ok(false)) {
                *count = known.index + cursor.record() + 1;
            }
            match passed {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) if passes(&error, cursor) => {}
                Err(error) => return Err(error),
            }
        }
    })
}

/// The last known record with at most `number` records before it.
fn known_record(source: &Source, number: u64) -> Waypoint {
    // In a text sequence, a record begins before its value, whose offset a guide knows.
    let is_sequence = source.framing() == Framing::JsonSeq;
    let index = if is_sequence { None } else { source.index() };
    index.map_or(Waypoint { offset: 0, index: 0 }, |index| index.record_before(number))
}

/// True if the records after a malformed one can be read.
pub(crate) fn passes(error: &reader::Error, cursor: &Cursor<'_>) -> bool {
    // UTF-16 and UTF-32 lack the delimiter.
    let is_other = error.kind() == ErrorKind::Syntax(Syntax::Encoding);
    error.is_syntax() && !is_other && cursor.can_recover()
}

fn count_children(source: &Source, node: Node, cancel: &Cancel, count: &mut u64) -> reader::Result<()> {
    if let Some(known) = known_end(source, node) {
        *count = known.children;
        return Ok(());
    }
    source.read_value(node, cancel, |cursor| {
        let Event::Begin(kind) = cursor.begin_value()? else { return Ok(()) };
        while next_child(cursor, kind)? {
            *count += 1;
        }
        Ok(())
    })
}

/// The end of a long container, if a guide knows it.
pub(crate) fn known_end(source: &Source, node: Node) -> Option<reader::ContainerEnd> {
    source.index()?.end(node.start + 1, node.depth + 1)
}

/// Leaves the container that the cursor has entered, and returns the number of its children. If it
/// does not end before an offset, stops there and returns `None`.
fn count_within(cursor: &mut Cursor<'_>, kind: Kind, end: u64) -> reader::Result<Option<u64>> {
    let mut count = 0;
    while cursor.offset() < end {
        if !next_child(cursor, kind)? {
            return Ok(Some(count));
        }
        count += 1;
        let is_container = cursor.peek()?.is_some_and(Kind::is_container);
        // A long child is not read only to be counted.
        if is_container && !cursor.skip_container_before(end)? {
            break;
        }
    }
    Ok(None)
}

pub(crate) fn next_child(cursor: &mut Cursor<'_>, kind: Kind) -> reader::Result<bool> {
    if kind == Kind::Object { cursor.next_member() } else { cursor.next_element() }
}

struct Lister<'l> {
    source: &'l Source,
    first: u64,
    /// The number of rows up to here.
    passed: u64,
    page: Page,
    early: &'l mut dyn FnMut(&Page),
}

impl Lister<'_> {
    fn is_full(&self) -> bool {
        self.page.rows.len() as u64 == PAGE
    }

    fn records(&mut self, cancel: &Cancel) -> reader::Result<()> {
        let Waypoint { offset, index: before } = known_record(self.source, self.first);
        self.passed = before;
        let source = self.source;
        source.read_records(offset, cancel, |cursor| {
            loop {
                let found = cursor.next_record();
                if let Ok(false) = found {
                    self.page.count = Some(self.passed);
                    return Ok(());
                }
                if found.is_ok() && self.is_full() {
                    return Ok(());
                }
                // An error may be about what follows the value of the record before.
                let index = before + cursor.record();
                self.passed = index;
                let is_listed = index >= self.first;
                let read = match found {
                    Ok(_) if is_listed => self.row(cursor, None, 0),
                    found => found.map(|_| ()),
                };
                match read {
                    Err(error) if !passes(&error, cursor) => return Err(error),
                    Err(error) if is_listed => self.mark(&error, cursor.record_start())?,
                    _ => {}
                }
                self.passed = index + 1;
            }
        })
    }

    /// Shows that a record is malformed, of which the cursor is at the end, or in it.
    fn mark(&mut self, error: &reader::Error, start: u64) -> reader::Result<()> {
        if self.page.rows.last().is_none_or(|row| row.index < self.passed) {
            // It is not a value, so it has no kind, and nothing in it is shown.
            let node = Node { start, kind: Kind::Null, depth: 0 };
            self.page.rows.push(Row::new(self.passed, node));
        }
        let bytes = self.source.bytes(start, PREVIEW_BYTES)?;
        let line = String::from_utf8_lossy(bytes.split(|byte| *byte == b'\n').next().unwrap_or(&[]));
        if let Some(row) = self.page.rows.last_mut() {
            row.preview = text::clip(&text::safe(&line), PREVIEW_CHARS).into_owned();
            row.fault = Some(error.message());
        }
        Ok(())
    }

    fn children(&mut self, cursor: &mut Cursor<'_>, node: Node) -> reader::Result<()> {
        let Event::Begin(kind) = cursor.begin_value()? else {
            self.page.count = Some(0);
            return Ok(());
        };
        loop {
            if self.passed < self.first {
                self.passed += cursor.pass_children(self.passed, self.first - self.passed)?;
            }
            if !next_child(cursor, kind)? {
                self.page.count = Some(self.passed);
                return Ok(());
            }
            if self.is_full() {
                return Ok(());
            }
            if self.passed >= self.first {
                let name = cursor.name().map(|name| name.decode().into_owned());
                self.row(cursor, name, node.depth + 1)?;
            }
            self.passed += 1;
        }
    }

    /// Reads the value that the cursor is before, and adds its row.
    fn row(&mut self, cursor: &mut Cursor<'_>, name: Option<String>, depth: u32) -> reader::Result<()> {
        let Some(kind) = cursor.peek()? else {
            // Reports the error.
            return cursor.begin_value().map(|_| ());
        };
        let node = Node { start: cursor.offset(), kind, depth };
        let preview = preview(&self.source.bytes(node.start, PREVIEW_BYTES)?);
        self.page.rows.push(Row { name, preview, ..Row::new(self.passed, node) });
        let outside = cursor.depth();
        let mut children = None;
        if kind.is_container() {
            cursor.begin_value()?;
            children = count_within(cursor, kind, node.start + COUNTED)?;
            if cursor.depth() > outside {
                children = known_end(self.source, node).map(|known| known.children);
                if children.is_none() {
                    (self.early)(&self.page);
                }
                cursor.leave()?;
            }
        } else {
            cursor.skip_value()?;
        }
        let end = cursor.offset();
        let cells = if kind == Kind::Object { self.cells(node.start, end)? } else { Vec::new() };
        if let Some(row) = self.page.rows.last_mut() {
            (row.end, row.children, row.cells) = (Some(end), children, cells);
        }
        Ok(())
    }

    /// The members of an object, as far as its first bytes show them.
    fn cells(&self, start: u64, end: u64) -> reader::Result<Vec<(String, String)>> {
        let bytes = self.source.bytes(start, (end - start).min(CELL_BYTES) as usize)?;
        let mut cells = Vec::new();
        // The bytes may end within a member: that one has no cell.
        let _ = members(&bytes, &mut cells);
        Ok(cells)
    }
}

fn members(bytes: &[u8], cells: &mut Vec<(String, String)>) -> reader::Result<()> {
    let mut cursor = Cursor::new(bytes, &reader::Config::new());
    cursor.begin_value()?;
    while cells.len() < MAX_CELLS && cursor.next_member()? {
        let Some(name) = cursor.name().map(|name| name.decode().into_owned()) else { break };
        let Span { start, end } = cursor.skip_value()?;
        let value = preview(&bytes[start as usize..end as usize]);
        cells.push((name, text::clip(&value, CELL_CHARS).into_owned()));
    }
    Ok(())
}

/// The first characters of the value at the start of some bytes, without its white space and safe
/// for a terminal.
pub(crate) fn preview(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len());
    compact(bytes, &mut out);
    let shown = String::from_utf8_lossy(&out[..value_end(&out)]);
    let shown = shown.trim_end_matches('\u{fffd}');
    text::clip(&text::safe(shown), PREVIEW_CHARS).into_owned()
}

/// The end of the first value in compacted bytes, or of the bytes.
fn value_end(bytes: &[u8]) -> usize {
    let mut cursor = Cursor::new(bytes, &reader::Config::new());
    cursor.skip_value().map_or(bytes.len(), |span| span.end as usize)
}
