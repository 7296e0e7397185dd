//! A tool's schema at work: arguments healed and checked.

mod branches;
mod faults;
mod names;
mod place;
mod received;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::heal::{self, Healed};
use crate::nesting::{DEEPEST, is_shallow};
use crate::redact::Redaction;
use crate::spaced::shortened;

pub(crate) use branches::likeliest;
pub(crate) use place::place;
pub(crate) use received::text as received;

/// Characters of what is wrong with a schema.
const LONGEST: usize = 1_000;

/// The schema of a tool's arguments, compiled.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) text: Value,
    pub(crate) validator: Validator,
}

impl Schema {
    /// Compiles the schema of an object.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        shallow(schema)?;
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err("the schema of arguments needs \"type\": \"object\"".to_owned());
        }
        let text = closed(schema);
        let validator = validator(&text)?;
        Ok(Self { text, validator })
    }

    /// Puts arguments right that do not validate, as far as that can be done without guessing.
    pub(crate) fn heal(&self, arguments: Value) -> (Value, Vec<Healed>) {
        heal::heal(self, arguments)
    }

    /// Everything that is wrong with arguments.
    pub(crate) fn check(&self, arguments: &Value, redaction: &Redaction) -> Vec<Fault> {
        if self.validator.is_valid(arguments) {
            return Vec::new();
        }
        faults::all(self, arguments, redaction)
    }

    /// The part of the schema that holds the keyword at this place.
    pub(crate) fn beside(&self, keyword: &str) -> Option<&Value> {
        let (parent, _) = keyword.rsplit_once('/')?;
        self.text.pointer(parent)
    }
}

/// Compiles any schema. It may refer to nothing outside itself. Patterns run in linear time where they can.
pub(crate) fn validator(schema: &Value) -> Result<Validator, String> {
    shallow(schema)?;
    let options = || jsonschema::options().offline();
    let linear = options().with_pattern_options(PatternOptions::regex()).build(schema);
    linear.or_else(|_| options().build(schema)).map_err(|error| {
        let why = error.to_string();
        shortened(&why, LONGEST).unwrap_or(why)
    })
}

fn shallow(schema: &Value) -> Result<(), String> {
    if is_shallow(schema) { Ok(()) } else { Err(format!("it is nested deeper than {DEEPEST} levels")) }
}

/// Keywords by which an object's schema says itself what may stand there besides what it names.
const CLOSING: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];

/// Keywords with further schemas of the same object, which may name members as well.
const FURTHER: [&str; 7] = ["$ref", "allOf", "anyOf", "dependentSchemas", "if", "not", "oneOf"];

/// Whether a root says itself what may stand there besides its properties.
pub(crate) fn says_what_else(root: &Map<String, Value>) -> bool {
    let named = CLOSING.iter().chain(&FURTHER).chain(&["patternProperties"]);
    named.into_iter().any(|keyword| root.contains_key(*keyword))
}

/// The schema with arguments that it does not name forbidden, if it names some and says nothing about others.
fn closed(schema: &Value) -> Value {
    let mut closed = schema.clone();
    let Some(root) = closed.as_object_mut().filter(|root| root.contains_key("properties")) else {
        return closed;
    };
    let [additional, unevaluated] = CLOSING;
    if CLOSING.iter().any(|keyword| root.contains_key(*keyword)) {
        return closed;
    }
    let further = FURTHER.iter().any(|keyword| root.contains_key(*keyword));
    let keyword = if further { unevaluated } else { additional };
    root.insert(keyword.to_owned(), Value::Bool(false));
    closed
}

#[cfg(test)]
mod tests;
