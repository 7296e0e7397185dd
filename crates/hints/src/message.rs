//! Hints as sentences.

use std::borrow::Cow;
use std::fmt::Write;

use trommel_base::text::clip;

use super::{Hint, Length, Why};

/// Characters of a query that a message shows.
const SHOWN: usize = 120;

/// The names under which a reader of hints can filter records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spelling {
    /// The options of a command: `--where`.
    Options,
    /// The arguments of a tool: `where`.
    Arguments,
}

impl Hint {
    /// The hint as a sentence without a full stop. It may contain characters of the query and of
    /// the document that are unsafe on a terminal.
    pub fn message(&self, spelling: Spelling) -> String {
        let text = shortened(&self.text);
        match &self.why {
            Why::Path(nearest) => format!("`{text}` selects nothing; the nearest path is `{nearest}`"),
            Why::Name { wanted, nearest } => {
                let wanted = shortened(wanted);
                format!("`{text}` selects nothing: there is no `{wanted}`; the nearest path is `{nearest}`")
            }
            Why::Filter { filter, nearest } => {
                format!(
                    "nothing at `{text}` passes the filter `{}`; one that selects something is `{nearest}`",
                    shortened(filter)
                )
            }
            Why::FilterName { filter, wanted, nearest } => {
                format!(
                    "nothing at `{text}` passes the filter `{}`: there is no `{}`; the nearest path is `{nearest}`",
                    shortened(filter),
                    shortened(wanted)
                )
            }
            Why::Index { path, length } => {
                let length = match length {
                    Length::Exactly(length) => format!("`{path}` has {}", elements(*length)),
                    Length::AtMost(length) => {
                        format!("the longest array at `{path}` has {}", elements(*length))
                    }
                    Length::Less => format!("no array at `{path}` is that long"),
                };
                format!("`{text}` selects nothing: {length}")
            }
            Why::Elements { path } => {
                let how = match spelling {
                    Spelling::Options => format!(
                        "count its elements with `trommel count FILE {} --as array-length`",
                        quoted(path)
                    ),
                    Spelling::Arguments => "count its elements with tool_outputs.count".to_owned(),
                };
                format!("`{text}` selects nothing: `{path}` is an array; {how}")
            }
            Why::Records { filter, query } => {
                let mut message = format!(
                    "`{text}` selects nothing: `$` is each record of the stream, and the filter looks inside it; to filter \
                     records, "
                );
                // Writing to a string cannot fail.
                let _ = match spelling {
                    Spelling::Options => {
                        write!(message, "use --where {} with the query {}", quoted(filter), quoted(query))
                    }
                    Spelling::Arguments => {
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

/// The start of a text.
fn shortened(text: &str) -> Cow<'_, str> {
    clip(text, SHOWN)
}

/// A text as a word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
