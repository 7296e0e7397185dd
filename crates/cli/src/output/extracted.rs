//! `{"extracted": …, "missing_paths": […]}`: the answer of `extract --json`, written while it is found.

use std::io;

use trommel::{Damage, Found, Sink};

use super::lines::{Refused, push_path};
use super::{Budget, Kept, Notes, Out, Target, Values};

/// What the document is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `{QUERY: values, …}`
    ByQuery,
    /// `[{"path": QUERY, "value": values}, …]`
    Listed,
    /// `[value, …]`
    Flat,
    /// `[{"path": QUERY, "location": …, "value": …}, …]`
    FlatLocated,
}

impl Shape {
    fn is_flat(self) -> bool {
        matches!(self, Self::Flat | Self::FlatLocated)
    }
}

/// What is asked of the document.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) shape: Shape,
    /// The texts of the queries, and whether each can select one node only.
    pub(crate) queries: Vec<(&'a str, bool)>,
    /// Whether all queries share one order.
    pub(crate) together: bool,
    /// What a query without a match gives.
    pub(crate) default: Option<&'a str>,
    pub(crate) spool_limit: u64,
}

/// Writes the document: the values of the first query as they are found, those of the others when the first's are out.
#[derive(Debug)]
pub(crate) struct Extracted<'a> {
    out: Out,
    values: Values,
    escape: bool,
    wanted: Wanted<'a>,
    parts: Vec<Part>,
    /// Whether the beginning of the document is written.
    begun: bool,
    notes: Notes,
    refused: Option<Refused>,
}

/// The values of one query, separated by commas.
#[derive(Debug)]
struct Part {
    count: u64,
    /// Where they wait; nothing if they go out at once.
    kept: Option<Kept>,
}

impl<'a> Extracted<'a> {
    pub(crate) fn new(wanted: Wanted<'a>, values: Values, out: Out, notes: Notes) -> Self {
        let escape = values.is_escaped();
        let budget = Budget::new(wanted.spool_limit, wanted.queries.len());
        // A query that can select one node only gives a bare value, or an array if there turn out to be several.
        let parts = wanted.queries.iter().enumerate().map(|(number, (_, singular))| {
            let is_direct = if wanted.shape.is_flat() {
                number == 0 || wanted.together
            } else {
                number == 0 && !singular
            };
            Part { count: 0, kept: (!is_direct).then(|| Kept::new(&budget)) }
        });
        let parts = parts.collect();
        Self { out, values, escape, wanted, parts, begun: false, notes, refused: None }
    }

    /// The value that ended the run, if one did.
    pub(crate) fn refused(&mut self) -> Option<Refused> {
        self.refused.take()
    }

    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Begins the document, if that was not done: with the first value, so that nothing is written when all fails.
    fn begin(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        self.out.write(match self.wanted.shape {
            Shape::ByQuery => b"{\"extracted\":{",
            Shape::Listed | Shape::Flat | Shape::FlatLocated => b"{\"extracted\":[",
        })
    }

    /// Ends the document. `stream` tells whether the input is a stream of records.
    pub(crate) fn finish(mut self, stream: bool) -> io::Result<()> {
        self.begin()?;
        let parts = std::mem::take(&mut self.parts);
        let missing: Vec<&str> = std::iter::zip(&self.wanted.queries, &parts)
            .filter_map(|((query, _), part)| (part.count == 0).then_some(*query))
            .collect();
        if self.wanted.shape.is_flat() {
            self.finish_flat(parts)?;
        } else {
            self.finish_by_query(parts, stream)?;
        }
        let mut end = Vec::new();
        end.push(if self.wanted.shape == Shape::ByQuery { b'}' } else { b']' });
        if !missing.is_empty() {
            end.extend_from_slice(b",\"missing_paths\":");
            let _ = serde_json::to_writer(&mut end, &missing);
        }
        end.extend_from_slice(b"}\n");
        self.out.write(&end)?;
        self.out.finish()
    }

    fn finish_by_query(&self, parts: Vec<Part>, stream: bool) -> io::Result<()> {
        for (number, part) in parts.into_iter().enumerate() {
            let Some((query, singular)) = self.wanted.queries.get(number) else { continue };
            let again = self.wanted.queries.iter().take(number).any(|(earlier, _)| earlier == query);
            if again && self.wanted.shape == Shape::ByQuery {
                // A name stands once in an object, and the values are the same.
                continue;
            }
            let Part { count, kept } = part;
            let bare = *singular && count == 1 && !stream;
            if kept.is_some() || count == 0 {
                self.begin_query(number)?;
            }
            match (count, kept) {
                (0, _) => self.out.write(self.wanted.default.unwrap_or("null").as_bytes())?,
                (_, None) => self.out.write(b"]")?,
                (_, Some(kept)) => {
                    self.out.write(if bare { b"" } else { b"[" })?;
                    kept.read(0, |_| Ok(()), |piece| self.out.write(piece))?;
                    self.out.write(if bare { b"" } else { b"]" })?;
                }
            }
            self.out.write(if self.wanted.shape == Shape::Listed { b"}" } else { b"" })?;
        }
        Ok(())
    }

    fn finish_flat(&self, parts: Vec<Part>) -> io::Result<()> {
        let mut written = 0;
        for (number, Part { count, kept }) in parts.into_iter().enumerate() {
            let default = if count == 0 { self.wanted.default } else { None };
            if let Some(default) = default {
                let mut item = Vec::new();
                self.push_item_start(number, None, &mut item);
                item.extend_from_slice(default.as_bytes());
                self.push_item_end(&mut item);
                self.separate(written > 0)?;
                self.out.write(&item)?;
            } else if let (Some(kept), 1..) = (kept, count) {
                self.separate(written > 0)?;
                kept.read(0, |_| Ok(()), |piece| self.out.write(piece))?;
            }
            written += count + u64::from(default.is_some());
        }
        Ok(())
    }

    fn separate(&self, needed: bool) -> io::Result<()> {
        self.out.write(if needed { b"," } else { b"" })
    }

    /// What stands before the values of a query.
    fn begin_query(&self, number: usize) -> io::Result<()> {
        let Some((query, _)) = self.wanted.queries.get(number) else { return Ok(()) };
        let mut start = Vec::new();
        if number > 0 {
            start.push(b',');
        }
        if self.wanted.shape == Shape::Listed {
            start.extend_from_slice(b"{\"path\":");
            push_path(query, self.escape, &mut start);
            start.extend_from_slice(b",\"value\":");
        } else {
            push_path(query, self.escape, &mut start);
            start.push(b':');
        }
        self.out.write(&start)
    }

    fn push_item_start(&self, number: usize, location: Option<&str>, out: &mut Vec<u8>) {
        if self.wanted.shape != Shape::FlatLocated {
            return;
        }
        out.extend_from_slice(b"{\"path\":");
        let query = self.wanted.queries.get(number).map_or("", |(query, _)| query);
        push_path(query, self.escape, out);
        if let Some(location) = location {
            out.extend_from_slice(b",\"location\":");
            push_path(location, self.escape, out);
        }
        out.extend_from_slice(b",\"value\":");
    }

    fn push_item_end(&self, out: &mut Vec<u8>) {
        if self.wanted.shape == Shape::FlatLocated {
            out.push(b'}');
        }
    }

    fn item(&mut self, found: &Found<'_>) -> io::Result<()> {
        let checked = match self.values.check(found.view()) {
            Ok(checked) => checked,
            Err(error) => {
                self.refused = Some(Refused { error, record: found.record });
                return Err(io::Error::other("a value is no JSON"));
            }
        };
        let first = if self.wanted.shape.is_flat() && self.wanted.together {
            self.parts.iter().all(|part| part.count == 0)
        } else {
            self.parts.get(found.measure).is_some_and(|part| part.count == 0)
        };
        let mut start = Vec::new();
        self.push_item_start(found.measure, found.location, &mut start);
        let direct = self.parts.get(found.measure).is_some_and(|part| part.kept.is_none());
        if direct && first {
            self.begin()?;
        }
        if direct && first && !self.wanted.shape.is_flat() {
            self.begin_query(found.measure)?;
            start.push(b'[');
        }
        let mut end = Vec::new();
        self.push_item_end(&mut end);
        let Some(part) = self.parts.get_mut(found.measure) else { return Ok(()) };
        part.count += 1;
        let mut page;
        let to: &mut dyn Target = if let Some(kept) = &mut part.kept {
            kept
        } else {
            page = self.out.page();
            &mut page
        };
        if !first {
            to.bytes().push(b',');
        }
        to.bytes().extend_from_slice(&start);
        self.values.put(&checked, to)?;
        to.bytes().extend_from_slice(&end);
        to.settle()
    }
}

impl Sink for Extracted<'_> {
    fn found(&mut self, found: &Found<'_>) -> io::Result<()> {
        self.item(found)
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.notes.bad_record(damage);
        Ok(())
    }

    fn wants_location(&self) -> bool {
        self.wanted.shape == Shape::FlatLocated
    }
}
