//! Handing out values in the order wanted.

use std::io::{self, Write};

use trommel_base::Cancel;
use trommel_path::{Held, HeldMatch, Matcher};
use trommel_reader::Span;

use crate::control::check;
use crate::error::Error;
use crate::notes::Notes;
use crate::report::{Found, Sink};

/// Bytes of held matches kept in memory.
const HELD: usize = 16 << 20;

/// Values on their way out, in an order of their own. In the order of the RFC each query has one;
/// in the order of the document all share one.
#[derive(Debug)]
pub(crate) struct Outbox {
    held: Held,
    notes: Notes,
    text: Vec<u8>,
    /// Bits of a held match's tag that are the number of its query; the others are the place of its
    /// note.
    bits: u32,
    /// Whether it serves all queries, in the order of the document.
    shared: bool,
    cancel: Cancel,
}

/// One query's values.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) measure: usize,
    pub(crate) limit: u64,
    pub(crate) given: u64,
}

impl Outgoing {
    pub(crate) fn is_done(&self) -> bool {
        self.given >= self.limit
    }

    /// Hands one value out, unless there were enough.
    pub(crate) fn give(&mut self, found: &Found<'_>, sink: &mut dyn Sink) -> io::Result<()> {
        if self.is_done() {
            return Ok(());
        }
        self.given += 1;
        sink.found(found)
    }
}

/// A match that has just been left.
#[derive(Clone, Copy)]
pub(crate) struct Left {
    /// The number of its query among those that hand out.
    pub(crate) number: usize,
    pub(crate) times: u64,
    pub(crate) span: Span,
    /// Whether nothing that is still to come can stand before it.
    pub(crate) settled: bool,
}

impl Outbox {
    /// An empty one, for one of so many queries or shared by all of them.
    pub(crate) fn new(queries: usize, shared: bool, cancel: &Cancel) -> Self {
        let bits = usize::BITS - (queries - 1).leading_zeros();
        let (held, notes, cancel) = (Held::new(HELD), Notes::default(), cancel.clone());
        Self { held, notes, text: Vec::new(), bits, shared, cancel }
    }

    /// Hands a match out, or holds it until its order is known. `outgoing` is that of its query.
    pub(crate) fn take(
        &mut self,
        left: Left,
        matcher: &Matcher<'_, '_>,
        outgoing: &mut Outgoing,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        // More of one node than are still wanted need not be looked at: they are all the same.
        let times = left.times.min(outgoing.limit - outgoing.given);
        let located = sink.wants_location() && times > 0;
        if !left.settled || !self.held.is_empty() {
            // Several queries that share it have a limit each.
            if self.held.is_empty() && outgoing.limit != u64::MAX && (self.bits == 0 || !self.shared) {
                self.held.keep_smallest(outgoing.limit - outgoing.given);
            }
            return self.hold(Left { times, ..left }, located, matcher);
        }
        if located {
            self.text.clear();
            write!(self.text, "{}", matcher.location())?;
        }
        let location = located.then(|| text_of(&self.text));
        let found = found(outgoing.measure, left.span, location, matcher);
        for time in 0..times {
            self.check_cancel(time, left.span)?;
            outgoing.give(&found, sink)?;
        }
        Ok(())
    }

    /// Holds a match, unless it cannot be among those that are wanted.
    fn hold(&mut self, left: Left, located: bool, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        // Of several queries' matches at one place, those of the first query come first.
        let place = [left.span.start, left.number as u64];
        let key = if self.shared { &place } else { matcher.key() };
        if self.held.rejects(key) {
            return Ok(());
        }
        let mut note = 0;
        if located {
            self.text.clear();
            write!(self.text, "{}", matcher.location())?;
            note = self.notes.push(&self.text)?;
        }
        for time in 0..left.times {
            self.check_cancel(time, left.span)?;
            self.held.push(key, left.span, note << self.bits | left.number as u64)?;
        }
        Ok(())
    }

    /// The key that a match must be below to be wanted, where that is known.
    pub(crate) fn bound(&self) -> Option<&[u64]> {
        self.held.bound()
    }

    /// Takes in what was held for the same query in a later part of the input. No locations were
    /// noted there.
    #[cfg(feature = "parallel")]
    pub(crate) fn append(&mut self, later: &mut Self) -> Result<(), Error> {
        Ok(self.held.append(&mut later.held)?)
    }

    /// Whether something is held.
    #[inline]
    pub(crate) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Hands out everything that was held.
    pub(crate) fn settle(
        &mut self,
        matcher: &Matcher<'_, '_>,
        outgoing: &mut [Outgoing],
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        if self.held.is_empty() {
            return Ok(());
        }
        let located = sink.wants_location();
        let (notes, text, bits, cancel) = (&mut self.notes, &mut self.text, self.bits, &self.cancel);
        let mut touched = Touched::default();
        self.held.drain(|HeldMatch { span, tag, .. }| {
            if touched.add(span, matcher) {
                check(cancel, span.end)?;
            }
            let number = (tag & !(u64::MAX << bits)) as usize;
            let outgoing = &mut outgoing[number];
            if outgoing.is_done() {
                return Ok::<_, Error>(());
            }
            if located {
                notes.read(tag >> bits, text)?;
            }
            let location = located.then(|| text_of(text));
            Ok(outgoing.give(&found(outgoing.measure, span, location, matcher), sink)?)
        })?;
        touched.forget(matcher);
        Ok(self.notes.clear()?)
    }

    /// Handing out passes no bytes, so that nobody else looks at the flag meanwhile.
    fn check_cancel(&self, time: u64, span: Span) -> Result<(), Error> {
        if time % 1024 == 1023 { Ok(check(&self.cancel, span.end)?) } else { Ok(()) }
    }
}

/// What is told of a match; its bytes are kept by the cursor until it has been told.
#[expect(clippy::expect_used, reason = "the matcher keeps the bytes of matches")]
fn found<'a>(
    measure: usize,
    span: Span,
    location: Option<&'a str>,
    matcher: &'a Matcher<'_, '_>,
) -> Found<'a> {
    let cursor = matcher.cursor();
    let view = cursor.part(span).expect("a match is readable until it was handed out");
    Found { measure, value: view.bytes(), span, record: cursor.record(), location, view }
}

/// The part of the input that was read again since its memory was given back.
#[derive(Default)]
struct Touched {
    spans: u32,
    range: Option<Span>,
}

impl Touched {
    /// Spans read before their memory is given back.
    const SPANS: u32 = 1024;

    /// Adds a span. `true` once in so many.
    fn add(&mut self, span: Span, matcher: &Matcher<'_, '_>) -> bool {
        let full = self.spans == Self::SPANS;
        if full {
            self.forget(matcher);
        }
        self.spans += 1;
        let range = self.range.get_or_insert(span);
        *range = Span::new(range.start.min(span.start), range.end.max(span.end));
        full
    }

    fn forget(&mut self, matcher: &Matcher<'_, '_>) {
        self.spans = 0;
        if let Some(range) = self.range.take() {
            matcher.cursor().forget(range);
        }
    }
}

/// A location's text; it was written from one.
#[expect(clippy::expect_used, reason = "a location is text")]
fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it was written as text")
}
