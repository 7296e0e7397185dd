//! A buffered sink: matches that a thread found in a part of the input, kept until the part is
//! joined.

use std::fmt::Write as _;
use std::io;

use trommel_path::Location;
use trommel_reader::{Span, View};

use crate::control::Track;
use crate::error::Error;
use crate::extract::ExtractState;
use crate::report::{Damage, Match, Sink};

/// Bytes that the system may map around a page that is read: a large folio on either side.
const MAPPED_AROUND: u64 = 4 << 20;

/// The matches of a part, buffered until the part is joined.
#[derive(Default)]
pub(crate) struct BufferedOutput {
    matches: Vec<BufferedMatch>,
    locations: String,
    /// The ends of the locations, if locations are requested.
    ends: Vec<usize>,
    /// Malformed records, each with the number of matches found before it.
    damages: Vec<(usize, Damage)>,
    located: bool,
    /// The element that the part begins with, if locations count from it.
    first: Option<FirstElement>,
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
    /// An empty buffer, which keeps locations if `located`.
    pub(crate) fn new(located: bool) -> Self {
        Self { located, ..Self::default() }
    }

    /// The number of buffered matches.
    pub(crate) fn len(&self) -> usize {
        self.matches.len()
    }

    /// Declares that the part begins with the element `index` of an array: buffered locations count
    /// from it.
    pub(crate) fn begin_at(&mut self, array: &Location, index: u64) {
        self.first = self.located.then(|| FirstElement { index_at: array.to_string().len() + 1, index });
    }

    /// Passes the buffered matches and malformed records to a sink, in order. `extracts` is sorted
    /// by measure.
    #[expect(
        clippy::expect_used,
        reason = "the part and the measures are those of the run that filled the buffer"
    )]
    pub(crate) fn replay(
        &self,
        part: View<'_>,
        extracts: &mut [ExtractState],
        sink: &mut dyn Sink,
        track: &Track,
    ) -> Result<(), Error> {
        let mut damages = self.damages.iter().peekable();
        let (mut from, mut text) = (0, String::new());
        for (number, value) in self.matches.iter().enumerate() {
            // Replaying moves no cursor, so nothing else checks for cancellation.
            if number % 1024 == 1023 {
                track.check(value.span.end)?;
            }
            // A malformed record is reported before the first match after it, as a single thread
            // would do.
            while let Some((_, damage)) = damages.next_if(|(before, _)| *before <= number) {
                sink.damaged(damage)?;
            }
            let end = if self.located { self.ends[number] } else { from };
            let location = self.located.then(|| &self.locations[from..end]);
            from = end;
            let location = match self.first {
                Some(first) => location.map(|location| first.rebase(location, &mut text)),
                None => location,
            };
            let number = extracts.binary_search_by_key(&(value.measure as usize), |one| one.measure);
            let extracts = &mut extracts[number.expect("a match belongs to an extraction")];
            let view = part.narrow(value.span).expect("a match is in its part");
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
        Ok(damages.try_for_each(|(_, damage)| sink.damaged(damage))?)
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
        if self.located {
            self.locations.push_str(found.location.expect("a location was requested"));
            self.ends.push(self.locations.len());
        }
        // A part has fewer records than bytes, and an analysis has fewer than 2^32 measures.
        let (measure, record) = (found.measure as u32, found.record as u32);
        self.matches.push(BufferedMatch { span: found.span, measure, record });
        Ok(())
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.damages.push((self.matches.len(), damage.clone()));
        Ok(())
    }

    fn wants_location(&self) -> bool {
        self.located
    }
}

/// The span of a part.
pub(crate) fn span_of(part: View<'_>) -> Span {
    Span::new(part.base(), part.base() + part.bytes().len() as u64)
}

/// Releases the memory of a processed part and of the pages before it: while the next part is read,
/// the system maps pages around it too.
pub(crate) fn release(part: View<'_>) {
    let Span { start, end, .. } = span_of(part);
    part.release(Span::new(start.saturating_sub(MAPPED_AROUND), end));
}
