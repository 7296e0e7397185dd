//! What a tool says about itself: its name, its description, and the schemas of its arguments and
//! results.

use schemars::JsonSchema;
use serde_json::{Value, json};
use trommel_tool::Metadata;

use crate::schema;

/// The end of all descriptions.
const BOUNDS: &str = "The answer never exceeds `max_chars`: what does not fit is left out from the end, and `truncated` says \
    why, how much was returned, and in `next` how to go on; a value too large for any answer is replaced by {\"$truncated\": \
    true, \"path\", \"kind\", \"bytes\", \"preview\"}, and tool_outputs.read shows it by that path. An id may be shortened to a \
    unique prefix of 6 or more characters.";

/// A part of the descriptions of tools that take paths.
pub(super) const PATHS: &str = "Paths are JSONPath (RFC 9535): $.users[*].email, $..price, $.items[?@.price > 100].name, $['a b'], $[-1]. \
    In a stream of records (JSON Lines) `$` is each record in turn.";

/// The members of a result, but for those that all tools have.
pub(super) struct Results {
    pub(super) properties: Value,
    pub(super) required: &'static [&'static str],
    pub(super) next: Next,
}

/// The type of `truncated.next`.
#[derive(Clone, Copy)]
pub(super) enum Next {
    Cursor,
    Number,
}

/// Describes a tool whose arguments are parsed into `Arguments`.
pub(super) fn metadata<Arguments: JsonSchema>(
    name: &str,
    description: &[&str],
    results: Results,
) -> Metadata {
    let description = description.iter().chain([&BOUNDS]).copied().collect::<Vec<_>>().join(" ");
    Metadata::new(name, description, schema::of::<Arguments>()).result_schema(results.schema()).bounded()
}

impl Results {
    fn schema(self) -> Value {
        let next = match self.next {
            Next::Cursor => json!({ "type": "string" }),
            Next::Number => json!({ "type": "integer" }),
        };
        let mut schema = json!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": false
        });
        let properties = schema::properties(&mut schema);
        let truncated = json!({
            "type": "object",
            "properties": {
                "reason": { "type": "string", "enum": ["max_chars", "limit", "time", "damage"] },
                "returned": { "type": "integer" },
                "next": next
            },
            "required": ["reason", "returned"],
            "description": "Why this is not all, how much it is, and how to go on"
        });
        properties.insert("truncated".into(), truncated);
        let warning = json!({ "type": "string", "description": "What is worth knowing about the answer" });
        properties.insert("warning".into(), warning);
        schema
    }
}
