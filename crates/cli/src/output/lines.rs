//! The answer of `extract`: one value per line.

use std::io;

use trommel::{Damage, Match, Sink, reader};

use super::values::Checked;
use super::{Budget, HeldOutput, InputSink, Notes, Out, Target, Values, escape, push_string};

/// The maximum bytes of lines to hold while it is unknown if a second record follows.
const MAX_HELD: u64 = 64 << 10;

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineForm {
    /// The value without insignificant white space.
    Values,
    /// The value, verbatim.
    Verbatim,
    /// The normalized path.
    Paths,
    /// An object with path, value, and byte offsets.
    Located,
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueForm {
    /// Without insignificant white space.
    Compact,
    Verbatim,
}

/// The parts of a line.
#[derive(Clone, Copy, Debug)]
struct Parts {
    value: Option<ValueForm>,
    /// The normalized path.
    location: bool,
    /// True if a line is an object, which also has the offsets. If there are several queries or
    /// records, it names those of the match.
    is_object: bool,
}

impl Parts {
    fn of(form: LineForm) -> Self {
        let value = Self { value: Some(ValueForm::Compact), location: false, is_object: false };
        match form {
            LineForm::Values => value,
            LineForm::Verbatim => Self { value: Some(ValueForm::Verbatim), ..value },
            LineForm::Paths => Self { value: None, location: true, ..value },
            LineForm::Located => Self { location: true, is_object: true, ..value },
        }
    }
}

/// Prints matches as they are found: those of the first query, or of all queries in document order.
/// Matches of other queries follow after those of the first.
#[derive(Debug)]
pub(crate) struct Lines {
    out: Out,
    parts: Parts,
    values: Values,
    /// True if the output goes to a terminal, which needs escapes.
    escape: bool,
    /// The queries as JSON strings, if lines name them.
    queries: Vec<String>,
    files: FileNames,
    /// The start of each line: the name of the current input and a tab, or nothing.
    prefix: Vec<u8>,
    /// The name of the current input as a JSON string, if objects name it.
    file: Vec<u8>,
    /// The held lines of each query but the first, unless all are interleaved.
    waiting: Vec<HeldOutput>,
    records: Records,
    notes: Notes,
    malformed: Option<MalformedValue>,
}

/// A value that the engine skipped and that is malformed.
#[derive(Debug)]
pub(crate) struct MalformedValue {
    pub(crate) error: reader::Error,
    pub(crate) record: u64,
}

/// Decides if lines show the record. They do in a stream, but a stream is known only at its second
/// record.
#[derive(Debug)]
enum Records {
    /// The framing decides it.
    Known { show_record: bool },
    /// The held lines of the first record, without their ends. Those of later queries are at the
    /// start of their own buffers.
    Unknown { first: HeldOutput },
    /// Decided when the buffers of later queries had these lengths.
    Resolved { show_record: bool, waiting: Vec<u64> },
}

/// The lines that name their input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileNames {
    /// None, or objects if there are several inputs.
    Objects { several: bool },
    /// Each line begins with the name.
    Prefix,
}

/// The form of the lines.
#[derive(Debug)]
pub(crate) struct LinesRequest<'a> {
    pub(crate) form: LineForm,
    pub(crate) files: FileNames,
    pub(crate) queries: &'a [String],
    /// True if the matches of all queries are interleaved.
    pub(crate) is_interleaved: bool,
    /// True if the input is a stream of records; `None` if that is unknown.
    pub(crate) is_stream: Option<bool>,
    pub(crate) spool_limit: u64,
}

impl Lines {
    pub(crate) fn new(request: &LinesRequest<'_>, values: Values, out: Out, notes: Notes) -> Self {
        let escape = values.is_escaped();
        let several = request.queries.len() > 1;
        let buffers = if request.is_interleaved { 1 } else { request.queries.len() };
        let budget = Budget::new(request.spool_limit, buffers);
        let parts = Parts::of(request.form);
        let records = match request.is_stream {
            _ if !parts.is_object => Records::Known { show_record: false },
            Some(show_record) => Records::Known { show_record },
            None => Records::Unknown { first: HeldOutput::new(&budget) },
        };
        let as_json = |query: &String| {
            let mut text = Vec::new();
            push_string(query, &mut text);
            super::into_text(text)
        };
        Self {
            out,
            parts,
            values: values.raw(parts.value == Some(ValueForm::Verbatim)),
            escape,
            queries: if several { request.queries.iter().map(as_json).collect() } else { Vec::new() },
            files: request.files,
            prefix: Vec::new(),
            file: Vec::new(),
            waiting: (1..buffers).map(|_| HeldOutput::new(&budget)).collect(),
            records,
            notes,
            malformed: None,
        }
    }

    /// Returns the malformed value that ended the run, if one did.
    pub(crate) fn malformed(&mut self) -> Option<MalformedValue> {
        self.malformed.take()
    }

    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Prints the held lines. `stream` is true if there were several records.
    pub(crate) fn finish(mut self, stream: bool) -> io::Result<()> {
        self.resolve_records(stream)?;
        let (show_record, lengths) = match &self.records {
            Records::Resolved { show_record, waiting } => (*show_record, waiting.clone()),
            Records::Known { .. } | Records::Unknown { .. } => (false, Vec::new()),
        };
        for (number, held) in self.waiting.into_iter().enumerate() {
            let out = &self.out;
            let unended = lengths.get(number).copied().unwrap_or(0);
            held.read(unended, |piece| end_lines(piece, show_record, out), |piece| out.write(piece))?;
        }
        self.out.finish()
    }

    /// Decides if lines show the record, and writes the held lines of the first query.
    fn resolve_records(&mut self, show_record: bool) -> io::Result<()> {
        if !matches!(self.records, Records::Unknown { .. }) {
            return Ok(());
        }
        let waiting = self.waiting.iter().map(HeldOutput::len).collect();
        let before = std::mem::replace(&mut self.records, Records::Resolved { show_record, waiting });
        let Records::Unknown { first } = before else { return Ok(()) };
        first.read(u64::MAX, |piece| end_lines(piece, show_record, &self.out), |_| Ok(()))
    }

    /// True if the decision must be made before a line of `length` bytes is added: a second record
    /// has begun, or too much is held.
    fn must_resolve(&self, record: u64, length: u64) -> bool {
        match &self.records {
            Records::Unknown { first } => record > 0 || first.len() + length > MAX_HELD,
            Records::Known { .. } | Records::Resolved { .. } => false,
        }
    }

    /// Writes the line of a match, or holds it.
    fn line(&mut self, found: &Match<'_>) -> io::Result<()> {
        let checked = if self.parts.value.is_some() { Some(self.check(found)?) } else { None };
        if self.must_resolve(found.record, found.value.len() as u64) {
            self.resolve_records(found.record > 0)?;
        }
        let show_record = match &self.records {
            Records::Known { show_record } | Records::Resolved { show_record, .. } => Some(*show_record),
            Records::Unknown { .. } => None,
        };
        let mut page;
        let waiting = found.measure.checked_sub(1).and_then(|number| self.waiting.get_mut(number));
        let to: &mut dyn Target = match (waiting, &mut self.records) {
            (Some(held), _) => held,
            (None, Records::Unknown { first }) => first,
            (None, _) => {
                page = self.out.page();
                &mut page
            }
        };
        to.bytes().extend_from_slice(&self.prefix);
        match &checked {
            Some(checked) if self.parts.is_object => {
                let query = self.queries.get(found.measure);
                to.bytes().extend_from_slice(b"{\"path\":");
                push_path(located(found), self.escape, to.bytes());
                to.bytes().extend_from_slice(b",\"value\":");
                self.values.put(checked, to)?;
                push_offsets(found, query, to.bytes());
                if let Some(show_record) = show_record {
                    push_record(show_record.then_some(found.record), to.bytes());
                    to.bytes().extend_from_slice(&self.file);
                    to.bytes().push(b'}');
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
        to.flush_if_full()
    }

    /// Validates a value. An error ends the run.
    fn check<'v>(&mut self, found: &Match<'v>) -> io::Result<Checked<'v>> {
        self.values.check(found.view()).map_err(|error| {
            self.malformed = Some(MalformedValue { error, record: found.record });
            io::Error::other("a value is not valid JSON")
        })
    }
}

impl InputSink for Lines {
    fn begin_input(&mut self, name: &str) {
        self.notes.begin_input(name);
        match self.files {
            FileNames::Prefix => {
                let name = if self.escape { escape::text(name) } else { name.into() };
                self.prefix = format!("{name}\t").into_bytes();
            }
            FileNames::Objects { several } if several && self.parts.is_object => {
                self.file = b",\"file\":".to_vec();
                push_path(name, self.escape, &mut self.file);
            }
            FileNames::Objects { .. } => {}
        }
    }
}

impl Sink for Lines {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        // A scalar needs neither validation nor compaction: most lines take this path.
        if !self.parts.location
            && self.values.are_verbatim(found.value)
            && (found.measure == 0 || self.waiting.is_empty())
        {
            let mut page = self.out.page();
            page.bytes().extend_from_slice(&self.prefix);
            page.bytes().extend_from_slice(found.value);
            page.bytes().push(b'\n');
            return page.flush_if_full();
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

/// Returns the path of a match. Only for forms that request it.
#[expect(clippy::expect_used, reason = "the engine sets the location for sinks that request it")]
fn located<'v>(found: &Match<'v>) -> &'v str {
    found.location.expect("the sink requests locations")
}

/// Appends a normalized path or the name of a file as a JSON string.
pub(super) fn push_path(path: &str, escaped: bool, out: &mut Vec<u8>) {
    let start = out.len();
    push_string(path, out);
    if escaped {
        let plain = out.split_off(start);
        escape::json(&plain, out);
    }
}

/// Appends the offsets of a match and its query.
fn push_offsets(found: &Match<'_>, query: Option<&String>, out: &mut Vec<u8>) {
    out.extend_from_slice(format!(",\"start\":{},\"end\":{}", found.span.start, found.span.end).as_bytes());
    if let Some(query) = query {
        out.extend_from_slice(b",\"query\":");
        out.extend_from_slice(query.as_bytes());
    }
}

/// Appends the record of a match.
fn push_record(record: Option<u64>, out: &mut Vec<u8>) {
    if let Some(record) = record {
        out.extend_from_slice(format!(",\"record\":{record}").as_bytes());
    }
}

/// Writes held lines of the first record and completes their ends.
fn end_lines(piece: &[u8], show_record: bool, out: &Out) -> io::Result<()> {
    let mut ended = Vec::with_capacity(piece.len() + 64);
    // A piece may end within a line, whose end is then in the next piece.
    for line in piece.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => {
                ended.extend_from_slice(line);
                push_record(show_record.then_some(0), &mut ended);
                ended.extend_from_slice(b"}\n");
            }
            None => ended.extend_from_slice(line),
        }
    }
    out.write(&ended)
}
