//! A guide: an index and a shape of one input.

use std::fs::File;
use std::sync::Arc;

use trommel::reader::{Framing, Guide as _, Input, Limits, MapPolicy, Monitor, Span};
use trommel::{Analysis, Coverage, Document, Match, Measure, Partial, Report};

use crate::builder::IndexBuilder;
use crate::error::{Error, Result};
use crate::format::{Parts, Stored};
use crate::identity::{FileIdentity, Identity};
use crate::index::Index;
use crate::sample::{draw, sample};
use crate::shape::{Shape, StoredAnswer, are_same, is_built, statistics_of};

/// The share of the input that a guide may have, and the bytes that it may have in addition.
const MAX_SHARE: u64 = 200;
const EXTRA: u64 = 4 << 10;

/// Answers at most.
const MAX_ANSWERS: usize = 16;

/// What an earlier pass has found in an input: its index and its shape.
#[derive(Debug)]
pub struct Guide {
    identity: Identity,
    /// The number of the framing.
    framing: u32,
    index: Arc<Index>,
    shape: Shape,
}

/// The framings by their numbers in the stored form.
const FRAMINGS: [Framing; 5] =
    [Framing::Auto, Framing::Single, Framing::Lines, Framing::Concatenated, Framing::JsonSeq];

impl Guide {
    /// Builds the guide of a file that is open, in two passes: one for the index, one for the
    /// shape.
    ///
    /// `settings` are the threads, the cancellation, and the progress. The shape is left out if the
    /// guide would exceed 0.5 % of the input and 4 KiB.
    ///
    /// # Errors
    /// If the file is compressed, malformed, or changes meanwhile.
    pub fn build(file: &File, framing: Framing, settings: &Analysis, spacing: u64) -> Result<Self> {
        let input = || -> Result<Document<'static>> {
            let again = file.try_clone().map_err(trommel::Error::from)?;
            let input = Input::from_file(again, MapPolicy::never()).map_err(trommel::Error::from)?;
            Ok(Document::from_input(input).map_err(trommel::Error::from)?.framing(framing))
        };
        if !FRAMINGS.contains(&framing) {
            return Err(Error::Unsuitable("its framing has no number"));
        }
        let identity = FileIdentity::of(file).map_err(trommel::Error::from)?;
        let mut document = input()?;
        if document.len().is_none() {
            return Err(Error::Unsuitable("it is compressed, or its length is unknown"));
        }
        let cancel = settings.cancel().clone();
        let monitor: Monitor<'_> = Box::new(move |offset| {
            if cancel.is_cancelled() {
                return Err(trommel::reader::Error::io(std::io::ErrorKind::Interrupted.into(), offset));
            }
            Ok(())
        });
        let index = Index::build(&document, IndexBuilder::new(spacing), monitor)?;
        let shape = Shape::build(&mut document, settings)?;
        if let Some(difference) = identity.difference(file).map_err(trommel::Error::from)? {
            return Err(Error::Changed(difference));
        }
        Ok(Self::new(Identity::File(identity), framing, index, shape))
    }

    /// Creates the guide of a file from the answer of one run over all of it: it has no points to
    /// begin at, and answers the same question, and those that follow from it.
    ///
    /// `None` if the run does not describe the whole input, has skipped malformed records or limits
    /// of its own, or asked something else than statistics.
    ///
    /// # Errors
    /// If the partial is one of another analysis, or is damaged.
    pub fn of_answer(
        identity: FileIdentity,
        framing: Framing,
        analysis: &Analysis,
        partial: &Partial,
    ) -> Result<Option<Self>> {
        let Some((answer, index)) = answered(analysis, partial)? else { return Ok(None) };
        if !FRAMINGS.contains(&framing) {
            return Ok(None);
        }
        let guide = Self::new(Identity::File(identity), framing, index, Shape::new(vec![answer]));
        // An answer that does not fit would be left out.
        Ok(Some(guide).filter(Self::fits))
    }

    /// Adds the answer of a run over all of the same input. Returns false if it is not like that of
    /// [`of_answer`](Self::of_answer), or if the guide would be too large.
    ///
    /// # Errors
    /// If the partial is one of another analysis, or is damaged.
    pub fn add_answer(&mut self, analysis: &Analysis, partial: &Partial) -> Result<bool> {
        let Some((answer, index)) = answered(analysis, partial)? else { return Ok(false) };
        if (index.length(), index.records()) != (self.index.length(), self.index.records()) {
            return Err(Error::Changed("the run has read another input"));
        }
        self.shape.add(answer);
        let fits = self.shape.answers.len() <= MAX_ANSWERS && self.fits();
        if !fits {
            self.shape.answers.pop();
        }
        Ok(fits)
    }

    /// Creates a guide from its parts.
    ///
    /// # Panics
    /// If the framing has no number in the stored form.
    #[expect(clippy::expect_used, reason = "a stored form with another framing would be wrong")]
    pub fn new(identity: Identity, framing: Framing, index: Index, shape: Shape) -> Self {
        let framing = FRAMINGS.iter().position(|known| *known == framing);
        let framing = framing.expect("the framing has a number") as u32;
        Self { identity, framing, index: Arc::new(index), shape }
    }

    /// The largest stored form, in bytes.
    fn max_bytes(&self) -> u64 {
        self.index.length() / MAX_SHARE + EXTRA
    }

    /// True if its stored form has the shape.
    fn fits(&self) -> bool {
        self.whole().to_bytes().len() as u64 <= self.max_bytes()
    }

    fn whole(&self) -> Parts {
        let (identity, index) = (self.identity.clone(), Index::clone(&self.index));
        Parts { identity, framing: self.framing, index, answers: self.shape.answers.clone() }
    }

    /// The stored form: that with the shape, unless it is too large.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut parts = self.whole();
        let whole = parts.to_bytes();
        if whole.len() as u64 <= self.max_bytes() {
            return whole;
        }
        parts.answers.clear();
        parts.to_bytes()
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// If the bytes are damaged or of another version. Nothing of them is used then.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&Stored::Bytes(bytes))
    }

    /// Reads the stored form. The names by block of one in a file are read when they are first
    /// asked for; if they are damaged, any block may contain any name.
    pub(crate) fn read(stored: &Stored<'_>) -> Result<Self> {
        let Parts { identity, framing, index, answers } = Parts::read(stored)?;
        if FRAMINGS.get(framing as usize).is_none() {
            return Err(Error::damaged("its framing is unknown"));
        }
        Ok(Self { identity, framing, index: Arc::new(index), shape: Shape::new(answers) })
    }

    /// Fails if the names by block are damaged, which are read when they are first asked for. Until
    /// then, and if they are damaged, answers are the same.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn check_names(&self) -> Result<()> {
        self.index.check_names()
    }

    /// The input that it describes.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The index.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// True if it can answer questions about the shape.
    pub fn has_shape(&self) -> bool {
        !self.shape.answers.is_empty()
    }

    /// True if reading can begin at points that it knows. A guide of an [answer](Self::of_answer)
    /// has none, nor has that of a file of one window.
    pub fn has_points(&self) -> bool {
        self.index.has_points()
    }

    /// True if it says what another guide of the same input says, as far as both know it.
    pub fn agrees(&self, other: &Self) -> bool {
        let facts = |index: &Index| (index.length(), index.records());
        let points = !self.index.has_points() || !other.index.has_points() || self.index == other.index;
        points && facts(&self.index) == facts(&other.index) && self.shape.agrees(&other.shape)
    }

    /// Asks the questions of its answers again, of a document that `open` opens for each, and
    /// compares. Leaves out those that [`agrees`](Self::agrees) compares with a build, if it has
    /// points as a build has. `settings` are those of the runs.
    ///
    /// # Errors
    /// [`Error::Changed`] if an answer is another one, [`Error::Damaged`] if this release cannot
    /// ask its question, and those of reading.
    pub fn verify_answers<'d>(
        &self,
        settings: &Analysis,
        mut open: impl FnMut() -> Result<Document<'d>>,
    ) -> Result<()> {
        for (analysis, known) in self.shape.asked() {
            let analysis = analysis.ok_or_else(|| Error::damaged("an answer is to an unknown question"))?;
            if self.has_points() && is_built(&analysis) {
                continue;
            }
            let stored = statistics_of(analysis.finish(Partial::from_bytes(&known.partial)?)?);
            let asks = analysis.measures().iter().cloned();
            let fresh = asks.fold(settings.clone().without_measures(), Analysis::ask).run(&mut open()?)?;
            match (stored, statistics_of(fresh)) {
                (Some(stored), Some(fresh)) if are_same(&stored, &fresh) => {}
                _ => return Err(Error::Changed("an answer is not that of the file")),
            }
        }
        Ok(())
    }

    /// Fails if it does not describe this file as it is now.
    ///
    /// # Errors
    /// [`Error::Changed`], and those of reading.
    pub fn check_file(&self, file: &File) -> Result<()> {
        let Identity::File(identity) = &self.identity else {
            return Err(Error::Changed("it describes a stored output"));
        };
        match identity.difference(file).map_err(trommel::Error::from)? {
            Some(difference) => Err(Error::Changed(difference)),
            None => Ok(()),
        }
    }

    /// Fails unless it describes the first lines of this file, to which others were appended.
    ///
    /// # Errors
    /// [`Error::Changed`], and those of reading.
    pub fn check_grown(&self, file: &File) -> Result<()> {
        match &self.identity {
            Identity::File(identity)
                if self.is_of(Framing::Lines)
                    && identity.has_grown(file).map_err(trommel::Error::from)? =>
            {
                Ok(())
            }
            _ => Err(Error::Changed("the file has not only grown by lines")),
        }
    }

    /// Answers statistics of a file of lines that [has grown](Self::check_grown): reads the lines
    /// that were appended, and merges what they add. Returns the answer over the whole file, as the
    /// analysis and the partial to make a guide [of](Self::of_answer). `None` if the guide does not
    /// have the statistics.
    ///
    /// # Errors
    /// Those of the run.
    pub fn answer_grown(&self, analysis: &Analysis, file: &File) -> Result<Option<(Analysis, Partial)>> {
        let Identity::File(identity) = &self.identity else { return Ok(None) };
        let fits = self.index.is_within(analysis.current_limits());
        let Some((asked, before)) = fits.then(|| self.shape.partial(analysis)).flatten() else {
            return Ok(None);
        };
        let opened = file.try_clone().map_err(trommel::Error::from)?;
        let input = Input::from_file(opened, MapPolicy::never()).map_err(trommel::Error::from)?;
        let length = input.len();
        let appended = input.range(Span::new(identity.size(), length));
        let appended = appended.ok_or(Error::Unsuitable("its length is unknown"))?;
        let mut document =
            Document::from_input(appended).map_err(trommel::Error::from)?.framing(Framing::Lines);
        // Offsets in a range are those of the whole input: its rows come after those before.
        let after = asked.run_part(&mut document, 0, &mut |_: &Match<'_>| Ok(()))?;
        Ok(Some((asked, before.merge(after)?)))
    }

    /// True if it describes the input in this framing.
    pub fn is_of(&self, framing: Framing) -> bool {
        FRAMINGS.get(self.framing as usize) == Some(&framing)
    }

    /// The framing in which it describes the input.
    ///
    /// # Panics
    /// Never: the framing was checked when the guide was read or created.
    #[expect(clippy::expect_used, reason = "the framing was checked when the guide was read or created")]
    pub fn framing(&self) -> Framing {
        *FRAMINGS.get(self.framing as usize).expect("the framing was checked")
    }

    /// Lets a document of the input use the index, if it has the same framing. The input may
    /// [have grown](Self::check_grown).
    #[must_use]
    pub fn guide<'a>(&self, document: Document<'a>) -> Document<'a> {
        if !self.is_of(document.current_framing()) || !self.has_points() {
            return document;
        }
        document.guided_by(Arc::clone(&self.index) as _)
    }

    /// Answers an analysis of the whole input, in this framing, without reading it. `None` if the
    /// answers do not follow from what is known.
    ///
    /// The answers are those of a run. Their coverage says [`guide`](trommel::Coverage::guide).
    pub fn report(&self, analysis: &Analysis, framing: Framing) -> Option<Report> {
        // A run within narrower limits may end with an error.
        let fits = self.is_of(framing) && self.index.is_within(analysis.current_limits());
        if fits { self.shape.report(analysis) } else { None }
    }

    /// Like [`report`](Self::report), and answers samples of long arrays from a
    /// [guided](Self::guide) document: at the cost of reading their items.
    ///
    /// # Errors
    /// Those of reading.
    pub fn answer(&self, analysis: &Analysis, document: &mut Document<'_>) -> Result<Option<Report>> {
        let framing = document.current_framing();
        if !self.is_of(framing) {
            return Ok(None);
        }
        match self.report(analysis, framing) {
            Some(report) => Ok(Some(report)),
            None if !self.has_points() => Ok(None),
            None => sample(&self.index, analysis, document),
        }
    }

    /// Draws the sample of an analysis that [`answer`](Self::answer) answers, without holding it:
    /// calls `each` with the index and the value of each item, in order. Returns the size of the
    /// population and the coverage.
    ///
    /// # Errors
    /// Those of reading.
    pub fn draw(
        &self,
        analysis: &Analysis,
        document: &mut Document<'_>,
        each: &mut dyn FnMut(u64, &Match<'_>),
    ) -> Result<Option<(u64, Coverage)>> {
        let can = self.is_of(document.current_framing()) && self.has_points();
        if can { draw(&self.index, analysis, document, each) } else { Ok(None) }
    }
}

/// The stored form of an answer about a whole input, and what it says about the input.
fn answered(analysis: &Analysis, partial: &Partial) -> Result<Option<(StoredAnswer, Index)>> {
    let report = analysis.finish(partial.clone())?;
    let coverage = report.coverage;
    let is_whole = coverage.complete && coverage.strict && coverage.bad_records == 0;
    let [Measure::Stats(stats)] = analysis.measures() else { return Ok(None) };
    let asks_all = stats.queries.is_empty() && analysis.filters().is_empty();
    if !(is_whole && asks_all && analysis.each_query().is_none())
        || *analysis.current_limits() != Limits::default()
    {
        return Ok(None);
    }
    let Some(answer) = statistics_of(report) else { return Ok(None) };
    let depth = u32::try_from(answer.summary.structure.max_depth).unwrap_or(u32::MAX);
    let index = Index::without_points(coverage.bytes_read, coverage.records, depth);
    let (questions, partial) = (analysis.questions(), partial.to_bytes()?);
    Ok(Some((StoredAnswer { questions, partial }, index)))
}
