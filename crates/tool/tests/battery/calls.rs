//! The order of work, and every way a call can end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use trommel_tool::{
    Async, AsyncTool, Call, Context, Decision, ErrorKind, Event, Failure, Metadata, Output, Record, Status,
    Tool, ToolError, ToolExecution,
};

use crate::support::{anything, executor, object, only};

fn context() -> Context {
    Context::new("/home/user")
}

#[test]
fn arguments_are_healed_then_checked_then_run() {
    let schema = object(&json!({"limit": {"type": "integer", "maximum": 10}, "paths": {"type": "array"}}));
    let executor = only(Metadata::new("Read", "Reads", schema), |call| {
        call.note("seen", Value::Object(call.arguments.clone()));
        Output::json(call.arguments).map_err(|error| Failure::raised(&error))
    });
    let done = executor.call("Read", json!({"limit": "5", "paths": "[1.50]"}), &context());
    assert!(done.result.success);
    assert_eq!(done.result.output.as_ref().unwrap().as_str(), "{\"limit\":5,\"paths\":[1.5]}");
    assert_eq!(done.parameters["limit"], 5);
    let metadata = Value::Object(done.result.metadata);
    assert_eq!(metadata["healed"][0], json!({"path": "limit", "from": "5", "to": 5}));
    assert_eq!(metadata["seen"]["limit"], 5);
    // Healed first, so that its range is judged.
    let wrong = executor.call("Read", json!({"limit": "50"}), &context());
    assert_eq!(wrong.result.error_kind(), Some(ErrorKind::InvalidArguments));
    assert_eq!(wrong.result.error.unwrap().message, "Value for limit exceeds maximum: 10");
    assert_eq!(wrong.result.metadata["healed"][0]["to"], 50);
    assert!(wrong.result.duration_ms > 0.0);
}

#[test]
fn unknown_tools_are_suggested() {
    let executor = only(anything("tool_outputs.extract"), |_| Ok(Output::Nothing));
    let done = executor.call("tool_outputs.extrat", json!({}), &context());
    let error = done.result.error.unwrap();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert_eq!(error.message, "The tool \"tool_outputs.extrat\" is not registered.");
    assert_eq!(error.suggestions, ["tool_outputs.extract"]);
    assert_eq!(done.tool_name, "tool_outputs.extrat");
    let silly = executor.call(&"x".repeat(10_000), json!({}), &context());
    assert!(silly.result.error.unwrap().suggestions.is_empty());
    assert!(silly.tool_name.len() < 200);
}

#[test]
fn exported_spellings_are_called_alike() {
    let executor = only(anything("tool_outputs.extract"), |_| Ok("yes".into()));
    let done = executor.call("tool_outputs_extract", json!(null), &context());
    assert_eq!((done.tool_name.as_str(), done.result.success), ("tool_outputs.extract", true));
}

#[test]
fn approval_is_asked_for_after_validation_and_before_anything_runs() {
    let asked = Arc::new(AtomicUsize::new(0));
    let metadata =
        Metadata::new("Write", "Writes", object(&json!({"n": {"type": "integer"}}))).requires_approval();
    let executor = only(metadata, |_| Ok("written".into()));
    let refused = executor.call("Write", json!({}), &context().dry_run(true));
    let error = refused.result.error.unwrap();
    assert_eq!(error.kind, ErrorKind::NeedsApproval);
    assert_eq!(error.message, "The tool \"Write\" needs approval: no approval callback is configured");
    let count = Arc::clone(&asked);
    let executor = executor.approval(move |tool: &Metadata, arguments: &Map<String, Value>| {
        count.fetch_add(1, Ordering::Relaxed);
        assert_eq!(tool.name, "Write");
        let even = arguments["n"].as_i64().unwrap() % 2 == 0;
        if even { Decision::Granted } else { Decision::Denied("odd".into()) }
    });
    assert!(executor.call("Write", json!({"n": "2"}), &context()).result.success);
    let denied = executor.call("Write", json!({"n": 1}), &context()).result.error.unwrap();
    assert_eq!(denied.message, "The tool \"Write\" needs approval: odd");
    executor.call("Write", json!({"n": "x"}), &context());
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

/// A tool that says itself what it would do.
struct Writer(Metadata);

impl Tool for Writer {
    fn metadata(&self) -> &Metadata {
        &self.0
    }

    fn run(&self, _: &mut Call<'_>) -> Result<Output, Failure> {
        panic!("a dry run runs nothing")
    }

    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        let content = call.arguments.get("content")?.as_str()?;
        Some(format!("Would write {} bytes", content.len()))
    }
}

#[test]
fn a_dry_run_only_tells() {
    let executor = executor([Arc::new(Writer(anything("Write"))) as Arc<dyn Tool>]);
    let context = context().dry_run(true);
    let own = executor.call("Write", json!({"content": "abc"}), &context);
    assert_eq!(own.result.output, Some("[Dry Run] Would write 3 bytes".into()));
    assert_eq!(own.status(), Status::DryRun);
    let usual = executor.call("Write", json!({"password": "CANARY", "n": 1}), &context);
    let text = "[Dry Run] Would execute Write with {\"password\": \"[redacted]\", \"n\": 1}";
    assert_eq!(usual.result.output, Some(text.into()));
}

#[test]
fn failures_have_kinds() {
    let executor = only(anything("t"), |call| {
        let failure = match call.arguments["how"].as_str() {
            Some("refused") => Failure::refused("no such id"),
            Some("cancelled") => Failure::cancelled(),
            Some("raised") => Failure::raised(&std::io::Error::from_raw_os_error(2)),
            _ => Failure::from("File not found: /missing").with("errno", 2),
        };
        call.note("noted", true);
        Err(failure)
    });
    let call = |how: &str| executor.call("t", json!({"how": how}), &context()).result;
    let kinds = ["failed", "refused", "cancelled", "raised"].map(|how| call(how).error_kind().unwrap());
    assert_eq!(kinds, [ErrorKind::Failed, ErrorKind::Refused, ErrorKind::Cancelled, ErrorKind::Failed]);
    let failed = call("failed");
    assert_eq!((failed.status(), failed.success, failed.output.is_none()), (Status::Failed, false, true));
    assert_eq!(Value::Object(failed.metadata), json!({"noted": true, "errno": 2}));
    assert_eq!(call("raised").error.unwrap().causes.len(), 1);
    let requests =
        [ErrorKind::NotFound, ErrorKind::InvalidArguments, ErrorKind::NeedsApproval, ErrorKind::Refused];
    assert!(requests.into_iter().all(ErrorKind::is_request));
    assert!(
        ![ErrorKind::Failed, ErrorKind::TimedOut, ErrorKind::Panicked].into_iter().any(ErrorKind::is_request)
    );
}

/// R13: a tool that panics has failed, and the next call is served.
#[test]
fn r13_a_panic_is_a_failed_result() {
    let executor = only(anything("t"), |call| match call.arguments.get("panic") {
        Some(Value::String(text)) => panic!("{text}"),
        Some(_) => std::panic::panic_any(7),
        None => Ok("fine".into()),
    });
    let error = executor.call("t", json!({"panic": "index out of bounds"}), &context()).result.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Panicked);
    assert_eq!(
        error.message,
        "Tool t panicked: index out of bounds. This is a defect of the tool, not of the call"
    );
    let odd = executor.call("t", json!({"panic": 1}), &context()).result.error.unwrap();
    assert!(odd.message.contains("without a message"));
    assert!(executor.call("t", json!({}), &context()).result.success);
}

#[test]
fn events_come_in_order() {
    let executor = only(anything("t"), |call| {
        call.progress(1, Some(2));
        std::thread::sleep(std::time::Duration::from_millis(30));
        call.progress(2, Some(2));
        Ok("done".into())
    });
    let mut events = Vec::new();
    let done = executor.call_with("t", json!({}), &context(), &mut |event| {
        events.push(match event {
            Event::Started => "started".to_owned(),
            Event::Progress(progress) => format!("{}/{}", progress.bytes, progress.total.unwrap()),
            Event::Output(output) => output.as_str().to_owned(),
            Event::Finished(result) => format!("finished {}", result.success),
            other => format!("{other:?}"),
        });
    });
    assert_eq!(events, ["started", "1/2", "2/2", "done", "finished true"]);
    assert!(done.completed_at > done.started_at);
    assert!((done.duration_ms - done.result.duration_ms).abs() < f64::EPSILON);
    let mut events = 0;
    executor.call_with("nothing", json!({}), &context(), &mut |_| events += 1);
    assert_eq!(events, 2);
}

/// R13: panics of asynchronous tools are caught before and after they wait, and so are panics of
/// dry runs.
#[test]
fn r13_panics_of_futures_and_of_dry_runs() {
    let executor = executor([Arc::new(Async(Slow(anything("t")))) as Arc<dyn Tool>]);
    for arguments in [json!({"panics": "at once"}), json!({"panics": "later", "ends": 1})] {
        let done = executor.call("t", arguments.clone(), &context());
        let error = done.result.error.unwrap();
        assert_eq!(error.kind, ErrorKind::Panicked, "{arguments}");
        assert!(error.message.starts_with("Tool t panicked: oh"), "{error}");
        assert_eq!(done.parameters["panics"], arguments["panics"], "the arguments are remembered");
    }
    let told = executor.call("t", json!({"panics": "telling"}), &context().dry_run(true));
    assert_eq!(told.result.error_kind(), Some(ErrorKind::Panicked));
    assert!(executor.call("t", json!({"ends": 1}), &context()).result.success);
}

/// A record that panics.
struct Broken;

impl Record for Broken {
    fn record(&self, _: &ToolExecution) -> Result<(), Failure> {
        panic!("no disk")
    }

    fn total(&self) -> Result<u64, Failure> {
        Ok(0)
    }

    fn load(&self, _: usize) -> Result<Vec<ToolExecution>, Failure> {
        Ok(Vec::new())
    }
}

/// R13: a panic of what the host gave neither ends the caller nor is blamed on the tool.
#[test]
fn r13_panics_of_the_host() {
    let executor = only(anything("t").requires_approval(), |_| Ok("fine".into()));
    let asked = |_: &Metadata, arguments: &Map<String, Value>| {
        assert!(arguments.is_empty(), "who are you");
        Decision::Granted
    };
    let executor = executor.approval(asked).record(Arc::new(Broken));
    let refused = executor.call("t", json!({"n": 1}), &context()).result.error.unwrap();
    assert_eq!(refused.kind, ErrorKind::NeedsApproval);
    assert_eq!(refused.message, "The tool \"t\" needs approval: the approval callback panicked: who are you");
    let done = executor.call("t", json!({}), &context()).result;
    assert_eq!(done.output, Some("fine".into()));
    assert_eq!(done.metadata["warning"], "its execution was not recorded: the record panicked: no disk");
}

/// An asynchronous tool that waits for another thread.
struct Slow(Metadata);

impl AsyncTool for Slow {
    fn metadata(&self) -> &Metadata {
        &self.0
    }

    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        assert!(!call.arguments.contains_key("panics"), "oh");
        None
    }

    async fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let panics = call.arguments.get("panics").and_then(Value::as_str).map(str::to_owned);
        assert!(panics.as_deref() != Some("at once"), "oh");
        let mut begun = false;
        let ends = call.arguments.contains_key("ends");
        std::future::poll_fn(|task| {
            if ends && std::mem::replace(&mut begun, true) {
                return std::task::Poll::Ready(());
            }
            let waker = task.waker().clone();
            std::thread::spawn(move || waker.wake());
            std::task::Poll::Pending
        })
        .await;
        assert!(panics.is_none(), "oh, later");
        call.note("woken", true);
        Ok("slow".into())
    }
}

#[test]
fn asynchronous_tools_are_tools() {
    let executor = executor([Arc::new(Async(Slow(anything("t")))) as Arc<dyn Tool>]);
    let done = executor.call("t", json!({"ends": 1}), &context());
    assert_eq!(done.result.output, Some("slow".into()));
    assert_eq!(done.result.metadata["woken"], true);
    let never = executor.call("t", json!({}), &context().timeout(std::time::Duration::from_millis(50)));
    assert_eq!(never.result.error.unwrap().message, "Tool timed out after 0.05s");
    assert!(!never.result.metadata.contains_key("abandoned"));
}

#[derive(Deserialize)]
struct Arguments {
    limit: u64,
    ratio: f64,
}

#[test]
fn arguments_are_parsed_as_they_are_meant() {
    let schema = object(&json!({"limit": {"type": "integer"}, "ratio": {"type": "number"}}));
    let executor = only(Metadata::new("t", "", schema), |call| {
        let Arguments { limit, ratio } = call.parse()?;
        Ok(format!("{limit} {ratio}").into())
    });
    let text = |arguments| executor.call("t", arguments, &context()).result;
    // The schema takes a fraction of zero for an integer; nothing in the arguments is changed for
    // it.
    assert_eq!(text(json!({"limit": 5.0, "ratio": 2.0})).output, Some("5 2".into()));
    assert_eq!(text(json!({"limit": 5, "ratio": 2.5})).output, Some("5 2.5".into()));
    let error = text(json!({"limit": -5, "ratio": 1})).error.unwrap();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.message.starts_with("Invalid arguments: invalid value: integer `-5`"), "{error}");
}

/// R45: an error shown whole says what to do.
#[test]
fn r45_errors_shown_whole() {
    let schema = object(&json!({"limit": {"type": "integer", "minimum": 1}}));
    let executor = only(Metadata::new("Read", "Reads", schema), |_| Ok(Output::Nothing));
    let show = |name, arguments| executor.call(name, arguments, &context()).result.error.unwrap().to_string();
    assert_eq!(
        show("Read", json!({"limt": 0, "limit": 0})),
        "Unknown parameter: limt; Value for limit is below minimum: 1\nValid parameters: limit\nDid you mean: limit?\n\
         Received: 0\nConstraints: minimum=1"
    );
    assert_eq!(
        show("Raed", json!({})),
        "The tool \"Raed\" is not registered.\nDid you mean one of these? Read"
    );
    assert_eq!(ToolError::new(ErrorKind::Failed, "x").to_string(), "x");
}
