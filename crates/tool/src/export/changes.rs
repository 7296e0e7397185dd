//! The changes of a schema that a dialect needs.

use std::fmt;

use serde::Serialize;

/// A change of a schema that a dialect needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// The tool's own name.
    pub tool: String,
    /// The place in its schema: a JSON Pointer, empty for the root.
    pub place: String,
    /// The keyword, or `strict` if that was dropped.
    pub keyword: String,
    /// The kind of the change.
    pub fate: Fate,
    /// The reason, as a sentence.
    pub reason: String,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, place, keyword, reason, .. } = self;
        write!(f, "{tool}: `{keyword}`")?;
        if !place.is_empty() {
            write!(f, " at {place}")?;
        }
        write!(f, " {}: {reason}", self.fate)
    }
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fate {
    /// The description of the same place says it in words.
    Described,
    /// It is omitted; a call is still checked for it.
    Removed,
    /// It is expressed in another way, which allows the same or more.
    Changed,
    /// It is renamed.
    Renamed,
    /// The tool is exported without `strict`.
    NotStrict,
    /// The tool is not exported.
    Refused,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Described => "is described in words",
            Self::Removed => "is left out",
            Self::Changed => "is put another way",
            Self::Renamed => "is renamed",
            Self::NotStrict => "does not apply",
            Self::Refused => "cannot be exported",
        })
    }
}

/// The reason why a schema does not fit a dialect, and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Obstacle {
    pub(super) place: String,
    pub(super) keyword: String,
    pub(super) reason: String,
}

impl Obstacle {
    pub(super) fn new(place: &str, keyword: &str, reason: impl Into<String>) -> Self {
        Self { place: place.to_owned(), keyword: keyword.to_owned(), reason: reason.into() }
    }

    pub(super) fn dropped(self, tool: &str, fate: Fate) -> Dropped {
        let Self { place, keyword, reason } = self;
        Dropped { tool: tool.to_owned(), place, keyword, fate, reason }
    }
}

/// Changes to one schema.
#[derive(Default)]
pub(super) struct Notes(pub(super) Vec<(Obstacle, Fate)>);

impl Notes {
    pub(super) fn add(&mut self, place: &str, keyword: &str, fate: Fate, reason: impl Into<String>) {
        self.0.push((Obstacle::new(place, keyword, reason), fate));
    }
}
