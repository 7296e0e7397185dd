//! Answers to part of an input, to be stored, sent and merged.

use serde::{Deserialize, Serialize};
use trommel_path::Duplicates;
use trommel_reader::Validation;

use crate::analysis::Analysis;
use crate::document::Document;
use crate::error::Error;
use crate::measure::{Count, Extract, Measure, Sample, Stats, Strategy};
use crate::report::{Answer, Coverage, Report, Sink};
use crate::sample::{NO_SYSTEMATIC, PartialSample};
use crate::setup::Work;
use crate::stats::{self, Describing};

/// The version of the stored form. A reader refuses versions it does not know.
const VERSION: u32 = 1;

const DAMAGED: &str = "the partial is damaged: its answers are not those to its questions";

/// The answers to one part of an input, or to several that were merged.
///
/// Parts can be answered by other threads, processes or machines, stored as bytes, and merged in
/// the order of the input; what comes out is what one run over the whole would have answered. Only
/// a random or stratified sample is another one than that of a single run, equally uniform, and
/// follows how the parts were merged; and a limit holds for each part.
///
/// Merging is associative. It is up to the caller that the parts are numbered and merged in their
/// order: of those numbered above a million, the rows of a description stand in no particular
/// order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Partial {
    #[serde(rename = "trommel_partial")]
    version: Version,
    /// The questions, as a text that must be the same.
    questions: String,
    answers: Vec<PartialAnswer>,
    coverage: Coverage,
    characters: u64,
    stream: bool,
}

/// The version, which is never read wrong.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
struct Version;

impl From<Version> for u32 {
    fn from(_: Version) -> Self {
        VERSION
    }
}

impl TryFrom<u32> for Version {
    type Error = String;

    fn try_from(version: u32) -> Result<Self, String> {
        if version == VERSION {
            return Ok(Self);
        }
        Err(format!("the partial has version {version}, and this release reads version {VERSION}"))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum PartialAnswer {
    Number(u64),
    Sample(Box<PartialSample>),
    Stats(Vec<Describing>),
}

impl Analysis {
    /// Answers the questions about one part of an input: number `part` of those that will be
    /// merged, which its random choices depend on. Values to be extracted are handed out as they
    /// are found.
    ///
    /// # Errors
    /// As [`run`](Self::run), and for a systematic sample, which only a whole input has.
    pub fn run_part(
        &self,
        document: &mut Document,
        part: u64,
        sink: &mut dyn Sink,
    ) -> Result<Partial, Error> {
        let mut analysis = self.clone();
        for measure in &mut analysis.measures {
            let Measure::Sample(sample) = measure else { continue };
            if matches!(sample.strategy, Strategy::Systematic(_)) {
                return Err(Error::Partial(NO_SYSTEMATIC.into()));
            }
            sample.seed = sample.seed.for_stream(part);
        }
        let work = || {
            let mut work = Work::new(&analysis.measures, &analysis.options);
            work.describing.iter_mut().for_each(|describing| describing.of_part(part));
            work
        };
        let (work, coverage, seen) = analysis.run_as_stream_if_needed(document, &work, sink)?;
        let answers = self.answers_to_part(work, document)?;
        let questions = self.questions();
        let (characters, stream) = (seen.characters, seen.stream);
        Ok(Partial { version: Version, questions, answers, coverage, characters, stream })
    }

    /// The answers that a run over a part has found.
    #[expect(clippy::expect_used, reason = "a run has work for each measure")]
    fn answers_to_part(&self, work: Work, document: &Document) -> Result<Vec<PartialAnswer>, Error> {
        let mut answers = Vec::with_capacity(self.measures.len());
        let (mut outgoing, mut counting) = (work.outgoing.into_iter(), work.counting.into_iter());
        let (mut drawings, mut describing) = (work.drawings.into_iter(), work.describing.into_iter());
        for measure in &self.measures {
            answers.push(match measure {
                Measure::Extract(_) => {
                    PartialAnswer::Number(outgoing.next().expect("values went out for each").given)
                }
                Measure::Count(_) => {
                    PartialAnswer::Number(counting.next().expect("something was counted for each").total)
                }
                Measure::Sample(_) => {
                    let drawing = drawings.next().expect("a sample was drawn for each");
                    PartialAnswer::Sample(Box::new(drawing.into_partial(document.view())?))
                }
                Measure::Stats(asked) => {
                    PartialAnswer::Stats(describing.by_ref().take(asked.queries.len().max(1)).collect())
                }
            });
        }
        Ok(answers)
    }

    /// Puts the answers of merged parts together.
    ///
    /// # Errors
    /// When the partial was made by other questions, or is damaged.
    pub fn finish(&self, partial: Partial) -> Result<Report, Error> {
        if partial.questions != self.questions() {
            return Err(Error::Partial("the partial answers other questions".into()));
        }
        let Partial { answers, coverage, characters, stream, .. } = partial;
        if answers.len() != self.measures.len() {
            return Err(Error::Partial(DAMAGED.into()));
        }
        let answer = |(measure, answer): (&Measure, PartialAnswer)| {
            Ok(match (measure, answer) {
                (Measure::Extract(_), PartialAnswer::Number(given)) => Answer::Extracted(given),
                (Measure::Count(count), PartialAnswer::Number(total)) => {
                    Answer::Count(total.min(count.limit.unwrap_or(u64::MAX)))
                }
                (Measure::Sample(_), PartialAnswer::Sample(sample)) => Answer::Sample(sample.finish()),
                (Measure::Stats(asked), PartialAnswer::Stats(parts))
                    if parts.len() == asked.queries_or_root().len() =>
                {
                    let whole = self.describes_whole(asked).then_some((coverage.bytes_read, characters));
                    let records = stream.then(|| coverage.kept_records());
                    Answer::Stats(Box::new(stats::answer(parts, whole, records)))
                }
                _ => return Err(Error::Partial(DAMAGED.into())),
            })
        };
        let answers = self.measures.iter().zip(answers).map(answer).collect::<Result<_, Error>>()?;
        Ok(Report { answers, coverage })
    }

    /// The questions as a text: equal texts ask the same. It is stored, so that it must not change
    /// between releases.
    fn questions(&self) -> String {
        let mut text = String::new();
        for measure in &self.measures {
            text.push_str(&question(measure));
            text.push('\n');
        }
        for filter in &self.options.filters {
            text.extend(["where ", &filter.to_string(), "\n"]);
        }
        match self.options.duplicates {
            Duplicates::All => text.push_str("duplicates\n"),
            Duplicates::Last => text.push_str("last duplicates\n"),
            _ => {}
        }
        if self.options.validation == Validation::Structural {
            text.push_str("structural\n");
        }
        text
    }
}

fn question(measure: &Measure) -> String {
    let limited = |limit: Option<u64>| limit.map_or_else(String::new, |limit| format!(" limit {limit}"));
    match measure {
        Measure::Extract(Extract { query, limit }) => format!("extract {query}{}", limited(*limit)),
        Measure::Count(Count { query, count_as, filter, limit, .. }) => {
            let what = count_as.name();
            let filter = filter.as_ref().map_or_else(String::new, |filter| format!(" filter {filter}"));
            format!("count {what} {query}{filter}{}", limited(*limit))
        }
        Measure::Sample(Sample { query, size, strategy, seed }) => {
            let strategy = match strategy {
                Strategy::Random => format!("random seed {}", seed.get()),
                Strategy::First => "first".into(),
                Strategy::Last => "last".into(),
                Strategy::Systematic(stride) => format!("systematic {stride:?}"),
                Strategy::Stratified(by) => format!("stratified by {by} seed {}", seed.get()),
            };
            format!("sample {size} {query} {strategy}")
        }
        Measure::Stats(Stats {
            queries,
            per_path,
            duplicate_names,
            counts,
            item_types,
            schema,
            values,
            max_depth,
        }) => {
            let switches = [
                ("per_path", *per_path),
                ("duplicate_names", *duplicate_names),
                ("without counts", !*counts),
                ("item_types", *item_types),
                ("schema", *schema),
                ("values", *values),
            ];
            let switches = switches.iter().filter(|(_, on)| *on).map(|(name, _)| format!(" {name}"));
            let depth = max_depth.map_or_else(String::new, |depth| format!(" max_depth {depth}"));
            let queries = queries.iter().map(|query| format!(" {query}"));
            format!("stats{depth}{}{}", switches.collect::<String>(), queries.collect::<String>())
        }
    }
}

impl Partial {
    /// Takes in the answers to the part that follows this one.
    ///
    /// # Errors
    /// When the parts answer different questions.
    pub fn merge(mut self, later: Self) -> Result<Self, Error> {
        if self.questions != later.questions || self.answers.len() != later.answers.len() {
            return Err(Error::Partial("the partials answer different questions".into()));
        }
        let pairs = self.answers.into_iter().zip(later.answers);
        self.answers = pairs.map(|(answer, later)| answer.merge(later)).collect::<Result<_, _>>()?;
        let (coverage, later_coverage) = (&mut self.coverage, later.coverage);
        // What was stored may be anything: nothing overflows.
        let add = u64::saturating_add;
        coverage.bytes_read = add(coverage.bytes_read, later_coverage.bytes_read);
        coverage.bytes_total = coverage.bytes_total.zip(later_coverage.bytes_total).map(|(a, b)| add(a, b));
        coverage.records = add(coverage.records, later_coverage.records);
        coverage.dropped_records = add(coverage.dropped_records, later_coverage.dropped_records);
        coverage.bad_records = add(coverage.bad_records, later_coverage.bad_records);
        coverage.complete &= later_coverage.complete;
        coverage.strict &= later_coverage.strict;
        self.characters = add(self.characters, later.characters);
        self.stream = true;
        Ok(self)
    }

    /// The stored form: JSON, the same bytes for the same answers.
    ///
    /// # Errors
    /// [`Error::Partial`], when something cannot be stored.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(|error| Error::Partial(format!("cannot store a partial: {error}")))
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// When it is damaged, or of a version that is not known.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        // The version first: what else stands in another version's state says nothing to us.
        #[derive(Deserialize)]
        struct Head {
            #[serde(rename = "trommel_partial")]
            version: u32,
        }
        let damaged = |error: serde_json::Error| Error::Partial(format!("this is no partial: {error}"));
        let Head { version } = serde_json::from_slice(bytes).map_err(damaged)?;
        Version::try_from(version).map_err(Error::Partial)?;
        let partial: Self = serde_json::from_slice(bytes).map_err(damaged)?;
        Ok(partial)
    }
}

impl PartialAnswer {
    fn merge(self, later: Self) -> Result<Self, Error> {
        match (self, later) {
            (Self::Number(count), Self::Number(later)) => Ok(Self::Number(count.saturating_add(later))),
            (Self::Sample(sample), Self::Sample(later)) => Ok(Self::Sample(Box::new(sample.merge(*later)?))),
            (Self::Stats(mut parts), Self::Stats(later)) if parts.len() == later.len() => {
                for (part, later) in parts.iter_mut().zip(later) {
                    part.merge(later);
                }
                Ok(Self::Stats(parts))
            }
            _ => Err(Error::Partial("the partials answer different questions".into())),
        }
    }
}
