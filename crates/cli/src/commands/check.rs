//! `trommel check`: strict validation.

use std::io;

use trommel::reader::{Place, Validation};
use trommel::{Answer, Damage, Error, Found, Measure, Sink, Stats};

use crate::args::CheckArgs;
use crate::errors::Failure;
use crate::job::{self, Job};
use crate::output::size::grouped;
use crate::output::{self, Notes, Out, escape, push_string};

pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let mut job = Job::open(&args.source, &args.engine, Validation::Strict, args.bad_records)?;
    job.ask(|analysis| {
        let mut stats = Stats::new();
        (stats.per_path, stats.counts) = (false, false);
        analysis.ask(Measure::Stats(stats))
    });
    let skip = args.bad_records.skip();
    let out = job.out()?;
    let json = args.json || skip && !output::is_terminal();
    let mut damages =
        Damages { file: escape::short(&job::name(&args.source), 200), json, out, notes: job.notes() };
    let report = match job.run(&mut damages) {
        Ok(report) => report,
        // The error that ends a damage report is part of it.
        Err(Failure::Work(bad)) if (skip || args.json) && bad.is_about_input() => {
            if let Error::Read { error, record } = bad.error {
                damages.report(record.unwrap_or(0), &error)?;
            }
            return damages.finish();
        }
        Err(failure) => {
            damages.finish().or_else(|nothing| match nothing {
                Failure::Said => Ok(()),
                output => Err(output),
            })?;
            return Err(failure);
        }
    };
    let repeated = report.answers.iter().find_map(|answer| match answer {
        Answer::Stats(stats) => {
            Some((stats.summary.structure.duplicate_names, stats.summary.capped.duplicate_names))
        }
        _ => None,
    });
    if let Some((repeated @ 1.., capped)) = repeated {
        let least = if capped { "at least " } else { "" };
        let members = if repeated == 1 { "member repeats a name" } else { "members repeat a name" };
        damages.notes.note(&format!("{least}{} {members} of their object", grouped(repeated)));
    }
    damages.finish()
}

/// The damage report.
struct Damages {
    file: String,
    json: bool,
    out: Out,
    notes: Notes,
}

impl Damages {
    /// Reports one bad record.
    fn report(&mut self, record: u64, error: &trommel::reader::Error) -> io::Result<()> {
        self.notes.count_bad_record();
        let place = error.place();
        if !self.json {
            let place = place.map_or(String::new(), |Place { line, column, .. }| format!(":{line}:{column}"));
            let message = error.message();
            let message = escape::text(&message);
            let line = format!("{}{place}: record {record}, byte {}: {message}\n", self.file, error.offset());
            return self.out.write(line.as_bytes());
        }
        let number = |number: Option<u64>| number.map_or("null".into(), |number| number.to_string());
        let mut line = format!(
            "{{\"record\":{record},\"line\":{},\"column\":{},\"offset\":{},\"kind\":\"{}\",\"message\":",
            number(place.map(|place| place.line)),
            number(place.map(|place| place.column)),
            error.offset(),
            error.kind().code()
        )
        .into_bytes();
        push_string(&error.message(), &mut line);
        line.extend_from_slice(b"}\n");
        self.out.write(&line)
    }

    /// Writes what is left, and says how many there were. That there were any is a failure.
    fn finish(self) -> Result<(), Failure> {
        self.out.finish()?;
        match self.notes.bad_records() {
            0 => return Ok(()),
            1 => self.notes.note("1 bad record"),
            many => self.notes.note(&format!("{} bad records", grouped(many))),
        }
        Err(Failure::Said)
    }
}

impl Sink for Damages {
    fn found(&mut self, _: &Found<'_>) -> io::Result<()> {
        Ok(())
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.report(damage.record, &damage.error)
    }
}
