//! Long containers that several threads skip together.
//!
//! A thread skips a stretch from its first byte as if that were outside strings, at a depth that
//! is not known yet. The stretches are joined in order, which checks both, so the result is that
//! of one thread. A stretch that does not fit is skipped again from the known state. After two of
//! them in a row, and where the container may end, the cursor continues alone.

use trommel_scan::{Kernels, Skip, Skipped, Tallier};

use super::{Cursor, Token};
use crate::error::Result;
use crate::input::View;
use crate::pages::PassedPages;
use crate::span::Span;

/// Bytes of a container that a cursor skips alone before others help. Stretches after the end of
/// the container are skipped in vain, so they must be few compared with these.
const ALONE: u64 = 16 << 20;

/// Bytes of a stretch.
const STRETCH: u64 = 1 << 20;

/// Bytes that are searched for a position outside strings, at which a stretch can begin.
const SEARCHED: usize = 4 << 10;

/// Stretches in a row that do not fit, after which the cursor continues alone.
const MAX_MISSES: u32 = 2;

/// Threads that skip long containers for a [`Cursor`].
pub trait SkipHelper: Sync {
    /// Skips the [next stretches](LongSkip::next_stretch) of a container, in any order, and
    /// [joins](LongSkip::join) them in order, until either returns that nothing follows.
    fn skip(&self, long: &mut LongSkip<'_, '_>) -> Result<()>;
}

/// A container that is being skipped.
pub struct LongSkip<'s, 'a> {
    reader: StretchReader<'a>,
    state: BracketState,
    /// The end of the joined stretches, and the start of the next one.
    at: u64,
    next: u64,
    characters: u64,
    pages: PassedPages<'a>,
    misses: u32,
    monitor: &'s mut dyn FnMut(u64) -> Result<()>,
}

/// Skips stretches, on any thread.
#[derive(Clone, Copy)]
pub struct StretchReader<'a> {
    view: View<'a>,
    kernels: &'static Kernels,
    tallies: bool,
    counts_characters: bool,
}

/// A stretch that was skipped, to be joined.
pub struct SkippedStretch {
    span: Span,
    state: BracketState,
    /// False if a bracket ended the skip.
    is_whole: bool,
    characters: u64,
}

/// The state of a kernel that skips brackets.
#[derive(Clone, Copy)]
pub(super) enum BracketState {
    Brackets(Skip),
    Tally(Tallier),
}

impl BracketState {
    const fn middle(tallies: bool) -> Self {
        if tallies { Self::Tally(Tallier::middle()) } else { Self::Brackets(Skip::middle()) }
    }

    /// Skips bytes. Returns true if no bracket ended the skip.
    fn skip(&mut self, kernels: &Kernels, bytes: &[u8]) -> bool {
        let skipped = match self {
            Self::Brackets(skip) => (kernels.skip)(bytes, 0, skip),
            Self::Tally(tallier) => (kernels.tally)(bytes, 0, tallier),
        };
        skipped == Skipped::More
    }

    /// Adds bytes that begin with `first`. Returns false if they must be skipped from here.
    fn join(&mut self, middle: &Self, first: u8) -> bool {
        match (self, middle) {
            (Self::Brackets(skip), Self::Brackets(middle)) => skip.join(middle),
            (Self::Tally(tallier), Self::Tally(middle)) => tallier.join(middle, first),
            _ => unreachable!("a stretch is skipped by the kernel of its container"),
        }
    }
}

impl<'a> StretchReader<'a> {
    /// Skips a stretch.
    pub fn skip(&self, span: Span) -> SkippedStretch {
        let bytes = self.bytes(span);
        let mut state = BracketState::middle(self.tallies);
        let is_whole = state.skip(self.kernels, bytes);
        SkippedStretch { span, state, is_whole, characters: self.characters(bytes) }
    }

    fn characters(&self, bytes: &[u8]) -> u64 {
        if self.counts_characters { (self.kernels.chars)(bytes) } else { 0 }
    }

    fn bytes(&self, span: Span) -> &'a [u8] {
        let base = self.view.base();
        &self.view.bytes()[(span.start - base) as usize..(span.end - base) as usize]
    }

    /// A position after `at` that is probably outside strings: after the colon of a member, or else
    /// after another string. Without a string nearby it is `at`: in long arrays of numbers.
    fn outside_strings(&self, at: u64) -> u64 {
        let bytes = &self.view.bytes()[(at - self.view.base()) as usize..];
        let near = bytes.get(..SEARCHED).unwrap_or(bytes);
        let after = |is_delimiter: fn(u8) -> bool| {
            let ends = |window: &[u8]| matches!(window, [before, b'"', next] if *before != b'\\' && is_delimiter(*next));
            near.windows(3).position(ends)
        };
        // Few strings begin with a colon, but a comma may be one.
        let found = after(|next| next == b':').or_else(|| after(|next| matches!(next, b',' | b']' | b'}')));
        found.map_or(at, |found| at + found as u64 + 3)
    }
}

impl<'a> LongSkip<'_, 'a> {
    /// The reader of the stretches.
    pub fn reader(&self) -> StretchReader<'a> {
        self.reader
    }

    /// The next stretch. `None` near the end of the input.
    pub fn next_stretch(&mut self) -> Option<Span> {
        let all = self.reader.view.base() + self.reader.view.bytes().len() as u64;
        if all - self.next < 2 * STRETCH {
            return None;
        }
        let end = self.reader.outside_strings(self.next + STRETCH);
        Some(Span::new(std::mem::replace(&mut self.next, end), end))
    }

    /// Joins the stretch that follows the joined ones. Returns false if no later stretch can be
    /// joined.
    ///
    /// # Panics
    /// If the stretch does not begin where the joined ones end.
    pub fn join(&mut self, stretch: &SkippedStretch) -> Result<bool> {
        let SkippedStretch { span, state, is_whole, characters } = stretch;
        assert_eq!(span.start, self.at, "stretches are joined in order");
        let bytes = self.reader.bytes(*span);
        let mut joined = self.state;
        if *is_whole && bytes.first().is_some_and(|first| joined.join(state, *first)) {
            self.misses = 0;
        } else {
            self.misses += 1;
            joined = self.state;
            if self.misses == MAX_MISSES || !joined.skip(self.reader.kernels, bytes) {
                return Ok(false);
            }
        }
        self.state = joined;
        self.at = span.end;
        self.characters += characters;
        self.pages.advance_to(self.at);
        (self.monitor)(self.at)?;
        Ok(true)
    }
}

impl<'a> Cursor<'a> {
    /// Lets other threads help to skip long containers of an input in memory, under structural
    /// validation. The results are those of one thread.
    #[must_use]
    pub fn helped_by(mut self, helper: &'a dyn SkipHelper) -> Self {
        self.helper = Some(helper);
        self
    }

    /// Skips on from the current position with the helper, if there is one and `skipped` bytes of
    /// the container show that it is long. Returns true if the helper was asked.
    pub(super) fn skip_with_help(&mut self, skipped: u64, state: &mut BracketState) -> Result<bool> {
        let (Some(helper), Some(view)) = (self.helper, self.source.view()) else { return Ok(false) };
        // Records that end at a delimiter are short.
        if skipped < ALONE || self.framing.delimiter().is_some() {
            return Ok(false);
        }
        let (start, counts_characters) = (self.offset(), self.source.counts_chars());
        let tallies = matches!(state, BracketState::Tally(_));
        let reader = StretchReader { view, kernels: self.kernels, tallies, counts_characters };
        let first = Span::new(start, reader.outside_strings(start));
        let mut begun = *state;
        if !begun.skip(self.kernels, reader.bytes(first)) {
            return Ok(false);
        }
        let mut monitor = self.source.take_monitor();
        let mut long = LongSkip {
            reader,
            state: begun,
            at: first.end,
            next: first.end,
            characters: reader.characters(reader.bytes(first)),
            pages: PassedPages::new(view, start),
            misses: 0,
            monitor: &mut |offset| monitor.as_mut().map_or(Ok(()), |monitor| monitor(offset)),
        };
        let done = helper.skip(&mut long);
        let LongSkip { state: reached, at, characters, .. } = long;
        *state = reached;
        self.source.add_chars(start, at, characters);
        self.at = (at - self.source.base()) as usize;
        (self.start, self.token) = (self.at, Token::None);
        self.source.resume_at(self.at);
        self.source.put_monitor(monitor);
        done.map_err(|error| self.failed(error)).map(|()| true)
    }
}
