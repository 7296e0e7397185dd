//! Agent sessions.

mod changes;
mod details;
mod events;
mod figures;
mod listed;
mod matches;
mod timeline;
mod times;
mod usage;

#[cfg(feature = "cloud")]
pub(crate) use changes::exchanged;
pub(crate) use changes::{diagnosed, repaired, rewound, synced, undone};
pub(crate) use details::details;
pub(crate) use events::{errors, events};
pub(crate) use figures::{aggregate, summary};
pub(crate) use listed::list;
pub(crate) use matches::matches;
pub(crate) use timeline::timeline;
pub(crate) use times::Clock;
pub(crate) use usage::usage;

use trommel_session::Source;

use crate::output::size::grouped;

/// A JSON value in the form that tables show.
enum Json<'a> {
    Null,
    /// A string, decoded.
    Text(String),
    /// A number or boolean, verbatim.
    Plain(&'a str),
    /// The JSON of an array.
    Array(&'a str),
    /// The JSON of an object.
    Object(&'a str),
}

impl<'a> Json<'a> {
    fn of(json: &'a str) -> Self {
        match json.as_bytes().first() {
            // Half of a surrogate pair cannot be decoded. It is shown as written.
            Some(b'"') => Self::Text(serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())),
            Some(b'[') => Self::Array(json),
            Some(b'{') => Self::Object(json),
            Some(b'n') => Self::Null,
            _ => Self::Plain(json),
        }
    }
}

/// The name of the location of a session.
fn source(source: Source) -> &'static str {
    match source {
        Source::Local => "local",
        Source::Cloud => "cloud",
        _ => "both",
    }
}

/// The maximum number of characters of a name or ID.
const NAME: usize = 64;

/// Formats a count with its noun: `1 turn`, `2 turns`.
fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Draws a bar whose length shows a part of a whole, to an eighth of a column. A part above zero is
/// always visible.
fn bar(part: u64, whole: u64, columns: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if part == 0 || whole == 0 {
        return String::new();
    }
    let eighths = u128::from(part.min(whole)) * u128::from(columns) * 8 / u128::from(whole);
    // At most eight for each column, as the part is not larger than the whole.
    let eighths = (eighths as usize).max(1);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional() {
        for (part, whole, shown) in
            [(0, 10, ""), (1, 1_000_000, "▏"), (5, 10, "██"), (10, 10, "████"), (3, 8, "█▌"), (9, 8, "████")]
        {
            assert_eq!(bar(part, whole, 4), shown, "{part} of {whole}");
        }
        assert_eq!(bar(u64::MAX, u64::MAX, 20).chars().count(), 20);
    }
}
