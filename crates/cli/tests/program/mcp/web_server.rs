//! A server over HTTP that answers as a test says.

#![expect(clippy::needless_pass_by_value, reason = "results are written in the call")]

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) http: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
}

/// An answer.
pub(super) enum Answer {
    /// A status line, further headers, and a body of a known length.
    Whole(&'static str, Vec<(&'static str, String)>, String),
    /// Events, written as they come, until the connection closes.
    Events(Box<dyn FnOnce(&mut Stream) + Send>),
    /// The connection is closed.
    Nothing,
}

/// The stream of an answer.
pub(super) struct Stream(TcpStream);

/// A server that runs until the test ends.
pub(super) struct Site {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or("")
    }

    /// The message that answers with a result.
    pub(super) fn result(&self, result: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    /// The answer with a result of a text.
    pub(super) fn text(&self, text: &str) -> Value {
        self.result(json!({"resultType": "complete", "content": [{"type": "text", "text": text}]}))
    }

    fn read(reader: &mut impl BufRead) -> io::Result<Self> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let http = lines.remove(0);
        let pairs = lines.iter().filter_map(|line| line.split_once(": "));
        let headers: Vec<(String, String)> = pairs.map(|(name, value)| (name.into(), value.into())).collect();
        let mut request = Self { http, headers, body: Value::Null };
        let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        request.body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Ok(request)
    }
}

impl Answer {
    pub(super) fn json(message: &Value) -> Self {
        Self::Whole("200 OK", vec![("Content-Type", "application/json".into())], message.to_string())
    }

    pub(super) fn status(status: &'static str) -> Self {
        Self::Whole(status, Vec::new(), String::new())
    }

    pub(super) fn events(write: impl FnOnce(&mut Stream) + Send + 'static) -> Self {
        Self::Events(Box::new(write))
    }

    /// Writes the answer. Returns true if the connection stays open.
    fn write(self, stream: &mut TcpStream) -> bool {
        match self {
            Self::Whole(status, headers, body) => {
                let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len());
                for (name, value) in headers {
                    head = format!("{head}{name}: {value}\r\n");
                }
                stream.write_all(format!("{head}\r\n{body}").as_bytes()).is_ok()
            }
            Self::Events(write) => {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
                if stream.write_all(head.as_bytes()).is_ok() {
                    write(&mut Stream(stream.try_clone().unwrap()));
                }
                false
            }
            Self::Nothing => false,
        }
    }
}

impl Stream {
    /// Writes text, and returns false if the client has closed the stream.
    pub(super) fn write(&mut self, text: &str) -> bool {
        self.0.write_all(text.as_bytes()).and_then(|()| self.0.flush()).is_ok()
    }

    pub(super) fn event(&mut self, message: &Value) -> bool {
        self.write(&format!("event: message\ndata: {message}\n\n"))
    }

    /// Waits until the client closes the stream.
    pub(super) fn wait_for_close(&mut self) {
        for _ in 0..2_000 {
            if !self.write(": still here\n\n") {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("the client did not close the stream");
    }
}

impl Site {
    /// Starts a server. Each request is answered on the thread of its connection.
    pub(super) fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (all, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, all, answer) = (stream.unwrap(), Arc::clone(&all), Arc::clone(&answer));
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    while let Ok(request) = Request::read(&mut reader) {
                        all.lock().unwrap().push(request.clone());
                        if !answer(&request).write(&mut stream) {
                            return;
                        }
                    }
                });
            }
        });
        Self { url, requests }
    }

    /// The requests so far with a method of the protocol, or of HTTP.
    pub(super) fn requests(&self, method: &str) -> Vec<Request> {
        let requests = self.requests.lock().unwrap();
        let is = |one: &&Request| one.method() == method || one.http.starts_with(method);
        requests.iter().filter(is).cloned().collect()
    }

    /// Waits for a request.
    pub(super) fn wait_for(&self, method: &str) -> Request {
        for _ in 0..2_000 {
            if let Some(request) = self.requests(method).pop() {
                return request;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("no {method}");
    }
}
