//! The transport over HTTP: connections, tokens, and the SDK's service behind them.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::runtime::{runtime, spawn};
use crate::server::{DRAIN, Server, Service, Stop};
use crate::wire::{self, RawParams};

/// The bytes of a request.
const MAX_BODY: usize = 4 << 20;

/// The connections at a time. More wait.
const MAX_CONNECTIONS: usize = 256;

/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(10);

/// The paths of the endpoint.
const PATHS: [&str; 2] = ["/mcp", "/"];

/// The settings of the transport.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The token that each request must carry, as `Authorization: Bearer TOKEN`.
    pub token: Option<String>,
    /// Host names that requests may be for, besides those of this machine.
    pub hosts: Vec<String>,
    /// Origins of web pages that may send requests, besides those of this machine.
    pub origins: Vec<String>,
}

type Body = BoxBody<Bytes, Infallible>;

/// An endpoint that is listening.
#[derive(Debug)]
pub struct Endpoint {
    listener: TcpListener,
    address: SocketAddr,
}

impl Endpoint {
    /// Listens at an address; port 0 selects a free port.
    ///
    /// # Errors
    /// Returns an error if the address is in use, or is not one of this machine.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The address of the endpoint.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, PATHS[0])
    }

    /// Serves clients until the server is stopped.
    ///
    /// # Errors
    /// Returns an error if the server cannot start.
    pub fn serve(self, service: Service, options: &HttpOptions, stop: &Stop) -> io::Result<()> {
        let runtime = runtime()?;
        let served = runtime.block_on(async {
            let server = Server::start(service).map_err(io::Error::other)?;
            let running = CancellationToken::new();
            let http = Arc::new(Http::new(&server, self.address, options, &running));
            let accepting = accept(self.listener, http);
            tokio::select! {
                result = accepting => result?,
                () = stop.stopped() => {}
            }
            running.cancel();
            // Responses in progress get their last events.
            tokio::time::sleep(Duration::from_millis(100)).await;
            let _ = tokio::time::timeout(DRAIN, server.end()).await;
            io::Result::Ok(())
        });
        runtime.shutdown_timeout(Duration::from_millis(500));
        served
    }
}

/// Accepts connections for ever.
async fn accept(listener: TcpListener, http: Arc<Http>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return Ok(()) };
        let Ok((stream, _)) = listener.accept().await else {
            // A client that left meanwhile, or too many open files: the next one may succeed.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let http = Arc::clone(&http);
        spawn(async move {
            let service = service_fn(|request| {
                let http = Arc::clone(&http);
                async move { Ok::<_, Infallible>(http.answer(request).await) }
            });
            let mut builder = hyper::server::conn::http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // A client that leaves ends its connection, and its requests.
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            drop(permit);
        });
    }
}

/// Answers requests.
struct Http {
    service: StreamableHttpService<Server, LocalSessionManager>,
    token: Option<blake3::Hash>,
}

impl Http {
    fn new(server: &Server, address: SocketAddr, options: &HttpOptions, running: &CancellationToken) -> Self {
        let server = server.clone();
        let local = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let hosts = local.into_iter().chain([address.ip().to_string()]).chain(options.hosts.iter().cloned());
        let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"].map(str::to_owned);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_allowed_origins(origins.into_iter().chain(options.origins.iter().cloned()))
            .enforce_origin_validation()
            .with_max_request_body_bytes(MAX_BODY)
            .with_sse_retry(None)
            .with_cancellation_token(running.clone());
        let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config);
        Self { service, token: options.token.as_ref().map(|token| blake3::hash(token.as_bytes())) }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if !PATHS.contains(&request.uri().path()) {
            return plain(StatusCode::NOT_FOUND, "the endpoint is /mcp");
        }
        if !self.is_authorized(request.headers()) {
            let mut response = plain(StatusCode::UNAUTHORIZED, "a valid token is missing");
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
            return response;
        }
        let (mut head, body) = request.into_parts();
        let body = match Limited::new(body, MAX_BODY).collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => {
                return plain(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "the request is longer than 4 MiB, or was not complete",
                );
            }
        };
        if let Some(params) = params(&body) {
            head.extensions.insert(params);
        }
        let ends_session = head.method == Method::DELETE;
        let mut response = self.service.handle(Request::from_parts(head, Full::new(body))).await;
        // The session has ended by now. Some clients take "accepted" for a failure.
        if ends_session && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        verbatim(response).await
    }

    /// Compares hashes, which takes the same time whatever the token.
    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(expected) = self.token else { return true };
        let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.and_then(|value| value.strip_prefix("Bearer "));
        token.is_some_and(|token| blake3::hash(token.trim().as_bytes()) == expected)
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

/// The parameters of a request, verbatim.
fn params(body: &[u8]) -> Option<RawParams> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        params: Option<&'a RawValue>,
    }
    let Envelope { params } = serde_json::from_slice(body).ok()?;
    Some(RawParams(params?.to_owned().into()))
}

/// Replaces typed results by their text, in a response or in the events of a stream.
async fn verbatim(response: Response<Body>) -> Response<Body> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    if kind.starts_with("text/event-stream") {
        return response.map(|body| body.map_frame(event).boxed());
    }
    if !kind.starts_with("application/json") {
        return response;
    }
    let (head, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    let body = body.to_bytes();
    let restored = std::str::from_utf8(&body).ok().and_then(wire::restore);
    Response::from_parts(head, Full::new(restored.map_or(body, Bytes::from)).boxed())
}

/// Replaces the typed results in a frame. The SDK writes an event per frame, and its data in one
/// line.
fn event(frame: Frame<Bytes>) -> Frame<Bytes> {
    let Some(text) = frame.data_ref().and_then(|data| std::str::from_utf8(data).ok()) else { return frame };
    let mut is_changed = false;
    let lines = text.split('\n').map(|line| {
        let restored = line.strip_prefix("data:").and_then(|data| wire::restore(data.trim()));
        is_changed |= restored.is_some();
        restored.map_or_else(|| line.to_owned(), |message| format!("data: {message}"))
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    if is_changed { Frame::data(Bytes::from(lines)) } else { frame }
}
