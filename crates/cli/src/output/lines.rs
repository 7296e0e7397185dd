//! Values one a line: the answer of `extract`.

use std::io;

use trommel::{Damage, Found, Sink, reader};

use super::values::Checked;
use super::{Budget, Kept, Notes, Out, Target, Values, escape, push_string};

/// Bytes of lines of the first record that wait until it is known whether there is a second.
const HELD: u64 = 64 << 10;

/// What a line shows of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineForm {
    /// The value, without insignificant white space.
    Values,
    /// The value, verbatim.
    Raw,
    /// The normalized path.
    Paths,
    /// An object with path, value and byte offsets.
    Located,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    /// Without insignificant white space.
    Compact,
    Verbatim,
}

/// What the lines of a form hold.
#[derive(Clone, Copy, Debug)]
struct Parts {
    value: Option<Spelling>,
    /// The normalized path.
    location: bool,
    /// True if a line is an object that also holds the offsets and, where there are several, the
    /// query and the record.
    is_object: bool,
}

impl Parts {
    fn of(form: LineForm) -> Self {
        let value = Self { value: Some(Spelling::Compact), location: false, is_object: false };
        match form {
            LineForm::Values => value,
            LineForm::Raw => Self { value: Some(Spelling::Verbatim), ..value },
            LineForm::Paths => Self { value: None, location: true, ..value },
            LineForm::Located => Self { location: true, is_object: true, ..value },
        }
    }
}

/// Prints matches as they are found: those of the first query, or of all in the order of the
/// document, at once, those of the others when the first's are out.
#[derive(Debug)]
pub(crate) struct Lines {
    out: Out,
    parts: Parts,
    values: Values,
    /// Whether a terminal is to be kept safe.
    escape: bool,
    /// The queries as JSON strings, if lines name them.
    queries: Vec<String>,
    /// One for each query but the first, when they wait.
    waiting: Vec<Kept>,
    records: Records,
    notes: Notes,
    refused: Option<Refused>,
}

/// A value that was found, and is no JSON on a closer look.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) error: reader::Error,
    pub(crate) record: u64,
}

/// Whether lines tell the record. That depends on whether there are several, which the first does
/// not know.
#[derive(Debug)]
enum Records {
    /// It is known.
    Known { told: bool },
    /// Lines of the first record, without their ends. Those of queries that wait stand at the
    /// beginning of theirs.
    Unknown { first: Kept },
    /// It was found out, when the waiting lines had these lengths.
    FoundOut { told: bool, waiting: Vec<u64> },
}

/// What an extraction prints.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) form: LineForm,
    pub(crate) queries: &'a [String],
    /// Whether all queries share one order.
    pub(crate) together: bool,
    /// Whether the input is a stream of records, where that is known.
    pub(crate) stream: Option<bool>,
    pub(crate) spool_limit: u64,
}

impl Lines {
    pub(crate) fn new(asked: &Asked<'_>, values: Values, out: Out, notes: Notes) -> Self {
        let escape = values.is_escaped();
        let several = asked.queries.len() > 1;
        let places = if asked.together { 1 } else { asked.queries.len() };
        let budget = Budget::new(asked.spool_limit, places);
        let parts = Parts::of(asked.form);
        let records = match asked.stream {
            _ if !parts.is_object => Records::Known { told: false },
            Some(told) => Records::Known { told },
            None => Records::Unknown { first: Kept::new(&budget) },
        };
        let as_json = |query: &String| {
            let mut text = Vec::new();
            push_string(query, &mut text);
            super::into_text(text)
        };
        Self {
            out,
            parts,
            values: values.raw(parts.value == Some(Spelling::Verbatim)),
            escape,
            queries: if several { asked.queries.iter().map(as_json).collect() } else { Vec::new() },
            waiting: (1..places).map(|_| Kept::new(&budget)).collect(),
            records,
            notes,
            refused: None,
        }
    }

    /// The value that ended the run, if one did.
    pub(crate) fn refused(&mut self) -> Option<Refused> {
        self.refused.take()
    }

    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Prints what waited. `stream` tells whether there were several records.
    pub(crate) fn finish(mut self, stream: bool) -> io::Result<()> {
        self.find_out(stream)?;
        let (told, lengths) = match &self.records {
            Records::FoundOut { told, waiting } => (*told, waiting.clone()),
            Records::Known { .. } | Records::Unknown { .. } => (false, Vec::new()),
        };
        for (number, kept) in self.waiting.into_iter().enumerate() {
            let out = &self.out;
            let unended = lengths.get(number).copied().unwrap_or(0);
            kept.read(unended, |piece| end_lines(piece, told, out), |piece| out.write(piece))?;
        }
        self.out.finish()
    }

    /// It is known now whether there are several records.
    fn find_out(&mut self, told: bool) -> io::Result<()> {
        if !matches!(self.records, Records::Unknown { .. }) {
            return Ok(());
        }
        let waiting = self.waiting.iter().map(Kept::len).collect();
        let before = std::mem::replace(&mut self.records, Records::FoundOut { told, waiting });
        let Records::Unknown { first } = before else { return Ok(()) };
        first.read(u64::MAX, |piece| end_lines(piece, told, &self.out), |_| Ok(()))
    }

    /// Whether lines that wait for the first record are to wait no longer, before one of `length`
    /// bytes joins them.
    fn is_time_to_find_out(&self, record: u64, length: u64) -> bool {
        match &self.records {
            Records::Unknown { first } => record > 0 || first.len() + length > HELD,
            Records::Known { .. } | Records::FoundOut { .. } => false,
        }
    }

    /// Writes the line of a match, in its place.
    fn line(&mut self, found: &Found<'_>) -> io::Result<()> {
        let checked = if self.parts.value.is_some() { Some(self.check(found)?) } else { None };
        if self.is_time_to_find_out(found.record, found.value.len() as u64) {
            self.find_out(found.record > 0)?;
        }
        let told = match &self.records {
            Records::Known { told } | Records::FoundOut { told, .. } => Some(*told),
            Records::Unknown { .. } => None,
        };
        let mut page;
        let waiting = found.measure.checked_sub(1).and_then(|number| self.waiting.get_mut(number));
        let to: &mut dyn Target = match (waiting, &mut self.records) {
            (Some(kept), _) => kept,
            (None, Records::Unknown { first }) => first,
            (None, _) => {
                page = self.out.page();
                &mut page
            }
        };
        match &checked {
            Some(checked) if self.parts.is_object => {
                let query = self.queries.get(found.measure);
                to.bytes().extend_from_slice(b"{\"path\":");
                push_path(located(found), self.escape, to.bytes());
                to.bytes().extend_from_slice(b",\"value\":");
                self.values.put(checked, to)?;
                push_place(found, query, to.bytes());
                if let Some(told) = told {
                    push_end(told.then_some(found.record), to.bytes());
                }
            }
            Some(checked) => self.values.put(checked, to)?,
            None => {
                let path = located(found);
                let path = if self.escape { escape::text(path) } else { path.into() };
                to.bytes().extend_from_slice(path.as_bytes());
            }
        }
        to.bytes().push(b'\n');
        to.settle()
    }

    /// A value may be printed, or ends the run.
    fn check<'v>(&mut self, found: &Found<'v>) -> io::Result<Checked<'v>> {
        self.values.check(found.view()).map_err(|error| {
            self.refused = Some(Refused { error, record: found.record });
            io::Error::other("a value is no JSON")
        })
    }
}

impl Sink for Lines {
    fn found(&mut self, found: &Found<'_>) -> io::Result<()> {
        if !self.parts.location
            && self.values.are_verbatim(found.value)
            && (found.measure == 0 || self.waiting.is_empty())
        {
            let mut page = self.out.page();
            page.bytes().extend_from_slice(found.value);
            page.bytes().push(b'\n');
            return page.settle();
        }
        self.line(found)
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.notes.bad_record(damage);
        Ok(())
    }

    fn wants_location(&self) -> bool {
        self.parts.location
    }
}

/// The path of a match, of which the form says that it is wanted.
#[expect(clippy::expect_used, reason = "the engine finds the locations of sinks that want them")]
fn located<'v>(found: &Found<'v>) -> &'v str {
    found.location.expect("the sink wants locations")
}

/// Appends a normalized path as a JSON string.
pub(super) fn push_path(path: &str, escaped: bool, out: &mut Vec<u8>) {
    let start = out.len();
    push_string(path, out);
    if escaped {
        let plain = out.split_off(start);
        escape::json(&plain, out);
    }
}

/// Appends where a match stands, and whose it is.
fn push_place(found: &Found<'_>, query: Option<&String>, out: &mut Vec<u8>) {
    out.extend_from_slice(format!(",\"start\":{},\"end\":{}", found.span.start, found.span.end).as_bytes());
    if let Some(query) = query {
        out.extend_from_slice(b",\"query\":");
        out.extend_from_slice(query.as_bytes());
    }
}

/// Appends the end of a line that tells where a match stands.
fn push_end(record: Option<u64>, out: &mut Vec<u8>) {
    if let Some(record) = record {
        out.extend_from_slice(format!(",\"record\":{record}").as_bytes());
    }
    out.push(b'}');
}

/// Writes lines of the first record that have no ends yet.
fn end_lines(piece: &[u8], told: bool, out: &Out) -> io::Result<()> {
    let mut ended = Vec::with_capacity(piece.len() + 64);
    for line in piece.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => {
                ended.extend_from_slice(line);
                push_end(told.then_some(0), &mut ended);
                ended.push(b'\n');
            }
            None => ended.extend_from_slice(line),
        }
    }
    out.write(&ended)
}
