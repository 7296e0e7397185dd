//! Tests with the emulator from npm, over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel_blocks::{BlockStorage, Created, ErrorClass, Key, Selection};
use trommel_session::Watch;
use trommel_storage::Secret;
use trommel_storage::cosmos::{CosmosBlockStorage, CosmosOptions, Credential};

use crate::blocks::{numbers, read, said};
use crate::support::{KEY, options};
use crate::{container, contract};

/// A running emulator, which ends when this is dropped.
pub(crate) struct Node {
    child: Child,
    port: u16,
    /// The port of the server that issues tokens of a managed identity.
    identity: u16,
}

impl Node {
    /// Starts the emulator. Returns `None` with a message on standard error if `TROMMEL_EMULATORS`
    /// is not set.
    #[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
    pub(crate) fn start() -> Option<Self> {
        let Some(folder) = std::env::var_os("TROMMEL_EMULATORS") else {
            eprintln!(
                "NOT RUN: Cosmos DB by the emulator from npm; set TROMMEL_EMULATORS to a folder with @vercel/cosmosdb-server@1.0.1"
            );
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cosmos/emulator.cjs");
        let mut child = Command::new("node")
            .arg(script)
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node should start");
        let out = child.stdout.take().unwrap();
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        let port = |name: &str| {
            let line =
                receive.recv_timeout(Duration::from_secs(20)).expect("the emulator should start within 20 s");
            line.strip_prefix(name)
                .expect("the line should start with the name of the port")
                .trim()
                .parse::<u16>()
                .unwrap()
        };
        let (identity, port) = (port("identity"), port("listening"));
        Some(Self { child, port, identity })
    }

    fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Returns a storage whose database and container exist.
    pub(crate) fn prepared(&self, change: impl FnOnce(&mut CosmosOptions)) -> CosmosBlockStorage {
        let mut options = options(&self.endpoint());
        change(&mut options);
        let storage = CosmosBlockStorage::new(options).unwrap();
        storage.prepare(&Watch::new()).unwrap();
        storage
    }

    /// Configures the emulator if `commands` is given, and returns its statistics otherwise.
    fn shim(&self, commands: Option<&Value>) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let body = commands.map(Value::to_string).unwrap_or_default();
        let method = if commands.is_some() { "POST" } else { "GET" };
        let head = format!(
            "{method} /_shim HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    fn faults(&self, faults: &Value) {
        self.shim(Some(&json!({ "faults": faults })));
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn meets_the_contract_over_http() {
    let Some(node) = Node::start() else { return };
    let storage = node.prepared(|options| options.page = 50);
    // Preparing a second time changes nothing.
    storage.prepare(&Watch::new()).unwrap();
    assert!(storage.is_writable());
    contract::all(&storage, &node.prepared(|options| options.page = 50));
    container::all(&storage);
    let key = Key::new("ada", "s-timed").unwrap();
    let since = Instant::now();
    for sequence in 1..=50 {
        assert_eq!(storage.create(&key, &said(&key, sequence), &Watch::new()).unwrap(), Created::New);
    }
    println!("measured: {:.1} ms a block, npm emulator", since.elapsed().as_secs_f64() * 20.0);
    let stats = node.shim(None);
    // The emulator verified the signature of each request with its own implementation.
    assert!(stats["signatures"].as_u64().unwrap() > 300, "{stats}");
    assert_eq!(stats["rejected"], 0, "{stats}");
    assert_eq!(stats["batches"], 2, "each storage remembers that batches are not supported: {stats}");
}

#[test]
fn denied_requests_do_not_show_the_key() {
    let Some(node) = Node::start() else { return };
    node.prepared(|_| {});
    let wrong_key = "AAAA".to_owned() + &KEY[4..];
    let storage = CosmosBlockStorage::new(CosmosOptions::new(
        node.endpoint(),
        Credential::Key(Secret::new(wrong_key.clone())),
    ))
    .unwrap();
    let key = Key::new("u", "s").unwrap();
    let error = storage.head(&key, &Watch::new()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Denied, "{error}");
    assert!(!format!("{error:?}").contains(&wrong_key[..12]), "{error}");
    // The correct key is read from a connection string.
    let text = format!("AccountEndpoint={};AccountKey={KEY};", node.endpoint());
    let named = CosmosOptions::new("", Credential::ConnectionString(Secret::new(text)));
    assert!(CosmosBlockStorage::new(named).unwrap().head(&key, &Watch::new()).unwrap().is_none());
    // A wrong local clock is reported as such.
    let storage = node.prepared(|_| {});
    let clock_error = "The authorization token is not valid at the current time.";
    node.faults(&json!([{ "on": "query", "times": 1, "status": 403, "message": clock_error }]));
    let error = storage.head(&key, &Watch::new()).unwrap_err();
    assert!(error.class() == ErrorClass::Denied && error.to_string().contains("set the clock"), "{error}");
}

#[test]
fn a_missing_database_is_not_found() {
    let Some(node) = Node::start() else { return };
    let storage = CosmosBlockStorage::new(options(&node.endpoint())).unwrap();
    let error = storage.head(&Key::new("u", "s").unwrap(), &Watch::new()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotFound, "{error}");
}

/// R36: transient faults neither lose nor duplicate blocks, and no request is made more than nine
/// times.
#[test]
fn r36_faults_over_http_lose_and_duplicate_nothing() {
    let Some(node) = Node::start() else { return };
    let storage = node.prepared(|options| options.attempt_timeout = Duration::from_secs(2));
    let (key, watch) = (Key::new("ada", "s-faults").unwrap(), Watch::new());
    storage.create(&key, &said(&key, 1), &watch).unwrap();
    let faults = [
        json!({ "times": 4, "status": 429, "wait": 20 }),
        json!({ "times": 4, "status": 503 }),
        json!({ "times": 4, "status": 500 }),
        json!({ "times": 4, "status": 449 }),
        json!({ "times": 4, "status": 408 }),
        json!({ "times": 3, "drop": true }),
        json!({ "times": 3, "dropAfter": true }),
        json!({ "times": 1, "delay": 3_000 }),
    ];
    let mut sequence = 1;
    for fault in &faults {
        sequence += 1;
        node.faults(&json!([fault]));
        let created = storage
            .create(&key, &said(&key, sequence), &watch)
            .unwrap_or_else(|error| panic!("{fault}: {error}"));
        assert!(created != Created::Taken, "{fault}");
        assert_eq!(
            created == Created::Same,
            fault["dropAfter"] == json!(true) || fault["delay"].is_u64(),
            "{fault}"
        );
        assert!(node.shim(None)["writes"].as_u64().unwrap() <= 9, "{fault}: {}", node.shim(None));
    }
    // A read resumes where it failed.
    node.faults(&json!([{ "on": "query", "times": 3, "status": 503 }]));
    assert_eq!(numbers(&read(&storage, &key, &Selection::default())), (1..=sequence).collect::<Vec<_>>());
}

/// R36: a persistent fault is reported with its class after at most nine attempts.
#[test]
fn r36_gives_up_on_persistent_faults() {
    let Some(node) = Node::start() else { return };
    let storage = node.prepared(|_| {});
    let (key, watch) = (Key::new("ada", "s-endless").unwrap(), Watch::new());
    let faults = [
        (json!({ "times": 99, "status": 429, "wait": 5 }), ErrorClass::Busy),
        (json!({ "times": 99, "status": 503 }), ErrorClass::Storage),
        (json!({ "times": 99, "status": 500 }), ErrorClass::Storage),
        (json!({ "times": 99, "drop": true }), ErrorClass::Offline),
    ];
    for (fault, class) in &faults {
        node.faults(&json!([fault]));
        let error = storage.create(&key, &said(&key, 1), &watch).unwrap_err();
        assert_eq!(error.class(), *class, "{fault}: {error}");
        let writes = node.shim(None)["writes"].as_u64().unwrap();
        println!("measured: {writes} requests for {fault}");
        assert!(writes <= 9, "{fault}: {writes}");
    }
    // A requested delay beyond the retry limit fails at once.
    node.faults(&json!([{ "times": 99, "status": 429, "wait": 120_000 }]));
    let since = Instant::now();
    assert_eq!(storage.create(&key, &said(&key, 1), &watch).unwrap_err().class(), ErrorClass::Busy);
    assert!(since.elapsed() < Duration::from_secs(5));
    node.faults(&json!([]));
    assert!(read(&storage, &key, &Selection::default()).is_empty());
}

#[test]
fn reads_the_line_layout_over_http() {
    let Some(node) = Node::start() else { return };
    let seed = json!({ "database": "amplifier-db", "container": "session_data", "path": "/partition_key", "documents": container::line_documents() });
    node.shim(Some(&json!({ "seed": seed })));
    let mut options = options(&node.endpoint());
    "session_data".clone_into(&mut options.container);
    options.page = 2;
    container::reads_the_line_layout(&CosmosBlockStorage::new(options).unwrap());
}

/// The test sets environment variables, which belong to the whole process. It therefore runs itself
/// in a process of its own.
#[test]
fn authenticates_with_a_managed_identity() {
    const INNER: &str = "TROMMEL_COSMOS_IDENTITY";
    if let Some(endpoint) = std::env::var_os(INNER) {
        let credential = Credential::ManagedIdentity { client_id: Some("the-client".to_owned()) };
        let mut options = options(endpoint.to_str().unwrap());
        options.credential = credential;
        let storage = CosmosBlockStorage::new(options).unwrap();
        let key = Key::new("ada", "s-identity").unwrap();
        match storage.create(&key, &said(&key, 1), &Watch::new()) {
            Ok(created) => println!("created {created:?}"),
            Err(error) => println!("error {:?} {error}", error.class()),
        }
        return;
    }
    let Some(node) = Node::start() else { return };
    node.prepared(|_| {});
    let run = |node: &Node| {
        let out = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "node::authenticates_with_a_managed_identity", "--nocapture"])
            .env(INNER, node.endpoint())
            .env("IDENTITY_ENDPOINT", format!("http://127.0.0.1:{}/token", node.identity))
            .env("IDENTITY_HEADER", "the-header")
            .output()
            .unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    node.shim(Some(&json!({ "tokens": false })));
    let output = run(&node);
    assert!(output.contains("error Denied"), "{output}");
    assert!(!output.contains("token-of-the-loopback"), "{output}");
    node.shim(Some(&json!({ "tokens": true })));
    let output = run(&node);
    assert!(output.contains("created New"), "{output}");
    let stats = node.shim(None);
    assert!(
        stats["tokens"].as_u64().unwrap() > 0 && stats["identities"][0]["header"] == "the-header",
        "{stats}"
    );
    assert!(stats["identities"][0]["url"].as_str().unwrap().contains("the-client"), "{stats}");
}
