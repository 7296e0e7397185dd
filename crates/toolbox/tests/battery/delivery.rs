//! Results that are delivered to the store, and executions that are recorded in it.

use std::sync::Arc;

use serde_json::{Value, json};
use trommel_route::Router;
use trommel_store::{Filter, Store};
use trommel_tool::{
    Call, Context, Delivered, Executor, Failure, Function, Limits, Manifest, Metadata, Output, PREVIEW_CHARS,
    Registry, ResultMode,
};
use trommel_toolbox::{StoreOverflow, StoreRecord, outputs};

use crate::support::Bench;

/// An executor that delivers long results to a store. Its tool returns a text from its arguments.
fn delivering(store: &Arc<Store>) -> Executor {
    let registry = Registry::new();
    outputs::register(&registry, store).unwrap();
    let give = |call: &mut Call<'_>| -> Result<Output, Failure> {
        Ok(Output::text(call.arguments["text"].as_str().unwrap_or_default()))
    };
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" }, "token": {} } });
    let metadata = Metadata::new("give", "Gives a text back", schema.clone());
    registry.register(Function::new(metadata.clone(), give)).unwrap();
    let mut stream = metadata;
    stream.name = "stream".into();
    let streaming = |call: &mut Call<'_>| -> Result<Output, Failure> {
        let text = call.arguments["text"].as_str().unwrap_or_default().to_owned();
        for piece in text.as_bytes().chunks(1000) {
            call.writer().write_all(piece).map_err(|error| Failure::new(error.to_string()))?;
        }
        if text.contains("fail") { Err(Failure::new("it failed")) } else { Ok(Output::Nothing) }
    };
    registry.register(Function::new(stream.result_mode(ResultMode::Persist), streaming)).unwrap();
    let mut limits = Limits::default();
    limits.auto = 500;
    Executor::new(Arc::new(registry))
        .delivery(Arc::new(Router::default().overflow_store(Arc::new(StoreOverflow::new(store)))))
        .record(Arc::new(StoreRecord::new(store)))
        .limits(limits)
}

fn delivered(executor: &Executor, tool: &str, text: &str) -> Manifest {
    let mut context = Context::new("/");
    context.conversation_id = Some("conv-1".into());
    context.message_id = Some("msg-1".into());
    let result = executor.call(tool, json!({ "text": text }), &context).result;
    match result.delivered {
        Delivered::Stored(manifest) => *manifest,
        other => panic!("{other:?}: {:?}", result.error),
    }
}

#[test]
fn long_results_become_manifests_that_can_be_queried() {
    let bench = Bench::new();
    let executor = delivering(&bench.store);
    let rows: Vec<Value> = (0..300).map(|n| json!({ "n": n, "text": "words ".repeat(9) })).collect();
    let object = json!({
        "status": 200, "note": "a note", "rows": rows, "by": { "a": 1, "b": {} }, "long": "x".repeat(5_000), "empty": []
    });
    for (text, kind, items, seen) in [
        (object.to_string(), "json", Some(6), "\"rows\": [300 items]"),
        (json!(rows).to_string(), "json", Some(300), "{n: 0, text: \"words words"),
        (
            rows.iter().map(|row| format!("{row}\n")).collect::<Vec<_>>().concat(),
            "json_lines",
            Some(300),
            "[300 records], the first:",
        ),
        ("line\n".repeat(400), "text", None, "line\nline\n"),
    ] {
        for tool in ["give", "stream"] {
            let manifest = delivered(&executor, tool, &text);
            assert_eq!((manifest.kind.as_str(), manifest.items), (kind, items));
            assert_eq!((manifest.size_bytes, manifest.destination.as_str()), (text.len() as u64, "store"));
            let chars = manifest.preview.chars().count();
            assert!(
                (10..=PREVIEW_CHARS).contains(&chars) && manifest.preview.contains(seen),
                "{}",
                manifest.preview
            );
            let stored = bench.store.get(&manifest.id).unwrap();
            assert_eq!(
                (stored.tool_name.as_str(), stored.conversation_id.as_deref()),
                (tool, Some("conv-1"))
            );
            assert!(!manifest.next_calls.is_empty());
            for call in &manifest.next_calls {
                let (name, arguments) = call.split_once(' ').unwrap();
                let result =
                    executor.call(name, serde_json::from_str(arguments).unwrap(), &Context::new("/")).result;
                assert!(result.success, "{call}: {:?}", result.error);
            }
        }
    }
}

#[test]
fn previews_are_bounded_and_safe() {
    let bench = Bench::new();
    let executor = delivering(&bench.store);
    let wide: serde_json::Map<String, Value> = (0..500)
        .map(|n| (format!("name \u{1b}[31m\u{202e} {n}"), json!({ "a": "\u{9b}".repeat(n) })))
        .collect();
    let deep = format!("{}{}", "[".repeat(2_000), "]".repeat(2_000));
    for text in [Value::Object(wide).to_string(), deep, "\u{1b}[2J\u{e0041}".repeat(500), "ü".repeat(5_000)]
    {
        let manifest = delivered(&executor, "stream", &text);
        assert!(manifest.preview.chars().count() <= PREVIEW_CHARS, "{}", manifest.preview);
        assert!(
            !manifest.preview.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{e0041}']),
            "{}",
            manifest.preview
        );
    }
}

#[test]
fn failed_results_leave_nothing() {
    let bench = Bench::new();
    let executor = delivering(&bench.store);
    let result = executor.call("stream", json!({ "text": "fail".repeat(1_000) }), &Context::new("/")).result;
    assert!(!result.success);
    assert_eq!(bench.store.list(&Filter::default()).unwrap().total, 0);
    let short = executor.call("give", json!({ "text": "short" }), &Context::new("/")).result;
    assert_eq!(short.delivered, Delivered::Inline);
}

#[test]
fn answers_about_outputs_are_never_stored() {
    let bench = Bench::new();
    let executor = delivering(&bench.store);
    let manifest = delivered(&executor, "stream", &json!((0..9_000).collect::<Vec<_>>()).to_string());
    let arguments = json!({ "id": manifest.id, "paths": ["$[*]"] });
    let result = executor.call("tool_outputs_extract", arguments, &Context::new("/")).result;
    assert_eq!(result.delivered, Delivered::Inline);
    assert!(result.output.unwrap().as_str().len() > 20_000);
    assert_eq!(bench.store.list(&Filter::default()).unwrap().total, 1);
}

#[test]
fn r25_recorded_executions_have_no_secrets() {
    let bench = Bench::new();
    let executor = delivering(&bench.store);
    for number in 0..3 {
        let arguments = json!({ "text": format!("call {number}"), "token": "canary-77aa" });
        executor.call("give", arguments, &Context::new("/"));
    }
    let other = delivering(&bench.store);
    let kept = other.history(2).unwrap();
    assert_eq!(kept.len(), 2);
    assert_eq!(kept[1].parameters["text"], "call 2");
    assert_eq!(kept[0].tool_name, "give");
    assert!(!format!("{kept:?}").contains("canary"), "{kept:?}");
}
