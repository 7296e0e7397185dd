//! The document of `extract --json`, written while its values are found.

use std::io;

use trommel::{Damage, Found, Sink};
use trommel_toolbox::outputs::{Document, Shape};

use super::lines::Refused;
use super::{Budget, Kept, Notes, Out, Target, Values};

/// What is asked of the document.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) shape: Shape,
    pub(crate) queries: Vec<DocumentQuery<'a>>,
    /// True if all queries share one order.
    pub(crate) together: bool,
    /// The value of a query without a match.
    pub(crate) default: Option<&'a str>,
    pub(crate) spool_limit: u64,
}

/// One query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentQuery<'a> {
    pub(crate) text: &'a str,
    /// True if it can select one node only.
    pub(crate) is_singular: bool,
}

/// Writes the document: the values of the first query as they are found, those of the others when
/// the first's are out.
#[derive(Debug)]
pub(crate) struct Extracted<'a> {
    out: Out,
    values: Values,
    document: Document,
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
        let document = Document::new(wanted.shape).verbatim(!values.is_escaped());
        let budget = Budget::new(wanted.spool_limit, wanted.queries.len());
        // A query that can select one node only gives a bare value, or an array if there turn out
        // to be several.
        let parts = wanted.queries.iter().enumerate().map(|(number, query)| {
            let is_direct = if wanted.shape.is_flat() {
                number == 0 || wanted.together
            } else {
                number == 0 && !query.is_singular
            };
            Part { count: 0, kept: (!is_direct).then(|| Kept::new(&budget)) }
        });
        let parts = parts.collect();
        Self { out, values, document, wanted, parts, begun: false, notes, refused: None }
    }

    /// The value that ended the run, if one did.
    pub(crate) fn refused(&mut self) -> Option<Refused> {
        self.refused.take()
    }

    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Begins the document, if that was not done: with the first value, so that nothing is written
    /// when all fails.
    fn begin(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        self.write(Document::begin)
    }

    /// Writes a part of the frame.
    fn write(&self, part: impl FnOnce(Document, &mut String)) -> io::Result<()> {
        let mut frame = String::new();
        part(self.document, &mut frame);
        self.out.write(frame.as_bytes())
    }

    /// Ends the document. `stream` tells whether the input is a stream of records.
    pub(crate) fn finish(mut self, stream: bool) -> io::Result<()> {
        self.begin()?;
        let parts = std::mem::take(&mut self.parts);
        let found: Vec<u64> = parts.iter().map(|part| part.count).collect();
        if self.wanted.shape.is_flat() {
            self.finish_flat(parts)?;
        } else {
            self.finish_by_query(parts, stream)?;
        }
        let missing = self.wanted.queries.iter().zip(found).filter(|(_, count)| *count == 0);
        self.write(|document, out| {
            document.end(missing.map(|(query, _)| query.text), out);
            out.push_str("}\n");
        })?;
        self.out.finish()
    }

    fn finish_by_query(&self, parts: Vec<Part>, stream: bool) -> io::Result<()> {
        for (number, part) in parts.into_iter().enumerate() {
            let DocumentQuery { text, is_singular } = self.wanted.queries[number];
            let again = self.wanted.queries.iter().take(number).any(|earlier| earlier.text == text);
            if again && self.wanted.shape == Shape::ByPath {
                // A name occurs once in an object, and the values are the same.
                continue;
            }
            let Part { count, kept } = part;
            let is_array = count > 0 && !(is_singular && count == 1 && !stream);
            match (count, kept) {
                (0, _) => {
                    self.begin_query(number, false)?;
                    self.out.write(self.wanted.default.unwrap_or("null").as_bytes())?;
                }
                // Its values are out already.
                (_, None) => {}
                (_, Some(kept)) => {
                    self.begin_query(number, is_array)?;
                    kept.read(0, |_| Ok(()), |piece| self.out.write(piece))?;
                }
            }
            self.write(|document, out| document.end_group(is_array, out))?;
        }
        Ok(())
    }

    fn finish_flat(&self, parts: Vec<Part>) -> io::Result<()> {
        let mut written = 0;
        for (number, Part { count, kept }) in parts.into_iter().enumerate() {
            let default = if count == 0 { self.wanted.default } else { None };
            if let Some(default) = default {
                self.separate(written > 0)?;
                self.write(|document, out| {
                    document.begin_item(self.wanted.queries[number].text, None, out);
                    out.push_str(default);
                    document.end_item(out);
                })?;
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

    /// Begins the values of a query.
    fn begin_query(&self, number: usize, is_array: bool) -> io::Result<()> {
        self.separate(number > 0)?;
        self.write(|document, out| document.begin_group(self.wanted.queries[number].text, is_array, out))
    }

    fn item(&mut self, found: &Found<'_>) -> io::Result<()> {
        let checked = match self.values.check(found.view()) {
            Ok(checked) => checked,
            Err(error) => {
                self.refused = Some(Refused { error, record: found.record });
                return Err(io::Error::other("a value is no JSON"));
            }
        };
        let is_flat = self.wanted.shape.is_flat();
        let is_first = if is_flat && self.wanted.together {
            self.parts.iter().all(|part| part.count == 0)
        } else {
            self.parts[found.measure].count == 0
        };
        let is_direct = self.parts[found.measure].kept.is_none();
        if is_direct && is_first {
            self.begin()?;
            if !is_flat {
                self.begin_query(found.measure, true)?;
            }
        }
        let (mut start, mut end) = (String::new(), String::new());
        if is_flat {
            self.document.begin_item(self.wanted.queries[found.measure].text, found.location, &mut start);
            self.document.end_item(&mut end);
        }
        let part = &mut self.parts[found.measure];
        part.count += 1;
        let mut page;
        let to: &mut dyn Target = if let Some(kept) = &mut part.kept {
            kept
        } else {
            page = self.out.page();
            &mut page
        };
        if !is_first {
            to.bytes().push(b',');
        }
        to.bytes().extend_from_slice(start.as_bytes());
        self.values.put(&checked, to)?;
        to.bytes().extend_from_slice(end.as_bytes());
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
        self.wanted.shape == Shape::FlatWithPaths
    }
}
