//! `tool_outputs.list`.

use serde_json::{Value, json};
use trommel_tool::{Metadata, ResultMode};

use super::{Arguments, Next, Results, metadata};
use crate::outputs::DEFAULT_CHARS;

pub(crate) fn list() -> Metadata {
    let first = "List stored tool outputs with filtering, sorting, and preview capabilities.";
    let contents = "Each row has the id that the other tool_outputs tools take, and a summary of what is stored: `type` (of the \
        root; `text` for what is not JSON), `keys` (members of an object) and `items` (elements of the array, or of the longest \
        array directly in the object, or records). Newest first unless sorted otherwise. `after` and `before` are Unix times, both \
        exclusive: seconds up to 10^11, milliseconds above; `created_at` is in milliseconds. When there is more, `next` in \
        `truncated` is the `offset` to go on with. A row with `corrupted` stands for an output whose metadata is damaged.";
    let results = Results {
        properties: json!({
            "outputs": {
                "type": "array",
                "items": list_row()
            },
            "total": {
                "type": "integer",
                "description": "Total matching outputs"
            },
            "has_more": {
                "type": "boolean",
                "description": "Whether more results exist"
            }
        }),
        required: &["outputs", "total", "has_more"],
        next: Next::Number,
    };
    let arguments = Arguments {
        properties: list_arguments(),
        required: &[],
        records: false,
        cursor: false,
        default: DEFAULT_CHARS,
    };
    metadata("tool_outputs.list", &[first, contents], arguments, results).result_mode(ResultMode::Inline)
}

fn list_arguments() -> Value {
    json!({
        "conversation_id": {
            "type": "string",
            "description": "Filter by conversation ID"
        },
        "tool_name": {
            "type": "string",
            "description": "Filter by tool name"
        },
        "success": {
            "type": "boolean",
            "description": "Filter by success status"
        },
        "after": {
            "type": "integer",
            "description": "Unix timestamp - only show outputs created after this time"
        },
        "before": {
            "type": "integer",
            "description": "Unix timestamp - only show outputs created before this time"
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 100,
            "default": 20,
            "description": "Maximum number of results"
        },
        "offset": {
            "type": "integer",
            "minimum": 0,
            "default": 0,
            "description": "Number of results to skip"
        },
        "sort_by": {
            "type": "string",
            "enum": ["created_at", "size", "tool_name"],
            "default": "created_at",
            "description": "Sort field"
        },
        "sort_order": {
            "type": "string",
            "enum": ["asc", "desc"],
            "default": "desc",
            "description": "Sort order"
        },
        "include_preview": {
            "type": "boolean",
            "default": true,
            "description": "Include preview of output data"
        },
        "preview_length": {
            "type": "integer",
            "minimum": 0,
            "maximum": 500,
            "default": 100,
            "description": "Characters to include in preview"
        }
    })
}

fn list_row() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "tool_name": { "type": "string" },
            "conversation_id": { "type": ["string", "null"] },
            "message_id": { "type": "string" },
            "created_at": { "type": "integer" },
            "success": { "type": "boolean" },
            "size_bytes": { "type": "integer" },
            "preview": { "type": "string" },
            "summary": {
                "type": "object",
                "properties": {
                    "type": { "type": "string" },
                    "keys": { "type": "integer" },
                    "items": { "type": "integer" }
                }
            },
            "corrupted": { "type": "boolean", "description": "Whether the metadata of the output is damaged" }
        },
        "required": ["id", "tool_name", "created_at", "success", "size_bytes"]
    })
}
