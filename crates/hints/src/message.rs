//! Hints as text.

use std::borrow::Cow;
use std::fmt::Write;

use trommel_base::text::clip;

use super::{Hint, Length, Reason};

/// The maximum number of characters of a query in a message.
const MAX_QUERY_CHARS: usize = 120;

/// The interface for which a hint is worded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HintStyle {
    /// A command with options: `--where`.
    Options,
    /// A tool with arguments: `where`.
    Arguments,
}

impl Hint {
    /// Formats the hint as a sentence without a full stop. It may contain characters of the query
    /// and of the document that are unsafe on a terminal.
    pub fn message(&self, style: HintStyle) -> String {
        let text = shortened(&self.text);
        match &self.reason {
            Reason::Path(nearest) => format!("`{text}` selects nothing; the nearest path is `{nearest}`"),
            Reason::Name { wanted, nearest } => {
                let wanted = shortened(wanted);
                format!("`{text}` selects nothing: there is no `{wanted}`; the nearest path is `{nearest}`")
            }
            Reason::Filter { filter, nearest } => {
                format!(
                    "nothing at `{text}` passes the filter `{}`; one that selects something is `{nearest}`",
                    shortened(filter)
                )
            }
            Reason::FilterName { filter, wanted, nearest } => {
                format!(
                    "nothing at `{text}` passes the filter `{}`: there is no `{}`; the nearest path is `{nearest}`",
                    shortened(filter),
                    shortened(wanted)
                )
            }
            Reason::Index { path, length } => {
                let length = match length {
                    Length::Exactly(length) => format!("`{path}` has {}", elements(*length)),
                    Length::AtMost(length) => {
                        format!("the longest array at `{path}` has {}", elements(*length))
                    }
                    Length::TooShort => format!("no array at `{path}` is that long"),
                };
                format!("`{text}` selects nothing: {length}")
            }
            Reason::Elements { path } => {
                let how = match style {
                    HintStyle::Options => format!(
                        "count its elements with `trommel count FILE {} --as array-length`",
                        quoted(path)
                    ),
                    HintStyle::Arguments => "count its elements with tool_outputs.count".to_owned(),
                };
                format!("`{text}` selects nothing: `{path}` is an array; {how}")
            }
            Reason::Records { filter, query } => {
                let mut message = format!(
                    "`{text}` selects nothing: `$` is each record of the stream, and the filter looks inside it; to filter \
                     records, "
                );
                // Writing to a string cannot fail.
                let _ = match style {
                    HintStyle::Options => {
                        write!(message, "use --where {} with the query {}", quoted(filter), quoted(query))
                    }
                    HintStyle::Arguments => {
                        write!(message, "pass `where` as `{filter}` with the path `{query}`")
                    }
                };
                message
            }
        }
    }
}

fn elements(number: u64) -> String {
    if number == 1 { "1 element".to_owned() } else { format!("{number} elements") }
}

/// Returns the start of a text.
fn shortened(text: &str) -> Cow<'_, str> {
    clip(text, MAX_QUERY_CHARS)
}

/// Quotes a text for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
