//! JSON Schema derived from a shape.

pub(crate) mod format;
mod write;

use crate::profile::{ProfileOptions, Trie};
use std::fmt;

/// A JSON Schema (Draft 2020-12) that every observed value satisfies.
///
/// - `type` is one type or a list; `integer` if every number is written without a fraction and an
///   exponent.
/// - `required` lists the names that every object has. Properties are in order of first appearance.
/// - [Maps](crate#maps) have `additionalProperties` instead of `properties`: one schema for all of
///   their values.
/// - A `format` (`date-time`, `date`, `uuid`, `email`, `ipv4`, `ipv6` or `uri`) is given if all
///   strings have it and there are at least 20.
/// - Values deeper than the requested depth are unconstrained. So are subschemas beyond
///   [`schema_nodes`](crate::ProfileLimits::schema_nodes), counted level by level; a `$comment`
///   then says so.
///
/// The schema is stored as text, because it may be as deep as the document. Building it takes
/// memory and time linear in the paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    json: String,
}

impl Schema {
    /// Builds the schema of a normalized trie down to `depth`, with maps folded.
    pub(crate) fn of(trie: &Trie, options: &ProfileOptions, depth: u32) -> Self {
        Self { json: write::write(trie, options.limits.schema_nodes, depth.min(options.max_depth)) }
    }

    /// Returns the schema as JSON, without white space.
    pub fn as_json(&self) -> &str {
        &self.json
    }

    /// Converts the schema into JSON, without white space.
    pub fn into_json(self) -> String {
        self.json
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json)
    }
}
