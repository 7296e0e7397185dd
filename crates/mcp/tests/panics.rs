//! Panics of a tool are results, and the server continues.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel_mcp::{Host, Service, Stop, serve};
use trommel_store::{Store, StoreOptions};
use trommel_tool::{Failure, Function, Metadata, Output, Permissions, Registry};

/// A client of a server with one tool that panics, and one that does not.
struct Client {
    stream: UnixStream,
    lines: std::io::Lines<BufReader<UnixStream>>,
    number: u64,
}

impl Client {
    fn start(store: Arc<Store>) -> (Self, thread::JoinHandle<()>) {
        let registry = Registry::new();
        let schema = || json!({"type": "object", "properties": {}, "additionalProperties": false});
        let panicking = Metadata::new("explode", "Panics", schema());
        registry
            .register(Function::new(panicking, |_| -> Result<Output, Failure> { panic!("injected") }))
            .unwrap();
        let fine = Metadata::new("fine", "Answers", schema());
        registry.register(Function::new(fine, |_| Ok(Output::text("fine")))).unwrap();
        let host = Host {
            registry: Arc::new(registry),
            store,
            working_dir: ".".into(),
            timeout: Duration::from_secs(10),
            permissions: Permissions::NONE,
            destinations: None,
        };
        let (ours, theirs) = UnixStream::pair().unwrap();
        let reader = BufReader::new(theirs.try_clone().unwrap());
        let serving = thread::spawn(move || serve(Service::new(host), reader, theirs, &Stop::new()).unwrap());
        let lines = BufReader::new(ours.try_clone().unwrap()).lines();
        (Self { stream: ours, lines, number: 0 }, serving)
    }

    fn call(&mut self, name: &str) -> Value {
        self.number += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": name, "arguments": {}, "_meta": meta});
        let request = json!({"jsonrpc": "2.0", "id": self.number, "method": "tools/call", "params": params});
        writeln!(self.stream, "{request}").unwrap();
        let answer: Value = serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], self.number, "{answer}");
        answer["result"].clone()
    }
}

/// R14: the next call is served within a second.
#[test]
fn r14_panics_of_a_tool_are_results() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(folder.path().join("store"), StoreOptions::default()).unwrap());
    let (mut client, serving) = Client::start(store);
    for _ in 0..3 {
        let failed = client.call("explode");
        let text = failed["content"][0]["text"].as_str().unwrap();
        assert!(failed["isError"] == true && text.contains("injected"), "{failed}");
        let start = Instant::now();
        assert_eq!(client.call("fine")["content"][0]["text"], "fine");
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    }
    drop(client);
    serving.join().unwrap();
}
