//! The metadata of the tools: name, description, and the schemas of arguments and results.

use schemars::JsonSchema;
use serde_json::{Value, json};
use trommel_tool::{Effects, Metadata};

use crate::schema;

/// The last sentences of every description.
const BOUNDS: &str = "The answer never exceeds `max_chars`: units that do not fit are omitted from the end, and `truncated` has \
    the reason, the number returned, and in `next` the argument to continue with; a value too large for any answer is replaced by {\"$truncated\": \
    true, \"path\", \"kind\", \"bytes\", \"preview\"}, which tool_outputs.read reads by that path. An id may be shortened to a \
    unique prefix of 6 or more characters.";

/// The sentences about paths, for tools that take them.
pub(super) const PATHS: &str = "Paths are JSONPath (RFC 9535): $.users[*].email, $..price, $.items[?@.price > 100].name, $['a b'], $[-1]. \
    In a stream of records (JSON Lines) `$` is each record in turn.";

/// The members of a result, without those that all tools have.
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

/// Creates the metadata of a tool whose arguments are parsed into `Arguments`.
pub(super) fn metadata<Arguments: JsonSchema>(
    name: &str,
    description: &[&str],
    results: Results,
) -> Metadata {
    let description = description.iter().chain([&BOUNDS]).copied().collect::<Vec<_>>().join(" ");
    Metadata::new(name, description, schema::of::<Arguments>())
        .result_schema(results.schema())
        .effects(Effects::READ_ONLY)
        .bounded()
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
            "description": "The reason for the cut, the size of this part, and how to continue"
        });
        properties.insert("truncated".into(), truncated);
        let warning = json!({ "type": "string", "description": "A remark on the answer" });
        properties.insert("warning".into(), warning);
        schema
    }
}
