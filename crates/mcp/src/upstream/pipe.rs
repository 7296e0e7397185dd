//! The transport to a server: requests as lines to a writer, messages from a thread that reads.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, GetExtensions, GetMeta, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;

use super::calls::{Calls, Outgoing};
use super::line::{Arrival, Messages};
use super::log::ServerLog;
use super::params::Params;
use super::sdk;

/// The number of messages that wait between a thread and the client.
const QUEUE: usize = 64;

/// How long an older server may leave `server/discover` unanswered. Then it counts as one that does
/// not know the request.
const PATIENCE: Duration = Duration::from_secs(2);

/// A transport of one message per line.
pub(super) struct Pipe {
    incoming: mpsc::Receiver<ServerJsonRpcMessage>,
    /// For answers that the transport gives in the server's place.
    own: mpsc::WeakSender<ServerJsonRpcMessage>,
    outgoing: mpsc::Sender<String>,
    calls: Calls,
    /// True if an unanswered probe is answered in the server's place.
    is_probing: bool,
    /// The probe that is unanswered.
    probe: Arc<Mutex<Probe>>,
    /// True if the server itself answered its probe later, as a newer server.
    late: Arc<AtomicBool>,
    /// The thread that reads, until it is taken.
    reading: Option<JoinHandle<()>>,
}

/// The state of the probe.
#[derive(Debug, Default, PartialEq)]
enum Probe {
    #[default]
    None,
    Unanswered(RequestId),
    /// It was answered in the server's place.
    Replaced(RequestId),
}

impl Pipe {
    /// Starts the threads that read and write. They end with their streams.
    pub(super) fn start(
        messages: Messages,
        reader: impl BufRead + Send + 'static,
        writer: impl Write + Send + 'static,
        log: &ServerLog,
    ) -> io::Result<Self> {
        let (arrivals, incoming) = mpsc::channel(QUEUE);
        let (outgoing, lines) = mpsc::channel(QUEUE);
        let (calls, own) = (messages.calls.clone(), arrivals.downgrade());
        let log = log.clone();
        let name = |end: &str| format!("{} {end}", log.server());
        let (reading, writing) = (name("in"), name("out"));
        thread::Builder::new().name(writing).spawn(move || write(writer, lines))?;
        let reading = thread::Builder::new().name(reading).spawn(move || {
            let why = read(&messages, reader, &arrivals, &log);
            log.note(&format!("connection closed: {why}"));
        })?;
        let (probe, late) = (Arc::default(), Arc::default());
        let reading = Some(reading);
        Ok(Self { incoming, own, outgoing, calls, is_probing: false, probe, late, reading })
    }

    /// Answers a probe that the server ignores.
    pub(super) fn probing(mut self) -> Self {
        self.is_probing = true;
        self
    }

    /// The thread that reads. It ends with the server's output, and with what it was storing.
    pub(super) fn take_reading(&mut self) -> Option<JoinHandle<()>> {
        self.reading.take()
    }

    /// A flag that becomes true if the server answers its probe after all.
    pub(super) fn late_answer(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.late)
    }

    /// Answers a probe in the place of a server that ignores it.
    fn watch_probe(&self, id: RequestId) {
        let (probe, own) = (Arc::clone(&self.probe), self.own.clone());
        *lock(&probe) = Probe::Unanswered(id.clone());
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            let is_unanswered = {
                let mut probe = lock(&probe);
                let is_unanswered = *probe == Probe::Unanswered(id.clone());
                if is_unanswered {
                    *probe = Probe::Replaced(id.clone());
                }
                is_unanswered
            };
            if let (true, Some(own)) = (is_unanswered, own.upgrade()) {
                let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, UNANSWERED, None);
                // The connection may have closed meanwhile.
                let _ = own.send(ServerJsonRpcMessage::error(error, Some(id))).await;
            }
        });
    }
}

impl Transport<RoleClient> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && self.is_probing
            && request.request.method() == "server/discover"
        {
            self.watch_probe(request.id.clone());
        }
        self.calls.sending(&message);
        let (line, outgoing) = (encode(&message), self.outgoing.clone());
        async move { outgoing.send(line?).await.map_err(|_closed| io::ErrorKind::BrokenPipe.into()) }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let mut message = self.incoming.recv().await?;
            let (id, is_result) = match &message {
                JsonRpcMessage::Response(response) => (Some(&response.id), true),
                JsonRpcMessage::Error(error) => (error.id.as_ref(), false),
                _ => (None, false),
            };
            let mut probe = lock(&self.probe);
            match (&*probe, id) {
                (Probe::Unanswered(_), Some(_)) => {
                    *probe = Probe::None;
                    message = discovered(message);
                }
                // The server answers after all. The SDK has got the other answer, and would fail.
                (Probe::Replaced(asked), Some(id)) if asked == id && !is_own(&message) => {
                    self.late.store(is_result, Ordering::Relaxed);
                    continue;
                }
                _ => {}
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.incoming.close();
        Ok(())
    }
}

/// Returns the answer to a probe. Some older servers answer any request with an empty result.
pub(super) fn discovered(answer: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    match answer {
        JsonRpcMessage::Response(response) if !matches!(response.result, ServerResult::DiscoverResult(_)) => {
            let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no result of server/discover", None);
            ServerJsonRpcMessage::error(error, Some(response.id))
        }
        other => other,
    }
}

/// The message of the answer that the transport gives in a server's place.
const UNANSWERED: &str = "server/discover was not answered";

fn is_own(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Error(error) if error.error.message == UNANSWERED)
}

fn lock(probe: &Mutex<Probe>) -> MutexGuard<'_, Probe> {
    probe.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the JSON text of a message: of a request with its own parameters verbatim.
pub(super) fn encode(message: &ClientJsonRpcMessage) -> io::Result<String> {
    if let JsonRpcMessage::Request(request) = message
        && let Some(outgoing) = request.request.extensions().get::<Arc<Outgoing>>()
    {
        let id = serde_json::to_string(&request.id).map_err(io::Error::other)?;
        let method = serde_json::to_string(request.request.method()).map_err(io::Error::other)?;
        let params = Params::parse(&outgoing.params).map_err(io::Error::other)?;
        let params = params.with_meta(request.request.get_meta(), outgoing.elicitation.as_ref());
        return Ok(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#));
    }
    sdk::write(message)
}

fn write(mut writer: impl Write, mut lines: mpsc::Receiver<String>) {
    while let Some(mut line) = lines.blocking_recv() {
        line.push('\n');
        // The reading thread notices that the server has ended.
        if writer.write_all(line.as_bytes()).and_then(|()| writer.flush()).is_err() {
            return;
        }
    }
}

/// Reads messages to the end. Returns the reason of the end.
fn read(
    messages: &Messages,
    mut reader: impl BufRead + Send,
    arrivals: &mpsc::Sender<ServerJsonRpcMessage>,
    log: &ServerLog,
) -> String {
    loop {
        let message = match messages.next(&mut reader) {
            Ok(Some(Arrival::Message(message))) => message,
            Ok(Some(Arrival::Noise(line))) => {
                log.note(&line);
                continue;
            }
            Ok(Some(Arrival::TooLong(message))) => {
                if let Some(message) = message {
                    let _ = arrivals.blocking_send(*message);
                }
                return format!("a message is longer than {} bytes", messages.max_bytes);
            }
            Ok(None) => return "the server ended".to_owned(),
            Err(error) => return error.to_string(),
        };
        if arrivals.blocking_send(*message).is_err() {
            return "no more messages are wanted".to_owned();
        }
    }
}
