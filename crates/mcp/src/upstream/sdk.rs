//! Messages of the SDK, read and written only as far as this client uses them: the code for all
//! types of results and requests would be a twentieth of the program.

use std::io;

use rmcp::model::{
    CancelledNotification, ClientJsonRpcMessage, ClientNotification, ClientRequest, ClientResult,
    CustomNotification, CustomRequest, CustomResult, ErrorData, JsonRpcMessage, ProgressNotification,
    PromptListChangedNotification, RequestId, ResourceListChangedNotification, ServerJsonRpcMessage,
    ServerNotification, ServerRequest, ServerResult, SubscriptionsAcknowledgedNotification,
    ToolListChangedNotification,
};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

type Result<T> = std::result::Result<T, serde_json::Error>;

/// Reads a message of a server.
pub(super) fn read(text: &str) -> Result<ServerJsonRpcMessage> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        jsonrpc: String,
        #[serde(default, deserialize_with = "present")]
        id: Option<Value>,
        method: Option<String>,
        #[serde(borrow)]
        params: Option<&'a RawValue>,
        #[serde(borrow)]
        result: Option<&'a RawValue>,
        error: Option<ErrorData>,
    }
    let Envelope { jsonrpc, id, method, params, result, error } = serde_json::from_str(text)?;
    let invalid = <serde_json::Error as serde::de::Error>::custom;
    if jsonrpc != "2.0" {
        return Err(invalid("not a message of JSON-RPC 2.0"));
    }
    let id = id.filter(|id| !id.is_null()).map(serde_json::from_value::<RequestId>).transpose()?;
    match (method, id, result, error) {
        (Some(method), Some(id), ..) => {
            let params = params.map(|params| serde_json::from_str(params.get())).transpose()?;
            let request = ServerRequest::CustomRequest(CustomRequest::new(method, params));
            Ok(ServerJsonRpcMessage::request(request, id))
        }
        (Some(method), None, ..) => {
            notification(&method, params, text).map(ServerJsonRpcMessage::notification)
        }
        (None, id, _, Some(error)) => Ok(ServerJsonRpcMessage::error(error, id)),
        (None, Some(id), Some(result), None) => {
            self::result(result).map(|result| ServerJsonRpcMessage::response(result, id))
        }
        _ => Err(invalid("neither a request nor a response")),
    }
}

/// Keeps null apart from nothing.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads a notification. One of another form is passed as it is.
fn notification(method: &str, params: Option<&RawValue>, text: &str) -> Result<ServerNotification> {
    use ServerNotification as Known;
    fn typed<T: DeserializeOwned>(text: &str, known: fn(T) -> Known) -> Option<Known> {
        serde_json::from_str(text).ok().map(known)
    }
    let known = match method {
        "notifications/cancelled" => typed::<CancelledNotification>(text, Known::CancelledNotification),
        "notifications/progress" => typed::<ProgressNotification>(text, Known::ProgressNotification),
        "notifications/prompts/list_changed" => {
            typed::<PromptListChangedNotification>(text, Known::PromptListChangedNotification)
        }
        "notifications/resources/list_changed" => {
            typed::<ResourceListChangedNotification>(text, Known::ResourceListChangedNotification)
        }
        "notifications/tools/list_changed" => {
            typed::<ToolListChangedNotification>(text, Known::ToolListChangedNotification)
        }
        "notifications/subscriptions/acknowledged" => {
            typed::<SubscriptionsAcknowledgedNotification>(text, Known::SubscriptionsAcknowledgedNotification)
        }
        _ => None,
    };
    if let Some(known) = known {
        return Ok(known);
    }
    let params = params.map(|params| serde_json::from_str(params.get())).transpose()?;
    Ok(Known::CustomNotification(CustomNotification::new(method, params)))
}

/// Reads the result of a request of the SDK itself: of one that opens a connection, or that
/// subscribes.
fn result(result: &RawValue) -> Result<ServerResult> {
    #[derive(Deserialize)]
    struct Members {
        #[serde(rename = "supportedVersions")]
        supported: Option<IgnoredAny>,
        #[serde(rename = "protocolVersion")]
        version: Option<IgnoredAny>,
        #[serde(rename = "_meta")]
        meta: Option<Map<String, Value>>,
    }
    let text = result.get();
    let members = serde_json::from_str::<Members>(text).ok();
    let subscribes = |meta: &Map<String, Value>| meta.contains_key("io.modelcontextprotocol/subscriptionId");
    let typed = match members {
        Some(Members { supported: Some(_), .. }) => {
            serde_json::from_str(text).map(ServerResult::DiscoverResult).ok()
        }
        Some(Members { version: Some(_), .. }) => {
            serde_json::from_str(text).map(ServerResult::InitializeResult).ok()
        }
        Some(Members { meta: Some(meta), .. }) if subscribes(&meta) => {
            serde_json::from_str(text).map(ServerResult::SubscriptionsListenResult).ok()
        }
        _ => None,
    };
    match typed {
        Some(typed) => Ok(typed),
        None => serde_json::from_str(text).map(|value| ServerResult::CustomResult(CustomResult::new(value))),
    }
}

/// Writes a message of the client.
///
/// # Errors
/// Returns an error for a message that this client does not send.
pub(super) fn write(message: &ClientJsonRpcMessage) -> io::Result<String> {
    let unused = || io::Error::other("a message that this client does not send");
    let value = match message {
        JsonRpcMessage::Request(request) => {
            let value = match &request.request {
                ClientRequest::DiscoverRequest(request) => typed(request),
                ClientRequest::InitializeRequest(request) => typed(request),
                ClientRequest::SubscriptionsListenRequest(request) => typed(request),
                _ => return Err(unused()),
            };
            with(value?, "id", serde_json::to_value(&request.id)?)
        }
        JsonRpcMessage::Notification(notification) => match &notification.notification {
            ClientNotification::InitializedNotification(notification) => typed(notification)?,
            ClientNotification::CancelledNotification(notification) => typed(notification)?,
            _ => return Err(unused()),
        },
        JsonRpcMessage::Response(response) => {
            let result = match &response.result {
                ClientResult::EmptyResult(_) => json!({}),
                ClientResult::CustomResult(result) => result.0.clone(),
                _ => return Err(unused()),
            };
            json!({ "id": response.id, "result": result })
        }
        JsonRpcMessage::Error(error) => json!({ "id": error.id, "error": error.error }),
    };
    Ok(with(value, "jsonrpc", "2.0".into()).to_string())
}

fn typed(message: &impl Serialize) -> Result<Value> {
    serde_json::to_value(message)
}

fn with(mut message: Value, name: &str, value: Value) -> Value {
    message[name] = value;
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the SDK itself reads it.
    fn sdk(text: &str) -> ServerJsonRpcMessage {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn messages_are_those_of_the_sdk() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"n","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":0.5,"total":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}"#,
            r#"{"jsonrpc":"2.0","id":4,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":4}}}"#,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"m","data":[1]}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#,
        ] {
            assert_eq!(
                serde_json::to_value(read(text).unwrap()).unwrap(),
                serde_json::to_value(sdk(text)).unwrap(),
                "{text}"
            );
        }
    }

    #[test]
    fn other_messages_are_passed_as_they_are() {
        let read = |text: &str| read(text).unwrap();
        let request = read(r#"{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"a":[1.5]}}"#);
        let JsonRpcMessage::Request(request) = request else { panic!("{request:?}") };
        let ServerRequest::CustomRequest(request) = request.request else { panic!("{request:?}") };
        assert_eq!(
            (request.method.as_str(), request.params),
            ("elicitation/create", Some(json!({"a": [1.5]})))
        );
        let response = read(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
        assert!(
            matches!(response, JsonRpcMessage::Response(one) if matches!(one.result, ServerResult::CustomResult(_)))
        );
        let odd = read(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":[]}"#);
        assert!(
            matches!(odd, JsonRpcMessage::Notification(one) if matches!(one.notification, ServerNotification::CustomNotification(_)))
        );
        for text in [
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":{},"result":1}"#,
            "[]",
        ] {
            assert!(super::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn written_messages_are_those_of_the_sdk() {
        use rmcp::model::{ClientCapabilities, Implementation, InitializeRequest, InitializeRequestParams};
        let params =
            InitializeRequestParams::new(ClientCapabilities::default(), Implementation::new("n", "1"));
        let initialize = ClientRequest::InitializeRequest(InitializeRequest::new(params));
        let answer = ClientResult::CustomResult(CustomResult::new(json!({"action": "decline"})));
        let error = ErrorData::internal_error("m", None);
        for message in [
            ClientJsonRpcMessage::request(initialize, RequestId::Number(1)),
            ClientJsonRpcMessage::response(answer, RequestId::Number(2)),
            ClientJsonRpcMessage::error(error, Some(RequestId::Number(3))),
        ] {
            let written: Value = serde_json::from_str(&write(&message).unwrap()).unwrap();
            assert_eq!(written, serde_json::to_value(&message).unwrap());
        }
    }
}
