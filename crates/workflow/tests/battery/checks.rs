//! Checks before the first step, tool permissions within a step, and reports of calls and of failed
//! runs.

use std::sync::Arc;

use serde_json::json;
use trommel_tool::{Call, Failure, Function, Metadata, Output, Permissions, Registry, Tool};
use trommel_workflow::{CallReport, Document, Model, Progress, Reply, Request, Runner};

use crate::support::{Bench, RunDocuments, Script, says};

/// A tool that returns its write permissions.
struct PermissionProbe {
    metadata: Metadata,
    permissions: Permissions,
}

impl PermissionProbe {
    fn new(name: &str, permissions: Permissions) -> Self {
        Self {
            metadata: Metadata::new(name, "Returns its permissions", serde_json::Value::Null).bounded(),
            permissions,
        }
    }
}

impl Tool for PermissionProbe {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, _: &mut Call<'_>) -> Result<Output, Failure> {
        let Permissions { write_files, replace_files, change_sessions, .. } = self.permissions;
        Ok(Output::text(format!("{write_files} {replace_files} {change_sessions}")))
    }

    fn within(&self, permissions: Permissions) -> Option<Arc<dyn Tool>> {
        Some(Arc::new(Self::new(&self.metadata.name, permissions)))
    }
}

fn registry() -> Registry {
    let registry = Registry::new();
    registry.register(says("web_search")).unwrap();
    registry.register(PermissionProbe::new("buffer_ops", Permissions::ALL)).unwrap();
    let metadata =
        Metadata::new("dangerous", "Requires approval", serde_json::Value::Null).requires_approval();
    registry.register(Function::new(metadata, |_| Ok(Output::text("done")))).unwrap();
    registry
}

/// Runs a step with these directives. Returns the result of `buffer_ops` and the names of the tools
/// that the model was offered.
fn granted_permissions(directives: &str, approve: bool) -> (String, Vec<String>) {
    let bench = Bench::new();
    bench.write("a.md", "x");
    let script = Script::new([Reply::default().call("1", "buffer_ops", json!({})), Reply::text("Done.")]);
    let document = Document::parse(&format!("## S\n{directives}\nGo.\n")).unwrap();
    let runner = bench.runner(registry()).model(script.clone()).approve(approve);
    runner.run(&document, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let requests = script.requests.lock().unwrap();
    let trommel_workflow::Message::Tool { content, .. } = requests[1].last().unwrap() else {
        panic!("the last message must be a tool result")
    };
    (content.clone(), script.tools.lock().unwrap()[0].clone())
}

#[test]
fn tools_get_only_the_permissions_of_their_step() {
    for (directives, permissions) in [
        ("@input file:a (output=variable:v)", "false false false"),
        ("@tools web_search", "false false false"),
        ("@tools buffer_ops", "true false true"),
        ("@tools buffer_ops(write-mode=append)", "true false true"),
        ("@tools buffer_ops(write-mode=replace)", "true true true"),
        ("@tools all", "true false false"),
        ("@tools all, buffer_ops(write-mode=replace)", "true true true"),
    ] {
        assert_eq!(granted_permissions(directives, false).0, permissions, "{directives}");
    }
    let (permissions, tools) = granted_permissions("@tools all", true);
    assert_eq!(
        (permissions.as_str(), tools.as_slice()),
        ("true false true", ["buffer_ops", "dangerous", "web_search"].map(String::from).as_slice())
    );
    assert_eq!(granted_permissions("@tools all", false).1, ["buffer_ops", "web_search"]);
}

/// The name that the host registers and the exported name refer to the same tool.
#[test]
fn host_names_and_exported_names_are_one_tool() {
    let destination = |tools: &str| {
        let bench = Bench::new();
        let registry = Registry::new();
        registry.register(says("web.search")).unwrap();
        let document = Document::parse(&format!("## S\n{tools}\n")).unwrap();
        let plan = bench.runner(registry).dry_run(&document).unwrap().to_string();
        plan.lines().find(|line| line.starts_with("[would ask]")).unwrap().to_owned()
    };
    for (tools, expected) in [
        ("@tools web.search(output=variable:a), web_search(write-mode=new)", "variable:a_000"),
        ("@tools web_search(output=variable:a), web.search(output=variable:b)", "variable:b"),
        ("@tools web.search(output=variable:a), web_search", "variable:a"),
        ("@tools web_search(write-mode=new), web.search(output=variable:b)", "variable:b"),
    ] {
        assert_eq!(
            destination(tools),
            format!("[would ask] the default model with web.search -> {expected}"),
            "{tools}"
        );
    }
}

/// Each document is invalid in its second step, so its first step must not write.
#[test]
fn r27_all_steps_are_checked_before_the_first_one_writes() {
    for (second, expected) in [
        ("@tools web_serch", "did you mean web_search?"),
        ("@tools web_search(output=file:own/x)", "reserved for the program"),
        ("@input url:https://example.com\n@model none", "does not fetch `url:`"),
        ("@input query:x $.y\n@model none", "does not fetch `query:`"),
        ("@input file:gone (required)\n@model none", "there is no file `gone`, and it is required"),
        ("@input file:gone (output=file:a, write-mode=replace)\n@model none", "would empty its destination"),
        ("@input variable:gone (required)\n@model none", "there is no variable `gone`"),
        ("@input file:a (output=file:own/x)\n@model none", "reserved for the program"),
        ("@output file:own/x\n@model none", "reserved for the program"),
        ("Go.", "the step needs a model, but none is configured; name one, or write `@model none`"),
    ] {
        let bench = Bench::new();
        bench.write("a.md", "x");
        let text = format!(
            "## A\n@input file:a (output=variable:v)\n@model none\n@output file:out\n\n## B\n{second}\n"
        );
        let document = Document::parse(&text).unwrap();
        let mut progress_events = 0;
        let runner = bench.runner(registry()).model_hint("name one");
        let error = runner.run(&document, &mut |_| progress_events += 1).unwrap_err();
        assert!(error.to_string().contains(expected), "{second}: {error}");
        assert_eq!((error.step.as_str(), error.partial, progress_events), ("B", None, 0));
        assert_eq!((bench.variable("v"), bench.file("out.md")), (None, None));
    }
}

/// An input that an earlier directive creates is not reported as missing.
#[test]
fn inputs_that_earlier_steps_create_are_not_missing() {
    let bench = Bench::new();
    bench.write("a.md", "x");
    let text = "## A\n@input file:a (output=variable:v)\n@input variable:v (required, output=file:made/{today})\n@model none\n\
        @output file:numbered\n@write-mode new\n\n## B\n@input file:made/2026-03-04 (required)\n@input file:made/* (required)\n\
        @input file:numbered_000 (required)\n@model none\n";
    bench.run(text).unwrap();
    // A tool can create any file, so the missing input is reported only when its step runs.
    let document =
        Document::parse("## A\n@tools web_search\nGo.\n## B\n@input file:gone (required)\n@model none\n")
            .unwrap();
    let runner = bench.runner(registry()).model(Script::new([Reply::text("Done.")]));
    let error = runner.run(&document, &mut |_| {}).unwrap_err();
    assert_eq!((error.done.steps.len(), error.partial.unwrap().name.as_str()), (1, "B"));
}

#[test]
fn calls_are_reported_with_their_outcome() {
    let bench = Bench::new();
    let script = Script::new([
        Reply::default()
            .call("1", "web_search", json!({"text": "found"}))
            .call("2", "dangerous", json!({}))
            .call("3", "nothing", json!({"password": "hunter2-hunter2"})),
        Reply::text("Done."),
    ]);
    let document = Document::parse("## S\n@tools web_search(output=variable:v), dangerous\nGo.\n").unwrap();
    let mut lines = Vec::new();
    let report = bench.runner(registry()).model(script).run(&document, &mut |progress| {
        if let Progress::Call(execution) = progress {
            lines.push(CallReport::of(execution).to_string());
        }
    });
    let report = report.unwrap();
    assert_eq!(lines[0], r#"[tool call] web_search {"text":"found"}: ok -> variable:v (5 chars)"#);
    assert!(
        lines[1].starts_with(r#"[tool call] dangerous {}: failed: The tool "dangerous" needs approval"#),
        "{lines:?}"
    );
    assert!(
        lines[2].starts_with("[tool call] nothing {") && lines[2].contains("is not registered"),
        "{lines:?}"
    );
    assert!(!lines[2].contains("hunter2"), "{lines:?}");
    let step = &report.steps[0];
    assert_eq!((step.calls, step.tool_calls.len()), (3, 3));
    assert_eq!(step.tool_calls[0].destination.as_deref(), Some("variable:v"));
    assert!(step.tool_calls[1].error.is_some());
}

#[test]
fn a_result_that_cannot_be_routed_fails_its_step() {
    let bench = Bench::new();
    std::fs::create_dir(bench.root().join("dir.md")).unwrap();
    let call = Reply::default().call("1", "web_search", json!({"text": "lost"}));
    let script = Script::new([call, Reply::text("Done.")]);
    let text = "## A\n@model none\n\n## B\n@input variable:x\n@tools web_search(output=file:dir.md)\n@output file:answer\nGo.\n";
    let document = Document::parse(text).unwrap();
    let error = bench.runner(registry()).model(script).run(&document, &mut |_| {}).unwrap_err();
    assert_eq!((error.error.line, error.error.column), (6, 8), "{error}");
    assert!(error.to_string().contains("the result of web_search was not routed: "), "{error}");
    assert_eq!((error.done.steps.len(), error.partial.unwrap().calls), (1, 1));
    assert_eq!(bench.file("answer.md"), None);
}

/// After the last round, the model gets one more request. Its tool calls are not executed.
#[test]
fn tool_calls_stop_at_the_round_limit() {
    let bench = Bench::new();
    let call = || Reply::default().call("1", "web_search", json!({"text": "x"}));
    let document = Document::parse("## S\n@tools web_search\nGo.\n").unwrap();
    let script = Script::new((0..5).map(|_| call()));
    let error =
        bench.runner(registry()).model(script.clone()).rounds(3).run(&document, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("still calls tools after 3 rounds of tool calls"), "{error}");
    assert_eq!((script.requests.lock().unwrap().len(), error.partial.unwrap().calls), (4, 3));
    let script = Script::new((0..3).map(|_| call()).chain([Reply::text("Done.")]));
    let report = bench.runner(registry()).model(script).rounds(3).run(&document, &mut |_| {}).unwrap();
    assert_eq!((report.steps[0].calls, report.steps[0].answer.as_deref()), (3, Some("Done.")));
}

/// A model whose answers are blank.
struct BlankModel;

impl Model for BlankModel {
    fn answer(&self, _: &Request<'_>) -> Result<Reply, Failure> {
        Ok(Reply::text(" \n"))
    }
}

#[test]
fn an_empty_answer_leaves_files_unchanged() {
    let bench = Bench::new();
    bench.write("report.md", "kept");
    let document = Document::parse("## S\n@output file:report\n@write-mode replace\nGo.\n").unwrap();
    let runner: Runner = bench.runner(registry()).model(Arc::new(BlankModel));
    let error = runner.run(&document, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("the model's answer is empty"), "{error}");
    assert_eq!(bench.file("report.md").as_deref(), Some("kept"));
}
