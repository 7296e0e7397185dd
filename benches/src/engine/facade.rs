//! Whole analyses.

use std::hint::black_box;
use std::io::Cursor;
use std::num::NonZeroUsize;
use std::sync::Arc;

use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Answer, Document, Found, Measure, Report, Sample, Stats};

use crate::engine::{STRICT, STRUCTURAL};
use crate::{Column, Input, Task};

pub(super) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    let lines = task.input == Input::Lines;
    let framing = if lines { Framing::Lines } else { Framing::Auto };
    let whole = Whole { task, framing, analysis: analysis(task) };
    let strict = if lines { whole.with(|analysis| analysis.threads(1)) } else { whole.clone() };
    let structural = strict.with(|analysis| analysis.validation(Validation::Structural));
    let mut columns = vec![strict.over_bytes(STRICT, bytes)];
    if skips(task) {
        columns.push(structural.over_bytes(STRUCTURAL, bytes));
    }
    if lines {
        let two = whole.with(|analysis| analysis.threads(2));
        columns.push(two.over_bytes("trommel, 2 threads", bytes));
    }
    columns.push(whole.over_stream("trommel stream", bytes));
    columns
}

/// Whether a task passes over something, so that it matters how that is checked.
fn skips(task: &Task) -> bool {
    !task.queries.is_empty() && task.name != "facade/mixed"
}

/// What a task asks; the answers of several measures are added up.
fn analysis(task: &Task) -> Analysis {
    let query = || task.query().parse().expect("the query is in order");
    let sample = || Sample::new(query(), NonZeroUsize::MIN.saturating_add(99));
    let stats = |change: fn(&mut Stats)| {
        let mut stats = Stats::new();
        change(&mut stats);
        Analysis::new().ask(Measure::Stats(stats))
    };
    match task.name.split_once('/').map_or("", |(_, name)| name) {
        "extract" | "descendants" => Analysis::new().extract(query()),
        "count" => Analysis::new().count(query()),
        "sample" => Analysis::new().sample(sample()),
        "stats" => stats(|_| {}),
        "schema" => stats(|stats| stats.schema = true),
        // What the command does: everything is read and checked, and nothing is looked at by path.
        "check" => stats(|stats| (stats.per_path, stats.counts) = (false, false)),
        "mixed" => Analysis::new().extract(query()).count(query()).sample(sample()).stats(),
        name => panic!("no analysis is called {name}"),
    }
}

/// An analysis of a whole input.
#[derive(Clone)]
struct Whole<'a> {
    task: &'a Task,
    framing: Framing,
    analysis: Analysis,
}

impl<'a> Whole<'a> {
    fn with(&self, change: impl FnOnce(Analysis) -> Analysis) -> Self {
        Self { analysis: change(self.analysis.clone()), ..self.clone() }
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
