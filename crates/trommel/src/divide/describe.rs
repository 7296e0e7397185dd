//! Statistics of one document on several threads: the elements of its longest array are processed
//! in stretches.

use trommel_base::threads::Pipeline;
use trommel_path::Matcher;
use trommel_reader::{Between, Config, Kind, Listener, Scalar, Span, Text};

use super::{ArrayDivider, Chain, ElementEnds, Fit, MAX_MISSES, Stretches};
use crate::buffered::span_of;
use crate::error::Error;
use crate::stats::Description;

/// Minimum and maximum size of a stretch for statistics, in bytes. They are expensive to join, so a
/// long document has long stretches.
const MIN_DESCRIBED: u64 = 1 << 20;
const MAX_DESCRIBED: u64 = 4 << 20;

/// Minimum size of a stretch for each known path, in bytes: a stretch costs time for each of them.
const MIN_BYTES_PER_PATH: u64 = 1 << 10;

/// Stretches for statistics per thread into which a document is divided, if their size allows it.
const DESCRIBED_PER_THREAD: u64 = 16;

/// Initial number of bytes to watch for an array that stays open.
const MIN_WATCH: u64 = 64 << 10;

/// The part of a document that is watched first, unless that is very short or long.
const WATCHED: u64 = 100;

/// The statistics of one stretch of elements.
struct DescribedStretch {
    span: Span,
    description: Description,
    characters: u64,
    /// The end of the last element; `None` after an error, or if the array has ended.
    end: Option<u64>,
}

/// The settings that all stretches share.
struct StretchSetup {
    config: Config,
    between: Between,
}

impl<'a> ArrayDivider<'a> {
    /// Computes the statistics of the value that the matcher is in, on several threads as far as
    /// possible.
    pub(super) fn describe_value(
        &self,
        config: &Config,
        matcher: &mut Matcher<'_, '_>,
        description: &mut Description,
    ) -> Result<(), Error> {
        // A document may hold several long arrays, one after the other or nested. The window that
        // is watched doubles, so that a document without one is divided at a negligible cost.
        // The stretches of a long document start with the paths of its first bytes.
        let first = self.view.bytes().len() as u64 / WATCHED;
        let (mut fruitless, mut watched) = (0, first.clamp(MIN_WATCH, MIN_DESCRIBED));
        while matcher.is_forwarding() && fruitless < MAX_MISSES {
            let Some(elements) = self.long_array(watched, matcher, description)? else {
                watched = (2 * watched).min(MIN_WATCH << 8);
                continue;
            };
            let joined = self.elements(&elements, config, matcher, description)?;
            fruitless = if joined { 0 } else { fruitless + 1 };
        }
        Ok(matcher.forward(description)?)
    }

    /// Watches `bytes` bytes for an array that stays open, then moves to the end of its current
    /// element. Returns `None` if no array stays open, or its elements start differently.
    fn long_array(
        &self,
        bytes: u64,
        matcher: &mut Matcher<'_, '_>,
        description: &mut Description,
    ) -> Result<Option<ElementEnds<'a>>, Error> {
        let (depth, offset) = (matcher.cursor().depth(), matcher.cursor().offset());
        let mut watch = Watch { description, depth, lowest: depth };
        matcher.forward_until(0, offset + bytes, &mut watch)?;
        let lowest = watch.lowest;
        if !matcher.is_forwarding() || matcher.cursor().kind_at(lowest) != Some(Kind::Array) {
            return Ok(None);
        }
        matcher.forward_until(lowest, u64::MAX, description)?;
        let (at, depth) = (matcher.cursor().offset(), matcher.cursor().depth());
        Ok(matcher.cursor().between().and_then(|_| self.element_ends(at, depth)))
    }

    /// Computes the statistics of the elements after the current one. Returns true if any stretch
    /// was joined.
    fn elements(
        &self,
        ends: &ElementEnds<'a>,
        config: &Config,
        matcher: &mut Matcher<'_, '_>,
        description: &mut Description,
    ) -> Result<bool, Error> {
        let start = matcher.cursor().offset();
        let Some(between) = matcher.cursor().between() else { return Ok(false) };
        let chain = Chain::new(self.view, start, &between);
        let (setup, stretches) = (StretchSetup { config: *config, between }, Stretches::new(ends, start));
        let bytes = self.view.bytes().len() as u64 / (DESCRIBED_PER_THREAD * self.threads.count as u64);
        let bytes = bytes.clamp(self.factor * MIN_DESCRIBED, self.factor * MAX_DESCRIBED);
        let bytes = bytes.max(self.factor * MIN_BYTES_PER_PATH * description.profile.paths() as u64);
        let mut joiner = DescriptionJoiner {
            divider: self,
            setup: &setup,
            description,
            stretches,
            bytes,
            chain,
            characters: 0,
        };
        self.threads.run(&mut joiner, |(span, empty)| self.describe(&setup, span, empty))?;
        let DescriptionJoiner { chain, characters, .. } = joiner;
        let cursor = matcher.cursor_mut();
        // The cursor skips the joined elements, and must know their characters to count on.
        cursor.add_chars(chain.at, characters);
        cursor.resume_after(chain.at, self.track.monitor(chain.at));
        Ok(chain.at > start)
    }

    /// Computes the statistics of the elements of a span, from the one that starts there to the
    /// first that ends at or after the end of the span.
    fn describe(&self, setup: &StretchSetup, span: Span, empty: Description) -> DescribedStretch {
        let mut description = empty;
        let mut cursor = self.cursor_between(&setup.between, span, &setup.config);
        let depth = cursor.depth();
        cursor.count_chars();
        // First to the end of the span, wherever that is, then to the end of the element it is in.
        let listened = cursor.listen(depth - 1, span.end, &mut description);
        let listened = listened.and_then(|()| cursor.listen(depth, u64::MAX, &mut description));
        let end = listened.ok().filter(|()| cursor.depth() == depth).map(|()| cursor.offset());
        let characters = end.map_or(0, |end| cursor.chars(end));
        // The joining thread does not read it again.
        self.view.release(Span::new(span.start, end.unwrap_or(span.end)));
        DescribedStretch { span, description, characters, end }
    }
}

/// Joins the statistics of stretches.
struct DescriptionJoiner<'j, 'a> {
    divider: &'j ArrayDivider<'a>,
    setup: &'j StretchSetup,
    description: &'j mut Description,
    stretches: Stretches<'j>,
    /// The size of a stretch.
    bytes: u64,
    chain: Chain<'a>,
    /// The number of characters of the joined stretches.
    characters: u64,
}

impl Pipeline for DescriptionJoiner<'_, '_> {
    /// A stretch, and empty statistics that are positioned in the array.
    type Piece = (Span, Description);
    type Answer = DescribedStretch;
    type Error = Error;

    fn next_piece(&mut self) -> Option<Self::Piece> {
        // The last stretches are shorter, so that the threads end at about the same time, and the
        // joining thread reads little alone.
        let left = span_of(self.divider.view).end - self.stretches.from;
        let share = left / self.divider.threads.count as u64;
        let span = self.stretches.next(share.clamp(self.bytes / 8, self.bytes))?;
        // Statistics whose paths were folded meanwhile cannot be forked.
        let empty = self.description.fork();
        self.stretches.is_over = empty.is_none();
        Some((span, empty?))
    }

    /// Joins the statistics of the next stretch, after computing it again if its start was a wrong
    /// guess.
    fn join(&mut self, mut stretch: DescribedStretch) -> Result<bool, Error> {
        let Self { divider, setup, description, chain, .. } = self;
        match chain.fit(stretch.span) {
            Fit::Exact => {}
            Fit::Obsolete => return Ok(!chain.ended),
            Fit::Missed => {
                let Some(empty) = description.fork() else { return Ok(false) };
                stretch = divider.describe(setup, Span::new(chain.at, stretch.span.end), empty);
            }
        }
        // The matcher continues before this stretch, and meets the error or the end of the array
        // itself.
        let Some(end) = stretch.end else { return Ok(false) };
        description.join(stretch.description);
        chain.advance_to(end, &divider.track)?;
        self.characters += stretch.characters;
        Ok(true)
    }
}

/// A listener that records the lowest depth that occurs.
struct Watch<'a> {
    description: &'a mut Description,
    depth: u32,
    lowest: u32,
}

impl Listener for Watch<'_> {
    fn wants_scalars(&self) -> bool {
        self.description.wants_scalars()
    }

    fn begin(&mut self, kind: Kind, at: u64) {
        self.depth += 1;
        Listener::begin(self.description, kind, at);
    }

    fn end(&mut self, kind: Kind, at: u64) {
        self.depth -= 1;
        self.lowest = self.lowest.min(self.depth);
        Listener::end(self.description, kind, at);
    }

    fn name(&mut self, name: Text<'_>, at: u64) {
        self.description.name(name, at);
    }

    fn scalar(&mut self, scalar: Scalar<'_>, at: u64) {
        self.description.scalar(scalar, at);
    }
}
