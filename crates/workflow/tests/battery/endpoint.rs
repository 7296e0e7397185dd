//! The endpoint against a server on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel_tool::{Cancel, FailureKind, Registry};
use trommel_workflow::{Document, Endpoint, Message, Model, Reply, Request};

use crate::support::{Bench, Runs, says};

/// A server that answers one request after the other, and gives what it was asked.
fn server(answers: Vec<(u16, String)>) -> (String, JoinHandle<Vec<(String, Value)>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1/", listener.local_addr().unwrap());
    let serving = thread::spawn(move || {
        let mut asked = Vec::new();
        for (status, body) in answers {
            let (stream, _) = listener.accept().unwrap();
            asked.push(serve(stream, status, &body));
        }
        asked
    });
    (address, serving)
}

/// Reads one request, answers it, and gives its head and body.
fn serve(mut stream: TcpStream, status: u16, body: &str) -> (String, Value) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = given.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut asked = vec![0; length];
    reader.read_exact(&mut asked).unwrap();
    let more = if status == 302 { "Location: http://127.0.0.1:1/elsewhere\r\n" } else { "" };
    write!(
        stream,
        "HTTP/1.1 {status} X\r\n{more}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    (head, serde_json::from_slice(&asked).unwrap())
}

fn said(message: &Value) -> (u16, String) {
    (
        200,
        json!({"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
            .to_string(),
    )
}

#[test]
fn a_document_is_answered_over_the_wire() {
    let bench = Bench::new();
    bench.write("a.md", "content");
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "web_search", "arguments": "{\"text\":\"found\"}"}});
    let answers = vec![
        said(&json!({"role": "assistant", "content": null, "tool_calls": [call]})),
        said(&json!({"role": "assistant", "content": "All is well."})),
    ];
    let (address, serving) = server(answers);
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

    let asked = serving.join().unwrap();
    let (head, body) = &asked[0];
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert!(head.to_ascii_lowercase().contains("authorization: bearer secret-key\r\n"), "{head}");
    assert_eq!((&body["model"], &body["reasoning_effort"]), (&json!("strong"), &json!("high")));
    assert_eq!(body["tools"][0]["function"]["name"], "web_search");
    assert_eq!(body["messages"][0]["role"], "user");
    let second = &asked[1].1["messages"];
    // Under the name that was exported, as the model knows it.
    let function = &second[1]["tool_calls"][0]["function"];
    assert_eq!(function, &json!({"name": "web_search", "arguments": "{\"text\":\"found\"}"}));
    assert_eq!((&second[2]["role"], &second[2]["tool_call_id"]), (&json!("tool"), &json!("call_1")));
    assert!(
        second[2]["content"].as_str().unwrap().starts_with("[output routed] web.search -> variable:found")
    );
}

fn ask(endpoint: &Endpoint) -> Result<Reply, String> {
    let (messages, flag) = ([Message::Prompt("Hello".into())], Cancel::new());
    endpoint.answer(&Request::new(&messages, &flag)).map_err(|failure| failure.message)
}

/// R45, R25: what an endpoint refuses is told with what to do, and never with the key.
#[test]
fn r45_endpoints_that_refuse() {
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
        let (address, serving) = server(vec![(status, body)]);
        let endpoint = Endpoint::new(&address).key("secret-key").model("m").retries(0, Duration::ZERO);
        let failed = ask(&endpoint).unwrap_err();
        assert!(failed.contains(expected) && failed.contains("did not answer"), "{status}: {failed}");
        assert!(!failed.contains("secret-key"), "{failed}");
        serving.join().unwrap();
    }
    let nobody = ask(&Endpoint::new("http://user:secret-key@127.0.0.1:1").model("m")).unwrap_err();
    assert!(nobody.contains("try again") && !nobody.contains("secret-key"), "{nobody}");
    assert!(ask(&Endpoint::new("http://127.0.0.1:1")).unwrap_err().contains("@model NAME"));
}

#[test]
fn answers_may_be_in_parts_and_calls_need_not_be_right() {
    let call = |arguments: Value| json!({"id": "c", "function": {"name": "f", "arguments": arguments}});
    let message = json!({
        "content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}],
        "tool_calls": [call(json!("{\"n\": 1}")), call(json!("")), call(json!("no json")), call(json!({"n": 2}))]
    });
    let (address, serving) = server(vec![said(&message)]);
    let endpoint = Endpoint::new(&address).model("m").timeout(Duration::from_secs(5));
    let reply = ask(&endpoint).unwrap();
    let arguments: Vec<_> = reply.calls.into_iter().map(|call| call.arguments).collect();
    assert_eq!(
        (reply.text.as_str(), arguments),
        ("ab", vec![json!({"n": 1}), json!({}), json!("no json"), json!({"n": 2})])
    );
    serving.join().unwrap();
}

/// A server that takes a request and says nothing.
#[test]
fn a_request_ends_when_its_flag_is_raised() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint::new(&format!("http://{}", listener.local_addr().unwrap())).model("m");
    let flag = Cancel::new();
    let raising = flag.clone();
    let serving = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let asked = stream.peek(&mut [0]).unwrap();
        raising.cancel();
        (stream, asked, Instant::now())
    });
    let messages = [Message::Prompt("Hello".into())];
    let failure = endpoint.answer(&Request::new(&messages, &flag)).unwrap_err();
    let ended = Instant::now();
    assert_eq!(failure.kind, FailureKind::Cancelled);
    let (_silent, asked, raised) = serving.join().unwrap();
    assert_eq!(asked, 1, "it was asked before the flag was raised");
    // The wait of the endpoint is ten minutes.
    assert!(ended.duration_since(raised) < Duration::from_secs(10));
    let failure = endpoint.answer(&Request::new(&messages, &flag)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cancelled, "nobody listens, and nobody is asked");
}
