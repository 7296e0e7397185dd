//! Valid and invalid replies of endpoints, and their effect on the file that the answer would
//! replace.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel_tool::{Cancel, Registry};
use trommel_workflow::{Document, Endpoint, Message, Model, Reply, Request};

use crate::support::{Bench, RunDocuments, says};

/// Starts a server that sends one response per request, verbatim. The thread returns the number of
/// requests.
fn server(answers: Vec<String>) -> (String, JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let server_thread = thread::spawn(move || {
        let serve = |answer: &String| serve(listener.accept().unwrap().0, answer);
        answers.iter().map(serve).collect::<Vec<_>>().len()
    });
    (address, server_thread)
}

/// Reads a request and sends the response. Returns the request line.
fn serve(mut stream: TcpStream, answer: &str) -> String {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    let mut request_line = String::new();
    reader.read_line(&mut request_line).unwrap();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    // The client may close the connection before it has read the whole response.
    let _ = stream.write_all(answer.as_bytes());
    request_line
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

fn ok(body: &Value) -> String {
    response("200 OK", "", &body.to_string())
}

/// A completion with one choice.
fn choice(message: &Value, finish_reason: &str) -> String {
    ok(&json!({"choices": [{"message": message, "finish_reason": finish_reason}]}))
}

/// Runs a document whose answer replaces a file. Returns the answer or the error message, the
/// contents of the file, and the number of requests.
fn run(answers: Vec<String>) -> (Result<String, String>, String, usize) {
    let bench = Bench::new();
    bench.write("report.md", "kept");
    let (address, server_thread) = server(answers);
    let registry = Registry::new();
    registry.register(says("web_search")).unwrap();
    let endpoint = Endpoint::new(&address).key("secret-key").model("m").retries(2, Duration::from_millis(1));
    let document =
        Document::parse("## S\n@tools web_search\n@output file:report\n@write-mode replace\nGo.\n").unwrap();
    let outcome = bench.runner(registry).model(Arc::new(endpoint)).run(&document, &mut |_| {});
    let outcome = outcome.map(|mut report| report.steps.remove(0).answer.unwrap()).map_err(|error| {
        assert_eq!(error.error.line, 1);
        error.error.message.clone()
    });
    (outcome, bench.file("report.md").unwrap(), server_thread.join().unwrap())
}

#[test]
fn r27_an_invalid_reply_fails_the_step_and_keeps_the_destination() {
    let half = json!({"role": "assistant", "content": "half an answ"});
    for (name, answer, expected) in [
        (
            "refusal",
            choice(&json!({"content": null, "refusal": "I cannot help with that."}), "stop"),
            "it refused: I cannot help",
        ),
        (
            "refusal in parts",
            choice(&json!({"content": [{"type": "refusal", "refusal": "No."}]}), "stop"),
            "it refused: No.",
        ),
        ("content filter", choice(&half, "content_filter"), "a content filter withheld the answer"),
        ("length", choice(&half, "length"), "was cut off at the model's output limit"),
        ("null", choice(&json!({"content": null}), "stop"), "the answer is empty"),
        ("empty", choice(&json!({"content": ""}), "stop"), "the answer is empty"),
        ("blank", choice(&json!({"content": " \n"}), "stop"), "the answer is empty"),
        ("no content", choice(&json!({"role": "assistant"}), "stop"), "the answer is empty"),
        ("error with status 200", ok(&json!({"error": {"message": "model overloaded"}})), "model overloaded"),
        ("error text", ok(&json!({"error": "out of memory"})), "out of memory"),
        ("no choices", ok(&json!({"choices": []})), "the answer has no choices"),
        ("no message", ok(&json!({"choices": [{}]})), "not a chat completion"),
        ("no known fields", ok(&json!({})), "not a chat completion"),
        ("HTML", response("200 OK", "", "<html>hello</html>"), "not a chat completion"),
        ("events", response("200 OK", "", "data: {\"choices\":[]}\n\n"), "not a chat completion"),
        ("closed", String::new(), "try again"),
        ("401", response("401 X", "", r#"{"error":{"message":"bad key secret-key"}}"#), "check the key"),
        ("404", response("404 X", "", ""), "check the address and the model's name"),
        ("413", response("413 X", "", ""), "route inputs to variables"),
        ("500", response("500 X", "", "<html>"), "status 500; try again"),
        (
            "302",
            response("302 X", "Location: https://new.example.com/v1?key=abcdef\r\n", ""),
            "it redirects to https://new.example.com/v1",
        ),
        ("17 MB", response("200 OK", "", &"x".repeat(17 << 20)), "did not answer"),
    ] {
        let (outcome, file, request_count) = run(vec![answer]);
        let error = outcome.expect_err(name);
        assert!(
            error.contains(expected) && error.starts_with("the model at http://127.0.0.1"),
            "{name}: {error}"
        );
        assert!(!error.contains("secret-key"), "{name}: {error}");
        assert_eq!((file.as_str(), request_count), ("kept", 1), "{name}");
    }
}

#[test]
fn a_valid_reply_replaces_the_destination() {
    for answer in [
        choice(&json!({"content": "Done."}), "stop"),
        ok(
            &json!({"choices": [{"message": {"content": "Done.", "refusal": null, "tool_calls": []}}], "error": null}),
        ),
        ok(
            &json!({"choices": [{"message": {"content": [{"type": "text", "text": "Done."}]}, "finish_reason": null}]}),
        ),
    ] {
        let (outcome, file, _) = run(vec![answer]);
        assert_eq!((outcome.as_deref(), file.as_str()), (Ok("Done."), "Done."));
    }
}

/// Calls without an ID get distinct generated IDs.
#[test]
fn calls_without_an_id_are_executed() {
    let function = |text: &str| json!({"function": {"name": "web_search", "arguments": json!({"text": text}).to_string()}});
    let calls = json!({"content": null, "tool_calls": [function("a"), function("b")]});
    let (outcome, file, request_count) =
        run(vec![choice(&calls, "tool_calls"), choice(&json!({"content": "Done."}), "stop")]);
    assert_eq!((outcome.as_deref(), file.as_str(), request_count), (Ok("Done."), "Done.", 2));
    let (address, server_thread) = server(vec![choice(&calls, "tool_calls")]);
    let reply = send_prompt(&Endpoint::new(&address).model("m"), &Cancel::new()).unwrap();
    assert_ne!(reply.calls[0].id, reply.calls[1].id);
    assert!(reply.calls.iter().all(|call| !call.id.is_empty()));
    server_thread.join().unwrap();
}

/// Sends a prompt. Returns the reply or the message of the failure.
fn send_prompt(endpoint: &Endpoint, cancel: &Cancel) -> Result<Reply, String> {
    let messages = [Message::Prompt("Hello".into())];
    endpoint.answer(&Request::new(&messages, cancel)).map_err(|failure| failure.message)
}

#[test]
fn requests_to_busy_endpoints_are_retried() {
    let busy = |headers: &str| response("429 X", headers, r#"{"error":{"message":"slow down"}}"#);
    let success = choice(&json!({"content": "Done."}), "stop");
    let (answer, file, request_count) = run(vec![busy(""), response("503 X", "", ""), success.clone()]);
    assert_eq!((answer.as_deref(), file.as_str(), request_count), (Ok("Done."), "Done.", 3));
    let (answer, file, request_count) = run(vec![busy(""), busy(""), busy("")]);
    let error = answer.unwrap_err();
    assert!(error.contains("status 429, slow down; wait, and try again"), "{error}");
    assert_eq!((file.as_str(), request_count), ("kept", 3));
    // The endpoint waits as long as `Retry-After` demands, but fails at once if that is too long.
    let start = Instant::now();
    let (answer, _, request_count) = run(vec![busy("Retry-After: 1\r\n"), success]);
    assert_eq!((answer.as_deref(), request_count), (Ok("Done."), 2));
    assert!(start.elapsed() >= Duration::from_secs(1));
    for header in ["Retry-After: 3600\r\n", "Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n"] {
        let (answer, _, request_count) = run(vec![busy(header)]);
        let error = answer.unwrap_err();
        assert!(error.contains("try again in ") && error.contains("slow down"), "{error}");
        assert_eq!(request_count, 1);
    }
}

#[test]
fn cancellation_ends_the_delay_before_a_retry() {
    let (address, server_thread) = server(vec![response("503 X", "Retry-After: 30\r\n", "")]);
    let endpoint = Endpoint::new(&address).model("m");
    let cancel = Cancel::new();
    let canceller = cancel.clone();
    let start = Instant::now();
    let cancel_thread = thread::spawn(move || {
        server_thread.join().unwrap();
        thread::sleep(Duration::from_millis(100));
        canceller.cancel();
    });
    send_prompt(&endpoint, &cancel).unwrap_err();
    cancel_thread.join().unwrap();
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_request_without_an_answer_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let endpoint = Endpoint::new(&address).model("m").timeout(Duration::from_secs(1));
    let error = send_prompt(&endpoint, &Cancel::new()).unwrap_err();
    assert!(
        error.contains("no answer within 1 seconds") && error.contains("raise the time limit"),
        "{error}"
    );
}

/// Some providers take the key in the query of the address. It is sent, but never shown.
#[test]
fn secrets_in_an_address_are_redacted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    let server_thread = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        // The response repeats the secrets of the request, also decoded.
        let body = r#"{"error": "no: /v1?key=s3cr%2Ft-key, which is s3cr/t-key, of user:passw0rd"}"#;
        serve(stream, &response("400 X", "", body))
    });
    let endpoint =
        Endpoint::new(&format!("http://user:passw0rd@{host}/v1/?key=s3cr%2Ft-key&version=2024-06#x"));
    let error = send_prompt(&endpoint.model("m"), &Cancel::new()).unwrap_err();
    let line = server_thread.join().unwrap();
    assert_eq!(line, "POST /v1/chat/completions?key=s3cr%2Ft-key&version=2024-06 HTTP/1.1\r\n");
    assert!(
        error.contains("/v1/chat/completions?key=[redacted]&version=[redacted] did not answer: status 400"),
        "{error}"
    );
    for secret in ["s3cr", "t-key", "passw0rd"] {
        assert!(!error.contains(secret), "{error}");
    }
    let unreachable = Endpoint::new("http://127.0.0.1:1/v1?AIzaXsecret").model("m");
    let error = send_prompt(&unreachable, &Cancel::new()).unwrap_err();
    assert!(!error.contains("secret"), "{error}");
}
