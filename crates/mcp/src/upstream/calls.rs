//! The requests that wait for a server's response.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, GetExtensions, JsonRpcMessage, RequestId};
use serde_json::Value;

use super::spill::CallOrigin;
use super::walk::Reduced;

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

/// The requests that wait. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    slots: Arc<Mutex<HashMap<RequestId, Slot>>>,
}

#[derive(Debug)]
struct Slot {
    outgoing: Arc<Outgoing>,
    reply: Option<Reply>,
}

impl Calls {
    /// Notes a message that is being sent, if it is a request that waits for a response.
    pub(super) fn sending(&self, message: &ClientJsonRpcMessage) {
        if let JsonRpcMessage::Request(request) = message
            && let Some(outgoing) = request.request.extensions().get::<Arc<Outgoing>>()
        {
            let slot = Slot { outgoing: Arc::clone(outgoing), reply: None };
            self.lock().insert(request.id.clone(), slot);
        }
    }

    /// The request with an ID, if it waits for a response.
    pub(super) fn get(&self, id: &RequestId) -> Option<Arc<Outgoing>> {
        self.lock().get(id).filter(|slot| slot.reply.is_none()).map(|slot| Arc::clone(&slot.outgoing))
    }

    /// The only request that waits.
    pub(super) fn only(&self) -> Option<RequestId> {
        let slots = self.lock();
        let mut waiting = slots.iter().filter(|(_, slot)| slot.reply.is_none());
        let (id, _) = waiting.next()?;
        waiting.next().is_none().then(|| id.clone())
    }

    /// The largest number of characters that pass unchanged.
    pub(super) fn limit(&self) -> usize {
        self.lock().values().filter_map(|slot| slot.outgoing.limit).max().unwrap_or(0)
    }

    /// Keeps the response until its request takes it.
    pub(super) fn answer(&self, id: &RequestId, reply: Reply) {
        if let Some(slot) = self.lock().get_mut(id) {
            slot.reply = Some(reply);
        }
    }

    /// Returns a guard that removes a request once its caller no longer waits.
    pub(super) fn waiting(&self, id: RequestId) -> Waiting {
        Waiting { calls: self.clone(), id }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A caller that waits for a response.
#[derive(Debug)]
pub(super) struct Waiting {
    calls: Calls,
    id: RequestId,
}

impl Waiting {
    /// Takes the response.
    pub(super) fn take(self) -> Option<Reply> {
        self.calls.lock().get_mut(&self.id).and_then(|slot| slot.reply.take())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.id);
    }
}
