//! `trommel check`: strict validation.

use std::io;

use trommel::reader::{Place, Validation};
use trommel::{Answer, Damage, Error, Found, Measure, RepeatedName, Sink, Stats};

use crate::args::CheckArgs;
use crate::errors::Failure;
use crate::input::Options;
use crate::job::Job;
use crate::output::size::grouped;
use crate::output::{Notes, Out, Screen, escape, push_string};

pub(crate) fn run(args: &CheckArgs, screen: &Screen) -> Result<(), Failure> {
    let options = Options::of(&args.source, &args.engine, Validation::Strict, args.bad_records);
    let mut job = Job::open(options, screen)?;
    job.ask(|analysis| {
        let mut stats = Stats::new();
        (stats.per_path, stats.counts) = (false, false);
        analysis.ask(Measure::Stats(stats))
    });
    job.keep_small_pipe();
    let skip = args.bad_records.skip();
    let out = job.out()?;
    let json = args.json || skip && !screen.out.is_terminal;
    let file = escape::short(&job.name(), 200);
    let mut damages = Damages { file, json, out, notes: job.notes(), fails: false };
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
        damages.fails = args.duplicates_as_errors;
        damages.list_repeated(&job, repeated, capped)?;
    }
    damages.finish()
}

/// The damage report.
struct Damages {
    file: String,
    json: bool,
    out: Out,
    notes: Notes,
    /// True if repeated names are failures, and there are any.
    fails: bool,
}

/// Where something is in the input.
#[derive(Clone, Copy)]
struct Location {
    record: u64,
    offset: u64,
    /// Its line and column, where they are known.
    place: Option<Place>,
}

/// Repeated names that are listed.
const LISTED: usize = 10;

impl Damages {
    /// Lists the first repeated names with their places, and says how many there are.
    fn list_repeated(&mut self, job: &Job, repeated: u64, capped: bool) -> Result<(), Failure> {
        let listed = job.repeated_names(LISTED)?;
        for name in listed.iter().flatten() {
            self.repeated_name(name, job.is_stream() == Some(true))?;
        }
        let least = if capped { "at least " } else { "" };
        let members = if repeated == 1 { "member repeats a name" } else { "members repeat a name" };
        let rest = match &listed {
            None => "; to list them, read the input from a file".to_owned(),
            Some(listed) if listed.len() as u64 >= repeated => String::new(),
            Some(listed) => format!("; the first {} are listed", listed.len()),
        };
        self.notes.note(&format!("{least}{} {members} of their object{rest}", grouped(repeated)));
        Ok(())
    }

    fn repeated_name(&mut self, name: &RepeatedName, is_stream: bool) -> io::Result<()> {
        let RepeatedName { record, location, offset, place, .. } = name;
        let message = format!("{location} repeats a name of its object");
        if self.json && self.fails {
            let location = Location { record: *record, offset: *offset, place: *place };
            return self.write_json(location, "repeated_name", &message);
        }
        let place = place.map_or(String::new(), |Place { line, column, .. }| format!(":{line}:{column}"));
        let record = if is_stream || *record > 0 { format!(", record {record}") } else { String::new() };
        let message = escape::text(&message);
        self.notes.note(&format!("{}{place}: {message} (byte {offset}{record})", self.file));
        Ok(())
    }

    /// Writes one line of a report for programs.
    fn write_json(&mut self, location: Location, kind: &str, message: &str) -> io::Result<()> {
        let Location { record, offset, place } = location;
        let number = |number: Option<u64>| number.map_or("null".into(), |number| number.to_string());
        let mut line = format!(
            "{{\"record\":{record},\"line\":{},\"column\":{},\"offset\":{offset},\"kind\":\"{kind}\",\"message\":",
            number(place.map(|place| place.line)),
            number(place.map(|place| place.column)),
        )
        .into_bytes();
        push_string(message, &mut line);
        line.extend_from_slice(b"}\n");
        self.out.write(&line)
    }

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
        let location = Location { record, offset: error.offset(), place };
        self.write_json(location, error.kind().code(), &error.message())
    }

    /// Writes what is left, and says how many bad records there were. Bad records are a failure,
    /// and so are repeated names where that is wanted.
    fn finish(self) -> Result<(), Failure> {
        self.out.finish()?;
        match self.notes.bad_records() {
            0 if !self.fails => return Ok(()),
            0 => {}
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
