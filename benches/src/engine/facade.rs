//! Whole analyses.

use std::hint::black_box;
use std::io::Cursor;
use std::num::NonZeroUsize;
use std::sync::Arc;

use trommel::path::Order;
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Answer, Document, Found, Measure, Report, Sample, Stats};

use crate::engine::{ANALYSIS, STRICT, STRUCTURAL};
use crate::{Column, Input, Task};

/// A task of whole analyses.
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

/// Whole analyses for a task of another stage, checked as the command line does it.
pub(super) fn analyses<'a>(task: &'a Task, bytes: &'a [u8]) -> [Column<'a>; 3] {
    let reads_all = matches!(task.name.as_str(), "stats/full" | "stats/schema" | "stats/values");
    let whole = Whole::new(task, if reads_all { Validation::Strict } else { Validation::Structural });
    [
        whole.on(1).over_bytes(ANALYSIS, bytes),
        whole.on(2).over_bytes("trommel analysis on 2 threads", bytes),
        whole.on(1).over_stream("trommel analysis of a stream", bytes),
    ]
}

/// Whether a task passes over something, so that it matters how that is checked.
fn skips(task: &Task) -> bool {
    !task.queries.is_empty() && task.name != "facade/mixed"
}

/// What a task asks; the answers of several measures are added up.
fn analysis(task: &Task) -> Analysis {
    let (stage, name) = task.name.split_once('/').expect("a task is named STAGE/NAME");
    let queries = || task.queries.iter().map(|query| query.parse().expect("the query is in order"));
    let extracts = || queries().fold(Analysis::new(), Analysis::extract);
    let counts = || queries().fold(Analysis::new(), Analysis::count);
    let samples = |asked: Analysis| {
        let hundred = NonZeroUsize::MIN.saturating_add(99);
        queries().fold(asked, |asked, query| asked.sample(Sample::new(query, hundred)))
    };
    match (stage, name) {
        ("path", _) if task.count => counts(),
        ("path", _) => extracts().order(Order::Document),
        (_, "descendants" | "extract") => extracts(),
        (_, "count") => counts(),
        (_, "sample") => samples(Analysis::new()),
        (_, "mixed") => samples(queries().fold(extracts(), Analysis::count)).stats(),
        _ => Analysis::new().ask(Measure::Stats(described(name))),
    }
}

/// What is told about everything.
fn described(name: &str) -> Stats {
    let mut stats = Stats::new();
    match name {
        "stats" | "full" => {}
        // What the command does for `--only structure,types`.
        "types" | "numbers" => (stats.per_path, stats.duplicate_names) = (false, false),
        "schema" => stats.schema = true,
        "values" => stats.values = true,
        // What the command does: everything is read and checked, and nothing is looked at by path.
        "check" => (stats.per_path, stats.counts) = (false, false),
        name => panic!("no analysis is called {name}"),
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

    fn over_bytes(self, name: &'static str, bytes: &[u8]) -> Column<'a> {
        let mut document = Document::from_bytes(bytes).framing(self.framing);
        Column::reads(name, move || self.answer(&mut document))
    }

    /// Over a reader, which here must own its bytes, and shares them.
    fn over_stream(self, name: &'static str, bytes: &[u8]) -> Column<'a> {
        let bytes: Arc<[u8]> = bytes.into();
        Column::reads(name, move || {
            let reader = Cursor::new(Arc::clone(&bytes));
            self.answer(&mut Document::from_reader(reader).framing(self.framing))
        })
    }

    fn answer(&self, document: &mut Document) -> u64 {
        let mut take = |found: &Found<'_>| {
            black_box(found.value);
            Ok(())
        };
        let report = self.analysis.run_with(document, &mut take).expect("the input is valid");
        if self.task.name.ends_with("/check") { report.coverage.records } else { sum(&report) }
    }
}

fn sum(report: &Report) -> u64 {
    let number = |answer: &Answer| match answer {
        Answer::Extracted(count) | Answer::Count(count) => *count,
        Answer::Sample(sample) => sample.items.len() as u64,
        Answer::Stats(stats) => stats.summary.structure.total_values,
        _ => panic!("an answer of an unknown kind"),
    };
    report.answers.iter().map(number).sum()
}
