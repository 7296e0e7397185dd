//! A buffered sink: matches that a thread found in a part of the input, kept until the part is
//! joined.

use std::fmt::Write as _;
use std::io;

use trommel_path::Location;
use trommel_reader::{Span, View};

use crate::control::Track;
use crate::error::Error;
use crate::extract::ExtractState;
use crate::report::{Damage, Match, Sink, SinkNeeds};

/// Maximum bytes of a value that is copied when it is found.
const SHORT_VALUE_BYTES: usize = 64;

/// The matches of a part, buffered until the part is joined.
#[derive(Default)]
pub(crate) struct BufferedOutput {
    matches: Vec<BufferedMatch>,
    /// The short values, one after the other. In the input they are far apart, and the joining
    /// thread would wait for each: only the thread that found a value has its bytes at hand.
    short_values: Vec<u8>,
    locations: String,
    /// The ends of the locations, if locations are requested.
    ends: Vec<usize>,
    /// Ends of records and malformed records, each with the number of matches found before it.
    events: Vec<(usize, RecordEvent)>,
    needs: SinkNeeds,
    /// The element that the part begins with, if locations count from it.
    first: Option<FirstElement>,
}

/// An event between matches. Malformed records are boxed, because ends of records are common.
enum RecordEvent {
    Ended(u32),
    Damaged(Box<Damage>),
}

impl RecordEvent {
    fn pass_to(&self, sink: &mut dyn Sink) -> io::Result<()> {
        match self {
            Self::Ended(record) => sink.record_ended(u64::from(*record)),
            Self::Damaged(damage) => sink.damaged(damage),
        }
    }
}

/// The first element of a part of an array.
#[derive(Clone, Copy)]
struct FirstElement {
    /// The byte offset of the element's index in a location.
    index_at: usize,
    /// The element's index.
    index: u64,
}

struct BufferedMatch {
    span: Span,
    measure: u32,
    record: u32,
}

impl BufferedOutput {
    /// An empty buffer for a sink with these needs.
    pub(crate) fn new(needs: SinkNeeds) -> Self {
        Self { needs, ..Self::default() }
    }

    /// The number of buffered matches and events.
    pub(crate) fn len(&self) -> usize {
        self.matches.len() + self.events.len()
    }

    /// Declares that the part begins with the element `index` of an array: buffered locations count
    /// from it.
    pub(crate) fn begin_at(&mut self, array: &Location, index: u64) {
        self.first =
            self.needs.locations.then(|| FirstElement { index_at: array.to_string().len() + 1, index });
    }

    /// Passes the buffered matches, record ends, and malformed records to a sink, in order.
    /// `extracts` is sorted by measure.
    #[expect(clippy::expect_used, reason = "the part and the measures are those of the run that filled it")]
    pub(crate) fn replay(
        &self,
        part: View<'_>,
        extracts: &mut [ExtractState],
        sink: &mut dyn Sink,
        track: &Track,
    ) -> Result<(), Error> {
        let mut events = self.events.iter().peekable();
        let (mut from, mut text, mut short_values) = (0, String::new(), self.short_values.as_slice());
        for (number, value) in self.matches.iter().enumerate() {
            // Replaying moves no cursor, so nothing else checks for cancellation.
            if number % 1024 == 1023 {
                track.check(value.span.end)?;
            }
            // The end of a record, or a malformed record, is reported before the first match after
            // it, as a single thread would do.
            while let Some((_, event)) = events.next_if(|(before, _)| *before <= number) {
                event.pass_to(sink)?;
            }
            let end = self.needs.locations.then(|| self.ends[number]);
            let location = end.map(|end| &self.locations[std::mem::replace(&mut from, end)..end]);
            let location = location.map(|at| self.first.map_or(at, |first| first.rebase(at, &mut text)));
            let number = extracts.binary_search_by_key(&(value.measure as usize), |one| one.measure);
            let extracts = &mut extracts[number.expect("a match belongs to an extraction")];
            let short = Some(value.span.len() as usize).filter(|length| *length <= SHORT_VALUE_BYTES);
            let copy = short.map(|length| short_values.split_off(..length).expect("it was copied"));
            let within = || part.narrow(value.span).expect("a match is in its part");
            let view = copy.map_or_else(within, |copy| View::at(copy, value.span.start));
            let found = Match {
                measure: extracts.measure,
                value: view.bytes(),
                span: value.span,
                record: u64::from(value.record),
                location,
                view,
            };
            extracts.emit(&found, sink)?;
        }
        debug_assert!(short_values.is_empty(), "each copy is that of a match");
        Ok(events.try_for_each(|(_, event)| event.pass_to(sink))?)
    }
}

impl FirstElement {
    /// Converts a location that counts from this element to one that counts from the start of the
    /// array.
    #[expect(clippy::expect_used, reason = "locations are normalized paths that begin with the array's")]
    fn rebase<'t>(self, location: &str, text: &'t mut String) -> &'t str {
        let (before, rest) = location.split_at(self.index_at);
        let (index, after) = rest.split_once(']').expect("an index is closed");
        let index = index.parse::<u64>().expect("an index is a number");
        text.clear();
        // Writing to a string cannot fail.
        let _ = write!(text, "{before}{}]{after}", index + self.index);
        text
    }
}

impl Sink for BufferedOutput {
    #[expect(clippy::expect_used, reason = "a match has a location if the sink requests it")]
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        if self.needs.locations {
            self.locations.push_str(found.location.expect("a location was requested"));
            self.ends.push(self.locations.len());
        }
        if found.value.len() <= SHORT_VALUE_BYTES {
            self.short_values.extend_from_slice(found.value);
        }
        // A part has fewer records than bytes, and an analysis has fewer than 2^32 measures.
        let (measure, record) = (found.measure as u32, found.record as u32);
        self.matches.push(BufferedMatch { span: found.span, measure, record });
        Ok(())
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.events.push((self.matches.len(), RecordEvent::Damaged(Box::new(damage.clone()))));
        Ok(())
    }

    fn record_ended(&mut self, record: u64) -> io::Result<()> {
        // A part has fewer records than bytes.
        self.events.push((self.matches.len(), RecordEvent::Ended(record as u32)));
        Ok(())
    }

    fn wants_records(&self) -> bool {
        self.needs.records
    }

    fn wants_location(&self) -> bool {
        self.needs.locations
    }
}

/// The span of a part.
pub(crate) fn span_of(part: View<'_>) -> Span {
    Span::new(part.base(), part.base() + part.bytes().len() as u64)
}
