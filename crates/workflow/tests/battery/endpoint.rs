//! The endpoint against a server on the loopback interface.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel_tool::{Cancel, FailureKind, Registry};
use trommel_workflow::{Document, Endpoint, Message, Model, Reply, Request};

use crate::support::{Bench, RunDocuments, says};

/// Starts a server that sends one answer per request. The thread returns the head and the body of
/// each request.
fn server(answers: Vec<(u16, String)>) -> (String, JoinHandle<Vec<(String, Value)>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1/", listener.local_addr().unwrap());
    let server_thread = thread::spawn(move || {
        let mut requests = Vec::new();
        for (status, body) in answers {
            let (stream, _) = listener.accept().unwrap();
            requests.push(serve(stream, status, &body));
        }
        requests
    });
    (address, server_thread)
}

/// Reads one request and answers it. Returns the head and the body of the request.
fn serve(mut stream: TcpStream, status: u16, body: &str) -> (String, Value) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut request = vec![0; length];
    reader.read_exact(&mut request).unwrap();
    let extra_headers = if status == 302 { "Location: http://127.0.0.1:1/elsewhere\r\n" } else { "" };
    write!(
        stream,
        "HTTP/1.1 {status} X\r\n{extra_headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    (head, serde_json::from_slice(&request).unwrap())
}

/// The status and the body of a completion with this message.
fn completion(message: &Value) -> (u16, String) {
    (
        200,
        json!({"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
            .to_string(),
    )
}

#[test]
fn runs_a_document_against_an_endpoint() {
    let bench = Bench::new();
    bench.write("a.md", "content");
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "web_search", "arguments": "{\"text\":\"found\"}"}});
    let answers = vec![
        completion(&json!({"role": "assistant", "content": null, "tool_calls": [call]})),
        completion(&json!({"role": "assistant", "content": "All is well."})),
    ];
    let (address, server_thread) = server(answers);
    let registry = Registry::new();
    registry.register(says("web.search")).unwrap();
    let endpoint = Endpoint::new(&address).key("secret-key").model("usual");
    let text =
        "## S\n@input file:a\n@tools web.search(output=variable:found)\n@model strong (thinking=high)\nGo.";
    let document = Document::parse(text).unwrap();
    let runner = bench.runner(registry).model(Arc::new(endpoint));
    let report = runner.run(&document, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.steps[0].answer.as_deref(), Some("All is well."));
    assert_eq!(bench.variable("found").as_deref(), Some("found"));

    let requests = server_thread.join().unwrap();
    let (head, body) = &requests[0];
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert!(head.to_ascii_lowercase().contains("authorization: bearer secret-key\r\n"), "{head}");
    assert_eq!((&body["model"], &body["reasoning_effort"]), (&json!("strong"), &json!("high")));
    assert_eq!(body["tools"][0]["function"]["name"], "web_search");
    assert_eq!(body["messages"][0]["role"], "user");
    let second = &requests[1].1["messages"];
    // The history repeats the exported name, because the model knows the tool by that name.
    let function = &second[1]["tool_calls"][0]["function"];
    assert_eq!(function, &json!({"name": "web_search", "arguments": "{\"text\":\"found\"}"}));
    assert_eq!((&second[2]["role"], &second[2]["tool_call_id"]), (&json!("tool"), &json!("call_1")));
    assert!(
        second[2]["content"].as_str().unwrap().starts_with("[output routed] web.search -> variable:found")
    );
}

/// Sends a prompt. Returns the reply or the message of the failure.
fn send_prompt(endpoint: &Endpoint) -> Result<Reply, String> {
    let (messages, cancel) = ([Message::Prompt("Hello".into())], Cancel::new());
    endpoint.answer(&Request::new(&messages, &cancel)).map_err(|failure| failure.message)
}

/// R45, R25: a refusal is reported with a next step and never repeats the key.
#[test]
fn r45_refusals_name_a_next_step_and_hide_the_key() {
    for (status, body, expected) in [
        (
            401,
            json!({"error": {"message": "Incorrect API key provided: secret-key"}}).to_string(),
            "check the key",
        ),
        (404, json!({"error": "no such model"}).to_string(), "no such model"),
        (429, String::new(), "wait, and try again"),
        (500, "<html>".to_owned(), "status 500; try again"),
        (302, String::new(), "status 302"),
        (200, "{}".to_owned(), "not a chat completion"),
        (200, json!({"choices": []}).to_string(), "no choices"),
    ] {
        let (address, server_thread) = server(vec![(status, body)]);
        let endpoint = Endpoint::new(&address).key("secret-key").model("m").retries(0, Duration::ZERO);
        let message = send_prompt(&endpoint).unwrap_err();
        assert!(message.contains(expected) && message.contains("did not answer"), "{status}: {message}");
        assert!(!message.contains("secret-key"), "{message}");
        server_thread.join().unwrap();
    }
    let unreachable =
        send_prompt(&Endpoint::new("http://user:secret-key@127.0.0.1:1").model("m")).unwrap_err();
    assert!(unreachable.contains("try again") && !unreachable.contains("secret-key"), "{unreachable}");
    assert!(send_prompt(&Endpoint::new("http://127.0.0.1:1")).unwrap_err().contains("@model NAME"));
    let encrypted = send_prompt(&Endpoint::new("HTTPS://127.0.0.1:1/v1").model("m")).unwrap_err();
    assert_eq!(encrypted.contains("`--features tls`"), !cfg!(feature = "tls"), "{encrypted}");
}

#[test]
fn accepts_content_parts_and_malformed_arguments() {
    let call = |arguments: Value| json!({"id": "c", "function": {"name": "f", "arguments": arguments}});
    let message = json!({
        "content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}],
        "tool_calls": [call(json!("{\"n\": 1}")), call(json!("")), call(json!("no json")), call(json!({"n": 2}))]
    });
    let (address, server_thread) = server(vec![completion(&message)]);
    let endpoint = Endpoint::new(&address).model("m").timeout(Duration::from_secs(5));
    let reply = send_prompt(&endpoint).unwrap();
    let arguments: Vec<_> = reply.calls.into_iter().map(|call| call.arguments).collect();
    assert_eq!(
        (reply.text.as_str(), arguments),
        ("ab", vec![json!({"n": 1}), json!({}), json!("no json"), json!({"n": 2})])
    );
    server_thread.join().unwrap();
}

/// The server accepts the request and never answers.
#[test]
fn cancellation_ends_a_pending_request() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint::new(&format!("http://{}", listener.local_addr().unwrap())).model("m");
    let cancel = Cancel::new();
    let canceller = cancel.clone();
    let server_thread = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let peeked = stream.peek(&mut [0]).unwrap();
        canceller.cancel();
        (stream, peeked, Instant::now())
    });
    let messages = [Message::Prompt("Hello".into())];
    let failure = endpoint.answer(&Request::new(&messages, &cancel)).unwrap_err();
    let ended_at = Instant::now();
    assert_eq!(failure.kind, FailureKind::Cancelled);
    let (_silent, peeked, cancelled_at) = server_thread.join().unwrap();
    assert_eq!(peeked, 1, "the request arrived before the cancellation");
    // The default timeout of the endpoint is ten minutes.
    assert!(ended_at.duration_since(cancelled_at) < Duration::from_secs(10));
    let failure = endpoint.answer(&Request::new(&messages, &cancel)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cancelled, "cancellation is checked before connecting");
}
