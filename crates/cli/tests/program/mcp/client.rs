//! A client of the program, and the revisions of the protocol.

#![expect(clippy::needless_pass_by_value, reason = "arguments are written in the call")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::trommel;

/// The revisions, the oldest first.
pub(super) const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// How long an answer may take before a test fails.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) struct Client {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    requests: u64,
    /// The version, if requests carry it.
    modern: Option<&'static str>,
    capabilities: Value,
    /// Messages that are no responses.
    pub(super) notes: Vec<Value>,
    /// The last response, verbatim.
    pub(super) line: String,
    pub(super) home: TempDir,
}

/// The command of an odd server: this binary.
pub(super) fn odd(environment: &[(&str, &str)]) -> String {
    let program = std::env::current_exe().unwrap();
    let variables: Vec<String> = environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let variables = if variables.iter().any(|one| one.starts_with("SERVER=")) {
        variables
    } else {
        [vec!["SERVER=legacy".to_owned()], variables].concat()
    };
    format!(
        "env {} {} --exact mcp::odd_server --nocapture --test-threads 2",
        variables.join(" "),
        program.display()
    )
}

impl Client {
    /// Starts the program with an empty home.
    pub(super) fn start(args: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), args)
    }

    pub(super) fn start_in(home: TempDir, args: &[&str]) -> Self {
        let mut command = trommel(["mcp"]);
        command.args(args);
        Self::of(home, command)
    }

    fn of(home: TempDir, mut command: Command) -> Self {
        command
            .env("TROMMEL_HOME", home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (lines, received) = channel();
        thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if lines.send(line).is_err() {
                    return;
                }
            }
        });
        let input = process.stdin.take();
        Self {
            process,
            input,
            lines: received,
            requests: 0,
            modern: None,
            capabilities: json!({}),
            notes: Vec::new(),
            line: String::new(),
            home,
        }
    }

    /// Starts the program, and opens a connection of a version.
    pub(super) fn connected(args: &[&str], version: &'static str) -> Self {
        let mut client = Self::start(args);
        client.open(version, json!({}));
        client
    }

    /// Opens the connection: with `initialize`, or from now on with metadata in each request.
    pub(super) fn open(&mut self, version: &'static str, capabilities: Value) -> Value {
        self.capabilities = capabilities;
        if version == VERSIONS[4] {
            self.modern = Some(version);
            return self.request("server/discover", json!({}));
        }
        let info = json!({"name": "test", "version": "1"});
        let params =
            json!({"protocolVersion": version, "capabilities": self.capabilities, "clientInfo": info});
        let answer = self.request("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(super) fn send_line(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends a request, and returns its number.
    pub(super) fn start_request(&mut self, method: &str, mut params: Value) -> u64 {
        self.requests += 1;
        if let Some(version) = self.modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = version.into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}));
        self.requests
    }

    /// The next message.
    pub(super) fn next(&mut self) -> Value {
        self.line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer in time"));
        serde_json::from_str(&self.line).unwrap()
    }

    /// Waits for the response with a number.
    pub(super) fn response(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.notes.push(message);
        }
    }

    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.start_request(method, params);
        self.response(id)
    }

    pub(super) fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// The text of the first block of a call that succeeded.
    #[track_caller]
    pub(super) fn text(&mut self, name: &str, arguments: Value) -> String {
        let answer = self.call(name, arguments);
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The structured answer of one of our tools.
    #[track_caller]
    pub(super) fn answer(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.call(name, arguments);
        let structured = &answer["result"]["structuredContent"];
        assert!(structured.is_object(), "{answer}");
        structured.clone()
    }

    /// The message of a call that failed.
    #[track_caller]
    pub(super) fn failed(&mut self, name: &str, arguments: Value) -> String {
        let answer = self.call(name, arguments);
        let text = &answer["result"]["content"][0]["text"];
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        text.as_str().unwrap().to_owned()
    }

    /// The names of the tools.
    pub(super) fn tools(&mut self) -> Vec<String> {
        let answer = self.request("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until a notification has arrived.
    pub(super) fn noted(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.notes.iter().position(|note| note["method"] == method) {
                return self.notes.remove(at);
            }
            let message = self.next();
            self.notes.push(message);
        }
    }

    /// Closes the input, and waits for the end.
    pub(super) fn close(mut self) -> (Option<i32>, TempDir) {
        self.input = None;
        (wait(&mut self.process), std::mem::replace(&mut self.home, tempfile::tempdir().unwrap()))
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn wait(&mut self) -> Option<i32> {
        wait(&mut self.process)
    }

    /// The files of outputs that are being written, or were left.
    pub(super) fn leftovers(&self) -> usize {
        files(&self.home.path().join("outputs/pending"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        let _ = wait(&mut self.process);
    }
}

pub(super) fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

fn wait(process: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        match process.try_wait().unwrap() {
            Some(status) => return status.code(),
            None if start.elapsed() > Duration::from_secs(10) => {
                let _ = process.kill();
                panic!("the program did not end");
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
}
