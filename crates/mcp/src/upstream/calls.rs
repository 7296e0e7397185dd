//! The requests that wait for a server's response.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ErrorData, RequestId};
use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::inbox::Question;
use super::spill::CallOrigin;
use super::walk::Reduced;
use crate::progress::Report;

/// A request, as the transport has to know it.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    /// The parameters, as JSON text.
    pub(crate) params: String,
    /// The call, for outputs that are stored.
    pub(crate) origin: CallOrigin,
    /// The characters of a result that pass unchanged. `None` for a response that is no result of a
    /// tool or resource.
    pub(crate) limit: Option<usize>,
    /// The headers that repeat arguments, for servers at a URL.
    pub(crate) mirrored: Vec<(String, String)>,
    /// The capability of the caller to answer questions, as a client declares it. Older servers
    /// get it once for all calls, and their questions are refused instead.
    pub(crate) elicitation: Option<Value>,
}

impl Outgoing {
    /// A request whose response is not the result of a tool or resource.
    pub(crate) fn plain(params: String) -> Self {
        Self { params, origin: CallOrigin::default(), limit: None, mirrored: Vec::new(), elicitation: None }
    }
}

/// A response.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The result, verbatim.
    Whole(String),
    /// A result whose long values were replaced.
    Reduced(Box<Reduced>),
}

/// The outcome of a request.
pub(super) type Outcome = Result<Reply, ErrorData>;

/// The requests that wait. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// By number, the newest last.
    waiting: BTreeMap<i64, Slot>,
    last: i64,
    is_closed: bool,
}

#[derive(Debug)]
struct Slot {
    outgoing: Arc<Outgoing>,
    answer: oneshot::Sender<Outcome>,
    observer: Option<Observer>,
}

/// Where the messages of a server about one request go.
#[derive(Debug)]
pub(super) struct Observer {
    pub(super) progress: Option<watch::Sender<Report>>,
    /// Woken by each progress.
    pub(super) moved: Arc<Notify>,
    pub(super) questions: mpsc::Sender<Question>,
}

/// A request that waits. Its number is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Waiting {
    calls: Calls,
    pub(super) id: i64,
    pub(super) outgoing: Arc<Outgoing>,
    /// Fails once the connection has closed.
    pub(super) answer: oneshot::Receiver<Outcome>,
}

impl Calls {
    /// Adds a request, unless the connection has closed. Requests without an observer are those of
    /// the connection itself.
    pub(super) fn open(&self, outgoing: Outgoing, observer: Option<Observer>) -> Option<Waiting> {
        let mut state = self.lock();
        if state.is_closed {
            return None;
        }
        state.last += 1;
        let id = state.last;
        let (outgoing, (sender, answer)) = (Arc::new(outgoing), oneshot::channel());
        let slot = Slot { outgoing: Arc::clone(&outgoing), answer: sender, observer };
        state.waiting.insert(id, slot);
        Some(Waiting { calls: self.clone(), id, outgoing, answer })
    }

    /// The request with an ID, if it waits for a response.
    pub(super) fn get(&self, id: &RequestId) -> Option<Arc<Outgoing>> {
        self.lock().waiting.get(&number(id)?).map(|slot| Arc::clone(&slot.outgoing))
    }

    /// The only request that waits, apart from those of the connection itself.
    pub(super) fn only(&self) -> Option<RequestId> {
        let state = self.lock();
        let mut waiting = state.waiting.iter().filter(|(_, slot)| slot.observer.is_some());
        let (id, _) = waiting.next()?;
        waiting.next().is_none().then_some(RequestId::Number(*id))
    }

    /// The largest number of characters that pass unchanged.
    pub(super) fn limit(&self) -> usize {
        self.lock().waiting.values().filter_map(|slot| slot.outgoing.limit).max().unwrap_or(0)
    }

    /// Passes a response on. One to an unknown request is dropped: its caller no longer waits.
    pub(super) fn finish(&self, id: &RequestId, outcome: Outcome) {
        let slot = number(id).and_then(|id| self.lock().waiting.remove(&id));
        if let Some(slot) = slot {
            // The caller may leave at this moment.
            let _ = slot.answer.send(outcome);
        }
    }

    /// Passes progress on. The token of a request is its number.
    pub(super) fn progress(&self, token: &RequestId, report: Report) {
        let state = self.lock();
        let slot = number(token).and_then(|token| state.waiting.get(&token));
        if let Some(observer) = slot.and_then(|slot| slot.observer.as_ref()) {
            observer.moved.notify_one();
            if let Some(progress) = &observer.progress {
                progress.send_replace(report);
            }
        }
    }

    /// The questions of the newest request that can be asked about.
    pub(super) fn newest_questions(&self) -> Option<mpsc::Sender<Question>> {
        let state = self.lock();
        state.waiting.values().rev().find_map(|slot| Some(slot.observer.as_ref()?.questions.clone()))
    }

    /// Fails all requests: the connection has closed.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.waiting.clear();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    pub(super) const fn request_id(&self) -> RequestId {
        RequestId::Number(self.id)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.calls.lock().waiting.remove(&self.id);
    }
}

const fn number(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Number(number) => Some(*number),
        RequestId::String(_) => None,
    }
}
