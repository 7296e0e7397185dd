//! The requirements of every dialect: an object at the root, and no references elsewhere.

use serde_json::{Map, Value, json};

use super::changes::{Fate, Notes, Obstacle};
use super::keywords::{child, properties, schemas};
use super::layout::ordered;
use super::provider::Dialect;
use crate::arguments::schema::covers_others;
use crate::contract::metadata::Metadata;
use crate::nesting::is_shallow;

/// Maximum depth of a schema: no provider accepts more.
const MAX_DEPTH: usize = 64;

/// Keywords that providers refuse at the root, and with them the whole request.
const NOT_AT_ROOT: [&str; 6] = ["anyOf", "oneOf", "allOf", "not", "enum", "const"];

/// The schema of a tool's arguments in a form that every provider accepts.
pub(super) fn root(
    dialect: Dialect,
    schema: &Value,
    notes: &mut Notes,
) -> Result<Map<String, Value>, Obstacle> {
    let Value::Object(members) = schema else {
        return Err(Obstacle::new("", "type", "a tool's arguments are an object, and so is their schema"));
    };
    check(dialect, schema)?;
    match members.get("type") {
        None if members.contains_key("$ref") => {
            return Err(Obstacle::new("", "$ref", "the root must say itself what the arguments are"));
        }
        None => {}
        Some(found) if found == "object" => {}
        Some(found) => {
            return Err(Obstacle::new("", "type", format!("a tool's arguments are an object, not {found}")));
        }
    }
    let mut root = members.clone();
    root.insert("type".to_owned(), "object".into());
    for keyword in NOT_AT_ROOT {
        if root.shift_remove(keyword).is_some() {
            let reason = "providers refuse it at the root; it is checked when the tool is called";
            notes.add("", keyword, Fate::Removed, reason);
        }
    }
    let is_empty = root.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    let is_closed = members.get("additionalProperties") == Some(&Value::Bool(false));
    if is_empty && dialect == Dialect::Mcp && (is_closed || !covers_others(members)) {
        root.shift_remove("properties");
        root.insert("additionalProperties".to_owned(), false.into());
    } else if is_empty {
        root.insert("properties".to_owned(), json!({}));
    }
    Ok(root)
}

/// Refuses schemas that no reader of the export could follow.
fn check(dialect: Dialect, root: &Value) -> Result<(), Obstacle> {
    for visited in schemas(root) {
        let place = visited.place.as_str();
        if visited.depth > MAX_DEPTH {
            return Err(Obstacle::new(place, "", format!("schemas can be nested at most {MAX_DEPTH} deep")));
        }
        if let Some(target) = visited.schema.get("$ref") {
            check_target(root, place, target)?;
        }
        for keyword in ["$dynamicRef", "$recursiveRef"] {
            if visited.schema.contains_key(keyword) {
                return Err(Obstacle::new(place, keyword, "no provider follows it; use `$ref`"));
            }
        }
        if matches!(dialect, Dialect::Anthropic | Dialect::AnthropicStrict) && !place.is_empty() {
            check_members(visited.schema, place)?;
        }
    }
    Ok(())
}

fn check_target(root: &Value, place: &str, target: &Value) -> Result<(), Obstacle> {
    let Some(pointer) = target.as_str().and_then(|target| target.strip_prefix('#')) else {
        return Err(Obstacle::new(place, "$ref", "it lies outside; a description must stand by itself"));
    };
    match root.pointer(pointer) {
        Some(_) => Ok(()),
        None => Err(Obstacle::new(place, "$ref", "there is nothing where it points to")),
    }
}

/// Checks the names of nested members: only those of the root can be renamed and mapped back.
fn check_members(schema: &Map<String, Value>, place: &str) -> Result<(), Obstacle> {
    let bad = properties(schema).find(|(name, _)| !is_anthropic(name));
    match bad {
        None => Ok(()),
        Some((name, _)) => {
            let reason = "a member's name is 1 to 64 letters, digits, `_`, `.` and `-`";
            Err(Obstacle::new(&child(place, "properties"), name, reason))
        }
    }
}

/// True if Anthropic accepts a member's name.
pub(super) fn is_anthropic(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// Adds the schema of a tool's results, for MCP.
///
/// A result must then match it, so that only a bounded tool gets one: the result of any other may
/// be stored, and is a manifest then.
pub(super) fn output(tool: &Metadata, described: &mut Value, notes: &mut Notes) {
    let schema = &tool.result_schema;
    let is_object = schema.get("type").is_some_and(|found| found == "object");
    if schema.as_object().is_none_or(Map::is_empty) {
        return;
    }
    let Some(described) = described.as_object_mut() else { return };
    if !tool.bounded {
        notes.add("", "outputSchema", Fate::Removed, "a result that is stored comes back as a manifest");
    } else if !is_object {
        notes.add("", "outputSchema", Fate::Removed, "a structured result is an object");
    } else if !is_shallow(schema) {
        notes.add("", "outputSchema", Fate::Removed, "it is nested too deep for anyone to read");
    } else {
        described.insert("outputSchema".to_owned(), ordered(schema));
    }
}
