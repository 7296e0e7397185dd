//! What the tools say about themselves: names, descriptions, and schemas of arguments and results.

mod list;
mod stats;

use serde_json::{Map, Value, json};
use trommel_tool::{Metadata, ResultMode};

use super::{DEFAULT_CHARS, LEAST_CHARS, MAX_CHARS, READ_CHARS};
pub(crate) use list::list;
pub(crate) use stats::stats;

/// What all descriptions end in.
const BOUNDS: &str = "The answer never exceeds `max_chars`: what does not fit is left out from the end, and `truncated` says \
    why, how much was returned, and in `next` how to go on; a value too large for any answer is replaced by {\"$truncated\": \
    true, \"path\", \"kind\", \"bytes\", \"preview\"}, and tool_outputs.read shows it by that path. An id may be shortened to a \
    unique prefix of 6 or more characters.";

/// What those say that take paths.
const PATHS: &str = "Paths are JSONPath (RFC 9535): $.users[*].email, $..price, $.items[?@.price > 100].name, $['a b'], $[-1]. \
    In a stream of records (JSON Lines) `$` is each record in turn.";

pub(crate) fn extract() -> Metadata {
    let first = "Extract specific fields from stored tool output using JSONPath expressions. Supports multiple paths and \
        various output formats.";
    let shape = "`extracted` is an object with one entry a path: the bare value of a path that can select only one \
        ($.user.name), else an array. `flatten` gives one array of all values; `include_paths` gives [{\"path\", \"value\"}], and \
        with `flatten` adds the exact `location` of each. A path without a match gives `default_value` or null, and is named in \
        `missing_paths`. Values stand as they are in the output, numbers to the last digit.";
    let properties = json!({
        "id": {
            "type": "string",
            "description": "The tool output reference ID"
        },
        "paths": {
            "type": "array",
            "items": { "type": "string" },
            "description": "Array of JSONPath expressions to extract",
            "minItems": 1
        },
        "flatten": {
            "type": "boolean",
            "default": false,
            "description": "Whether to flatten results into a single array"
        },
        "include_paths": {
            "type": "boolean",
            "default": false,
            "description": "Include the JSONPath expression with each result"
        },
        "default_value": {
            "description": "Default value for missing paths (null if not specified)"
        }
    });
    let results = json!({
        "extracted": {
            "description": "Extracted values, structure depends on flatten/include_paths options"
        },
        "missing_paths": {
            "type": "array",
            "items": { "type": "string" },
            "description": "Paths that didn't match any values"
        }
    });
    let results = Results { properties: results, required: &["extracted"], next: Next::Cursor };
    let arguments = Arguments {
        properties,
        required: &["id", "paths"],
        records: true,
        cursor: true,
        default: DEFAULT_CHARS,
    };
    metadata("tool_outputs.extract", &[first, shape, PATHS], arguments, results)
        .result_mode(ResultMode::Inline)
}

pub(crate) fn count() -> Metadata {
    let first = "Count items in arrays, object keys, or matches without loading full data. Efficient for large datasets.";
    let kinds = "count_type: `array_length` (elements of the arrays at `path`; the default), `object_keys` (members of the \
        objects there), `matches` (how many values `path` selects), `nested_total` (elements and members of everything it \
        selects). `filter` counts only what passes it, written @.price > 100: elements and members, for `matches` the values \
        themselves. No match counts 0. `total` is the sum of all counts. In `truncated`, `next` is the number (from 0) of the \
        first count that was left out: ask for it and those behind it again.";
    let properties = json!({
        "id": {
            "type": "string",
            "description": "The tool output reference ID"
        },
        "counts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {
                        "type": "string",
                        "description": "Name for this count operation"
                    },
                    "path": {
                        "type": "string",
                        "description": "JSONPath to the element to count"
                    },
                    "filter": {
                        "type": "string",
                        "description": "Optional JSONPath filter expression"
                    },
                    "count_type": {
                        "type": "string",
                        "enum": ["array_length", "object_keys", "matches", "nested_total"],
                        "default": "array_length",
                        "description": "Type of counting operation"
                    }
                },
                "required": ["name", "path"],
                "additionalProperties": false
            },
            "minItems": 1,
            "description": "Array of count operations to perform"
        }
    });
    let results = json!({
        "counts": {
            "type": "object",
            "additionalProperties": { "type": "integer" }
        },
        "total": {
            "type": "integer",
            "description": "Sum of all counts"
        }
    });
    let results = Results { properties: results, required: &["counts"], next: Next::Number };
    let arguments = Arguments {
        properties,
        required: &["id", "counts"],
        records: true,
        cursor: false,
        default: DEFAULT_CHARS,
    };
    metadata("tool_outputs.count", &[first, kinds, PATHS], arguments, results).result_mode(ResultMode::Inline)
}

pub(crate) fn sample() -> Metadata {
    let first = "Extract a sample of items from arrays in stored output. Supports random, systematic, and edge sampling \
        strategies.";
    let kinds = "A path that can select only one value must lead to an array, whose elements are sampled; any other path \
        ($.orders[*].items[*]) samples the values it selects, and `$` in a stream of records the records. `sample` stands in the \
        order of the output, with `indices` from 0. strategy: `random` (the same `seed` always gives the same sample), `first`, \
        `last`, `systematic` (every `stride`-th; without `stride` evenly spread), `stratified` (from each group its share; needs \
        `strata_path`, a path within items such as $.region).";
    let properties = json!({
        "id": {
            "type": "string",
            "description": "The tool output reference ID"
        },
        "path": {
            "type": "string",
            "description": "JSONPath to the array to sample from"
        },
        "size": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000,
            "description": "Number of items to sample"
        },
        "strategy": {
            "type": "string",
            "enum": ["random", "first", "last", "systematic", "stratified"],
            "default": "random",
            "description": "Sampling strategy to use"
        },
        "seed": {
            "type": "integer",
            "description": "Random seed for reproducible sampling"
        },
        "stride": {
            "type": "integer",
            "minimum": 1,
            "description": "Step size for systematic sampling"
        },
        "strata_path": {
            "type": "string",
            "description": "JSONPath within items for stratified sampling"
        }
    });
    let results = json!({
        "sample": {
            "type": "array",
            "description": "Sampled items"
        },
        "total_items": {
            "type": "integer",
            "description": "Total number of items in source array"
        },
        "sample_size": {
            "type": "integer",
            "description": "Actual number of items sampled"
        },
        "indices": {
            "type": "array",
            "items": { "type": "integer" },
            "description": "Indices of sampled items in original array"
        },
        "strata": strata()
    });
    let required = &["sample", "total_items", "sample_size"];
    let results = Results { properties: results, required, next: Next::Cursor };
    let arguments = Arguments {
        properties,
        required: &["id", "path", "size"],
        records: true,
        cursor: true,
        default: DEFAULT_CHARS,
    };
    metadata("tool_outputs.sample", &[first, kinds], arguments, results).result_mode(ResultMode::Auto)
}

fn strata() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "value": { "description": "What the items of the group have at strata_path; null when they have nothing" },
                "total": { "type": "integer", "description": "Items of the group" },
                "sampled": { "type": "integer", "description": "Items of the group in the sample" },
                "missing": { "type": "boolean", "description": "Whether they have nothing at strata_path" }
            },
            "required": ["value", "total", "sampled"]
        },
        "description": "The groups of a stratified sample, in order of first appearance"
    })
}

pub(crate) fn read() -> Metadata {
    let first = "Read a stored tool output, or one value in it, page by page: any size, on one line or many.";
    let contents = "`content` is the value, or as much of it as fits: a cut array or object ends with {\"$more\": N} or \
        \"$more\": N, how many elements or members are left, and a cut string with …; pass `truncated.next` as `cursor` for the \
        rest. `size` has the bytes of the whole value and its elements or members. `path` must select one value ($.users[3].bio); \
        elements too large for a page show the path to read them by. A text output is one string, cut at line ends; a stream of \
        records (JSON Lines) is read as the array of its records, so that $[7].name is a field of the eighth.";
    let properties = json!({
        "id": {
            "type": "string",
            "description": "The tool output reference ID"
        },
        "path": {
            "type": "string",
            "default": "$",
            "description": "JSONPath to the one value to read"
        }
    });
    let results = json!({
        "path": { "type": "string", "description": "The path that was read" },
        "kind": {
            "type": "string",
            "enum": ["array", "object", "string", "number", "boolean", "null", "records", "text"],
            "description": "What the value is"
        },
        "size": {
            "type": "object",
            "properties": {
                "bytes": { "type": "integer", "description": "Bytes of the whole value" },
                "items": { "type": "integer", "description": "Its elements, members or records" }
            }
        },
        "content": { "description": "The value, from where the cursor stands, as far as it fits" }
    });
    let required = &["path", "kind", "size", "content"];
    let results = Results { properties: results, required, next: Next::Cursor };
    let arguments =
        Arguments { properties, required: &["id"], records: false, cursor: true, default: READ_CHARS };
    metadata("tool_outputs.read", &[first, contents], arguments, results).result_mode(ResultMode::Inline)
}

/// Arguments, but for those that all tools have.
struct Arguments {
    properties: Value,
    required: &'static [&'static str],
    /// True if the tool takes `where`, filters on records.
    records: bool,
    cursor: bool,
    /// The usual `max_chars`.
    default: usize,
}

/// Members of a result, but for those that all tools have.
struct Results {
    properties: Value,
    required: &'static [&'static str],
    next: Next,
}

/// What `truncated.next` is.
#[derive(Clone, Copy)]
enum Next {
    Cursor,
    Number,
}

fn metadata(name: &str, description: &[&str], arguments: Arguments, results: Results) -> Metadata {
    let description = description.iter().chain([&BOUNDS]).copied().collect::<Vec<_>>().join(" ");
    Metadata::new(name, description, arguments.schema()).result_schema(results.schema()).bounded()
}

impl Arguments {
    fn schema(self) -> Value {
        let mut properties = members(self.properties);
        if self.records {
            let filters = json!({
                "type": "array",
                "items": { "type": "string" },
                "description": "Keep the records for which all these filters hold, such as @.level == \"error\""
            });
            properties.insert("where".into(), filters);
        }
        if self.cursor {
            let cursor = json!({
                "type": "string",
                "description": "truncated.next of the answer to go on from; the other arguments must be the same"
            });
            properties.insert("cursor".into(), cursor);
        }
        let max_chars = json!({
            "type": "integer",
            "minimum": LEAST_CHARS,
            "maximum": MAX_CHARS,
            "default": self.default,
            "description": "Maximum characters of the answer"
        });
        properties.insert("max_chars".into(), max_chars);
        closed(properties, self.required)
    }
}

impl Results {
    fn schema(self) -> Value {
        let mut properties = members(self.properties);
        let next = match self.next {
            Next::Cursor => json!({ "type": "string" }),
            Next::Number => json!({ "type": "integer" }),
        };
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
        closed(properties, self.required)
    }
}

fn members(properties: Value) -> Map<String, Value> {
    match properties {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The schema of an object that has no other members.
fn closed(properties: Map<String, Value>, required: &[&str]) -> Value {
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema.insert("additionalProperties".into(), json!(false));
    Value::Object(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_read_to_their_end() {
        for metadata in [extract(), count(), sample(), stats(), list(), read()] {
            let length = metadata.description.chars().count();
            assert!(length < 2048, "{}: {length}", metadata.name);
            assert!(metadata.bounded && !metadata.requires_approval, "{}", metadata.name);
            assert_eq!(metadata.args_schema["additionalProperties"], false);
            assert_eq!(metadata.args_schema["properties"]["max_chars"]["minimum"], 200);
        }
    }
}
