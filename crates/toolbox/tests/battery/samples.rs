//! `tool_outputs.sample` beyond the specification's examples.

use std::num::NonZeroUsize;

use serde_json::{Value, json};
use trommel::sampler::Seed;
use trommel::{Analysis, Answer, Document, Sample, Strategy};

use crate::support::Bench;

fn items(count: u64) -> String {
    let items: Vec<Value> =
        (0..count).map(|n| json!({ "n": n, "group": n % 7, "tags": [n, n + 1] })).collect();
    json!({ "items": items }).to_string()
}

/// Returns the indices that the engine draws.
fn drawn(text: &str, path: &str, strategy: Strategy, seed: u64) -> Vec<u64> {
    let size = NonZeroUsize::new(37).unwrap();
    let sample = Sample::new(path.parse().unwrap(), size).strategy(strategy).seed(Seed::new(seed));
    let report = Analysis::new().sample(sample).run(&mut Document::from_bytes(text)).unwrap();
    match &report.answers[0] {
        Answer::Sample(sample) => sample.items.iter().map(|item| item.index).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn seeds_agree_with_the_engine() {
    let text = items(5_000);
    for bench in [Bench::new(), Bench::packed()] {
        bench.put("seeded", &text);
        for path in ["$.items", "$.items[*].tags[*]", "$..n"] {
            for (name, strategy) in [
                ("random", Strategy::Random),
                ("first", Strategy::First),
                ("last", Strategy::Last),
                ("systematic", Strategy::Systematic(None)),
                ("stratified", Strategy::Stratified("$.group".parse().unwrap())),
            ] {
                let mut arguments =
                    json!({ "id": "seeded", "path": path, "size": 37, "strategy": name, "seed": 99 });
                if name == "stratified" {
                    arguments["strata_path"] = json!("$.group");
                }
                let answer = bench.value("sample", arguments);
                assert_eq!(answer["indices"], json!(drawn(&text, path, strategy, 99)), "{path} {name}");
            }
        }
    }
}

/// With a guide, the indices are drawn first, and only their items are read.
#[test]
fn guides_draw_the_same_samples() {
    let (guided, plain) = (Bench::new(), Bench::new());
    let items: Vec<Value> = (0..40_000).map(|n| json!({ "n": n, "text": "x".repeat(n % 400) })).collect();
    let text = json!({ "items": items, "more": { "n": 1 } }).to_string();
    guided.put("long", &text);
    plain.put("long", &text);
    plain.remove_guide("long");
    for strategy in ["random", "first", "last", "systematic"] {
        let arguments = |path: &str, size: u64| json!({ "id": "long", "path": path, "size": size, "strategy": strategy, "seed": 5 });
        for size in [7, 28, 60] {
            let draw = |bench: &Bench| bench.ok("sample", arguments("$.items", size));
            let (with, without) = (draw(&guided), draw(&plain));
            assert_eq!(with.text, without.text, "{size} {strategy}");
            // Of 8 MB, more items are drawn in a pass.
            assert_eq!(with.coverage("guide") == &json!(true), size < 60, "{size} {strategy}");
        }
        let none = |bench: &Bench| bench.ok("sample", arguments("$.itens", 3));
        assert_eq!(none(&guided).text, none(&plain).text, "{strategy}");
        let refused = |bench: &Bench| bench.refused("sample", arguments("$.more", 3));
        assert_eq!(refused(&guided), refused(&plain), "{strategy}");
    }
}

#[test]
fn samples_records_of_a_stream() {
    let bench = Bench::new();
    bench.put("lines", (0..50).map(|n| format!("{{\"n\":{n}}}\n")).collect::<Vec<_>>().concat());
    let arguments = json!({ "id": "lines", "path": "$", "size": 3, "strategy": "last" });
    let answer = bench.value("sample", arguments);
    assert_eq!(answer["sample"], json!([{ "n": 47 }, { "n": 48 }, { "n": 49 }]));
    assert_eq!(answer["total_items"], 50);
    let spread = json!({ "id": "lines", "path": "$.n", "size": 5, "strategy": "systematic" });
    assert_eq!(bench.value("sample", spread)["sample"], json!([0, 10, 20, 30, 40]));
}

#[test]
fn small_populations_are_reported() {
    let bench = Bench::new();
    bench.put("few", r#"{"a": [1, 2], "none": []}"#);
    let answer = bench.value("sample", json!({ "id": "few", "path": "$.a", "size": 5, "seed": 1 }));
    let expected = json!({
        "sample": [1, 2], "total_items": 2, "sample_size": 2, "indices": [0, 1],
        "warning": "only 2 of 5 drawn: there are no more"
    });
    assert_eq!(answer, expected);
    let answer = bench.value("sample", json!({ "id": "few", "path": "$.none", "size": 5 }));
    assert_eq!((&answer["sample"], &answer["total_items"]), (&json!([]), &json!(0)));
    let answer = bench.value("sample", json!({ "id": "few", "path": "$.non", "size": 5 }));
    let warning = "only 0 of 5 drawn: `$.non` selects nothing; the nearest path is `$.none`";
    assert_eq!(answer["warning"], warning);
}

#[test]
fn contradictory_arguments_are_refused() {
    let bench = Bench::new();
    bench.put("asked", r#"{"a": [1], "s": "x"}"#);
    let refused = |more: Value| {
        let mut arguments = json!({ "id": "asked", "path": "$.a", "size": 1 });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        bench.refused("sample", arguments)
    };
    assert!(refused(json!({ "stride": 2 })).contains("`stride` goes with strategy systematic"));
    assert!(refused(json!({ "strategy": "stratified" })).contains("needs `strata_path`"));
    assert!(refused(json!({ "strata_path": "$.a" })).contains("goes with strategy stratified"));
    assert!(refused(json!({ "seed": 1e30 })).contains("must be an integer"), "a seed is not rounded");
    for strategy in ["random", "systematic"] {
        let message = refused(json!({ "path": "$.s", "strategy": strategy }));
        assert!(message.contains("$.s selects a value of type string"), "{message}");
    }
}

#[test]
fn groups_are_bounded_and_report_missing_values() {
    let bench = Bench::new();
    let few: Vec<Value> = (0..10).map(|n| if n < 4 { json!({ "g": null }) } else { json!({}) }).collect();
    bench.put("groups", json!(few).to_string());
    let arguments = json!({
        "id": "groups", "path": "$", "size": 5, "strategy": "stratified", "strata_path": "$.g", "seed": 7
    });
    let strata = json!([
        { "value": null, "total": 4, "sampled": 2 },
        { "value": null, "total": 6, "sampled": 3, "missing": true }
    ]);
    assert_eq!(bench.value("sample", arguments.clone())["strata"], strata);
    let many: Vec<Value> = (0..10_001).map(|n| json!({ "g": n })).collect();
    bench.put("many-groups", json!(many).to_string());
    let mut too_many = arguments.clone();
    too_many["id"] = json!("many-groups");
    let message = bench.refused("sample", too_many);
    assert!(message.contains("limit 10000") && message.contains("fewer groups"), "{message}");
    bench.put("long-groups", json!([{ "g": "x".repeat(5_000) }]).to_string());
    let mut long = arguments;
    long["id"] = json!("long-groups");
    let message = bench.refused("sample", long);
    assert!(message.contains("4096") && message.contains("shorter value"), "{message}");
}

#[test]
fn large_items_become_marks_with_their_path() {
    let bench = Bench::new();
    let long = "z".repeat(40_000);
    bench.put("long-items", format!(r#"{{"a": ["{long}", 1, {{"b": "{long}"}}]}}"#));
    let answer = bench.ok("sample", json!({ "id": "long-items", "path": "$.a", "size": 3 }));
    assert_eq!(answer.value["sample"][0]["path"], "$['a'][0]");
    assert_eq!(answer.value["sample"][1], 1);
    assert_eq!(answer.value["sample"][2]["kind"], "object");
    assert_eq!(answer.truncated(), Some(("max_chars", 3, None)));
}

/// On a stream, the first match of a singular path decides whether elements or values are sampled.
#[test]
fn first_match_decides_the_population() {
    let bench = Bench::new();
    bench.put("values", "{}\n{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":{}}\n");
    bench.put("arrays", "{\"a\":[1,2]}\n{\"a\":[]}\n{\"a\":[3]}\n");
    bench.put("mixed", "{\"a\":1}\n{\"a\":2}\n{\"a\":[3]}\n");
    bench.put("mixed-too", "{\"a\":[1]}\n{\"a\":2}\n");
    bench.put("one", "{\"a\":1}");
    let sample = |id: &str| json!({ "id": id, "path": "$.a", "size": 10, "seed": 1 });
    let values = bench.value("sample", sample("values"));
    assert_eq!((&values["sample"], &values["total_items"]), (&json!([1, "x", {}]), &json!(3)));
    assert_eq!(bench.value("sample", sample("arrays"))["sample"], json!([1, 2, 3]));
    let mut spread = sample("values");
    (spread["strategy"], spread["size"]) = (json!("systematic"), json!(2));
    spread.as_object_mut().unwrap().remove("seed");
    assert_eq!(bench.value("sample", spread)["sample"], json!([1, "x"]));
    for (id, record) in [("mixed", "record 2"), ("mixed-too", "record 1")] {
        let message = bench.refused("sample", sample(id));
        assert!(message.contains(record) && message.contains("not sampled together"), "{message}");
    }
    assert!(bench.refused("sample", sample("one")).contains("a sample is drawn from an array"));
}
