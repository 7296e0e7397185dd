//! Schemas match the specification, plus the optional members that were agreed on.

use serde_json::{Value, json};
use trommel_route::Destinations;
use trommel_session::Sessions;
use trommel_tool::Registry;
use trommel_toolbox::{buffers, outputs, sessions};

use crate::support::Bench;

fn schema(name: &str, which: &str) -> Value {
    let bench = Bench::new();
    let tool = bench.executor.registry().get(&format!("tool_outputs.{name}")).unwrap();
    let metadata = tool.metadata();
    let schema = if which == "args" { &metadata.args_schema } else { &metadata.result_schema };
    schema.clone()
}

/// Returns the schema without the members that extend the specification.
fn without(name: &str, which: &str, more: &[&str]) -> Value {
    let mut schema = schema(name, which);
    let properties = schema["properties"].as_object_mut().unwrap();
    for member in more {
        assert!(properties.shift_remove(*member).is_some(), "{name} {member}");
    }
    schema
}

const ID: &str = r#"{"type":"string","description":"The tool output reference ID"}"#;

fn id() -> Value {
    serde_json::from_str(ID).unwrap()
}

#[test]
fn extract_schema_is_as_specified() {
    let arguments = json!({
        "type": "object",
        "properties": {
            "id": id(),
            "paths": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Array of JSONPath expressions to extract",
                "minItems": 1
            },
            "flatten": {
                "type": "boolean", "default": false,
                "description": "Whether to flatten results into a single array"
            },
            "include_paths": {
                "type": "boolean", "default": false,
                "description": "Include the JSONPath expression with each result"
            },
            "default_value": { "description": "Default value for missing paths (null if not specified)" }
        },
        "required": ["id", "paths"],
        "additionalProperties": false
    });
    assert_eq!(without("extract", "args", &["rows", "each", "where", "cursor", "max_chars"]), arguments);
    let results = json!({
        "type": "object",
        "properties": {
            "extracted": { "description": "Extracted values, structure depends on flatten/include_paths options" },
            "missing_paths": {
                "type": "array", "items": { "type": "string" },
                "description": "Paths that didn't match any values"
            }
        },
        "required": ["extracted"],
        "additionalProperties": false
    });
    assert_eq!(without("extract", "result", &["truncated", "warning"]), results);
}

#[test]
fn count_schema_is_as_specified() {
    let count = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "Name for this count operation" },
            "path": { "type": "string", "description": "JSONPath to the element to count" },
            "filter": { "type": "string", "description": "Optional JSONPath filter expression" },
            "count_type": {
                "type": "string",
                "enum": ["array_length", "object_keys", "matches", "nested_total"],
                "default": "array_length",
                "description": "Type of counting operation"
            }
        },
        "required": ["name", "path"],
        "additionalProperties": false
    });
    let arguments = json!({
        "type": "object",
        "properties": {
            "id": id(),
            "counts": {
                "type": "array", "items": count, "minItems": 1,
                "description": "Array of count operations to perform"
            }
        },
        "required": ["id", "counts"],
        "additionalProperties": false
    });
    assert_eq!(without("count", "args", &["each", "where", "max_chars"]), arguments);
    let results = json!({
        "type": "object",
        "properties": {
            "counts": { "type": "object", "additionalProperties": { "type": "integer" } },
            "total": { "type": "integer", "description": "Sum of all counts" }
        },
        "required": ["counts"],
        "additionalProperties": false
    });
    assert_eq!(without("count", "result", &["truncated", "warning"]), results);
}

#[test]
fn sample_schema_is_as_specified() {
    let arguments = json!({
        "type": "object",
        "properties": {
            "id": id(),
            "path": { "type": "string", "description": "JSONPath to the array to sample from" },
            "size": {
                "type": "integer", "minimum": 1, "maximum": 1000, "description": "Number of items to sample"
            },
            "strategy": {
                "type": "string",
                "enum": ["random", "first", "last", "systematic", "stratified"],
                "default": "random",
                "description": "Sampling strategy to use"
            },
            "seed": { "type": "integer", "description": "Random seed for reproducible sampling" },
            "stride": { "type": "integer", "minimum": 1, "description": "Step size for systematic sampling" },
            "strata_path": { "type": "string", "description": "JSONPath within items for stratified sampling" }
        },
        "required": ["id", "path", "size"],
        "additionalProperties": false
    });
    assert_eq!(without("sample", "args", &["each", "where", "cursor", "max_chars"]), arguments);
    let results = json!({
        "type": "object",
        "properties": {
            "sample": { "type": "array", "description": "Sampled items" },
            "total_items": { "type": "integer", "description": "Total number of items in source array" },
            "sample_size": { "type": "integer", "description": "Actual number of items sampled" },
            "indices": {
                "type": "array", "items": { "type": "integer" },
                "description": "Indices of sampled items in original array"
            }
        },
        "required": ["sample", "total_items", "sample_size"],
        "additionalProperties": false
    });
    assert_eq!(without("sample", "result", &["truncated", "warning", "strata"]), results);
}

#[test]
fn stats_schema_is_as_specified() {
    let arguments = json!({
        "type": "object",
        "properties": {
            "id": id(),
            "include_schema": {
                "type": "boolean", "default": false,
                "description": "Generate and include JSON schema of the data"
            },
            "max_depth": {
                "type": "integer", "minimum": 1, "maximum": 10, "default": 5,
                "description": "Maximum depth to analyze"
            },
            "sample_arrays": {
                "type": "boolean", "default": true, "description": "Sample arrays to determine item types"
            },
            "paths": {
                "type": "array", "items": { "type": "string" },
                "description": "Specific paths to analyze (analyzes root if not specified)"
            }
        },
        "required": ["id"],
        "additionalProperties": false
    });
    assert_eq!(
        without(
            "stats",
            "args",
            &["each", "where", "cursor", "max_chars", "include_values", "include_fields"]
        ),
        arguments
    );
    let integer = json!({ "type": "integer" });
    let string = json!({ "type": "string" });
    let results = json!({
        "type": "object",
        "properties": {
            "id": string,
            "tool_name": string,
            "created_at": integer,
            "size": {
                "type": "object",
                "properties": { "bytes": integer, "characters": integer, "formatted": string }
            },
            "structure": {
                "type": "object",
                "properties": {
                    "root_type": string, "max_depth": integer, "total_keys": integer, "total_values": integer
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
                    "properties": { "path": string, "length": integer, "item_type": string }
                }
            },
            "objects": {
                "type": "array",
                "items": { "type": "object", "properties": { "path": string, "keys": integer } }
            },
            "schema": { "description": "Generated JSON schema if requested" }
        },
        "required": ["id", "size", "structure", "types"],
        "additionalProperties": false
    });
    let more = ["truncated", "warning", "records", "capped", "by_path", "values", "fields"];
    assert_eq!(without("stats", "result", &more), results);
}

#[test]
fn list_schema_is_as_specified() {
    let arguments = json!({
        "type": "object",
        "properties": {
            "conversation_id": { "type": "string", "description": "Filter by conversation ID" },
            "tool_name": { "type": "string", "description": "Filter by tool name" },
            "success": { "type": "boolean", "description": "Filter by success status" },
            "after": {
                "type": "integer",
                "description": "Unix timestamp - only show outputs created after this time"
            },
            "before": {
                "type": "integer",
                "description": "Unix timestamp - only show outputs created before this time"
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": 100, "default": 20,
                "description": "Maximum number of results"
            },
            "offset": {
                "type": "integer", "minimum": 0, "default": 0, "description": "Number of results to skip"
            },
            "sort_by": {
                "type": "string", "enum": ["created_at", "size", "tool_name"], "default": "created_at",
                "description": "Sort field"
            },
            "sort_order": {
                "type": "string", "enum": ["asc", "desc"], "default": "desc", "description": "Sort order"
            },
            "include_preview": {
                "type": "boolean", "default": true, "description": "Include preview of output data"
            },
            "preview_length": {
                "type": "integer", "minimum": 0, "maximum": 500, "default": 100,
                "description": "Characters to include in preview"
            }
        },
        "additionalProperties": false
    });
    assert_eq!(without("list", "args", &["max_chars"]), arguments);
    let row = json!({
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
            }
        },
        "required": ["id", "tool_name", "created_at", "success", "size_bytes"]
    });
    let mut found = without("list", "result", &["truncated", "warning"]);
    let rows = found["properties"]["outputs"]["items"]["properties"].as_object_mut().unwrap();
    assert!(rows.shift_remove("corrupted").is_some());
    let summary = rows["summary"]["properties"].as_object_mut().unwrap();
    for member in ["records", "damaged_records"] {
        assert!(summary.shift_remove(member).is_some());
    }
    let results = json!({
        "type": "object",
        "properties": {
            "outputs": { "type": "array", "items": row },
            "total": { "type": "integer", "description": "Total matching outputs" },
            "has_more": { "type": "boolean", "description": "Whether more results exist" }
        },
        "required": ["outputs", "total", "has_more"],
        "additionalProperties": false
    });
    assert_eq!(found, results);
}

#[test]
fn remaining_metadata_is_as_specified() {
    let bench = Bench::new();
    let tools = bench.executor.registry().tools();
    let names: Vec<&str> = tools.iter().map(|tool| tool.metadata().name.as_str()).collect();
    let expected = ["aggregate", "count", "extract", "list", "read", "sample", "search", "stats"]
        .map(|name| format!("tool_outputs.{name}"));
    assert_eq!(names, expected);
    for tool in &tools {
        let metadata = tool.metadata();
        let mode = if metadata.name.ends_with("sample") { "auto" } else { "inline" };
        assert_eq!(json!(metadata.result_mode), mode, "{}", metadata.name);
        assert_eq!(json!(metadata.category), "other", "{}", metadata.name);
        assert!(!metadata.requires_approval && metadata.bounded, "{}", metadata.name);
        assert!(metadata.description.chars().count() < 2_048, "{}", metadata.name);
        let default = if metadata.name.ends_with("read") { 8_000 } else { 30_000 };
        let max_chars = &metadata.args_schema["properties"]["max_chars"];
        assert_eq!(max_chars["default"], default, "{}", metadata.name);
        assert_eq!((&max_chars["minimum"], &max_chars["maximum"]), (&json!(200), &json!(100_000)));
    }
}

/// The derived schemas of arguments equal the published ones, including the order of arguments.
#[test]
fn argument_schemas_match_the_published_ones() {
    let golden: Value = serde_json::from_str(include_str!("../golden/arguments.json")).unwrap();
    let bench = Bench::new();
    let registry = Registry::new();
    outputs::register(&registry, &bench.store).unwrap();
    buffers::register(&registry, &Destinations::default()).unwrap();
    sessions::register(&registry, &Sessions::new()).unwrap();
    assert_eq!(registry.tools().len(), golden.as_object().unwrap().len());
    for tool in registry.tools() {
        let metadata = tool.metadata();
        let published = &golden[metadata.name.as_str()];
        assert_eq!(metadata.args_schema, *published, "{}", metadata.name);
        let names =
            |schema: &Value| schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&metadata.args_schema), names(published), "{}", metadata.name);
        assert_eq!(metadata.args_schema["required"], published["required"], "{}", metadata.name);
    }
}
