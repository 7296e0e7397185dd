//! The second pass of a report: the values of sampled rows, and records to show.

use std::io;
use std::num::NonZeroUsize;
use std::vec;

use trommel::path::Query;
use trommel::reader::Framing;
use trommel::sampler::{Seed, winners};
use trommel::statistics::ValuesSummary;
use trommel::{Analysis, Answer, Document, Match, Measure, Sequence, Sink, Stats};
use trommel_report::SampledRows;

use crate::output::InputSink;

/// The bytes of rows that are analyzed at a time.
const BATCH: usize = 8 << 20;

/// Larger records are not shown.
const MAX_EXAMPLE: usize = 64 << 10;

/// The rows of one path.
#[derive(Clone, Debug)]
pub(super) struct RowPath {
    pub(super) path: String,
    pub(super) query: Query,
    /// The number of all rows.
    pub(super) total: u64,
}

/// A record to show: its number, its size, and its bytes if they are not too many.
pub(super) struct Shown {
    pub(super) index: u64,
    pub(super) size: u64,
    pub(super) bytes: Option<Vec<u8>>,
}

/// The rows of one path while they are read.
struct Reading {
    rows: RowPath,
    seen: u64,
    /// The numbers of the rows whose values are analyzed, in order; `None` for all.
    wanted: Option<vec::IntoIter<u64>>,
    next: Option<u64>,
    /// The numbers of the rows to show.
    examples: std::iter::Peekable<vec::IntoIter<u64>>,
    shown: Vec<Shown>,
    batch: Vec<u8>,
    values: Option<Sequence>,
    sampled: u64,
}

/// Reads the rows of several paths, in the order of the measures.
pub(super) struct RowReader {
    readings: Vec<Reading>,
}

/// What was read of one path.
pub(super) struct ReadRows {
    pub(super) rows: RowPath,
    /// The number of rows that were found.
    pub(super) seen: u64,
    /// The values of the rows, with the paths of the whole input.
    pub(super) values: Vec<ValuesSummary>,
    /// The sample, if not all rows were analyzed.
    pub(super) sampled: Option<SampledRows>,
    pub(super) shown: Vec<Shown>,
}

impl RowReader {
    /// Creates a reader. Without `sample`, no values are analyzed.
    pub(super) fn new() -> Self {
        Self { readings: Vec::new() }
    }

    /// Adds rows. Analyzes the values of `sample` rows if given, and shows `examples` rows.
    pub(super) fn add(
        &mut self,
        rows: RowPath,
        sample: Option<(NonZeroUsize, &Analysis)>,
        examples: usize,
        seed: Seed,
    ) -> Result<(), trommel::Error> {
        let drawn = |size: NonZeroUsize| winners(seed, size, rows.total).into_iter();
        let examples = NonZeroUsize::new(examples).map(drawn).unwrap_or_default().peekable();
        let (mut wanted, mut values, mut next) = (None, None, None);
        if let Some((size, settings)) = sample {
            let mut stats = Stats::new();
            (stats.values, stats.histograms, stats.item_types) = (true, true, false);
            stats.rows = Some(super::passes::ROWS);
            values = Some(settings.settings().ask(Measure::Stats(stats)).sequence()?);
            let mut indices = (rows.total > size.get() as u64).then(|| drawn(size));
            next = indices.as_mut().map_or(Some(0), Iterator::next);
            wanted = indices;
        }
        self.readings.push(Reading {
            rows,
            seen: 0,
            wanted,
            next,
            examples,
            shown: Vec::new(),
            batch: Vec::new(),
            values,
            sampled: 0,
        });
        Ok(())
    }

    /// Ends the pass.
    pub(super) fn finish(self, seed: u64) -> Result<Vec<ReadRows>, trommel::Error> {
        self.readings.into_iter().map(|reading| reading.finish(seed)).collect()
    }
}

impl Reading {
    fn row(&mut self, bytes: &[u8]) -> Result<(), trommel::Error> {
        let index = self.seen;
        self.seen += 1;
        if self.examples.next_if_eq(&index).is_some() {
            let kept = (bytes.len() <= MAX_EXAMPLE).then(|| bytes.to_vec());
            self.shown.push(Shown { index, size: bytes.len() as u64, bytes: kept });
        }
        if self.next != Some(index) || self.values.is_none() {
            return Ok(());
        }
        self.next = self.wanted.as_mut().map_or(Some(index + 1), Iterator::next);
        self.sampled += 1;
        let start = self.batch.len();
        self.batch.extend_from_slice(bytes);
        // A line per row. Between tokens, a line end is a space; strings have none.
        self.batch[start..]
            .iter_mut()
            .filter(|byte| matches!(byte, b'\n' | b'\r'))
            .for_each(|byte| *byte = b' ');
        self.batch.push(b'\n');
        if self.batch.len() >= BATCH { self.analyze() } else { Ok(()) }
    }

    fn analyze(&mut self) -> Result<(), trommel::Error> {
        let Some(values) = &mut self.values else { return Ok(()) };
        let batch = std::mem::take(&mut self.batch);
        values.run(&mut Document::from_bytes(&batch).framing(Framing::Lines))?;
        self.batch = batch;
        self.batch.clear();
        Ok(())
    }

    fn finish(mut self, seed: u64) -> Result<ReadRows, trommel::Error> {
        self.analyze()?;
        let is_sample = self.wanted.is_some();
        let report = self.values.take().map(Sequence::finish).transpose()?;
        let answers = report.into_iter().flat_map(|report| report.answers);
        let stats =
            answers.filter_map(|answer| if let Answer::Stats(stats) = answer { Some(stats) } else { None });
        let mut values: Vec<ValuesSummary> =
            stats.flat_map(|stats| stats.summary.values.unwrap_or_default()).collect();
        for row in &mut values {
            row.path = format!("{}{}", self.rows.path, row.path.strip_prefix('$').unwrap_or(&row.path));
            if is_sample {
                mark(row);
            }
        }
        let (rows, total) = (self.sampled, self.rows.total);
        let sampled = SampledRows { path: self.rows.path.clone(), rows, total, seed };
        Ok(ReadRows {
            rows: self.rows,
            seen: self.seen,
            values,
            sampled: is_sample.then_some(sampled),
            shown: self.shown,
        })
    }
}

/// Marks figures that are those of a sample.
fn mark(row: &mut ValuesSummary) {
    (row.distinct.approximate, row.frequent.approximate) = (true, true);
    row.numbers.iter_mut().for_each(|numbers| numbers.approximate = true);
    row.quantiles.iter_mut().for_each(|quantiles| quantiles.approximate = true);
}

impl InputSink for RowReader {
    fn begin_input(&mut self, _: &str) {}
}

impl Sink for RowReader {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        self.readings[found.measure].row(found.value).map_err(io::Error::other)
    }
}
