//! Replies of endpoints, the good and the bad ones: what becomes of each, and of the file that the
//! answer would replace.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel_tool::{Cancel, Registry};
use trommel_workflow::{Document, Endpoint, Message, Model, Reply, Request};

use crate::support::{Bench, Runs, says};

/// A server that answers with one text after the other, head and body as they are, and counts the
/// requests.
fn server(answers: Vec<String>) -> (String, JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let serving = thread::spawn(move || {
        let serve = |answer: &String| serve(listener.accept().unwrap().0, answer);
        answers.iter().map(serve).collect::<Vec<_>>().len()
    });
    (address, serving)
}

/// Reads a request and answers it; the request's first line.
fn serve(mut stream: TcpStream, answer: &str) -> String {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = given.trim().parse().unwrap();
        }
    }
    let mut asked = vec![0; length];
    reader.read_exact(&mut asked).unwrap();
    // The other side may not want to hear it to the end.
    let _ = stream.write_all(answer.as_bytes());
    first
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

fn ok(body: &Value) -> String {
    response("200 OK", "", &body.to_string())
}

/// A completion of one choice.
fn choice(message: &Value, finish_reason: &str) -> String {
    ok(&json!({"choices": [{"message": message, "finish_reason": finish_reason}]}))
}

/// Runs a document whose answer replaces a file; the answer or the error, the file, and the number
/// of requests.
fn run(answers: Vec<String>) -> (Result<String, String>, String, usize) {
    let bench = Bench::new();
    bench.write("report.md", "kept");
    let (address, serving) = server(answers);
    let registry = Registry::new();
    registry.register(says("web_search")).unwrap();
    let endpoint = Endpoint::new(&address).key("secret-key").model("m").retries(2, Duration::from_millis(1));
    let document =
        Document::parse("## S\n@tools web_search\n@output file:report\n@write-mode replace\nGo.\n").unwrap();
    let done = bench.runner(registry).model(Arc::new(endpoint)).run(&document, &mut |_| {});
    let done = done.map(|mut report| report.steps.remove(0).answer.unwrap()).map_err(|error| {
        assert_eq!(error.error.line, 1);
        error.error.message.clone()
    });
    (done, bench.file("report.md").unwrap(), serving.join().unwrap())
}

#[test]
fn r27_a_bad_reply_fails_the_step_and_leaves_the_destination() {
    let half = json!({"role": "assistant", "content": "half an answ"});
    for (name, answer, said) in [
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
        ("nothing known", ok(&json!({})), "not a chat completion"),
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
        let (done, file, asked) = run(vec![answer]);
        let error = done.expect_err(name);
        assert!(
            error.contains(said) && error.starts_with("the model at http://127.0.0.1"),
            "{name}: {error}"
        );
        assert!(!error.contains("secret-key"), "{name}: {error}");
        assert_eq!((file.as_str(), asked), ("kept", 1), "{name}");
    }
}

#[test]
fn a_good_reply_replaces_the_destination() {
    for answer in [
        choice(&json!({"content": "Done."}), "stop"),
        ok(
            &json!({"choices": [{"message": {"content": "Done.", "refusal": null, "tool_calls": []}}], "error": null}),
        ),
        ok(
            &json!({"choices": [{"message": {"content": [{"type": "text", "text": "Done."}]}, "finish_reason": null}]}),
        ),
    ] {
        let (done, file, _) = run(vec![answer]);
        assert_eq!((done.as_deref(), file.as_str()), (Ok("Done."), "Done."));
    }
}

/// Calls without an id get one, each its own.
#[test]
fn calls_without_an_id_are_made() {
    let function = |text: &str| json!({"function": {"name": "web_search", "arguments": json!({"text": text}).to_string()}});
    let calls = json!({"content": null, "tool_calls": [function("a"), function("b")]});
    let (done, file, asked) =
        run(vec![choice(&calls, "tool_calls"), choice(&json!({"content": "Done."}), "stop")]);
    assert_eq!((done.as_deref(), file.as_str(), asked), (Ok("Done."), "Done.", 2));
    let (address, serving) = server(vec![choice(&calls, "tool_calls")]);
    let reply = ask(&Endpoint::new(&address).model("m"), &Cancel::new()).unwrap();
    assert_ne!(reply.calls[0].id, reply.calls[1].id);
    assert!(reply.calls.iter().all(|call| !call.id.is_empty()));
    serving.join().unwrap();
}

fn ask(endpoint: &Endpoint, flag: &Cancel) -> Result<Reply, String> {
    let messages = [Message::Prompt("Hello".into())];
    endpoint.answer(&Request::new(&messages, flag)).map_err(|failure| failure.message)
}

#[test]
fn busy_endpoints_are_asked_again() {
    let busy = |headers: &str| response("429 X", headers, r#"{"error":{"message":"slow down"}}"#);
    let done = choice(&json!({"content": "Done."}), "stop");
    let (answer, file, asked) = run(vec![busy(""), response("503 X", "", ""), done.clone()]);
    assert_eq!((answer.as_deref(), file.as_str(), asked), (Ok("Done."), "Done.", 3));
    let (answer, file, asked) = run(vec![busy(""), busy(""), busy("")]);
    let error = answer.unwrap_err();
    assert!(error.contains("status 429, slow down; wait, and try again"), "{error}");
    assert_eq!((file.as_str(), asked), ("kept", 3));
    // As long as it asks for, and not when that is too long.
    let since = Instant::now();
    let (answer, _, asked) = run(vec![busy("Retry-After: 1\r\n"), done]);
    assert_eq!((answer.as_deref(), asked), (Ok("Done."), 2));
    assert!(since.elapsed() >= Duration::from_secs(1));
    for header in ["Retry-After: 3600\r\n", "Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n"] {
        let (answer, _, asked) = run(vec![busy(header)]);
        let error = answer.unwrap_err();
        assert!(error.contains("it asks to wait ") && error.contains("slow down"), "{error}");
        assert_eq!(asked, 1);
    }
}

#[test]
fn a_pause_before_a_repetition_ends_when_its_flag_is_raised() {
    let (address, serving) = server(vec![response("503 X", "Retry-After: 30\r\n", "")]);
    let endpoint = Endpoint::new(&address).model("m");
    let flag = Cancel::new();
    let raising = flag.clone();
    let since = Instant::now();
    let raiser = thread::spawn(move || {
        serving.join().unwrap();
        thread::sleep(Duration::from_millis(100));
        raising.cancel();
    });
    ask(&endpoint, &flag).unwrap_err();
    raiser.join().unwrap();
    assert!(since.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_request_ends_at_its_time_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let endpoint = Endpoint::new(&address).model("m").timeout(Duration::from_secs(1));
    let error = ask(&endpoint, &Cancel::new()).unwrap_err();
    assert!(
        error.contains("no answer within 1 seconds") && error.contains("raise the time limit"),
        "{error}"
    );
}

/// The key of an address is in its query for some providers: it is sent, and shown nowhere.
#[test]
fn secrets_of_an_address_are_not_shown() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    let serving = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        // It repeats what it was asked, decoded.
        let body = r#"{"error": "no: /v1?key=s3cr%2Ft-key, which is s3cr/t-key, of user:passw0rd"}"#;
        serve(stream, &response("400 X", "", body))
    });
    let endpoint =
        Endpoint::new(&format!("http://user:passw0rd@{host}/v1/?key=s3cr%2Ft-key&version=2024-06#x"));
    let error = ask(&endpoint.model("m"), &Cancel::new()).unwrap_err();
    let line = serving.join().unwrap();
    assert_eq!(line, "POST /v1/chat/completions?key=s3cr%2Ft-key&version=2024-06 HTTP/1.1\r\n");
    assert!(
        error.contains("/v1/chat/completions?key=[redacted]&version=[redacted] did not answer: status 400"),
        "{error}"
    );
    for secret in ["s3cr", "t-key", "passw0rd"] {
        assert!(!error.contains(secret), "{error}");
    }
    let nobody = Endpoint::new("http://127.0.0.1:1/v1?AIzaXsecret").model("m");
    let error = ask(&nobody, &Cancel::new()).unwrap_err();
    assert!(!error.contains("secret"), "{error}");
}
