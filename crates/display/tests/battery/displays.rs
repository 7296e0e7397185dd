//! What people are shown, against the wireframes.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use trommel_base::text::safe;
use trommel_display::{
    ContextView, DisplayOptions, ExecutionFailed, History, Outcome, Problem, RegistrationFailed,
    RegistryView, Show, ToolDetails, ToolList, ToolNotFound, ValidationFailed,
};
use trommel_tool::{
    Call, Category, Context, Executor, Failure, Metadata, Output, Registry, Tool, ToolError, ToolExecution,
};
use unicode_width::UnicodeWidthStr;

use crate::golden::{assert_golden, assert_wireframe};

fn options() -> DisplayOptions {
    DisplayOptions::new().utc()
}

/// A tool that names a command where `argument` is not empty.
fn tool(name: &str, argument: &str) -> Metadata {
    let metadata = Metadata::new(name, "", Value::Null);
    if argument.is_empty() { metadata } else { metadata.command(argument) }
}

/// A call that took `duration_ms` milliseconds.
fn execution(name: &str, parameters: &Value, duration_ms: f64, result: &Value) -> ToolExecution {
    let mut result = result.clone();
    result["duration_ms"] = json!(duration_ms);
    let execution = json!({
        "tool_name": name,
        "parameters": parameters,
        "context": {"working_dir": "/home/user", "timeout": 120, "max_output_size": 100_000},
        "result": result,
        "started_at": "2024-01-15T10:23:45.123Z",
        "completed_at": "2024-01-15T10:23:45.135Z",
        "duration_ms": duration_ms
    });
    serde_json::from_value(execution).unwrap()
}

fn succeeded(output: &Value) -> Value {
    json!({"success": true, "output": output})
}

fn failed(kind: &str, error: &str) -> Value {
    json!({"success": false, "error": error, "error_kind": kind})
}

/// The error of a call whose arguments do not fit.
fn invalid(faults: &Value) -> ToolError {
    let mut result = failed("invalid_arguments", "several");
    result["faults"] = faults.clone();
    execution("Read", &json!({}), 0.0, &result).result.error.unwrap()
}

#[test]
fn results_are_as_in_the_wireframes() {
    let text = "Line 1: Hello, World!\nLine 2: This is a test file.\nLine 3: It has multiple lines.\n";
    let success = execution("Read", &json!({}), 12.4, &succeeded(&json!(text)));
    assert_wireframe("result_success", &Outcome::new(&success, None).text(&options()));

    let missing = failed("failed", "File not found: /path/to/missing/file.txt");
    let missing = execution("Read", &json!({}), 3.0, &missing);
    assert_wireframe("result_failed", &Outcome::new(&missing, Some(&tool("Read", ""))).text(&options()));

    let would = succeeded(&json!("[Dry Run] Would write 150 bytes to /path/to/file.txt"));
    let mut dry = execution("Write", &json!({}), 1.0, &would);
    dry.context = dry.context.dry_run(true);
    assert_wireframe("result_dry_run", &Outcome::new(&dry, None).text(&options()));

    let late = failed("timed_out", "Tool timed out after 120s");
    let late = execution("Bash", &json!({"command": "sleep 300"}), 120_000.0, &late);
    let bash = tool("Bash", "command");
    assert_wireframe("result_timeout", &Outcome::new(&late, Some(&bash)).text(&options()));
    // The same if the display is chosen by the error.
    assert_wireframe("result_timeout", &Problem::new(&late, Some(&bash)).text(&options()));
}

fn twelve_tools() -> Vec<Metadata> {
    let tools = [
        ("Read", "Read contents of a file", Category::File),
        ("Write", "Write content to a file", Category::File),
        ("Edit", "Edit a file with find/replace", Category::File),
        ("Glob", "Find files matching a pattern", Category::File),
        ("Grep", "Search file contents", Category::File),
        ("Bash", "Execute a bash command", Category::Execution),
        ("BashOutput", "Get output from background shell", Category::Execution),
        ("KillShell", "Kill a background shell", Category::Execution),
        ("WebSearch", "Search the web", Category::Web),
        ("WebFetch", "Fetch a URL", Category::Web),
        ("Task", "Launch a subagent", Category::Task),
        ("NotebookEdit", "Edit Jupyter notebook cells", Category::Notebook),
    ];
    let metadata =
        |(name, description, category)| Metadata::new(name, description, Value::Null).category(category);
    tools.into_iter().map(metadata).collect()
}

fn read() -> Metadata {
    let description = "Read contents of a file from the filesystem. \
        Supports reading partial files with offset and limit parameters.";
    let schema = json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "Absolute path to the file to read"},
            "offset": {
                "type": "integer",
                "description": "Line number to start reading from",
                "default": 0,
                "minimum": 0
            },
            "limit": {
                "type": "integer",
                "description": "Maximum number of lines to read",
                "default": 2000,
                "minimum": 1,
                "maximum": 10000
            }
        },
        "required": ["file_path"]
    });
    Metadata::new("Read", description, schema).category(Category::File)
}

#[test]
fn tools_are_as_in_the_wireframes() {
    let tools = twelve_tools();
    assert_wireframe("tool_list", &ToolList::new(&tools).text(&options()));
    assert_wireframe("tool_details", &ToolDetails::new(&read()).text(&options()));
}

#[test]
fn invalid_arguments_are_as_in_the_wireframes() {
    let cases = [
        (
            "validation_missing",
            "Read",
            json!({
                "path": "file_path",
                "kind": "missing",
                "message": "Missing required parameter: file_path",
                "required": ["file_path (string) - Absolute path to the file to read"]
            }),
        ),
        (
            "validation_type",
            "Read",
            json!({
                "path": "offset",
                "kind": "type",
                "message": "Invalid type for offset: expected integer",
                "received": "\"100\" (string)",
                "expected": "integer"
            }),
        ),
        (
            "validation_enum",
            "SchemaGenerator",
            json!({
                "path": "format",
                "kind": "value",
                "message": "Invalid value for format: must be one of ['openai', 'anthropic', 'langchain']",
                "received": "\"unknown\"",
                "options": ["openai", "anthropic", "langchain"]
            }),
        ),
        (
            "validation_range",
            "Read",
            json!({
                "path": "limit",
                "kind": "range",
                "message": "Value for limit exceeds maximum: 10000",
                "received": "50000",
                "constraints": "minimum=1, maximum=10000"
            }),
        ),
    ];
    for (golden, tool, fault) in cases {
        assert_wireframe(golden, &ValidationFailed::new(tool, &invalid(&json!([fault]))).text(&options()));
    }
}

/// Errors of real calls match the wireframes.
#[test]
fn r45_refused_calls_are_as_in_the_wireframes() {
    let format = json!({
        "type": "object",
        "properties": {"format": {"type": "string", "enum": ["openai", "anthropic", "langchain"]}}
    });
    let generator = Metadata::new("SchemaGenerator", "", format);
    let registry = Registry::new();
    registry.register(Idle(read())).unwrap();
    registry.register(Idle(generator)).unwrap();
    let executor = Executor::new(Arc::new(registry));
    let shown = |tool: &str, arguments: Value| {
        let done = executor.call(tool, arguments, &Context::new("/"));
        Problem::new(&done, None).text(&options())
    };
    assert_wireframe("validation_missing", &shown("Read", json!({})));
    assert_wireframe("validation_range", &shown("Read", json!({"file_path": "/a", "limit": 50000})));
    assert_wireframe("validation_enum", &shown("SchemaGenerator", json!({"format": "unknown"})));
    // A text that spells a number would be healed.
    let kept = std::fs::read_to_string(crate::golden::path("validation_type.txt")).unwrap();
    let spelled = shown("Read", json!({"file_path": "/a", "offset": "1OO"}));
    assert_eq!(spelled, kept.replace("\"100\"", "\"1OO\""));
}

#[test]
fn wide_and_combining_characters_keep_the_frame() {
    let text = "日本語のテキストは二桁の幅を取るので、枠の中に収まるように折り返される。\n\
        cafe\u{301} 👨\u{200d}👩\u{200d}👧\u{200d}👦 🇩🇪 ☺\u{fe0f} ｆｕｌｌ ﷺ שלום\n\
        \u{1b}[31mred\u{1b}[0m \u{202e}evil\u{202c}";
    let metadata = Metadata::new(
        "werkzeug",
        "説明。Second sentence",
        json!({"type": "object", "properties": {"größe": {"type": "string", "description": text}}}),
    );
    let done = execution("werkzeug", &json!({"größe": "日本語"}), 1.0, &succeeded(&json!(text)));
    let mut shown = Outcome::new(&done, None).text(&options());
    shown.push_str(&ToolDetails::new(&metadata).text(&options().width(40)));
    shown.push_str(&ToolList::new([&metadata]).text(&options().width(40)));
    shown.push_str(&History::new(std::slice::from_ref(&done), 1).text(&options().width(40)));
    assert_golden("wide.txt", &shown);
}

struct Idle(Metadata);

impl Tool for Idle {
    fn metadata(&self) -> &Metadata {
        &self.0
    }

    fn run(&self, _: &mut Call<'_>) -> Result<Output, Failure> {
        Ok(Output::Nothing)
    }
}

#[test]
fn the_registry_is_as_in_the_wireframes() {
    let registry = Registry::new();
    assert_golden("registry_empty.txt", &{
        let mut state = registry.state();
        state.instance_id = "0x000000000001".to_owned();
        RegistryView::new(&state).text(&options())
    });
    for tool in twelve_tools() {
        registry.register(Idle(tool)).unwrap();
    }
    let mut state = registry.state();
    state.instance_id = "0x7f8b4c0d1e90".to_owned();
    assert_wireframe("registry_state", &RegistryView::new(&state).text(&options()));
    let shown = serde_json::to_value(RegistryView::new(&state)).unwrap();
    assert_eq!(shown["by_category"]["file"], json!(5));

    let twice = registry.register(Idle(read())).unwrap_err();
    assert_wireframe("already_registered", &RegistrationFailed::new(&twice).text(&options()));
    let bad = registry.register(Idle(Metadata::new("no name", "", Value::Null))).unwrap_err();
    assert_golden("registration_failed.txt", &RegistrationFailed::new(&bad).text(&options()));
    let shown = serde_json::to_value(RegistrationFailed::new(&bad)).unwrap();
    assert_eq!(shown["message"], json!(bad.to_string()));
    let gone = registry.deregister("Grap").err().unwrap();
    let shown = RegistrationFailed::new(&gone).text(&options());
    assert!(shown.contains("Error: Tool Not Found") && shown.contains("• Grep"), "{shown}");
}

fn five_executions() -> Vec<ToolExecution> {
    let at = |seconds: &str, mut execution: ToolExecution| {
        execution.started_at = format!("2024-01-15T10:{seconds}.123Z").parse().unwrap();
        execution
    };
    let content = json!({"file_path": "/home/user/output.txt", "content": "x".repeat(5_000)});
    let missing = json!({"file_path": "/home/user/missing.txt"});
    let sleep = json!({"command": "sleep 300", "timeout": 5000});
    vec![
        at(
            "23:45",
            execution("Read", &json!({"file_path": "/home/user/test.py"}), 12.0, &succeeded(&json!(""))),
        ),
        at("23:47", execution("Bash", &json!({"command": "python test.py"}), 1543.2, &succeeded(&json!("")))),
        at("23:50", execution("Write", &content, 5.0, &failed("failed", "Permission denied"))),
        at("23:52", execution("Read", &missing, 3.0, &failed("failed", "File not found"))),
        at("24:00", execution("Bash", &sleep, 5000.0, &failed("timed_out", "Tool timed out after 5s"))),
    ]
}

#[test]
fn the_history_is_as_in_the_wireframe() {
    let executions = five_executions();
    assert_wireframe("history", &History::new(&executions, 5).text(&options()));
    let newest = History::new(&executions[3..], 1_005);
    assert_golden("history_newest.txt", &newest.text(&options()));
}

#[test]
fn the_context_is_as_in_the_wireframe() {
    let context: Context = serde_json::from_value(json!({
        "working_dir": "/home/user/my-project",
        "session_id": "sess_abc123def456",
        "agent_id": "agent_main_001",
        "timeout": 120,
        "metadata": {"user_id": "user_12345", "request_id": "req_xyz789"}
    }))
    .unwrap();
    assert_wireframe("context", &ContextView::new(&context).text(&options()));
    let bare = Context::new("/home/user").timeout(Duration::from_millis(1_500)).dry_run(true);
    assert_golden("context_bare.txt", &ContextView::new(&bare).text(&options()));
}

#[test]
fn errors_are_as_in_the_wireframes() {
    let suggestions = ["Task".to_owned(), "Bash".to_owned()];
    let options = options().list_command("/tools");
    assert_wireframe("tool_not_found", &ToolNotFound::new("UnknownTool", &suggestions).text(&options));

    let mut result = failed("failed", "Operation not permitted");
    result["metadata"] = json!({"exit_code": 1, "advice": "Check permissions and try again."});
    let execution = execution("Bash", &json!({"command": "rm -rf /"}), 8.0, &result);
    let bash = tool("Bash", "command");
    assert_wireframe("execution_error", &ExecutionFailed::new(&execution, Some(&bash)).text(&options));
    assert_wireframe("execution_error", &Problem::new(&execution, Some(&bash)).text(&options));
}

#[test]
fn displays_beyond_the_wireframes() {
    let several = invalid(&json!([
        {"path": "id", "kind": "missing", "message": "Missing required parameter: id",
            "required": ["id (string) - The tool output reference ID", "paths (array) - Array of JSONPath expressions to extract, each of which is looked for"]},
        {"path": "paths", "kind": "missing", "message": "Missing required parameter: paths",
            "required": ["id (string) - The tool output reference ID", "paths (array) - Array of JSONPath expressions to extract, each of which is looked for"]},
        {"path": "flaten", "kind": "unknown", "message": "Unknown parameter: flaten",
            "options": ["id", "paths", "flatten"], "did_you_mean": "flatten"}
    ]));
    assert_golden(
        "validation_several.txt",
        &ValidationFailed::new("tool_outputs.extract", &several).text(&options()),
    );

    assert_golden("tool_not_found_alone.txt", &ToolNotFound::new("UnknownTool", &[]).text(&options()));

    let mut stored = json!({"success": true});
    stored["manifest"] = json!({
        "id": "01jc0000000000000000000000",
        "destination": "store",
        "kind": "json",
        "size_chars": 1_234_000,
        "size_bytes": 1_234_567,
        "items": 4_000,
        "preview": "{\n  \"users\": [4000 items]\n}",
        "next_calls": ["tool_outputs.stats {\"id\": \"01jc0000000000000000000000\"}"],
        "reason": "auto_size_exceeds_limit"
    });
    let stored = execution("web.fetch", &json!({}), 842.0, &stored);
    assert_golden("result_stored.txt", &Outcome::new(&stored, None).text(&options()));

    let refused = failed("refused", "There is no output `01jc`. List them with tool_outputs.list.");
    let refused = execution("tool_outputs.stats", &json!({"id": "01jc"}), 1.0, &refused);
    assert_golden("request_refused.txt", &Problem::new(&refused, None).text(&options()));

    let approval = failed("needs_approval", "Tool Bash runs only with approval");
    let approval = execution("Bash", &json!({"command": "ls"}), 0.0, &approval);
    assert_golden(
        "approval_required.txt",
        &Problem::new(&approval, Some(&tool("Bash", "command"))).text(&options()),
    );

    let mut raised = failed("failed", "The configuration cannot be read");
    raised["causes"] = json!(["config.toml: No such file or directory", "os error 2"]);
    let raised = execution("Read", &json!({}), 2.0, &raised);
    assert_golden("execution_error_causes.txt", &Problem::new(&raised, None).text(&options()));

    let cancelled = execution("Read", &json!({}), 40.0, &failed("cancelled", "Tool was cancelled"));
    assert_golden("result_cancelled.txt", &Problem::new(&cancelled, None).text(&options()));
}

#[test]
fn a_tool_with_nested_arguments_is_shown_with_them() {
    let schema = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The tool output reference ID", "minLength": 1},
            "counts": {
                "type": "array",
                "description": "Array of count operations to perform",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "Name for this count operation"},
                        "count_type": {
                            "type": "string",
                            "enum": ["array_length", "matches"],
                            "default": "array_length",
                            "description": "Type of counting operation, which decides what is counted"
                        }
                    },
                    "required": ["name"]
                }
            },
            "strategy": {"type": "string", "enum": ["random", "first"], "default": "random"},
            "default_value": {"description": "Default value for missing paths"}
        },
        "required": ["id", "counts"]
    });
    let tool = Metadata::new("tool_outputs.count", "Count items.", schema).requires_approval();
    assert_golden("tool_details_nested.txt", &ToolDetails::new(&tool).text(&options()));
    let empty = Metadata::new("ping", "Answers", Value::Null);
    assert_golden("tool_details_empty.txt", &ToolDetails::new(&empty).text(&options()));
}

#[test]
fn json_outputs_are_laid_out_and_not_changed() {
    let output =
        r#"{"count":12345678901234567890.10,"rows":[{"name":"a very long name indeed","value":1e400},[]]}"#;
    let long = format!(r#"{{"success":true,"output":{output}}}"#);
    let mut long_execution = execution("Read", &json!({}), 1.0, &succeeded(&json!(null)));
    long_execution.result = serde_json::from_str(&long).unwrap();
    assert_golden("result_json.txt", &Outcome::new(&long_execution, None).text(&options()));
    let shown = serde_json::to_string(&Outcome::new(&long_execution, None)).unwrap();
    assert!(shown.contains(output), "{shown}");

    let short = execution("Read", &json!({}), 1.0, &succeeded(&json!({"a": [1, 2]})));
    let shown = Outcome::new(&short, None).text(&options());
    assert!(shown.contains("│ {\"a\": [1, 2]} "), "{shown}");
    let none = execution("Read", &json!({}), 1.0, &succeeded(&json!(null)));
    assert!(Outcome::new(&none, None).text(&options()).contains("│ (none) "));
}

#[test]
fn displays_have_a_plain_form_and_json() {
    let executions = five_executions();
    assert_golden("history_plain.txt", &History::new(&executions[2..4], 2).text(&options().plain()));
    let tools = twelve_tools();
    assert_golden("tool_list_plain.txt", &ToolList::new(&tools).text(&options().plain()));

    let listed = serde_json::to_value(ToolList::new(&tools[..1])).unwrap();
    let row = json!({"name": "Read", "category": "file", "description": "Read contents of a file"});
    assert_eq!(listed, json!([row]));
    let details = serde_json::to_value(ToolDetails::new(&read())).unwrap();
    assert_eq!(details["parameters"][0]["name"], json!("file_path"));
    assert_eq!(details["name"], json!("Read"));
    let history = serde_json::to_value(History::new(&executions, 9)).unwrap();
    assert_eq!((&history["total"], history["executions"].as_array().map(Vec::len)), (&json!(9), Some(5)));
    assert_eq!(history["executions"][0]["started_at"], json!("2024-01-15T10:23:45.123Z"));

    let bash = tool("Bash", "command");
    let outcome = serde_json::to_value(Outcome::new(&executions[4], Some(&bash))).unwrap();
    assert_eq!((&outcome["status"], &outcome["command"]), (&json!("timed_out"), &json!("sleep 300")));
    let problem = serde_json::to_value(Problem::new(&executions[2], None)).unwrap();
    assert_eq!(
        problem,
        json!({"tool": "Write", "kind": "failed", "code": "failed", "message": "Permission denied"})
    );
    let context = serde_json::to_value(ContextView::new(&Context::new("/"))).unwrap();
    assert_eq!(context["timeout"], json!(120));
    let not_found = serde_json::to_value(ToolNotFound::new("x", &[])).unwrap();
    assert_eq!(not_found, json!({"tool": "x", "suggestions": []}));
    let invalid = invalid(&json!([{"path": "a", "kind": "type", "message": "m"}]));
    let validation = serde_json::to_value(ValidationFailed::new("Read", &invalid)).unwrap();
    assert_eq!(validation["faults"][0]["path"], json!("a"));
}

#[test]
fn times_are_in_the_requested_zone() {
    let executions = five_executions();
    let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(2));
    let shown = History::new(&executions, 5).text(&DisplayOptions::new().zone(zone));
    assert!(shown.contains("#1  [2024-01-15 12:23:45]"), "{shown}");
}

/// Texts that try to break out of a box or to deceive a reader.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,120}",
        "[\u{0}-\u{1f}\u{7f}-\u{9f}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}\u{e0000}-\u{e007f}a-z \n\t\r]{0,120}",
        "(日本語|👨\u{200d}👩\u{200d}👧|e\u{301}|ﷺ|לא|🇩🇪| |x){0,60}",
        "[a-z]{0,200}",
    ]
}

fn is_dangerous(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e0fff}')
}

proptest! {
    #[test]
    fn r26_no_text_breaks_out_of_a_panel(
        name in hostile(), text in hostile(), key in hostile(), width in 0_u16..150, boxed in any::<bool>()
    ) {
        let mut options = options().width(width);
        options.boxed = boxed;
        let mut failure = failed("failed", &text);
        failure["causes"] = json!([text]);
        failure["metadata"] = json!({"advice": text, "warning": text});
        let parameters = json!({"command": text, key.as_str(): {key.as_str(): text}});
        let bash = Metadata::new(name.as_str(), text.as_str(), json!({
            "type": "object",
            "properties": {key.as_str(): {"type": "string", "description": text, "default": text, "enum": [text]}}
        })).command("command");
        let failure = execution(&name, &parameters, 1.0, &failure);
        let success = execution(&name, &parameters, 1.0, &succeeded(&json!(text)));
        let nested = execution(&name, &parameters, 1.0, &succeeded(&json!({key.as_str(): [text]})));
        let mut context = Context::new(&text);
        context.session_id = Some(text.clone());
        context.metadata.insert(key.clone(), json!([text]));
        let fault = json!([{"message": text, "received": text, "options": [text], "required": [text]}]);
        let shown = [
            Problem::new(&failure, Some(&bash)).text(&options),
            Outcome::new(&failure, Some(&bash)).text(&options),
            Outcome::new(&success, Some(&bash)).text(&options),
            Outcome::new(&nested, Some(&bash)).text(&options),
            ToolList::new([&bash]).text(&options),
            ToolDetails::new(&bash).text(&options),
            History::new(std::slice::from_ref(&failure), 1).text(&options),
            ContextView::new(&context).text(&options),
            ToolNotFound::new(&name, std::slice::from_ref(&text)).text(&options),
            ValidationFailed::new(&name, &invalid(&fault)).text(&options),
        ];
        for shown in &shown {
            prop_assert!(!shown.contains(is_dangerous), "{}", shown.escape_debug());
            let width = usize::from(width.max(DisplayOptions::MIN_WIDTH));
            for line in shown.lines() {
                prop_assert!(line.width() <= width, "{line}");
                prop_assert!(!boxed || line.width() == width, "{line}");
                prop_assert!(!boxed || line.starts_with(['┌', '│', '├', '└']), "{line}");
                prop_assert!(!boxed || line.ends_with(['┐', '│', '┤', '┘']), "{line}");
            }
        }
    }

    #[test]
    fn r26_safe_texts_are_one_line_and_lead_back(text in hostile()) {
        let shown = safe(&text);
        prop_assert!(!shown.contains(is_dangerous) && !shown.contains('\n'));
        let escaped = serde_json::from_str::<String>(&format!("\"{}\"", shown.replace('"', "\\\"")));
        if !text.contains('\\') {
            prop_assert_eq!(escaped.unwrap(), text);
        }
    }
}
