//! The compiled schema of a tool's arguments.

use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::nesting::{MAX_DEPTH, is_shallow};
use crate::text::shortened;

/// Maximum characters of the validator's message about a schema.
const MAX_MESSAGE: usize = 1_000;

/// The reason why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is nested too deep.
    TooDeep,
    /// The schema of arguments does not describe an object.
    NotAnObject,
    /// The validator refuses it, with this message.
    Invalid(String),
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep => write!(f, "it is nested deeper than {MAX_DEPTH} levels"),
            Self::NotAnObject => f.write_str("the schema of arguments needs \"type\": \"object\""),
            Self::Invalid(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for SchemaError {}

/// The schema of a tool's arguments, compiled.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) text: Value,
    pub(crate) validator: Validator,
}

impl Schema {
    /// Compiles the schema of an object.
    pub(crate) fn compile(schema: &Value) -> Result<Self, SchemaError> {
        check_depth(schema)?;
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::NotAnObject);
        }
        let text = closed(schema);
        let validator = validator(&text)?;
        Ok(Self { text, validator })
    }

    /// The subschema with the keyword at this path.
    pub(super) fn beside(&self, keyword: &str) -> Option<&Value> {
        let (parent, _) = keyword.rsplit_once('/')?;
        self.text.pointer(parent)
    }
}

/// Compiles any schema. It may refer to nothing outside itself. Patterns run in linear time if they
/// can.
pub(crate) fn validator(schema: &Value) -> Result<Validator, SchemaError> {
    check_depth(schema)?;
    let options = || jsonschema::options().offline();
    let linear = options().with_pattern_options(PatternOptions::regex()).build(schema);
    linear.or_else(|_| options().build(schema)).map_err(|error| {
        let message = error.to_string();
        SchemaError::Invalid(shortened(&message, MAX_MESSAGE).unwrap_or(message))
    })
}

fn check_depth(schema: &Value) -> Result<(), SchemaError> {
    if is_shallow(schema) { Ok(()) } else { Err(SchemaError::TooDeep) }
}

/// Keywords that cover the members that an object's schema does not name.
const CLOSING: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];

/// Keywords with further schemas of the same object, which may name members as well.
const FURTHER: [&str; 7] = ["$ref", "allOf", "anyOf", "dependentSchemas", "if", "not", "oneOf"];

/// True if a root covers members other than its properties.
pub(crate) fn covers_others(root: &Map<String, Value>) -> bool {
    let named = CLOSING.iter().chain(&FURTHER).chain(&["patternProperties"]);
    named.into_iter().any(|keyword| root.contains_key(*keyword))
}

/// The schema, closed to arguments that it does not name, if it names some and does not cover
/// others.
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

/// The errors of each alternative.
type Branches = [Vec<ValidationError<'static>>];

/// The distance of an alternative from the value: another type, another constant that marks it, and
/// the number of errors.
fn distance(branch: &[ValidationError<'static>], pointer: &str) -> (bool, bool, usize) {
    let is_type = |error: &ValidationError<'_>| {
        error.instance_path().as_str() == pointer && matches!(error.kind(), ValidationErrorKind::Type { .. })
    };
    let is_mark = |error: &ValidationError<'_>| {
        matches!(error.kind(), ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. })
    };
    (branch.iter().any(is_type), branch.iter().any(is_mark), branch.len())
}

/// The alternatives nearest to the value at a path; several if they are equally near.
pub(super) fn nearest_branches<'a>(
    branches: &'a Branches,
    pointer: &str,
) -> Vec<&'a [ValidationError<'static>]> {
    let near = branches.iter().map(|branch| distance(branch, pointer)).min();
    let alike = branches.iter().filter(|branch| Some(distance(branch, pointer)) == near);
    alike.map(Vec::as_slice).collect()
}
