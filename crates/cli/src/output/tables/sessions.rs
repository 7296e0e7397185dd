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
