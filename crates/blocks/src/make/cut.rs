//! Cuts long records into pieces.

use std::path::Path;

use trommel::reader::{Config, Cursor, Event as Token, Framing, Kind as JsonKind, Names, Span, Validation};
use trommel_base::files::{self, Op};

use crate::error::{Error, ErrorKind, Result};
use crate::lines::{LineAt, Printer, Text};
use crate::pieces::{Form, Pieces};
use crate::rows::Kind;

/// Maximum length in bytes of the text around an event's data, if the event is cut around its data.
const MAX_AROUND: u64 = 20_000;

/// A record's line and the file that contains it.
pub(super) struct Record<'r> {
    pub(super) text: &'r Text,
    pub(super) at: LineAt,
}

impl Record<'_> {
    fn span(&self) -> Span {
        Span { start: self.at.start, end: self.at.end() }
    }
}

/// The cut of a long record: the encoding, the range that becomes pieces, and their number.
pub(super) struct Cut {
    pub(super) form: Form,
    pub(super) body: Span,
    pub(super) pieces: u64,
}

/// Determines the cut of a long record: an event is cut around its data, any other record as a
/// whole.
pub(super) fn cut(record: &Record<'_>, kind: Kind) -> Result<Cut> {
    let whole = record.span();
    let (form, all) = encoding_of(record)?;
    let inner = if kind == Kind::Event && form == Form::Utf8 { data_of(record) } else { None };
    let pieces = match inner {
        Some(body) => count_pieces(record, body, form)?,
        None => all,
    };
    Ok(Cut { form, body: inner.unwrap_or(whole), pieces })
}

/// Determines the encoding of a record, and the number of pieces of the whole record.
fn encoding_of(record: &Record<'_>) -> Result<(Form, u64)> {
    let Span { start, end } = record.span();
    let (mut printer, mut form, mut count) = (Printer::default(), Form::Utf8, 0);
    let from = Printing { from: record.text.part(start, end), printer: &mut printer };
    let mut pieces = Pieces::new(from, record.text.path(), form);
    loop {
        match pieces.next()? {
            Ok(Some(_)) => count += 1,
            Ok(None) => break,
            Err(_) => {
                // A record has one encoding, so the pieces counted so far do not count.
                (form, count) = (Form::Base64, 0);
                let printer = pieces.into_inner().restart();
                let from = Printing { from: record.text.part(start, end), printer };
                pieces = Pieces::new(from, record.text.path(), form);
            }
        }
    }
    drop(pieces);
    if printer.print() == record.at.print { Ok((form, count)) } else { Err(changed(record.text.path())) }
}

fn count_pieces(record: &Record<'_>, body: Span, form: Form) -> Result<u64> {
    let mut pieces = Pieces::new(record.text.part(body.start, body.end), record.text.path(), form);
    let mut count = 0;
    while let Ok(Some(_)) = pieces.next()? {
        count += 1;
    }
    Ok(count)
}

/// The name of a record's payload: a hash of its whole text.
pub(super) fn payload_name(record: &Record<'_>) -> Result<String> {
    let (Span { start, end }, mut printer) = (record.span(), Printer::default());
    let mut from = Printing { from: record.text.part(start, end), printer: &mut printer };
    files::attempt(Op::Read, record.text.path(), || std::io::copy(&mut from, &mut std::io::sink()))?;
    let is_same = printer.print() == record.at.print;
    if is_same { Ok(printer.whole_hex()) } else { Err(changed(record.text.path())) }
}

/// A reader that computes the print of the bytes it returns.
struct Printing<'p, R> {
    from: R,
    printer: &'p mut Printer,
}

impl<'p, R> Printing<'p, R> {
    fn restart(self) -> &'p mut Printer {
        *self.printer = Printer::default();
        self.printer
    }
}

impl<R: std::io::Read> std::io::Read for Printing<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = self.from.read(bytes)?;
        self.printer.add(&bytes[..count]);
        Ok(count)
    }
}

/// The span of an event's data, unless the text around it is too long.
fn data_of(record: &Record<'_>) -> Option<Span> {
    let Span { start, end } = record.span();
    // Every error below returns `None`: a malformed event is cut as a whole.
    let config = Config::new().validation(Validation::Structural);
    let mut cursor = Cursor::from_reader(record.text.part(start, end), Framing::Single, &config);
    matches!(cursor.begin_value().ok()?, Token::Begin(JsonKind::Object)).then_some(())?;
    cursor.next_named(&Names::new(["data"])).ok()??;
    let span = cursor.skip_value().ok()?;
    let span = Span { start: start + span.start, end: start + span.end };
    (span.start - start <= MAX_AROUND && end - span.end <= MAX_AROUND).then_some(span)
}

/// The error for a file that changed while it was read.
pub(super) fn changed(path: &Path) -> Error {
    ErrorKind::ChangedFile { path: path.to_owned() }.into()
}
