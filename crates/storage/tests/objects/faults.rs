//! Faults on the way to an object store.

use std::fmt;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use object_store::client::{HttpError, HttpErrorKind};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use trommel_blocks::{BlockStorage, Created, ErrorClass, Key, Selection};
use trommel_session::Watch;
use trommel_storage::Secret;
use trommel_storage::objects::{Access, ObjectBlockStorage, ObjectOptions, Objects};

use crate::blocks::{numbers, read, said};

/// A store in memory that fails at every so many requests, before or after it did what it was
/// asked.
#[derive(Debug)]
struct Faulty {
    inner: InMemory,
    every: u64,
    is_after: bool,
    asked: AtomicU64,
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

impl Faulty {
    fn fails(&self) -> bool {
        (self.asked.fetch_add(1, Ordering::SeqCst) + 1).is_multiple_of(self.every)
    }

    fn failed<T>() -> Result<T> {
        let cause = HttpError::new(HttpErrorKind::Interrupted, std::io::Error::other("cut off"));
        Err(Error::Generic { store: "faulty", source: cause.into() })
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let fails = self.fails();
        if fails && !self.is_after {
            return Self::failed();
        }
        let put = self.inner.put_opts(path, payload, options).await;
        if fails { Self::failed() } else { put }
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        if self.fails() { Self::failed() } else { self.inner.get_opts(path, options).await }
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        if self.fails() { Self::failed() } else { self.inner.list_with_delimiter(prefix).await }
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

fn storage(every: u64, is_after: bool) -> ObjectBlockStorage {
    let mut options = ObjectOptions::default();
    options.retry.first = Duration::from_millis(1);
    options.retry.longest = Duration::from_millis(4);
    let store = Faulty { inner: InMemory::new(), every, is_after, asked: AtomicU64::new(0) };
    ObjectBlockStorage::new(Objects::over(Arc::new(store), None, "faulty", &options).unwrap())
}

/// R36: faults that pass lose no block and double none, even where the answer to what was done is
/// lost.
#[test]
fn r36_faults_that_pass_are_not_seen() {
    let (key, watch) = (Key::new("ada", "s").unwrap(), Watch::new());
    let blocks = (1..=40).map(|sequence| said(&key, sequence)).collect::<Vec<_>>();
    for (every, is_after) in [(3, false), (4, false), (5, true), (7, true)] {
        let storage = storage(every, is_after);
        let created = storage.create_all(&key, &blocks, &watch);
        assert_eq!(created.map_err(|error| error.to_string()), Ok(40), "every {every}, after {is_after}");
        assert_eq!(storage.create(&key, &blocks[39], &watch).unwrap(), Created::Same);
        assert_eq!(numbers(&read(&storage, &key, &Selection::default())), (1..=40).collect::<Vec<_>>());
    }
}

/// R36: faults that stay are given up, soon enough.
#[test]
fn r36_faults_that_stay_are_given_up() {
    let (key, since) = (Key::new("ada", "s").unwrap(), Instant::now());
    let error = storage(1, false).create(&key, &said(&key, 1), &Watch::new()).unwrap_err();
    assert!(
        matches!(error.class(), ErrorClass::Busy | ErrorClass::Offline | ErrorClass::Storage),
        "{error:?}"
    );
    assert!(since.elapsed() < Duration::from_secs(10));
}

/// A service that gives every request the same answer; where it listens, and how often it was
/// asked.
fn service(answer: &'static str) -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, asked) = (listener.local_addr().unwrap().port(), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            // One answer a connection: whoever asks again connects again.
            if stream.read(&mut request).is_ok_and(|bytes| bytes > 0) {
                count.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(answer.as_bytes());
            }
        }
    });
    (port, asked)
}

/// R36: a service that is busy is asked nine times, after the time it named, and one that refuses
/// is asked once.
#[test]
fn r36_answers_are_taken_at_their_word() {
    let busy = "HTTP/1.1 503 Slow Down\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let throttled = "HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let denied = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    for (answer, tries, kind, least) in [
        (busy, 3, ErrorClass::Busy, Duration::from_secs(2)),
        (throttled, 9, ErrorClass::Busy, Duration::ZERO),
        (denied, 1, ErrorClass::Denied, Duration::ZERO),
    ] {
        let (port, asked) = service(answer);
        let secret = Secret::new("opensesame");
        let mut options = ObjectOptions::new(Access::S3Key { id: "id".to_owned(), secret, token: None });
        options.endpoint = Some(format!("http://127.0.0.1:{port}"));
        options.region = Some("x".to_owned());
        (options.retry.first, options.retry.longest) = (Duration::from_millis(1), Duration::from_secs(2));
        options.retry.tries = u32::try_from(tries).unwrap();
        let storage = ObjectBlockStorage::new(Objects::open("s3://bucket/x", &options).unwrap());
        let (key, since) = (Key::new("ada", "s").unwrap(), Instant::now());
        let error = storage.create(&key, &said(&key, 2), &Watch::new()).unwrap_err();
        assert_eq!((error.class(), asked.load(Ordering::SeqCst)), (kind, tries), "{error}");
        assert!(since.elapsed() >= least, "{:?}", since.elapsed());
        assert!(!format!("{error} {error:?}").contains("opensesame"));
    }
}
