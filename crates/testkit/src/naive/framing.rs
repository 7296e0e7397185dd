//! Streams of records.

use super::error::{Error, ErrorKind};
use super::parser::{Parser, bom_length, parse_all};
use super::tree::{Document, Span};

/// The separation of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// The whole input is one record.
    Single,
    /// One record a line; lines of white space only are skipped. Lines end with LF (a CR before it
    /// is white space).
    Lines,
    /// One value after another, separated by white space where a number or literal would otherwise
    /// run into the next value.
    Concatenated,
    /// RFC 7464: a record separator (0x1E) before each record. Elements of white space only are
    /// skipped.
    JsonSeq,
}

/// A valid or malformed record.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The bytes of the record: the line without its end, the element without its separator, all of
    /// the input, or the value itself if values are concatenated (up to the end of the input if it
    /// is malformed).
    pub span: Span,
    /// The document, or the error.
    pub outcome: Result<Document, Error>,
}

/// Reads a stream. After a malformed record, a stream of lines or sequence elements continues.
/// Concatenated values end there, because the start of the next value is unknown.
pub fn records(bytes: &[u8], framing: Framing) -> Vec<Record> {
    match framing {
        Framing::Single => vec![record(bytes, bom_length(bytes), bytes.len())],
        Framing::Lines => lines(bytes),
        Framing::Concatenated => concatenated(bytes),
        Framing::JsonSeq => sequence(bytes),
    }
}

fn record(bytes: &[u8], start: usize, end: usize) -> Record {
    Record { span: Span::new(start, end), outcome: parse_all(Parser::new(&bytes[..end], start)) }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// Returns the sections of `bytes[from..]` between the separators.
fn split_at_separators(bytes: &[u8], from: usize, separator: u8) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = from;
    for at in from..=bytes.len() {
        if at == bytes.len() || bytes[at] == separator {
            found.push((start, at));
            start = at + 1;
        }
    }
    found
}

fn lines(bytes: &[u8]) -> Vec<Record> {
    let mut found = split_at_separators(bytes, bom_length(bytes), b'\n');
    found.retain(|&(start, end)| !is_blank(&bytes[start..end]));
    found.into_iter().map(|(start, end)| record(bytes, start, end)).collect()
}

fn sequence(bytes: &[u8]) -> Vec<Record> {
    let mut found = split_at_separators(bytes, bom_length(bytes), 0x1E);
    let (start, end) = found.remove(0);
    let mut records = Vec::new();
    if let Some(at) = (start..end).find(|&at| !is_blank(&bytes[at..=at])) {
        let outcome = Err(Error::new(at, ErrorKind::Separator));
        records.push(Record { span: Span::new(start, end), outcome });
    }
    found.retain(|&(start, end)| !is_blank(&bytes[start..end]));
    records.extend(found.into_iter().map(|(start, end)| element(bytes, start, end)));
    records
}

/// RFC 7464, section 2.4: a value that could continue after the end may be truncated and must be
/// rejected.
fn element(bytes: &[u8], start: usize, end: usize) -> Record {
    let mut record = record(bytes, start, end);
    if let Ok(document) = &record.outcome {
        let span = document[document.root()].span;
        let self_delimiting = matches!(bytes[span.range()][0], b'"' | b'[' | b'{');
        if !self_delimiting && span.end == end as u64 {
            record.outcome = Err(Error::new(end, ErrorKind::Truncated));
        }
    }
    record
}

fn concatenated(bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut parser = Parser::new(bytes, bom_length(bytes));
    loop {
        parser.lexer.space();
        let start = parser.lexer.at;
        let Some(first) = parser.lexer.peek() else { return records };
        let outcome = parser.value().and_then(|document| {
            let next = parser.lexer.peek();
            let self_delimiting = matches!(first, b'"' | b'[' | b'{');
            let is_separated = matches!(next, None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'[' | b'{'));
            if self_delimiting || is_separated {
                Ok(document)
            } else {
                Err(parser.lexer.error(ErrorKind::Trailing))
            }
        });
        let failed = outcome.is_err();
        let end = if failed { bytes.len() } else { parser.lexer.at };
        records.push(Record { span: Span::new(start, end), outcome });
        if failed {
            return records;
        }
    }
}
