//! The document of `extract --json`, written while values are found.

use std::io;

use trommel::{Damage, Match, Sink};
use trommel_toolbox::outputs::{Document, Shape};

use super::{BadValue, Budget, HeldOutput, InputSink, Notes, Out, Refusal, Target, Values};

/// The form of the document.
#[derive(Debug)]
pub(crate) struct DocumentRequest<'a> {
    pub(crate) shape: Shape,
    pub(crate) queries: Vec<DocumentQuery<'a>>,
    /// True if the matches of all queries are interleaved.
    pub(crate) is_interleaved: bool,
    /// The value for a query without a match.
    pub(crate) default: Option<&'a str>,
    pub(crate) spool_limit: u64,
}

/// One query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentQuery<'a> {
    pub(crate) text: &'a str,
    /// True if it can select only one node.
    pub(crate) is_singular: bool,
}

/// Writes the document. Values of the first query are written as they are found, those of the
/// others after it.
#[derive(Debug)]
pub(crate) struct Extracted<'a> {
    out: Out,
    values: Values,
    document: Document,
    request: DocumentRequest<'a>,
    parts: Vec<Part>,
    /// True if the start of the document is written.
    is_started: bool,
    notes: Notes,
    bad: Option<BadValue>,
}

/// The values of one query, separated by commas.
#[derive(Debug)]
struct Part {
    count: u64,
    /// The held values, or `None` if they are written at once.
    held: Option<HeldOutput>,
}

impl<'a> Extracted<'a> {
    pub(crate) fn new(request: DocumentRequest<'a>, values: Values, out: Out, notes: Notes) -> Self {
        let document = Document::new(request.shape).verbatim(!values.is_escaped());
        let budget = Budget::new(request.spool_limit, request.queries.len());
        // A singular query gives a bare value. It gives an array if repeated names make it match
        // several times, so its values are held.
        let parts = request.queries.iter().enumerate().map(|(number, query)| {
            let is_direct = if request.shape.is_flat() {
                number == 0 || request.is_interleaved
            } else {
                number == 0 && !query.is_singular
            };
            Part { count: 0, held: (!is_direct).then(|| HeldOutput::new(&budget)) }
        });
        let parts = parts.collect();
        Self { out, values, document, request, parts, is_started: false, notes, bad: None }
    }

    /// Returns the value that ended the run because it cannot be printed, if one did.
    pub(crate) fn bad_value(&mut self) -> Option<BadValue> {
        self.bad.take()
    }

    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Writes the start of the document, if that was not done. The first value triggers it, so that
    /// a run that fails before prints nothing.
    fn begin(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_started, true) {
            return Ok(());
        }
        self.write(Document::begin)
    }

    /// Writes a part of the document around the values.
    fn write(&self, part: impl FnOnce(Document, &mut String)) -> io::Result<()> {
        let mut frame = String::new();
        part(self.document, &mut frame);
        self.out.write(frame.as_bytes())
    }

    /// Ends the document. `stream` is true if the input is a stream of records.
    pub(crate) fn finish(mut self, stream: bool) -> io::Result<()> {
        self.begin()?;
        let parts = std::mem::take(&mut self.parts);
        let found: Vec<u64> = parts.iter().map(|part| part.count).collect();
        if self.request.shape.is_flat() {
            self.finish_flat(parts)?;
        } else {
            self.finish_by_query(parts, stream)?;
        }
        let missing = self.request.queries.iter().zip(found).filter(|(_, count)| *count == 0);
        self.write(|document, out| {
            document.end(missing.map(|(query, _)| query.text), out);
            out.push_str("}\n");
        })?;
        self.out.finish()
    }

    fn finish_by_query(&self, parts: Vec<Part>, stream: bool) -> io::Result<()> {
        for (number, part) in parts.into_iter().enumerate() {
            let DocumentQuery { text, is_singular } = self.request.queries[number];
            let again = self.request.queries.iter().take(number).any(|earlier| earlier.text == text);
            if again && self.request.shape == Shape::ByPath {
                // An object cannot repeat a name, and the values are the same.
                continue;
            }
            let Part { count, held } = part;
            let is_array = count > 0 && !(is_singular && count == 1 && !stream);
            match (count, held) {
                (0, _) => {
                    self.begin_query(number, false)?;
                    self.out.write(self.request.default.unwrap_or("null").as_bytes())?;
                }
                // The values are already written.
                (_, None) => {}
                (_, Some(held)) => {
                    self.begin_query(number, is_array)?;
                    held.read(0, |_| Ok(()), |piece| self.out.write(piece))?;
                }
            }
            self.write(|document, out| document.end_group(is_array, out))?;
        }
        Ok(())
    }

    fn finish_flat(&self, parts: Vec<Part>) -> io::Result<()> {
        let mut written = 0;
        for (number, Part { count, held }) in parts.into_iter().enumerate() {
            let default = if count == 0 { self.request.default } else { None };
            if let Some(default) = default {
                self.separate(written > 0)?;
                self.write(|document, out| {
                    document.begin_item(self.request.queries[number].text, None, None, out);
                    out.push_str(default);
                    document.end_item(out);
                })?;
            } else if let (Some(held), 1..) = (held, count) {
                self.separate(written > 0)?;
                held.read(0, |_| Ok(()), |piece| self.out.write(piece))?;
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
        self.write(|document, out| document.begin_group(self.request.queries[number].text, is_array, out))
    }

    fn item(&mut self, found: &Match<'_>) -> io::Result<()> {
        let checked = match self.values.check(found.view()) {
            Ok(checked) => checked,
            Err(error) => {
                self.bad = Some(BadValue { refusal: Refusal::Malformed(error), record: found.record });
                return Err(io::Error::other("a value is not valid JSON"));
            }
        };
        let is_flat = self.request.shape.is_flat();
        let is_first = if is_flat && self.request.is_interleaved {
            self.parts.iter().all(|part| part.count == 0)
        } else {
            self.parts[found.measure].count == 0
        };
        let is_direct = self.parts[found.measure].held.is_none();
        if is_direct && is_first {
            self.begin()?;
            if !is_flat {
                self.begin_query(found.measure, true)?;
            }
        }
        let (mut start, mut end) = (String::new(), String::new());
        if is_flat {
            let text = self.request.queries[found.measure].text;
            self.document.begin_item(text, found.location, None, &mut start);
            self.document.end_item(&mut end);
        }
        let part = &mut self.parts[found.measure];
        part.count += 1;
        let mut page;
        let to: &mut dyn Target = if let Some(held) = &mut part.held {
            held
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
        to.flush_if_full()
    }
}

impl InputSink for Extracted<'_> {
    fn begin_input(&mut self, name: &str) {
        self.notes.begin_input(name);
    }
}

impl Sink for Extracted<'_> {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        self.item(found)
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.notes.bad_record(damage);
        Ok(())
    }

    fn wants_location(&self) -> bool {
        self.request.shape == Shape::FlatWithPaths
    }
}
