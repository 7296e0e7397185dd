//! Arguments as models write them, put right.
//!
//! What validates is left as it is. Otherwise the validator's own errors say where something of another type is wanted, and
//! there, and nowhere else, a text that spells such a value is replaced by it:
//!
//! | wanted | what is taken for it |
//! |---|---|
//! | integer, number | a text that is such a number in JSON, white space around it aside, and fits without being rounded |
//! | boolean | `true` or `false` as a text, in upper or lower case |
//! | null | `null` as a text |
//! | array, object | a text that is such a value in JSON; for an array also a one-element array that holds such a text |
//! | array of texts | a text that does not look like an array: it becomes the only element |
//! | nothing (an optional member) | null |
//!
//! The same goes for the arguments as a whole, where null stands for none. Several rounds put right what was inside.

use std::collections::BTreeMap;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, JsonTypeSet, ValidationError};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::nesting;
use crate::redact::Redaction;
use crate::schema::{Schema, likeliest, place, received};

/// Rounds at most. Each takes away a layer of quotes, which doubled the length of what they hold, so there are never as many.
const ROUNDS: usize = 64;

/// Places that are told one by one.
const TOLD: usize = 50;

/// Bytes of a text that are looked into.
const LONGEST: usize = 16 * 1024 * 1024;

/// One place that was put right.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Healed {
    #[serde(skip)]
    pointer: String,
    path: String,
    from: Value,
    /// Absent when the member was taken away.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Value>,
}

/// Puts arguments right that do not validate, as far as that can be done without guessing.
pub(crate) fn heal(schema: &Schema, mut arguments: Value) -> (Value, Vec<Healed>) {
    let mut healed = Vec::new();
    if arguments.is_null() {
        arguments = json!({});
        healed.push(Healed::new(&arguments, "", Value::Null, Some(&json!({}))));
    }
    for _ in 0..ROUNDS {
        if schema.validator.is_valid(&arguments) {
            break;
        }
        let before = healed.len();
        for (pointer, wanted) in wants(schema, &arguments) {
            healed.extend(mend(schema, &mut arguments, &pointer, &wanted));
        }
        if healed.len() == before {
            break;
        }
    }
    (arguments, healed)
}

/// What is wanted at a place that holds something else.
#[derive(Debug, Default)]
struct Wanted {
    types: Option<JsonTypeSet>,
    /// The part of the schema that says so.
    keyword: String,
}

/// Every place that holds something of another type than is wanted there.
fn wants(schema: &Schema, arguments: &Value) -> BTreeMap<String, Wanted> {
    let mut wants = BTreeMap::new();
    for error in schema.validator.iter_errors(arguments) {
        collect(&error, &mut wants);
    }
    wants
}

fn collect(error: &ValidationError<'_>, wants: &mut BTreeMap<String, Wanted>) {
    let pointer = error.instance_path().as_str();
    match error.kind() {
        Kind::Type { kind } => {
            let wanted = wants.entry(pointer.to_owned()).or_default();
            let types = match kind {
                TypeKind::Single(one) => JsonTypeSet::empty().insert(*one),
                TypeKind::Multiple(several) => *several,
            };
            wanted.types = Some(wanted.types.map_or(types, |others| others.union(types)));
            error.schema_path().as_str().clone_into(&mut wanted.keyword);
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            let near = likeliest(context, pointer);
            near.into_iter().flatten().for_each(|error| collect(error, wants));
        }
        // The only element of an array may be the whole array in quotes.
        Kind::Pattern { .. } | Kind::Enum { .. } | Kind::Constant { .. } => {
            let wanted = wants.entry(pointer.to_owned()).or_default();
            if wanted.types.is_none() {
                error.schema_path().as_str().clone_into(&mut wanted.keyword);
            }
        }
        _ => {}
    }
}

/// Puts one place right, if it can be.
fn mend(schema: &Schema, arguments: &mut Value, pointer: &str, wanted: &Wanted) -> Option<Healed> {
    let value = arguments.pointer(pointer)?;
    if value.is_null() {
        return take_away(schema, arguments, pointer, wanted);
    }
    if let Some(spelled) = wanted.types.and_then(|types| spelled(value, types)) {
        return Some(replace(arguments, pointer, spelled));
    }
    if let Some(list) = listed(schema, value, wanted) {
        return Some(replace(arguments, pointer, list));
    }
    let (parent, _) = pointer.rsplit_once('/')?;
    let only = arguments.pointer(parent)?.as_array().filter(|items| items.len() == 1)?.first()?;
    let array = spelled(only, JsonTypeSet::empty().insert(JsonType::Array))?;
    Some(replace(arguments, parent, array))
}

/// A text as the only element of the list of texts that is wanted in its place.
fn listed(schema: &Schema, value: &Value, wanted: &Wanted) -> Option<Value> {
    // No JSON begins with `[?`, but a filter does.
    let is_list = |text: &str| text.starts_with(['[', '{']) && !text.starts_with("[?");
    let text = value.as_str().filter(|text| !is_list(text.trim_start()))?;
    let wants_array = wanted.types.is_some_and(|types| types.contains(JsonType::Array));
    let (holder, _) = wanted.keyword.rsplit_once('/')?;
    let items = schema.text.pointer(holder)?.get("items")?.get("type")?;
    (wants_array && items == "string").then(|| json!([text]))
}

fn replace(arguments: &mut Value, pointer: &str, to: Value) -> Healed {
    let shown = to.clone();
    let from = arguments.pointer_mut(pointer).map(|place| std::mem::replace(place, to)).unwrap_or_default();
    Healed::new(arguments, pointer, from, Some(&shown))
}

/// Takes an optional member away that is null and may not be.
fn take_away(schema: &Schema, arguments: &mut Value, pointer: &str, wanted: &Wanted) -> Option<Healed> {
    let (parent, escaped) = pointer.rsplit_once('/')?;
    let name = escaped.replace("~1", "/").replace("~0", "~");
    // What says `…/properties/NAME/type` stands in the schema of the object that holds the member.
    let (holder, _) = wanted.keyword.rsplit_once(&format!("/properties/{escaped}/"))?;
    let required = schema.text.pointer(holder)?.get("required").and_then(Value::as_array);
    if required.is_some_and(|names| names.iter().any(|one| *one == *name)) {
        return None;
    }
    let healed = Healed::new(arguments, pointer, Value::Null, None);
    arguments.pointer_mut(parent)?.as_object_mut()?.shift_remove(&name)?;
    Some(healed)
}

/// The value of one of these types that a text spells.
fn spelled(value: &Value, types: JsonTypeSet) -> Option<Value> {
    let text = value.as_str()?.trim();
    if text.len() > LONGEST {
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

/// The number a text spells, unless it would have to be rounded.
fn number(text: &str) -> Option<Value> {
    let value = serde_json::from_str::<Value>(text).ok()?;
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let rounded = is_whole && !(value.is_i64() || value.is_u64());
    (value.is_number() && !rounded).then_some(value)
}

impl Healed {
    fn new(arguments: &Value, pointer: &str, from: Value, to: Option<&Value>) -> Self {
        Self { pointer: pointer.to_owned(), path: place(arguments, pointer), from, to: to.cloned() }
    }
}

/// What was put right, for the result's metadata: short, and without secrets.
pub(crate) fn told(healed: Vec<Healed>, redaction: &Redaction) -> Map<String, Value> {
    let mut told = Map::new();
    if healed.is_empty() {
        return told;
    }
    let more = healed.len().saturating_sub(TOLD);
    let shown = healed.into_iter().take(TOLD).map(|mut one| {
        one.from = shown(one.from, &one.pointer, redaction);
        one.to = one.to.map(|to| shown(to, &one.pointer, redaction));
        json!(one)
    });
    told.insert("healed".to_owned(), shown.collect());
    if more > 0 {
        told.insert("healed_more".to_owned(), more.into());
    }
    told
}

/// A value, or the beginning of its text when it is long or secret.
fn shown(value: Value, pointer: &str, redaction: &Redaction) -> Value {
    let text = received(&value, pointer, redaction);
    match serde_json::from_str(&text) {
        Ok(short) if short == value => value,
        Ok(Value::String(short)) => short.into(),
        _ => text.into(),
    }
}

/// A copy in which integers that were written with a fraction of zero are integers.
pub(crate) fn whole_numbers(arguments: &Map<String, Value>) -> Value {
    fn convert(value: &Value) -> Value {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match value {
            Value::Number(number) => match number.as_f64() {
                Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => {
                    json!(float as i64)
                }
                _ => value.clone(),
            },
            Value::Array(items) => items.iter().map(convert).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), convert(value))).collect())
            }
            _ => value.clone(),
        }
    }
    Value::Object(arguments.iter().map(|(name, value)| (name.clone(), convert(value))).collect())
}

#[cfg(test)]
mod tests;
