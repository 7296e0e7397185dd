//! The second pass of a report: the values of sampled rows, and records to show.

use std::io;
use std::iter::Peekable;
use std::num::NonZeroUsize;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::vec;

use trommel::path::Query;
use trommel::reader::Framing;
use trommel::sampler::{Seed, winners};
use trommel::statistics::ValuesSummary;
use trommel::{Analysis, Answer, Document, Match, Measure, Sequence, Sink, Stats};
use trommel_base::text::grouped;
use trommel_report::SampledRows;

use crate::output::InputSink;

/// The bytes of rows that are analyzed at a time.
const BATCH: usize = 4 << 20;

/// Larger rows are not copied.
const MAX_ROW: usize = 16 << 20;

/// Rows of statistics that the engine lists. The page shows the largest of them.
pub(super) const ROWS: usize = 20_000;

/// Larger records are not shown.
pub(super) const MAX_EXAMPLE: usize = 64 << 10;

/// The rows of one path.
#[derive(Clone, Debug)]
pub(super) struct RowPath {
    pub(super) path: String,
    pub(super) query: Query,
    /// The number of all rows.
    pub(super) total: u64,
}

/// A record to show.
pub(super) struct Shown {
    /// Its position, as text.
    pub(super) position: String,
    /// Its size in bytes, if that is known.
    pub(super) size: Option<u64>,
    /// Its bytes, if they are not too many.
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
    examples: Peekable<vec::IntoIter<u64>>,
    shown: Vec<Shown>,
    batch: Vec<u8>,
    sampled: u64,
    /// True if a row was too large to copy.
    is_too_large: bool,
}

/// Reads the rows of several paths, in the order of the measures. Their values are analyzed by
/// another thread, in batches.
pub(super) struct RowReader {
    readings: Vec<Reading>,
    worker: Option<Worker>,
}

/// The thread that analyzes values. It holds at most two batches in addition to the current one.
struct Worker {
    /// A batch, and the number of its path.
    batches: SyncSender<(usize, Vec<u8>)>,
    thread: JoinHandle<Result<Vec<Sequence>, trommel::Error>>,
}

/// The rows of one path, after the pass.
pub(super) struct ReadRows {
    pub(super) rows: RowPath,
    /// The number of rows that were found.
    pub(super) seen: u64,
    /// True if a row was too large to copy, so that its values are missing.
    pub(super) is_too_large: bool,
    /// The values of the rows, with the paths of the whole input.
    pub(super) values: Vec<ValuesSummary>,
    /// The sample, if not all rows were analyzed.
    pub(super) sampled: Option<SampledRows>,
    pub(super) shown: Vec<Shown>,
}

impl ReadRows {
    /// Rows that are only shown.
    pub(super) fn of_examples(rows: RowPath, shown: Vec<Shown>) -> Self {
        let (values, sampled) = (Vec::new(), None);
        Self { seen: rows.total, rows, values, sampled, shown, is_too_large: false }
    }
}

impl Worker {
    /// Starts the analysis of the values of several paths.
    fn start(settings: &Analysis, paths: usize) -> Result<Self, trommel::Error> {
        let mut stats = Stats::new();
        (stats.values, stats.histograms, stats.item_types) = (true, true, false);
        stats.rows = Some(ROWS);
        // The other core reads the rows meanwhile.
        let analysis = settings.settings().threads(1).ask(Measure::Stats(stats));
        let sequences = (0..paths).map(|_| analysis.sequence()).collect::<Result<Vec<_>, _>>()?;
        let (batches, received) = sync_channel::<(usize, Vec<u8>)>(1);
        let work = move || {
            let mut sequences = sequences;
            for (path, batch) in received {
                sequences[path].run(&mut Document::from_bytes(&batch).framing(Framing::Lines))?;
            }
            Ok(sequences)
        };
        let thread = thread::Builder::new().name("values".to_owned()).spawn(work)?;
        Ok(Self { batches, thread })
    }

    /// Ends the analysis, and returns the values of each path.
    fn finish(self) -> Result<Vec<Vec<ValuesSummary>>, trommel::Error> {
        drop(self.batches);
        let sequences = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let values = |sequence: Sequence| {
            let answers = sequence.finish()?.answers.into_iter();
            let stats = answers.filter_map(|answer| match answer {
                Answer::Stats(stats) => stats.summary.values,
                _ => None,
            });
            Ok(stats.flatten().collect())
        };
        sequences.into_iter().map(values).collect()
    }
}

impl RowReader {
    /// Creates a reader of rows, of which it shows `examples` each. With `sample`, analyzes the
    /// values of that number of rows of each path.
    pub(super) fn new(
        rows: &[(RowPath, usize)],
        sample: Option<(NonZeroUsize, &Analysis)>,
        seed: Seed,
    ) -> Result<Self, trommel::Error> {
        let reading = |(rows, examples): &(RowPath, usize)| {
            let drawn = |size: NonZeroUsize| winners(seed, size, rows.total).into_iter();
            let long = sample.map(|(size, _)| size).filter(|size| rows.total > size.get() as u64);
            let mut wanted = long.map(drawn);
            let next = wanted.as_mut().map_or(sample.map(|_| 0), Iterator::next);
            let examples =
                NonZeroUsize::new(*examples).map_or_else(|| Vec::new().into_iter(), drawn).peekable();
            Reading {
                rows: rows.clone(),
                seen: 0,
                wanted,
                next,
                examples,
                shown: Vec::new(),
                batch: Vec::new(),
                sampled: 0,
                is_too_large: false,
            }
        };
        let worker = sample.map(|(_, settings)| Worker::start(settings, rows.len())).transpose()?;
        Ok(Self { readings: rows.iter().map(reading).collect(), worker })
    }

    /// Passes the batch of a path on.
    fn send(&mut self, path: usize) {
        let batch = std::mem::take(&mut self.readings[path].batch);
        if let Some(worker) = &self.worker
            && !batch.is_empty()
        {
            // Fails only if the thread has ended with an error, which `finish` returns.
            let _ = worker.batches.send((path, batch));
        }
    }

    /// Ends the pass.
    pub(super) fn finish(mut self, seed: u64) -> Result<Vec<ReadRows>, trommel::Error> {
        (0..self.readings.len()).for_each(|path| self.send(path));
        let mut values = match self.worker.take() {
            Some(worker) => worker.finish()?,
            None => vec![Vec::new(); self.readings.len()],
        };
        let readings = self.readings.into_iter().zip(values.drain(..));
        Ok(readings.map(|(reading, values)| reading.finish(values, seed)).collect())
    }
}

impl Reading {
    /// Adds a row.
    fn row(&mut self, bytes: &[u8]) {
        let index = self.seen;
        self.seen += 1;
        if self.examples.next_if_eq(&index).is_some() {
            let kept = (bytes.len() <= MAX_EXAMPLE).then(|| bytes.to_vec());
            let position = format!("number {}", grouped(index));
            self.shown.push(Shown { position, size: Some(bytes.len() as u64), bytes: kept });
        }
        if self.next != Some(index) {
            return;
        }
        self.next = self.wanted.as_mut().map_or(Some(index + 1), Iterator::next);
        self.sampled += 1;
        if bytes.len() > MAX_ROW {
            self.is_too_large = true;
            return;
        }
        let mut start = self.batch.len();
        self.batch.extend_from_slice(bytes);
        // A line per row. Between tokens, a line end is a space; strings have none.
        while let Some(at) = memchr::memchr2(b'\n', b'\r', &self.batch[start..]) {
            self.batch[start + at] = b' ';
            start += at + 1;
        }
        self.batch.push(b'\n');
    }

    fn finish(self, mut values: Vec<ValuesSummary>, seed: u64) -> ReadRows {
        let Self { rows, seen, wanted, shown, sampled, is_too_large, .. } = self;
        let is_sample = wanted.is_some();
        for row in &mut values {
            row.path = format!("{}{}", rows.path, row.path.strip_prefix('$').unwrap_or(&row.path));
            if is_sample {
                mark(row);
            }
        }
        let sample = SampledRows { path: rows.path.clone(), rows: sampled, total: rows.total, seed };
        ReadRows { rows, seen, is_too_large, values, sampled: is_sample.then_some(sample), shown }
    }
}

/// Marks figures that are those of a sample.
pub(super) fn mark(row: &mut ValuesSummary) {
    (row.distinct.approximate, row.frequent.approximate) = (true, true);
    row.numbers.iter_mut().for_each(|numbers| numbers.approximate = true);
    row.quantiles.iter_mut().for_each(|quantiles| quantiles.approximate = true);
}

impl InputSink for RowReader {
    fn begin_input(&mut self, _: &str) {}
}

impl Sink for RowReader {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        let reading = &mut self.readings[found.measure];
        reading.row(found.value);
        if reading.batch.len() >= BATCH {
            self.send(found.measure);
        }
        Ok(())
    }
}
