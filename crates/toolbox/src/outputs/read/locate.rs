//! Where the value is that a path leads to, and how large it is.

use trommel::path::{Order, Plan, PlanOptions, Query, Scratch, Selector, Step, Wants};
use trommel::reader::{Config, Cursor, Error, Result, Span, Validation};
use trommel_base::text::shown;
use trommel_tool::Failure;

use super::value::{Located, Reading, What};
use crate::outputs::item::kind_of;
use crate::outputs::source::Source;

/// Bytes at each end of a payload among which its value begins or ends.
const END: u64 = 4096;

impl Reading<'_> {
    /// Finds the value of the path.
    pub(super) fn locate(
        &self,
        source: &Source<'_>,
        read: &mut u64,
    ) -> std::result::Result<Located, Failure> {
        let key = format!("{} {}", source.stored.digest, self.query);
        if let Some(known) = self.places.get(&key) {
            return Ok(known);
        }
        let failed = |error: Error| self.asked.doing.read(&error, None);
        let root = self.query.segments().iter().len() == 0;
        let known = if root { root_of(source).map_err(failed)? } else { None };
        let located = match known {
            Some(located) => located,
            None => self.search(source, read)?,
        };
        let weight = key.len() + size_of::<Located>();
        self.places.put(key, located, weight);
        Ok(located)
    }

    fn search(&self, source: &Source<'_>, read: &mut u64) -> std::result::Result<Located, Failure> {
        let (record, query) = self.in_record(source)?;
        let found = find(source, &query, record, self.job.monitor(source.stored.size_bytes));
        let Found { spans, items, read: passed } =
            found.map_err(|error| self.asked.doing.read(&error, record))?;
        *read += passed;
        match *spans.as_slice() {
            [] => Err(self.nothing(source, &query, record)),
            [(span, first)] => {
                let what = What::from(kind_of(&[first]));
                let items = matches!(what, What::Array | What::Object).then_some(items);
                Ok(Located { what, start: span.start, end: span.end, items })
            }
            _ => Err(self.several(&format!(
                "it selects {} values, because a name is repeated in its object; tool_outputs.extract gives all of them",
                spans.len()
            ))),
        }
    }

    /// The record that is to be looked in, and the path within it. In a stream the path leads into
    /// the array of its records.
    fn in_record(&self, source: &Source<'_>) -> std::result::Result<(Option<u64>, Query), Failure> {
        if !self.query.is_singular() {
            return Err(self.several(
                "it can select several values; name one of them ($.items[0] instead of $.items[*]), or use tool_outputs.extract",
            ));
        }
        if !source.is_stream() {
            return Ok((None, self.query.clone()));
        }
        let mut selectors = self.query.segments().iter().flat_map(|segment| &segment.selectors);
        let records = source.stored.records.unwrap_or_default();
        let Some(Selector::Index(index)) = selectors.next() else {
            return Err(self.several(&format!(
                "the output is a stream of {records} records, which are read as one array: $ for all, $[0] for the first, \
                 $[0].name for a field of it; tool_outputs.extract gives a field of every record"
            )));
        };
        let record = match u64::try_from(*index) {
            Ok(index) => Some(index),
            Err(_) => records.checked_sub(index.unsigned_abs()),
        };
        let record = record.filter(|record| *record < records).ok_or_else(|| {
            self.several(&format!("there are {records} records, so that there is no number {index}"))
        })?;
        let rest = selectors.cloned().fold(Query::root(), Query::with_child);
        Ok((Some(record), rest))
    }

    fn several(&self, why: &str) -> Failure {
        self.asked.doing.refuse("path", format!("the path {}: {why}", shown(self.path, 200)))
    }

    fn nothing(&self, source: &Source<'_>, query: &Query, record: Option<u64>) -> Failure {
        let text = shown(self.path, 200);
        let nearest = self.shared.outline(source, self.job).nearest(query).filter(Query::is_singular);
        let exists = |nearest: &Query| {
            let found = find(source, nearest, record, self.job.quiet_monitor());
            found.is_ok_and(|found| !found.spans.is_empty())
        };
        let next = match (nearest.filter(exists).map(|nearest| nearest.shorthand()), record) {
            (Some(nearest), Some(record)) => {
                let nearest = nearest.trim_start_matches('$').to_owned();
                format!("the nearest path is `$[{record}]{}`", shown(&nearest, 200))
            }
            (Some(nearest), None) => format!("the nearest path is `{}`", shown(&nearest, 200)),
            (None, _) => "tool_outputs.stats lists the paths there are".to_owned(),
        };
        self.asked.doing.refuse("no_match", format!("nothing is at {text}; {next}"))
    }
}

/// The value of the whole payload, of which everything is known but where it begins and ends.
fn root_of(source: &Source<'_>) -> Result<Option<Located>> {
    let stored = &source.stored;
    let length = stored.size_bytes;
    if source.is_stream() {
        return Ok(Some(Located { what: What::Records, start: 0, end: length, items: stored.records }));
    }
    let mut values = source.values()?;
    let begin = values.bytes(Span::new(0, length.min(END)))?;
    let mark = if begin.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let is_text = |byte: &u8| !byte.is_ascii_whitespace();
    let Some(start) = begin.iter().skip(mark).position(is_text).map(|at| (at + mark) as u64) else {
        return Ok(None);
    };
    let what = What::from(kind_of(&begin[start as usize..]));
    let base = length.saturating_sub(END);
    let Some(last) = values.bytes(Span::new(base, length))?.iter().rposition(is_text) else {
        return Ok(None);
    };
    let items = match what {
        What::Array => stored.summary.items,
        What::Object => stored.summary.keys,
        _ => None,
    };
    let known = items.is_some() || !matches!(what, What::Array | What::Object);
    Ok(known.then_some(Located { what, start, end: base + last as u64 + 1, items }))
}

struct Found {
    /// The places of the values that the path selects, with their first bytes.
    spans: Vec<(Span, u8)>,
    /// Children of them.
    items: u64,
    /// Bytes passed.
    read: u64,
}

/// Finds what a query selects in a document or one of its records, and counts the children.
fn find(
    source: &Source<'_>,
    query: &Query,
    record: Option<u64>,
    monitor: trommel::reader::Monitor<'_>,
) -> Result<Found> {
    let options = PlanOptions::new().order(Order::Any).duplicates(source.duplicates());
    let plan = Plan::new(&[query.clone(), query.clone().with_wildcard()], options);
    let mut wants = Wants::default();
    wants.leave = vec![true, false];
    let config = Config::new().validation(Validation::Structural);
    let mut cursor: Cursor<'_> = source.cursor(&config, monitor)?;
    for _ in 0..record.unwrap_or(0) {
        cursor.next_record()?;
    }
    let mut scratch = Scratch::new();
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    let (mut spans, mut items) = (Vec::new(), 0);
    if matcher.next_record()? {
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
    Ok(Found { spans, items, read })
}
