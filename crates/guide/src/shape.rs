//! The shape: statistics and schema of an input, and the counts that follow from them.

use std::sync::OnceLock;

use trommel::path::{Query, Selector};
use trommel::statistics::FieldRow;
use trommel::{
    Analysis, Answer, Count, CountAs, Coverage, Document, Measure, Partial, Report, Stats, StatsAnswer,
};

use crate::error::Result;

/// The answers to questions about a whole input, as partials.
#[derive(Debug, Default)]
pub struct Shape {
    pub(crate) answers: Vec<StoredAnswer>,
    statistics: OnceLock<Option<Statistics>>,
}

/// A stored partial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredAnswer {
    pub(crate) questions: String,
    pub(crate) partial: Vec<u8>,
}

/// The statistics from which others follow.
#[derive(Debug)]
struct Statistics {
    /// The question.
    asked: Stats,
    answer: StatsAnswer,
    coverage: Coverage,
    /// The values of every path, if each value was counted at its own path.
    paths: Vec<(Query, u64)>,
}

/// The statistics that are stored: with the figures of `stats` and `schema`.
fn stored() -> Stats {
    let mut stats = Stats::new();
    (stats.schema, stats.fields) = (true, true);
    stats
}

/// The statistics that follow from the stored ones, those with the most figures first.
fn derived() -> impl Iterator<Item = Stats> {
    let switches = [true, false].into_iter();
    switches.clone().flat_map(move |fields| {
        switches.clone().flat_map(move |schema| {
            [true, false].into_iter().map(move |item_types| {
                let mut stats = Stats::new();
                (stats.schema, stats.fields, stats.item_types) = (schema, fields, item_types);
                stats
            })
        })
    })
}

/// True if statistics can be left out of others.
fn follows(stats: &Stats, from: &Stats) -> bool {
    let switches = |stats: &Stats| [stats.schema, stats.fields, stats.item_types];
    switches(stats).iter().zip(switches(from)).all(|(asked, known)| known || !asked)
}

fn asked(stats: Stats) -> Analysis {
    Analysis::new().ask(Measure::Stats(stats))
}

impl Shape {
    pub(crate) fn new(answers: Vec<StoredAnswer>) -> Self {
        Self { answers, statistics: OnceLock::new() }
    }

    /// Describes a document in a pass over all of it. `settings` are those of the run.
    ///
    /// # Errors
    /// Those of reading, and if the document is malformed.
    pub fn build(document: &mut Document<'_>, settings: &Analysis) -> Result<Self> {
        let analysis = settings.clone().without_measures().ask(Measure::Stats(stored()));
        let partial = analysis.run_part(document, 0, &mut |_: &trommel::Match<'_>| Ok(()))?;
        let questions = asked(stored()).questions();
        Ok(Self::new(vec![StoredAnswer { questions, partial: partial.to_bytes()? }]))
    }

    /// Answers an analysis without its input. `None` if the answers do not follow from the shape.
    pub(crate) fn report(&self, analysis: &Analysis) -> Option<Report> {
        let asks = analysis.measures();
        let fresh = asks.iter().cloned().fold(analysis.settings(), Analysis::ask).questions();
        // Filters and the query of the records are part of the questions.
        if asks.is_empty() || analysis.questions() != fresh {
            return None;
        }
        let (answers, mut coverage) = if let Some(report) = self.same(analysis) {
            (report.answers, report.coverage)
        } else {
            let statistics = self.statistics.get_or_init(|| self.statistics()).as_ref()?;
            let answers = asks.iter().map(|measure| statistics.answer(measure)).collect::<Option<_>>()?;
            (answers, statistics.coverage)
        };
        coverage.guide = true;
        Some(Report::new(answers, coverage))
    }

    /// The answer to the same questions.
    fn same(&self, analysis: &Analysis) -> Option<Report> {
        let questions = analysis.questions();
        let found = self.answers.iter().find(|answer| answer.questions == questions)?;
        analysis.finish(Partial::from_bytes(&found.partial).ok()?).ok()
    }

    fn statistics(&self) -> Option<Statistics> {
        let (asked, report) =
            derived().find_map(|stats| self.same(&asked(stats.clone())).map(|report| (stats, report)))?;
        let coverage = report.coverage;
        let answer = statistics_of(report)?;
        let paths = paths(&answer);
        Some(Statistics { asked, answer, coverage, paths })
    }

    /// The analysis and the partial of stored statistics from which those of an analysis follow. It
    /// has the threads, the cancellation, and the progress of that one.
    pub(crate) fn partial(&self, analysis: &Analysis) -> Option<(Analysis, Partial)> {
        let [Measure::Stats(stats)] = analysis.measures() else { return None };
        let plain = asked(stats.clone()).questions();
        // Filters and the query of the records are part of the questions.
        if analysis.questions() != plain {
            return None;
        }
        let wanted = derived().find(|derived| asked(derived.clone()).questions() == plain);
        let larger = derived().filter(|larger| wanted.as_ref().is_some_and(|wanted| follows(wanted, larger)));
        std::iter::once(stats.clone()).chain(larger).find_map(|stats| {
            let questions = asked(stats.clone()).questions();
            let found = self.answers.iter().find(|answer| answer.questions == questions)?;
            let partial = Partial::from_bytes(&found.partial).ok()?;
            Some((analysis.clone().without_measures().ask(Measure::Stats(stats)), partial))
        })
    }

    /// Adds an answer as the last one. Replaces one to the same questions: a partial of another
    /// release cannot be read.
    pub(crate) fn add(&mut self, answer: StoredAnswer) {
        self.answers.retain(|known| known.questions != answer.questions);
        self.answers.push(answer);
        self.statistics = OnceLock::new();
    }

    /// The stored answers, each with its question if this release can ask it.
    pub(crate) fn asked(&self) -> impl Iterator<Item = (Option<Analysis>, &StoredAnswer)> {
        self.answers.iter().map(|answer| (analysis_of(&answer.questions), answer))
    }

    /// True if both have the same answers to all questions that both can answer.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        derived().all(|stats| {
            let analysis = asked(stats);
            let answer = |shape: &Self| shape.report(&analysis).and_then(statistics_of);
            match (answer(self), answer(other)) {
                (Some(one), Some(other)) => are_same(&one, &other),
                _ => true,
            }
        })
    }
}

/// The analysis of stored questions, if they are one measure of statistics with options that this
/// release knows.
fn analysis_of(questions: &str) -> Option<Analysis> {
    let mut words = questions.strip_suffix('\n')?.strip_prefix("stats")?.split_ascii_whitespace();
    let mut stats = Stats::new();
    (stats.per_path, stats.duplicate_names, stats.item_types) = (false, false, false);
    while let Some(word) = words.next() {
        match word {
            "max_depth" => stats.max_depth = Some(words.next()?.parse().ok()?),
            "top" => stats.top = Some(words.next()?.parse().ok()?),
            "rows" => stats.rows = Some(words.next()?.parse().ok()?),
            "per_path" => stats.per_path = true,
            "duplicate_names" => stats.duplicate_names = true,
            "item_types" => stats.item_types = true,
            "schema" => stats.schema = true,
            "values" => stats.values = true,
            "histograms" => stats.histograms = true,
            "fields" => stats.fields = true,
            "bytes" => stats.bytes = true,
            _ => return None,
        }
    }
    let analysis = asked(stats);
    (analysis.questions() == questions).then_some(analysis)
}

/// True if two answers are those to the same question about the same input.
pub(crate) fn are_same(one: &StatsAnswer, other: &StatsAnswer) -> bool {
    let size = |answer: &StatsAnswer| (answer.bytes, answer.characters, answer.records);
    size(one) == size(other) && one.summary == other.summary
}

/// True if the statistics of a [build](crate::Guide::build) are among these, or more than these.
pub(crate) fn is_built(analysis: &Analysis) -> bool {
    derived().any(|stats| asked(stats).questions() == analysis.questions())
}

/// The statistics in a report.
pub(crate) fn statistics_of(report: Report) -> Option<StatsAnswer> {
    report.answers.into_iter().find_map(|answer| match answer {
        Answer::Stats(answer) => Some(*answer),
        _ => None,
    })
}

/// The values of every path. Empty if some were counted elsewhere, or more than once.
fn paths(answer: &StatsAnswer) -> Vec<(Query, u64)> {
    let summary = &answer.summary;
    let capped = &summary.capped;
    let is_exact = capped.fields.is_none()
        && capped.folded_paths == 0
        && capped.max_depth.is_none()
        && !capped.duplicate_names
        && summary.structure.duplicate_names == 0;
    if !is_exact {
        return Vec::new();
    }
    let rows = summary.fields.iter().flatten();
    let parsed = rows.map(|FieldRow { path, count, .. }| Some((path.parse().ok()?, *count)));
    parsed.collect::<Option<_>>().unwrap_or_else(Vec::new)
}

impl Statistics {
    fn answer(&self, measure: &Measure) -> Option<Answer> {
        match measure {
            Measure::Stats(stats) => {
                let questions = asked(stats.clone()).questions();
                let stats = derived().find(|derived| asked(derived.clone()).questions() == questions)?;
                follows(&stats, &self.asked).then(|| Answer::Stats(Box::new(self.derive(&stats))))
            }
            Measure::Count(Count {
                query, count_as: CountAs::Matches, filter: None, limit: None, ..
            }) => self.count(query).map(Answer::Count),
            _ => None,
        }
    }

    fn derive(&self, stats: &Stats) -> StatsAnswer {
        let mut answer = self.answer.clone();
        let summary = &mut answer.summary;
        if !stats.schema {
            summary.schema = None;
        }
        if !stats.fields {
            (summary.fields, summary.capped.fields) = (None, None);
        }
        if !stats.item_types {
            summary.arrays.iter_mut().flatten().for_each(|row| "unknown".clone_into(&mut row.item_type));
        }
        answer
    }

    /// The number of nodes of a query of names and wildcards.
    fn count(&self, query: &Query) -> Option<u64> {
        let mut count: u64 = 0;
        'paths: for (path, values) in &self.paths {
            if path.segments().iter().len() != query.segments().iter().len() {
                continue;
            }
            let mut is_unclear = false;
            for (segment, step) in query.segments().iter().zip(path.segments().iter()) {
                if segment.descendant {
                    return None;
                }
                let ([selector], [step]) = (&segment.selectors[..], &step.selectors[..]) else { return None };
                match (selector, step) {
                    (Selector::Wildcard, _) => {}
                    (Selector::Name(name), Selector::Name(other)) if name == other => {}
                    (Selector::Name(_), Selector::Name(_)) => continue 'paths,
                    // The members of an object that is used as a map have one path.
                    (Selector::Name(_), _) => is_unclear = true,
                    _ => return None,
                }
            }
            if is_unclear {
                return None;
            }
            count = count.checked_add(*values)?;
        }
        // A path that does not occur may be one of a map's members.
        Some(count).filter(|count| *count > 0)
    }
}
