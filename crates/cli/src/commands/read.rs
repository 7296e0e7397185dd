//! `trommel read`: a bounded page of one value in a file or a stored output.
//!
//! The tool `tool_outputs.read` reads stored outputs: the store has their digests and the positions
//! of their values. A file may change between two pages, and a pipe can be read only once. Each
//! page of those reads the whole input once, unless a guide knows where the page begins.

mod cursor;
mod page;
mod text;
mod value;

use std::io;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use trommel::path::{Query, Selector};
use trommel::reader::Framing;
use trommel::{Extract, Match, Measure, Sink};
use trommel_toolbox::outputs::{Content, PageTooSmall};

use crate::args::{BadRecords, DisplayForm as Form, ReadArgs, output_id};
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::{Job, LaterRecords};
use crate::output::{self, BadValue, InputSink, Notes, Refusal, Screen, Stream, escape, pretty};
use crate::progress::Progress;
use crate::signals;
use crate::toolbox::Toolbox;
use page::{NoPage, PageRequest, Value};
use text::TextRange;
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
    let mut request = serde_json::Map::new();
    request.insert("id".into(), id.into());
    request.insert("path".into(), args.path.as_str().into());
    request.insert("max_chars".into(), args.max_chars.into());
    let lines = args.lines;
    let optional = [
        ("cursor", args.cursor.as_deref().map(Into::into)),
        ("record", args.record.map(Into::into)),
        ("start_line", lines.map(|lines| lines.start.into())),
        ("end_line", lines.and_then(|lines| lines.end).map(Into::into)),
        ("tail", args.tail.map(Into::into)),
        ("offset", args.offset.map(Into::into)),
    ];
    let given = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
    request.extend(given.map(|(name, value): (_, serde_json::Value)| (name.to_owned(), value)));
    let request = request.into();
    toolbox.read(request, Form::json(args.json), &progress)
}

fn of_file(args: &ReadArgs, screen: &Screen) -> Result<String, Failure> {
    let options = Options::new(&args.source, &args.engine, args.engine.validation(), BadRecords::STOP);
    let options = options.of_file(args.file.clone());
    if let Some(page) = of_text(args, &options, screen)? {
        return Ok(page);
    }
    let path = args.record.map_or_else(|| args.path.clone(), |record| in_record(&args.path, record));
    of_value(args, &path, options, screen)
}

/// Returns a path within a record of a stream, which is read as an array.
fn in_record(path: &str, record: u32) -> String {
    let rest = path.strip_prefix('$');
    rest.map_or_else(|| path.to_owned(), |rest| format!("$[{record}]{rest}"))
}

/// Returns a page of a text, if the input is one or is to be read as one.
fn of_text(args: &ReadArgs, options: &Options, screen: &Screen) -> Result<Option<String>, Failure> {
    let is_query = args.path.trim() != "$" || args.record.is_some();
    if let Some(range) = TextRange::of(args) {
        if is_query {
            let message = "lines and offsets are read from the whole file; omit the query";
            return Err(Failure::Usage { command: "read", message: message.into() });
        }
        signals::install(Arc::new(Progress::new(screen)))?;
        let input = options.open_raw().map_err(|error| options.failure(error))?;
        return text::page(args, range, options, input).map(Some);
    }
    if is_query || options.declared_framing() != Framing::Auto {
        return Ok(None);
    }
    let cursor = args.cursor.as_deref();
    if cursor.is_some_and(|cursor| !cursor::is_text(cursor)) {
        return Ok(None);
    }
    let Some(input) = options.open_if_text().map_err(|error| options.failure(error))? else {
        return Ok(None);
    };
    let (input, fault) = input;
    if let Some(fault) = fault {
        let notes = Notes::new(&options.name(), Arc::new(Progress::hidden()));
        notes.note(&format!("not valid JSON ({}); read as text", escape::short(&fault.to_string(), 300)));
    }
    text::page(args, TextRange::Whole, options, input).map(Some)
}

/// Returns a page of a JSON value.
fn of_value(args: &ReadArgs, path: &str, options: Options, screen: &Screen) -> Result<String, Failure> {
    let query = QueryError::parse(path)?;
    if !query.is_singular() {
        let why = "can select several values; select one of them, or use `trommel extract`";
        return Err(usage(args, why));
    }
    let mut request =
        PageRequest { path, query: &query, max_chars: args.max_chars as usize, start: 0, tag: None };
    if let Some(cursor) = &args.cursor {
        let (start, tag) = cursor::read(cursor).ok_or_else(|| foreign_cursor(args))?;
        (request.start, request.tag) = (start, Some(tag));
    }
    let mut job = Job::open(vec![args.file.clone()], options, screen)?;
    let nth = nth_of(&query);
    let is_root = query.segments().iter().len() == 0;
    let first = if is_root { Some(request.start) } else { nth.as_ref().map(|(index, _)| *index) };
    let later = first.and_then(|first| job.begin_near(first));
    job.configure(|analysis| {
        // Whether `$[N]` means an element or a record is known only at the end, so both are
        // extracted.
        let rest = nth.iter().map(|(_, rest)| rest.clone());
        // The record after the one that is searched ends the run.
        let every = later.iter().map(|_| Query::root());
        let queries = std::iter::once(query.clone()).chain(rest).chain(every);
        queries.fold(analysis, |analysis, query| analysis.ask(Measure::Extract(Extract::new(query))))
    });
    let stream = job.is_stream();
    let reader = ValueReader { request, config: job.config(), index: job.index() };
    let mut search = Search {
        reader,
        nth: nth.map(|(index, _)| index),
        later,
        is_full: false,
        whole: Vec::new(),
        within: Vec::new(),
        records: Children::default(),
        bad: None,
    };
    let report = job.run(&mut search);
    let (records, bytes) = match (report, search.bad.take(), later) {
        (Err(_), Some(bad), _) => return Err(job.bad_value(bad)),
        (Err(failure), None, _) if !search.is_full => return Err(failure),
        (_, _, Some(LaterRecords { records, bytes, .. })) => (records, bytes),
        (Ok(report), _, None) => (report.coverage.records, report.coverage.bytes_read),
        (Err(failure), None, None) => return Err(failure),
    };
    let stream = stream.unwrap_or(records > 1);
    if args.record.is_some() && !stream {
        let message = "the input is one document, not a stream of records; omit --record";
        return Err(Failure::Usage { command: "read", message: message.into() });
    }
    let value = search.chosen(args, stream, (records, bytes))?;
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
    /// The records among which it searches, if these are not all.
    later: Option<LaterRecords>,
    /// True if no later record matters.
    is_full: bool,
    /// The values that the whole path selects in the first record.
    whole: Vec<Value>,
    /// The values that the rest of the path selects in record `nth`.
    within: Vec<Value>,
    /// The records that may fit on the page.
    records: Children,
    bad: Option<BadValue>,
}

impl Search<'_> {
    /// The number of the record of a value.
    fn record(&self, found: &Match<'_>) -> u64 {
        self.later.map_or(0, |later| later.before) + found.record
    }

    fn collect(&mut self, found: &Match<'_>) -> Result<(), trommel::reader::Error> {
        let depth = self.reader.request.query.segments().iter().len() as u32;
        let record = self.record(found);
        if found.measure == 0 && record == 0 {
            self.whole.push(self.reader.value(found.view(), depth)?);
        }
        // In a stream, the index at the start of the path is not one of an array.
        if found.measure == 1 && Some(record) == self.nth {
            self.within.push(self.reader.value(found.view(), depth - 1)?);
        }
        let may_fit = depth == 0 && self.reader.may_fit(&self.records, record);
        if may_fit && found.measure == 0 {
            self.records.push(self.reader.record(found.view(), record)?);
        }
        let is_after = self.nth.map_or(!may_fit && record > self.reader.request.start, |nth| record > nth);
        self.is_full = self.later.is_some() && is_after;
        Ok(())
    }

    /// Returns the selected value.
    fn chosen(self, args: &ReadArgs, stream: bool, whole: (u64, u64)) -> Result<Value, Failure> {
        let is_root = self.reader.request.query.segments().iter().len() == 0;
        let (records, bytes) = whole;
        let mut found = match (stream, is_root) {
            (false, _) => self.whole,
            (true, true) => {
                let content = Content::Elements(self.records.all);
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
            self.bad = Some(BadValue { refusal: Refusal::Malformed(error), record: self.record(found) });
            io::Error::other("a value is not valid JSON")
        })?;
        if self.is_full { Err(io::Error::other("the page is full")) } else { Ok(()) }
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
