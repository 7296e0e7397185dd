//! The contents of the history and of logs, and the redaction of both.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use trommel_display::{DisplayOptions, LogLines, Outcome, Problem, Show};
use trommel_tool::{
    Context, ErrorKind, Executor, Failure, FaultKind, Metadata, Output, REDACTED, Redaction, ResultMode,
    Status, ToolExecution,
};

use crate::support::{Lines, MemoryDelivery, anything, object, only};

fn context() -> Context {
    let mut context = Context::new("/home/user");
    context.session_id = Some("sess_abc123".into());
    context.metadata.insert("user_id".into(), "user_12345".into());
    context
}

#[test]
fn the_newest_executions_are_remembered() {
    let executor = only(anything("t"), |_| Ok("x".into())).remember(3);
    for n in 0..5 {
        executor.call("t", json!({"n": n}), &context());
    }
    let numbers = |newest| {
        let history = executor.history(newest).unwrap();
        history.iter().map(|one| one.parameters["n"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(10), [2, 3, 4]);
    assert_eq!(numbers(2), [3, 4]);
    let other = executor.clone();
    other.call("t", json!({"n": 9}), &context());
    assert_eq!(numbers(1), [9], "clones share the history");
    assert_eq!(executor.total().unwrap(), 6, "evicted executions count");
    let none = executor.remember(0);
    none.call("t", json!({}), &context());
    assert!(none.history(5).unwrap().is_empty());
}

#[test]
fn a_record_outlives_the_executor() {
    let record = Arc::new(Lines::default());
    let executor = || only(anything("t"), |_| Ok("x".into())).record(record.clone());
    executor().call("t", json!({"n": 1}), &context());
    executor().call("nothing", json!({}), &context());
    let history = executor().history(10).unwrap();
    let told = history.iter().map(|one| (one.tool_name.as_str(), one.status())).collect::<Vec<_>>();
    assert_eq!(told, [("t", Status::Success), ("nothing", Status::Failed)]);
    assert_eq!(executor().total().unwrap(), 2);
    assert_eq!(history[1].result.error_kind(), Some(ErrorKind::NotFound));
}

#[test]
fn a_record_that_fails_is_only_a_warning() {
    let record = Arc::new(Lines { fails: true, ..Lines::default() });
    let executor = only(anything("t"), |_| Ok("x".into())).record(record);
    let result = executor.call("t", json!({}), &context()).result;
    assert!(result.success);
    assert_eq!(result.metadata["warning"], "its execution was not recorded: the disk is gone");
}

#[test]
fn executions_are_json_by_the_names_of_the_fields() {
    let executor = only(anything("Read"), |call| {
        call.note("lines", 2);
        Ok("Line 1: Hello\nLine 2: World".into())
    });
    let done = executor.call("Read", json!({"file_path": "/home/user/test.py"}), &context());
    let json = serde_json::to_value(&done).unwrap();
    let expected = json!({
        "tool_name": "Read",
        "parameters": {"file_path": "/home/user/test.py"},
        "context": {
            "working_dir": "/home/user", "session_id": "sess_abc123", "agent_id": null, "dry_run": false,
            "timeout": 120, "max_output_size": 100_000, "metadata": {"user_id": "user_12345"}
        },
        "result": {
            "success": true, "output": "Line 1: Hello\nLine 2: World", "error": null,
            "duration_ms": done.duration_ms, "metadata": {"lines": 2}
        },
        "started_at": done.started_at.to_string(),
        "completed_at": done.completed_at.to_string(),
        "duration_ms": done.duration_ms
    });
    assert_eq!(json, expected);
    assert!(json["started_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(serde_json::from_value::<ToolExecution>(json).unwrap(), done);
}

#[test]
fn every_kind_of_result_comes_back_from_json() {
    let schema = object(&json!({"how": {"enum": ["json", "text", "raised", "fails", "stored"]}}));
    let executor = only(Metadata::new("t", "", schema), |call| match call.arguments["how"].as_str() {
        Some("json") => Ok(Output::json(&json!({"a": [1.5, null]})).unwrap()),
        Some("text") => Ok("x".into()),
        Some("stored") => {
            call.writer().write_all(&vec![b'x'; 30_001]).unwrap();
            Ok(Output::Nothing)
        }
        Some("raised") => Err(Failure::raised(&std::io::Error::other("outer"))),
        _ => Err(Failure::refused("no").with("errno", 2)),
    });
    let executor = executor.delivery(Arc::new(MemoryDelivery::default()));
    for how in ["json", "text", "stored", "raised", "fails", "wrong"] {
        let done = executor.call("t", json!({"how": how}), &context());
        let text = serde_json::to_string(&done).unwrap();
        assert_eq!(serde_json::from_str::<ToolExecution>(&text).unwrap(), done, "{text}");
    }
    let raw = "{\"n\": 12345678901234567890123.10, \"n\": 1}";
    let result: trommel_tool::ToolResult =
        serde_json::from_str(&format!("{{\"success\":true,\"output\":{raw},\"duration_ms\":1}}")).unwrap();
    assert_eq!(result.output.as_ref().unwrap().as_str(), raw, "no number is rounded, no member dropped");
    assert!(serde_json::to_string(&result).unwrap().contains(raw));
}

/// R47: records of the first release are read. Members that later releases add are ignored, and
/// their kinds are read as the most general one.
#[test]
fn r47_recorded_executions_are_read_by_later_releases() {
    let kept: Vec<Value> = serde_json::from_str(include_str!("../golden/executions-1.json")).unwrap();
    for one in &kept {
        let execution: ToolExecution = serde_json::from_value(one.clone()).unwrap();
        assert_eq!(serde_json::to_value(&execution).unwrap(), *one);
    }
    let mut later = kept[1].clone();
    later["result"]["error_kind"] = json!("out_of_fuel");
    later["result"]["faults"] = json!([{"path": "a", "kind": "smell", "message": "m", "smell": 1}]);
    later["cost"] = json!(1);
    later["context"]["budget"] = json!({"fuel": 0});
    let execution: ToolExecution = serde_json::from_value(later).unwrap();
    let error = execution.result.error.unwrap();
    assert_eq!((error.kind, error.faults[0].kind), (ErrorKind::Failed, FaultKind::Other));
}

#[test]
fn timeouts_serialize_as_seconds() {
    let context: Context = serde_json::from_value(json!({"working_dir": "/a", "timeout": 0.5})).unwrap();
    assert_eq!(context.timeout, std::time::Duration::from_millis(500));
    assert_eq!(serde_json::to_value(&context).unwrap()["timeout"], 0.5);
    let mut endless = context;
    endless.timeout = std::time::Duration::MAX;
    let written = serde_json::to_string(&endless).unwrap();
    assert!(written.contains(r#""timeout":null"#), "{written}");
    assert_eq!(serde_json::from_str::<Context>(&written).unwrap(), endless);
    for wrong in [json!({"timeout": -1}), json!({"timeout": 1e300}), json!({"timeout": "x"})] {
        assert!(serde_json::from_value::<Context>(wrong).is_err());
    }
}

/// A writer with shared contents.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the log lines of some calls, without times.
fn logged(level: LevelFilter, calls: impl FnOnce()) -> Vec<String> {
    let page = Page::default();
    let lines = LogLines::new(page.clone()).utc().with_filter(level);
    tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), calls);
    let bytes = page.0.lock().unwrap().clone();
    let text = String::from_utf8(bytes).unwrap();
    let without_time = |line: &str| {
        let is_first = line.starts_with(|c: char| c.is_ascii_digit());
        if is_first { line.get(24..).unwrap().to_owned() } else { line.to_owned() }
    };
    text.lines().map(without_time).collect()
}

fn reader() -> Executor {
    only(anything("Read"), |call| match call.arguments.get("fails").and_then(Value::as_str) {
        None => Ok("x".repeat(1234).into()),
        Some("raised") => {
            let file = std::io::Error::from_raw_os_error(2);
            Err(Failure::raised(&std::io::Error::other(Outer(file))))
        }
        Some("panic") => panic!("oh"),
        Some(_) => Err("File not found: /path/to/file".into()),
    })
}

#[derive(Debug)]
struct Outer(std::io::Error);

impl std::fmt::Display for Outer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cannot read the settings")
    }
}

impl std::error::Error for Outer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn log_lines_are_those_of_the_wireframes() {
    let executor = reader();
    let call = |arguments: Value| {
        executor.call("Read", arguments, &context());
    };
    let lines = logged(LevelFilter::INFO, || call(json!({"file_path": "/home/user/test.py"})));
    assert_eq!(lines, ["INFO  [tools] Executing tool: Read", "INFO  [tools] Tool Read succeeded"]);
    let mut lines =
        logged(LevelFilter::DEBUG, || call(json!({"file_path": "/home/user/test.py", "limit": 100})));
    let result = lines.remove(3);
    assert_eq!(
        lines,
        [
            "DEBUG [tools] Executing tool: Read",
            "DEBUG [tools] Parameters: {\"file_path\": \"/home/user/test.py\", \"limit\": 100}",
            "DEBUG [tools] Context: working_dir=/home/user, timeout=120",
            "INFO  [tools] Tool Read succeeded",
        ]
    );
    assert!(
        result.starts_with("DEBUG [tools] Result: success=True, output_size=1234, duration_ms="),
        "{result}"
    );
    let lines = logged(LevelFilter::WARN, || call(json!({"fails": "missing"})));
    assert_eq!(lines, ["WARN  [tools] Tool Read failed: File not found: /path/to/file"]);
    let lines = logged(LevelFilter::WARN, || call(json!({"fails": "raised"})));
    let margin = " ".repeat(40);
    assert_eq!(
        lines,
        [
            "ERROR [tools] Tool Read raised exception: cannot read the settings",
            "ERROR [tools] Caused by:",
            &format!("{margin}No such file or directory (os error 2)"),
        ]
    );
    let lines = logged(LevelFilter::WARN, || call(json!({"fails": "panic"})));
    assert!(lines[0].starts_with("ERROR [tools] Tool Read raised exception: Tool Read panicked: oh"));
    assert_eq!(lines.len(), 1);
}

#[test]
fn a_tools_own_lines_go_where_the_callers_go() {
    let executor = only(anything("t"), |_| {
        tracing::info!(target: "mine", "working");
        Ok(Output::Nothing)
    });
    let lines = logged(LevelFilter::INFO, || drop(executor.call("t", json!({}), &context())));
    let expected =
        ["INFO  [tools] Executing tool: t", "INFO  [mine] working", "INFO  [tools] Tool t succeeded"];
    assert_eq!(lines, expected);
}

const CANARY: &str = "hunter2-canary";

/// Arguments with a secret in every place that secrets are known by.
fn planted() -> Value {
    json!({
        "Authorization": format!("Bearer {CANARY}"),
        "env": {"DB_PASSWORD": CANARY, "list": [{"name": "X-Api-Key", "value": CANARY}]},
        "url": format!("https://me:{CANARY}@example.org/"),
        "command": format!("curl -H 'Authorization: Bearer {CANARY}' --password {CANARY} a?token={CANARY}"),
        "json": format!("{{\"api_key\": \"{CANARY}\"}}"),
        "cookie": [CANARY],
    })
}

/// R25: no secret in logs, errors, the history, the record, the report of healed arguments, or a
/// manifest; no payload in the history.
#[test]
fn r25_no_canary_is_found_anywhere() {
    let properties = json!({"secret": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": true});
    let tool = Metadata::new("t", "", schema).result_mode(ResultMode::Persist).command("command");
    let executor = only(tool.clone(), |call| {
        call.note("headers", json!({"Set-Cookie": CANARY}));
        if call.arguments.contains_key("fails") {
            let source = std::io::Error::other(format!("password={CANARY}"));
            return Err(Failure::raised(&std::io::Error::other(source)));
        }
        let payload = format!("{{\"password\": \"{CANARY}\", \"note\": \"Bearer {CANARY}\"}}");
        call.writer().write_all(payload.as_bytes()).unwrap();
        Ok(Output::Nothing)
    });
    let (record, shelf) = (Arc::new(Lines::default()), Arc::new(MemoryDelivery::default()));
    let executor = executor.record(record.clone()).delivery(shelf.clone());
    let mut context = context();
    context.metadata.insert("token".into(), CANARY.into());
    let mut shown = String::new();
    let lines = logged(LevelFilter::TRACE, || {
        for (key, value) in [("x", json!(1)), ("fails", json!(1)), ("secret", json!(CANARY))] {
            let mut arguments = planted();
            arguments[key] = value;
            let done = executor.call("t", arguments, &context);
            shown.push_str(&done.result.error.as_ref().map(ToString::to_string).unwrap_or_default());
            shown.push_str(&done.result.manifest().map(|one| one.preview.clone()).unwrap_or_default());
            shown.push_str(&Outcome::new(&done, Some(&tool)).text(&DisplayOptions::new().plain()));
            shown.push_str(&Problem::new(&done, Some(&tool)).text(&DisplayOptions::new().plain()));
            shown.push_str(&serde_json::to_string(&Problem::new(&done, Some(&tool))).unwrap());
            let named = tool.clone().command("Authorization");
            shown.push_str(&Outcome::new(&done, Some(&named)).text(&DisplayOptions::new().plain()));
            shown.push_str(&serde_json::to_string(&done.result.metadata.get("healed")).unwrap());
            executor.call(CANARY.get(..4).unwrap(), planted(), &context);
        }
    });
    shown.push_str(&lines.join("\n"));
    shown.push_str(&serde_json::to_string(&executor.history(100).unwrap()).unwrap());
    shown.push_str(&record.lines.lock().unwrap().join("\n"));
    shown.push_str(&shelf.one().parameters.to_string());
    assert!(!shown.contains(CANARY), "{shown}");
    assert!(shown.contains(REDACTED));
    assert_eq!(record.lines.lock().unwrap().len(), 6);
}

/// R25: at level info nothing of the arguments is logged at all.
#[test]
fn r25_arguments_are_logged_at_debug_only() {
    let executor = reader();
    let arguments = || json!({"query": CANARY});
    let lines = logged(LevelFilter::INFO, || drop(executor.call("Read", arguments(), &context())));
    assert!(!lines.join("\n").contains(CANARY));
    let lines = logged(LevelFilter::DEBUG, || drop(executor.call("Read", arguments(), &context())));
    assert!(lines.join("\n").contains(CANARY));
}

/// R25: a secret that was passed as the name of a tool is neither logged nor remembered; the name
/// of a tool is.
#[test]
fn r25_unknown_names_are_redacted() {
    const SECRET: &str = "sk-proj-0123456789abcdefghijABCDEFGHIJ";
    let executor = only(anything("t"), |_| Ok("x".into()));
    for name in [SECRET.to_owned(), format!("tool {SECRET} x")] {
        let lines = logged(LevelFilter::TRACE, || drop(executor.call(&name, json!({}), &context())));
        assert!(lines.iter().any(|line| line.contains("Executing tool: ")), "{lines:?}");
        assert!(!lines.join("\n").contains(SECRET), "{lines:?}");
    }
    let history = serde_json::to_string(&executor.history(10).unwrap()).unwrap();
    assert!(!history.contains(SECRET) && history.contains(REDACTED), "{history}");
    let lines = logged(LevelFilter::INFO, || drop(executor.call("t", json!({}), &context())));
    assert_eq!(lines[0], "INFO  [tools] Executing tool: t");
}

/// R25: the payload of a short result is not remembered, only its size.
#[test]
fn r25_payloads_are_not_remembered() {
    let executor = only(anything("t"), |_| Ok(CANARY.into()));
    executor.call("t", json!({}), &context());
    let history = executor.history(1).unwrap();
    assert!(!serde_json::to_string(&history).unwrap().contains(CANARY));
    assert_eq!(history[0].result.metadata["output_size"], CANARY.len());
}

#[test]
fn a_host_adds_its_own_secrets() {
    let executor = only(anything("t"), |_| Ok("x".into())).redaction(Redaction::new().key("badge"));
    executor.call("t", json!({"Badge": CANARY, "n": 1}), &context());
    let history = executor.history(1).unwrap();
    assert_eq!(Value::Object(history[0].parameters.clone()), json!({"Badge": REDACTED, "n": 1}));
}
