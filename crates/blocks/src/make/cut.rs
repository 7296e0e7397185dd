//! How long records are cut into pieces.

use trommel::reader::{Config, Cursor, Event as Token, Framing, Kind as JsonKind, Names, Span, Validation};

use super::{Maker, Record, changed};
use crate::error::Result;
use crate::lines::{LineAt, Printer};
use crate::pieces::{Form, Pieces};
use crate::rows::Kind;

/// Bytes of what stands around an event's data, when it is cut into pieces.
const AROUND: u64 = 20_000;

/// How a long record is cut.
pub(super) struct Cut {
    pub(super) form: Form,
    pub(super) body: Span,
    pub(super) pieces: u64,
    pub(super) body_bytes: u64,
    pub(super) whole_hex: String,
}

impl Maker<'_, '_> {
    /// How a long record is cut: an event around its data, everything else as a whole.
    pub(super) fn cut(&self, record: &Record<'_>, kind: Kind) -> Result<Cut> {
        let LineAt { start, .. } = record.at;
        let end = record.at.end();
        let whole = Span { start, end };
        let mut printer = Printer::default();
        let mut form = Form::Utf8;
        let mut checked = Pieces::new(
            Told { from: record.text.part(start, end), printer: &mut printer },
            record.text.path(),
            form,
        );
        loop {
            self.watch.check()?;
            match checked.next()? {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => {
                    form = Form::Base64;
                    checked = Pieces::new(
                        Told { from: record.text.part(start, end), printer: checked.into_inner().restart() },
                        record.text.path(),
                        form,
                    );
                }
            }
        }
        drop(checked);
        if printer.print() != record.at.print {
            return Err(changed(record.text.path()));
        }
        let inner = (kind == Kind::Event && form == Form::Utf8).then(|| data_of(record)).flatten();
        let body = inner.unwrap_or(whole);
        let mut pieces = Pieces::new(record.text.part(body.start, body.end), record.text.path(), form);
        let mut count = 0;
        while let Ok(Some(_)) = pieces.next()? {
            count += 1;
        }
        Ok(Cut {
            form,
            body,
            pieces: count,
            body_bytes: body.end - body.start,
            whole_hex: printer.whole_hex(),
        })
    }
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
        self.printer.add(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// Where an event's data stands, unless too much stands around it.
fn data_of(record: &Record<'_>) -> Option<Span> {
    let (start, end) = (record.at.start, record.at.end());
    let config = Config::new().validation(Validation::Structural);
    let mut cursor = Cursor::from_reader(record.text.part(start, end), Framing::Single, &config);
    matches!(cursor.begin_value().ok()?, Token::Begin(JsonKind::Object)).then_some(())?;
    cursor.next_named(&Names::new(["data"])).ok()??;
    let span = cursor.skip_value().ok()?;
    let span = Span { start: start + span.start, end: start + span.end };
    (span.start - start <= AROUND && end - span.end <= AROUND).then_some(span)
}
