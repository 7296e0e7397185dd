//! A long log gone through by several threads: each takes a part of it, and what they found is
//! handed over in the order of the file.

use std::cell::RefCell;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::thread;

use crate::error::Result;
use crate::project::{Fields, Found};
use crate::records::{Damage, Flow, Log, Record, Walk};
use crate::watch::{Pass, Watch};

/// Bytes of a part: lines that begin within them belong to it, however long the last one is. Fewer
/// where lines are short.
const PART: RangeInclusive<u64> = 256 << 10..=4 << 20;

/// Values of a part that may wait until those before them are handed over: with those of all
/// threads some 32 MiB.
const HELD: usize = 131_072;

/// Threads at most.
const THREADS: usize = 4;

/// Tells from the top members of a record, as far as they are known yet, whether it is wanted.
pub(crate) type Wanted<'a> = &'a (dyn Fn(&Found) -> bool + Sync);

/// Looks for fields in each record, and hands over what it found of those that are wanted, in their
/// order.
pub(crate) fn each_found(
    log: &Log,
    fields: &Fields,
    wanted: Wanted<'_>,
    watch: &Watch<'_>,
    mut take: impl FnMut(&Found, Record) -> Result<Flow>,
) -> Result<Damage> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS);
    if log.is_lines() && log.len() > *PART.end() && threads > 1 {
        let (pass, held) = (watch.pass(log.len()), HELD / fields.places().max(1));
        return Rounds { log, fields, wanted, watch, pass, threads, part: PART, held }.run(take);
    }
    let found = RefCell::new(Found::default());
    log.each(
        watch,
        |cursor| fields.look(cursor, &mut found.borrow_mut(), &mut |found| wanted(found)).map(Some),
        |is_wanted, record| if is_wanted { take(&found.borrow(), record) } else { Ok(Flow::On) },
    )
}

/// A log, taken in rounds of a part for each thread.
struct Rounds<'a, 'w> {
    log: &'a Log,
    fields: &'a Fields,
    wanted: Wanted<'a>,
    watch: &'a Watch<'w>,
    pass: Pass,
    threads: usize,
    /// Bytes of a part at least and at most.
    part: RangeInclusive<u64>,
    /// Records of a part that may wait.
    held: usize,
}

/// What a thread found in its part.
#[derive(Default)]
struct Part {
    found: Vec<(Found, Record)>,
    /// Records that begin in it, damaged ones too.
    records: u64,
    damage: Damage,
    /// How far it was gone through: behind the part where its last record is long, before its end
    /// where it held enough.
    until: u64,
    /// Whether it held enough.
    is_cut: bool,
}

impl Rounds<'_, '_> {
    fn run(&self, mut take: impl FnMut(&Found, Record) -> Result<Flow>) -> Result<Damage> {
        let (mut at, mut records, mut damage) = (0, 0, Damage::default());
        let mut bytes = *self.part.end();
        'rounds: while at < self.log.len() {
            let parts = self.round(at, bytes);
            bytes += bytes / 8;
            for part in parts {
                let part = part?;
                for (found, record) in &part.found {
                    let record = Record { number: records + record.number, ..*record };
                    if take(found, record)? == Flow::Enough {
                        break 'rounds;
                    }
                }
                damage.add(part.damage.behind(records));
                records += part.records;
                let passed = part.until.saturating_sub(at);
                at = at.max(part.until);
                self.watch.reach(self.pass, at);
                if part.is_cut {
                    // What the others found behind it is found again, and the next parts are as
                    // long as this one could be.
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

    /// The parts from an offset on, one for each thread; this one takes the first.
    fn round(&self, at: u64, bytes: u64) -> Vec<Result<Part>> {
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

    /// The lines that begin between two offsets.
    fn part(&self, from: u64, to: u64) -> Result<Part> {
        let end = to.min(self.log.len());
        let mut part = Part { until: end, ..Part::default() };
        let Some(start) = self.log.line_start(from, end)? else { return Ok(part) };
        let mut walk = Walk::new(self.log, start, self.watch.stopper())?;
        // Where the record before ends, or, when it is damaged, begins: no line ends between there
        // and the end of its own.
        let mut behind = start;
        while walk.next()? {
            // What stands before a value belongs to its line.
            let line = |from: u64| self.log.line_start(from.max(behind + 1), walk.start() + 1);
            if walk.start() >= end && line(end)?.is_some() {
                break;
            }
            if part.found.len() >= self.held {
                part.until = line(0)?.map_or(walk.start(), |end| end + 1);
                part.is_cut = true;
                break;
            }
            part.records += 1;
            behind = self.record(&mut walk, &mut part)?;
        }
        part.until = if part.is_cut { part.until } else { part.until.max(behind) };
        part.damage = walk.end();
        Ok(part)
    }

    /// Looks at a record, and returns where it ends, or, when it is damaged, begins.
    fn record(&self, walk: &mut Walk<'_>, part: &mut Part) -> Result<u64> {
        let mut found = Found::default();
        let looked = walk.record(&mut |cursor| {
            self.fields.look(cursor, &mut found, &mut |found| (self.wanted)(found)).map(Some)
        });
        match looked {
            Ok((is_wanted, record)) => {
                match is_wanted {
                    Some(true) => part.found.push((found, record)),
                    Some(false) => {}
                    None => walk.note_stranger(record),
                }
                Ok(record.span.end)
            }
            Err(error) => walk.pass_over(&error).map(|()| walk.start()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    type Seen = (Vec<(u64, u64, u64, Option<String>)>, Damage);

    /// What is seen of a log, by one thread or by rounds of parts of so many bytes.
    fn seen(text: &[u8], divided: Option<(usize, u64, usize)>) -> Seen {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        fs::write(&path, text).unwrap();
        let log = Log::open(&path).unwrap().without_lines();
        let fields = Fields::of(&[("a", 9), ("b.c", 9)]);
        let (watch, mut rows) = (Watch::new(), Vec::new());
        let wanted = |found: &Found| found.text(0).is_none_or(|a| a != "no");
        let mut take = |found: &Found, record: Record| {
            let value = found.get(1).and_then(|value| value.json().map(str::to_owned));
            rows.push((record.number, record.span.start, record.span.end, value));
            Ok(Flow::On)
        };
        let damage = match divided {
            None => {
                let found = RefCell::new(Found::default());
                log.each(
                    &watch,
                    |cursor| {
                        fields.look(cursor, &mut found.borrow_mut(), &mut |found| wanted(found)).map(Some)
                    },
                    |is_wanted, record| if is_wanted { take(&found.borrow(), record) } else { Ok(Flow::On) },
                )
            }
            Some((threads, bytes, held)) => {
                let (pass, part, fields, log) = (watch.pass(log.len()), bytes / 2 + 1..=bytes, &fields, &log);
                Rounds { log, fields, wanted: &wanted, watch: &watch, pass, threads, part, held }.run(take)
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
        /// However a log is divided, the same records are seen in the same order, and the same
        /// damage.
        #[test]
        fn parts_give_what_the_whole_gives(
            lines in prop::collection::vec(line(), 0..40),
            ends in any::<bool>(),
            threads in 1_usize..5,
            bytes in 1_u64..200,
            held in 1_usize..9,
        ) {
            let mut text = lines.join("\n");
            if ends {
                text.push('\n');
            }
            prop_assert_eq!(seen(text.as_bytes(), Some((threads, bytes, held))), seen(text.as_bytes(), None));
        }
    }

    /// A log as it is in the wild, long enough to be divided.
    #[test]
    fn a_long_log_is_divided() {
        let mut text = String::new();
        for number in 0..60_000 {
            let filler = if number == 500 { "y".repeat(9 << 20) } else { "x".repeat(number % 100) };
            writeln!(text, "{{\"f\":\"{filler}\",\"b\":{{\"c\":{number}}}}}").unwrap();
        }
        let whole = seen(text.as_bytes(), None);
        assert_eq!(seen(text.as_bytes(), Some((2, *PART.end(), HELD / 2))), whole);
        assert_eq!(whole.0.len(), 60_000);
    }
}
