//! JSON Schema out of a shape.

pub(crate) mod format;
mod write;

use crate::profile::{Policy, ProfileOptions, Trie};
use std::fmt;

/// A JSON Schema (Draft 2020-12) that every observed value satisfies.
///
/// - `type` is one type or a list; `integer` when every number is spelt without a fraction and an
///   exponent.
/// - `required` names what every object has. Properties stand in order of first appearance.
/// - Objects with over 100 distinct names of which none is in half of them are maps:
///   `additionalProperties` with the schema of all their values together takes the place of
///   `properties`.
/// - A `format` (`date-time`, `date`, `uuid`, `email`, `ipv4`, `ipv6` or `uri`) is given when all
///   strings have it and there are at least 20.
/// - What lies deeper than the depth asked for is open. So is what would be a subschema beyond
///   [`schema_nodes`](crate::ProfileLimits::schema_nodes), counted level by level; a `$comment`
///   then says so.
///
/// It is kept as text, because it may be as deep as the document. Making it takes memory and time
/// in proportion to the paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    json: String,
}

impl Schema {
    /// The schema of a settled trie, whose nodes go down to `depth`.
    pub(crate) fn of(trie: &Trie, options: &ProfileOptions, depth: u32) -> Self {
        let trie = trie.regrouped(Policy::Maps);
        Self { json: write::write(&trie, options.limits.schema_nodes, depth.min(options.max_depth)) }
    }

    /// The schema as JSON, without white space.
    pub fn as_json(&self) -> &str {
        &self.json
    }

    /// The schema as JSON, without white space.
    pub fn into_json(self) -> String {
        self.json
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json)
    }
}
