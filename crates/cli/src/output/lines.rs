//! The answer of `extract`: lines for each value.

use std::io;

use trommel::{Damage, Match, Sink, reader};

use super::line::{LineForm, LineOptions, LineWriter};
use super::{Budget, FoundValue, HeldOutput, InputSink, Notes, Out, Target, Values, WriteError};

/// The maximum bytes of lines to hold while it is unknown if a second record follows.
const MAX_HELD: u64 = 64 << 10;

/// The same for assignments. Unlike other lines, they are wrong without the record, so a second
/// record that follows more than this is an error.
const MAX_HELD_ASSIGNMENTS: u64 = 1 << 20;

/// Prints matches as they are found: those of the first query, or of all queries in document order.
/// Matches of other queries follow after those of the first.
#[derive(Debug)]
pub(crate) struct Lines {
    out: Out,
    writer: LineWriter,
    /// The held lines of each query but the first, unless all are interleaved.
    waiting: Vec<HeldOutput>,
    records: Records,
    /// True if a value of the current input was found.
    has_values: bool,
    notes: Notes,
    bad: Option<BadValue>,
}

/// A value that cannot be printed.
#[derive(Debug)]
pub(crate) struct BadValue {
    pub(crate) refusal: Refusal,
    pub(crate) record: u64,
}

/// The reason why a value cannot be printed.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The engine skipped the value, which is malformed.
    Malformed(reader::Error),
    /// The string at this offset contains NUL, which also ends values.
    Nul(u64),
    /// The first record was printed as a document, but a second record follows.
    LateStream,
}

/// Decides if lines show the record. They do in a stream, but a stream is known only at its second
/// record.
#[derive(Debug)]
enum Records {
    /// The framing decides it.
    Known { stream: bool },
    /// The held lines of the first record, incomplete. Those of later queries are at the start of
    /// their own buffers.
    Unknown { first: HeldOutput },
    /// Decided when the buffers of later queries had these lengths.
    Resolved { stream: bool, waiting: Vec<u64> },
}

/// The form of the lines.
#[derive(Debug)]
pub(crate) struct LinesRequest<'a> {
    pub(crate) options: LineOptions<'a>,
    /// True if the matches of all queries are interleaved.
    pub(crate) is_interleaved: bool,
    /// True if the input is a stream of records; `None` if that is unknown.
    pub(crate) is_stream: Option<bool>,
    pub(crate) spool_limit: u64,
}

impl Lines {
    pub(crate) fn new(request: &LinesRequest<'_>, values: Values, out: Out, notes: Notes) -> Self {
        let LineOptions { form, queries, .. } = request.options;
        let buffers = if request.is_interleaved { 1 } else { queries.len() };
        let budget = Budget::new(request.spool_limit, buffers);
        let records = match request.is_stream {
            _ if !form.shows_record() => Records::Known { stream: false },
            Some(stream) => Records::Known { stream },
            None => Records::Unknown { first: HeldOutput::new(&budget) },
        };
        let writer = LineWriter::new(&request.options, values);
        Self {
            out: if form.is_json() { out.styled(writer.style()) } else { out },
            writer,
            waiting: (1..buffers).map(|_| HeldOutput::new(&budget)).collect(),
            records,
            has_values: false,
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

    /// Prints the held lines. `stream` is true if there were several records.
    pub(crate) fn finish(mut self, stream: bool) -> io::Result<()> {
        self.resolve_records(stream)?;
        let (stream, lengths) = match &self.records {
            Records::Resolved { stream, waiting } => (*stream, waiting.clone()),
            Records::Known { .. } | Records::Unknown { .. } => (false, Vec::new()),
        };
        for (number, held) in self.waiting.into_iter().enumerate() {
            let out = &self.out;
            let incomplete = lengths.get(number).copied().unwrap_or(0);
            let mut completion = self.writer.completion(stream);
            let complete = |piece: &[u8]| out.write(&completion.complete(piece));
            held.read(incomplete, complete, |piece| out.write(piece))?;
        }
        self.out.finish()?;
        self.writer.note().inspect(|note| self.notes.note(note));
        Ok(())
    }

    /// Decides if lines show the record, and writes the held lines of the first query.
    fn resolve_records(&mut self, stream: bool) -> io::Result<()> {
        if !matches!(self.records, Records::Unknown { .. }) {
            return Ok(());
        }
        let waiting = self.waiting.iter().map(HeldOutput::len).collect();
        let before = std::mem::replace(&mut self.records, Records::Resolved { stream, waiting });
        let Records::Unknown { first } = before else { return Ok(()) };
        if self.has_values && stream {
            self.writer.begin_stream(&self.out)?;
        }
        let mut completion = self.writer.completion(stream);
        first.read(u64::MAX, |piece| self.out.write(&completion.complete(piece)), |_| Ok(()))
    }

    /// True if the decision must be made before a line of `length` bytes is added: a second record
    /// has begun, or too much is held.
    fn must_resolve(&self, record: u64, length: u64) -> bool {
        let is_gron = self.writer.form() == LineForm::Gron;
        let max_held = if is_gron { MAX_HELD_ASSIGNMENTS } else { MAX_HELD };
        match &self.records {
            Records::Unknown { first } => record > 0 || first.len() + length > max_held,
            Records::Known { .. } | Records::Resolved { .. } => false,
        }
    }

    /// Writes the lines of a match, or holds them.
    fn line(&mut self, found: &FoundValue<'_>) -> Result<(), WriteError> {
        let checked = self.writer.check(found)?;
        let is_first = !std::mem::replace(&mut self.has_values, true);
        if self.must_resolve(found.record, found.view.bytes().len() as u64) {
            self.resolve_records(found.record > 0)?;
        }
        if is_first && matches!(self.records, Records::Known { stream: true }) {
            self.writer.begin_stream(&self.out)?;
        }
        let stream = match &self.records {
            Records::Known { stream } | Records::Resolved { stream, .. } => Some(*stream),
            Records::Unknown { .. } => None,
        };
        let mut page;
        let waiting = found.query.checked_sub(1).and_then(|number| self.waiting.get_mut(number));
        let to: &mut dyn Target = match (waiting, &mut self.records) {
            (Some(held), _) => held,
            (None, Records::Unknown { first }) => first,
            (None, _) => {
                page = self.out.page();
                &mut page
            }
        };
        self.writer.write(found, checked.as_ref(), stream, to)
    }

    /// Ends the run with the reason why a value cannot be printed.
    fn refuse(&mut self, refusal: Refusal, record: u64) -> io::Error {
        self.bad = Some(BadValue { refusal, record });
        io::Error::other("a value cannot be printed")
    }
}

impl InputSink for Lines {
    fn begin_input(&mut self, name: &str) {
        self.notes.begin_input(name);
        self.writer.begin_input(name);
        // Each input with a prefix is a stream of its own.
        self.has_values = false;
    }
}

impl Sink for Lines {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        if self.writer.is_line(found.value) && (found.measure == 0 || self.waiting.is_empty()) {
            return self.writer.write_line(found.value, &mut self.out.page());
        }
        let is_late = matches!(self.records, Records::Resolved { stream: false, .. }) && found.record > 0;
        if is_late && self.writer.form() == LineForm::Gron {
            return Err(self.refuse(Refusal::LateStream, found.record));
        }
        self.line(&found.into()).map_err(|error| match error {
            WriteError::Malformed(error) => self.refuse(Refusal::Malformed(error), found.record),
            WriteError::Nul(offset) => self.refuse(Refusal::Nul(offset), found.record),
            WriteError::Output(error) => error,
        })
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.notes.bad_record(damage);
        Ok(())
    }

    fn wants_location(&self) -> bool {
        self.writer.form().needs_location()
    }
}
