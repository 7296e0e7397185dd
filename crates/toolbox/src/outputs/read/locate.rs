//! Locates the value at a path, and finds its size.

use trommel::path::{Order, Plan, PlanOptions, Query, Scratch, Selector, Step, Wants};
use trommel::reader::{Config, Cursor, Error, Result, Span, Validation};
use trommel_base::text::excerpt;
use trommel_tool::Failure;

use super::value::{Located, PageReader, ValueType};
use crate::outputs::damage::validate;
use crate::outputs::item::kind_of;
use crate::outputs::job::AnswerCoverage;
use crate::outputs::source::Source;

/// The number of bytes at each end of a payload that are searched for the start or end of its
/// value.
const EDGE_BYTES: u64 = 4096;

impl PageReader<'_> {
    /// Locates the value at the path, or returns its cached location.
    pub(super) fn locate(
        &self,
        source: &Source<'_>,
        coverage: &mut AnswerCoverage,
    ) -> std::result::Result<Located, Failure> {
        let key = format!("{} {}", source.stored.digest, self.query);
        if let Some(known) = self.locations.get(&key) {
            return Ok(known);
        }
        let failed = |error: Error| self.subject.action.read(&error, None);
        let root = self.query.segments().iter().len() == 0;
        let known = if root { root_value(source).map_err(failed)? } else { None };
        let located = match known {
            Some(located) => located,
            None => self.search(source, coverage)?,
        };
        let weight = key.len() + size_of::<Located>();
        self.locations.put(key, located, weight);
        Ok(located)
    }

    /// Searches the payload for the value at the path.
    fn search(
        &self,
        source: &Source<'_>,
        coverage: &mut AnswerCoverage,
    ) -> std::result::Result<Located, Failure> {
        let (record, query) = self.split_record(source)?;
        let found = find(source, &query, record, self.job.monitor(source.stored.size_bytes));
        let FoundValues { spans, items, read, is_guided } = found.map_err(|error| match record {
            Some(record) if source.stored.damaged_records > 0 && error.is_syntax() => {
                self.damaged_record(record, &error)
            }
            record => self.subject.action.read(&error, record),
        })?;
        coverage.read += read;
        coverage.guide |= is_guided;
        match *spans.as_slice() {
            [] => Err(self.no_match(source, &query, record)),
            [(span, first)] => {
                let value_type = ValueType::from(kind_of(&[first]));
                let items = matches!(value_type, ValueType::Array | ValueType::Object).then_some(items);
                Ok(Located { value_type, start: span.start, end: span.end, items })
            }
            _ => Err(self.invalid_path(&format!(
                "it selects {} values, because a name is repeated in its object; tool_outputs.extract gives all of them",
                spans.len()
            ))),
        }
    }

    /// Splits the path into the record to search and the path within it. In a stream, the path
    /// starts in the array of its records.
    fn split_record(&self, source: &Source<'_>) -> std::result::Result<(Option<u64>, Query), Failure> {
        if !self.query.is_singular() {
            return Err(self.invalid_path(
                "it can select several values; name one of them ($.items[0] instead of $.items[*]), or use tool_outputs.extract",
            ));
        }
        if !source.is_stream() {
            return Ok((None, self.query.clone()));
        }
        let mut selectors = self.query.segments().iter().flat_map(|segment| &segment.selectors);
        let records = source.stored.records.unwrap_or_default();
        let Some(Selector::Index(index)) = selectors.next() else {
            return Err(self.invalid_path(&format!(
                "the output is a stream of {records} records, which are read as one array: $ for all, $[0] for the first, \
                 $[0].name for a field of it; tool_outputs.extract gives a field of every record"
            )));
        };
        let record = match u64::try_from(*index) {
            Ok(index) => Some(index),
            Err(_) => records.checked_sub(index.unsigned_abs()),
        };
        let record = record.filter(|record| *record < records).ok_or_else(|| {
            self.invalid_path(&format!("index {index} is out of range: the stream has {records} records"))
        })?;
        let rest = selectors.cloned().fold(Query::root(), Query::with_child);
        Ok((Some(record), rest))
    }

    fn invalid_path(&self, why: &str) -> Failure {
        self.subject.action.refuse("path", format!("the path {}: {why}", excerpt(self.path, 200)))
    }

    fn damaged_record(&self, record: u64, error: &Error) -> Failure {
        let (at, why) = (error.offset(), error.message());
        let why = format!("record {record} is damaged at byte {at}: {why}; the other records can be read");
        self.subject.action.refuse("damaged_record", why).with("offset", at)
    }

    fn no_match(&self, source: &Source<'_>, query: &Query, record: Option<u64>) -> Failure {
        let text = excerpt(self.path, 200);
        let nearest = self.shared.outline(source, self.job).nearest(query).filter(Query::is_singular);
        let exists = |nearest: &Query| {
            let found = find(source, nearest, record, self.job.quiet_monitor());
            found.is_ok_and(|found| !found.spans.is_empty())
        };
        let next = match (nearest.filter(exists).map(|nearest| nearest.shorthand()), record) {
            (Some(nearest), Some(record)) => {
                let nearest = nearest.trim_start_matches('$').to_owned();
                format!("the nearest path is `$[{record}]{}`", excerpt(&nearest, 200))
            }
            (Some(nearest), None) => format!("the nearest path is `{}`", excerpt(&nearest, 200)),
            (None, _) => "tool_outputs.stats lists the paths there are".to_owned(),
        };
        self.subject.action.refuse("no_match", format!("nothing is at {text}; {next}"))
    }
}

/// Locates the value of the whole payload without parsing it. The store's metadata has its size;
/// only its start and end have to be found.
fn root_value(source: &Source<'_>) -> Result<Option<Located>> {
    let stored = &source.stored;
    let length = stored.size_bytes;
    if source.is_stream() {
        return Ok(Some(Located {
            value_type: ValueType::Records,
            start: 0,
            end: length,
            items: stored.records.map(|records| records.saturating_sub(stored.damaged_records)),
        }));
    }
    let mut values = source.values()?;
    let begin = values.bytes(Span::new(0, length.min(EDGE_BYTES)))?;
    let mark = if begin.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let is_text = |byte: &u8| !byte.is_ascii_whitespace();
    let Some(start) = begin.iter().skip(mark).position(is_text).map(|at| (at + mark) as u64) else {
        return Ok(None);
    };
    let value_type = ValueType::from(kind_of(&begin[start as usize..]));
    let base = length.saturating_sub(EDGE_BYTES);
    let Some(last) = values.bytes(Span::new(base, length))?.iter().rposition(is_text) else {
        return Ok(None);
    };
    let items = match value_type {
        ValueType::Array => stored.summary.items,
        ValueType::Object => stored.summary.keys,
        _ => None,
    };
    let known = items.is_some() || !matches!(value_type, ValueType::Array | ValueType::Object);
    Ok(known.then_some(Located { value_type, start, end: base + last as u64 + 1, items }))
}

struct FoundValues {
    /// The spans of the values that the path selects, with their first bytes.
    spans: Vec<(Span, u8)>,
    /// The number of their children.
    items: u64,
    /// The number of bytes read.
    read: u64,
    /// True if a guide could pass bytes, which count as read.
    is_guided: bool,
}

/// Runs a query over a document or over one of its records, and counts the children of the result.
fn find(
    source: &Source<'_>,
    query: &Query,
    record: Option<u64>,
    monitor: trommel::reader::Monitor<'_>,
) -> Result<FoundValues> {
    let options = PlanOptions::new().order(Order::Any).duplicates(source.duplicates());
    let plan = Plan::new(&[query.clone(), query.clone().with_wildcard()], options);
    let mut wants = Wants::default();
    wants.leave = vec![true, false];
    let config = Config::new().validation(Validation::Structural);
    let known = record.map_or(Ok(None), |record| source.before_record(record))?;
    let (mut cursor, passed): (Cursor<'_>, u64) = match &known {
        Some((rest, passed)) => {
            let cursor = Cursor::from_input(rest, source.framing(), &config);
            (cursor.guided_by(source.document.guide()).monitored(monitor), *passed)
        }
        None => (source.guided_cursor(&config, monitor)?, 0),
    };
    let is_guided = cursor.is_guided();
    for _ in passed..record.unwrap_or(0) {
        cursor.next_record()?;
    }
    let mut scratch = Scratch::new();
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    let (mut spans, mut items) = (Vec::new(), 0);
    if matcher.cursor_mut().next_record()? {
        if source.stored.damaged_records > 0 {
            validate(matcher.cursor_mut())?;
        }
        matcher.begin_record()?;
        while let Some(step) = matcher.advance()? {
            match step {
                Step::Enter { query, times } if query.index() == 1 => items += times,
                Step::Leave { query, span, .. } if query.index() == 0 => spans.push(span),
                Step::Enter { .. } | Step::Leave { .. } | Step::Event(_) | Step::Settled(_) => {}
            }
        }
    }
    let read = matcher.cursor().offset();
    let mut values = source.values()?;
    let mut first = |span: Span| {
        let byte = values.bytes(Span::new(span.start, span.start + 1))?[0];
        Ok((span, byte))
    };
    let spans = spans.into_iter().map(&mut first).collect::<Result<_>>()?;
    Ok(FoundValues { spans, items, read, is_guided })
}
