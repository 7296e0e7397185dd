//! `trommel read`: a bounded page of one value in a file or a stored output.
//!
//! The tool `tool_outputs.read` reads stored outputs: the store has their digests and the positions
//! of their values. A file may change between two pages, and a pipe can be read only once. Each
//! page of those takes one pass over the whole input.

mod cursor;
mod page;
mod value;

use std::io;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use trommel::path::{Query, Selector};
use trommel::{Extract, Match, Measure, Report, Sink};
use trommel_toolbox::outputs::{Content, PageTooSmall};

use crate::args::{BadRecords, DisplayForm as Form, ReadArgs, output_id};
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::Job;
use crate::output::{self, BadValue, InputSink, Notes, Refusal, Screen, Stream, escape, pretty};
use crate::progress::Progress;
use crate::signals;
use crate::toolbox::Toolbox;
use page::{NoPage, PageRequest, Value};
use value::{Children, ValueReader};

pub(crate) fn run(args: &ReadArgs, screen: &Screen) -> Result<(), Failure> {
    let answer = match args.file.to_str().and_then(output_id) {
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
    let mut request = json!({"id": id, "path": args.path, "max_chars": args.max_chars});
    if let (Some(cursor), Some(request)) = (&args.cursor, request.as_object_mut()) {
        request.insert("cursor".into(), cursor.as_str().into());
    }
    toolbox.read(request, Form::json(args.json), &progress)
}

fn of_file(args: &ReadArgs, screen: &Screen) -> Result<String, Failure> {
    let query = QueryError::parse(&args.path)?;
    if !query.is_singular() {
        let why = "can select several values; select one of them, or use `trommel extract`";
        return Err(usage(args, why));
    }
    let mut request = PageRequest {
        path: &args.path,
        query: &query,
        max_chars: args.max_chars as usize,
        start: 0,
        tag: None,
    };
    if let Some(cursor) = &args.cursor {
        let (start, tag) = cursor::read(cursor).ok_or_else(|| foreign_cursor(args))?;
        (request.start, request.tag) = (start, Some(tag));
    }
    let options = Options::new(&args.source, &args.engine, args.engine.validation(), BadRecords::STOP);
    let mut job = Job::open(vec![args.file.clone()], options, screen)?;
    let nth = nth_of(&query);
    job.configure(|analysis| {
        // Whether `$[N]` means an element or a record is known only at the end, so both are
        // extracted.
        let analysis = analysis.ask(Measure::Extract(Extract::new(query.clone())));
        match &nth {
            Some((_, rest)) => analysis.ask(Measure::Extract(Extract::new(rest.clone()))),
            None => analysis,
        }
    });
    let stream = job.is_stream();
    let reader = ValueReader { request, config: job.config() };
    let mut search = Search {
        reader,
        nth: nth.map(|(index, _)| index),
        whole: Vec::new(),
        within: Vec::new(),
        records: Children::default(),
        bad: None,
    };
    let report = job.run(&mut search);
    let report = match (report, search.bad.take()) {
        (Ok(report), _) => report,
        (Err(_), Some(bad)) => return Err(job.bad_value(bad)),
        (Err(failure), None) => return Err(failure),
    };
    let stream = stream.unwrap_or(report.coverage.records > 1);
    let value = search.chosen(args, stream, &report)?;
    request.page(value).map_err(|none| match none {
        NoPage::ForeignCursor => foreign_cursor(args),
        NoPage::PageTooSmall(PageTooSmall { needed, .. }) => {
            usage(args, &format!("needs a page of at least {needed} characters; pass --max-chars {needed}"))
        }
    })
}

/// Splits a path that begins with an index into the index and the rest. In a stream, which is read
/// as one array, the index is the number of a record and the rest a path within it.
fn nth_of(query: &Query) -> Option<(u64, Query)> {
    let mut selectors = query.segments().iter().flat_map(|segment| &segment.selectors);
    let Some(Selector::Index(index)) = selectors.next() else { return None };
    let rest = selectors.cloned().fold(Query::root(), Query::with_child);
    Some((u64::try_from(*index).ok()?, rest))
}

fn usage(args: &ReadArgs, why: &str) -> Failure {
    Failure::Usage { command: "read", message: format!("the path {} {why}", args.path) }
}

fn foreign_cursor(args: &ReadArgs) -> Failure {
    let message =
        format!("the cursor does not match {} in the current file; omit --cursor to start over", args.path);
    Failure::Usage { command: "read", message }
}

/// Collects the values that the path may mean. Whether the input is one value or a stream of
/// records is known only at its end.
struct Search<'a> {
    reader: ValueReader<'a>,
    /// The number of the record that the path selects in a stream.
    nth: Option<u64>,
    /// The values that the whole path selects in the first record.
    whole: Vec<Value>,
    /// The values that the rest of the path selects in record `nth`.
    within: Vec<Value>,
    /// The records that may fit on the page.
    records: Children,
    bad: Option<BadValue>,
}

impl Search<'_> {
    fn collect(&mut self, found: &Match<'_>) -> Result<(), trommel::reader::Error> {
        let is_root = self.reader.request.query.segments().iter().len() == 0;
        if found.measure == 0 && found.record == 0 {
            self.whole.push(self.reader.value(found.view())?);
        }
        if found.measure == 1 && Some(found.record) == self.nth {
            self.within.push(self.reader.value(found.view())?);
        }
        if is_root && self.reader.may_fit(&self.records, found.record) {
            self.records.push(self.reader.record(found.view(), found.record)?);
        }
        Ok(())
    }

    /// Returns the selected value.
    fn chosen(self, args: &ReadArgs, stream: bool, report: &Report) -> Result<Value, Failure> {
        let is_root = self.reader.request.query.segments().iter().len() == 0;
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
                    "selects within a stream of {records} records, which are read as one array: use $ for all, $[0] for the first, \
                     $[0].name for a member of it"
                );
                return Err(usage(args, &why));
            }
        };
        match (found.pop(), found.len()) {
            (Some(value), 0) => Ok(value),
            (None, _) => Err(usage(args, "selects nothing; `trommel stats` lists the paths")),
            (Some(_), others) => {
                let why = format!(
                    "selects {} values, because a name is repeated; use `trommel extract`",
                    others + 1
                );
                Err(usage(args, &why))
            }
        }
    }
}

impl InputSink for Search<'_> {
    /// A page is of one input.
    fn begin_input(&mut self, _: &str) {}
}

impl Sink for Search<'_> {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        self.collect(found).map_err(|error| {
            self.bad = Some(BadValue { refusal: Refusal::Malformed(error), record: found.record });
            io::Error::other("a value is not valid JSON")
        })
    }
}

/// The members of the answer that are shown on a terminal.
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

/// Prints a page. On a terminal, prints its content and a note about the next page.
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
