//! A log tailer: prints a query's values in each line of a log as the lines arrive, and reports
//! malformed lines.
//!
//! ```sh
//! tail -f app.jsonl | cargo run --example tail_log '$[?@.level == "error"].message'
//! ```
#![expect(clippy::print_stderr, reason = "a program for a terminal")]

use std::io::{self, Write};

use trommel::reader::Framing;
use trommel::{Analysis, Damage, Document, Match, OnBadRecord, Sink};

/// Writes values as they are found, and flushes each, so that the reader of a log sees it at once.
struct Tail(io::Stdout);

impl Sink for Tail {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        write!(self.0, "{}: ", found.record)?;
        self.0.write_all(found.value)?;
        writeln!(self.0)?;
        self.0.flush()
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        eprintln!("line {} skipped: {}", damage.record + 1, damage.error);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let query = std::env::args().nth(1).unwrap_or_else(|| "$.message".to_owned());
    let mut log = Document::from_reader(io::stdin()).framing(Framing::Lines);
    let analysis =
        Analysis::new().extract(query.parse()?).on_bad_record(OnBadRecord::Skip { at_most: u64::MAX });
    let report = analysis.run_with(&mut log, &mut Tail(io::stdout()))?;
    eprintln!("{} lines, {} bad", report.coverage.records, report.coverage.bad_records);
    Ok(())
}
