//! Services that refuse a conditional write with status 412 or 409, even while no object exists.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use trommel_blocks::{BlockStorage, Created, ErrorClass, Key, Result};
use trommel_session::Watch;
use trommel_storage::Secret;
use trommel_storage::objects::{Access, ObjectBlockStorage, ObjectOptions, Objects};

use crate::blocks::{block, said};

/// A service with one object.
struct Service {
    /// The status of a refused creation.
    status: &'static str,
    /// The number of creations that are refused.
    times: u64,
    /// The content of the object, if it exists.
    object: Option<Vec<u8>>,
}

impl Service {
    /// Starts the service. Returns its port and the count of creation requests.
    fn start(mut self) -> (u16, Arc<AtomicU64>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, creations) = (listener.local_addr().unwrap().port(), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&creations);
        thread::spawn(move || {
            // Each connection gets one response, so a retry connects again.
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let (head, body) = request(&mut stream);
                let response = self.respond(&head, body, &count);
                // The client may have given up.
                let _ = stream.write_all(&response);
            }
        });
        (port, creations)
    }

    fn respond(&mut self, head: &str, body: Vec<u8>, creations: &AtomicU64) -> Vec<u8> {
        if !head.starts_with("PUT") {
            return match &self.object {
                Some(object) => response("200 OK", "", object),
                None => {
                    response("404 Not Found", "x-ms-error-code: BlobNotFound\r\n", b"<Code>NoSuchKey</Code>")
                }
            };
        }
        assert!(head.to_ascii_lowercase().contains("if-none-match: *"), "{head}");
        if creations.fetch_add(1, Ordering::SeqCst) < self.times {
            return response(self.status, "", b"<Code>ConditionalRequestConflict</Code>");
        }
        self.object = Some(body);
        response("201 Created", "", b"")
    }
}

fn response(status: &str, header: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{header}ETag: \"1\"\r\nLast-Modified: Tue, 24 Nov 2026 00:00:00 GMT\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Reads a request: its head and its body. The body is empty if the client closes the connection
/// early.
fn request(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lower = head.to_ascii_lowercase();
            let length =
                lower.split_once("content-length: ").and_then(|(_, rest)| rest.lines().next()?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return (head.to_owned(), body.as_bytes().to_vec());
            }
        }
        match stream.read(&mut part) {
            Ok(count) if count > 0 => bytes.extend_from_slice(&part[..count]),
            _ => return (text, Vec::new()),
        }
    }
}

/// Opens the same service once as S3 and once as Azure.
fn s3_and_azure(port: u16) -> [ObjectBlockStorage; 2] {
    let s3 = Access::S3Key { id: "id".to_owned(), secret: Secret::new("opensesame"), token: None };
    let azure = Access::AzureKey(Secret::new("b3BlbnNlc2FtZQ=="));
    [("s3://bucket/x", s3), ("az://container/x", azure)].map(|(url, access)| {
        let mut options = ObjectOptions::new(access);
        options.endpoint = Some(format!("http://127.0.0.1:{port}"));
        (options.region, options.account) = (Some("x".to_owned()), Some("account".to_owned()));
        (options.retry.first, options.retry.max_pause) = (Duration::from_millis(1), Duration::from_millis(4));
        ObjectBlockStorage::new(Objects::open(url, &options).unwrap())
    })
}

fn key() -> Key {
    Key::new("ada", "s").unwrap()
}

/// Creates a block with each kind of service. Returns the results, each with its number of
/// requests.
fn create_in_each(
    status: &'static str,
    times: u64,
    existing: Option<&trommel_blocks::Block>,
) -> [(Result<Created>, u64); 2] {
    [0, 1].map(|index| {
        let object = existing.map(|block| serde_json::to_vec(block).unwrap());
        let (port, creations) = Service { status, times, object }.start();
        let created = s3_and_azure(port)[index].create(&key(), &said(&key(), 2), &Watch::new());
        (created, creations.load(Ordering::SeqCst))
    })
}

const REFUSALS: [&str; 2] = ["412 Precondition Failed", "409 Conflict"];

/// R36: after a refusal with either status, the existing block is compared. An equal block was
/// created by an earlier attempt; a different one is kept.
#[test]
fn r36_compares_the_existing_block_after_412_and_409() {
    let other = block(&key(), 2, "message", &serde_json::json!({ "role": "user", "content": "theirs" }));
    for status in REFUSALS {
        for (existing, expected) in [(said(&key(), 2), Created::Same), (other.clone(), Created::Taken)] {
            for (created, creations) in create_in_each(status, u64::MAX, Some(&existing)) {
                assert_eq!((created.unwrap(), creations), (expected, 1), "{status}");
            }
        }
    }
}

/// R36: a refusal is retried if no block exists, as after two concurrent requests of which the
/// service kept neither.
#[test]
fn r36_retries_a_refusal_without_an_existing_block() {
    for status in REFUSALS {
        for (created, creations) in create_in_each(status, 2, None) {
            assert_eq!((created.unwrap(), creations), (Created::New, 3), "{status}");
        }
    }
}

/// R36: a persistent refusal is reported after nine attempts.
#[test]
fn r36_gives_up_on_persistent_refusals() {
    for status in REFUSALS {
        for (created, creations) in create_in_each(status, u64::MAX, None) {
            assert_eq!((created.unwrap_err().class(), creations), (ErrorClass::Busy, 9), "{status}");
        }
    }
}
