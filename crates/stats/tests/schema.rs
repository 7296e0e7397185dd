//! Every observed document satisfies its own schema, according to an independent validator.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use jsonschema::Validator;
use serde_json::{Value, json};
use support::{options, profile, summary};
use trommel_stats::{Accumulator as _, ProfileOptions};
use trommel_testkit::conformance;
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Shape, stream};
use trommel_testkit::naive::{Framing, records};

fn with_schema() -> ProfileOptions {
    options(|options| options.schema = true)
}

fn schema_text<T: AsRef<[u8]>>(options: ProfileOptions, documents: &[T]) -> String {
    summary(options, documents).schema.unwrap().into_json()
}

/// Returns the schema without its dialect, which is verified.
fn schema<T: AsRef<[u8]>>(options: ProfileOptions, documents: &[T]) -> Value {
    let mut schema: Value = serde_json::from_str(&schema_text(options, documents)).unwrap();
    let dialect = schema.as_object_mut().unwrap().remove("$schema");
    assert_eq!(dialect, Some(json!("https://json-schema.org/draft/2020-12/schema")));
    schema
}

/// Creates a validator that checks formats. Building it validates the schema against the dialect.
fn validator(schema: &str) -> Validator {
    let schema: Value = serde_json::from_str(schema).unwrap();
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{schema}");
    jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap()
}

fn check<T: AsRef<[u8]>>(options: ProfileOptions, documents: &[T]) {
    let schema = schema_text(options, documents);
    let validator = validator(&schema);
    for document in documents {
        let value: Value = serde_json::from_slice(document.as_ref()).unwrap();
        if let Err(error) = validator.validate(&value) {
            panic!(
                "{error} at {}\n{schema}\n{}",
                error.instance_path(),
                String::from_utf8_lossy(document.as_ref())
            );
        }
    }
}

fn lines(seed: u64, shape: &Shape, count: usize) -> Vec<Vec<u8>> {
    let text = stream(seed, shape, Framing::Lines, count);
    records(&text, Framing::Lines).iter().map(|record| text[record.span.range()].to_vec()).collect()
}

#[test]
fn schemas_accept_their_own_documents() {
    let shapes = [
        Shape::plain(),
        Shape { duplicates: true, ..Shape::plain() },
        Shape { values: 150, ..Shape::deep(40) },
    ];
    for seed in 0..cases(250, 20_000) {
        let shape = Shape { numbers: Shape::plain().numbers, ..shapes[seed as usize % 3] };
        let documents = lines(seed, &shape, 8);
        let tight = options(|options| {
            options.schema = true;
            options.max_depth = [10_000, 3, 2][seed as usize % 3];
            options.limits.names_per_path = [65_536, 3, 1][seed as usize / 3 % 3];
            options.limits.schema_nodes = [10_000, 5, 1][seed as usize / 9 % 3];
            options.limits.bytes = [64 << 20, 20_000][seed as usize / 27 % 2];
        });
        check(tight, &documents);
    }
}

#[test]
fn accepts_real_documents() {
    let Some(root) = conformance::root() else { return };
    for figures in conformance::figures(&root) {
        let text = std::fs::read(&figures.path).unwrap();
        let framing = if figures.records.is_some() { Framing::Lines } else { Framing::Single };
        let records = records(&text, framing);
        let documents: Vec<&[u8]> = records.iter().map(|record| &text[record.span.range()]).collect();
        check(with_schema(), &documents);
    }
}

#[test]
fn accepts_what_genson_accepts() {
    let Some(root) = conformance::root() else { return };
    let all = conformance::schema_cases(&root);
    assert!(all.len() > 20, "the suite is incomplete");
    for case in all {
        if !case.inputs.is_empty() {
            check(with_schema(), &case.inputs);
        }
    }
}

#[test]
fn describes_observed_types() {
    assert_eq!(schema::<&str>(with_schema(), &[]), json!({}));
    assert_eq!(schema(with_schema(), &["[]"]), json!({"type": "array"}));
    assert_eq!(schema(with_schema(), &["{}"]), json!({"type": "object"}));
    assert_eq!(schema(with_schema(), &["1", "-20"]), json!({"type": "integer"}));
    assert_eq!(schema(with_schema(), &["1", "1.0"]), json!({"type": "number"}));
    assert_eq!(schema(with_schema(), &["1e2"]), json!({"type": "number"}));
    assert_eq!(
        schema(with_schema(), &[r#"[1, "a", null, true]"#]),
        json!({"type": "array", "items": {"type": ["boolean", "null", "integer", "string"]}})
    );
    let text =
        schema_text(with_schema(), &[r#"{"b": 1, "a\"\\\u0001": "x"}"#, r#"{"c": [], "b": null}"#, "7"]);
    assert_eq!(
        text.split_once(',').unwrap().1,
        r#""type":["integer","object"],"properties":{"b":{"type":["null","integer"]},"a\"\\\u0001":{"type":"string"},"c":{"type":"array"}},"required":["b"]}"#
    );
}

/// A member that every object has is required, even if other objects repeat it.
#[test]
fn repeated_names_are_present_once() {
    let found = schema(with_schema(), &[r#"{"a":1,"a":2,"b":1}"#, r#"{"b":1}"#]);
    assert_eq!(found["required"], json!(["b"]));
}

fn map(names: std::ops::Range<u32>, value: impl Fn(u32) -> String) -> String {
    let members: Vec<String> = names.map(|name| format!(r#""k{name}":{}"#, value(name))).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn maps_have_no_properties() {
    let value = |name: u32| {
        if name.is_multiple_of(2) { r#"{"x":1}"#.into() } else { r#"{"x":"s","y":[true]}"#.into() }
    };
    let documents: Vec<String> = (0..3).map(|part| map(part * 40..part * 40 + 40, value)).collect();
    let expected = json!({"type": "object", "additionalProperties": {
        "type": "object",
        "properties": {"x": {"type": ["integer", "string"]}, "y": {"type": "array", "items": {"type": "boolean"}}},
        "required": ["x"]
    }});
    assert_eq!(schema(with_schema(), &documents), expected);
    check(with_schema(), &documents);
    // 100 names are not enough.
    let hundred: Vec<String> = (0..3).map(|part| map(part * 34..(part * 34 + 34).min(100), value)).collect();
    assert_eq!(schema(with_schema(), &hundred)["properties"].as_object().unwrap().len(), 100);
    // A name in half of the objects makes them records.
    let mut records = documents.clone();
    records.push(map(0..1, value));
    assert_eq!(schema(with_schema(), &records)["properties"].as_object().unwrap().len(), 120);
    // Maps in maps: all inner ones share one schema.
    let nested: Vec<String> = (0..3)
        .map(|part| map(part * 40..part * 40 + 40, |name| map(name * 50..name * 50 + 50, value)))
        .collect();
    assert_eq!(schema(with_schema(), &nested), json!({"type": "object", "additionalProperties": expected}));
    check(with_schema(), &nested);
}

/// The members of a single object with many names share a schema if they have the same shape.
#[test]
fn a_single_map() {
    let user = |name: u32| format!(r#"{{"id":{name},"n":"x"{}}}"#, [r#","z":[]"#, ""][name as usize % 2]);
    let expected = json!({"type": "object", "additionalProperties": {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "n": {"type": "string"}, "z": {"type": "array"}},
        "required": ["id", "n"]
    }});
    let one = map(0..150, user);
    assert_eq!(schema(with_schema(), &[&one]), expected);
    check(with_schema(), &[&one]);
    let odd = map(0..150, |name| if name == 3 { "3".into() } else { user(name) });
    assert_eq!(schema(with_schema(), &[&odd])["properties"].as_object().unwrap().len(), 150);
    check(with_schema(), &[&odd]);
    let mixed = [map(0..150, user), map(0..10, |_| "null".into()), "{}".into()];
    check(with_schema(), &mixed);
}

#[test]
fn formats_need_twenty_strings() {
    let dates = |count: u32| {
        (0..count).map(|day| format!(r#"{{"d":"2024-01-{:02}","n":null}}"#, day + 1)).collect::<Vec<_>>()
    };
    assert_eq!(
        schema(with_schema(), &dates(20))["properties"]["d"],
        json!({"type": "string", "format": "date"})
    );
    assert_eq!(schema(with_schema(), &dates(19))["properties"]["d"], json!({"type": "string"}));
    let mut mixed = dates(30);
    mixed.push(r#"{"d":"2024-02-30"}"#.into());
    assert_eq!(schema(with_schema(), &mixed)["properties"]["d"], json!({"type": "string"}));
    let mut nullable = dates(30);
    nullable.push(r#"{"d":null}"#.into());
    assert_eq!(
        schema(with_schema(), &nullable)["properties"]["d"],
        json!({"type": ["null", "string"], "format": "date"})
    );
}

/// The validator accepts every string for which a format is reported.
#[test]
fn formats_agree_with_the_validator() {
    let texts = [
        (
            "date-time",
            &[
                "2024-02-29T23:59:59Z",
                "1990-12-31T15:59:60-08:00",
                "2020-01-01t00:00:00.123456789+23:59",
                "1998-12-31T23:59:60z",
                "0000-01-01T00:00:00-00:00",
            ] as &[_],
        ),
        ("date", &["2024-02-29", "0000-12-31"]),
        ("uuid", &["2eb8aa08-AA98-11ea-b4aa-73b441d16380", "ffffffff-ffff-ffff-ffff-ffffffffffff"]),
        ("email", &["joe.o'x+tag@example.co.uk", "a!#$%&'*+-/=?^_`{|}~@b.c", "1@2.34"]),
        ("ipv4", &["127.0.0.1", "0.0.0.0"]),
        ("ipv6", &["::", "2001:db8::ff00:42:8329", "::ffff:1.2.3.4"]),
        (
            "uri",
            &[
                "https://user:x@[::1]:80/a%20b?q=1/2?#f/?",
                "urn:isbn:1",
                "mailto:a@b",
                "http://",
                "file:///etc",
                "a+b-c.1://x:/;=,",
                "http://a//b",
                "http://%41:",
            ],
        ),
    ];
    for (format, texts) in texts {
        for text in texts {
            let documents = vec![json!(text).to_string(); 20];
            assert_eq!(
                schema(with_schema(), &documents),
                json!({"type": "string", "format": format}),
                "{text}"
            );
            check(with_schema(), &documents);
        }
    }
}

#[test]
fn depth_and_size_are_bounded() {
    let text = r#"{"a":{"b":{"c":[1]}},"d":[[2]]}"#;
    let at = |depth: u32| {
        schema(
            options(|options| {
                options.schema = true;
                options.max_depth = depth;
            }),
            &[text],
        )
    };
    assert_eq!(at(1), json!({"type": "object"}));
    assert_eq!(
        at(2),
        json!({"type": "object", "required": ["a", "d"],
        "properties": {"a": {"type": "object"}, "d": {"type": "array"}}})
    );
    assert_eq!(at(3)["properties"]["d"], json!({"type": "array", "items": {"type": "array"}}));
    let wide = map(0..50, |_| "[1]".into());
    let nodes = |limit: usize| {
        schema(
            options(|options| {
                options.schema = true;
                options.limits.schema_nodes = limit;
            }),
            &[&wide],
        )
    };
    let cut = nodes(11);
    assert_eq!(cut["properties"].as_object().unwrap().len(), 10);
    assert_eq!(
        (&cut["additionalProperties"], &cut["required"].as_array().unwrap().len()),
        (&json!(true), &10)
    );
    assert!(cut["$comment"].as_str().unwrap().starts_with("40 more names"));
    assert!(nodes(51)["properties"]["k0"]["items"]["$comment"].is_string());
    assert_eq!(nodes(101)["properties"]["k49"], json!({"type": "array", "items": {"type": "integer"}}));
}

/// R8, R11: a schema of any depth is written without recursion, and its size is bounded.
#[test]
fn deep_and_wide_documents() {
    let depth = 10_000;
    let deep = format!("{}{}{}", r#"{"a":["#.repeat(depth / 2), 1, "]}".repeat(depth / 2));
    std::thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(move || {
            let text = schema_text(with_schema(), &[&deep]);
            assert_eq!(text.matches(r#""type""#).count(), depth);
            let mut merged = profile(with_schema(), &[&deep]);
            merged.merge(profile(with_schema(), &[&deep]));
            assert!(merged.summary().schema.unwrap().as_json().len() > text.len() / 2);
        })
        .unwrap()
        .join()
        .unwrap();
}
