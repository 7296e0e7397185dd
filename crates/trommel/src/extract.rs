//! Extraction: emits matches in the requested order.

use std::io::{self, Write};

use trommel_base::Cancel;
use trommel_path::{HeldMatch, HeldRows, Matcher, ShortValue, TextSpool};
use trommel_reader::{Span, View};

use crate::control::check;
use crate::error::Error;
use crate::report::{Match, Sink};

/// Bytes of held matches in memory.
const HELD_MEMORY: usize = 16 << 20;

/// Matches that wait until their order is known. In RFC order each query has a queue; in document
/// order all queries share one.
#[derive(Debug)]
pub(crate) struct MatchQueue {
    held: HeldRows,
    locations: TextSpool,
    text: Vec<u8>,
    /// The number of low bits of a held match's tag that are the number of its query. The other
    /// bits are the offset of its location in `locations`.
    bits: u32,
    /// True if the queue serves all queries, in document order.
    shared: bool,
    cancel: Cancel,
}

/// The state of an extraction.
#[derive(Clone, Debug)]
pub(crate) struct ExtractState {
    pub(crate) measure: usize,
    /// The number of matches to skip before the first one is emitted.
    pub(crate) skip: u64,
    pub(crate) limit: u64,
    /// The matches found so far, skipped ones included.
    pub(crate) found: u64,
}

impl ExtractState {
    /// The number of matches after which no other is emitted.
    pub(crate) fn last(&self) -> u64 {
        self.skip.saturating_add(self.limit)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.found >= self.last()
    }

    /// The number of matches passed to the sink.
    pub(crate) fn emitted(&self) -> u64 {
        self.found.saturating_sub(self.skip).min(self.limit)
    }

    /// Passes a match to the sink, unless it is skipped or the limit is reached.
    pub(crate) fn emit(&mut self, found: &Match<'_>, sink: &mut dyn Sink) -> io::Result<()> {
        if self.is_done() {
            return Ok(());
        }
        self.found += 1;
        if self.found > self.skip { sink.found(found) } else { Ok(()) }
    }
}

/// A match that the matcher has just left.
#[derive(Clone, Copy)]
pub(crate) struct LeftMatch {
    /// The number of its extraction.
    pub(crate) number: usize,
    pub(crate) times: u64,
    pub(crate) span: Span,
    /// True if no later match can come before it.
    pub(crate) settled: bool,
}

impl MatchQueue {
    /// An empty queue, for one of `queries` extractions or shared by all of them.
    pub(crate) fn new(queries: usize, shared: bool, cancel: &Cancel) -> Self {
        let bits = usize::BITS - (queries - 1).leading_zeros();
        let (held, locations, cancel) = (HeldRows::new(HELD_MEMORY), TextSpool::default(), cancel.clone());
        Self { held, locations, text: Vec::new(), bits, shared, cancel }
    }

    /// Emits a match, or holds it until its order is known. `extract` is the state of its
    /// extraction.
    pub(crate) fn push(
        &mut self,
        left: LeftMatch,
        matcher: &Matcher<'_, '_>,
        extract: &mut ExtractState,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        // All occurrences of a node are equal, so those beyond the limit need no work.
        let times = left.times.min(extract.last() - extract.found);
        let located = sink.wants_location() && times > 0;
        if !left.settled || !self.held.is_empty() {
            // A shared queue cannot be bounded: each query has its own limit.
            if self.held.is_empty() && extract.limit != u64::MAX && (self.bits == 0 || !self.shared) {
                self.held.keep_smallest(extract.last() - extract.found);
            }
            return self.hold(LeftMatch { times, ..left }, located, matcher);
        }
        if located {
            self.text.clear();
            write!(self.text, "{}", matcher.location())?;
        }
        let location = located.then(|| as_text(&self.text));
        let found = found(extract.measure, left.span, location, None, matcher);
        for time in 0..times {
            self.check_cancel(time, left.span)?;
            extract.emit(&found, sink)?;
        }
        Ok(())
    }

    /// Holds a match, unless its key exceeds the bound.
    fn hold(&mut self, left: LeftMatch, located: bool, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        // Matches of several queries at the same offset are in the order of the queries.
        let start_and_query = [left.span.start, left.number as u64];
        let key = if self.shared { &start_and_query } else { matcher.key() };
        if self.held.rejects(key) {
            return Ok(());
        }
        let mut location_at = 0;
        if located {
            self.text.clear();
            write!(self.text, "{}", matcher.location())?;
            location_at = self.locations.push(&self.text)?;
        }
        // Reading a short value again would cost more than holding it.
        let value = matcher.cursor().bytes(left.span).and_then(ShortValue::new);
        for time in 0..left.times {
            self.check_cancel(time, left.span)?;
            self.held.push_with(key, left.span, location_at << self.bits | left.number as u64, value)?;
        }
        Ok(())
    }

    /// The upper bound of keys that can still be emitted, if it is known.
    pub(crate) fn bound(&self) -> Option<&[u64]> {
        self.held.bound()
    }

    /// Appends the matches that a later part held for the same query. Parts hold no locations.
    #[cfg(feature = "parallel")]
    pub(crate) fn append(&mut self, later: &mut Self) -> Result<(), Error> {
        Ok(self.held.append(&mut later.held)?)
    }

    /// True if a match is held.
    #[inline]
    pub(crate) fn holds_matches(&self) -> bool {
        !self.held.is_empty()
    }

    /// Emits all held matches.
    pub(crate) fn flush(
        &mut self,
        matcher: &Matcher<'_, '_>,
        extracts: &mut [ExtractState],
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        if self.held.is_empty() {
            return Ok(());
        }
        let located = sink.wants_location();
        let (locations, text, bits, cancel) = (&mut self.locations, &mut self.text, self.bits, &self.cancel);
        let mut read_spans = ReadSpans::default();
        self.held.drain(|HeldMatch { span, tag, value, .. }| {
            if read_spans.add(span, matcher) {
                check(cancel, span.end)?;
            }
            let extract = &mut extracts[(tag & !(u64::MAX << bits)) as usize];
            if extract.is_done() {
                return Ok::<_, Error>(());
            }
            if located {
                locations.read(tag >> bits, text)?;
            }
            let location = located.then(|| as_text(text));
            Ok(extract.emit(&found(extract.measure, span, location, value.as_ref(), matcher), sink)?)
        })?;
        read_spans.release(matcher);
        Ok(self.locations.clear()?)
    }

    /// Emitting matches moves no cursor, so nothing else checks for cancellation.
    fn check_cancel(&self, time: u64, span: Span) -> Result<(), Error> {
        if time % 1024 == 1023 { Ok(check(&self.cancel, span.end)?) } else { Ok(()) }
    }
}

/// Creates the match for a sink. The cursor holds its bytes until it is emitted, unless they are in
/// `held`.
#[inline]
#[expect(clippy::expect_used, reason = "the matcher holds the bytes of matches")]
pub(crate) fn found<'a>(
    measure: usize,
    span: Span,
    location: Option<&'a str>,
    held: Option<&'a ShortValue>,
    matcher: &'a Matcher<'_, '_>,
) -> Match<'a> {
    let view = held.map(|held| View::at(held.bytes(), span.start)).or_else(|| matcher.cursor().part(span));
    let view = view.expect("a match is readable until it is emitted");
    Match { measure, value: view.bytes(), span, record: matcher.cursor().record(), location, view }
}

/// The spans that were read again, whose memory can be released.
#[derive(Default)]
struct ReadSpans {
    spans: u32,
    range: Option<Span>,
}

impl ReadSpans {
    /// Spans to read before their memory is released.
    const MAX_SPANS: u32 = 1024;

    /// Adds a span, which may have been read again. Returns true each time the memory was released,
    /// as a signal to check for cancellation.
    fn add(&mut self, span: Span, matcher: &Matcher<'_, '_>) -> bool {
        let full = self.spans == Self::MAX_SPANS;
        if full {
            self.release(matcher);
        }
        self.spans += 1;
        let range = self.range.get_or_insert(span);
        *range = Span::new(range.start.min(span.start), range.end.max(span.end));
        full
    }

    fn release(&mut self, matcher: &Matcher<'_, '_>) {
        self.spans = 0;
        if let Some(range) = self.range.take() {
            matcher.cursor().forget(range);
        }
    }
}

/// The text of a location.
#[expect(clippy::expect_used, reason = "a location is UTF-8")]
fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("a location is UTF-8")
}
