//! `tool_outputs.stats`.

use serde_json::{Value, json};
use trommel_tool::{Metadata, ResultMode};

use super::{Arguments, Next, Results, metadata};
use crate::outputs::DEFAULT_CHARS;

pub(crate) fn stats() -> Metadata {
    let first = "Get statistics and metadata about stored tool output including size, structure, types, and optional schema \
        generation.";
    let contents = "Call this first on an output you do not know: `arrays` and `objects` list every path there is \
        ($.users[*].tags), with lengths and types, ready to be used in other calls. All figures are exact and cover the whole \
        output; `max_depth` bounds only how deep `arrays`, `objects`, `schema` and `values` go. A row that stands for several \
        arrays or objects has their total as `length` or `keys`, and `count`, smallest and largest besides. `paths` narrows the \
        figures to what they select, one by one in `by_path`. `include_values` adds figures of the values at each path: sum, \
        mean, minimum, maximum and quantiles of numbers, lengths of strings, distinct and most frequent values; what is not \
        exact among these says so.";
    let properties = json!({
        "id": {
            "type": "string",
            "description": "The tool output reference ID"
        },
        "include_schema": {
            "type": "boolean",
            "default": false,
            "description": "Generate and include JSON schema of the data"
        },
        "max_depth": {
            "type": "integer",
            "minimum": 1,
            "maximum": 10,
            "default": 5,
            "description": "Maximum depth to analyze"
        },
        "sample_arrays": {
            "type": "boolean",
            "default": true,
            "description": "Sample arrays to determine item types"
        },
        "paths": {
            "type": "array",
            "items": { "type": "string" },
            "description": "Specific paths to analyze (analyzes root if not specified)"
        },
        "include_values": {
            "type": "boolean",
            "default": false,
            "description": "Include figures of the values at each path: sum, mean, min, max, quantiles, string lengths, distinct and frequent values"
        }
    });
    let results = Results {
        properties: stats_results(),
        required: &["id", "size", "structure", "types"],
        next: Next::Cursor,
    };
    let arguments =
        Arguments { properties, required: &["id"], records: true, cursor: true, default: DEFAULT_CHARS };
    metadata("tool_outputs.stats", &[first, contents], arguments, results).result_mode(ResultMode::Inline)
}

fn stats_results() -> Value {
    json!({
        "id": { "type": "string" },
        "tool_name": { "type": "string" },
        "created_at": { "type": "integer" },
        "size": {
            "type": "object",
            "properties": {
                "bytes": { "type": "integer" },
                "characters": { "type": "integer" },
                "formatted": { "type": "string" }
            }
        },
        "structure": {
            "type": "object",
            "properties": {
                "root_type": { "type": "string" },
                "max_depth": { "type": "integer" },
                "total_keys": { "type": "integer" },
                "total_values": { "type": "integer" }
            }
        },
        "types": {
            "type": "object",
            "additionalProperties": { "type": "integer" },
            "description": "Count of each JSON type"
        },
        "arrays": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "length": { "type": "integer" },
                    "item_type": { "type": "string" }
                }
            }
        },
        "objects": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "keys": { "type": "integer" }
                }
            }
        },
        "schema": {
            "description": "Generated JSON schema if requested"
        },
        "records": {
            "type": "integer",
            "description": "Number of records, when the output is a stream of records"
        },
        "capped": {
            "type": "object",
            "description": "What there is more of than can be kept: how many rows are shown, and how many there are"
        },
        "by_path": {
            "type": "array",
            "items": { "type": "object" },
            "description": "The same figures for each of several paths"
        },
        "values": {
            "type": "array",
            "items": { "type": "object" },
            "description": "Figures of the values at each path, if requested"
        }
    })
}
