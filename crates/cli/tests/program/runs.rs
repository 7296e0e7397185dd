//! `trommel run`: reports of calls, warnings, and failures, and the permissions of a document.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Home, Run, fed};
use crate::routes::{asks, prepared, server};

/// Runs a document with a model that gives these answers.
fn with_model(home: &Home, args: &[&str], answers: Vec<Value>) -> (Run, Vec<Value>) {
    let (address, serving) = server(answers);
    let mut command = home.trommel(args);
    command.env("TROMMEL_MODEL_URL", address).env("TROMMEL_MODEL", "m");
    let run = Run::of(command.output().unwrap());
    (run, serving.join().unwrap())
}

fn calls(calls: &[Value]) -> Value {
    json!({"content": null, "tool_calls": calls})
}

fn done() -> Value {
    json!({"content": "Done."})
}

/// Returns the operations of a tool that a request describes.
fn operations(request: &Value, tool: &str) -> Vec<String> {
    let tools = request["tools"].as_array().unwrap();
    let function =
        tools.iter().map(|tool| &tool["function"]).find(|function| function["name"] == tool).unwrap();
    let operations = function["parameters"]["properties"]["operation"]["enum"].as_array().unwrap();
    operations.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn r27_a_step_without_tools_cannot_write_files() {
    let (home, file) = prepared("no-export", "## S\n@input file:notes/* (output=variable:v)\n\nGo.\n");
    home.folder().file("docs/important.md", "mine");
    let export = |mode: &str| json!({"operation": "export", "target": "v", "destination": "important.md", "write_mode": mode});
    let (run, asked) = with_model(
        &home,
        &["run", &file],
        vec![
            calls(&[asks("1", "buffer_ops", &export("replace")), asks("2", "buffer_ops", &export("append"))]),
            done(),
        ],
    );
    let printed = run.ok();
    assert_eq!(operations(&asked[0], "buffer_ops"), ["list", "info", "peek", "read", "search"]);
    assert_eq!(printed.matches("[tool call] buffer_ops ").count(), 2, "{printed}");
    assert_eq!(printed.matches(": failed: ").count(), 2, "{printed}");
    assert_eq!(fs::read_to_string(home.folder().path("docs/important.md")).unwrap(), "mine");
    // A step that names the tool writes, and replaces the file on request.
    for (tools, replaced, appended) in [
        ("@tools buffer_ops", false, true),
        ("@tools buffer_ops(write-mode=replace)", true, true),
        ("@tools all", false, true),
    ] {
        let document = format!("## S\n@input file:notes/* (output=variable:v)\n{tools}\n\nGo.\n");
        let file = home.folder().file("docs/named.md", document);
        for (mode, is_done) in [("replace", replaced), ("append", appended)] {
            home.folder().file("docs/important.md", "mine\n");
            let answers = vec![calls(&[asks("1", "buffer_ops", &export(mode))]), done()];
            let printed = with_model(&home, &["run", &file], answers).0.ok();
            assert_eq!(printed.contains(": ok ("), is_done, "{tools} {mode}: {printed}");
            let text = fs::read_to_string(home.folder().path("docs/important.md")).unwrap();
            assert_eq!(text != "mine\n", is_done, "{tools} {mode}");
        }
    }
}

/// Writes an Amplifier session with two turns.
fn session(home: &Home) -> std::path::PathBuf {
    let folder = home.folder().path("amplifier/projects/-p/sessions/5d1c7f7e-0000-4000-8000-000000000001");
    fs::create_dir_all(&folder).unwrap();
    let lines: Vec<String> = (0..2)
        .flat_map(|turn| {
            [
                json!({"role": "user", "content": format!("ask {turn}"), "timestamp": format!("2026-03-03T09:0{turn}:00+00:00")}),
                json!({"role": "assistant", "content": "answer", "timestamp": format!("2026-03-03T09:0{turn}:30+00:00")}),
            ]
        })
        .map(|line| line.to_string() + "\n")
        .collect();
    fs::write(folder.join("transcript.jsonl"), lines.concat()).unwrap();
    let metadata = json!({"session_id": "5d1c7f7e-0000-4000-8000-000000000001", "created": "2026-03-03T09:00:00+00:00", "turn_count": 2});
    fs::write(folder.join("metadata.json"), metadata.to_string()).unwrap();
    folder.join("transcript.jsonl")
}

#[test]
fn all_tools_change_sessions_only_with_approval() {
    let rewind = asks(
        "1",
        "session",
        &json!({"operation": "rewind", "session_id": "5d1c7f", "to_turn": 1, "dry_run": false}),
    );
    for (tools, flags, changes) in [
        ("@tools all", &[][..], false),
        ("@tools all", &["--approve"][..], true),
        ("@tools session", &[][..], true),
    ] {
        let (home, file) = prepared("approval", &format!("## S\n{tools}\n\nGo.\n"));
        let transcript = session(&home);
        let (address, serving) = server(vec![calls(std::slice::from_ref(&rewind)), done()]);
        let mut command = home.trommel([&["run", file.as_str()], flags].concat());
        command.env("TROMMEL_MODEL_URL", address).env("TROMMEL_MODEL", "m");
        command.env("AMPLIFIER_HOME", home.folder().path("amplifier"));
        let printed = Run::of(command.output().unwrap()).ok();
        serving.join().unwrap();
        let lines = fs::read_to_string(transcript).unwrap().lines().count();
        assert_eq!(
            (lines == 2, printed.contains(": failed: ")),
            (changes, !changes),
            "{tools} {flags:?}: {printed}"
        );
        assert!(changes || printed.contains("sessions may not be changed here"), "{printed}");
    }
}

#[test]
fn failed_runs_report_their_progress() {
    let document = "## A\n@input file:notes/* (output=variable:v)\n@model none\n\n## B\n@input file:notes/1 (output=file:made)\n\
        @output file:answer\n@write-mode replace\n\nGo.\n";
    let (home, file) = prepared("partial", document);
    home.folder().file("docs/answer.md", "kept");
    let cut =
        || vec![json!({"choices": [{"message": {"content": "half an answ"}, "finish_reason": "length"}]})];
    let (run, _) = with_model(&home, &["run", &file], cut());
    assert_eq!(run.status, Some(1));
    assert!(run.err.contains("was cut off at the model's output limit"), "{}", run.err);
    assert!(
        run.err.contains("in the step `B`; 1 earlier step is complete; it wrote to file:made.md"),
        "{}",
        run.err
    );
    assert_eq!(fs::read_to_string(home.folder().path("docs/answer.md")).unwrap(), "kept");
    let (run, _) = with_model(&home, &["run", &file, "--json"], cut());
    assert!(run.status == Some(1) && run.err.contains("error[directive]"), "{}", run.err);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["steps"][0]["name"], report["steps"].as_array().unwrap().len()), (&json!("A"), 1));
    assert_eq!(report["partial"]["manifests"][0]["destination"], "file:made.md");
    assert_eq!((&report["error"]["step"], &report["error"]["line"]), (&json!("B"), &json!(5)));
    // Found before the first step runs.
    let wrong =
        home.folder().file("docs/wrong.md", format!("{document}\n## C\n@tools web_search\n@model none\n"));
    let mut command = home.trommel(["run", &wrong, "--json"]);
    command.env("TROMMEL_MODEL_URL", "http://127.0.0.1:1").env("TROMMEL_MODEL", "m");
    let run = Run::of(command.output().unwrap());
    assert!(run.err.contains("in the step `C`; all steps are checked first; nothing was run"), "{}", run.err);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["steps"], &report["partial"]), (&json!([]), &Value::Null));
}

#[test]
fn steps_without_a_model_name_the_variables() {
    let (home, file) =
        prepared("modelless", "## A\n@input file:notes/* (output=file:made)\n@model none\n\n## B\nGo.\n");
    let run = home.run(["run", &file]);
    let said = run.failed(1);
    assert!(said.contains("set TROMMEL_MODEL_URL and TROMMEL_MODEL, or write `@model none`"), "{said}");
    assert!(!home.folder().path("docs/made.md").exists());
    let plan = home.run(["run", &file, "--dry-run"]).ok();
    assert!(plan.contains("[would ask] the default model\n[would fail] the step needs a model"), "{plan}");
    let mut command = home.trommel(["run", &file]);
    command.env("TROMMEL_MODEL_URL", "http://127.0.0.1:1");
    let said = Run::of(command.output().unwrap()).failed(1);
    assert!(said.contains("the step names no model, and no default is set"), "{said}");
}

#[test]
fn warnings_have_positions() {
    let document = "## S\n@input file:nots/1\n@output context\n@model none\n\nText.\n- @model none\n";
    let (home, file) = prepared("warned", document);
    let run = home.run(["run", &file]);
    assert_eq!(run.status, Some(0));
    assert!(run.err.contains("day.md:7:3: this looks like a directive, but is read as text"), "{}", run.err);
    assert!(
        run.err.contains("day.md:2:8: there is no file `nots/1` (the prompt says that it is missing)"),
        "{}",
        run.err
    );
    let run = home.run(["run", &file, "--json"]);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(report["warnings"][0]["line"], 7);
    assert_eq!(report["steps"][0]["warnings"][0]["column"], 8);
    let run = home.run(["run", &file, "--dry-run"]);
    assert!(run.err.contains("day.md:7:3: "), "{}", run.err);
}

#[test]
fn documents_are_read_from_standard_input() {
    let (home, _) = prepared("stdin", "");
    let root = home.folder().path("docs");
    let mut command = home.trommel(["run", "-"]);
    command.current_dir(&root);
    let document = b"## S\n@input file:notes/{pending} (output=file:all)\n@model none\n";
    let printed = fed(command, document).ok();
    assert!(printed.contains("[input routed] 2 files -> file:all.md"), "{printed}");
    let mut again = home.trommel(["run", "-", "--root", root.to_str().unwrap()]);
    again.current_dir("/");
    assert!(fed(again, document).ok().contains("[input routed] 0 files"));
    let wrong = fed(home.trommel(["run", "-"]), b"## S\n@inptu x\n");
    assert!(wrong.err.contains("standard input:2:2: "), "{}", wrong.err);
    let binary = fed(home.trommel(["run", "-"]), b"## S\n\xff");
    assert!(binary.failed(2).contains("the document is not valid UTF-8 (byte 5); save it as UTF-8"));
}

/// `{pending}` remembers files by a document's path, not by its name.
#[test]
fn pending_files_belong_to_one_document() {
    let document = "## S\n@input file:notes/{pending} (output=discard)\n@model none\n";
    let (home, file) = prepared("pending", document);
    fs::create_dir_all(home.folder().path("other/notes")).unwrap();
    fs::copy(home.folder().path("docs/notes/1.md"), home.folder().path("other/notes/1.md")).unwrap();
    let time = fs::metadata(home.folder().path("docs/notes/1.md")).unwrap().modified().unwrap();
    let copy = fs::File::options().write(true).open(home.folder().path("other/notes/1.md")).unwrap();
    copy.set_modified(time).unwrap();
    let other = home.folder().file("other/day.md", document);
    for (file, count) in [(&file, 2), (&other, 1), (&file, 0), (&other, 0)] {
        let printed = home.run(["run", file]).ok();
        assert!(printed.contains(&format!("[input routed] {count} file")), "{file}: {printed}");
    }
    assert_eq!(home.line("buffers list").json()["total"], 0);
}

#[test]
fn answers_to_the_context_are_printed_once() {
    let (home, file) = prepared("once", "## S\n@output context\n\nGo.\n");
    let printed = with_model(&home, &["run", &file], vec![done()]).0.ok();
    assert_eq!(printed, "## S\n\nDone.\n");
}

#[test]
fn buffers_are_removed() {
    let (home, file) = prepared(
        "removed",
        "## S\n@input file:notes/* (output=variable:v, scope=session, write-mode=new)\n@model none\n",
    );
    home.run(["run", &file]).ok();
    assert_eq!(home.line("buffers rm v_000").ok(), "removed v_000\n");
    let said = home.line("buffers rm v_001 v_000").failed(2);
    assert!(said.contains("no buffer `v_000` in the scope session"), "{said}");
    assert_eq!(home.line("buffers list").json()["total"], 1);
    assert_eq!(home.line("buffers rm --all --json").json(), json!({"removed": 1}));
    assert_eq!(home.line("buffers rm --all").ok(), "removed 0 buffers\n");
    assert_eq!(home.line("buffers rm").status, Some(2));
    assert_eq!(home.line("buffers rm v --all").status, Some(2));
    home.run(["run", &file]).ok();
    assert_eq!(
        home.line("buffers rm v_000 v_001 v_000 --json").json(),
        json!({"removed": ["v_000", "v_001"]})
    );
}

#[test]
fn model_requests_have_a_timeout() {
    let (home, file) = prepared("slow", "## S\n@output file:answer\n\nGo.\n");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    for (flags, variable) in [(&["--model-timeout", "0.5"][..], None), (&[][..], Some("0.5"))] {
        let mut command = home.trommel([&["run", file.as_str()], flags].concat());
        command.env("TROMMEL_MODEL_URL", &address).env("TROMMEL_MODEL", "m");
        variable.map(|value| command.env("TROMMEL_MODEL_TIMEOUT", value));
        let said = Run::of(command.output().unwrap());
        assert!(
            said.status == Some(1) && said.err.contains("raise the time limit of requests"),
            "{}",
            said.err
        );
    }
}

#[test]
fn terminals_show_a_spinner_during_model_requests() {
    let (home, file) = prepared("waiting", "## S\nGo.\n");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = home.trommel(["run", &file, "--model-timeout", "1.5"]);
    command.env("TROMMEL_MODEL_URL", format!("http://{}", listener.local_addr().unwrap()));
    command.env("TROMMEL_MODEL", "m");
    let shown = crate::terminal::shown(command);
    assert!(shown.contains("waiting for the model"), "{shown}");
}
