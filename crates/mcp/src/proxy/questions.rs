//! Questions of a server to the client: elicitations.
//!
//! An older client answers at once. A newer one gets an interim result that asks it to repeat the
//! request with the answer. If the server is an older one, its call is parked until then, under a
//! handle that only that result has.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use rmcp::ErrorData;
use rmcp::model::{ClientResult, CustomRequest, ErrorCode, ServerRequest};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio::sync::{oneshot, watch};

use super::Proxy;
use super::call::Request;
use crate::era::Era;
use crate::progress::Report;
use crate::upstream::{Params, Pending, Question};

/// The start of a handle. A state with this start that is no handle is the server's own.
const HANDLE: &str = "trommel-parked-";

/// The calls that are parked at once.
const MAX_PARKED: usize = 64;

/// How long a call is parked.
const PARKED: Duration = Duration::from_mins(10);

/// The key of the question in an interim result.
const KEY: &str = "question";

/// A call in progress, also while it waits for a client's answer.
pub(super) struct Parked {
    pub(super) request: Request,
    pub(super) pending: Pending,
    pub(super) latest: watch::Receiver<Report>,
    /// The question that waits, and when it was asked.
    pub(super) answer: Option<(oneshot::Sender<Result<Value, ErrorData>>, Instant)>,
    /// The number of times that the server asked for input.
    pub(super) rounds: usize,
    pub(super) started_at: Timestamp,
}

/// The outcome of a question.
pub(super) enum Ask {
    /// It was answered: the call goes on.
    Continue(Box<Parked>),
    /// The client has to repeat the request: the text of the interim result.
    Parked(String),
}

impl Proxy {
    /// Passes a question on to the client.
    pub(super) async fn ask_client(
        &self,
        mut call: Parked,
        question: Question,
        context: &RequestContext<RoleServer>,
    ) -> Ask {
        let Question { request, answer } = question;
        if Era::of(context) == Era::Legacy || !can_elicit(context) {
            let answered = put_to_client(&request, context).await;
            // The server may have given up meanwhile.
            let _ = answer.send(answered);
            return Ask::Continue(Box::new(call));
        }
        let handle = format!("{HANDLE}{:032x}", rand_handle());
        let result = json!({
            "resultType": "input_required",
            "inputRequests": { KEY: request },
            "requestState": handle
        });
        call.answer = Some((answer, Instant::now()));
        let mut parked = self.lock_parked();
        parked.retain(|_, call| call.answer.as_ref().is_none_or(|(_, since)| since.elapsed() < PARKED));
        if parked.len() >= MAX_PARKED {
            drop(parked);
            // Dropping the answer refuses the question.
            call.answer = None;
            return Ask::Continue(Box::new(call));
        }
        parked.insert(handle, call);
        Ask::Parked(result.to_string())
    }

    /// Takes the call that a request continues. `None` if it continues none, or one of another
    /// tool.
    pub(super) fn unpark(&self, params: &Params, what: &str) -> Option<Parked> {
        let state: String = serde_json::from_str(params.get("requestState")?.get()).ok()?;
        let mut parked = self.lock_parked();
        let is_same = parked.get(&state).is_some_and(|call| call.request.what == what);
        if is_same { parked.remove(&state) } else { None }
    }
}

impl Parked {
    /// Answers the question with the response in a repeated request.
    pub(super) fn answer_with(&mut self, params: &Params) -> Result<(), ErrorData> {
        let responses = params.get("inputResponses");
        let responses: Option<Map<String, Value>> =
            responses.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let missing =
            || ErrorData::invalid_params(format!("`inputResponses` has no answer to `{KEY}`"), None);
        let answer = responses.and_then(|mut responses| responses.remove(KEY)).ok_or_else(missing)?;
        if let Some((question, _)) = self.answer.take() {
            // The server may have given up meanwhile.
            let _ = question.send(Ok(answer));
        }
        Ok(())
    }
}

/// A number that nobody can guess: from the system, by way of a hasher's random keys.
pub(super) fn rand_handle() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let half = || u128::from(RandomState::new().hash_one(Instant::now()));
    half() << 64 | half()
}

/// What the client can be asked.
pub(super) fn elicitation(context: &RequestContext<RoleServer>) -> Option<Value> {
    let capabilities = context.client_capabilities()?;
    capabilities.elicitation.and_then(|elicitation| serde_json::to_value(elicitation).ok())
}

fn can_elicit(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|capabilities| capabilities.elicitation.is_some())
}

/// Puts a question of a server to an older client, and returns the answer.
pub(super) async fn put_to_client(
    request: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<Value, ErrorData> {
    let method = request.get("method").and_then(Value::as_str).unwrap_or("");
    let refused = |why: &str| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("{method}: {why}"), None);
    if method != "elicitation/create" {
        return Err(refused("sampling and roots are deprecated, and not offered"));
    }
    if !can_elicit(context) || Era::of(context) == Era::Modern {
        return Err(refused("the client cannot ask its user"));
    }
    let question = CustomRequest::new(method, request.get("params").cloned());
    let answer = context.peer.send_request(ServerRequest::CustomRequest(question)).await;
    let answer = answer.map_err(|error| match error {
        rmcp::ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    })?;
    match answer {
        ClientResult::CustomResult(result) => Ok(result.0),
        other => {
            serde_json::to_value(other).map_err(|error| ErrorData::internal_error(error.to_string(), None))
        }
    }
}
