//! Errors of directives, with their positions.

use std::fmt;
use std::ops::Range;

use trommel_base::text::safe;
use trommel_tool::Redaction;

use super::fault::Fault;

/// The number of characters to show before and after the fault.
const CONTEXT_CHARS: usize = 60;

/// A fault of a directive, with its position in the text and a remedy.
///
/// [`Display`](fmt::Display) shows the line and marks the fault below it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirectiveError {
    /// The fault, for programs.
    pub kind: Box<Fault>,
    /// The fault and the remedy, for people.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The byte range of the fault.
    pub span: Range<usize>,
    /// The line without its line break and with secrets redacted.
    pub text: String,
    marked: usize,
}

impl DirectiveError {
    /// Creates an error about a byte range. A range beyond the text is moved to its end. Secrets in
    /// the line and in the message are redacted.
    pub(crate) fn new(whole: &str, span: Range<usize>, mut kind: Fault) -> Self {
        let redaction = Redaction::new();
        for text in kind.texts() {
            *text = redaction.text(text).into_owned();
        }
        let start = whole.floor_char_boundary(span.start.min(whole.len()));
        let before = &whole[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let text = whole[line_start..].lines().next().unwrap_or("");
        let end =
            whole.floor_char_boundary(span.end.clamp(start, line_start + text.len().max(start - line_start)));
        Self {
            message: redaction.text(&kind.to_string()).into_owned(),
            kind: Box::new(kind),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            span: start..end,
            text: redaction.text(text).into_owned(),
            marked: whole[start..end].chars().count().max(1),
        }
    }
}

impl fmt::Display for DirectiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, line, column, text, .. } = self;
        let first = column.saturating_sub(1 + CONTEXT_CHARS);
        let shown: String = text.chars().skip(first).take(2 * CONTEXT_CHARS).collect();
        // Escaping lengthens the text, so the mark is positioned by the escaped characters before
        // it.
        let before: String = shown.chars().take(column - 1 - first).collect();
        let marked: String = shown.chars().skip(column - 1 - first).take(self.marked).collect();
        let width = |text: &str| safe(text).chars().count();
        let pad = " ".repeat(width(&before));
        let mark = "^".repeat(width(&marked).max(1));
        write!(f, "line {line}, column {column}: {message}\n  {}\n  {pad}{mark}", safe(&shown))
    }
}

impl std::error::Error for DirectiveError {}
