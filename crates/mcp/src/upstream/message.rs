//! Messages from and to a server (JSON-RPC 2.0).

use std::sync::Arc;

use rmcp::model::{ErrorData, RequestId};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::calls::{Outgoing, Reply};

/// A message of a server.
#[derive(Debug)]
pub(super) enum Incoming {
    Response(RequestId, Result<Reply, ErrorData>),
    Request { id: RequestId, method: String, params: Value },
    Notification { method: String, params: Value },
}

impl Incoming {
    /// Parses a request, a notification, or an error. `None` for any other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Message<'a> {
            jsonrpc: String,
            #[serde(borrow)]
            id: Option<&'a RawValue>,
            method: Option<String>,
            #[serde(borrow)]
            params: Option<&'a RawValue>,
            error: Option<ErrorData>,
        }
        let Message { jsonrpc, id, method, params, error } = serde_json::from_str(text).ok()?;
        let id = id.and_then(|id| serde_json::from_str::<RequestId>(id.get()).ok());
        let params = params.map_or(Ok(Value::Null), |params| serde_json::from_str(params.get())).ok()?;
        match (jsonrpc.as_str(), method, id, error) {
            ("2.0", Some(method), Some(id), _) => Some(Self::Request { id, method, params }),
            ("2.0", Some(method), None, _) => Some(Self::Notification { method, params }),
            ("2.0", None, Some(id), Some(error)) => Some(Self::Response(id, Err(error))),
            _ => None,
        }
    }

    /// The failure of a request, reported in the server's place.
    pub(super) fn failure(id: RequestId, why: &str) -> Self {
        let data = json!({ "reportedBy": "trommel" });
        Self::Response(id, Err(ErrorData::internal_error(why.to_owned(), Some(data))))
    }

    /// The request that the message answers.
    pub(super) const fn answers(&self) -> Option<&RequestId> {
        match self {
            Self::Response(id, _) => Some(id),
            Self::Request { .. } | Self::Notification { .. } => None,
        }
    }
}

/// A message to a server.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) body: String,
    /// The number of a request.
    pub(super) id: Option<RequestId>,
    /// The method of a request or notification.
    pub(super) method: String,
    /// The version in the metadata of a request.
    pub(super) version: Option<String>,
    pub(super) outgoing: Option<Arc<Outgoing>>,
    /// The request that a notification cancels.
    pub(super) cancels: Option<RequestId>,
}

impl Sent {
    pub(super) fn notification(method: &str, params: Option<Value>) -> Self {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let Some(params) = params {
            message["params"] = params;
        }
        Self { body: message.to_string(), method: method.to_owned(), ..Self::default() }
    }

    pub(super) fn cancellation(id: RequestId, reason: &str) -> Self {
        let params = json!({ "requestId": id, "reason": reason });
        Self { cancels: Some(id), ..Self::notification("notifications/cancelled", Some(params)) }
    }

    /// The answer to a request of the server.
    pub(super) fn answer(id: &RequestId, answer: Result<Value, ErrorData>) -> Self {
        let body = match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        };
        Self { body: body.to_string(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Value {
        match Incoming::parse(text) {
            None => Value::Null,
            Some(Incoming::Request { id, method, params }) => json!([id, method, params]),
            Some(Incoming::Notification { method, params }) => json!([method, params]),
            Some(Incoming::Response(id, outcome)) => json!([id, outcome.err()]),
        }
    }

    #[test]
    fn messages_have_a_kind() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":5,"method":"m","params":{"a":[1.5]}}"#, json!([5, "m", {"a": [1.5]}])),
            (r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#, json!(["a", "ping", null])),
            (r#"{"jsonrpc":"2.0","method":"n","params":[]}"#, json!(["n", []])),
            (
                r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"m","data":[1]}}"#,
                json!([2, {"code": -32601, "message": "m", "data": [1]}]),
            ),
            (r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#, Value::Null),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0"}"#, Value::Null),
            ("[]", Value::Null),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }
}
