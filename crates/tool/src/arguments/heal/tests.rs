use proptest::prelude::*;

use super::*;
use crate::arguments::faults::check;

fn compiled(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap()
}

fn properties(properties: &Value) -> Schema {
    compiled(
        &json!({"type": "object", "properties": properties, "required": ["must"], "additionalProperties": false}),
    )
}

/// A schema with a bit of everything.
fn everything() -> Schema {
    properties(&json!({
        "must": {"type": ["string", "null"]},
        "integer": {"type": "integer"},
        "number": {"type": "number"},
        "boolean": {"type": "boolean"},
        "nothing": {"type": ["integer", "null"]},
        "paths": {"type": "array", "items": {"type": "string"}},
        "dollars": {"type": "array", "items": {"type": "string", "pattern": "^\\$"}},
        "counts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
                "required": ["path"]
            }
        },
        "either": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
        "form": {"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "n": {"type": "string"}}, "required": ["kind"]}
        ]},
        "one": {"enum": ["x", "y"]},
        "any": true
    }))
}

fn mended(arguments: Value) -> Value {
    let mut arguments = arguments;
    arguments["must"] = json!("");
    let mut healed = heal(&everything(), arguments).0;
    healed.as_object_mut().unwrap().remove("must");
    healed
}

#[test]
fn texts_become_the_expected_type() {
    let cases = [
        (json!({"integer": "100"}), json!({"integer": 100})),
        (json!({"integer": " -5 "}), json!({"integer": -5})),
        (json!({"number": "1.5"}), json!({"number": 1.5})),
        (json!({"number": "1e3"}), json!({"number": 1e3})),
        (json!({"boolean": "true"}), json!({"boolean": true})),
        (json!({"boolean": "False"}), json!({"boolean": false})),
        (json!({"nothing": "null"}), json!({"nothing": null})),
        (json!({"nothing": "7"}), json!({"nothing": 7})),
        (json!({"paths": "[\"$.a\", \"$.b\"]"}), json!({"paths": ["$.a", "$.b"]})),
        (json!({"paths": "$.a"}), json!({"paths": ["$.a"]})),
        (json!({"dollars": ["[\"$.a\", \"$.b\"]"]}), json!({"dollars": ["$.a", "$.b"]})),
        (
            json!({"counts": "[{\"path\": \"$\", \"limit\": \"3\"}]"}),
            json!({"counts": [{"path": "$", "limit": 3}]}),
        ),
        (json!({"counts": ["[{\"path\": \"$\"}]"]}), json!({"counts": [{"path": "$"}]})),
        (json!({"counts": ["{\"path\": \"$\"}"]}), json!({"counts": [{"path": "$"}]})),
        (json!({"either": "5"}), json!({"either": 5})),
        (json!({"either": "[5, \"6\"]"}), json!({"either": [5, 6]})),
        (json!({"form": {"kind": "a", "n": "1"}}), json!({"form": {"kind": "a", "n": 1}})),
    ];
    for (given, right) in cases {
        assert_eq!(mended(given.clone()), right, "{given}");
    }
}

#[test]
fn references_are_healed_and_reported() {
    let schema = compiled(&json!({
        "type": "object",
        "properties": {"counts": {"type": "array", "items": {"$ref": "#/$defs/count"}}},
        "$defs": {"count": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["path"],
            "additionalProperties": false
        }}
    }));
    let given = json!({"counts": ["{\"path\": \"$\", \"limit\": null}", {"path": "$", "limit": "7"}]});
    let right = json!({"counts": [{"path": "$"}, {"path": "$", "limit": 7}]});
    assert_eq!(heal(&schema, given).0, right);
    let faults = check(&schema, &json!({"counts": [{"paht": "$"}]}), &Redaction::new());
    assert_eq!(faults[0].required, ["path (string)"]);
    assert_eq!(faults[1].did_you_mean.as_deref(), Some("path"));
}

#[test]
fn nothing_is_guessed() {
    let cases = [
        json!({"integer": "ten"}),
        json!({"integer": "1.5"}),
        json!({"integer": "0x10"}),
        json!({"integer": "1_000"}),
        json!({"integer": "99999999999999999999999"}),
        json!({"number": "NaN"}),
        json!({"number": "99999999999999999999999"}),
        json!({"boolean": "yes"}),
        json!({"boolean": 1}),
        json!({"paths": "{\"a\": 1}"}),
        json!({"paths": "[$.a"}),
        json!({"counts": "$.a"}),
        json!({"counts": "[{"}),
        json!({"one": "[\"x\"]"}),
        json!({"form": {"kind": "b", "n": "1"}}),
        json!({"form": {"kind": "b", "n": 1}}),
    ];
    for given in cases {
        assert_eq!(mended(given.clone()), given);
    }
}

#[test]
fn valid_arguments_are_not_healed() {
    for given in
        [json!({"paths": ["[\"$.a\"]"]}), json!({"any": "5"}), json!({"any": null}), json!({"one": "x"})]
    {
        assert_eq!(mended(given.clone()), given);
    }
}

#[test]
fn an_optional_null_is_as_good_as_absent() {
    let given =
        json!({"integer": null, "counts": [{"path": "$", "limit": null}], "one": null, "either": null});
    assert_eq!(mended(given), json!({"counts": [{"path": "$"}]}));
    let required = heal(&everything(), json!({"must": null, "counts": [{"path": null}]})).0;
    assert_eq!(required, json!({"must": null, "counts": [{"path": null}]}));
}

#[test]
fn arguments_as_a_whole_may_be_a_text_or_missing() {
    let schema = compiled(&json!({"type": "object", "properties": {"n": {"type": "integer"}}}));
    assert_eq!(heal(&schema, json!("{\"n\": \"5\"}")).0, json!({"n": 5}));
    assert_eq!(heal(&schema, json!(null)).0, json!({}));
    assert_eq!(heal(&schema, json!([1])).0, json!([1]));
}

#[test]
fn references_are_followed() {
    let schema = compiled(&json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/$defs/o"}},
        "$defs": {"n": {"type": "integer"}, "o": {"type": "object", "properties": {"x": {"type": "boolean"}}}}
    }));
    let healed = heal(&schema, json!({"a": "1", "b": {"x": null}})).0;
    assert_eq!(healed, json!({"a": 1, "b": {}}));
}

#[test]
fn healing_is_reported() {
    let given = json!({"must": "", "integer": "100", "counts": "[{\"path\": \"$\", \"limit\": \"3\"}]", "boolean": null});
    let (_, healed) = heal(&everything(), given);
    let told = report(healed, &Redaction::new());
    let expected = json!({"healed": [
        {"path": "boolean", "from": null},
        {"path": "counts", "from": "[{\"path\": \"$\", \"limit\": \"3\"}]", "to": [{"path": "$", "limit": "3"}]},
        {"path": "integer", "from": "100", "to": 100},
        {"path": "counts[0].limit", "from": "3", "to": 3},
    ]});
    assert_eq!(Value::Object(told), expected);
}

/// R25: the report of healed arguments redacts secrets and truncates long values.
#[test]
fn r25_healing_report_has_no_secrets() {
    let schema = compiled(&json!({"type": "object", "properties": {
        "password": {"type": "integer"}, "many": {"type": "array", "items": {"type": "integer"}}
    }}));
    let (_, healed) = heal(&schema, json!({"password": "1234", "many": vec!["7"; 1_000]}));
    let told = report(healed, &Redaction::new());
    let text = serde_json::to_string(&told).unwrap();
    assert!(!text.contains("1234") && text.len() < 10_000, "{text}");
    assert_eq!(told["healed_more"], 951);
    let (_, healed) = heal(&schema, json!({"many": format!("[{}1]", "1, ".repeat(10_000))}));
    assert!(serde_json::to_string(&report(healed, &Redaction::new())).unwrap().len() < 1_000);
}

#[test]
fn layers_of_quotes_come_off() {
    let schema = compiled(&json!({"type": "object", "properties": {"a": {"type": "object", "properties": {
        "b": {"type": "object", "properties": {"c": {"type": "integer"}}}
    }}}}));
    let c = json!({"c": "1"}).to_string();
    let b = json!({"b": c}).to_string();
    let a = json!({"a": b}).to_string();
    assert_eq!(heal(&schema, json!(a)).0, json!({"a": {"b": {"c": 1}}}));
}

/// Any JSON, with what healing looks for in it.
fn any_value() -> impl Strategy<Value = Value> {
    let texts = prop_oneof![
        "\\PC{0,8}",
        "-?[0-9]{1,25}(\\.[0-9]{1,3})?",
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("[\"$.a\", \"1\"]".to_owned()),
        Just("{\"path\": \"[1]\", \"limit\": \"3\", \"kind\": \"a\"}".to_owned()),
        Just("[{\"path\": \"$\", \"limit\": \"3\"}]".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        texts.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let names = prop_oneof![
            "[a-z]{1,6}",
            Just("path".to_owned()),
            Just("limit".to_owned()),
            Just("kind".to_owned())
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((names, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_arguments() -> impl Strategy<Value = Value> {
    let known = prop::sample::select(vec![
        "must", "integer", "number", "boolean", "nothing", "paths", "dollars", "counts", "either", "form",
        "one", "any", "x",
    ]);
    let object = prop::collection::vec((known, any_value()), 0..8).prop_map(|members| {
        Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    });
    prop_oneof![8 => object, 1 => any_value()]
}

proptest! {
    /// R13: healing and validation of any arguments do not panic. Healing is idempotent, and leaves
    /// valid arguments unchanged.
    #[test]
    fn r13_any_arguments_are_healed_once(given in any_arguments()) {
        let schema = everything();
        let (once, healed) = heal(&schema, given.clone());
        if schema.validator.is_valid(&given) {
            prop_assert_eq!(&once, &given);
            prop_assert!(healed.is_empty());
        }
        prop_assert_eq!(healed.is_empty(), once == given);
        let (twice, again) = heal(&schema, once.clone());
        prop_assert_eq!(&twice, &once);
        prop_assert!(again.is_empty());
        let faults = check(&schema, &once, &Redaction::new());
        prop_assert_eq!(faults.is_empty(), schema.validator.is_valid(&once));
        prop_assert!(faults.iter().all(|fault| !fault.message.is_empty()));
        report(healed, &Redaction::new());
    }
}

#[test]
fn a_filter_in_brackets_becomes_the_list_of_filters_that_is_wanted() {
    for text in [" @.n > 1", "[?(@.n > 1)]", " [?@.n]"] {
        assert_eq!(mended(json!({ "paths": text })), json!({ "paths": [text] }));
    }
}
