//! Tool results: rules, the caller's choice, and length.

use std::sync::Arc;

use serde_json::{Value, json};
use trommel_route::{RoutableTool, Router, notice};
use trommel_tool::{
    Context, Delivered, ErrorKind, Event, Executor, Metadata, Output, Registry, ToolExecution,
};

use crate::support::{Bench, route, says};

fn executor(router: Router) -> Executor {
    let registry = Registry::new();
    registry.register(says("ruled")).unwrap();
    registry.register(RoutableTool::new(says("free"))).unwrap();
    registry.register(says("plain")).unwrap();
    let bounded = Metadata::new("bounded", "Says little", Value::Null).bounded();
    registry.register(trommel_tool::Function::new(bounded, |_| Ok(Output::text("little")))).unwrap();
    Executor::new(Arc::new(registry)).delivery(Arc::new(router))
}

fn call(executor: &Executor, tool: &str, arguments: Value) -> ToolExecution {
    executor.call(tool, arguments, &Context::new("."))
}

fn went(done: &ToolExecution) -> String {
    assert_eq!(done.result.error, None);
    match &done.result.delivered {
        Delivered::Stored(manifest) => manifest.destination.clone(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// R27: a rule comes first, then the caller's choice where it is allowed, then the length.
#[test]
fn r27_rules_precede_choices_and_choices_precede_length() {
    let bench = Bench::new();
    let inline = executor(
        Router::new(bench.destinations.clone()).rule("free", route("inline")).allow_choice("free", None),
    );
    // For any length up to the maximum result size of the tool.
    let long = call(&inline, "free", json!({"text": "x", "times": 90_000, "output": "variable:no"}));
    assert_eq!((went(&long).as_str(), long.result.output.unwrap().as_str().len()), ("inline", 90_000));
    assert_eq!(bench.variable("no"), None);
    let longer = call(&inline, "free", json!({"text": "x", "times": 200_000, "stream": true}));
    assert!(longer.result.error.unwrap().message.contains("max_output_size"));

    let router =
        Router::new(bench.destinations.clone()).rule("ruled", route("variable:r")).allow_choice("free", None);
    let executor = executor(router);
    assert_eq!(went(&call(&executor, "ruled", json!({"text": "a"}))), "variable:r");
    let chosen = json!({"text": "b", "output": "file:chosen", "write_mode": "new"});
    assert_eq!(went(&call(&executor, "free", chosen)), "file:chosen_000.md");
    assert_eq!(bench.file("chosen_000.md").as_deref(), Some("b"));
    assert_eq!(went(&call(&executor, "free", json!({"text": "c"}))), "inline");
    assert_eq!(went(&call(&executor, "free", json!({"text": "c", "output": "inline"}))), "inline");
    assert_eq!(went(&call(&executor, "free", json!({"text": "c", "output": "discard"}))), "discard");
    // Without permission, the caller's choice is ignored.
    let refused = call(&executor, "plain", json!({"text": "d", "output": "variable:x"}));
    assert_eq!(refused.result.error_kind(), Some(ErrorKind::InvalidArguments));
    // By length, with a preview and the call that shows the start.
    let long = call(&executor, "plain", json!({"text": "é\n", "times": 20_000, "stream": true}));
    let manifest = long.result.manifest().unwrap();
    assert_eq!((manifest.destination.as_str(), manifest.size_chars), ("variable:plain_output_000", 40_000));
    assert!(manifest.preview.starts_with("é\né\n") && manifest.preview.chars().count() <= 1_200);
    assert_eq!(
        manifest.next_calls,
        [r#"buffer_ops {"operation":"peek","target":"plain_output_000","scope":"run"}"#]
    );
    assert_eq!(
        went(&call(&executor, "plain", json!({"text": "e", "times": 50_000}))),
        "variable:plain_output_001"
    );
}

#[test]
fn invalid_choices_are_refused_before_the_tool_runs() {
    let bench = Bench::new();
    let executor = executor(Router::new(bench.destinations.clone()).allow_choice("free", None));
    for output in ["variable:", "s3:x", "file:/etc/x", "file:../x"] {
        let done = call(&executor, "free", json!({"text": "x", "output": output}));
        assert_eq!(done.result.error_kind(), Some(ErrorKind::Refused), "{output}");
    }
    let done = call(&executor, "free", json!({"text": "x", "output": "variable:a", "write_mode": "under"}));
    assert_eq!(done.result.error_kind(), Some(ErrorKind::InvalidArguments));
}

#[test]
fn rules_apply_to_bounded_tools_and_empty_results() {
    let bench = Bench::new();
    bench.put("variable:r", trommel_route::WriteMode::Replace, "old");
    let replace = route("variable:r").write_mode(trommel_route::WriteMode::Replace);
    let router =
        Router::new(bench.destinations.clone()).rule("bounded", route("variable:b")).rule("ruled", replace);
    let executor = executor(router);
    assert_eq!(went(&call(&executor, "bounded", json!({}))), "variable:b");
    assert_eq!(bench.variable("b").as_deref(), Some("little"));
    for stream in [false, true] {
        bench.put("variable:r", trommel_route::WriteMode::Replace, "old");
        assert_eq!(went(&call(&executor, "ruled", json!({"text": "", "stream": stream}))), "variable:r");
        assert_eq!(bench.variable("r").as_deref(), Some(""));
    }
}

#[test]
fn events_have_the_manifest_only() {
    let bench = Bench::new();
    let executor = executor(Router::new(bench.destinations.clone()).rule("ruled", route("variable:r")));
    let mut events = Vec::new();
    let arguments = json!({"text": "payload", "times": 10_000, "stream": true});
    executor.call_with("ruled", arguments, &Context::new("."), &mut |event| match event {
        Event::Output(output) => events.push(output.as_str().to_owned()),
        Event::Manifest(manifest) => events.push(notice(manifest)),
        Event::Finished(result) => assert_eq!(result.output, None),
        _ => {}
    });
    assert_eq!(events, ["[output routed] ruled -> variable:r (total 70,000 chars)"]);
    let (info, _) = bench.destinations.buffers().find("r", None).unwrap();
    assert_eq!((info.source.as_str(), info.chars), ("ruled", 70_000));
}

#[test]
fn failed_routing_fails_the_call() {
    let bench = Bench::new();
    bench.write("folder/x", "");
    let executor = executor(Router::new(bench.destinations.clone()).rule("ruled", route("file:folder/x/y")));
    let error = call(&executor, "ruled", json!({"text": "x"})).result.error.unwrap();
    assert!(error.message.starts_with("the result of ruled was not routed: "), "{}", error.message);
}
