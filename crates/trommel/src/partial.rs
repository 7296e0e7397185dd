//! Partial answers: the results of part of an input, to be stored, sent, and merged.

use serde::{Deserialize, Serialize};
use trommel_group::{Group, Groups};
use trommel_path::Duplicates;
use trommel_reader::Validation;

use crate::analysis::Analysis;
use crate::document::Document;
use crate::error::Error;
use crate::measure::{Count, Extract, Measure, Sample, Stats, Strategy};
use crate::report::{Answer, Coverage, Report, Sink};
use crate::sample::{NO_SYSTEMATIC, PartialSample};
use crate::sequential::Ran;
use crate::setup::RunState;
use crate::stats::{self, Description};

/// The version of the stored form. Readers refuse other versions.
const VERSION: u32 = 2;

const DAMAGED: &str = "the partial is damaged: its answers do not match its measures";

/// The answers to one part of an input, or to several merged parts.
///
/// Other threads, processes, or machines can process the parts, and store the partials as bytes.
/// Merged in the order of the input, they give the answers of one run over the whole input, with
/// two exceptions. A random or stratified sample differs from that of one run; it is equally
/// uniform, and depends on how the parts were merged. A limit applies to each part.
///
/// Merging is associative, except that the groups that remain beyond their limits depend on how the
/// parts were merged. The caller must number the parts, and merge them, in the order of the
/// input. For parts numbered above one million, the order of the rows of statistics is unspecified.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Partial {
    #[serde(rename = "trommel_partial")]
    version: Version,
    /// The measures and options in a canonical text. Only partials with equal texts can be merged.
    questions: String,
    answers: Vec<PartialAnswer>,
    coverage: Coverage,
    characters: u64,
    stream: bool,
    /// The first and the last of the merged parts, if they are parts of single documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<[DocumentPart; 2]>,
}

/// A part of a single document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct DocumentPart {
    number: u64,
    /// False if the first part of the document has the answers for all.
    divided: bool,
}

/// The version. Deserializing any other version is an error.
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
    Stats(Vec<Description>),
    Group(Box<Groups>),
}

impl Analysis {
    /// Answers the measures over one part of an input. `part` is its number among the parts to be
    /// merged; random choices depend on it. Extracted values go to the sink as they are found.
    ///
    /// # Errors
    /// Those of [`run`](Self::run). A systematic sample is also an error: it needs the whole input.
    pub fn run_part(
        &self,
        document: &mut Document<'_>,
        part: u64,
        sink: &mut dyn Sink,
    ) -> Result<Partial, Error> {
        let mut analysis = self.clone();
        // Parts with equal seeds would draw correlated samples: each part gets a stream of its own.
        for measure in &mut analysis.measures {
            let Measure::Sample(sample) = measure else { continue };
            if matches!(sample.strategy, Strategy::Systematic(_)) {
                return Err(Error::Partial(NO_SYSTEMATIC.into()));
            }
            sample.seed = sample.seed.for_stream(part);
        }
        analysis.options.part = part;
        let state = || RunState::new(&analysis.measures, &analysis.options);
        let Ran { state, coverage, facts } = analysis.run_as_stream_if_needed(document, &state, sink)?;
        let answers = self.answers_to_part(state, document)?;
        let questions = self.questions();
        let (characters, stream) = (facts.characters, facts.stream);
        let mark = |number| DocumentPart { number, divided: facts.is_divided };
        let within = document.element_part().map(|part| [mark(part.number); 2]);
        Ok(Partial { version: Version, questions, answers, coverage, characters, stream, within })
    }

    /// Converts the state of a run over a part to its answers.
    #[expect(clippy::expect_used, reason = "a run has a state for each measure")]
    fn answers_to_part(&self, state: RunState, document: &Document<'_>) -> Result<Vec<PartialAnswer>, Error> {
        let mut answers = Vec::with_capacity(self.measures.len());
        let (mut extracts, mut counting) = (state.extracts.into_iter(), state.counting.into_iter());
        let (mut drawings, mut descriptions) = (state.drawings.into_iter(), state.descriptions.into_iter());
        let mut groupings = state.groupings.into_iter();
        for measure in &self.measures {
            answers.push(match measure {
                Measure::Extract(_) => PartialAnswer::Number(
                    extracts.next().expect("a run has a state for each extraction").emitted(),
                ),
                Measure::Count(_) => {
                    PartialAnswer::Number(counting.next().expect("a run has a state for each count").total)
                }
                Measure::Sample(_) => {
                    let drawing = drawings.next().expect("a run has a state for each sample");
                    PartialAnswer::Sample(Box::new(drawing.into_partial(document.view())?))
                }
                Measure::Stats(selected) => {
                    PartialAnswer::Stats(descriptions.by_ref().take(selected.queries.len().max(1)).collect())
                }
                Measure::Group(_) => {
                    let grouping = groupings.next().expect("a run has a state for each grouping");
                    PartialAnswer::Group(Box::new(grouping.finish()))
                }
            });
        }
        Ok(answers)
    }

    /// Assembles the report from merged partials.
    ///
    /// # Errors
    /// If the partial has the answers to other measures, or is damaged.
    pub fn finish(&self, partial: Partial) -> Result<Report, Error> {
        if partial.questions != self.questions() {
            return Err(Error::Partial("the partial has the answers to other measures".into()));
        }
        let Partial { answers, coverage, characters, stream, .. } = partial;
        if answers.len() != self.measures.len() {
            return Err(Error::Partial(DAMAGED.into()));
        }
        let answer = |(measure, answer): (&Measure, PartialAnswer)| {
            Ok(match (measure, answer) {
                (Measure::Extract(_), PartialAnswer::Number(emitted)) => Answer::Extracted(emitted),
                (Measure::Count(count), PartialAnswer::Number(total)) => {
                    Answer::Count(total.min(count.limit.unwrap_or(u64::MAX)))
                }
                (Measure::Sample(_), PartialAnswer::Sample(sample)) => Answer::Sample(sample.finish()),
                (Measure::Stats(stats), PartialAnswer::Stats(parts))
                    if parts.len() == stats.queries_or_root().len() =>
                {
                    let whole = self.describes_whole(stats).then_some((coverage.bytes_read, characters));
                    let records = stream.then(|| coverage.kept_records());
                    Answer::Stats(Box::new(stats::answer(parts, whole, records)))
                }
                (Measure::Group(group), PartialAnswer::Group(groups)) if groups.answer(group) => {
                    Answer::Group(groups)
                }
                _ => return Err(Error::Partial(DAMAGED.into())),
            })
        };
        let answers = self.measures.iter().zip(answers).map(answer).collect::<Result<_, Error>>()?;
        Ok(Report { answers, coverage })
    }

    /// The measures and options as a canonical text. It is stored in partials, so it must not
    /// change between releases.
    pub fn questions(&self) -> String {
        let mut text = String::new();
        for measure in &self.measures {
            text.push_str(&question(measure));
            text.push('\n');
        }
        if let Some(each) = self.options.all_elements.as_ref().or(self.options.each.as_ref()) {
            text.extend(["each ", &each.to_string(), "\n"]);
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
        Measure::Extract(Extract { query, limit, skip }) => {
            let skipped = if *skip > 0 { format!(" skip {skip}") } else { String::new() };
            format!("extract {query}{}{skipped}", limited(*limit))
        }
        Measure::Count(Count { query, count_as, filter, limit, .. }) => {
            let what = count_as.name();
            let filter = filter.as_ref().map_or_else(String::new, |filter| format!(" filter {filter}"));
            format!("count {what} {query}{filter}{}", limited(*limit))
        }
        // Origins are not part of a partial.
        Measure::Sample(Sample { query, size, strategy, seed, origins: _ }) => {
            let strategy = match strategy {
                Strategy::Random => format!("random seed {}", seed.get()),
                Strategy::First => "first".into(),
                Strategy::Last => "last".into(),
                Strategy::Systematic(stride) => format!("systematic {stride:?}"),
                Strategy::Stratified(by) => format!("stratified by {by} seed {}", seed.get()),
            };
            format!("sample {size} {query} {strategy}")
        }
        Measure::Group(Group { keys, aggregates, max_groups, max_bytes, approximate, .. }) => {
            let mut text = format!("group {max_groups} {max_bytes}");
            text.push_str(if *approximate { " approximate" } else { "" });
            text.extend(keys.iter().map(|key| format!(" by {}", key.query)));
            text.extend(aggregates.iter().map(|one| format!(" {} {}", one.kind.name(), one.query)));
            text
        }
        Measure::Stats(Stats {
            queries,
            per_path,
            duplicate_names,
            counts,
            item_types,
            schema,
            values,
            row_sample,
            histograms,
            fields,
            bytes,
            top,
            max_depth,
            rows,
        }) => {
            let switches = [
                ("per_path", *per_path),
                ("duplicate_names", *duplicate_names),
                ("without counts", !*counts),
                ("item_types", *item_types),
                ("schema", *schema),
                ("values", *values),
                ("histograms", *histograms),
                ("fields", *fields),
                ("bytes", *bytes),
            ];
            let switches = switches.iter().filter(|(_, on)| *on).map(|(name, _)| format!(" {name}"));
            let limits =
                [("max_depth", max_depth.map(|depth| depth as usize)), ("top", *top), ("rows", *rows)];
            let limits = limits.iter().filter_map(|(name, limit)| Some(format!(" {name} {}", (*limit)?)));
            let sample = row_sample.iter().map(|sample| format!(" {sample:?}"));
            let queries = queries.iter().map(|query| format!(" {query}"));
            format!("stats{}", limits.chain(switches).chain(sample).chain(queries).collect::<String>())
        }
    }
}

impl Partial {
    /// Merges the answers to the part that follows this one.
    ///
    /// # Errors
    /// If the partials have the answers to different measures.
    pub fn merge(mut self, later: Self) -> Result<Self, Error> {
        if self.questions != later.questions || self.answers.len() != later.answers.len() {
            return Err(Error::Partial("the partials answer different measures".into()));
        }
        let follows = self.follow(later.within)?;
        let pairs = self.answers.into_iter().zip(later.answers);
        self.answers = pairs.map(|(answer, later)| answer.merge(later)).collect::<Result<_, _>>()?;
        let (coverage, later_coverage) = (&mut self.coverage, later.coverage);
        // Stored numbers may have any value: sums must not overflow.
        let add = u64::saturating_add;
        coverage.bytes_read = add(coverage.bytes_read, later_coverage.bytes_read);
        coverage.bytes_total = coverage.bytes_total.zip(later_coverage.bytes_total).map(|(a, b)| add(a, b));
        coverage.records = add(coverage.records, later_coverage.records);
        coverage.dropped_records = add(coverage.dropped_records, later_coverage.dropped_records);
        coverage.bad_records = add(coverage.bad_records, later_coverage.bad_records);
        coverage.complete &= later_coverage.complete;
        coverage.strict &= later_coverage.strict;
        self.characters = add(self.characters, later.characters);
        // Merged parts describe a stream, unless they are parts of one document.
        self.stream |= !follows;
        Ok(self)
    }

    /// Checks that parts of a document follow each other. Returns true if the later one belongs to
    /// the document of this one.
    fn follow(&mut self, later: Option<[DocumentPart; 2]>) -> Result<bool, Error> {
        let follows = later.is_some_and(|[first, _]| first.number > 0);
        let next =
            self.within.map(|[_, last]| DocumentPart { number: last.number.saturating_add(1), ..last });
        if follows && later.map(|[first, _]| first) != next {
            return Err(Error::Partial("parts of a document are merged in their order, each once".into()));
        }
        let first = self.within.map_or(DocumentPart { number: 0, divided: false }, |[first, _]| first);
        self.within = later.map(|[_, last]| [first, last]);
        Ok(follows)
    }

    /// Returns the stored form: JSON, with the same bytes for the same answers.
    ///
    /// # Errors
    /// [`Error::Partial`], if the partial cannot be serialized.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(|error| Error::Partial(format!("cannot store a partial: {error}")))
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// If the bytes are damaged, or have another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        // The version is read first: other members may differ in another version.
        #[derive(Deserialize)]
        struct Head {
            #[serde(rename = "trommel_partial")]
            version: u32,
        }
        let damaged = |error: serde_json::Error| Error::Partial(format!("not a partial: {error}"));
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
            (Self::Group(mut groups), Self::Group(later)) => {
                groups.merge(*later)?;
                Ok(Self::Group(groups))
            }
            _ => Err(Error::Partial("the partials answer different measures".into())),
        }
    }
}
