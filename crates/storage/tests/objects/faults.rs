//! Faults of the connection to an object store.

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

/// A store in memory that fails at every n-th request.
#[derive(Debug)]
struct Faulty {
    inner: InMemory,
    /// The interval of failures, in requests.
    every: u64,
    /// True if a failing request takes effect before it fails.
    is_after: bool,
    requests: AtomicU64,
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

impl Faulty {
    fn fails(&self) -> bool {
        (self.requests.fetch_add(1, Ordering::SeqCst) + 1).is_multiple_of(self.every)
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
    options.retry.max_pause = Duration::from_millis(4);
    let store = Faulty { inner: InMemory::new(), every, is_after, requests: AtomicU64::new(0) };
    ObjectBlockStorage::new(Objects::over(Arc::new(store), None, "faulty", &options).unwrap())
}

/// R36: transient faults neither lose nor duplicate blocks, even where only the response is lost.
#[test]
fn r36_transient_faults_are_hidden() {
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

/// R36: persistent faults are reported within seconds.
#[test]
fn r36_persistent_faults_are_reported() {
    let (key, since) = (Key::new("ada", "s").unwrap(), Instant::now());
    let error = storage(1, false).create(&key, &said(&key, 1), &Watch::new()).unwrap_err();
    assert!(
        matches!(error.class(), ErrorClass::Busy | ErrorClass::Offline | ErrorClass::Storage),
        "{error:?}"
    );
    assert!(since.elapsed() < Duration::from_secs(10));
}

/// Starts a service that sends the same response to every request. Returns its port and the count
/// of requests.
fn service(response: &'static str) -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, requests) = (listener.local_addr().unwrap().port(), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&requests);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            // Each connection gets one response, so a retry connects again.
            if stream.read(&mut request).is_ok_and(|bytes| bytes > 0) {
                count.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(response.as_bytes());
            }
        }
    });
    (port, requests)
}

/// R36: a busy service is retried after the delay that it requests, and a denial is not retried.
#[test]
fn r36_retries_busy_services_but_not_denials() {
    let busy = "HTTP/1.1 503 Slow Down\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let throttled = "HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let denied = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    for (response, attempts, class, min_delay) in [
        (busy, 3, ErrorClass::Busy, Duration::from_secs(2)),
        (throttled, 9, ErrorClass::Busy, Duration::ZERO),
        (denied, 1, ErrorClass::Denied, Duration::ZERO),
    ] {
        let (port, requests) = service(response);
        let secret = Secret::new("opensesame");
        let mut options = ObjectOptions::new(Access::S3Key { id: "id".to_owned(), secret, token: None });
        options.endpoint = Some(format!("http://127.0.0.1:{port}"));
        options.region = Some("x".to_owned());
        (options.retry.first, options.retry.max_pause) = (Duration::from_millis(1), Duration::from_secs(2));
        options.retry.attempts = u32::try_from(attempts).unwrap();
        let storage = ObjectBlockStorage::new(Objects::open("s3://bucket/x", &options).unwrap());
        let (key, since) = (Key::new("ada", "s").unwrap(), Instant::now());
        let error = storage.create(&key, &said(&key, 2), &Watch::new()).unwrap_err();
        assert_eq!((error.class(), requests.load(Ordering::SeqCst)), (class, attempts), "{error}");
        assert!(since.elapsed() >= min_delay, "{:?}", since.elapsed());
        assert!(!format!("{error} {error:?}").contains("opensesame"));
    }
}
