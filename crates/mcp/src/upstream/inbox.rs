//! What arrives from a server: responses, progress, changes, and questions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::calls::Calls;
use super::changes::Changes;
use super::link::Link;
use super::log::ServerLog;
use super::message::{Incoming, Sent};
use crate::progress::Report;
use crate::runtime::Boxed;

/// The number of a server's requests that are answered at a time. More are ignored.
const MAX_REQUESTS: usize = 64;

/// A question of a server to the client, such as an elicitation.
#[derive(Debug)]
pub(crate) struct Question {
    /// The request: its method and parameters.
    pub(crate) request: Value,
    /// Takes the result.
    pub(crate) answer: oneshot::Sender<Result<Value, ErrorData>>,
}

/// Passes messages on to those they concern. Clones share the state.
#[derive(Clone)]
pub(super) struct Inbox {
    pub(super) calls: Calls,
    changes: Changes,
    log: ServerLog,
    /// The requests of the server that are being answered.
    requests: Arc<Mutex<Vec<(RequestId, AbortHandle)>>>,
    runtime: Handle,
}

impl Inbox {
    /// Creates an inbox whose answers are sent from the current runtime.
    pub(super) fn new(calls: Calls, changes: Changes, log: &ServerLog) -> Self {
        let (log, requests) = (log.clone(), Arc::default());
        Self { calls, changes, log, requests, runtime: Handle::current() }
    }

    /// Handles a message, from any thread. `link` is the way back, unless it is closed.
    pub(super) fn receive(&self, message: Incoming, link: impl FnOnce() -> Option<Arc<dyn Link>>) {
        match message {
            Incoming::Response(id, outcome) => self.calls.finish(&id, outcome),
            Incoming::Notification { method, params } => self.notice(&method, params),
            Incoming::Request { id, method, params } => {
                if let Some(link) = link() {
                    self.answer(id, method, params, link);
                }
            }
        }
    }

    fn notice(&self, method: &str, params: Value) {
        match method {
            "notifications/progress" => {
                if let Ok(Progress { token, value, total, message }) = Progress::deserialize(params) {
                    let message = message.unwrap_or(String::new());
                    self.calls.progress(&token, Report { value, total, message });
                }
            }
            "notifications/cancelled" => {
                let mut requests = self.lock();
                let named = |id: &RequestId| json!(id) == params["requestId"];
                if let Some(position) = requests.iter().position(|(id, _)| named(id)) {
                    requests.swap_remove(position).1.abort();
                }
            }
            other => self.changes.notice(other),
        }
    }

    /// Answers a request of the server in the background.
    fn answer(&self, id: RequestId, method: String, params: Value, link: Arc<dyn Link>) {
        let mut requests = self.lock();
        requests.retain(|(_, task)| !task.is_finished());
        if requests.len() >= MAX_REQUESTS {
            return self.log.note("too many requests of the server: one is ignored");
        }
        let (inbox, answered) = (self.clone(), id.clone());
        let work: Boxed = Box::pin(async move {
            let answer = inbox.answer_to(method, params).await;
            // A closed connection needs no answer.
            let _ = link.send(Sent::answer(&answered, answer)).await;
        });
        requests.push((id, self.runtime.spawn(work).abort_handle()));
    }

    async fn answer_to(&self, method: String, params: Value) -> Result<Value, ErrorData> {
        match method.as_str() {
            "ping" => Ok(json!({})),
            "elicitation/create" => self.ask(json!({ "method": method, "params": params })).await,
            method => Err(refusal(method)),
        }
    }

    /// Passes a question on to the newest request in progress: a server on a single stream does not
    /// say which one it is about.
    async fn ask(&self, request: Value) -> Result<Value, ErrorData> {
        let refused =
            || ErrorData::invalid_request("no request is in progress that could be asked about", None);
        let (answer, answered) = oneshot::channel();
        let questions = self.calls.newest_questions().ok_or_else(refused)?;
        questions.send(Question { request, answer }).await.map_err(|_gone| refused())?;
        answered.await.map_err(|_gone| refused())?
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(RequestId, AbortHandle)>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The parameters of a progress notification.
#[derive(Deserialize)]
struct Progress {
    #[serde(rename = "progressToken")]
    token: RequestId,
    #[serde(rename = "progress")]
    value: f64,
    total: Option<f64>,
    message: Option<String>,
}

/// The refusal of a request of a server.
fn refusal(method: &str) -> ErrorData {
    let why = match method {
        "sampling/createMessage" => "sampling is deprecated, and not offered",
        "roots/list" => "roots are deprecated, and not offered",
        _ => "unknown request",
    };
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("{method}: {why}"), None)
}
