//! A server for the proxy to wrap, with a tool for each way of being odd.
//!
//! It is this test binary, started anew: `SERVER` in the environment turns the test
//! [`super::odd_server`] into the server. What the test harness prints are bare lines on standard
//! output, which a proxy must bear anyway.

#![expect(clippy::disallowed_methods, reason = "its environment selects how the server is odd")]
#![expect(clippy::exit, clippy::print_stderr, reason = "it is a program")]
#![expect(clippy::too_many_lines, reason = "a table of tools")]
#![expect(clippy::semicolon_if_nothing_returned, reason = "arms of a table")]

use std::env;
use std::io::{self, BufRead, Write};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The modern revision.
const MODERN: &str = "2026-07-28";

/// Serves until the input ends.
pub(super) fn serve() {
    let era = env::var("SERVER").unwrap();
    let mut server = Server { is_modern: era == "modern", changed: 0, asked: None };
    eprintln!("odd server: started");
    if let Ok(delay) = env::var("START_MS") {
        thread::sleep(Duration::from_millis(delay.parse().unwrap()));
    }
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        server.handle(&message);
    }
}

struct Server {
    is_modern: bool,
    /// The number of changes of the description of `change`.
    changed: u32,
    /// The call that waits for the answer to an elicitation.
    asked: Option<Value>,
}

fn write(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).unwrap_or_else(|_| std::process::exit(0));
}

fn send(message: &Value) {
    write(format!("{message}\n").as_bytes());
}

impl Server {
    fn handle(&mut self, message: &Value) {
        let Some(method) = message["method"].as_str() else {
            // The answer to the elicitation.
            if let Some(id) = self.asked.take() {
                self.answer(&id, &text(&message.to_string()));
            }
            return;
        };
        let (id, params) = (&message["id"], &message["params"]);
        match method {
            "initialize" if !self.is_modern => {
                let version = env::var("VERSION").unwrap_or_else(|_| "2025-11-25".to_owned());
                let info = json!({"name": "odd", "version": "1"});
                let capabilities = json!({"tools": {"listChanged": true}, "prompts": {}, "resources": {}, "completions": {}});
                self.answer(
                    id,
                    &json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}),
                );
            }
            "server/discover" if self.is_modern => {
                let capabilities = json!({"tools": {}, "prompts": {}, "resources": {}});
                self.answer(id, &json!({"supportedVersions": [MODERN], "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private"}));
            }
            "server/discover" if env::var("SILENT_PROBE").is_ok() => {}
            "server/discover" if env::var("EMPTY_PROBE").is_ok() => self.answer(id, &json!({})),
            "tools/list" => self.list(id, params),
            "tools/call" => self.call(id, params),
            "prompts/list" => {
                self.answer(id, &json!({"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}]}))
            }
            "prompts/get" => {
                let said = json!({"role": "user", "content": {"type": "text", "text": params.to_string()}});
                self.answer(id, &json!({"messages": [said]}));
            }
            "resources/list" => self.answer(id, &json!({"resources": [{"uri": "odd://a", "name": "a"}]})),
            "resources/templates/list" => {
                self.answer(id, &json!({"resourceTemplates": [{"uriTemplate": "odd://{x}", "name": "x"}]}));
            }
            "resources/read" if params["uri"] == "odd://a" => {
                let long = "x".repeat(env::var("RESOURCE").map_or(3, |chars| chars.parse().unwrap()));
                self.answer(
                    id,
                    &json!({"contents": [{"uri": "odd://a", "mimeType": "text/plain", "text": long}]}),
                );
            }
            "completion/complete" => {
                self.answer(id, &json!({"completion": {"values": [params["ref"]["name"]]}}))
            }
            "ping" => self.answer(id, &json!({})),
            _ if id.is_null() => eprintln!("odd server: {method} {}", params["requestId"]),
            _ => send(
                &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method", "data": [1]}}),
            ),
        }
    }

    fn answer(&self, id: &Value, result: &Value) {
        let mut result = result.clone();
        if self.is_modern && result.get("resultType").is_none() {
            result["resultType"] = "complete".into();
        }
        send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn list(&self, id: &Value, params: &Value) {
        let described = |name: &str| json!({"name": name, "description": format!("Does {name}"), "inputSchema": {"type": "object"}});
        let mut tools: Vec<Value> = TOOLS.iter().map(|name| described(name)).collect();
        for tool in &mut tools {
            if tool["name"] == "change" {
                tool["description"] = format!("Version {}", self.changed).into();
            }
            if tool["name"] == "raised" {
                tool["_meta"] = json!({"anthropic/maxResultSizeChars": 100_000});
            }
        }
        if self.changed > 0 || env::var("NEWER").is_ok() {
            tools.push(described("new"));
        }
        if env::var("PEEK").is_ok() {
            let mut peek = described("peek");
            peek["annotations"] = json!({"readOnlyHint": true});
            tools.push(peek);
        }
        // A second page.
        match (params["cursor"].as_str(), env::var("MORE_TOOLS")) {
            (Some(_), Ok(count)) => {
                tools = (0..count.parse().unwrap())
                    .map(|number: u32| described(&format!("more{number}")))
                    .collect()
            }
            (None, Ok(_)) => {
                tools.push(described(&"long".repeat(75)));
                tools.push(described("Noise"));
                tools.push(json!({"name": "bad", "description": "An invalid schema", "inputSchema": 7}));
                tools.push(json!({"description": "No name", "inputSchema": {}}));
                return self.answer(id, &json!({"tools": tools, "nextCursor": "2"}));
            }
            _ => {}
        }
        self.answer(id, &json!({ "tools": tools }));
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        let number = |name: &str| arguments[name].as_u64().unwrap_or(0);
        let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"#);
        match params["name"].as_str().unwrap() {
            "echo" => {
                let verbatim = arguments["result"].as_str().unwrap_or(r#""content":[]"#);
                write(format!("{head}{verbatim}}}}}\n").as_bytes());
            }
            "params" => self.answer(id, &text(&params.to_string())),
            "big" | "raised" => big(&head, arguments["shape"].as_str().unwrap_or("text"), number("items")),
            "last" => {
                // As the TypeScript SDK has it: the number after the result.
                let words = "word ".repeat(number("items") as usize);
                write(format!(r#"{{"result":{{"content":[{{"type":"text","text":"{words}"}}]}},"jsonrpc":"2.0","id":{id}}}"#).as_bytes());
                write(b"\n");
            }
            "many" => {
                let block = json!({"type": "text", "text": "y".repeat(number("chars") as usize)});
                self.answer(id, &json!({"content": vec![block; number("items") as usize]}));
            }
            "image" => {
                let image = json!({"type": "image", "mimeType": "image/png", "data": "A".repeat(number("chars") as usize)});
                self.answer(id, &json!({"content": [image, {"type": "text", "text": "a picture"}]}));
            }
            "noise" => {
                write(b"plain log line\n{\"level\":\"info\",\"message\":\"JSON log line\"}\n\n[1,2]\n");
                self.answer(id, &text("after the noise"));
            }
            "twice" => {
                self.answer(id, &text("first"));
                self.answer(id, &text("second"));
            }
            "silent" => {}
            "utf8" => {
                write(&[head.as_bytes(), b"\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}}\n"].concat())
            }
            "surrogate" => write(
                format!("{head}\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}}}\n", r"\ud800")
                    .as_bytes(),
            ),
            "deep" => {
                let depth = 1_000_000;
                write(
                    format!("{head}\"structuredContent\":{}{}}}}}\n", "[".repeat(depth), "]".repeat(depth))
                        .as_bytes(),
                );
            }
            "digits" => {
                write(format!("{head}\"structuredContent\":[{}]}}}}\n", "7".repeat(1_000_000)).as_bytes())
            }
            "broken" => {
                let words = "word ".repeat(number("items") as usize);
                write(format!("{head}\"content\":[{{\"type\":\"text\",\"text\":\"{words}\"}}\n").as_bytes());
            }
            "odd_type" => self.answer(id, &json!({"resultType": "surprise", "content": []})),
            "slow" => {
                let line = format!("{head}\"content\":[{{\"type\":\"text\",\"text\":\"slow\"}}]}}}}\n");
                for part in line.as_bytes().chunks(10) {
                    write(part);
                    thread::sleep(Duration::from_millis(number("ms")));
                }
            }
            "progress" => {
                for step in 1..=number("items") {
                    thread::sleep(Duration::from_millis(number("ms")));
                    let token = &params["_meta"]["progressToken"];
                    send(&json!({"jsonrpc": "2.0", "method": "notifications/progress",
                        "params": {"progressToken": token, "progress": step, "total": number("items"), "message": format!("step {step}")}}));
                }
                self.answer(id, &text("done"));
            }
            "sleep" => {
                thread::sleep(Duration::from_millis(number("ms")));
                self.answer(id, &text("slept"));
            }
            "change" => {
                self.changed += 1;
                self.answer(id, &text("changed"));
                send(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
            }
            "environment" => {
                let mut names: Vec<String> = env::vars().map(|(name, _)| name).collect();
                names.sort();
                self.answer(id, &text(&names.join(" ")));
            }
            "ask" => {
                if params.get("inputResponses").is_none() {
                    let pause = env::var("ASK_MS").map_or(0, |ms| ms.parse().unwrap());
                    thread::sleep(Duration::from_millis(pause));
                }
                self.ask(id, params, "elicitation/create")
            }
            "sample" => self.ask(id, params, "sampling/createMessage"),
            _ => self.fail(id, params),
        }
    }

    /// Fails a call, or answers more than it.
    fn fail(&self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        let number = |name: &str| arguments[name].as_u64().unwrap_or(0);
        let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"#);
        match params["name"].as_str().unwrap() {
            "peek" => match env::var("PEEK").unwrap().as_str() {
                "fails" => self.answer(id, &json!({"isError": true, "content": [{"type": "text", "text": "nothing to see"}]})),
                "refuses" => send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32050, "message": "not now"}})),
                _ => self.answer(id, &text("seen")),
            },
            "fail" => self.answer(id, &json!({"isError": true, "content": [{"type": "text", "text": "z".repeat(number("chars") as usize)}]})),
            "refuse" => {
                let message = format!("refused{}", "!".repeat(number("chars") as usize));
                send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32050, "message": message, "data": {"a": [1]}}}));
            }
            "stray" => {
                let words = "word ".repeat(number("items") as usize);
                send(&json!({"jsonrpc": "2.0", "id": 987_654, "result": {"content": [{"type": "text", "text": words}]}}));
                send(&json!({"jsonrpc": "2.0", "id": 987_654, "error": {"code": -1, "message": words}}));
                self.answer(id, &text("after the stray"));
            }
            "die" => {
                write(format!(r#"{head}"content":[{{"type":"text","text":"half an ans"#).as_bytes());
                eprintln!("odd server: dying");
                std::process::exit(7);
            }
            "endless" => {
                write(format!(r#"{head}"content":[{{"type":"text","text":""#).as_bytes());
                loop {
                    write(&[b'a'; 1 << 14]);
                }
            }
            other => panic!("{other}"),
        }
    }

    /// Asks the client, in the way of its era.
    fn ask(&mut self, id: &Value, params: &Value, method: &str) {
        let question = json!({"mode": "form", "message": "Your name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}});
        if !self.is_modern {
            self.asked = Some(id.clone());
            return send(&json!({"jsonrpc": "2.0", "id": "q1", "method": method, "params": question}));
        }
        match params.get("inputResponses") {
            Some(answers) => self
                .answer(id, &text(&json!({"answers": answers, "state": params["requestState"]}).to_string())),
            None => self.answer(
                id,
                &json!({
                    "resultType": "input_required",
                    "inputRequests": {"who": {"method": method, "params": question}},
                    "requestState": "opaque 1.0 é"
                }),
            ),
        }
    }
}

const TOOLS: [&str; 30] = [
    "echo",
    "params",
    "big",
    "raised",
    "last",
    "many",
    "image",
    "fail",
    "refuse",
    "stray",
    "noise",
    "twice",
    "silent",
    "endless",
    "utf8",
    "surrogate",
    "deep",
    "digits",
    "broken",
    "odd_type",
    "slow",
    "die",
    "progress",
    "sleep",
    "change",
    "environment",
    "ask",
    "sample",
    "rm -rf",
    "tool_outputs.list",
];

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// Writes a long result without holding it.
fn big(head: &str, shape: &str, items: u64) {
    let item = |number: u64| format!(r#"{{"id":{number},"name":"user {number} é","score":{number}.50}}"#);
    let mut out = io::BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let json = |out: &mut dyn Write, escaped: bool, pretty: bool| {
        let put = |out: &mut dyn Write, text: &str| {
            let text = if escaped { text.replace('"', "\\\"") } else { text.to_owned() };
            out.write_all(text.as_bytes()).unwrap_or_else(|_| std::process::exit(0));
        };
        let newline = if pretty && escaped { "\\n  " } else { "" };
        put(out, r#"{"users":["#);
        for number in 0..items {
            put(out, newline);
            put(out, &item(number));
            put(out, if number + 1 < items { "," } else { "" });
        }
        put(out, "]}");
    };
    let put = |out: &mut dyn Write, text: &str| {
        out.write_all(text.as_bytes()).unwrap_or_else(|_| std::process::exit(0))
    };
    put(&mut out, head);
    if matches!(shape, "text" | "both" | "pretty" | "nested") {
        put(&mut out, r#""content":[{"type":"text","text":""#);
        json(&mut out, true, shape == "pretty");
        put(&mut out, r#""}]"#);
    }
    match shape {
        "both" | "pretty" => {
            put(&mut out, r#","structuredContent":"#);
            json(&mut out, false, false);
        }
        "structured" => {
            put(&mut out, r#""content":[],"structuredContent":"#);
            json(&mut out, false, false);
        }
        "nested" => {
            put(&mut out, r#","structuredContent":{"content":""#);
            json(&mut out, true, false);
            put(&mut out, r#"","path":"a.json"}"#);
        }
        _ => {}
    }
    put(&mut out, "}}\n");
    out.flush().unwrap_or_else(|_| std::process::exit(0));
}
