//! Processes one document on several threads: speculatively divides a long array into stretches of
//! elements.
//!
//! The start of a stretch is known from a guide, or a guess: an offset that looks like the start of
//! an element, judged by the first elements. A stretch counts only if the stretch before it ended
//! exactly at that offset. Otherwise the joining thread matches the elements from the end of the
//! last valid stretch again. A wrong guess therefore costs time and never changes an answer. After
//! two wrong guesses in a row, the rest of the array is matched on one thread.

mod describe;

use trommel_base::threads::{Pipeline, Threads};
use trommel_path::{ArrayCheckpoint, Matcher, Scratch, Wants};
use trommel_reader::{Between, Config, Cursor, ElementFinder, Framing, Guide, PassedPages, Span, View};

use crate::analysis::OnBadRecord;
use crate::buffered::{BufferedOutput, span_of};
use crate::control::Track;
use crate::document::Document;
use crate::error::Error;
use crate::extract::MatchQueue;
use crate::measure::{Measure, Stats};
use crate::report::{Coverage, SinkNeeds};
use crate::run::{Helpers, Run};
use crate::setup::{Request, Role, RunState};

/// Maximum size of a stretch, in bytes.
const MAX_STRETCH: u64 = 512 << 10;

/// Size of the first stretches, in bytes. Stretches grow while they hold few matches, so that
/// buffered matches fit in memory.
const MIN_STRETCH: u64 = 64 << 10;

/// Matches and candidates in one stretch beyond which stretches shrink.
const MAX_BUFFERED: usize = 16 << 10;

/// The factor of the sizes of stretches for statistics of values, which are more expensive to join.
const FIGURES_FACTOR: u64 = 4;

/// Maximum number of bytes to search for the end of an element.
const MAX_SEARCH: u64 = 8 * MAX_STRETCH;

/// Wrong guesses in a row after which the division ends.
const MAX_MISSES: u32 = 2;

/// The document to divide, the threads, and their settings.
pub(crate) struct ArrayDivider<'a> {
    view: View<'a>,
    guide: Option<&'a dyn Guide>,
    /// The matcher's settings within a stretch.
    wants: Wants,
    needs: SinkNeeds,
    track: Track,
    threads: Threads,
    /// The factor of the sizes of stretches for statistics.
    factor: u64,
}

impl<'a> ArrayDivider<'a> {
    /// Returns a divider if the document can be divided. It must be in memory or mapped, and long,
    /// and there must be several threads. The measures must be the statistics of the whole
    /// document, or extractions, counts, and samples without a limit that can end the run early.
    pub(crate) fn new(
        request: Request<'_>,
        document: &'a Document<'_>,
        track: &Track,
        needs: SinkNeeds,
    ) -> Result<Option<Self>, Error> {
        let Request { analysis, setup } = request;
        let (measures, options) = (&analysis.measures, &analysis.options);
        // If nodes are the records, each of them lies within a stretch, so every measure divides,
        // and a limit ends the run between two stretches.
        let has_nodes = setup.each.is_some();
        let is_divisible = |measure: &Measure| match measure {
            Measure::Stats(_) | Measure::Group(_) => has_nodes,
            measure => has_nodes || !measure.is_limited(),
        };
        let divides = |stats: &Stats| !has_nodes && stats.queries.is_empty();
        let describes = matches!(measures.as_slice(), [Measure::Stats(stats)] if divides(stats));
        // A single document has no records to skip: its first error ends the run.
        let is_single = !matches!(document.current_framing(), Framing::Lines | Framing::JsonSeq);
        let fails = is_single || !matches!(options.on_bad_record, OnBadRecord::Skip { .. });
        let can = fails && analysis.has_parts(needs.ends) && (describes || measures.iter().all(is_divisible));
        let can = can && document.element_part().is_none() && Threads::count(options.threads) >= 2;
        let Some(view) = document.view().filter(|view| can && view.bytes().len() as u64 > 4 * MAX_STRETCH)
        else {
            return Ok(None);
        };
        let figures = measures.iter().any(|measure| matches!(measure, Measure::Stats(stats) if stats.values));
        let factor = if figures { FIGURES_FACTOR } else { 1 };
        let threads = Threads::new(options.threads, figures)?;
        // Locations that only errors need are computed when the joining thread reaches the error.
        let mut wants = setup.driver().1.clone();
        wants.location = needs.locations || has_nodes && wants.location;
        let guide = document.guide();
        Ok(Some(Self { view, guide, wants, needs, track: track.clone(), threads, factor }))
    }
}

/// The ends of elements of one array.
struct ElementEnds<'e> {
    finder: Option<ElementFinder<'e>>,
    guide: Option<&'e dyn Guide>,
    view: View<'e>,
    /// An offset in the array, and its depth.
    at: u64,
    depth: u32,
}

impl ElementEnds<'_> {
    /// An end about `bytes` bytes after an offset, which the guide knows or which is a guess.
    fn after(&self, from: u64, bytes: u64) -> Option<u64> {
        // An element may be long.
        let known = [bytes, MAX_SEARCH].into_iter().find_map(|bytes| self.known(from, from + bytes));
        known.or_else(|| self.finder.as_ref()?.guess(from + bytes, MAX_SEARCH))
    }

    /// The last known end after `from` that is at most at an offset.
    fn known(&self, from: u64, offset: u64) -> Option<u64> {
        let waypoint = self.guide?.waypoint_before(self.at, self.depth, offset)?;
        let before = self.view.bytes().get(..(waypoint.offset - self.view.base()) as usize)?;
        let element = before.trim_ascii_end().strip_suffix(b",")?.trim_ascii_end();
        Some(self.view.base() + element.len() as u64).filter(|end| *end > from)
    }
}

/// The stretches that are still to be processed.
struct Stretches<'e> {
    ends: &'e ElementEnds<'e>,
    /// The start of the next one: the end of an element, known or guessed.
    from: u64,
    /// True if no end was found for the next one: a search may be long, and is not repeated.
    is_over: bool,
}

impl<'e> Stretches<'e> {
    const fn new(ends: &'e ElementEnds<'e>, from: u64) -> Self {
        Self { ends, from, is_over: false }
    }

    /// Returns the next stretch of about `bytes` bytes.
    fn next(&mut self, bytes: u64) -> Option<Span> {
        let end = if self.is_over { None } else { self.ends.after(self.from, bytes) };
        self.is_over = end.is_none();
        let end = end?;
        Some(Span::new(std::mem::replace(&mut self.from, end), end))
    }
}

/// The results of one stretch of elements.
struct Stretch {
    span: Span,
    state: RunState,
    output: BufferedOutput,
    /// The number of nodes, if they are the records.
    coverage: Coverage,
    /// The end of the last element; `None` after an error.
    end: Option<u64>,
    elements: u64,
}

/// The progress of the joined stretches, and the number of recent wrong guesses.
struct Chain<'a> {
    pages: PassedPages<'a>,
    /// The end of the last element.
    at: u64,
    /// The number of elements up to `at`.
    elements: u64,
    /// The offset up to which progress was reported.
    reported: u64,
    misses: u32,
    ended: bool,
}

/// The relation of a stretch to the elements that were joined before it.
enum Fit {
    /// The stretch starts at the end of the last element.
    Exact,
    /// The stretch starts elsewhere, and its span must be matched again from the end of the last
    /// element.
    Missed,
    /// No element of the stretch counts.
    Obsolete,
}

impl<'a> Chain<'a> {
    fn new(view: View<'a>, start: u64, between: &Between) -> Self {
        let pages = PassedPages::new(view, start);
        Self { pages, at: start, elements: 0, reported: between.monitored(), misses: 0, ended: false }
    }

    fn fit(&mut self, stretch: Span) -> Fit {
        if self.ended {
            return Fit::Obsolete;
        }
        if stretch.start == self.at {
            self.misses = 0;
            return Fit::Exact;
        }
        self.misses += 1;
        self.ended = self.misses == MAX_MISSES;
        // A span that ends before the last element does lies within that element, in a string for
        // example: it contains nothing to match.
        if self.ended || self.at >= stretch.end { Fit::Obsolete } else { Fit::Missed }
    }

    /// Records that elements were matched up to `end`.
    fn advance_to(&mut self, end: u64, track: &Track) -> Result<(), Error> {
        track.advance(end.saturating_sub(self.reported), end)?;
        self.reported = self.reported.max(end);
        self.at = end;
        self.pages.advance_to(end);
        Ok(())
    }
}

impl Helpers for ArrayDivider<'_> {
    fn match_elements(&self, run: &mut Run<'_>, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let (paused, checkpoint) = (matcher.paused(), matcher.checkpoint());
        let ends = paused.and_then(|paused| self.element_ends(paused, matcher.cursor().depth()));
        let (Some(start), Some(checkpoint), Some(ends)) = (paused, checkpoint, ends) else {
            matcher.resume();
            return Ok(());
        };
        let mut chain = Chain::new(self.view, start, checkpoint.between());
        chain.elements = matcher.passed();
        let (request, first) = (run.request, chain.elements);
        let stretches = Stretches::new(&ends, start);
        let mut joiner = ElementJoiner {
            divider: self,
            run,
            checkpoint: &checkpoint,
            stretches,
            bytes: MIN_STRETCH,
            chain,
        };
        self.threads.run(&mut joiner, |span| self.answer(request, &checkpoint, span))?;
        let ElementJoiner { run, chain, .. } = joiner;
        // Matches that are held from joined elements may follow matches to come, so the matcher
        // must not emit those at once.
        for (query, role) in request.setup.plan.ids().zip(&request.setup.roles) {
            let queue = match *role {
                Role::Extract(number) if request.setup.each.is_none() => run.state.queues.get(number),
                _ => None,
            };
            if queue.is_some_and(MatchQueue::holds_matches) {
                matcher.hold_back(query);
            }
        }
        // Statistics count the characters of nodes only, and no node contains shared elements. So
        // the number of characters in those is irrelevant here: counting would read them again.
        matcher.cursor_mut().add_chars(chain.at, 0);
        matcher.resume_after(chain.at, chain.elements - first, self.track.monitor(chain.at));
        Ok(())
    }

    fn describe(&self, run: &mut Run<'_>, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let config = run.request.analysis.options.config();
        // The divider accepts statistics only as the single measure, of the whole value.
        self.describe_value(&config, matcher, &mut run.state.descriptions[0])
    }
}

/// Joins the matches of stretches.
struct ElementJoiner<'j, 'a, 'r> {
    divider: &'j ArrayDivider<'a>,
    run: &'j mut Run<'r>,
    checkpoint: &'j ArrayCheckpoint,
    stretches: Stretches<'j>,
    /// The size of the next stretch.
    bytes: u64,
    chain: Chain<'a>,
}

impl Pipeline for ElementJoiner<'_, '_, '_> {
    type Piece = Span;
    type Answer = Stretch;
    type Error = Error;

    fn next_piece(&mut self) -> Option<Span> {
        self.stretches.next(self.bytes)
    }

    /// Joins the results of the next stretch, after matching it again if its start was a wrong
    /// guess.
    #[expect(clippy::expect_used, reason = "a stretch is a part of the view")]
    fn join(&mut self, mut stretch: Stretch) -> Result<bool, Error> {
        let Self { divider, run, checkpoint, chain, .. } = self;
        // Stretches shrink and grow with the density of matches: buffered matches of all stretches
        // in flight must fit in memory.
        let is_dense = stretch.output.len().max(stretch.state.candidates()) > MAX_BUFFERED;
        self.bytes = if is_dense { self.bytes / 2 } else { 2 * self.bytes }.clamp(MIN_STRETCH, MAX_STRETCH);
        let until = stretch.span.end;
        match chain.fit(stretch.span) {
            Fit::Exact => {}
            Fit::Obsolete => return Ok(!chain.ended),
            Fit::Missed => stretch = divider.answer(run.request, checkpoint, Span::new(chain.at, until)),
        }
        // The matcher continues before this stretch and meets the error itself, with the exact
        // location and all values before it emitted.
        let Some(end) = stretch.end else { return Ok(false) };
        // The matcher reaches the limit itself, or the error, after the last element that counts.
        let is_done = run.state.is_done_with(&stretch.state, run.request.setup);
        if is_done || !run.state.admits(&stretch.state) {
            return Ok(false);
        }
        let span = Span::new(chain.at, end);
        let view = divider.view.narrow(span).expect("its elements are in the view");
        // Within a stretch, indexes count from its first element. Only here the number of elements
        // before it is known.
        stretch.output.begin_at(checkpoint.array(), chain.elements);
        stretch.output.replay(view, &mut run.state.extracts, run.sink, &divider.track)?;
        run.state.merge(stretch.state)?;
        run.coverage.records += stretch.coverage.records;
        run.coverage.dropped_records += stretch.coverage.dropped_records;
        chain.advance_to(end, &divider.track)?;
        chain.elements += stretch.elements;
        // Either the array ended in this stretch, or its last element has no end.
        Ok(end >= until)
    }
}

impl<'a> ArrayDivider<'a> {
    /// The ends of the elements of an array, in which an element ends at `at`. `None` if neither a
    /// guide nor a guess finds them.
    fn element_ends(&self, at: u64, depth: u32) -> Option<ElementEnds<'a>> {
        let finder = ElementFinder::new(self.view, at);
        let ends = ElementEnds { finder, guide: self.guide, view: self.view, at, depth };
        (ends.finder.is_some() || ends.known(at, u64::MAX).is_some()).then_some(ends)
    }

    /// Returns a cursor after an element that ends at the start of the span.
    #[expect(clippy::expect_used, reason = "a stretch is a part of the view")]
    fn cursor_between(&self, between: &Between, span: Span, config: &Config) -> Cursor<'_> {
        let view = self.view.narrow(Span::new(span.start, span_of(self.view).end)).expect("it begins in it");
        let monitor = self.track.without_progress().monitor(span.start);
        Cursor::from_between(view, between, config).guided_by(self.guide).monitored(monitor)
    }

    /// Matches the elements of a span, from the one that starts there to the first that ends at or
    /// after the end of the span.
    fn answer(&self, request: Request<'_>, checkpoint: &ArrayCheckpoint, span: Span) -> Stretch {
        let Request { analysis, setup } = request;
        let mut output = BufferedOutput::new(self.needs);
        let mut state = RunState::for_part(&analysis.measures, &analysis.options);
        let config = analysis.options.config();
        let mut cursor = self.cursor_between(checkpoint.between(), span, &config);
        let mut scratch = Scratch::new();
        if !state.descriptions.is_empty() {
            cursor.count_chars();
        }
        let mut matcher = setup.driver().0.matcher(&mut scratch, &mut cursor, &self.wants);
        matcher.resume_at(checkpoint, span.end);
        let coverage = Coverage::new(analysis.options.validation, None);
        let mut run = Run::new(request, &mut state, &mut output, coverage);
        let ran = run.elements(&mut matcher);
        let coverage = run.coverage;
        let (end, elements) = (ran.ok().and_then(|()| matcher.paused()), matcher.passed());
        Stretch { span, state, output, coverage, end, elements }
    }
}
