//! Services that refuse to create what may be there: by 412, by 409, and where nothing is there
//! after all.

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

/// A service with one object: what it says so many times to whoever creates it, and what is there.
struct Service {
    status: &'static str,
    times: u64,
    kept: Option<Vec<u8>>,
}

impl Service {
    /// Where it listens, and how often it was asked to create.
    fn start(mut self) -> (u16, Arc<AtomicU64>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, creations) = (listener.local_addr().unwrap().port(), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&creations);
        thread::spawn(move || {
            // One answer a connection: whoever asks again connects again.
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let (head, body) = request(&mut stream);
                let answer = self.answer(&head, body, &count);
                // Whoever gave up does not listen.
                let _ = stream.write_all(&answer);
            }
        });
        (port, creations)
    }

    fn answer(&mut self, head: &str, body: Vec<u8>, creations: &AtomicU64) -> Vec<u8> {
        if !head.starts_with("PUT") {
            return match &self.kept {
                Some(kept) => answer("200 OK", "", kept),
                None => {
                    answer("404 Not Found", "x-ms-error-code: BlobNotFound\r\n", b"<Code>NoSuchKey</Code>")
                }
            };
        }
        assert!(head.to_ascii_lowercase().contains("if-none-match: *"), "{head}");
        if creations.fetch_add(1, Ordering::SeqCst) < self.times {
            return answer(self.status, "", b"<Code>ConditionalRequestConflict</Code>");
        }
        self.kept = Some(body);
        answer("201 Created", "", b"")
    }
}

fn answer(status: &str, header: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{header}ETag: \"1\"\r\nLast-Modified: Tue, 24 Nov 2026 00:00:00 GMT\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// What is asked, and what is sent with it. Nothing where the other side ends before.
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

/// The same service as one that speaks like S3, and like Azure.
fn both(port: u16) -> [ObjectBlockStorage; 2] {
    let s3 = Access::S3Key { id: "id".to_owned(), secret: Secret::new("opensesame"), token: None };
    let azure = Access::AzureKey(Secret::new("b3BlbnNlc2FtZQ=="));
    [("s3://bucket/x", s3), ("az://container/x", azure)].map(|(url, access)| {
        let mut options = ObjectOptions::new(access);
        options.endpoint = Some(format!("http://127.0.0.1:{port}"));
        (options.region, options.account) = (Some("x".to_owned()), Some("account".to_owned()));
        (options.retry.first, options.retry.longest) = (Duration::from_millis(1), Duration::from_millis(4));
        ObjectBlockStorage::new(Objects::open(url, &options).unwrap())
    })
}

fn key() -> Key {
    Key::new("ada", "s").unwrap()
}

/// What comes of creating a block, in how many requests, with a service of each kind.
fn created(
    status: &'static str,
    times: u64,
    kept: Option<&trommel_blocks::Block>,
) -> [(Result<Created>, u64); 2] {
    [0, 1].map(|kind| {
        let kept = kept.map(|block| serde_json::to_vec(block).unwrap());
        let (port, creations) = Service { status, times, kept }.start();
        let made = both(port)[kind].create(&key(), &said(&key(), 2), &Watch::new());
        (made, creations.load(Ordering::SeqCst))
    })
}

const REFUSALS: [&str; 2] = ["412 Precondition Failed", "409 Conflict"];

/// R36: that something is there is understood, however it is said: the same block was created
/// before, another one stays.
#[test]
fn r36_what_is_there_is_compared_after_412_and_409() {
    let other = block(&key(), 2, "message", &serde_json::json!({ "role": "user", "content": "theirs" }));
    for status in REFUSALS {
        for (kept, expected) in [(said(&key(), 2), Created::Same), (other.clone(), Created::Taken)] {
            for (made, creations) in created(status, u64::MAX, Some(&kept)) {
                assert_eq!((made.unwrap(), creations), (expected, 1), "{status}");
            }
        }
    }
}

/// R36: a service that refuses for now, as it had two requests at once and kept neither, is asked
/// again.
#[test]
fn r36_a_refusal_with_nothing_there_is_tried_again() {
    for status in REFUSALS {
        for (made, creations) in created(status, 2, None) {
            assert_eq!((made.unwrap(), creations), (Created::New, 3), "{status}");
        }
    }
}

/// R36: and given up after nine tries.
#[test]
fn r36_refusals_without_an_end_are_given_up() {
    for status in REFUSALS {
        for (made, creations) in created(status, u64::MAX, None) {
            assert_eq!((made.unwrap_err().class(), creations), (ErrorClass::Busy, 9), "{status}");
        }
    }
}
