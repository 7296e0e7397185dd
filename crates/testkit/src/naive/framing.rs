//! Streams of records.

use super::error::{Error, ErrorKind};
use super::parser::{Parser, after_mark, whole};
use super::tree::{Document, Span};

/// How records are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// The whole input is one record.
    Single,
    /// A record a line; lines of white space alone are none. Lines end with LF (a CR before it is
    /// white space).
    Lines,
    /// One value after another, white space between them where a number or literal would run into
    /// what follows.
    Concatenated,
    /// RFC 7464: a record separator (0x1E) before each record. An element of white space alone is
    /// no record.
    JsonSeq,
}

/// A record, good or bad.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The bytes that belong to the record: the line without its end, the element without its
    /// separator, all of the input, or the value itself when values are concatenated (to the end of
    /// the input when it is bad).
    pub span: Span,
    /// The document, or why it is none.
    pub outcome: Result<Document, Error>,
}

/// Reads a stream. After a bad record a stream of lines or sequence elements goes on; concatenated
/// values end there, since nothing tells where the next one would begin.
pub fn records(bytes: &[u8], framing: Framing) -> Vec<Record> {
    match framing {
        Framing::Single => vec![record(bytes, after_mark(bytes), bytes.len())],
        Framing::Lines => lines(bytes),
        Framing::Concatenated => concatenated(bytes),
        Framing::JsonSeq => sequence(bytes),
    }
}

fn record(bytes: &[u8], start: usize, end: usize) -> Record {
    Record { span: Span::new(start, end), outcome: whole(Parser::new(&bytes[..end], start)) }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// The stretches of `bytes[from..]` between the separators.
fn stretches(bytes: &[u8], from: usize, separator: u8) -> Vec<(usize, usize)> {
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
    let mut found = stretches(bytes, after_mark(bytes), b'\n');
    found.retain(|&(start, end)| !is_blank(&bytes[start..end]));
    found.into_iter().map(|(start, end)| record(bytes, start, end)).collect()
}

fn sequence(bytes: &[u8]) -> Vec<Record> {
    let mut found = stretches(bytes, after_mark(bytes), 0x1E);
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

/// Section 2.4: what could go on behind the end may have been cut, and must not be taken for whole.
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
    let mut parser = Parser::new(bytes, after_mark(bytes));
    loop {
        parser.lexer.space();
        let start = parser.lexer.at;
        let Some(first) = parser.lexer.peek() else { return records };
        let outcome = parser.value().and_then(|document| {
            let next = parser.lexer.peek();
            let self_delimiting = matches!(first, b'"' | b'[' | b'{');
            let apart = matches!(next, None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'[' | b'{'));
            if self_delimiting || apart {
                Ok(document)
            } else {
                Err(parser.lexer.refuse(ErrorKind::Trailing))
            }
        });
        let bad = outcome.is_err();
        let end = if bad { bytes.len() } else { parser.lexer.at };
        records.push(Record { span: Span::new(start, end), outcome });
        if bad {
            return records;
        }
    }
}
