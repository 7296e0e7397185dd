//! The validator's errors as faults.

use std::collections::HashSet;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde::de::IgnoredAny;
use serde_json::Value;
use trommel_base::nearest_one;

use super::members::names;
use super::pointer::{member, path_of, received, type_of};
use super::schema::{Schema, nearest_branches};
use crate::contract::fault::{Fault, FaultKind};
use crate::contract::parameter::ToolParameter;
use crate::redact::Redaction;

/// Maximum number of faults; further ones are only counted.
const MAX_FAULTS: usize = 20;

/// All faults of arguments: missing parameters, then unknown ones, then the rest in order.
pub(crate) fn check(schema: &Schema, arguments: &Value, redaction: &Redaction) -> Vec<Fault> {
    if schema.validator.is_valid(arguments) {
        return Vec::new();
    }
    let errors = schema.validator.iter_errors(arguments).collect::<Vec<_>>();
    let is_one_of_several = errors.len() > 1;
    let mut found = Faults { schema, arguments, redaction, is_one_of_several, found: Vec::new(), more: 0 };
    let wrong_types = errors.iter().filter(|error| matches!(error.kind(), Kind::Type { .. }));
    let wrong_types = wrong_types.map(|error| error.instance_path().as_str()).collect::<HashSet<_>>();
    for error in &errors {
        // With a wrong type, nothing else matters.
        let hidden = wrong_types.contains(error.instance_path().as_str());
        if !hidden || matches!(error.kind(), Kind::Type { .. }) {
            found.add(error);
        }
    }
    found.finish()
}

struct Faults<'a> {
    schema: &'a Schema,
    arguments: &'a Value,
    redaction: &'a Redaction,
    /// True if the validator has found more than one error.
    is_one_of_several: bool,
    found: Vec<Fault>,
    more: usize,
}

/// The location of one error.
struct At<'a> {
    pointer: &'a str,
    path: String,
    value: &'a Value,
    /// The subschema that the value violates.
    schema: Option<&'a Value>,
}

impl Faults<'_> {
    fn finish(mut self) -> Vec<Fault> {
        self.found.sort_by_key(|fault| match fault.kind {
            FaultKind::Missing => 0,
            FaultKind::Unknown => 1,
            _ => 2,
        });
        self.found.dedup();
        if self.more > 0 {
            let message = format!("{} further faults", self.more);
            self.found.push(Fault { message, ..Fault::default() });
        }
        self.found
    }

    fn push(&mut self, fault: Fault) {
        if self.found.len() < MAX_FAULTS { self.found.push(fault) } else { self.more += 1 }
    }

    fn add(&mut self, error: &ValidationError<'_>) {
        let pointer = error.instance_path().as_str();
        let Some(value) = self.arguments.pointer(pointer) else { return };
        let path = path_of(self.arguments, pointer);
        let at = At { pointer, path, value, schema: self.schema.beside(error.schema_path().as_str()) };
        match error.kind() {
            Kind::Required { property: Value::String(name) } => self.missing(&at, name),
            Kind::AdditionalProperties { unexpected } => {
                for name in unexpected {
                    self.unknown(&at, name);
                }
            }
            Kind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    self.unevaluated(&at, name);
                }
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => self.alternatives(&at, context),
            kind => {
                let fault = self.of_kind(&at, kind, error);
                self.push(fault);
            }
        }
    }

    fn missing(&mut self, at: &At<'_>, name: &str) {
        let path = member(&at.path, name);
        let known = at.schema.map(ToolParameter::of_object).unwrap_or_default();
        let required = known.iter().filter(|parameter| parameter.required).map(described).collect();
        let message = format!("Missing required parameter: {path}");
        self.push(Fault { path, kind: FaultKind::Missing, message, required, ..Fault::default() });
    }

    fn unknown(&mut self, at: &At<'_>, name: &str) {
        let path = member(&at.path, name);
        let names = at.names(self.schema);
        self.push(Fault {
            message: format!("Unknown parameter: {path}"),
            path,
            kind: FaultKind::Unknown,
            did_you_mean: nearest_one(name, names.iter().copied()).map(str::to_owned),
            options: names.into_iter().map(str::to_owned).collect(),
            ..Fault::default()
        });
    }

    /// A member that no subschema has accepted. If one names it, that one was violated, or does not
    /// apply to these arguments.
    fn unevaluated(&mut self, at: &At<'_>, name: &str) {
        if !at.names(self.schema).contains(&name) {
            return self.unknown(at, name);
        }
        if !self.is_one_of_several {
            let path = member(&at.path, name);
            let message =
                format!("Parameter {path} is not allowed beside these arguments, or not of its form");
            self.push(Fault { path, kind: FaultKind::Other, message, ..Fault::default() });
        }
    }

    /// The faults of the nearest alternative; of several equally near ones, the types that they
    /// take.
    fn alternatives(&mut self, at: &At<'_>, context: &[Vec<ValidationError<'static>>]) {
        let near = nearest_branches(context, at.pointer);
        if let [branch] = near[..] {
            for error in branch {
                self.add(error);
            }
            return;
        }
        let mut types = Vec::new();
        for error in near.iter().copied().flatten() {
            let here = error.instance_path().as_str() == at.pointer;
            if let (true, Kind::Type { kind }) = (here, error.kind()) {
                types.extend(
                    types_in(kind).into_iter().filter(|name| !types.contains(name)).collect::<Vec<_>>(),
                );
            }
        }
        let fault = if types.is_empty() {
            self.plain(at, FaultKind::Other, "matches none of the forms it may have", "Value for")
        } else {
            self.wrong_type(at, &types)
        };
        self.push(fault);
    }

    fn of_kind(&self, at: &At<'_>, kind: &Kind, error: &ValidationError<'_>) -> Fault {
        match kind {
            Kind::Type { kind } => self.no_json(at).unwrap_or_else(|| self.wrong_type(at, &types_in(kind))),
            Kind::Enum { options } => {
                let options = options.as_array().map_or(std::slice::from_ref(&**options), Vec::as_slice);
                self.none_of(at, options)
            }
            Kind::Constant { expected_value } => self.none_of(at, std::slice::from_ref(&**expected_value)),
            Kind::Maximum { limit } => self.range(at, "exceeds maximum", limit),
            Kind::Minimum { limit } => self.range(at, "is below minimum", limit),
            Kind::ExclusiveMaximum { limit } => self.range(at, "is not below exclusive maximum", limit),
            Kind::ExclusiveMinimum { limit } => self.range(at, "is not above exclusive minimum", limit),
            Kind::MultipleOf { multiple_of } => self.range(at, "is not a multiple of", multiple_of),
            Kind::MaxLength { limit } => self.length(at, "is longer than maximum length", *limit),
            Kind::MinLength { limit } => self.length(at, "is shorter than minimum length", *limit),
            Kind::MaxItems { limit } => self.length(at, "has more items than maximum", *limit),
            Kind::MinItems { limit } => self.length(at, "has fewer items than minimum", *limit),
            Kind::MaxProperties { limit } => self.length(at, "has more members than maximum", *limit),
            Kind::MinProperties { limit } => self.length(at, "has fewer members than minimum", *limit),
            Kind::Pattern { pattern } => {
                let what = format!("does not match pattern: {pattern}");
                self.plain(at, FaultKind::Form, &what, "Value for")
            }
            Kind::Format { format } => {
                self.plain(at, FaultKind::Form, &format!("is no {format}"), "Value for")
            }
            Kind::UniqueItems => self.plain(at, FaultKind::Other, "has equal items", "Value for"),
            Kind::FalseSchema => self.plain(at, FaultKind::Unknown, "is not allowed", "Parameter"),
            Kind::OneOfMultipleValid { .. } => self.plain(
                at,
                FaultKind::Other,
                "matches several forms of which it may have one",
                "Value for",
            ),
            _ => {
                let what = format!("breaks the rule `{}`: {}", kind.keyword(), error.masked());
                self.plain(at, FaultKind::Other, &what, "Value for")
            }
        }
    }

    /// The fault of arguments that a model wrote as a string, if it is not JSON.
    fn no_json(&self, at: &At<'_>) -> Option<Fault> {
        if !at.pointer.is_empty() {
            return None;
        }
        let text = at.value.as_str()?;
        let error = serde_json::from_str::<IgnoredAny>(text).err()?;
        Some(self.plain(at, FaultKind::Form, &format!("are not JSON: {error}"), "The"))
    }

    fn wrong_type(&self, at: &At<'_>, types: &[&'static str]) -> Fault {
        let expected = types.join(" or ");
        Fault {
            message: format!("Invalid type for {}: expected {expected}", named(&at.path)),
            received: Some(format!("{} ({})", self.received(at), type_of(at.value))),
            expected: Some(expected),
            ..at.fault(FaultKind::Type)
        }
    }

    fn none_of(&self, at: &At<'_>, options: &[Value]) -> Fault {
        let listed = options.iter().map(listed).collect::<Vec<_>>().join(", ");
        let texts = options.iter().filter_map(Value::as_str);
        let meant = at.value.as_str().and_then(|word| nearest_one(word, texts));
        Fault {
            message: format!("Invalid value for {}: must be one of [{listed}]", named(&at.path)),
            received: Some(self.received(at)),
            options: options.iter().map(bare).collect(),
            did_you_mean: meant.map(str::to_owned),
            ..at.fault(FaultKind::Value)
        }
    }

    fn range(&self, at: &At<'_>, what: &str, limit: &impl ToString) -> Fault {
        Fault {
            constraints: at.constraints(),
            ..self.plain(at, FaultKind::Range, &format!("{what}: {}", limit.to_string()), "Value for")
        }
    }

    fn length(&self, at: &At<'_>, what: &str, limit: u64) -> Fault {
        let length = match at.value {
            Value::String(text) => format!("{} characters", text.chars().count()),
            Value::Array(items) => format!("{} items", items.len()),
            Value::Object(members) => format!("{} members", members.len()),
            _ => String::new(),
        };
        Fault {
            message: format!("Value for {} {what}: {limit}", named(&at.path)),
            received: Some(format!("{} ({length})", self.received(at))),
            constraints: at.constraints(),
            ..at.fault(FaultKind::Length)
        }
    }

    fn plain(&self, at: &At<'_>, kind: FaultKind, what: &str, whose: &str) -> Fault {
        Fault {
            message: format!("{whose} {} {what}", named(&at.path)),
            received: Some(self.received(at)),
            ..at.fault(kind)
        }
    }

    fn received(&self, at: &At<'_>) -> String {
        received(at.value, at.pointer, self.redaction)
    }
}

impl<'a> At<'a> {
    /// The known names of members here.
    fn names(&self, schema: &'a Schema) -> Vec<&'a str> {
        self.schema.map(|here| names(&schema.text, here)).unwrap_or_default()
    }

    fn fault(&self, kind: FaultKind) -> Fault {
        Fault { path: self.path.clone(), kind, ..Fault::default() }
    }

    fn constraints(&self) -> Option<String> {
        ToolParameter::constraints(self.schema?)
    }
}

/// Returns the name of a path for a sentence.
fn named(path: &str) -> &str {
    if path.is_empty() { "arguments" } else { path }
}

/// A parameter in a list: `file_path (string) - Absolute path to the file to read`.
fn described(parameter: &ToolParameter) -> String {
    let ToolParameter { name, type_, description, .. } = parameter;
    if description.is_empty() {
        format!("{name} ({type_})")
    } else {
        format!("{name} ({type_}) - {description}")
    }
}

fn types_in(kind: &TypeKind) -> Vec<&'static str> {
    match kind {
        TypeKind::Single(one) => vec![one.as_str()],
        TypeKind::Multiple(several) => several.iter().map(JsonType::as_str).collect(),
    }
}

/// A value in a list of options: texts in single quotes.
fn listed(option: &Value) -> String {
    option.as_str().map_or_else(|| option.to_string(), |text| format!("'{text}'"))
}

/// The same without quotes.
fn bare(option: &Value) -> String {
    option.as_str().map_or_else(|| option.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
