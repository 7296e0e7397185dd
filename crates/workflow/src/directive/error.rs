//! What is wrong with a directive, and where.

use std::fmt;
use std::ops::Range;

use trommel_base::text::safe;
use trommel_tool::Redaction;

use super::fault::Fault;

/// Characters of a line that are shown around the place.
const AROUND: usize = 60;

/// What is wrong with a directive: the place in the text, what stands there, and what should.
///
/// [`Display`](fmt::Display) shows the line with the place marked under it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirectiveError {
    /// What is wrong, for programs.
    pub kind: Box<Fault>,
    /// What is wrong, and what to do, for people.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The bytes of the text that are meant.
    pub span: Range<usize>,
    /// The line's text as it stands, without its end and without secrets.
    pub text: String,
    marked: usize,
}

impl DirectiveError {
    /// An error about some bytes of a text. A place outside of it is taken for its end. Secrets in
    /// the line are blotted out, and so are those in the message.
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
        let first = column.saturating_sub(1 + AROUND);
        let shown: String = text.chars().skip(first).take(2 * AROUND).collect();
        // What is made safe is longer: the mark stands under what is shown before it.
        let before: String = shown.chars().take(column - 1 - first).collect();
        let marked: String = shown.chars().skip(column - 1 - first).take(self.marked).collect();
        let width = |text: &str| safe(text).chars().count();
        let pad = " ".repeat(width(&before));
        let mark = "^".repeat(width(&marked).max(1));
        write!(f, "line {line}, column {column}: {message}\n  {}\n  {pad}{mark}", safe(&shown))
    }
}

impl std::error::Error for DirectiveError {}
