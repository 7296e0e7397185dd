//! `trommel check`: strict validation.

use std::io;

use trommel::reader::{LineColumn, Validation};
use trommel::{Answer, Damage, Error, Match, Measure, RepeatedName, Sink, Stats};

use crate::args::CheckArgs;
use crate::arguments::Inputs;
use crate::errors::Failure;
use crate::input::Options;
use crate::job::Job;
use crate::output::size::grouped;
use crate::output::{InputSink, Notes, Out, Screen, escape, json_string, push_string};

/// Checks every input. Of several, reports the failures of each and continues.
pub(crate) fn run(args: &CheckArgs, screen: &Screen) -> Result<(), Failure> {
    let files = Inputs::files(&args.files.arguments, "check")?;
    let options = Options::new(&args.source, &args.engine, Validation::Strict, args.bad_records);
    let mut job = Job::open(files, options, screen)?;
    job.configure(|analysis| {
        let mut stats = Stats::new();
        (stats.per_path, stats.counts) = (false, false);
        analysis.ask(Measure::Stats(stats))
    });
    // A damage report in a pipe is for programs.
    let json = args.json || args.bad_records.skip() && !screen.out.is_terminal;
    let out = if json { job.json_out()? } else { job.out()? };
    let checked = loop {
        let damage = DamageReport::new(&job, json, out.clone());
        match check(args, &mut job, damage) {
            Ok(()) => {}
            Err(Failure::Output(error)) => break Err(Failure::Output(error)),
            Err(failure) if !job.has_several_inputs() => break Err(failure),
            Err(failure) => job.report_failure(&failure),
        }
        if !job.open_next() {
            break Ok(());
        }
    };
    job.clear_progress();
    checked.and_then(|()| job.end(true, false))
}

/// Checks the current input.
fn check(args: &CheckArgs, job: &mut Job, mut damage: DamageReport) -> Result<(), Failure> {
    job.keep_small_pipe();
    let report = match job.run_one(&mut damage) {
        Ok(report) => report,
        // The error that ends a damage report is part of it.
        Err(Failure::Work(bad)) if (args.bad_records.skip() || args.json) && bad.is_about_input() => {
            if let Error::Read { error, record } = bad.error {
                damage.report(record.unwrap_or(0), &error)?;
            }
            return damage.finish();
        }
        Err(failure) => {
            damage.finish().or_else(|nothing| match nothing {
                Failure::AlreadyReported => Ok(()),
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
        damage.fails = args.duplicates_as_errors;
        damage.list_repeated(job, repeated, capped)?;
    }
    damage.finish()
}

/// The damage report, which is printed while the input is read.
struct DamageReport {
    file: String,
    /// The first member of a line of JSON, if there are several inputs: the name of this one.
    file_member: String,
    /// The start of a summary, if there are several inputs: the name of this one.
    summary_start: String,
    json: bool,
    out: Out,
    notes: Notes,
    /// True if repeated names exist and count as failures.
    fails: bool,
}

/// A position in the input.
#[derive(Clone, Copy)]
struct Location {
    record: u64,
    offset: u64,
    /// The line and column, if they are known.
    position: Option<LineColumn>,
}

/// The maximum number of repeated names to list.
const MAX_LISTED: usize = 10;

impl DamageReport {
    /// Starts the report about the current input.
    fn new(job: &Job, json: bool, out: Out) -> Self {
        let file = escape::short(&job.name(), 200);
        let (file_member, summary_start) = if job.has_several_inputs() {
            (format!("\"file\":{},", json_string(&job.name())), format!("{file}: "))
        } else {
            (String::new(), String::new())
        };
        Self { file, file_member, summary_start, json, out, notes: job.notes(), fails: false }
    }

    /// Lists the first repeated names with their positions, and reports the total.
    fn list_repeated(&mut self, job: &Job, repeated: u64, capped: bool) -> Result<(), Failure> {
        let listed = job.repeated_names(MAX_LISTED)?;
        for name in listed.iter().flatten() {
            self.repeated_name(name, job.is_input_stream() == Some(true))?;
        }
        let least = if capped { "at least " } else { "" };
        let names = if repeated == 1 { "repeated name" } else { "repeated names" };
        let rest = match &listed {
            None => "; to list them, read the input from a file".to_owned(),
            Some(listed) if listed.len() as u64 >= repeated => String::new(),
            Some(listed) => format!("; the first {} are listed", listed.len()),
        };
        let start = &self.summary_start;
        self.notes.note(&format!("{start}{least}{} {names}{rest}", grouped(repeated)));
        Ok(())
    }

    fn repeated_name(&mut self, name: &RepeatedName, is_stream: bool) -> io::Result<()> {
        let RepeatedName { record, location, offset, line_column: position, .. } = name;
        let message = format!("{location} repeats a name in its object");
        if self.json && self.fails {
            let location = Location { record: *record, offset: *offset, position: *position };
            return self.write_json(location, "repeated_name", &message);
        }
        let position =
            position.map_or(String::new(), |LineColumn { line, column, .. }| format!(":{line}:{column}"));
        let record = if is_stream || *record > 0 { format!(", record {record}") } else { String::new() };
        let message = escape::text(&message);
        self.notes.note(&format!("{}{position}: {message} (byte {offset}{record})", self.file));
        Ok(())
    }

    /// Writes one line of a JSON report.
    fn write_json(&mut self, location: Location, kind: &str, message: &str) -> io::Result<()> {
        let Location { record, offset, position } = location;
        let number = |number: Option<u64>| number.map_or("null".into(), |number| number.to_string());
        let mut line = format!(
            "{{{}\"record\":{record},\"line\":{},\"column\":{},\"offset\":{offset},\"kind\":\"{kind}\",\"message\":",
            self.file_member,
            number(position.map(|position| position.line)),
            number(position.map(|position| position.column)),
        )
        .into_bytes();
        push_string(message, &mut line);
        line.extend_from_slice(b"}\n");
        self.out.write(&line)
    }

    /// Reports one malformed record.
    fn report(&mut self, record: u64, error: &trommel::reader::Error) -> io::Result<()> {
        self.notes.count_bad_record();
        let position = error.line_column();
        if !self.json {
            let position =
                position.map_or(String::new(), |LineColumn { line, column, .. }| format!(":{line}:{column}"));
            let message = error.message();
            let message = escape::text(&message);
            let line =
                format!("{}{position}: record {record}, byte {}: {message}\n", self.file, error.offset());
            return self.out.write(line.as_bytes());
        }
        let location = Location { record, offset: error.offset(), position };
        self.write_json(location, error.kind().code(), &error.message())
    }

    /// Flushes the output and reports the number of malformed records. Fails if there are any, or
    /// if repeated names count as failures.
    fn finish(self) -> Result<(), Failure> {
        self.out.finish()?;
        let start = &self.summary_start;
        match self.notes.bad_records() {
            0 if !self.fails => return Ok(()),
            0 => {}
            1 => self.notes.note(&format!("{start}1 malformed record")),
            many => self.notes.note(&format!("{start}{} malformed records", grouped(many))),
        }
        Err(Failure::AlreadyReported)
    }
}

impl InputSink for DamageReport {
    /// Each input has a report of its own.
    fn begin_input(&mut self, _: &str) {}
}

impl Sink for DamageReport {
    fn found(&mut self, _: &Match<'_>) -> io::Result<()> {
        Ok(())
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.report(damage.record, &damage.error)
    }
}
