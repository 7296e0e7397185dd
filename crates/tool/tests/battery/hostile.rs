//! Hostile arguments.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use trommel_tool::{Context, ErrorKind, Executor, Failure, Metadata, Output};

use crate::support::only;

fn executor() -> Executor {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 0},
            "flags": {"type": "array", "items": {"type": "boolean"}},
            "inner": {"type": "object", "properties": {"n": {"type": "number"}}, "additionalProperties": false}
        },
        "additionalProperties": false
    });
    only(Metadata::new("t", "", schema), |call| {
        Output::json(call.arguments).map_err(|error| error.to_string().into())
    })
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("[true, \"false\"]")),
        Just(json!("{\"n\": \"1.5\"}")),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        let name = prop_oneof![
            any::<String>(),
            prop::sample::select(vec!["path", "limit", "flags", "inner", "n"]).prop_map(str::to_owned)
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// R13: any JSON as arguments, and any text as a name, gives a result.
    #[test]
    fn r13_any_arguments_give_a_result(arguments in any_json(), name in prop_oneof![Just("t".to_owned()), any::<String>()]) {
        let executor = executor();
        let done = executor.call(&name, arguments, &Context::default());
        let kind = done.result.error_kind();
        let foreseen = [None, Some(ErrorKind::InvalidArguments), Some(ErrorKind::NotFound)].contains(&kind);
        prop_assert!(foreseen, "{:?}", done.result.error);
        prop_assert_eq!(done.result.success, kind.is_none());
        serde_json::to_string(&done).unwrap();
        executor.history(1).unwrap();
    }
}

/// R13: depth takes no stack, neither when it is judged nor when it is given up.
#[test]
fn r13_depth_is_refused() {
    let deep = || (0..1_000_000).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let error = executor().call("t", deep(), &Context::default()).result.error.unwrap();
    assert_eq!(error.kind, ErrorKind::InvalidArguments);
    assert_eq!(error.message, "Arguments are nested deeper than 128 levels");
    let error = executor().call("no such tool", deep(), &Context::default()).result.error.unwrap();
    assert_eq!(error.kind, ErrorKind::NotFound);
    let text = "[".repeat(1_000_000);
    let error = executor().call("t", json!({"flags": text}), &Context::default()).result.error.unwrap();
    assert_eq!(error.message, "Invalid type for flags: expected array");
}

/// R13: so is the depth of what a tool notes.
#[test]
fn r13_notes_are_shallow() {
    let deep = || (0..1_000_000).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let executor = only(Metadata::new("t", "", json!({"type": "object"})), move |call| {
        call.note("noted", deep());
        Err(Failure::new("no").with("added", deep()))
    });
    let metadata = executor.call("t", json!({}), &Context::default()).result.metadata;
    for key in ["noted", "added"] {
        assert_eq!(metadata[key], "[nested deeper than 128 levels]");
    }
}

/// R13: a name that is long is not repeated at length.
#[test]
fn r13_long_names_are_shortened() {
    let arguments = json!({"x".repeat(1_000_000): 1, "inner": {"y".repeat(1_000_000): 1}});
    let error = executor().call("t", arguments, &Context::default()).result.error.unwrap();
    assert_eq!(error.faults.len(), 2);
    assert!(error.to_string().len() < 1_000, "{error}");
}

/// R13: many faults, and much to heal, take time in proportion.
#[test]
fn r13_many_faults_take_no_age() {
    let clock = Instant::now();
    let flags = json!({"flags": vec!["true"; 100_000]});
    assert!(executor().call("t", flags, &bounded()).result.success);
    let wrong = json!({"flags": vec!["perhaps"; 100_000]});
    let error = executor().call("t", wrong, &bounded()).result.error.unwrap();
    assert_eq!(error.faults.len(), 21);
    assert!(error.to_string().len() < 10_000);
    let unknown = (0..10_000).map(|n| (format!("limi{n}"), json!(n))).collect();
    let error = executor().call("t", Value::Object(unknown), &bounded()).result.error.unwrap();
    assert!(error.to_string().len() < 10_000);
    assert!(clock.elapsed() < Duration::from_secs(20), "{:?}", clock.elapsed());
}

fn bounded() -> Context {
    let mut context = Context::default();
    context.max_output_size = 10_000_000;
    context
}
