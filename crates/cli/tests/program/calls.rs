//! Tools: display, export, calls, history, logs, and secrets.

use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Folder, Home, Run, wait};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const TOOLS: [&str; 10] = [
    "buffer_ops",
    "session",
    "tool_outputs.aggregate",
    "tool_outputs.count",
    "tool_outputs.extract",
    "tool_outputs.list",
    "tool_outputs.read",
    "tool_outputs.sample",
    "tool_outputs.search",
    "tool_outputs.stats",
];

#[test]
fn tools_are_shown_and_exported() {
    let home = Home::new("tools");
    let all = home.line("tools").json();
    let names: Vec<&Value> = all.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, TOOLS);
    let one = home.line("tools tool_outputs.count").json();
    assert_eq!((&one["name"], &one["parameters"][0]["name"]), (&json!(TOOLS[3]), &json!("id")));
    assert_eq!(home.line("tools tool_outputs_count").json(), one, "by the name it is exported under");
    let plain = home.line("tools tool_outputs.count --plain").ok();
    assert!(plain.starts_with("Tool: tool_outputs.count\n") && !plain.contains('│'), "{plain}");
    assert!(home.line("tools --plain").ok().contains("tool_outputs.sample"));
    assert!(home.line("history --plain").ok().contains("Total Executions: 0"));
    let state = home.line("tools --state").json();
    assert_eq!((&state["total"], &state["names"]), (&json!(10), &json!(TOOLS)));

    for (provider, place) in [
        ("openai", "/function/name"),
        ("openai-strict", "/function/name"),
        ("anthropic", "/name"),
        ("anthropic-strict", "/name"),
        ("langchain", "/name"),
        ("mcp", "/name"),
    ] {
        let run = home.run(["tools", "--schema", provider]);
        assert_eq!(run.status, Some(0), "{provider}");
        assert!(run.err.lines().all(|line| line.starts_with("note: ")), "{provider}: {}", run.err);
        let described: Value = serde_json::from_str(&run.out).unwrap();
        let described = if provider == "mcp" { &described["tools"] } else { &described };
        let described = described.as_array().unwrap();
        let names: Vec<&str> =
            described.iter().map(|tool| tool.pointer(place).unwrap().as_str().unwrap()).collect();
        assert_eq!(names, TOOLS.map(|name| name.replace('.', "_")), "{provider}");
        let one = home.run(["tools", "tool_outputs.list", "--schema", provider]);
        assert_eq!(serde_json::from_str::<Value>(&one.out).unwrap(), described[5], "{provider}");
        assert_eq!(home.run(["tools", "--schema", provider]), run, "the same bytes each time");
        let report = home.run(["tools", "--schema", provider, "--report"]).json();
        let report = report.as_array().unwrap();
        assert!(report.iter().all(|one| TOOLS.contains(&one["tool"].as_str().unwrap())), "{report:?}");
        let lines = home.run(["tools", "--schema", provider, "--report", "--plain"]).ok();
        assert_eq!(lines.lines().count(), report.len(), "{provider}");
        let quiet = |one: &&Value| !matches!(one["fate"].as_str(), Some("not_strict" | "refused"));
        let others = report.iter().filter(quiet).count();
        assert_eq!(
            run.err.contains(&format!("note: {others} changes to the tools' schemas")),
            others > 0,
            "{provider}"
        );
    }
}

#[test]
fn unknown_names_are_usage_errors() {
    let home = Home::new("unknown");
    let said = home.line("tools tool_outputs.lists").failed(2);
    assert!(said.contains("Error: Tool Not Found") && said.contains("• tool_outputs.list"), "{said}");
    let said = home.line("call tool_outputs.lists").failed(2);
    assert!(said.contains("Use trommel tools to see all available tools."), "{said}");
    let said: Value = serde_json::from_str(&home.line("call nothing --json").failed(2)).unwrap();
    assert_eq!((&said["tool"], &said["kind"]), (&json!("nothing"), &json!("not_found")));
    home.line("tools --schema french").failed(2);
    home.line("tools tool_outputs.list --state").failed(2);
}

/// A call prints the output of the tool byte for byte, or the wireframe's panel.
#[test]
fn calls_answer_as_json_or_in_a_panel() {
    let home = Home::new("calls");
    home.put("numbers", "[1.50, 12345678901234567890, 2e3]");
    let asked = r#"{"id": "numbers", "paths": ["$[*]"]}"#;
    let expected = "{\"extracted\":{\"$[*]\":[1.50,12345678901234567890,2e3]}}\n";
    assert_eq!(home.run(["call", "tool_outputs.extract", asked]).ok(), expected);
    assert_eq!(home.run(["call", "tool_outputs_extract", asked, "--json"]).ok(), expected);
    assert_eq!(home.fed(["call", "tool_outputs.extract", "-"], asked.as_bytes()).ok(), expected);
    // Nearly valid arguments are healed.
    let healed = r#"{"id": "numbers", "paths": "[\"$[*]\"]", "flatten": "false"}"#;
    assert_eq!(home.run(["call", "tool_outputs.extract", healed]).ok(), expected);
    assert_eq!(home.line("call tool_outputs.list").json()["total"], 1);

    let panel = home.run(["call", "tool_outputs.extract", asked, "--panel"]).ok();
    let lines: Vec<&str> = panel.lines().collect();
    assert!(lines.iter().all(|line| line.chars().count() == 71), "{panel}");
    assert!(
        lines[1].starts_with("│ Tool: tool_outputs.extract ") && lines[2].starts_with("│ Status: ✓ Success ")
    );
    assert!(
        lines[lines.len() - 2].starts_with("│ Duration: ") && panel.contains("12345678901234567890"),
        "{panel}"
    );

    let plain = home.run(["call", "tool_outputs.extract", asked, "--plain"]).ok();
    assert!(plain.starts_with("Tool: tool_outputs.extract\nStatus: ✓ Success\n"), "{plain}");
    assert!(!plain.contains(['│', '┌']), "{plain}");

    let dry = home.run(["call", "tool_outputs.extract", asked, "--dry-run"]).json();
    assert!(dry.as_str().unwrap().starts_with("[Dry Run] Would "), "{dry}");
    let dry = home.run(["call", "tool_outputs.extract", asked, "--dry-run", "--panel"]).ok();
    assert!(dry.contains("│ Status: ◐ Dry Run "), "{dry}");

    let shown = home.run(["call", "tool_outputs.list", "--show-context", "--timeout", "1.5", "--approve"]);
    assert_eq!(shown.status, Some(0));
    assert!(
        shown.err.contains("Execution Context") && shown.err.contains("Timeout:           1.5s"),
        "{}",
        shown.err
    );
    let shown = home.run(["call", "tool_outputs.list", "--show-context", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&shown.err).unwrap()["timeout"], 120);
}

/// If a call fails, standard output stays empty, and the panel or the JSON goes to standard error.
#[test]
fn failed_calls_report_the_reason() {
    let home = Home::new("failing");
    home.put("numbers", "[1]");
    home.put("torn-output", "[1, 2, 3]");
    let payload = home.files().into_iter().find(|file| file.ends_with("torn-output.json")).unwrap();
    fs::write(payload, "[1, 2]").unwrap();
    for (tool, arguments, status, title, kind) in [
        ("tool_outputs.stats", "{}", 2, "Validation Error", "invalid_arguments"),
        ("tool_outputs.stats", "{\"id\": 7}", 2, "Validation Error", "invalid_arguments"),
        ("tool_outputs.stats", "[1]", 2, "Validation Error", "invalid_arguments"),
        ("tool_outputs.stats", "{\"id\": ", 2, "Validation Error", "invalid_arguments"),
        ("tool_outputs.list", "{\"limit\": 1000}", 2, "Validation Error", "invalid_arguments"),
        ("tool_outputs.list", "{\"limitt\": 1}", 2, "Validation Error", "invalid_arguments"),
        ("tool_outputs.stats", "{\"id\": \"nothing\"}", 2, "Error: Request Refused", "refused"),
        ("tool_outputs.stats", "{\"id\": \"torn-output\"}", 1, "Error: Tool Execution Failed", "failed"),
        ("nothing", "{}", 2, "Error: Tool Not Found", "not_found"),
    ] {
        let said = home.run(["call", tool, arguments]).failed(status);
        assert!(said.starts_with('┌') && said.contains(&format!("│ {title} ")), "{arguments}: {said}");
        assert_eq!(home.run(["call", tool, arguments, "--panel"]).failed(status), said);
        let said = home.run(["call", tool, arguments, "--json"]).failed(status);
        let said: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{said}: {error}"));
        assert_eq!((&said["tool"], &said["kind"]), (&json!(tool), &json!(kind)), "{arguments}");
        assert!(!said["message"].as_str().unwrap().is_empty());
    }
    let said = home.run(["call", "tool_outputs.stats", "{\"id\": ", "--json"]).failed(2);
    assert!(said.contains("not JSON") && said.contains("column"), "{said}");
    let last = home.line("history --limit 1").json()["executions"][0].take();
    assert_eq!(last["result"]["error_kind"], "invalid_arguments", "invalid JSON is recorded, too");
    let plain = home.run(["call", "tool_outputs.stats", "{}", "--plain"]).failed(2);
    assert!(plain.starts_with("Validation Error\n\nTool: tool_outputs.stats\n"), "{plain}");
    home.line("call tool_outputs.list --timeout 0").failed(2);
    home.line("call tool_outputs.list --panel --json").failed(2);
}

/// With `--json`, errors of the store, of the output, and of the arguments' form are JSON, too.
#[test]
fn errors_outside_of_tools_are_json() {
    let home = Home::new("outside");
    home.put("numbers", "[1]");
    let kind_of = |said: String| {
        let said: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{said}: {error}"));
        assert_eq!((&said["tool"], &said["kind"]), (&json!("tool_outputs.list"), &said["code"]), "{said}");
        (said["kind"].as_str().unwrap().to_owned(), said["message"].as_str().unwrap().to_owned())
    };
    let call = ["call", "tool_outputs.list", "--json"];
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = home.trommel(call).stdout(full).output().unwrap();
    let (kind, message) = kind_of(String::from_utf8(output.stderr).unwrap());
    assert!(
        output.status.code() == Some(1) && kind == "io" && message.contains("space"),
        "{kind}: {message}"
    );
    // A file takes the path of the store's folder.
    let folder = Folder::new("outside-taken");
    let mut command = home.trommel(call);
    let said = Run::of(command.env("TROMMEL_HOME", folder.file("taken", "")).output().unwrap()).failed(1);
    let (kind, message) = kind_of(said);
    assert!(!kind.is_empty() && message.contains("taken"), "{kind}: {message}");
    let from_pipe = ["call", "tool_outputs.list", "-", "--json"];
    let (kind, message) = kind_of(home.fed(from_pipe, b"{\"limit\": \xff}").failed(2));
    assert!(kind == "invalid_arguments" && message.contains("not UTF-8"), "{kind}: {message}");
    let (kind, message) = kind_of(home.fed(from_pipe, &vec![b' '; (16 << 20) + 1]).failed(2));
    assert!(kind == "invalid_arguments" && message.contains("longer than 16777216"), "{kind}: {message}");
    let said = home.fed(["call", "tool_outputs.list", "-"], &vec![b' '; (16 << 20) + 1]).failed(2);
    assert!(said.contains("longer than") && said.starts_with('┌'), "{said}");
}

/// Stores a payload that takes long to query.
fn large(home: &Home) {
    let record = format!("{{\"name\": \"{}\", \"list\": [{}]}}", "x".repeat(50), "1, ".repeat(30) + "2");
    home.put("large-output", format!("[{}]", vec![record; 200_000].join(",\n")));
}

const LONG: &str = r#"{"id": "large-output", "include_values": true}"#;

/// A call that exceeds its timeout fails with a message; an interrupted one ends silently.
#[test]
fn calls_end_in_time() {
    let home = Home::new("timeout");
    large(&home);
    let said = home.run(["call", "tool_outputs.stats", LONG, "--timeout", "0.05"]).failed(1);
    assert!(said.contains("time"), "{said}");
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut child = home
            .trommel(["call", "tool_outputs.stats", LONG])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(150));
        let started = Instant::now();
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(wait(&mut child), Some(status));
        // R31: immediately; the bound leaves room for a busy machine.
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
    }
    let kinds: Vec<Value> = home.line("history").json()["executions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|execution| execution["result"]["error_kind"].clone())
        .collect();
    assert_eq!(kinds.last(), Some(&json!("cancelled")), "{kinds:?}");
}

/// Other processes see past calls, in order.
#[test]
fn history_outlives_processes() {
    let home = Home::new("history");
    assert_eq!(home.line("history").json(), json!({"total": 0, "executions": []}));
    home.put("numbers", "[1]");
    home.line("call tool_outputs.list").ok();
    home.run(["call", "tool_outputs.stats", r#"{"id": "numbers"}"#]).ok();
    home.run(["call", "tool_outputs.stats", r#"{"id": "nothing"}"#]).failed(2);
    home.line("call tool_outputs.list --dry-run").ok();
    let history = home.line("history").json();
    assert_eq!(history["total"], 4);
    let calls: Vec<(&str, bool)> = history["executions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["tool_name"].as_str().unwrap(), one["result"]["success"].as_bool().unwrap()))
        .collect();
    let (list, stats) = ("tool_outputs.list", "tool_outputs.stats");
    assert_eq!(calls, [(list, true), (stats, true), (stats, false), (list, true)]);
    let newest = home.line("history --limit 1").json();
    assert_eq!((&newest["total"], &newest["executions"][0]), (&json!(4), &history["executions"][3]));
    // `list` and `read` are commands, not tool calls.
    home.line("list").ok();
    home.line("read output:numbers").ok();
    assert_eq!(home.line("history").json()["total"], 4);
}

/// Log lines have the specified layout and the requested level. Without a level nothing is logged.
#[test]
fn logs_have_the_requested_level() {
    let home = Home::new("logs");
    home.put("numbers", "[1]");
    let logged = |args: &[&str], level: Option<&str>| {
        let mut command = home.trommel([&["call", "tool_outputs.stats"], args].concat());
        if let Some(level) = level {
            command.env("TROMMEL_LOG", level);
        }
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let fine = r#"{"id": "numbers"}"#;
    assert_eq!(logged(&[fine], None), "");
    assert_eq!(logged(&[fine, "--log", "warn"], None), "");
    let info = logged(&[fine, "--log", "info", "--utc"], None);
    let lines: Vec<&str> = info.lines().collect();
    assert_eq!(lines.len(), 2, "{info}");
    assert!(lines[0].ends_with(" INFO  [tools] Executing tool: tool_outputs.stats"), "{info}");
    assert!(lines[1].ends_with(" INFO  [tools] Tool tool_outputs.stats succeeded"), "{info}");
    let (day, time) = (&lines[0][..10], &lines[0][11..23]);
    assert!(day.split('-').count() == 3 && time.split([':', '.']).count() == 4, "{info}");

    let debug = logged(&[fine], Some("debug"));
    for part in [
        " DEBUG [tools] Executing tool: tool_outputs.stats\n",
        " DEBUG [tools] Parameters: {\"id\": \"numbers\"}\n",
        " DEBUG [tools] Context: working_dir=",
        ", timeout=120\n",
        " DEBUG [tools] Result: success=True, output_size=",
        " INFO  [tools] Tool tool_outputs.stats succeeded\n",
    ] {
        assert!(debug.contains(part), "{part}: {debug}");
    }
    let failed = logged(&[r#"{"id": "nothing"}"#, "--log", "warn"], None);
    assert!(failed.contains(" WARN  [tools] Tool tool_outputs.stats failed: "), "{failed}");
    // The option overrides the environment variable, which must be valid.
    assert_eq!(logged(&[fine, "--log", "off"], Some("debug")), "");
    assert!(logged(&[fine], Some("loud")).contains("error"), "");
}

/// R25: a secret in arguments, the environment, or a payload appears in no log at level info,
/// error, manifest, or history.
#[test]
fn r25_secrets_are_not_logged_or_stored() {
    let home = Home::new("secrets");
    let canary = "CANARY-5f1e";
    let key = format!("sk-ant-{canary}-0123456789abcdef0123456789");
    let payload = json!({"user": "ada", "password": key, "note": format!("Authorization: Bearer {key}")});
    home.put("secret-output", payload.to_string());
    let calls = [
        ("tool_outputs.stats", json!({"id": "secret-output", "api_key": key})),
        (
            "tool_outputs.extract",
            json!({"id": "secret-output", "paths": [format!("$.a[?@.token == '{key}']")]}),
        ),
        (
            "tool_outputs.extract",
            json!({"id": "secret-output", "paths": ["$.user"], "default_value": {"password": key}}),
        ),
        ("tool_outputs.stats", json!({"id": "secret-output", "authorization": format!("Bearer {key}")})),
        ("tool_outputs.list", json!({"tool_name": format!("https://ada:{key}@example.org")})),
        ("tool_outputs.count", json!({"id": key, "counts": [{"name": "n", "path": "$"}]})),
    ];
    for (tool, arguments) in &calls {
        for more in [&["--json"][..], &["--panel"], &["--log", "info", "--show-context"]] {
            let mut command = home.trommel([&["call", tool, &arguments.to_string()], more].concat());
            let output = command.env("API_KEY", &key).env("PASSWORD", &key).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(!said.contains(canary), "{tool} {arguments} {more:?}: {said}");
        }
    }
    let put = home.fed(
        [
            "put",
            "--tool",
            "t",
            "--json",
            "--param",
            &json!({"headers": {"Authorization": key}, "cookie": key}).to_string(),
        ],
        b"1",
    );
    let said = [put.ok(), home.line("history").ok()].concat();
    assert!(said.contains("tool_outputs.count") && !said.contains(canary), "{said}");
    // No other file contains it either, except the payload, its previews, and their index.
    for file in home.files() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = fs::read(&file).unwrap();
        let found = bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
        assert!(!found || name.starts_with("secret-output") || name.starts_with("index.sqlite"), "{name}");
    }
}
