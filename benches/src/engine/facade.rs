//! Whole analyses.

use std::hint::black_box;
use std::io::Cursor;
use std::num::NonZeroUsize;
use std::sync::Arc;

use trommel::path::{Order, Query};
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Answer, Document, Group, Match, Measure, Report, Sample, Stats};

use crate::engine::{ANALYSIS, STRICT, STRUCTURAL};
use crate::{Column, Input, Task};

/// Returns the columns of a task of whole analyses.
pub(super) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    let strict = Whole::new(task, Validation::Strict);
    let mut columns = vec![strict.on(1).over_bytes(STRICT, bytes)];
    if skips(task) {
        columns.push(Whole::new(task, Validation::Structural).on(1).over_bytes(STRUCTURAL, bytes));
    }
    columns.push(strict.on(2).over_bytes("trommel on 2 threads", bytes));
    columns.push(strict.on(1).over_stream("trommel stream", bytes));
    columns
}

/// Returns whole analyses for a task of another stage, with the validation of the command line.
pub(super) fn analyses<'a>(task: &'a Task, bytes: &'a [u8]) -> [Column<'a>; 3] {
    let reads_all = matches!(task.name.as_str(), "stats/full" | "stats/schema" | "stats/values");
    let whole = Whole::new(task, if reads_all { Validation::Strict } else { Validation::Structural });
    [
        whole.on(1).over_bytes(ANALYSIS, bytes),
        whole.on(2).over_bytes("trommel analysis on 2 threads", bytes),
        whole.on(1).over_stream("trommel analysis of a stream", bytes),
    ]
}

/// True if a task skips values, so that the validation setting matters.
fn skips(task: &Task) -> bool {
    !task.queries.is_empty() && task.name != "facade/mixed"
}

/// Returns the analysis of a task. The answers of several measures are added up.
fn analysis(task: &Task) -> Analysis {
    let (stage, name) = task.name.split_once('/').expect("a task's name is STAGE/NAME");
    let queries = || task.queries.iter().map(|query| query.parse::<Query>().expect("the query is in order"));
    let extracts = || queries().fold(Analysis::new(), Analysis::extract);
    let counts = || queries().fold(Analysis::new(), Analysis::count);
    let samples = |analysis: Analysis| {
        let hundred = NonZeroUsize::MIN.saturating_add(99);
        queries().fold(analysis, |analysis, query| analysis.sample(Sample::new(query, hundred)))
    };
    let by = |group: Group, query: Query| group.by(query.to_string(), query);
    match (stage, name) {
        ("path", _) if task.count => counts(),
        ("path", _) => extracts().order(Order::Document),
        (_, "descendants" | "extract") => extracts(),
        (_, "count") => counts(),
        (_, "group" | "group-two") => Analysis::new().group(queries().fold(Group::new(), by)),
        (_, "sample") => samples(Analysis::new()),
        (_, "mixed") => samples(queries().fold(extracts(), Analysis::count)).stats(),
        _ => Analysis::new().ask(Measure::Stats(described(name))),
    }
}

/// The options of statistics.
fn described(name: &str) -> Stats {
    let mut stats = Stats::new();
    match name.strip_suffix("-numbers").unwrap_or(name) {
        "stats" | "full" => {}
        // As the command does for `--only structure,types`.
        "types" | "numbers" => (stats.per_path, stats.duplicate_names) = (false, false),
        "schema" => stats.schema = true,
        "values" => stats.values = true,
        // As the command does: everything is read and validated, and nothing is recorded by path.
        "check" => (stats.per_path, stats.counts) = (false, false),
        name => panic!("no analysis named {name}"),
    }
    stats
}

/// An analysis of a whole input.
#[derive(Clone)]
struct Whole<'a> {
    task: &'a Task,
    framing: Framing,
    analysis: Analysis,
}

impl<'a> Whole<'a> {
    fn new(task: &'a Task, validation: Validation) -> Self {
        let framing = if task.input == Input::Lines { Framing::Lines } else { Framing::Auto };
        Self { task, framing, analysis: analysis(task).validation(validation) }
    }

    fn on(&self, threads: usize) -> Self {
        Self { analysis: self.analysis.clone().threads(threads), ..self.clone() }
    }

    fn over_bytes(self, name: &'static str, bytes: &'a [u8]) -> Column<'a> {
        let mut document = Document::from_bytes(bytes).framing(self.framing);
        Column::reads(name, move || self.answer(&mut document))
    }

    /// Adds a column over a reader, which must own its bytes and therefore shares them.
    fn over_stream(self, name: &'static str, bytes: &[u8]) -> Column<'a> {
        let bytes: Arc<[u8]> = bytes.into();
        Column::reads(name, move || {
            let reader = Cursor::new(Arc::clone(&bytes));
            self.answer(&mut Document::from_reader(reader).framing(self.framing))
        })
    }

    fn answer(&self, document: &mut Document<'_>) -> u64 {
        let mut take = |found: &Match<'_>| {
            black_box(found.value);
            Ok(())
        };
        let report = self.analysis.run_with(document, &mut take).expect("the input is valid");
        if self.task.name.contains("/check") { report.coverage.records } else { sum(&report) }
    }
}

fn sum(report: &Report) -> u64 {
    let number = |answer: &Answer| match answer {
        Answer::Extracted(count) | Answer::Count(count) => *count,
        Answer::Sample(sample) => sample.items.len() as u64,
        Answer::Stats(stats) => stats.summary.structure.total_values,
        Answer::Group(groups) => groups.total_groups(),
        _ => panic!("unknown kind of answer"),
    };
    report.answers.iter().map(number).sum()
}
