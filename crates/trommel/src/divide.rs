//! One document on several threads: the elements of a long array, in stretches.
//!
//! Where stretches begin is guessed: at a place that looks like the beginning of an element as the
//! first ones do. A stretch counts only if the one before it came to an end exactly there;
//! otherwise the elements from there on are matched once more, one after the other. So a wrong
//! guess costs time and never changes an answer. After two wrong guesses in a row there are no
//! more.

mod described;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use trommel_path::{ArrayCheckpoint, Matcher, Scratch, Wants};
use trommel_reader::{Alike, Between, Config, Cursor, Span, View};

use crate::analysis::OnBadRecord;
use crate::control::Track;
use crate::document::Document;
use crate::error::Error;
use crate::extract::Outbox;
use crate::kept::{Kept, release};
use crate::measure::{Measure, Stats};
use crate::report::Coverage;
use crate::run::{Helpers, Run};
use crate::setup::{Asked, Role, Work};
use crate::threads::Threads;

/// Bytes of a stretch, at most.
const STRETCH: u64 = 512 << 10;

/// Bytes of the first ones. They grow while few things are found in them, so that what is found
/// fits in memory.
const FIRST_STRETCH: u64 = 64 << 10;

/// Values and candidates found in a stretch, beyond which stretches shrink.
const MANY: usize = 16 << 10;

/// Stretches a thread that are worked on before their answers are handed out.
const AHEAD: usize = 4;

/// The same for statistics, which take time to be joined: fewer stretches, and longer ones.
const DESCRIBED: u64 = 2 * STRETCH;
const DESCRIBED_AHEAD: usize = 2;

/// Bytes in which the end of an element is looked for.
const SEARCHED: u64 = 8 * STRETCH;

/// Wrong guesses in a row after which no more are made.
const WRONG: u32 = 2;

/// What it takes to divide a document.
pub(crate) struct Divide<'a> {
    view: View<'a>,
    /// What is wanted of matches in a stretch.
    wants: Wants,
    track: Track,
    threads: Threads,
    /// Stretches that are worked on at a time.
    ahead: usize,
}

impl<'a> Divide<'a> {
    /// Where a document can be divided: it is in memory or mapped and long enough, there are
    /// threads, and all that is asked for is values, counts and samples, without a limit that may
    /// end the run early, or its statistics.
    pub(crate) fn new(
        asked: Asked<'_>,
        document: &'a Document,
        track: &Track,
        located: bool,
    ) -> Result<Option<Self>, Error> {
        let Asked { analysis, setup } = asked;
        let (measures, options) = (&analysis.measures, &analysis.options);
        let apart = |measure: &Measure| !measure.is_limited() && !matches!(measure, Measure::Stats(_));
        // Figures of values that begin anew with each stretch cost more than is won.
        let divides = |stats: &Stats| stats.queries.is_empty() && !stats.values;
        let describes = matches!(measures.as_slice(), [Measure::Stats(stats)] if divides(stats));
        let fails = !matches!(options.on_bad_record, OnBadRecord::Skip { .. });
        let Some(view) = document.view().filter(|view| view.bytes().len() as u64 > 4 * STRETCH) else {
            return Ok(None);
        };
        let can = fails && !analysis.is_mixed() && (describes || measures.iter().all(apart));
        if Threads::count(options) < 2 || !can {
            return Ok(None);
        }
        let threads = Threads::new(options)?;
        let ahead = if describes { DESCRIBED_AHEAD } else { AHEAD };
        // Those that only errors tell are told when the error is met in turn.
        let mut wants = setup.wants.clone();
        wants.location = located;
        Ok(Some(Self { view, wants, track: track.clone(), ahead: ahead * threads.count, threads }))
    }

    /// The next stretches of so many bytes, the first one behind an element that ends at `from`, or
    /// is thought to.
    fn stretches(&self, mut from: u64, bytes: u64, elements: &Alike<'_>) -> Vec<Span> {
        let next = || {
            let end = elements.guess(from + bytes, SEARCHED)?;
            Some(Span::new(std::mem::replace(&mut from, end), end))
        };
        std::iter::from_fn(next).take(self.ahead).collect()
    }
}

/// What was found in a stretch of elements.
struct Stretch {
    span: Span,
    work: Work,
    kept: Kept,
    /// Where the last element ended; nothing if there was an error.
    end: Option<u64>,
    elements: u64,
}

/// How far elements have been matched, and how well places were guessed.
struct Chain {
    /// Where the last element ended.
    at: u64,
    /// Elements up to there.
    elements: u64,
    /// Up to where bytes were told of.
    told: u64,
    wrong: u32,
    ended: bool,
}

/// How a stretch goes with what was matched before it.
enum Meeting {
    /// It begins where the last element ended.
    Fits,
    /// It does not, and is to be matched again from there.
    Missed,
    /// There is nothing of it that counts.
    Passed,
}

impl Chain {
    fn new(start: u64, between: &Between) -> Self {
        Self { at: start, elements: 0, told: between.told(), wrong: 0, ended: false }
    }

    fn meets(&mut self, stretch: Span) -> Meeting {
        if self.ended {
            return Meeting::Passed;
        }
        if stretch.start == self.at {
            self.wrong = 0;
            return Meeting::Fits;
        }
        self.wrong += 1;
        self.ended = self.wrong == WRONG;
        // Otherwise all of it may lie in an element that was matched.
        if self.ended || self.at >= stretch.end { Meeting::Passed } else { Meeting::Missed }
    }

    /// Elements have been matched up to this offset.
    fn pass(&mut self, end: u64, track: &Track) -> Result<(), Error> {
        track.pass(end.saturating_sub(self.told), end)?;
        self.told = self.told.max(end);
        self.at = end;
        Ok(())
    }
}

impl Helpers for Divide<'_> {
    fn match_elements(&self, run: &mut Run<'_>, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let (paused, checkpoint) = (matcher.paused(), matcher.checkpoint());
        let elements = paused.and_then(|paused| Alike::new(self.view, paused));
        let (Some(start), Some(checkpoint), Some(elements)) = (paused, checkpoint, elements) else {
            matcher.resume();
            return Ok(());
        };
        let mut chain = Chain { elements: matcher.passed(), ..Chain::new(start, checkpoint.between()) };
        let first = chain.elements;
        let asked = run.asked;
        let mut bytes = FIRST_STRETCH;
        let mut stretches = self.stretches(start, bytes, &elements);
        let mut answers = Vec::new();
        self.threads
            .scope(|scope| scope.spawn(|_| answers = self.answer_all(asked, &checkpoint, &stretches)));
        while let Some(last) = stretches.last()
            && !chain.ended
        {
            // While these are handed out, the next ones are worked on.
            stretches = self.stretches(last.end, bytes, &elements);
            let mut next = Vec::new();
            let joined = self.threads.scope(|scope| {
                scope.spawn(|_| next = self.answer_all(asked, &checkpoint, &stretches));
                let mut answers = std::mem::take(&mut answers).into_iter();
                answers.try_for_each(|stretch| self.join(run, &checkpoint, stretch, &mut chain))
            });
            joined?;
            answers = next;
            let many = |found: &Stretch| found.kept.len().max(found.work.noted()) > MANY;
            bytes = if answers.iter().any(many) { bytes / 2 } else { 2 * bytes };
            bytes = bytes.clamp(FIRST_STRETCH, STRETCH);
        }
        for (query, role) in asked.setup.plan.ids().zip(&asked.setup.roles) {
            let outbox = if let Role::Extract(number) = *role { run.work.outboxes.get(number) } else { None };
            if outbox.is_some_and(Outbox::is_holding) {
                matcher.hold_back(query);
            }
        }
        matcher.resume_after(chain.at, chain.elements - first, self.track.monitor(chain.at));
        Ok(())
    }

    fn describe(&self, run: &mut Run<'_>, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let config = run.asked.analysis.options.config();
        // The only measure is one description, of the whole value.
        self.describe_value(&config, matcher, &mut run.work.describing[0])
    }
}

impl Divide<'_> {
    /// Joins what was found in the next stretch, or in its place from where the last element ended.
    #[expect(clippy::expect_used, reason = "a stretch is a part of the view")]
    fn join(
        &self,
        run: &mut Run<'_>,
        checkpoint: &ArrayCheckpoint,
        mut stretch: Stretch,
        chain: &mut Chain,
    ) -> Result<(), Error> {
        let until = stretch.span.end;
        match chain.meets(stretch.span) {
            Meeting::Fits => {}
            Meeting::Passed => return Ok(()),
            Meeting::Missed => stretch = self.answer(run.asked, checkpoint, Span::new(chain.at, until)),
        }
        // With an error everything ends where it is met in turn.
        let Some(end) = stretch.end else {
            chain.ended = true;
            return Ok(());
        };
        let span = Span::new(chain.at, end);
        let view = self.view.narrow(span).expect("its elements are in the view");
        stretch.kept.begin_at(checkpoint.array(), chain.elements);
        stretch.kept.hand_out(view, &mut run.work.outgoing, run.sink, &self.track)?;
        release(view);
        run.work.merge(stretch.work)?;
        chain.pass(end, &self.track)?;
        chain.elements += stretch.elements;
        // The array has no further element, or there is one that does not end.
        chain.ended = end < until;
        Ok(())
    }

    fn answer_all(&self, asked: Asked<'_>, checkpoint: &ArrayCheckpoint, stretches: &[Span]) -> Vec<Stretch> {
        stretches.par_iter().map(|span| self.answer(asked, checkpoint, *span)).collect()
    }

    /// A cursor behind an element that ends at the beginning of a span.
    #[expect(clippy::expect_used, reason = "a stretch is a part of the view")]
    fn cursor_between(&self, between: &Between, span: Span, config: &Config) -> Cursor<'_> {
        let all = self.view.base() + self.view.bytes().len() as u64;
        let view = self.view.narrow(Span::new(span.start, all)).expect("it begins in the view");
        let monitor = self.track.again().monitor(span.start);
        Cursor::from_between(view, between, config).monitored(monitor)
    }

    /// Matches the elements from behind one that ends at the beginning of a span up to the first
    /// that ends behind it.
    fn answer(&self, asked: Asked<'_>, checkpoint: &ArrayCheckpoint, span: Span) -> Stretch {
        let Asked { analysis, setup } = asked;
        let mut kept = Kept::new(self.wants.location);
        let mut work = Work::apart(&analysis.measures, &analysis.options);
        let config = analysis.options.config();
        let mut cursor = self.cursor_between(checkpoint.between(), span, &config);
        let mut scratch = Scratch::new();
        let mut matcher = setup.plan.matcher(&mut scratch, &mut cursor, &self.wants);
        matcher.resume_at(checkpoint, span.end);
        let coverage = Coverage::new(analysis.options.validation, None);
        let ran = Run::new(asked, &mut work, &mut kept, coverage).elements(&mut matcher);
        let (end, elements) = (ran.ok().and_then(|()| matcher.paused()), matcher.passed());
        self.view.release(Span::new(span.start, end.unwrap_or(span.end)));
        Stretch { span, work, kept, end, elements }
    }
}
