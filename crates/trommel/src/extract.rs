//! Handing out values in the order wanted.

use std::io::{self, Write};

use trommel_path::{Held, HeldMatch, Matcher, QueryId};
use trommel_reader::Span;

use crate::notes::Notes;
use crate::report::{Found, Sink};

/// Bytes of held matches kept in memory.
const HELD: usize = 16 << 20;

/// Values on their way out, in an order of their own. In the order of the RFC each query has one; in the order of the
/// document all share one.
#[derive(Debug)]
pub(crate) struct Outbox {
    held: Held,
    notes: Notes,
    text: Vec<u8>,
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
    pub(crate) query: QueryId,
    pub(crate) times: u64,
    pub(crate) span: Span,
    /// Whether nothing that is still to come can stand before it.
    pub(crate) settled: bool,
}

impl Outbox {
    pub(crate) fn new() -> Self {
        Self { held: Held::new(HELD), notes: Notes::default(), text: Vec::new() }
    }

    /// Hands a match out, or holds it until its order is known. `outgoing` is that of its query.
    pub(crate) fn take(
        &mut self,
        left: Left,
        matcher: &Matcher<'_, '_>,
        outgoing: &mut Outgoing,
        sink: &mut dyn Sink,
    ) -> io::Result<()> {
        let located = sink.wants_location();
        if located {
            self.text.clear();
            write!(self.text, "{}", matcher.location())?;
        }
        if !left.settled || !self.held.is_empty() {
            let note = if located { self.notes.push(&self.text)? } else { 0 };
            // The measure's number stands in front of the note's place, so that an outbox can serve several.
            let tag = note << 16 | outgoing.measure as u64 & 0xFFFF;
            for _ in 0..left.times {
                self.held.push(matcher.key(), left.span, tag)?;
            }
            return Ok(());
        }
        let cursor = matcher.cursor();
        let found = Found {
            measure: outgoing.measure,
            value: cursor.bytes(left.span).unwrap_or_default(),
            span: left.span,
            record: cursor.record(),
            location: located.then(|| text_of(&self.text)),
        };
        for _ in 0..left.times {
            outgoing.give(&found, sink)?;
        }
        Ok(())
    }

    /// Hands out everything that was held.
    pub(crate) fn settle(
        &mut self,
        matcher: &Matcher<'_, '_>,
        outgoing: &mut [Outgoing],
        sink: &mut dyn Sink,
    ) -> io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        let located = sink.wants_location();
        let (notes, text) = (&mut self.notes, &mut self.text);
        let mut touched = Touched::default();
        self.held.drain(|HeldMatch { span, tag, .. }| {
            touched.add(span, matcher);
            let measure = (tag & 0xFFFF) as usize;
            let Some(outgoing) = outgoing.iter_mut().find(|outgoing| outgoing.measure == measure) else {
                return Ok(());
            };
            if located && !outgoing.is_done() {
                notes.read(tag >> 16, text)?;
            }
            let cursor = matcher.cursor();
            let found = Found {
                measure,
                value: cursor.bytes(span).unwrap_or_default(),
                span,
                record: cursor.record(),
                location: located.then(|| text_of(text)),
            };
            outgoing.give(&found, sink)
        })?;
        touched.forget(matcher);
        self.notes.clear()
    }
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

    fn add(&mut self, span: Span, matcher: &Matcher<'_, '_>) {
        if self.spans == Self::SPANS {
            self.forget(matcher);
        }
        self.spans += 1;
        let range = self.range.get_or_insert(span);
        *range = Span::new(range.start.min(span.start), range.end.max(span.end));
    }

    fn forget(&mut self, matcher: &Matcher<'_, '_>) {
        self.spans = 0;
        if let Some(range) = self.range.take() {
            matcher.cursor().forget(range);
        }
    }
}

/// A location's text; it was written from one.
fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}
