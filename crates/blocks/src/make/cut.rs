//! How long records are cut into pieces.

use std::path::Path;

use trommel::reader::{Config, Cursor, Event as Token, Framing, Kind as JsonKind, Names, Span, Validation};
use trommel_base::files::{self, Op};

use crate::error::{Error, ErrorKind, Result};
use crate::lines::{LineAt, Printer, Text};
use crate::pieces::{Form, Pieces};
use crate::rows::Kind;

/// Bytes of what stands around an event's data, when it is cut into pieces.
const AROUND: u64 = 20_000;

/// A record's line, and what it stands in.
pub(super) struct Record<'r> {
    pub(super) text: &'r Text,
    pub(super) at: LineAt,
}

impl Record<'_> {
    fn span(&self) -> Span {
        Span { start: self.at.start, end: self.at.end() }
    }
}

/// How a long record is cut.
pub(super) struct Cut {
    pub(super) form: Form,
    pub(super) body: Span,
    pub(super) pieces: u64,
}

/// How a long record is cut: an event around its data, everything else as a whole.
pub(super) fn cut(record: &Record<'_>, kind: Kind) -> Result<Cut> {
    let whole = record.span();
    let (form, all) = formed(record)?;
    let inner = if kind == Kind::Event && form == Form::Utf8 { data_of(record) } else { None };
    let pieces = match inner {
        Some(body) => counted(record, body, form)?,
        None => all,
    };
    Ok(Cut { form, body: inner.unwrap_or(whole), pieces })
}

/// How a record stands in pieces, and how many those of all of it are.
fn formed(record: &Record<'_>) -> Result<(Form, u64)> {
    let Span { start, end } = record.span();
    let (mut printer, mut form, mut count) = (Printer::default(), Form::Utf8, 0);
    let from = Told { from: record.text.part(start, end), printer: &mut printer };
    let mut pieces = Pieces::new(from, record.text.path(), form);
    loop {
        match pieces.next()? {
            Ok(Some(_)) => count += 1,
            Ok(None) => break,
            Err(_) => {
                (form, count) = (Form::Base64, 0);
                let printer = pieces.into_inner().restart();
                let from = Told { from: record.text.part(start, end), printer };
                pieces = Pieces::new(from, record.text.path(), form);
            }
        }
    }
    drop(pieces);
    if printer.print() == record.at.print { Ok((form, count)) } else { Err(changed(record.text.path())) }
}

fn counted(record: &Record<'_>, body: Span, form: Form) -> Result<u64> {
    let mut pieces = Pieces::new(record.text.part(body.start, body.end), record.text.path(), form);
    let mut count = 0;
    while let Ok(Some(_)) = pieces.next()? {
        count += 1;
    }
    Ok(count)
}

/// The name of a record among the payloads, which is a hash of all of it.
pub(super) fn named(record: &Record<'_>) -> Result<String> {
    let (Span { start, end }, mut printer) = (record.span(), Printer::default());
    let mut from = Told { from: record.text.part(start, end), printer: &mut printer };
    files::attempt(Op::Read, record.text.path(), || std::io::copy(&mut from, &mut std::io::sink()))?;
    let is_same = printer.print() == record.at.print;
    if is_same { Ok(printer.whole_hex()) } else { Err(changed(record.text.path())) }
}

/// Reads, and makes a print of what passes.
struct Told<'p, R> {
    from: R,
    printer: &'p mut Printer,
}

impl<'p, R> Told<'p, R> {
    fn restart(self) -> &'p mut Printer {
        *self.printer = Printer::default();
        self.printer
    }
}

impl<R: std::io::Read> std::io::Read for Told<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = self.from.read(bytes)?;
        self.printer.add(&bytes[..count]);
        Ok(count)
    }
}

/// Where an event's data stands, unless too much stands around it.
fn data_of(record: &Record<'_>) -> Option<Span> {
    let Span { start, end } = record.span();
    let config = Config::new().validation(Validation::Structural);
    let mut cursor = Cursor::from_reader(record.text.part(start, end), Framing::Single, &config);
    matches!(cursor.begin_value().ok()?, Token::Begin(JsonKind::Object)).then_some(())?;
    cursor.next_named(&Names::new(["data"])).ok()??;
    let span = cursor.skip_value().ok()?;
    let span = Span { start: start + span.start, end: start + span.end };
    (span.start - start <= AROUND && end - span.end <= AROUND).then_some(span)
}

/// The error about a file that changed while it was read.
pub(super) fn changed(path: &Path) -> Error {
    ErrorKind::ChangedFile { path: path.to_owned() }.into()
}
