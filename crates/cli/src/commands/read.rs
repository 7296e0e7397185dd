//! `trommel read`: a bounded page of one value, of a file or of a stored output.
//!
//! A stored output is read by the tool `tool_outputs.read`, which knows its digest and where its
//! values stand. A file can have changed since the page before, and a pipe is read once: each page
//! of them is made in one pass over the whole.

mod cursor;
mod page;
mod value;

use std::io;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use trommel::path::{Query, Selector};
use trommel::{Extract, Found, Measure, Report, Sink};
use trommel_toolbox::outputs::{Content, TooSmall};

use crate::args::{BadRecords, DisplayForm as Form, ReadArgs};
use crate::errors::{BadQuery, Failure};
use crate::input::Options;
use crate::job::Job;
use crate::output::{self, Notes, Refused, Screen, Stream, escape, pretty};
use crate::progress::Progress;
use crate::signals;
use crate::toolbox::Toolbox;
use page::{Asked, NoPage, Value};
use value::{Children, Look};

pub(crate) fn run(args: &ReadArgs, screen: &Screen) -> Result<(), Failure> {
    let answer = match args.source.output() {
        Some(id) => of_output(id, args, screen)?.get().to_owned(),
        None => of_file(args, screen)?,
    };
    print(args, &answer, screen.out)
}

fn of_output(id: &str, args: &ReadArgs, screen: &Screen) -> Result<Box<RawValue>, Failure> {
    let progress = Arc::new(Progress::new(screen));
    signals::install(Arc::clone(&progress))?;
    let toolbox = Toolbox::open(screen)?;
    let id = toolbox.store.resolve(id)?;
    let mut asked = json!({"id": id, "path": args.path, "max_chars": args.max_chars});
    if let (Some(cursor), Some(asked)) = (&args.cursor, asked.as_object_mut()) {
        asked.insert("cursor".into(), cursor.as_str().into());
    }
    toolbox.read(asked, Form::json(args.json), &progress)
}

fn of_file(args: &ReadArgs, screen: &Screen) -> Result<String, Failure> {
    let query = BadQuery::parse(&args.path)?;
    if !query.is_singular() {
        let why = "can select several values; name one of them, or use `trommel extract`";
        return Err(usage(args, why));
    }
    let mut asked =
        Asked { path: &args.path, query: &query, most: args.max_chars as usize, start: 0, tag: None };
    if let Some(cursor) = &args.cursor {
        let (start, tag) = cursor::read(cursor).ok_or_else(|| foreign(args))?;
        (asked.start, asked.tag) = (start, Some(tag));
    }
    let options = Options::of(&args.source, &args.engine, args.engine.validation(), BadRecords::STOP);
    let mut job = Job::open(options, screen)?;
    let nth = nth_of(&query);
    job.ask(|analysis| {
        let analysis = analysis.ask(Measure::Extract(Extract::new(query.clone())));
        match &nth {
            Some((_, rest)) => analysis.ask(Measure::Extract(Extract::new(rest.clone()))),
            None => analysis,
        }
    });
    let stream = job.is_stream();
    let look = Look { asked, config: job.config() };
    let mut search = Search {
        look,
        nth: nth.map(|(index, _)| index),
        whole: Vec::new(),
        within: Vec::new(),
        records: Children::default(),
        refused: None,
    };
    let report = job.run(&mut search);
    let report = match (report, search.refused.take()) {
        (Ok(report), _) => report,
        (Err(_), Some(refused)) => return Err(job.refused(refused)),
        (Err(failure), None) => return Err(failure),
    };
    let stream = stream.unwrap_or(report.coverage.records > 1);
    let value = search.chosen(args, stream, &report)?;
    asked.page(value).map_err(|none| match none {
        NoPage::Foreign => foreign(args),
        NoPage::TooSmall(TooSmall { needed, .. }) => {
            usage(args, &format!("needs a page of {needed} characters at least; pass --max-chars {needed}"))
        }
    })
}

/// In a stream of records, which are read as one array, the number of the record, and the path
/// within it.
fn nth_of(query: &Query) -> Option<(u64, Query)> {
    let mut selectors = query.segments().iter().flat_map(|segment| &segment.selectors);
    let Some(Selector::Index(index)) = selectors.next() else { return None };
    let rest = selectors.cloned().fold(Query::root(), Query::with_child);
    Some((u64::try_from(*index).ok()?, rest))
}

fn usage(args: &ReadArgs, why: &str) -> Failure {
    Failure::Usage { command: "read", message: format!("the path {} {why}", args.path) }
}

fn foreign(args: &ReadArgs) -> Failure {
    let message = format!(
        "the cursor does not belong to {} in this file as it is now; leave it out to begin anew",
        args.path
    );
    Failure::Usage { command: "read", message }
}

/// What the path leads to, be the input one value or a stream of records, which is known in the
/// end.
struct Search<'a> {
    look: Look<'a>,
    /// The record that is meant in a stream.
    nth: Option<u64>,
    /// What the path selects in the first record.
    whole: Vec<Value>,
    /// What the path within it selects in the record that is meant.
    within: Vec<Value>,
    /// The records themselves, as far as they may stand on the page.
    records: Children,
    refused: Option<Refused>,
}

impl Search<'_> {
    fn look(&mut self, found: &Found<'_>) -> Result<(), trommel::reader::Error> {
        let is_root = self.look.asked.query.segments().iter().len() == 0;
        if found.measure == 0 && found.record == 0 {
            self.whole.push(self.look.value(found.view())?);
        }
        if found.measure == 1 && Some(found.record) == self.nth {
            self.within.push(self.look.value(found.view())?);
        }
        if is_root && self.look.may_fit(&self.records, found.record) {
            self.records.push(self.look.record(found.view(), found.record)?);
        }
        Ok(())
    }

    /// The value that is meant.
    fn chosen(self, args: &ReadArgs, stream: bool, report: &Report) -> Result<Value, Failure> {
        let is_root = self.look.asked.query.segments().iter().len() == 0;
        let records = report.coverage.records;
        let mut found = match (stream, is_root) {
            (false, _) => self.whole,
            (true, true) => {
                let content = Content::Elements(self.records.all);
                let bytes = report.coverage.bytes_read;
                return Ok(Value { kind: "records", bytes, items: Some(records), content });
            }
            (true, false) if self.nth.is_some() => self.within,
            (true, false) => {
                let why = format!(
                    "leads into a stream of {records} records, which are read as one array: $ for all, $[0] for the first, \
                     $[0].name for a field of it"
                );
                return Err(usage(args, &why));
            }
        };
        match (found.pop(), found.len()) {
            (Some(value), 0) => Ok(value),
            (None, _) => Err(usage(args, "selects nothing; `trommel stats` shows the paths that there are")),
            (Some(_), others) => {
                let why =
                    format!("selects {} values, for a name is repeated; use `trommel extract`", others + 1);
                Err(usage(args, &why))
            }
        }
    }
}

impl Sink for Search<'_> {
    fn found(&mut self, found: &Found<'_>) -> io::Result<()> {
        self.look(found).map_err(|error| {
            self.refused = Some(Refused { error, record: found.record });
            io::Error::other("a value is no JSON")
        })
    }
}

/// The answer, as much of it as people are shown.
#[derive(Deserialize)]
struct Answer<'a> {
    kind: String,
    #[serde(borrow)]
    content: &'a RawValue,
    truncated: Option<Truncated>,
}

#[derive(Deserialize)]
struct Truncated {
    next: Option<String>,
}

/// Prints a page: its content on a terminal, and beside it how to go on.
fn print(args: &ReadArgs, answer: &str, out: Stream) -> Result<(), Failure> {
    if args.json || !out.is_terminal {
        return Ok(output::print_json(answer, true, out)?);
    }
    let page: Answer<'_> = serde_json::from_str(answer).map_err(io::Error::other)?;
    let content = page.content.get();
    let content = match serde_json::from_str::<String>(content) {
        Ok(text) if page.kind == "text" => escape::lines(&text),
        _ => pretty::json(&output::for_reader(content.to_owned(), true), out.is_colored),
    };
    output::print(&format!("{}\n", content.trim_end_matches('\n')))?;
    if let Some(next) = page.truncated.and_then(|truncated| truncated.next) {
        let notes = Notes::new("", Arc::new(Progress::hidden()));
        notes.note(&format!("next page: --cursor {}", escape::text(&next)));
    }
    Ok(())
}
