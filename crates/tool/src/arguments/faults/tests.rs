use serde_json::json;

use super::*;

const RATIO: &str = "Constraints: exclusive_minimum=0, exclusive_maximum=1, multiple_of=0.25";
const PATHS: &str = "Constraints: min_items=1, max_items=2";

fn read() -> Schema {
    Schema::compile(&json!({
        "type": "object",
        "properties": {
            "file_path": {
                "type": "string", "description": "Absolute path to the file to read", "minLength": 1, "maxLength": 20
            },
            "offset": {"type": "integer", "minimum": 0},
            "limit": {"type": "integer", "minimum": 1, "maximum": 10000},
            "ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.25},
            "format": {"enum": ["openai", "anthropic", "langchain"]},
            "paths": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2, "uniqueItems": true},
            "counts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}, "count_type": {"enum": ["matches"]}},
                    "required": ["path"],
                    "additionalProperties": false
                }
            },
            "either": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
            "password": {"type": "integer"},
            "id": {"type": "string", "pattern": "^[a-z]+$"}
        },
        "required": ["file_path"],
        "additionalProperties": false
    }))
    .unwrap()
}

fn found(schema: &Schema, arguments: &Value) -> Vec<Fault> {
    super::check(schema, arguments, &Redaction::new())
}

fn faults(arguments: Value) -> Vec<Fault> {
    let mut arguments = arguments;
    if arguments.get("file_path").is_none() {
        arguments["file_path"] = json!("/a");
    }
    found(&read(), &arguments)
}

fn lines(arguments: Value) -> Vec<String> {
    let faults = faults(arguments);
    faults.into_iter().flat_map(|fault| [vec![fault.message.clone()], fault.details()].concat()).collect()
}

/// R45: an error has the received value, the expected one, and advice, in the sentences of the
/// wireframes.
#[test]
fn r45_values_out_of_bounds() {
    check(&[
        (
            json!({"offset": "100x"}),
            &[
                "Invalid type for offset: expected integer",
                "Received: \"100x\" (string)",
                "Expected: integer",
            ],
        ),
        (
            json!({"format": "unknown"}),
            &[
                "Invalid value for format: must be one of ['openai', 'anthropic', 'langchain']",
                "Received: \"unknown\"",
                "Valid options: openai, anthropic, langchain",
            ],
        ),
        (
            json!({"format": "openal"}),
            &[
                "Invalid value for format: must be one of ['openai', 'anthropic', 'langchain']",
                "Received: \"openal\"",
                "Valid options: openai, anthropic, langchain",
                "Did you mean: openai?",
            ],
        ),
        (
            json!({"limit": 50000}),
            &[
                "Value for limit exceeds maximum: 10000",
                "Received: 50000",
                "Constraints: minimum=1, maximum=10000",
            ],
        ),
        (
            json!({"limit": 0}),
            &["Value for limit is below minimum: 1", "Received: 0", "Constraints: minimum=1, maximum=10000"],
        ),
        (json!({"ratio": 1}), &["Value for ratio is not below exclusive maximum: 1", "Received: 1", RATIO]),
        (json!({"ratio": 0}), &["Value for ratio is not above exclusive minimum: 0", "Received: 0", RATIO]),
        (json!({"ratio": 0.3}), &["Value for ratio is not a multiple of: 0.25", "Received: 0.3", RATIO]),
    ]);
}

/// R45: so do errors of lengths, places and alternatives.
#[test]
fn r45_locations_and_lengths() {
    check(&[
        (
            json!({"file_path": ""}),
            &[
                "Value for file_path is shorter than minimum length: 1",
                "Received: \"\" (0 characters)",
                "Constraints: min_length=1, max_length=20",
            ],
        ),
        (
            json!({"paths": []}),
            &["Value for paths has fewer items than minimum: 1", "Received: [] (0 items)", PATHS],
        ),
        (
            json!({"paths": ["a", "b", "c"]}),
            &[
                "Value for paths has more items than maximum: 2",
                "Received: [\"a\", \"b\", \"c\"] (3 items)",
                PATHS,
            ],
        ),
        (json!({"paths": ["a", "a"]}), &["Value for paths has equal items", "Received: [\"a\", \"a\"]"]),
        (
            json!({"counts": [{"path": "$"}, {"paht": "$"}]}),
            &[
                "Missing required parameter: counts[1].path",
                "Required parameters:",
                "  • path (string)",
                "Unknown parameter: counts[1].paht",
                "Valid parameters: path, count_type",
                "Did you mean: path?",
            ],
        ),
        (
            json!({"counts": [{"path": 1}]}),
            &[
                "Invalid type for counts[0].path: expected string",
                "Received: 1 (integer)",
                "Expected: string",
            ],
        ),
        (
            json!({"either": true}),
            &[
                "Invalid type for either: expected integer or array",
                "Received: true (boolean)",
                "Expected: integer or array",
            ],
        ),
        (
            json!({"either": [1, "x"]}),
            &[
                "Invalid type for either[1]: expected integer",
                "Received: \"x\" (string)",
                "Expected: integer",
            ],
        ),
        (json!({"id": "A"}), &["Value for id does not match pattern: ^[a-z]+$", "Received: \"A\""]),
    ]);
}

/// Each of these arguments is answered by these lines.
fn check(cases: &[(Value, &[&str])]) {
    for (given, expected) in cases {
        assert_eq!(lines(given.clone()), *expected, "{given}");
    }
}

#[test]
fn missing_arguments_are_listed() {
    let faults = found(&read(), &json!({}));
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].message, "Missing required parameter: file_path");
    let details = ["Required parameters:", "  • file_path (string) - Absolute path to the file to read"];
    assert_eq!(faults[0].details(), details);
}

#[test]
fn all_faults_are_reported_at_once() {
    let given = json!({"limt": 5, "offset": "x", "limit": 0, "format": 7});
    let faults = found(&read(), &given);
    let messages = faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>();
    assert_eq!(
        messages,
        [
            "Missing required parameter: file_path",
            "Unknown parameter: limt",
            "Invalid type for offset: expected integer",
            "Value for limit is below minimum: 1",
            "Invalid value for format: must be one of ['openai', 'anthropic', 'langchain']",
        ]
    );
    assert_eq!(faults[1].did_you_mean.as_deref(), Some("limit"));
}

#[test]
fn there_is_an_end_to_telling() {
    let many = (0..1_000).map(|n| (format!("x{n}"), json!(n))).collect();
    let faults = found(&read(), &Value::Object(many));
    assert_eq!(faults.len(), 21);
    assert_eq!(faults.last().unwrap().message, "981 further faults");
}

#[test]
fn arguments_that_are_no_object() {
    let faults = found(&read(), &json!([1]));
    assert_eq!(faults[0].message, "Invalid type for arguments: expected object");
    assert_eq!((faults[0].kind, faults[0].path.as_str()), (FaultKind::Type, ""));
}

/// R25: a fault does not repeat a secret.
#[test]
fn r25_faults_hide_secrets() {
    assert!(lines(json!({"password": "CANARY"})).contains(&"Received: [redacted] (string)".to_owned()));
    let long = lines(json!({"offset": format!("Bearer CANARY {}", "x".repeat(100_000))})).join("\n");
    assert!(!long.contains("CANARY") && long.len() < 500, "{long}");
}

#[test]
fn schemas_that_cannot_be_used() {
    let deep = (0..200).fold(json!(true), |inner, _| json!({"not": inner}));
    let cases = [
        (json!({"type": "object", "properties": {"a": {"type": "text"}}}), "text"),
        (json!({"properties": {}}), "\"type\": \"object\""),
        (json!(true), "\"type\": \"object\""),
        (
            json!({"type": "object", "properties": {"a": {"$ref": "https://example.org/a.json"}}}),
            "example.org",
        ),
        (json!({"type": "object", "properties": {"a": {"pattern": "("}}}), "pattern"),
        (json!({"type": "object", "not": deep}), "deep"),
    ];
    for (schema, why) in cases {
        let error = Schema::compile(&schema).unwrap_err().to_string();
        assert!(error.contains(why) || error.contains("regex"), "{schema}: {error}");
    }
}

#[test]
fn arguments_that_are_not_named_are_refused() {
    let judged = |schema: Value| found(&Schema::compile(&schema).unwrap(), &json!({"b": 1}));
    let named = json!({"type": "object", "properties": {"a": true}});
    assert_eq!(judged(named.clone())[0].message, "Unknown parameter: b");
    let mut open = named.clone();
    open["additionalProperties"] = json!(true);
    assert!(judged(open).is_empty());
    let mut several = named;
    several["anyOf"] = json!([{"properties": {"b": true}}]);
    assert!(judged(several).is_empty());
    assert!(judged(json!({"type": "object"})).is_empty());
    let patterns = json!({"type": "object", "properties": {}, "patternProperties": {"^b": true}});
    assert!(judged(patterns).is_empty());
}

/// Also where a schema has alternatives: a name in none of them is unknown, and one in a broken one
/// is not called so.
#[test]
fn alternatives_do_not_open_arguments() {
    let schema = json!({
        "type": "object",
        "properties": {"size": {"type": "integer"}},
        "anyOf": [{"properties": {"name": {"type": "string"}}, "required": ["name"]}, {"required": ["size"]}]
    });
    let schema = Schema::compile(&schema).unwrap();
    let judged = |arguments: Value| {
        let faults = found(&schema, &arguments);
        faults.into_iter().map(|fault| (fault.message, fault.options.join(" "))).collect::<Vec<_>>()
    };
    assert!(judged(json!({"name": "a"})).is_empty());
    assert!(judged(json!({"name": "a", "size": 1})).is_empty());
    let [(message, options)] = &judged(json!({"size": 1, "nam": 1}))[..] else { panic!("one fault") };
    assert_eq!((message.as_str(), options.as_str()), ("Unknown parameter: nam", "size name"));
    let [(message, _)] = &judged(json!({"size": 1, "name": 1}))[..] else { panic!("one fault") };
    assert!(message.starts_with("Parameter name is not allowed beside"), "{message}");
    let faults = judged(json!({"name": 1}));
    assert!(
        !faults.is_empty() && faults.iter().all(|(message, _)| !message.contains("not allowed")),
        "{faults:?}"
    );
}

/// Many models pass arguments as a text. If it is not valid JSON, the error says so.
#[test]
fn texts_that_are_not_json_are_explained() {
    let judged = |text: &str| found(&read(), &json!(text));
    let fault = &judged("{\"file_path\": ")[0];
    assert_eq!(fault.message, "The arguments are not JSON: EOF while parsing a value at line 1 column 14");
    assert_eq!((fault.kind, fault.path.as_str()), (FaultKind::Form, ""));
    assert_eq!(fault.received.as_deref(), Some("\"{\\\"file_path\\\": \""));
    assert_eq!(judged("[1]")[0].message, "Invalid type for arguments: expected object");
}

/// Patterns that need to look around are still understood.
#[test]
fn patterns_may_look_around() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?!x)"}}});
    let schema = Schema::compile(&schema).unwrap();
    assert_eq!(found(&schema, &json!({"a": "x"})).len(), 1);
    assert!(found(&schema, &json!({"a": "y"})).is_empty());
}

/// The rules that tools rarely use.
#[test]
fn rare_rules_are_named() {
    let schema = json!({
        "type": "object",
        "properties": {
            "map": {"type": "object", "minProperties": 1, "maxProperties": 2},
            "mode": {"const": "fast"},
            "never": false,
            "one": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
            "some": {"type": "array", "contains": {"type": "integer"}}
        }
    });
    let schema = Schema::compile(&schema).unwrap();
    for (arguments, message) in [
        (json!({"map": {}}), "Value for map has fewer members than minimum: 1"),
        (json!({"map": {"a": 1, "b": 2, "c": 3}}), "Value for map has more members than maximum: 2"),
        (json!({"mode": "slow"}), "Invalid value for mode: must be one of ['fast']"),
        (json!({"never": 1}), "Parameter never is not allowed"),
        (json!({"one": 1}), "Value for one matches several forms of which it may have one"),
        (json!({"some": ["a"]}), "Value for some breaks the rule `contains`"),
    ] {
        let faults = found(&schema, &arguments);
        let messages: Vec<_> = faults.iter().map(|fault| fault.message.as_str()).collect();
        assert!(messages.len() == 1 && messages[0].starts_with(message), "{arguments}: {messages:?}");
    }
}
