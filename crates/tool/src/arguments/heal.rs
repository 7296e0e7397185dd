//! Repairs arguments as models write them.
//!
//! Valid arguments are left alone. Otherwise the validator's own errors say where another type is
//! wanted. There, and nowhere else, a string that spells such a value is replaced by it:
//!
//! | wanted | replaced |
//! |---|---|
//! | integer, number | a string with such a JSON number that fits without rounding |
//! | boolean | the string `true` or `false`, in upper or lower case |
//! | null | the string `null` |
//! | array, object | a string with such a JSON value; or an array of only such a string |
//! | array of strings | a string that does not look like an array: it becomes the only element |
//! | nothing (an optional member) | null: the member is removed |
//!
//! The same applies to the arguments as a whole, where null means none. Several rounds repair
//! nested values.

use std::collections::BTreeMap;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, JsonTypeSet, ValidationError};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::pointer::{path_of, received};
use super::schema::{Schema, nearest_branches};
use crate::nesting;
use crate::redact::Redaction;

/// Maximum rounds. Each removes a layer of quotes. A layer doubles the length of the value inside,
/// so that no arguments need that many.
const MAX_ROUNDS: usize = 64;

/// Maximum places in a report; further ones are only counted.
const MAX_REPORTED: usize = 50;

/// Maximum bytes of a string that is parsed.
const MAX_STRING: usize = 16 * 1024 * 1024;

/// One repaired value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Healed {
    #[serde(skip)]
    pointer: String,
    path: String,
    from: Value,
    /// Absent if the member was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Value>,
}

/// Repairs invalid arguments, as far as possible without guessing.
pub(crate) fn heal(schema: &Schema, mut arguments: Value) -> (Value, Vec<Healed>) {
    let mut healed = Vec::new();
    if arguments.is_null() {
        arguments = json!({});
        healed.push(Healed::new(&arguments, "", Value::Null, Some(&json!({}))));
    }
    for _ in 0..MAX_ROUNDS {
        if schema.validator.is_valid(&arguments) {
            break;
        }
        let before = healed.len();
        for (pointer, expected) in expectations(schema, &arguments) {
            healed.extend(repair(schema, &mut arguments, &pointer, &expected));
        }
        if healed.len() == before {
            break;
        }
    }
    (arguments, healed)
}

/// The types that the schema expects at a location with a value of another type.
#[derive(Debug, Default)]
struct ExpectedTypes {
    types: Option<JsonTypeSet>,
    /// The JSON Pointer of the schema keyword that expects them.
    keyword: String,
}

/// Returns the locations of values that have another type than expected.
fn expectations(schema: &Schema, arguments: &Value) -> BTreeMap<String, ExpectedTypes> {
    let mut expectations = BTreeMap::new();
    for error in schema.validator.iter_errors(arguments) {
        collect(&error, &mut expectations);
    }
    expectations
}

fn collect(error: &ValidationError<'_>, expectations: &mut BTreeMap<String, ExpectedTypes>) {
    let pointer = error.instance_path().as_str();
    match error.kind() {
        Kind::Type { kind } => {
            let expected = expectations.entry(pointer.to_owned()).or_default();
            let types = match kind {
                TypeKind::Single(one) => JsonTypeSet::empty().insert(*one),
                TypeKind::Multiple(several) => *several,
            };
            expected.types = Some(expected.types.map_or(types, |others| others.union(types)));
            error.schema_path().as_str().clone_into(&mut expected.keyword);
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            let near = nearest_branches(context, pointer);
            near.into_iter().flatten().for_each(|error| collect(error, expectations));
        }
        // The only element of an array may be the whole array as a string.
        Kind::Pattern { .. } | Kind::Enum { .. } | Kind::Constant { .. } => {
            let expected = expectations.entry(pointer.to_owned()).or_default();
            if expected.types.is_none() {
                error.schema_path().as_str().clone_into(&mut expected.keyword);
            }
        }
        _ => {}
    }
}

/// Repairs the value of one path, if possible.
fn repair(schema: &Schema, arguments: &mut Value, pointer: &str, expected: &ExpectedTypes) -> Option<Healed> {
    let value = arguments.pointer(pointer)?;
    if value.is_null() {
        return remove(schema, arguments, pointer, expected);
    }
    if let Some(spelled) = expected.types.and_then(|types| spelled(value, types)) {
        return Some(replace(arguments, pointer, spelled));
    }
    if let Some(list) = listed(schema, value, expected) {
        return Some(replace(arguments, pointer, list));
    }
    let (parent, _) = pointer.rsplit_once('/')?;
    let only = arguments.pointer(parent)?.as_array().filter(|items| items.len() == 1)?.first()?;
    let array = spelled(only, JsonTypeSet::empty().insert(JsonType::Array))?;
    Some(replace(arguments, parent, array))
}

/// A string as the only element of the wanted array of strings.
fn listed(schema: &Schema, value: &Value, expected: &ExpectedTypes) -> Option<Value> {
    // No JSON starts with `[?`, but a filter does.
    let is_list = |text: &str| text.starts_with(['[', '{']) && !text.starts_with("[?");
    let text = value.as_str().filter(|text| !is_list(text.trim_start()))?;
    let wants_array = expected.types.is_some_and(|types| types.contains(JsonType::Array));
    let (holder, _) = expected.keyword.rsplit_once('/')?;
    let items = schema.text.pointer(holder)?.get("items")?.get("type")?;
    (wants_array && items == "string").then(|| json!([text]))
}

/// Replaces the value at a path, which must exist.
#[expect(clippy::expect_used, reason = "the callers have just read the value there")]
fn replace(arguments: &mut Value, pointer: &str, to: Value) -> Healed {
    let slot = arguments.pointer_mut(pointer).expect("the caller has read a value at this path");
    let copy = to.clone();
    let from = std::mem::replace(slot, to);
    Healed::new(arguments, pointer, from, Some(&copy))
}

/// Removes an optional member that is null and may not be.
fn remove(schema: &Schema, arguments: &mut Value, pointer: &str, expected: &ExpectedTypes) -> Option<Healed> {
    let (parent, escaped) = pointer.rsplit_once('/')?;
    let name = escaped.replace("~1", "/").replace("~0", "~");
    // The keyword is `…/properties/NAME/type`, in the schema of the object that holds the member.
    let (holder, _) = expected.keyword.rsplit_once(&format!("/properties/{escaped}/"))?;
    let required = schema.text.pointer(holder)?.get("required").and_then(Value::as_array);
    if required.is_some_and(|names| names.iter().any(|one| *one == *name)) {
        return None;
    }
    let healed = Healed::new(arguments, pointer, Value::Null, None);
    arguments.pointer_mut(parent)?.as_object_mut()?.shift_remove(&name)?;
    Some(healed)
}

/// The value of one of these types that a string spells.
fn spelled(value: &Value, types: JsonTypeSet) -> Option<Value> {
    let text = value.as_str()?.trim();
    if text.len() > MAX_STRING {
        return None;
    }
    let fits = |value: &Value| types.contains_value_type::<jsonschema::json::SerdeJson>(&value);
    let lower = || text.to_ascii_lowercase();
    let spelled = match text.as_bytes().first()? {
        b'[' | b'{' => serde_json::from_str(text).ok().filter(nesting::is_shallow)?,
        b'-' | b'0'..=b'9' => number(text)?,
        b't' | b'T' | b'f' | b'F' if text.len() <= 5 => Value::Bool(lower().parse().ok()?),
        b'n' if text == "null" => Value::Null,
        _ => return None,
    };
    fits(&spelled).then_some(spelled)
}

/// The number that a string spells, unless it would have to be rounded.
fn number(text: &str) -> Option<Value> {
    let value = serde_json::from_str::<Value>(text).ok()?;
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let rounded = is_whole && !(value.is_i64() || value.is_u64());
    (value.is_number() && !rounded).then_some(value)
}

impl Healed {
    fn new(arguments: &Value, pointer: &str, from: Value, to: Option<&Value>) -> Self {
        Self { pointer: pointer.to_owned(), path: path_of(arguments, pointer), from, to: to.cloned() }
    }
}

/// The repaired places for the result's metadata: short, and without secrets.
pub(crate) fn report(healed: Vec<Healed>, redaction: &Redaction) -> Map<String, Value> {
    let mut report = Map::new();
    if healed.is_empty() {
        return report;
    }
    let more = healed.len().saturating_sub(MAX_REPORTED);
    let shown = healed.into_iter().take(MAX_REPORTED).map(|mut one| {
        one.from = shown(one.from, &one.pointer, redaction);
        one.to = one.to.map(|to| shown(to, &one.pointer, redaction));
        json!(one)
    });
    report.insert("healed".to_owned(), shown.collect());
    if more > 0 {
        report.insert("healed_more".to_owned(), more.into());
    }
    report
}

/// A value, or the start of its text if it is long or secret.
fn shown(value: Value, pointer: &str, redaction: &Redaction) -> Value {
    let text = received(&value, pointer, redaction);
    match serde_json::from_str(&text) {
        Ok(short) if short == value => value,
        Ok(Value::String(short)) => short.into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests;
