//! `trommel mcp --http`: revisions, headers, access, and limits over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::odd;
use crate::common::trommel;

/// A server that runs until the test ends.
struct Server {
    process: Child,
    /// `127.0.0.1:PORT`.
    address: String,
    home: TempDir,
}

/// A response.
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Server {
    fn start(args: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command: Command = trommel(["mcp", "--http", "127.0.0.1:0"]);
        command.args(args).env("TROMMEL_HOME", home.path()).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut errors = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap_or_else(|| panic!("{line}"));
        let address = address.trim().strip_suffix("/mcp").unwrap().to_owned();
        Self { process, address, home }
    }

    /// Opens a connection with a request, whose response is not read yet.
    fn open(&self, http: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let has = |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let mut head =
            format!("{http} /mcp HTTP/1.1\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
        if !has("host") {
            head = format!("{head}Host: {}\r\n", self.address);
        }
        head += "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
        for (name, value) in headers {
            head = format!("{head}{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        stream
    }

    fn send(&self, http: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut text = String::new();
        self.open(http, headers, body).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// Sends a request of the newest revision with the headers that it needs.
    fn modern(&self, method: &str, mut params: Value, more: &[(&str, &str)]) -> Reply {
        let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let mut headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
        headers.extend(name.as_deref().map(|name| ("Mcp-Name", name)));
        headers.retain(|(name, _)| !more.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
        headers.extend(more.iter().copied().filter(|(_, value)| !value.is_empty()));
        self.send("POST", &headers, &body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Reply {
    /// The response in the body or in its events.
    fn message(&self) -> Value {
        let messages = self.messages();
        let found =
            messages.iter().rev().find(|one| one.get("result").is_some() || one.get("error").is_some());
        found.cloned().unwrap_or_else(|| panic!("{} {}", self.status, self.body))
    }

    fn messages(&self) -> Vec<Value> {
        let whole = serde_json::from_str(&self.body).into_iter();
        let events =
            self.body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok());
        whole.chain(events).collect()
    }
}

/// What opens a connection of an older revision.
fn initialize(version: &str) -> String {
    let info = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

#[test]
fn r29_five_revisions_are_served() {
    let server = Server::start(&[]);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let opened = server.send("POST", &[], &initialize(version));
        assert_eq!(opened.message()["result"]["protocolVersion"], version, "{}", opened.body);
        let session =
            opened.head.split("mcp-session-id: ").nth(1).unwrap().lines().next().unwrap().to_owned();
        let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", version)];
        let done = server.send("POST", &headers, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(done.status, 202, "{}", done.body);
        let list = server.send("POST", &headers, r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
        assert!(list.message()["result"]["tools"].as_array().unwrap().len() >= 8, "{}", list.body);
        assert_eq!(list.message()["result"].get("resultType"), None);
        assert_eq!(server.send("DELETE", &headers, "").status, 204);
    }
    let list = server.modern("tools/list", json!({}), &[]);
    assert_eq!(
        (list.status, &list.message()["result"]["resultType"]),
        (200, &"complete".into()),
        "{}",
        list.body
    );
    assert!(!list.head.contains("mcp-session-id"), "{}", list.head);
    let discovered = server.modern("server/discover", json!({}), &[]).message();
    assert!(discovered["result"]["supportedVersions"].as_array().unwrap().contains(&"2026-07-28".into()));
    let called = server.modern("tools/call", json!({"name": "tool_outputs_list", "arguments": {}}), &[]);
    assert_eq!(called.message()["result"]["structuredContent"]["total"], 0, "{}", called.body);
}

#[test]
fn headers_must_agree_with_the_body() {
    let server = Server::start(&[]);
    let call = || json!({"name": "tool_outputs_list", "arguments": {}});
    for more in [
        [("Mcp-Method", "tools/list")],
        [("Mcp-Method", "")],
        [("Mcp-Name", "other")],
        [("Mcp-Name", "")],
        [("MCP-Protocol-Version", "2025-11-25")],
    ] {
        let refused = server.modern("tools/call", call(), &more);
        assert_eq!(
            (refused.status, &refused.message()["error"]["code"]),
            (400, &(-32020).into()),
            "{more:?} {}",
            refused.body
        );
    }
    // Encoded as a header may be.
    let encoded = server.modern("tools/call", call(), &[("Mcp-Name", "=?base64?dG9vbF9vdXRwdXRzX2xpc3Q=?=")]);
    assert_eq!(encoded.status, 200, "{}", encoded.body);
}

#[test]
fn unknown_versions_and_methods_are_refused() {
    let server = Server::start(&[]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2031-01-01", "io.modelcontextprotocol/clientCapabilities": {}});
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}).to_string();
    let headers = [("MCP-Protocol-Version", "2031-01-01"), ("Mcp-Method", "tools/list")];
    let refused = server.send("POST", &headers, &body);
    assert_eq!(
        (refused.status, &refused.message()["error"]["code"]),
        (400, &(-32022).into()),
        "{}",
        refused.body
    );
    assert!(
        refused.message()["error"]["data"]["supported"].as_array().is_some_and(|all| all.len() == 5),
        "{}",
        refused.body
    );
    let unknown = server.modern("tools/other", json!({}), &[]);
    assert_eq!(unknown.message()["error"]["code"], -32601, "{}", unknown.body);
    let broken = server.send("POST", &[], "{");
    assert!((400..500).contains(&broken.status), "{}", broken.body);
}

#[test]
fn other_hosts_and_origins_are_forbidden() {
    let server = Server::start(&["--allow-host", "tools.example", "--allow-origin", "https://app.example"]);
    for (headers, status) in [
        (vec![("Host", "evil.example")], 403),
        (vec![("Origin", "https://evil.example")], 403),
        (vec![("Origin", "null")], 403),
        (vec![("Host", "tools.example")], 200),
        (vec![("Origin", "https://app.example")], 200),
        (vec![("Origin", "http://localhost:3000")], 200),
    ] {
        let reply = server.modern("tools/list", json!({}), &headers);
        assert_eq!(reply.status, status, "{headers:?} {}", reply.body);
    }
    assert_eq!(server.send("GET", &[("Host", "evil.example")], "").status, 403);
}

#[test]
fn tokens_are_required_where_they_are_set() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "0123456789abcdef-token\n").unwrap();
    let server = Server::start(&["--token-file", file.to_str().unwrap()]);
    for (header, status) in [
        ("", 401),
        ("Bearer wrong", 401),
        ("Basic 0123456789abcdef-token", 401),
        ("Bearer 0123456789abcdef-token", 200),
    ] {
        let reply = server.modern("tools/list", json!({}), &[("Authorization", header)]);
        assert_eq!(reply.status, status, "{header:?} {}", reply.body);
        assert_eq!(reply.head.contains("www-authenticate: bearer"), status == 401);
    }
    std::fs::write(&file, "short").unwrap();
    for (args, message) in [
        (vec!["mcp", "--http", "0.0.0.0:0"], "--token-file"),
        (vec!["mcp", "--http", "127.0.0.1:0", "--token-file", file.to_str().unwrap()], "shorter than 16"),
        (vec!["mcp", "--token-file", "x"], "--http"),
    ] {
        let output = trommel(&args).env("TROMMEL_HOME", folder.path()).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(message), "{args:?}: {text}");
    }
}

#[test]
fn requests_are_limited() {
    let server = Server::start(&[]);
    let long = "x".repeat((4 << 20) + 1);
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        server.address,
        long.len()
    );
    // The server may answer before it has read all.
    let _ = stream.write_all(format!("{head}{long}").as_bytes());
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    assert!(text.starts_with("HTTP/1.1 413"), "{text}");
    assert_eq!(server.modern("tools/list", json!({}), &[]).status, 200);
}

#[test]
fn r32_progress_arrives_before_the_answer() {
    let server = Server::start(&["--wrap", &format!("odd={}", odd(&[]))]);
    let call = json!({"name": "odd_sleep", "arguments": {"ms": 2_200}, "_meta": {"progressToken": 7}});
    let messages = server.modern("tools/call", call, &[]).messages();
    let progress = messages.iter().filter(|one| one["method"] == "notifications/progress");
    let texts: Vec<&str> = progress.filter_map(|one| one["params"]["message"].as_str()).collect();
    assert!(texts.len() >= 3 && texts.iter().all(|text| text.contains("odd_sleep")), "{messages:?}");
}

#[test]
fn r31_closing_the_stream_cancels() {
    let server = Server::start(&["--wrap", &format!("odd={}", odd(&[]))]);
    server.modern("tools/list", json!({}), &[]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "progressToken": 1});
    let params = json!({"name": "odd_silent", "arguments": {}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let headers =
        [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "odd_silent")];
    let mut stream = server.open("POST", &headers, &body);
    // Until the call is in progress.
    stream.read_exact(&mut [0; 16]).unwrap();
    drop(stream);
    // The history has a call once it ended.
    let start = Instant::now();
    loop {
        let mut command = trommel(["history", "--json"]);
        let output = command.env("TROMMEL_HOME", server.home.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        if text.contains("odd_silent") && text.contains("cancelled") {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "the call continues: {text}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn r31_signals_end_the_server() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = Server::start(&["--wrap", &format!("odd={}", odd(&[]))]);
        server.modern("tools/list", json!({}), &[]);
        let start = Instant::now();
        kill_process(Pid::from_child(&server.process), signal).unwrap();
        server.process.wait().unwrap();
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
        assert!(TcpStream::connect(&server.address).is_err());
    }
}
