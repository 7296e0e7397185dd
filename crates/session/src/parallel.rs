//! Parallel scan of a long log: each thread reads a part, and results are delivered in the order of
//! the file.

use std::cell::RefCell;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::thread;

use crate::error::Result;
use crate::fields::{FieldValues, Fields};
use crate::records::{Damage, Flow, Log, Record, RecordReader};
use crate::watch::{Pass, Watch};

/// The bounds of a part's size in bytes. A part owns the lines that start within it, and reads the
/// last one to its end. Parts shrink where lines are short.
const PART_BYTES: RangeInclusive<u64> = 256 << 10..=4 << 20;

/// The maximum number of values that a part buffers until earlier parts are delivered: about 32 MiB
/// for all threads.
const MAX_BUFFERED_VALUES: usize = 131_072;

/// The maximum number of threads.
const MAX_THREADS: usize = 4;

/// Decides from the top-level members read so far whether a record is needed.
pub(crate) type RecordFilter<'a> = &'a (dyn Fn(&FieldValues) -> bool + Sync);

/// Reads fields of each record, and passes those of records that match the filter to a callback, in
/// order.
pub(crate) fn scan(
    log: &Log,
    fields: &Fields,
    filter: RecordFilter<'_>,
    watch: &Watch<'_>,
    mut visit: impl FnMut(&FieldValues, Record) -> Result<Flow>,
) -> Result<Damage> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    // Only lines can be split: a document has to be read from its start to find its records.
    if log.is_lines() && log.len() > *PART_BYTES.end() && threads > 1 {
        let (pass, capacity) = (watch.pass(log.len()), MAX_BUFFERED_VALUES / fields.slots().max(1));
        return ParallelScan { log, fields, filter, watch, pass, threads, part: PART_BYTES, capacity }
            .run(visit);
    }
    let found = RefCell::new(FieldValues::default());
    log.each(
        watch,
        |cursor| fields.read_while(cursor, &mut found.borrow_mut(), &mut |found| filter(found)).map(Some),
        |is_match, record| if is_match { visit(&found.borrow(), record) } else { Ok(Flow::Continue) },
    )
}

/// A scan in rounds, each with one part per thread.
struct ParallelScan<'a, 'w> {
    log: &'a Log,
    fields: &'a Fields,
    filter: RecordFilter<'a>,
    watch: &'a Watch<'w>,
    pass: Pass,
    threads: usize,
    /// The bounds of a part's size in bytes.
    part: RangeInclusive<u64>,
    /// The maximum number of records a part buffers.
    capacity: usize,
}

/// The result of one part.
#[derive(Default)]
struct ScannedPart {
    found: Vec<(FieldValues, Record)>,
    /// The number of records that start in the part, including damaged ones.
    records: u64,
    damage: Damage,
    /// The offset up to which the part was read. After the part's end if its last record is longer,
    /// before it if the buffer was full.
    until: u64,
    /// True if the buffer was full.
    is_cut: bool,
}

impl ParallelScan<'_, '_> {
    fn run(&self, mut visit: impl FnMut(&FieldValues, Record) -> Result<Flow>) -> Result<Damage> {
        let (mut at, mut records, mut damage) = (0, 0, Damage::default());
        let mut bytes = *self.part.end();
        'rounds: while at < self.log.len() {
            let parts = self.round(at, bytes);
            // Parts grow slowly again after a round that had to shrink them.
            bytes += bytes / 8;
            for part in parts {
                let part = part?;
                for (found, record) in &part.found {
                    // A thread numbers the records of its part from 0.
                    let record = Record { number: records + record.number, ..*record };
                    if visit(found, record)? == Flow::Stop {
                        break 'rounds;
                    }
                }
                damage.add(part.damage.offset_by(records));
                records += part.records;
                let passed = part.until.saturating_sub(at);
                at = at.max(part.until);
                self.watch.reach(self.pass, at);
                if part.is_cut {
                    // The results of the parts after a truncated one are discarded and read again.
                    // The next parts are as long as this one could be.
                    bytes = passed;
                    break;
                }
            }
            bytes = bytes.clamp(*self.part.start(), *self.part.end());
        }
        self.watch.end(self.pass);
        self.log.number_lines(&mut damage)?;
        Ok(damage)
    }

    /// Reads one part per thread from an offset on. The calling thread reads the first.
    fn round(&self, at: u64, bytes: u64) -> Vec<Result<ScannedPart>> {
        let part = |index: usize| {
            let from = at.saturating_add(index as u64 * bytes);
            self.part(from, from.saturating_add(bytes))
        };
        thread::scope(|scope| {
            let others = (1..self.threads).map(|index| scope.spawn(move || part(index))).collect::<Vec<_>>();
            let first = std::iter::once(part(0));
            let others = others.into_iter().map(|part| match part.join() {
                Ok(part) => part,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            first.chain(others).collect()
        })
    }

    /// Reads the lines that start between two offsets.
    fn part(&self, from: u64, to: u64) -> Result<ScannedPart> {
        let end = to.min(self.log.len());
        let mut part = ScannedPart { until: end, ..ScannedPart::default() };
        let Some(start) = self.log.line_start(from, end)? else { return Ok(part) };
        let mut reader = RecordReader::new(self.log, start, self.watch.cancel_monitor())?;
        // The end of the previous record or, if it was damaged, its start. No line ends between
        // this offset and the end of that record.
        let mut last_end = start;
        while reader.next()? {
            // Bytes before a value, such as white space, belong to its line.
            let line = |from: u64| self.log.line_start(from.max(last_end + 1), reader.start() + 1);
            if reader.start() >= end && line(end)?.is_some() {
                break;
            }
            if part.found.len() >= self.capacity {
                part.until = line(0)?.map_or(reader.start(), |end| end + 1);
                part.is_cut = true;
                break;
            }
            part.records += 1;
            last_end = self.record(&mut reader, &mut part)?;
        }
        part.until = if part.is_cut { part.until } else { part.until.max(last_end) };
        part.damage = reader.into_damage();
        Ok(part)
    }

    /// Reads a record, and returns its end or, if it is damaged, its start.
    fn record(&self, reader: &mut RecordReader<'_>, part: &mut ScannedPart) -> Result<u64> {
        let mut found = FieldValues::default();
        let result = reader.record(&mut |cursor| {
            self.fields.read_while(cursor, &mut found, &mut |found| (self.filter)(found)).map(Some)
        });
        match result {
            Ok((is_match, record)) => {
                match is_match {
                    Some(true) => part.found.push((found, record)),
                    Some(false) => {}
                    None => reader.note_non_object(record),
                }
                Ok(record.span.end)
            }
            Err(error) => reader.skip_damaged(&error).map(|()| reader.start()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    type SeenRecords = (Vec<(u64, u64, u64, Option<String>)>, Damage);

    /// The records seen by one thread or, if `divided`, by rounds of parts with the given sizes.
    fn seen(text: &[u8], divided: Option<(usize, u64, usize)>) -> SeenRecords {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        fs::write(&path, text).unwrap();
        let log = Log::open(&path).unwrap().without_lines();
        let fields = Fields::from_dotted(&[("a", 9), ("b.c", 9)]);
        let (watch, mut rows) = (Watch::new(), Vec::new());
        let filter = |found: &FieldValues| found.text(0).is_none_or(|a| a != "no");
        let mut visit = |found: &FieldValues, record: Record| {
            let value = found.get(1).and_then(|value| value.json().map(str::to_owned));
            rows.push((record.number, record.span.start, record.span.end, value));
            Ok(Flow::Continue)
        };
        let damage = match divided {
            None => {
                let found = RefCell::new(FieldValues::default());
                log.each(
                    &watch,
                    |cursor| {
                        fields
                            .read_while(cursor, &mut found.borrow_mut(), &mut |found| filter(found))
                            .map(Some)
                    },
                    |is_match, record| {
                        if is_match { visit(&found.borrow(), record) } else { Ok(Flow::Continue) }
                    },
                )
            }
            Some((threads, bytes, capacity)) => {
                let (pass, part, fields, log) = (watch.pass(log.len()), bytes / 2 + 1..=bytes, &fields, &log);
                ParallelScan { log, fields, filter: &filter, watch: &watch, pass, threads, part, capacity }
                    .run(visit)
            }
        };
        (rows, damage.unwrap())
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[a-z]{0,40}".prop_map(|text| format!("{{\"a\":\"{text}\",\"b\":{{\"c\":{}}}}}", text.len())),
            1 => Just("{\"a\":\"no\"}".to_owned()),
            1 => Just(String::new()),
            1 => Just("[1]".to_owned()),
            1 => Just("{\"a\": {\"b\"".to_owned()),
            1 => Just("{\"a\":1} x".to_owned()),
            1 => Just("\u{feff}{}".to_owned()),
            1 => "[ \t\r]{0,30}".prop_map(|space| format!("{space}{{}}{space}")),
        ]
    }

    proptest! {
        /// Any division of a log yields the same records in the same order, and the same damage.
        #[test]
        fn parallel_scan_equals_sequential(
            lines in prop::collection::vec(line(), 0..40),
            ends in any::<bool>(),
            threads in 1_usize..5,
            bytes in 1_u64..200,
            capacity in 1_usize..9,
        ) {
            let mut text = lines.join("\n");
            if ends {
                text.push('\n');
            }
            prop_assert_eq!(seen(text.as_bytes(), Some((threads, bytes, capacity))), seen(text.as_bytes(), None));
        }
    }

    /// A realistic log that is long enough to be divided.
    #[test]
    fn scans_a_long_log_in_parallel() {
        let mut text = String::new();
        for number in 0..60_000 {
            let filler = if number == 500 { "y".repeat(9 << 20) } else { "x".repeat(number % 100) };
            writeln!(text, "{{\"f\":\"{filler}\",\"b\":{{\"c\":{number}}}}}").unwrap();
        }
        let whole = seen(text.as_bytes(), None);
        assert_eq!(seen(text.as_bytes(), Some((2, *PART_BYTES.end(), MAX_BUFFERED_VALUES / 2))), whole);
        assert_eq!(whole.0.len(), 60_000);
    }
}
