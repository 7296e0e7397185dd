//! Calls a tool with any JSON as arguments. Valid arguments are not changed, healed arguments
//! follow from the given ones, and all others are refused with a printable message.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};
use trommel_display::{DisplayOptions, Problem, Show};
use trommel_tool::{Context, ErrorKind, Executor, Function, Metadata, Output, Registry, ToolExecution};

static EXECUTOR: LazyLock<Executor> = LazyLock::new(|| {
    let schema = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "minLength": 1, "maxLength": 8},
            "limit": {"type": "integer", "minimum": 0, "maximum": 100},
            "ratio": {"type": "number"},
            "flag": {"type": "boolean"},
            "maybe": {"type": ["integer", "null"]},
            "kind": {"enum": ["a", "b"]},
            "paths": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "counts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
                    "required": ["path"],
                    "additionalProperties": false
                }
            },
            "either": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}
        },
        "required": ["id"],
        "additionalProperties": false
    });
    let registry = Registry::new();
    let echo = Function::new(Metadata::new("echo", "Says what it was given", schema), |call| {
        Output::json(call.arguments).map_err(|error| error.to_string().into())
    });
    registry.register(echo).unwrap();
    Executor::new(Arc::new(registry)).remember(1)
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(given) = serde_json::from_slice::<Value>(bytes) else { return };
    let done = call(&given);
    let healed = done.result.metadata.contains_key("healed");
    match done.result.error_kind() {
        None => {
            let got = Value::Object(done.parameters.clone());
            assert!(fits(&got), "{got} ran");
            assert!(follows(&given, &got) || given.is_null() && got == json!({}), "{given} became {got}");
            assert_eq!(healed, !fits(&given));
            let again = call(&got);
            assert!(again.result.success && again.parameters == done.parameters, "{got} was healed twice");
        }
        Some(ErrorKind::InvalidArguments) => {
            assert!(!fits(&given), "{given} was refused");
            let error = done.result.error.as_ref().unwrap();
            assert!(!error.faults.is_empty() && error.faults.iter().all(|fault| !fault.message.is_empty()));
            assert!(error.to_string().len() < 20_000);
        }
        Some(kind) => panic!("{kind:?}"),
    }
    let shown = Problem::new(&done, None).text(&DisplayOptions::new().utc());
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    let kept = serde_json::to_string(&done).unwrap();
    assert_eq!(serde_json::from_str::<ToolExecution>(&kept).unwrap(), done);
});

fn call(arguments: &Value) -> ToolExecution {
    EXECUTOR.call("echo", arguments.clone(), &Context::default())
}

/// True if the arguments conform to the schema: a second implementation, in code.
fn fits(arguments: &Value) -> bool {
    let Value::Object(members) = arguments else { return false };
    members.contains_key("id") && members.iter().all(|(name, value)| is_argument(name, value))
}

fn is_argument(name: &str, value: &Value) -> bool {
    match name {
        "id" => value.as_str().is_some_and(|text| (1..=8).contains(&text.chars().count())),
        "limit" => is_integer(value) && value.as_f64().is_some_and(|limit| (0.0..=100.0).contains(&limit)),
        "ratio" => value.is_number(),
        "flag" => value.is_boolean(),
        "maybe" => value.is_null() || is_integer(value),
        "kind" => value == "a" || value == "b",
        "paths" => value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(Value::is_string)),
        "counts" => value.as_array().is_some_and(|all| all.iter().all(is_count)),
        "either" => is_integer(value) || value.as_array().is_some_and(|all| all.iter().all(is_integer)),
        _ => false,
    }
}

fn is_count(value: &Value) -> bool {
    let Value::Object(members) = value else { return false };
    members.contains_key("path")
        && members.iter().all(|(name, value)| match name.as_str() {
            "path" => value.is_string(),
            "limit" => is_integer(value),
            _ => false,
        })
}

/// True for a number without a fraction, in any notation.
fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// True if a value is the given one, after parsing its strings as values and removing null members.
fn follows(given: &Value, got: &Value) -> bool {
    if given == got {
        return true;
    }
    match (given, got) {
        // A text that does not look like an array becomes the only element of an array of texts.
        (Value::String(text), Value::Array(items)) if items.as_slice() == [given.clone()] => {
            !text.trim_start().starts_with(['[', '{'])
        }
        (Value::String(text), got) => spells(text).is_some_and(|spelled| follows(&spelled, got)),
        (Value::Object(given), Value::Object(got)) => members_follow(given, got),
        (Value::Array(given), Value::Array(got)) => {
            let each =
                given.len() == got.len() && given.iter().zip(got).all(|(given, got)| follows(given, got));
            let whole = || match given.as_slice() {
                [Value::String(text)] => spells(text).is_some_and(|spelled| {
                    spelled.is_array() && follows(&spelled, &Value::Array(got.clone()))
                }),
                _ => false,
            };
            each || whole()
        }
        _ => false,
    }
}

fn members_follow(given: &Map<String, Value>, got: &Map<String, Value>) -> bool {
    got.keys().all(|name| given.contains_key(name))
        && given.iter().all(|(name, value)| match got.get(name) {
            Some(got) => follows(value, got),
            None => value.is_null(),
        })
}

/// Parses a text as JSON. Also accepts yes and no, in any case of letters.
fn spells(text: &str) -> Option<Value> {
    let text = text.trim();
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&text.to_ascii_lowercase())).ok()
}
