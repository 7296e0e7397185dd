//! A tool's schema at work: arguments healed and checked.

mod branches;
mod faults;
mod place;
mod received;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::fault::Fault;
use crate::heal::{self, Healed};
use crate::nesting::is_shallow;
use crate::redact::Redaction;

pub(crate) use branches::likeliest;
pub(crate) use place::place;
pub(crate) use received::text as received;

/// The schema of a tool's arguments, compiled.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) text: Value,
    pub(crate) validator: Validator,
}

impl Schema {
    /// Compiles the schema of an object. It may refer to nothing outside itself. Patterns run in linear time where they can.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        if !is_shallow(schema) {
            return Err("it is nested too deep".to_owned());
        }
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err("the schema of arguments needs \"type\": \"object\"".to_owned());
        }
        let text = closed(schema);
        let options = || jsonschema::options().offline();
        let linear = options().with_pattern_options(PatternOptions::regex()).build(&text);
        let validator = linear.or_else(|_| options().build(&text)).map_err(|error| error.to_string())?;
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

/// Keywords at the root by which a schema says itself what else may stand there.
const OPEN: [&str; 10] = [
    "additionalProperties",
    "allOf",
    "anyOf",
    "dependentSchemas",
    "if",
    "not",
    "oneOf",
    "patternProperties",
    "$ref",
    "unevaluatedProperties",
];

/// The schema with arguments that it does not name forbidden, if it names some and says nothing about others.
fn closed(schema: &Value) -> Value {
    let mut closed = schema.clone();
    if let Some(root) = closed.as_object_mut()
        && root.contains_key("properties")
        && !OPEN.iter().any(|keyword| root.contains_key(*keyword))
    {
        root.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    closed
}

#[cfg(test)]
mod tests;
