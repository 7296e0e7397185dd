//! The transport over standard input and output, and results in their final text.
//!
//! The SDK parses requests into its types and writes results from them, which rounds numbers and
//! drops members that it does not know. What must arrive verbatim therefore travels around the
//! types: the parameters of a request as [`RawParams`] in its extensions, and the text of a result
//! in its `_meta`, from where the transport takes it.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rmcp::model::{
    ClientJsonRpcMessage, ErrorData, GetExtensions, JsonRpcMessage, MetaObject, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

/// The maximum number of bytes of a request.
pub(crate) const MAX_REQUEST_BYTES: u64 = 16 << 20;

/// The number of messages that wait between a thread and the service.
const QUEUE: usize = 64;

/// The member of `_meta` that holds the text of a result. No message leaves the process with it.
const RAW: &str = "trommel/raw";

/// Returns the metadata of a typed result that stands for this text.
pub(crate) fn raw(result: String) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert(RAW.to_owned(), Value::String(result));
    meta
}

/// The parameters of a request, verbatim.
#[derive(Clone, Debug)]
pub(crate) struct RawParams(pub(crate) Arc<RawValue>);

/// Returns the JSON text of a message.
pub(crate) fn encode(mut message: ServerJsonRpcMessage) -> io::Result<String> {
    if let JsonRpcMessage::Response(response) = &mut message
        && let Some(result) = take_raw(&mut response.result)
    {
        let id = serde_json::to_string(&response.id).map_err(io::Error::other)?;
        return Ok(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }
    serde_json::to_string(&message).map_err(io::Error::other)
}

/// Takes the text of a result out of its metadata.
fn take_raw(result: &mut ServerResult) -> Option<String> {
    let meta = match result {
        ServerResult::CallToolResult(result) => result.meta.as_mut(),
        ServerResult::ReadResourceResult(result) => result.meta.as_mut(),
        ServerResult::GetPromptResult(result) => result.meta.as_mut(),
        ServerResult::ListToolsResult(result) => result.meta.as_mut(),
        ServerResult::ListPromptsResult(result) => result.meta.as_mut(),
        ServerResult::ListResourcesResult(result) => result.meta.as_mut(),
        ServerResult::ListResourceTemplatesResult(result) => result.meta.as_mut(),
        ServerResult::CompleteResult(result) => result.meta.as_mut(),
        ServerResult::GetTaskResult(result) => result.meta.as_mut(),
        ServerResult::InputRequiredResult(result) => result.meta.as_mut(),
        _ => None,
    };
    raw_text(meta?.0.remove(RAW)?)
}

fn raw_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Replaces the typed result of a serialized message by its text, if it stands for one. The HTTP
/// service of the SDK serializes messages itself.
pub(crate) fn restore(message: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
        result: TypedResult,
    }
    #[derive(Deserialize)]
    struct TypedResult {
        #[serde(rename = "_meta")]
        meta: serde_json::Map<String, Value>,
    }
    if !message.contains(RAW) {
        return None;
    }
    let Response { id, mut result } = serde_json::from_str(message).ok()?;
    let text = raw_text(result.meta.remove(RAW)?)?;
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{text}}}"#))
}

/// A transport of one message per line, between a reader and a writer with a thread each.
#[derive(Debug)]
pub(crate) struct Lines {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: mpsc::Sender<String>,
}

impl Lines {
    /// Starts the threads. Joining the returned handle, after the transport was dropped, waits
    /// until everything is written.
    pub(crate) fn start(
        reader: impl BufRead + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> io::Result<(Self, JoinHandle<io::Result<()>>)> {
        let (requests, incoming) = mpsc::channel(QUEUE);
        let (outgoing, lines) = mpsc::channel(QUEUE);
        let replies = outgoing.downgrade();
        thread::Builder::new().name("mcp input".into()).spawn(move || {
            // The service sees the end of the input when the sender is dropped.
            let _ = read(reader, &requests, &replies);
        })?;
        let writing = thread::Builder::new().name("mcp output".into()).spawn(move || write(writer, lines))?;
        Ok((Self { incoming, outgoing }, writing))
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (line, outgoing) = (encode(message), self.outgoing.clone());
        async move { outgoing.send(line?).await.map_err(|_closed| io::ErrorKind::BrokenPipe.into()) }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.incoming.close();
        Ok(())
    }
}

fn write(mut writer: impl Write, mut lines: mpsc::Receiver<String>) -> io::Result<()> {
    while let Some(mut line) = lines.blocking_recv() {
        line.push('\n');
        writer.write_all(line.as_bytes())?;
        writer.flush()?;
    }
    Ok(())
}

/// Reads requests until the end of the input, or until the service no longer takes any.
fn read(
    mut reader: impl BufRead,
    requests: &mpsc::Sender<ClientJsonRpcMessage>,
    replies: &mpsc::WeakSender<String>,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        (&mut reader).take(MAX_REQUEST_BYTES + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        if line.len() as u64 > MAX_REQUEST_BYTES {
            reader.skip_until(b'\n')?;
            let message = format!("the request is longer than {MAX_REQUEST_BYTES} bytes");
            refuse(Refusal { id: None, error: ErrorData::invalid_request(message, None) }, replies);
            continue;
        }
        for message in parse(&line) {
            let message = match message {
                Ok(message) => message,
                Err(refusal) => {
                    refuse(*refusal, replies);
                    continue;
                }
            };
            if requests.blocking_send(message).is_err() {
                return Ok(());
            }
        }
    }
}

/// The answer to a line that is not a message.
#[derive(Debug)]
struct Refusal {
    id: Option<RequestId>,
    error: ErrorData,
}

fn refuse(refusal: Refusal, replies: &mpsc::WeakSender<String>) {
    let Refusal { id, error } = refusal;
    if let (Some(replies), Ok(line)) = (replies.upgrade(), encode(ServerJsonRpcMessage::error(error, id))) {
        // The output is closed, and the service ends as well.
        let _ = replies.blocking_send(line);
    }
}

type Parsed = Result<ClientJsonRpcMessage, Box<Refusal>>;

/// Parses a line: a message, or a batch of messages, which the revision of 2025-03-26 allows. The
/// responses to a batch are sent one by one.
fn parse(line: &[u8]) -> Vec<Parsed> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Vec::new();
    }
    match serde_json::from_slice::<&RawValue>(line) {
        Ok(message) if message.get().starts_with('[') => {
            let messages: Vec<&RawValue> = serde_json::from_str(message.get()).unwrap_or(Vec::new());
            if messages.is_empty() {
                let error = ErrorData::invalid_request("the batch is empty", None);
                return vec![Err(Box::new(Refusal { id: None, error }))];
            }
            messages.into_iter().map(parse_message).collect()
        }
        Ok(message) => vec![parse_message(message)],
        Err(error) => {
            let error = ErrorData::parse_error(format!("the request is not JSON: {error}"), None);
            vec![Err(Box::new(Refusal { id: None, error }))]
        }
    }
}

/// The members of a message that are needed apart from the SDK's types.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

fn parse_message(message: &RawValue) -> Parsed {
    let mut parsed: ClientJsonRpcMessage = serde_json::from_str(message.get()).map_err(|error| {
        #[derive(Deserialize)]
        struct Identified {
            id: Option<RequestId>,
        }
        let id = serde_json::from_str(message.get()).ok().and_then(|Identified { id }| id);
        let error = ErrorData::invalid_request(format!("the request is invalid: {error}"), None);
        Box::new(Refusal { id, error })
    })?;
    if let JsonRpcMessage::Request(request) = &mut parsed
        && let Ok(Envelope { params: Some(params) }) = serde_json::from_str(message.get())
    {
        request.request.extensions_mut().insert(RawParams(params.to_owned().into()));
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use rmcp::model::CallToolResult;
    use serde_json::json;

    use super::*;

    fn response(result: &str) -> ServerJsonRpcMessage {
        let mut typed = CallToolResult::success(Vec::new());
        typed.meta = Some(raw(result.to_owned()));
        ServerJsonRpcMessage::response(ServerResult::CallToolResult(typed), RequestId::Number(7))
    }

    #[test]
    fn results_are_written_verbatim() {
        let result = r#"{"content":[],"n":1.0000000000000000000001,"a\u00e9":"\u2028"}"#;
        let expected = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#);
        assert_eq!(encode(response(result)).unwrap(), expected);
        // Serialized by someone else.
        let serialized = serde_json::to_string(&response(result)).unwrap();
        assert_eq!(restore(&serialized).unwrap(), expected);
        assert_eq!(restore(r#"{"jsonrpc":"2.0","id":7,"result":{"_meta":{"trommel/raw":1}}}"#), None);
    }

    #[test]
    fn parameters_are_kept_verbatim() {
        let line = br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"n":12345678901234567890123}}}"#;
        let [Ok(JsonRpcMessage::Request(request))] = &parse(line)[..] else { panic!() };
        let params = request.request.extensions().get::<RawParams>().unwrap();
        assert_eq!(params.0.get(), r#"{"name":"x","arguments":{"n":12345678901234567890123}}"#);
    }

    #[test]
    fn lines_that_are_no_messages_are_refused() {
        let refused = |line: &str| match &parse(line.as_bytes())[..] {
            [Err(refusal)] => json!([refusal.id, refusal.error.code]),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(refused("hello"), json!([null, -32700]));
        assert_eq!(refused("[]"), json!([null, -32600]));
        assert_eq!(refused(r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#), json!([3, -32600]));
        assert_eq!(refused(&"[".repeat(100_000)), json!([null, -32700]));
        assert!(parse(b" \r\n").is_empty());
        assert_eq!(
            parse(br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#)
                .len(),
            2
        );
    }

    #[test]
    fn long_lines_are_refused_and_skipped() {
        let long = format!("\"{}\"\n", "x".repeat(MAX_REQUEST_BYTES as usize));
        let input = long
            + r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
            + "\n"
            + r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let (requests, mut received) = mpsc::channel(4);
        let (replies, mut lines) = mpsc::channel(4);
        read(io::Cursor::new(input), &requests, &replies.downgrade()).unwrap();
        drop((requests, replies));
        assert!(matches!(received.blocking_recv(), Some(JsonRpcMessage::Notification(_))));
        assert!(matches!(received.blocking_recv(), Some(JsonRpcMessage::Request(_))));
        assert!(received.blocking_recv().is_none());
        assert!(lines.blocking_recv().unwrap().contains("longer than"));
    }
}
