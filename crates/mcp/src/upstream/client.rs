//! The client of one server: connections and requests.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rmcp::model::{
    CancelledNotificationParam, ClientNotification, ClientRequest, CustomRequest, ErrorData, GetExtensions,
    ProgressToken, ProtocolVersion, RequestId, ServerResult,
};
use rmcp::service::{
    ClientLifecycleMode, Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use tokio::sync::{mpsc, watch};
use trommel_store::Store;

use super::calls::{Calls, Outgoing, Reply, Waiting};
use super::changes::{Changes, ListChange};
use super::config::{Endpoint, ServerConfig};
use super::handler::{Handler, Question, Route};
use super::line::Messages;
use super::link::Link;
use super::log::ServerLog;
use super::pipe::Pipe;
use super::process::Process;
use super::web::{Address, Site, Web};
use crate::progress::Report;

/// The member of an error's data if the request was not handled, and can be sent again.
pub(crate) const RETRY: &str = "retry";

/// How long a server may take to start.
const START: Duration = Duration::from_mins(1);

/// The pause before a server that ended is started again; doubled with each failure.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long the rest of a result may take to be removed when a server is stopped.
const STORED: Duration = Duration::from_secs(1);

/// A server that ran this long starts again without a pause.
const STABLE: Duration = Duration::from_secs(10);

/// The limits of requests to all servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The time without progress.
    pub(crate) timeout: Duration,
    /// The time in all.
    pub(crate) total: Option<Duration>,
    /// The bytes of a message.
    pub(crate) max_bytes: u64,
}

/// The way in which a connection is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lifecycle {
    /// As a newer one, or as an older one if the server does not answer at once.
    Probe,
    /// As a newer one: the server answered, but late.
    Modern,
}

impl Lifecycle {
    fn mode(self) -> ClientLifecycleMode {
        let mut versions = ProtocolVersion::KNOWN_VERSIONS.to_vec();
        versions.reverse();
        match self {
            Self::Probe => ClientLifecycleMode::Auto { preferred_versions: versions, legacy_version: None },
            Self::Modern => ClientLifecycleMode::Discover { preferred_versions: versions },
        }
    }
}

/// The reason why a request has no result.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// The server refused it.
    Refused(ErrorData),
    /// The server cannot be reached, ended, or did not answer. The message names it.
    Failed(String),
}

impl std::fmt::Display for RequestError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(error) => f.write_str(&error.message),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// A server that is started when it is first needed, and again when it ended.
pub(crate) struct Upstream {
    pub(crate) config: ServerConfig,
    pub(crate) log: ServerLog,
    limits: Limits,
    store: Arc<Store>,
    changes: Changes,
    state: tokio::sync::Mutex<State>,
}

/// The state of the connection.
struct State {
    connection: Option<Arc<Connection>>,
    started: Instant,
    failures: u32,
    /// The reason of the last failure.
    why: String,
}

/// A connection to a running server.
pub(crate) struct Connection {
    /// Dropped before the process: it closes its input.
    service: RunningService<RoleClient, Handler>,
    calls: Calls,
    handler: Handler,
    server: Running,
}

/// A server that runs.
enum Running {
    Process(Process, Option<JoinHandle<()>>),
    Web(Arc<Site>),
}

/// Ends the process, or the connections.
impl Drop for Running {
    fn drop(&mut self) {
        match self {
            Self::Process(process, reading) => {
                process.end();
                // An unfinished output is removed before this program can end. A process that left
                // the group may still hold the pipe.
                let deadline = Instant::now() + STORED;
                while reading.as_ref().is_some_and(|reading| !reading.is_finished())
                    && Instant::now() < deadline
                {
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
            Self::Web(site) => site.close(),
        }
    }
}

/// A request that is in progress.
pub(crate) struct Pending {
    response: Pin<Box<dyn Future<Output = Result<ServerResult, ServiceError>> + Send>>,
    questions: mpsc::Receiver<Question>,
    waiting: Option<Waiting>,
    /// The connection, until the response is there.
    connection: Option<Arc<Connection>>,
    id: RequestId,
    token: ProgressToken,
    log: ServerLog,
}

/// The next step of a request.
pub(crate) enum Step {
    Done(Result<Reply, RequestError>),
    Question(Question),
}

impl Upstream {
    pub(crate) fn new(
        config: ServerConfig,
        limits: Limits,
        store: &Arc<Store>,
        changes: mpsc::UnboundedSender<(String, ListChange)>,
    ) -> Self {
        let log = ServerLog::new(&config.name);
        let changes = Changes::new(&config.name, changes);
        let state = State { connection: None, started: Instant::now(), failures: 0, why: String::new() };
        let state = tokio::sync::Mutex::new(state);
        Self { config, log, limits, store: Arc::clone(store), changes, state }
    }

    /// Returns the connection, and starts the server if it does not run.
    pub(crate) async fn connect(&self) -> Result<Arc<Connection>, RequestError> {
        let mut state = self.state.lock().await;
        if let Some(connection) = &state.connection {
            if !connection.service.is_transport_closed() {
                return Ok(Arc::clone(connection));
            }
            let reason = connection.reason(&self.log).await;
            state.connection = None;
            state.failures = if state.started.elapsed() < STABLE { state.failures + 1 } else { 0 };
            state.why = reason;
        }
        let pause = match state.failures {
            0 => Duration::ZERO,
            failures => LONGEST_PAUSE.min(FIRST_PAUSE * 2_u32.saturating_pow(failures.min(16) - 1)),
        };
        let since = state.started.elapsed();
        if since < pause {
            let (why, seconds) = (&state.why, pause.saturating_sub(since).as_secs_f64());
            return Err(self.failed(&format!("{why}; it is started again in {seconds:.1} s")));
        }
        state.started = Instant::now();
        let connected = tokio::time::timeout(START, self.start(Lifecycle::Probe)).await;
        let why = match connected {
            Ok(Ok(connection)) => {
                let connection = Arc::new(connection);
                self.changes.subscribe(connection.service.peer());
                state.connection = Some(Arc::clone(&connection));
                return Ok(connection);
            }
            Ok(Err(why)) => why,
            Err(_elapsed) => format!("it did not start within {} s", START.as_secs()),
        };
        state.failures += 1;
        state.why.clone_from(&why);
        Err(self.failed(&why))
    }

    async fn start(&self, lifecycle: Lifecycle) -> Result<Connection, String> {
        let calls = Calls::default();
        let messages = Messages {
            calls: calls.clone(),
            store: Arc::clone(&self.store),
            max_bytes: self.limits.max_bytes,
        };
        let handler = Handler::new(self.changes.clone());
        let command = match &self.config.endpoint {
            Endpoint::Command(command) => command,
            Endpoint::Url { url, headers } => {
                let web = Web::new(Address::new(url, headers)?, messages, &self.log);
                return self.open(web, calls, handler).await;
            }
        };
        let (process, streams) =
            command.start().map_err(|error| format!("cannot run {}: {error}", command.program))?;
        let reader = std::io::BufReader::with_capacity(256 << 10, streams.output);
        let pipe = self
            .log
            .drain(streams.errors)
            .and_then(|()| Pipe::start(messages, reader, streams.input, &self.log));
        let pipe = pipe.map_err(|error| error.to_string())?;
        let mut pipe = if lifecycle == Lifecycle::Probe { pipe.probing() } else { pipe };
        let (is_late, reading) = (pipe.late_answer(), pipe.take_reading());
        let service = serve_client_with_lifecycle(handler.clone(), Link::Pipe(pipe), lifecycle.mode()).await;
        match service {
            Ok(service) => {
                Ok(Connection { service, calls, handler, server: Running::Process(process, reading) })
            }
            Err(_) if is_late.load(Ordering::Relaxed) && lifecycle == Lifecycle::Probe => {
                drop(process);
                Box::pin(self.start(Lifecycle::Modern)).await
            }
            Err(error) => {
                let status = process.status().map_or_else(String::new, |status| format!(" ({status})"));
                Err(with_log(&format!("it did not start: {error}{status}"), &self.log))
            }
        }
    }

    /// Opens a connection to a server at a URL.
    async fn open(&self, web: Web, calls: Calls, handler: Handler) -> Result<Connection, String> {
        let site = web.site();
        let server = Running::Web(web.site());
        match serve_client_with_lifecycle(handler.clone(), Link::Web(web), Lifecycle::Probe.mode()).await {
            Ok(service) => Ok(Connection { service, calls, handler, server }),
            Err(error) => Err(site.fault().unwrap_or_else(|| format!("it did not start: {error}"))),
        }
    }

    /// Sends a request. The client's capabilities are for servers that want them with each request.
    pub(crate) async fn request(
        &self,
        method: &str,
        outgoing: Outgoing,
        progress: Option<watch::Sender<Report>>,
    ) -> Result<Pending, RequestError> {
        let connection = self.connect().await?;
        let mut request = CustomRequest::new(method, None);
        request.extensions_mut().insert(Arc::new(outgoing));
        let mut options = PeerRequestOptions::with_timeout(self.limits.timeout).reset_timeout_on_progress();
        options.max_total_timeout = self.limits.total;
        let peer: &Peer<RoleClient> = connection.service.peer();
        let sent = peer.send_cancellable_request(ClientRequest::CustomRequest(request), options).await;
        let Ok(handle) = sent else { return Err(self.failed(&connection.reason(&self.log).await)) };
        let (id, token) = (handle.id.clone(), handle.progress_token.clone());
        let (asking, questions) = mpsc::channel(1);
        connection.handler.register(&token, Route { progress, questions: asking });
        Ok(Pending {
            response: Box::pin(handle.await_response()),
            questions,
            waiting: Some(connection.calls.waiting(id.clone())),
            connection: Some(connection),
            id,
            token,
            log: self.log.clone(),
        })
    }

    fn failed(&self, why: &str) -> RequestError {
        RequestError::Failed(format!("the server {} is not available: {why}", self.config.name))
    }

    /// Ends the server.
    pub(crate) async fn stop(&self) {
        let connection = self.state.lock().await.connection.take();
        if let Some(connection) = connection {
            // Ends the process as well, which takes up to two seconds.
            let _ = tokio::task::spawn_blocking(move || drop(connection)).await;
        }
    }
}

impl Connection {
    /// The capabilities that the server declared.
    pub(crate) fn capabilities(&self) -> rmcp::model::ServerCapabilities {
        self.service
            .peer_info()
            .map_or_else(rmcp::model::ServerCapabilities::default, |info| info.capabilities.clone())
    }

    /// The protocol version of the connection.
    pub(crate) fn version(&self) -> String {
        self.service.peer_info().map_or_else(String::new, |info| info.protocol_version.to_string())
    }

    /// The reason why the connection is closed.
    async fn reason(&self, log: &ServerLog) -> String {
        let process = match &self.server {
            Running::Process(process, _) => process,
            Running::Web(site) => return site.fault().unwrap_or_else(|| "the connection closed".to_owned()),
        };
        let mut status = None;
        // The streams of a process close a moment before its end.
        for _ in 0..20 {
            status = process.status();
            if status.is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let ended = status
            .map_or_else(|| "the connection closed".to_owned(), |status| format!("it ended ({status})"));
        with_log(&ended, log)
    }
}

/// Adds the newest lines of a server's log to a message.
fn with_log(message: &str, log: &ServerLog) -> String {
    let lines = log.newest(5);
    if lines.is_empty() {
        message.to_owned()
    } else {
        format!("{message}; its last lines:\n{}", lines.join("\n"))
    }
}

impl Pending {
    /// Waits for the response, or for a question of the server.
    pub(crate) async fn next(&mut self) -> Step {
        tokio::select! {
            biased;
            response = &mut self.response => {
                // From here on there is nothing to cancel.
                let connection = self.connection.take();
                let reply = self.waiting.take().and_then(Waiting::take);
                if let Some(connection) = &connection {
                    connection.handler.remove(&self.token);
                }
                Step::Done(match (response, reply) {
                    (Ok(_), Some(reply)) => Ok(reply),
                    (Ok(_), None) => Err(self.failed("sent no result")),
                    (Err(ServiceError::McpError(error)), _) => Err(RequestError::Refused(error)),
                    (Err(ServiceError::Timeout { timeout }), _) => {
                        Err(self.failed(&format!("sent no answer within {} s", timeout.as_secs())))
                    }
                    (Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)), _) => {
                        let why = match connection {
                            Some(connection) => connection.reason(&self.log).await,
                            None => String::new(),
                        };
                        Err(self.failed(&format!("ended before it answered: {why}")))
                    }
                    (Err(error), _) => Err(self.failed(&format!("failed: {error}"))),
                })
            }
            Some(question) = self.questions.recv() => Step::Question(question),
        }
    }

    fn failed(&self, what: &str) -> RequestError {
        RequestError::Failed(format!("the server {} {what}", self.log.server()))
    }
}

/// Tells the server that nobody waits any longer.
impl Drop for Pending {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        connection.handler.remove(&self.token);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let id = self.id.clone();
        runtime.spawn(async move {
            let reason = Some("the client cancelled the request".to_owned());
            let notification =
                rmcp::model::CancelledNotification::new(CancelledNotificationParam::new(Some(id), reason));
            let notification = ClientNotification::CancelledNotification(notification);
            // A closed connection needs no cancellation.
            let _ = connection.service.peer().send_notification(notification).await;
        });
    }
}
