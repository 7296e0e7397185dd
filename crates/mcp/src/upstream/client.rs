//! The client of one server: connections and requests.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rmcp::model::ErrorData;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant as Moment, sleep_until};
use trommel_store::Store;

use super::calls::{Calls, Observer, Outgoing, Reply, Waiting};
use super::changes::{Changes, ListChange};
use super::config::{Endpoint, ServerConfig};
use super::inbox::{Inbox, Question};
use super::line::Messages;
use super::log::ServerLog;
use super::pipe;
use super::process::Process;
use super::session::{Agreed, Capabilities, Session};
use super::subscription::subscribe;
use super::web::{Address, Site};
use crate::progress::Report;
use crate::runtime::{Boxed, blocking};

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
    session: Session,
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
    /// The request and its connection, until the response is there.
    open: Option<(Waiting, Arc<Connection>)>,
    questions: mpsc::Receiver<Question>,
    /// Woken by progress.
    moved: Arc<Notify>,
    /// The end of the time without progress. `None` after progress, and after a question, whose
    /// answer takes any time.
    deadline: Option<Moment>,
    /// The end of the time in all.
    last_deadline: Option<Moment>,
    limits: Limits,
    /// Why the request is cancelled when this is dropped.
    reason: &'static str,
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
            if !connection.is_closed() {
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
        let connected = tokio::time::timeout(START, self.start()).await;
        let why = match connected {
            Ok(Ok(connection)) => {
                let connection = Arc::new(connection);
                subscribe(Arc::downgrade(&connection));
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

    async fn start(&self) -> Result<Connection, String> {
        let calls = Calls::default();
        let messages = Messages {
            calls: calls.clone(),
            store: Arc::clone(&self.store),
            max_bytes: self.limits.max_bytes,
        };
        let inbox = Inbox::new(calls, self.changes.clone(), &self.log);
        let command = match &self.config.endpoint {
            Endpoint::Command(command) => command,
            Endpoint::Url { url, headers } => {
                let site = Site::new(Address::new(url, headers)?, messages, inbox.clone(), &self.log);
                let server = Running::Web(Arc::clone(&site));
                let session = Session::open(inbox, Arc::new(Arc::clone(&site))).await;
                let why = |error| site.fault().unwrap_or_else(|| format!("it did not start: {error}"));
                return Ok(Connection { session: session.map_err(why)?, server });
            }
        };
        let (process, streams) =
            command.start().map_err(|error| format!("cannot run {}: {error}", command.program))?;
        let reader = io::BufReader::with_capacity(256 << 10, streams.output);
        let started = self
            .log
            .drain(streams.errors)
            .and_then(|()| pipe::start(messages, inbox.clone(), reader, streams.input, &self.log));
        let (link, reading) = started.map_err(|error| error.to_string())?;
        match Session::open(inbox, link).await {
            Ok(session) => Ok(Connection { session, server: Running::Process(process, Some(reading)) }),
            Err(error) => {
                let status = process.status().map_or_else(String::new, |status| format!(" ({status})"));
                Err(with_log(&format!("it did not start: {error}{status}"), &self.log))
            }
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
        let (asking, questions) = mpsc::channel(1);
        let moved = Arc::new(Notify::new());
        let observer = Observer { progress, moved: Arc::clone(&moved), questions: asking };
        let sent = connection.session.request(method, outgoing, Some(observer)).await;
        let waiting = match sent {
            Ok(waiting) => waiting,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Err(self.failed(&connection.reason(&self.log).await));
            }
            Err(error) => return Err(self.failed(&error.to_string())),
        };
        Ok(Pending {
            open: Some((waiting, connection)),
            questions,
            moved,
            deadline: None,
            last_deadline: self.limits.total.map(|total| Moment::now() + total),
            limits: self.limits,
            reason: "the client cancelled the request",
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
            let _ = blocking(move || drop(connection)).await;
        }
    }
}

impl Connection {
    pub(super) const fn session(&self) -> &Session {
        &self.session
    }

    pub(super) const fn agreed(&self) -> &Agreed {
        &self.session.agreed
    }

    pub(super) fn is_closed(&self) -> bool {
        self.session.is_closed()
    }

    /// The capabilities that the server declared.
    pub(crate) fn capabilities(&self) -> Capabilities {
        self.agreed().capabilities.clone()
    }

    /// The protocol version of the connection.
    pub(crate) fn version(&self) -> String {
        self.agreed().version.clone()
    }

    /// The reason why the connection is closed.
    async fn reason(&self, log: &ServerLog) -> String {
        let process = match &self.server {
            Running::Process(process, _) => process,
            Running::Web(site) => return site.fault().unwrap_or_else(|| "the connection closed".to_owned()),
        };
        let mut status = None;
        // The streams of a process close a moment before its end, and another thread reads its last
        // lines, which may contain the cause. The wait is short, because a child of the process can
        // keep its error stream open.
        for _ in 0..40 {
            status = process.status();
            if status.is_some() && log.is_complete() {
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
        loop {
            let Some((waiting, connection)) = &mut self.open else {
                return Step::Done(Err(self.failed("has answered already")));
            };
            let deadline = *self.deadline.get_or_insert_with(|| Moment::now() + self.limits.timeout);
            let elapsed = tokio::select! {
                biased;
                answer = &mut waiting.answer => {
                    // From here on there is nothing to cancel.
                    let connection = Arc::clone(connection);
                    self.open = None;
                    return Step::Done(match answer {
                        Ok(Ok(reply)) => Ok(reply),
                        Ok(Err(error)) => Err(RequestError::Refused(error)),
                        Err(_closed) => {
                            let why = connection.reason(&self.log).await;
                            Err(self.failed(&format!("ended before it answered: {why}")))
                        }
                    });
                }
                Some(question) = self.questions.recv() => {
                    self.deadline = None;
                    return Step::Question(question);
                }
                () = self.moved.notified() => None,
                () = sleep_until(deadline) => Some(self.limits.timeout),
                () = until(self.last_deadline) => self.limits.total,
            };
            self.deadline = None;
            if let Some(elapsed) = elapsed {
                self.reason = "the time for an answer is over";
                return Step::Done(Err(
                    self.failed(&format!("sent no answer within {} s", elapsed.as_secs()))
                ));
            }
        }
    }

    fn failed(&self, what: &str) -> RequestError {
        RequestError::Failed(format!("the server {} {what}", self.log.server()))
    }
}

async fn until(deadline: Option<Moment>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Tells the server that the caller no longer waits.
impl Drop for Pending {
    fn drop(&mut self) {
        let Some((waiting, connection)) = self.open.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let reason = self.reason;
        let told: Boxed = Box::pin(async move { connection.session.cancel(&waiting, reason).await });
        drop(runtime.spawn(told));
    }
}
