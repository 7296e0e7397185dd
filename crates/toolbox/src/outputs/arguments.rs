//! Arguments that several tools take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::page::{MAX_CHARS, MIN_CHARS};

/// The tool output reference ID
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Id(pub(super) String);

/// Make each value of this path a record, such as $.data.records[*]
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Each(pub(super) String);

/// Keep the records for which all these filters hold, such as @.level == "error"
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Where(pub(super) Vec<String>);

/// truncated.next of the answer to continue; pass it with `id` alone
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Cursor(String);

/// Maximum characters of the answer
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct MaxChars<const DEFAULT: usize>(
    #[schemars(range(min = MIN_CHARS, max = MAX_CHARS))] pub(super) usize,
);

impl<const DEFAULT: usize> Default for MaxChars<DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl AsRef<str> for Cursor {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
