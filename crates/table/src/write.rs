//! Writes rows in the form that the decoder of Arrow reads: JSON arrays of the values of all
//! columns and fields in the order of the schema. So names are compared and repeated members
//! resolved here, once for all.

use std::fmt::Write as _;
use std::str;

use trommel::reader::{Compactor, Config, Cursor, Limits, Names, Span, Validation};

use crate::number::Numbers;
use crate::types::{ColumnType, Layout, Members};

/// The number of characters that an error shows of a value.
const SHOWN_CHARS: usize = 40;

/// A value that does not fit, with the path to it from the innermost step outwards.
#[derive(Debug)]
pub(crate) struct NoFit {
    steps: Vec<Step>,
    /// The offset of the value in that of the column.
    pub(crate) offset: u64,
    pub(crate) wanted: &'static str,
    pub(crate) found: String,
}

/// A step on the path to a value.
#[derive(Debug)]
enum Step {
    Name(String),
    Index(u64),
}

/// Writes values, and counts what it changes.
pub(crate) struct CellWriter {
    config: Config,
    /// Numbers that were rounded.
    pub(crate) rounded: u64,
    compact: Vec<u8>,
    /// The spans of the members of open objects.
    slots: Vec<Option<Span>>,
}

impl CellWriter {
    pub(crate) fn new() -> Self {
        let config = cell_config();
        Self { config, rounded: 0, compact: Vec::new(), slots: Vec::new() }
    }

    /// Writes the value of a column, which is valid JSON. After an error, `out` may end with a part
    /// of it.
    pub(crate) fn cell(&mut self, value: &[u8], layout: &Layout, out: &mut Vec<u8>) -> Result<(), NoFit> {
        // An error leaves open objects behind.
        self.slots.clear();
        self.value(value, layout, out)
    }

    fn value(&mut self, value: &[u8], layout: &Layout, out: &mut Vec<u8>) -> Result<(), NoFit> {
        let is_fit = match (layout, value.first()) {
            // JSON null is the null of every type but JSON's own, where the value is kept.
            (_, Some(b'n') | None) => {
                out.extend_from_slice(b"null");
                true
            }
            (Layout::Scalar(column_type), _) => self.scalar(value, column_type, out),
            (Layout::List(item), Some(b'[')) => return self.list(value, item, out),
            (Layout::Struct(members), Some(b'{')) => return self.object(value, members, out),
            _ => false,
        };
        if is_fit {
            return Ok(());
        }
        Err(NoFit::new(value, layout.name()))
    }

    fn scalar(&mut self, value: &[u8], column_type: &ColumnType, out: &mut Vec<u8>) -> bool {
        let first = value.first().copied().unwrap_or(0);
        let is_number = matches!(first, b'-' | b'0'..=b'9');
        let is_fit = match column_type {
            ColumnType::Boolean => matches!(first, b't' | b'f'),
            ColumnType::Text => first == b'"',
            ColumnType::Json => {
                self.compact.clear();
                Compactor::default().push(value, &mut self.compact);
                quote(&self.compact, out);
                return true;
            }
            ColumnType::NumberText if is_number => {
                quote(value, out);
                return true;
            }
            ColumnType::Int64 | ColumnType::UInt64 | ColumnType::Decimal | ColumnType::Float64 { .. } => {
                is_number && self.number(value, column_type)
            }
            _ => false,
        };
        if is_fit {
            out.extend_from_slice(value);
        }
        is_fit
    }

    fn number(&mut self, value: &[u8], column_type: &ColumnType) -> bool {
        let Ok(lexeme) = str::from_utf8(value) else { return false };
        let numbers = Numbers::of(lexeme);
        match column_type {
            ColumnType::Int64 => numbers.int64,
            ColumnType::UInt64 => numbers.uint64,
            ColumnType::Decimal => numbers.decimal,
            ColumnType::Float64 { rounded: true } => {
                self.rounded += u64::from(numbers.rounded && !numbers.double);
                numbers.rounded
            }
            _ => numbers.double,
        }
    }

    #[expect(clippy::expect_used, reason = "the value is valid JSON")]
    fn list(&mut self, value: &[u8], item: &Layout, out: &mut Vec<u8>) -> Result<(), NoFit> {
        let mut cursor = Cursor::new(value, &self.config);
        cursor.begin_value().expect("an array begins");
        out.push(b'[');
        let mut index = 0;
        while cursor.next_element().expect("a valid array") {
            if index > 0 {
                out.push(b',');
            }
            let span = cursor.skip_value().expect("a valid element");
            let written = self.value(part(value, span), item, out);
            written.map_err(|error| error.within(Step::Index(index), span.start))?;
            index += 1;
        }
        out.push(b']');
        Ok(())
    }

    /// Appends the spans of the members of an object.
    #[expect(clippy::expect_used, reason = "the value is valid JSON")]
    fn find(&mut self, value: &[u8], names: &Names, count: usize) {
        let first = self.slots.len();
        self.slots.resize(first + count, None);
        let mut cursor = Cursor::new(value, &self.config);
        cursor.begin_value().expect("an object begins");
        while let Some(name) = cursor.next_named(names).expect("a valid object") {
            let span = cursor.skip_value().expect("a valid member");
            // The first member of a name counts, as in queries.
            self.slots[first + name].get_or_insert(span);
        }
    }

    /// The spans of the members of a row that is an object, in the order of the columns.
    pub(crate) fn members(&mut self, value: &[u8], members: &Members, spans: &mut Vec<Option<Span>>) {
        self.slots.clear();
        self.find(value, &members.names, members.fields.len());
        spans.clone_from(&self.slots);
    }

    fn object(
        &mut self,
        value: &[u8],
        Members { names, fields }: &Members,
        out: &mut Vec<u8>,
    ) -> Result<(), NoFit> {
        let first = self.slots.len();
        self.find(value, names, fields.len());
        out.push(b'[');
        for (number, (name, layout)) in fields.iter().enumerate() {
            if number > 0 {
                out.push(b',');
            }
            let Some(span) = self.slots[first + number] else {
                out.extend_from_slice(b"null");
                continue;
            };
            let written = self.value(part(value, span), layout, out);
            written.map_err(|error| error.within(Step::Name(name.clone()), span.start))?;
        }
        self.slots.truncate(first);
        out.push(b']');
        Ok(())
    }
}

/// The configuration of cursors over values that were validated when they were found.
pub(crate) fn cell_config() -> Config {
    let mut limits = Limits::default();
    (limits.depth, limits.token_bytes) = (Limits::MAX_DEPTH, u64::MAX);
    Config::new().limits(limits).validation(Validation::Structural)
}

pub(crate) fn part(value: &[u8], span: Span) -> &[u8] {
    &value[span.start as usize..span.end as usize]
}

/// Writes JSON as a JSON string. Compact JSON has no control characters.
fn quote(json: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut from = 0;
    for at in memchr::memchr2_iter(b'"', b'\\', json) {
        out.extend_from_slice(&json[from..at]);
        out.push(b'\\');
        from = at;
    }
    out.extend_from_slice(&json[from..]);
    out.push(b'"');
}

impl NoFit {
    pub(crate) fn new(value: &[u8], wanted: &'static str) -> Self {
        let shown = String::from_utf8_lossy(value.get(..4 * SHOWN_CHARS).unwrap_or(value));
        let mut found = shown.chars().take(SHOWN_CHARS).collect::<String>();
        if found.len() < value.len() {
            found.push('…');
        }
        Self { steps: Vec::new(), offset: 0, wanted, found }
    }

    fn within(mut self, step: Step, start: u64) -> Self {
        self.steps.push(step);
        self.offset += start;
        self
    }

    /// The path from the column on.
    pub(crate) fn path(&self, column: &str) -> String {
        let mut path = column.to_owned();
        for step in self.steps.iter().rev() {
            // Writing to a string cannot fail.
            let _ = match step {
                Step::Name(name) => write!(path, ".{name}"),
                Step::Index(index) => write!(path, "[{index}]"),
            };
        }
        path
    }
}
