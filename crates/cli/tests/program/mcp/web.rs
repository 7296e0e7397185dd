//! Servers at a URL: each era, each form of answer, and what goes wrong over HTTP.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, VERSIONS};
use super::web_server::{Answer, Request, Site};

/// What a server of either era answers to all but calls.
fn common(request: &Request, is_modern: bool) -> Answer {
    let capabilities = json!({"tools": {"listChanged": true}, "resources": {}});
    match request.method() {
        "server/discover" if is_modern => Answer::json(&request.result(json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
            "ttlMs": 0, "cacheScope": "private",
        }))),
        "server/discover" => Answer::status("400 Bad Request"),
        "initialize" if !is_modern => {
            let info = json!({"name": "web", "version": "1"});
            let result =
                json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info});
            let headers = vec![
                ("Content-Type", "application/json".to_owned()),
                ("Mcp-Session-Id", "session-1".to_owned()),
            ];
            Answer::Whole("200 OK", headers, request.result(result).to_string())
        }
        "notifications/initialized" => Answer::status("202 Accepted"),
        "tools/list" => {
            let properties = json!({"region": {"type": "string", "x-mcp-header": "Region"}});
            let tool =
                |name| json!({"name": name, "inputSchema": {"type": "object", "properties": properties}});
            let wrong = json!({"name": "wrong", "inputSchema": {"type": "object", "x-mcp-header": "Root"}});
            let tools = json!([tool("get"), tool("other"), wrong]);
            Answer::json(&request.result(json!({"resultType": "complete", "tools": tools})))
        }
        "resources/list" => Answer::json(&request.result(json!({"resources": []}))),
        "resources/read" => {
            let contents = json!([{"uri": request.body["params"]["uri"], "text": "contents"}]);
            Answer::json(&request.result(json!({"contents": contents})))
        }
        _ if request.http.starts_with("DELETE") => Answer::status("200 OK"),
        _ => Answer::status("405 Method Not Allowed"),
    }
}

/// A server whose calls are answered by a function.
fn site(is_modern: bool, call: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Site {
    Site::start(move |request| match request.method() {
        "tools/call" => call(request),
        _ => common(request, is_modern),
    })
}

fn client(site: &Site) -> Client {
    Client::connected(&["--wrap", &format!("web={}", site.url)], VERSIONS[3])
}

/// A client whose server was listed, so that its calls are timed alone.
fn listed(site: &Site) -> Client {
    let mut client = client(site);
    assert!(client.tools().contains(&"web_get".to_owned()));
    client
}

#[test]
fn newer_servers_get_the_headers_that_repeat_the_request() {
    let site = site(true, |request| Answer::json(&request.text("fine")));
    let mut client = listed(&site);
    assert_eq!(client.text("web_get", json!({"region": "Zürich"})), "fine");
    let call = site.wait_for("tools/call");
    for (name, value) in [
        ("MCP-Protocol-Version", Some("2026-07-28")),
        ("Mcp-Method", Some("tools/call")),
        ("Mcp-Name", Some("get")),
        ("Mcp-Param-Region", Some("=?base64?WsO8cmljaA==?=")),
        ("Mcp-Session-Id", None),
        ("Content-Type", Some("application/json")),
        ("Accept", Some("application/json, text/event-stream")),
    ] {
        assert_eq!(call.header(name), value, "{name}");
    }
    assert_eq!(call.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    let read = client.request("resources/read", json!({"uri": "web://a b"}));
    assert_eq!(read["result"]["contents"][0]["text"], "contents", "{read}");
    assert_eq!(site.wait_for("resources/read").header("Mcp-Name"), Some("web://a b"));
    // Nothing of an older server: no session, no stream, no end.
    client.close();
    assert!(site.requests("initialize").is_empty() && site.requests("DELETE").is_empty());
    assert!(site.requests("GET").is_empty());
}

#[test]
fn tools_with_invalid_headers_are_not_offered() {
    let mut client = client(&site(true, |request| Answer::json(&request.text("fine"))));
    let tools = client.tools();
    assert!(tools.contains(&"web_other".to_owned()) && !tools.contains(&"web_wrong".to_owned()), "{tools:?}");
}

#[test]
fn older_servers_get_a_session() {
    let site = site(false, |request| Answer::json(&request.text("fine")));
    let mut client = listed(&site);
    assert_eq!(client.text("web_get", json!({"region": "x"})), "fine");
    let call = site.wait_for("tools/call");
    assert_eq!(call.header("Mcp-Session-Id"), Some("session-1"));
    assert_eq!(call.header("MCP-Protocol-Version"), Some("2025-11-25"));
    assert_eq!((call.header("Mcp-Method"), call.header("Mcp-Param-Region")), (None, None));
    assert_eq!(site.wait_for("initialize").header("Mcp-Session-Id"), None);
    assert_eq!(site.wait_for("GET").header("Accept"), Some("text/event-stream"));
    client.close();
    assert_eq!(site.wait_for("DELETE").header("Mcp-Session-Id"), Some("session-1"));
}

#[test]
fn events_before_the_answer_are_passed_on() {
    let site = site(true, |request| {
        let answer = request.text("after progress");
        let token = request.body["params"]["_meta"]["progressToken"].clone();
        Answer::events(move |stream| {
            let progress = json!({"progressToken": token, "progress": 1, "total": 2, "message": "half"});
            stream.write(": hello\nretry: 10\n\nid: 1\ndata:\n\ndata: not JSON\n\n");
            stream.event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}));
            thread::sleep(Duration::from_millis(1_500));
            stream.event(&answer);
            stream.wait_for_close();
        })
    });
    let mut client = listed(&site);
    let call = json!({"name": "web_get", "arguments": {}, "_meta": {"progressToken": 1}});
    let answer = client.request("tools/call", call);
    assert_eq!(answer["result"]["content"][0]["text"], "after progress", "{answer}");
    assert!(
        client.notes.iter().any(|note| note["params"]["message"].as_str().unwrap_or("").contains("half")),
        "{:?}",
        client.notes
    );
}

#[test]
fn long_answers_are_stored_as_they_arrive() {
    for is_event in [false, true] {
        let site = site(true, move |request| {
            let message = request.text(&"0123456789 line\n".repeat(500_000));
            if !is_event {
                return Answer::json(&message);
            }
            Answer::events(move |stream| {
                // In the middle of the message: another line of its data.
                let text = message.to_string().replacen(",\"id\"", ",\ndata: \"id\"", 1);
                stream.write(&format!("id: 9\ndata: {text}\n\n"));
                stream.wait_for_close();
            })
        });
        let mut client = listed(&site);
        let manifest = client.text("web_get", json!({}));
        assert!(
            manifest.contains("text, 7.6 MB (8,000,000 characters)") && manifest.len() < 2_000,
            "{manifest}"
        );
        let list = client.answer("tool_outputs_list", json!({}));
        assert_eq!(
            (&list["total"], &list["outputs"][0]["tool_name"]),
            (&1.into(), &"web_get".into()),
            "{list}"
        );
    }
}

/// Also if the answer never ends: the stream is closed.
#[test]
fn answers_beyond_the_limit_fail() {
    for is_event in [false, true] {
        let site = site(true, move |request| {
            let message = request.text(&"0123456789 line\n".repeat(2_000_000));
            if !is_event {
                return Answer::json(&message);
            }
            let head = message.to_string().trim_end_matches(['"', '}', ']', ' ']).to_owned();
            Answer::events(move |stream| {
                let mut is_open = stream.write(&format!("data: {head}"));
                while is_open {
                    is_open = stream.write("and so on ");
                }
            })
        });
        let wrap = format!("web={}", site.url);
        let mut client = Client::connected(&["--wrap", &wrap, "--max-result", "20MB"], VERSIONS[3]);
        client.tools();
        let failed = client.failed("web_get", json!({}));
        assert!(failed.contains("longer than 20000000 bytes"), "{failed}");
        assert_eq!(client.answer("tool_outputs_list", json!({}))["total"], 0);
        assert_eq!(client.leftovers(), 0);
    }
}

#[test]
fn cancelled_calls_close_the_stream() {
    for is_modern in [true, false] {
        let closed = std::sync::Arc::new(AtomicBool::new(false));
        let flag = std::sync::Arc::clone(&closed);
        let site = site(is_modern, move |_| {
            let flag = std::sync::Arc::clone(&flag);
            Answer::events(move |stream| {
                stream.wait_for_close();
                flag.store(true, Ordering::Relaxed);
            })
        });
        let mut client = listed(&site);
        let id = client.start_request("tools/call", json!({"name": "web_get", "arguments": {}}));
        site.wait_for("tools/call");
        client.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
        );
        let start = Instant::now();
        while !closed.load(Ordering::Relaxed) {
            assert!(start.elapsed() < Duration::from_secs(5), "{is_modern}: the stream stays open");
            thread::sleep(Duration::from_millis(5));
        }
        // Only older servers get a notification.
        if !is_modern {
            site.wait_for("notifications/cancelled");
        }
        assert_eq!(site.requests("notifications/cancelled").is_empty(), is_modern);
    }
}

#[test]
fn older_streams_are_continued() {
    static ANSWER: Mutex<Value> = Mutex::new(Value::Null);
    let site = Site::start(|request| {
        if request.method() == "tools/call" {
            *ANSWER.lock().unwrap() = request.text("continued");
            return Answer::events(|stream| {
                stream.write("id: event-7\nretry: 300\ndata:\n\n");
            });
        }
        match request.header("Last-Event-ID") {
            Some("event-7") => Answer::events(|stream| {
                stream.event(&ANSWER.lock().unwrap());
            }),
            _ => common(request, false),
        }
    });
    let mut client = listed(&site);
    let start = Instant::now();
    assert_eq!(client.text("web_get", json!({})), "continued");
    assert!(start.elapsed() >= Duration::from_millis(300), "the server's pause: {:?}", start.elapsed());
    assert_eq!(site.wait_for("GET").header("Mcp-Session-Id"), Some("session-1"));
}

#[test]
fn changes_of_lists_arrive() {
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    for is_modern in [true, false] {
        let note = changed.clone();
        let site = Site::start(move |request| {
            let note = note.clone();
            if request.http.starts_with("GET") {
                return Answer::events(move |stream| {
                    thread::sleep(Duration::from_millis(300));
                    stream.event(&note);
                    stream.wait_for_close();
                });
            }
            if request.method() != "subscriptions/listen" {
                return common(request, is_modern);
            }
            let (id, wanted) = (request.body["id"].clone(), request.body["params"]["notifications"].clone());
            Answer::events(move |stream| {
                let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
                let params = json!({"notifications": wanted, "_meta": meta});
                let method = "notifications/subscriptions/acknowledged";
                stream.event(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
                thread::sleep(Duration::from_millis(300));
                let mut note = note;
                note["params"]["_meta"] = meta;
                stream.event(&note);
                stream.wait_for_close();
            })
        });
        let mut client = listed(&site);
        client.noted("notifications/tools/list_changed");
        assert_eq!(site.requests("subscriptions/listen").len(), usize::from(is_modern));
    }
}

#[test]
fn failures_of_a_call_say_why() {
    for (answer, expected) in [
        (Answer::status as fn(&'static str) -> Answer, "403 Forbidden"),
        (Answer::status, "500 Internal Server Error"),
        (|_| Answer::Nothing, "cannot reach"),
        (|_| Answer::status("202 Accepted"), "sent no answer"),
        (|_| Answer::events(|stream| assert!(stream.write("data: {}\n\n"))), "before it answered"),
        (|_| Answer::Whole("200 OK", Vec::new(), "hello".to_owned()), "sent no answer"),
    ] {
        let status: &'static str =
            if expected.starts_with(|c: char| c.is_ascii_digit()) { expected } else { "" };
        let site = site(true, move |_| answer(status));
        let failed = listed(&site).failed("web_get", json!({}));
        assert!(failed.contains(expected), "{expected}: {failed}");
    }
}

#[test]
fn errors_of_a_server_pass_with_any_status() {
    let site = site(true, |request| {
        let error = json!({"code": -32602, "message": "no region", "data": {"a": 1}});
        let message = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
        Answer::Whole(
            "400 Bad Request",
            vec![("Content-Type", "application/json".into())],
            message.to_string(),
        )
    });
    let answer = listed(&site).call("web_get", json!({}));
    assert_eq!(answer["error"], json!({"code": -32602, "message": "no region", "data": {"a": 1}}));
}

#[test]
fn a_session_that_ended_is_opened_again() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let site = site(false, |request| match CALLS.fetch_add(1, Ordering::Relaxed) {
        0 => Answer::status("404 Not Found"),
        _ => Answer::json(&request.text("again")),
    });
    let mut client = listed(&site);
    assert_eq!(client.text("web_get", json!({})), "again");
    assert_eq!((site.requests("initialize").len(), site.requests("tools/call").len()), (2, 2));
}

#[test]
fn servers_that_cannot_be_opened_say_why() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let opened = |answer: fn(&Request) -> Answer| {
        let site = Site::start(answer);
        site.url.clone()
    };
    let redirect = |_: &Request| {
        let place = vec![("Location", "http://127.0.0.1:1/elsewhere".to_owned())];
        Answer::Whole("307 Temporary Redirect", place, String::new())
    };
    for (url, expected) in [
        (format!("http://{closed}/mcp"), "cannot reach http://127.0.0.1:"),
        (opened(|_| Answer::status("401 Unauthorized")), "set the header Authorization in its configuration"),
        (opened(|_| Answer::status("404 Not Found")), "is the address complete?"),
        (opened(|_| Answer::status("503 Service Unavailable")), "503 Service Unavailable"),
        (opened(redirect), "redirects to http://127.0.0.1:1/elsewhere"),
        (opened(|_| Answer::Nothing), "cannot reach"),
    ] {
        let mut client = Client::connected(&["--wrap", &format!("web={url}?key=secret")], VERSIONS[3]);
        let answer = client.call("web_get", json!({}));
        let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(message.contains(expected) && !message.contains("secret"), "{expected}: {message}");
    }
}

#[test]
fn headers_of_the_configuration_are_sent() {
    let site = site(true, |request| Answer::json(&request.text("fine")));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let config = json!({"servers": {"web": {"type": "http", "url": site.url, "headers": {"Authorization": "Bearer 42"}}}});
    std::fs::write(&file, config.to_string()).unwrap();
    let mut client = Client::connected(&["--config", file.to_str().unwrap()], VERSIONS[4]);
    assert_eq!(client.text("web_get", json!({})), "fine");
    for method in ["server/discover", "tools/list", "tools/call"] {
        assert_eq!(site.wait_for(method).header("Authorization"), Some("Bearer 42"), "{method}");
    }
}
