//! `trommel run` and `trommel buffers`: documents with and without a model, and their variables.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::common::{self, Home, wait};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A document with its inputs, in the folder of a home.
pub(crate) fn prepared(name: &str, document: &str) -> (Home, String) {
    let home = Home::new(name);
    fs::create_dir_all(home.folder().path("docs/notes")).unwrap();
    home.folder().file("docs/notes/1.md", "first LATE\n");
    home.folder().file("docs/notes/2.md", "second\n");
    let file = home.folder().file("docs/day.md", document);
    (home, file)
}

const DOCUMENT: &str = "\
---
workflow_engine: step
---
## Collect
@input file: notes/* (output=variable:notes, scope=session)
@input variable: notes (output=file:archive/all)
@model none

## Ask
@input variable: notes (refs-only)
@tools tool_outputs.list(output=variable:listed, scope=session), buffer_ops
@model small
@output file: answer

What is to be done?
";

/// Starts a server that gives one answer after another and collects the request bodies.
pub(crate) fn server(answers: Vec<Value>) -> (String, JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let serving = thread::spawn(move || {
        let answer = |message: &Value| serve(listener.accept().unwrap().0, message);
        answers.iter().map(answer).collect()
    });
    (address, serving)
}

fn serve(mut stream: TcpStream, message: &Value) -> Value {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = given.trim().parse().unwrap();
        }
    }
    let mut asked = vec![0; length];
    reader.read_exact(&mut asked).unwrap();
    // A test may give a whole response instead of a message.
    let body = if message.get("choices").is_some() {
        message.clone()
    } else {
        json!({"choices": [{"message": message}]})
    };
    let body = body.to_string();
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
        .unwrap();
    serde_json::from_slice(&asked).unwrap()
}

pub(crate) fn asks(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
}

/// A whole document: inputs to a variable and a file, a routed tool result, and a buffer that the
/// model searches and exports. Another process then does the same by hand.
#[test]
fn a_document_is_run_with_a_model() {
    let (home, file) = prepared("with-model", DOCUMENT);
    home.put("stored-1", "[1]");
    let calls = [
        asks("1", "tool_outputs_list", &json!({})),
        asks("2", "buffer_ops", &json!({"operation": "search", "target": "LATE", "scope": "notes"})),
        asks(
            "3",
            "buffer_ops",
            &json!({"operation": "export", "target": "notes", "destination": "exported"}),
        ),
    ];
    let (address, serving) = server(vec![
        json!({"role": "assistant", "content": null, "tool_calls": calls}),
        json!({"role": "assistant", "content": "The first."}),
    ]);
    let mut command = home.trommel(["run", &file]);
    command.env("TROMMEL_MODEL_URL", &address).env("TROMMEL_MODEL_KEY", "secret-key");
    let run = common::Run::of(command.output().unwrap());
    let listed = "[output routed] tool_outputs.list -> variable:listed (total ";
    let printed = run.ok();
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(
        lines[..5],
        [
            "## Collect",
            "[input routed] 2 files -> variable:notes (total 20 chars)",
            "paths: notes/1.md, notes/2.md",
            "[input routed] 1 variable -> file:archive/all.md (total 20 chars)",
            "## Ask",
        ]
    );
    assert!(lines[5].starts_with("[tool call] tool_outputs.list {}: ok -> variable:listed ("), "{printed}");
    assert!(lines[6].starts_with(listed), "{printed}");
    assert!(lines[7].starts_with("[tool call] buffer_ops {\"operation\":\"search\""), "{printed}");
    assert!(lines[8].starts_with("[tool call] buffer_ops {\"operation\":\"export\""), "{printed}");
    assert_eq!(lines[9..], ["", "The first.", "[output routed] model -> file:answer.md (total 10 chars)"]);
    let read = |path: &str| fs::read_to_string(home.folder().path(path)).unwrap();
    assert_eq!(read("docs/archive/all.md"), "first LATE\n\n\nsecond\n");
    assert_eq!(
        (read("docs/answer.md").as_str(), read("docs/exported.md")),
        ("The first.\n", read("docs/archive/all.md"))
    );

    let asked = serving.join().unwrap();
    assert_eq!(asked[0]["model"], "small");
    assert!(asked[0]["messages"][0]["content"].as_str().unwrap().ends_with("What is to be done?"));
    let content = |number: usize| asked[1]["messages"][number]["content"].as_str().unwrap();
    assert!(content(2).starts_with(listed), "{}", content(2));
    let hits: Value = serde_json::from_str(content(3)).unwrap();
    assert_eq!((&hits["hits"][0]["text"], &hits["hits"][0]["line"]), (&json!("first LATE"), &json!(1)));

    // From another process, by hand.
    let names: Vec<Value> = home.line("buffers list").json()["buffers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|buffer| buffer["name"].clone())
        .collect();
    assert_eq!(names, ["listed", "notes"]);
    let hits = home.line("buffers search notes s.cond --context 1").json();
    assert_eq!((&hits["hits"][0]["line"], &hits["hits"][0]["before"]), (&json!(4), &json!([""])));
    let again = home.run([
        "buffers",
        "export",
        "notes",
        "exported",
        "--root",
        home.folder().path("docs").to_str().unwrap(),
    ]);
    assert!(again.failed(2).contains("exported.md already exists"));
    let output = home.trommel(["history"]).output().unwrap();
    assert!(!String::from_utf8(output.stdout).unwrap().contains("secret-key"));
}

#[test]
fn a_document_is_run_without_a_model() {
    let document = DOCUMENT.replace("@model small", "@model none");
    let (home, file) = prepared("without-model", &document);
    let report = home.run(["run", &file, "--json", "--session", "other"]).json();
    assert_eq!(report["steps"][0]["manifests"][0]["destination"], "variable:notes");
    assert_eq!((&report["steps"][1]["answer"], &report["steps"][1]["calls"]), (&Value::Null, &json!(0)));
    assert_eq!(home.line("buffers list").json()["total"], 0, "another session");
    let lines = home.line("buffers read notes --lines 1:1 --session other").json();
    assert_eq!(lines["content"], "first LATE\n");
    let chars = home.line("buffers read notes --offset 6 --length 4 --session other").json();
    assert_eq!(chars["content"], "LATE");
    let peek = home.line("buffers peek notes --max-chars 5 --session other").json();
    assert_eq!((&peek["content"], &peek["truncated"]["next"]), (&json!("first"), &json!(5)));
    assert_eq!(home.line("buffers info notes --session other").json()["source"], "input:file");
}

#[test]
fn a_dry_run_changes_nothing() {
    let (home, file) = prepared("dry-run", DOCUMENT);
    let printed = home.run(["run", &file, "--dry-run"]).ok();
    assert!(printed.contains("[would read] 2 files (18 bytes) -> variable:notes (append)"), "{printed}");
    assert!(
        printed.contains("[would ask] model small with buffer_ops, tool_outputs.list -> variable:listed"),
        "{printed}"
    );
    assert!(printed.contains("[would write] the answer -> file:answer.md (append)"), "{printed}");
    assert!(!home.folder().path("docs/archive").exists() && !home.path().join("buffers").exists());
    assert_eq!(home.run(["run", &file, "--dry-run", "--json"]).json()["steps"][0]["name"], "Collect");
}

/// R45: an invalid or failed directive ends the run with status 1 and its position in the file.
#[test]
fn r45_failed_directives_have_a_position() {
    for (document, place, said) in [
        (
            "## S\n@input file: notes/1 (output=variable:)\n",
            "day.md:2:30: ",
            "a name is missing after `variable:`",
        ),
        ("## S\n\n@inptu file: notes/1\n", "day.md:3:2: ", "Did you mean @input?"),
        (
            "## S\n@input file: notes/3 (required)\n@model none\n",
            "day.md:2:8: ",
            "there is no file `notes/3`",
        ),
        ("## S\n@input file: notes/1 (output=file:../x)\n@model none\n", "day.md:2:30: ", "no `..`"),
        ("## S\nHello.\n", "day.md:1:1: ", "none is configured"),
        ("## S\n@model x\n", "day.md:2:8: ", "none is configured"),
        ("## S\n@tools web\n@model none\n", "day.md:2:8: ", "unknown tool `web`"),
        ("no steps", "day.md:1:1: ", "no step"),
    ] {
        let (home, file) = prepared("failing", document);
        let said_all = home.run(["run", &file]);
        let text = said_all.err.clone();
        assert_eq!(said_all.status, Some(1), "{text}");
        assert!(text.contains("error[directive]") && text.contains(place) && text.contains(said), "{text}");
    }
    let (home, _) = prepared("wrong-requests", "");
    for line in ["run nowhere.md", "buffers info nothing", "buffers list --session a/b", "buffers read x"] {
        let run = home.line(line);
        assert_eq!((run.status, run.out.as_str()), (Some(2), ""), "{line}: {}", run.err);
    }
}

/// R48: a run that waits for its model ends soon after a signal, without a message.
#[test]
fn r48_interrupted_runs_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let (home, file) = prepared("interrupted", DOCUMENT);
        let mut command = home.trommel(["run", &file]);
        command.env("TROMMEL_MODEL_URL", format!("http://{}/v1", listener.local_addr().unwrap()));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (_silent, _) = listener.accept().unwrap();
        let since = Instant::now();
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(wait(&mut child), Some(status));
        assert!(since.elapsed() < Duration::from_secs(5));
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
    }
}

/// R48: so does a run whose output pipe is closed.
#[test]
fn r48_closed_pipes_end_a_run_silently() {
    let (home, file) = prepared("closed", &DOCUMENT.replace("@model small", "@model none"));
    for args in [vec!["run", file.as_str()], vec!["run", file.as_str(), "--json"], vec!["buffers", "list"]] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut child = home.trommel(&args).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        assert_eq!(wait(&mut child), Some(141), "{args:?}");
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "", "{args:?}");
    }
}

/// Unrouted tool results go to the store, and calls share their variables.
#[test]
fn calls_share_the_buffers_of_the_default_session() {
    let (home, file) = prepared("calls", DOCUMENT.split("## Ask").next().unwrap());
    home.run(["run", &file]).ok();
    let call = home
        .run(["call", "buffer_ops", r#"{"operation": "peek", "target": "notes", "max_chars": 5}"#])
        .json();
    assert_eq!(call["content"], "first");
    let listed = home.run(["call", "buffer_ops", r#"{"operation": "list"}"#]).json();
    assert_eq!((&listed["total"], &listed["buffers"][0]["scope"]), (&json!(1), &json!("session")));
}

/// `query:` inputs query files below the root and stored outputs.
#[test]
fn queries_are_inputs() {
    let document = "## S\n\
        @input query: data.json $.users[?@.age > 30].name (output=variable:names, scope=session)\n\
        @input query: output:stored-1 $..id (output=variable:names, scope=session)\n\
        @model none\n";
    let (home, file) = prepared("queries", document);
    home.folder()
        .file("docs/data.json", r#"{"users": [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 7}]}"#);
    home.put("stored-1", r#"[{"id": 1.50}, {"id": {"x": [1, 2]}}]"#);
    let printed = home.run(["run", &file]).ok();
    assert!(printed.contains("[input routed] 1 query -> variable:names (total 6 chars)\n"), "{printed}");
    let content = home.line("buffers peek names").json()["content"].clone();
    assert_eq!(content, "\"Ada\"\n1.50\n{\"x\":[1,2]}\n");
    for (input, said) in [
        ("data.json", "is not a query of an input"),
        ("data.json $[", "is not valid"),
        ("../data.json $", "`..`"),
        ("output:gone-away $", "no output"),
        ("day.md $", "cannot query"),
    ] {
        let wrong = format!("## S\n@input query: {input} (output=variable:x)\n@model none\n");
        let file = home.folder().file("docs/wrong.md", wrong);
        let run = home.run(["run", &file]);
        let text = run.err.as_str();
        assert_eq!(run.status, Some(1), "{text}");
        assert!(text.contains("error[directive]") && text.contains("wrong.md:2:8: "), "{text}");
        assert!(text.contains(said), "{input}: {text}");
    }
}
