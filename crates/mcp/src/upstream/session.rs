//! The client's side of a connection: how it opens, and the requests on it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData, ProtocolVersion};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::calls::{Observer, Outcome, Outgoing, Reply, Waiting};
use super::inbox::Inbox;
use super::link::Link;
use super::message::Sent;
use super::params::Params;

/// How long a server may leave `server/discover` unanswered. Then it is asked as an older one.
const PATIENCE: Duration = Duration::from_secs(2);

/// The request that opens a newer connection.
pub(super) const DISCOVER: &str = "server/discover";

/// The request that opens an older connection.
pub(super) const INITIALIZE: &str = "initialize";

/// The notification that ends the opening of an older connection.
pub(super) const INITIALIZED: &str = "notifications/initialized";

/// The version that an older server is offered.
const OLDER: &str = "2025-11-25";

/// The first version without `initialize`.
pub(super) const NEWER: &str = "2026-07-28";

/// What a server can do, as it declares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capabilities(Map<String, Value>);

impl Capabilities {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    /// True if the server reports changes of a list.
    pub(super) fn reports(&self, list: &str) -> bool {
        self.0.get(list).is_some_and(|list| list["listChanged"] == true)
    }
}

/// What both sides agreed on.
#[derive(Debug)]
pub(super) struct Agreed {
    pub(super) version: String,
    pub(super) capabilities: Capabilities,
}

/// An open connection.
pub(super) struct Session {
    pub(super) agreed: Agreed,
    inbox: Inbox,
    link: Arc<dyn Link>,
}

impl Session {
    /// Opens a connection: as a newer one, or as an older one if the server does not know the
    /// request.
    ///
    /// # Errors
    /// Returns the reason why the server refuses, or that it closed the connection.
    pub(super) async fn open(inbox: Inbox, link: Arc<dyn Link>) -> Result<Self, String> {
        let opening = Opening { inbox: &inbox, link: &*link };
        let agreed = opening.agree().await?;
        Ok(Self { agreed, inbox, link })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.inbox.calls.is_closed()
    }

    /// Sends a request.
    ///
    /// # Errors
    /// [`io::ErrorKind::BrokenPipe`] if the connection has closed.
    pub(super) async fn request(
        &self,
        method: &str,
        outgoing: Outgoing,
        observer: Option<Observer>,
    ) -> io::Result<Waiting> {
        let mut meta = meta(&self.agreed.version);
        let has_observer = observer.is_some();
        let waiting = self.inbox.calls.open(outgoing, observer).ok_or(io::ErrorKind::BrokenPipe)?;
        if has_observer {
            meta.insert("progressToken".to_owned(), waiting.id.into());
        }
        send(&*self.link, method, waiting, &meta).await
    }

    /// Tells the server that the caller of a request no longer waits.
    pub(super) async fn cancel(&self, waiting: &Waiting, reason: &str) {
        // A closed connection needs no cancellation.
        let _ = self.link.send(Sent::cancellation(waiting.request_id(), reason)).await;
    }
}

/// The metadata of requests: newer servers get the version and capabilities with each of them.
fn meta(version: &str) -> Map<String, Value> {
    let mut meta = Map::new();
    if version >= NEWER {
        let mut insert =
            |name: &str, value: Value| meta.insert(format!("io.modelcontextprotocol/{name}"), value);
        insert("protocolVersion", version.into());
        insert("clientInfo", client());
        insert("clientCapabilities", capabilities());
    }
    meta
}

fn client() -> Value {
    json!({ "name": "trommel", "version": env!("CARGO_PKG_VERSION") })
}

fn capabilities() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} } })
}

/// Sends a request that waits.
async fn send(
    link: &dyn Link,
    method: &str,
    waiting: Waiting,
    meta: &Map<String, Value>,
) -> io::Result<Waiting> {
    let outgoing = &waiting.outgoing;
    let params = Params::parse(&outgoing.params).map_err(io::Error::other)?;
    let params = params.with_meta(meta, outgoing.elicitation.as_ref());
    let (id, name) = (waiting.id, Value::from(method));
    let version = meta.get(VERSION).and_then(Value::as_str).map(str::to_owned);
    let message = Sent {
        body: format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{name},"params":{params}}}"#),
        id: Some(waiting.request_id()),
        method: method.to_owned(),
        version,
        outgoing: Some(Arc::clone(outgoing)),
        cancels: None,
    };
    link.send(message).await?;
    Ok(waiting)
}

/// The member of the metadata with the version.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A connection that is being opened.
struct Opening<'s> {
    inbox: &'s Inbox,
    link: &'s dyn Link,
}

/// What an answer to `server/discover` means.
enum Discovered {
    Agreed(Agreed),
    /// The server wants another version.
    Again(String),
    /// The server does not know the request.
    Older,
}

impl Opening<'_> {
    async fn agree(&self) -> Result<Agreed, String> {
        let mut tried = Vec::new();
        let mut version = NEWER.to_owned();
        loop {
            let mut asked = self.send(DISCOVER, "{}", &meta(&version)).await?;
            tried.push(version);
            let Ok(answer) = tokio::time::timeout(PATIENCE, &mut asked.answer).await else {
                return self.agree_as_older(Some(asked)).await;
            };
            match discovered(answer.map_err(|_closed| CLOSED)?, &tried)? {
                Discovered::Agreed(agreed) => return Ok(agreed),
                Discovered::Again(other) => version = other,
                Discovered::Older => return self.agree_as_older(None).await,
            }
        }
    }

    /// Opens an older connection, unless the server answers `server/discover` after all.
    async fn agree_as_older(&self, mut late: Option<Waiting>) -> Result<Agreed, String> {
        let params =
            json!({ "protocolVersion": OLDER, "capabilities": capabilities(), "clientInfo": client() });
        let mut asked = self.send(INITIALIZE, &params.to_string(), &Map::new()).await?;
        let mut refused = None;
        let agreed = loop {
            tokio::select! {
                biased;
                answer = late_answer(&mut late), if late.is_some() => {
                    late = None;
                    if let Discovered::Agreed(agreed) = discovered(answer.map_err(|_closed| CLOSED)?, &[])? {
                        return Ok(agreed);
                    }
                }
                answer = &mut asked.answer, if refused.is_none() => {
                    match initialized(answer.map_err(|_closed| CLOSED)?) {
                        Ok(agreed) => break agreed,
                        Err(why) => refused = Some(why),
                    }
                }
                else => return Err(refused.unwrap_or_else(|| CLOSED.to_owned())),
            }
        };
        let done = Sent::notification(INITIALIZED, None);
        self.link.send(done).await.map_err(|error| error.to_string())?;
        Ok(agreed)
    }

    async fn send(&self, method: &str, params: &str, meta: &Map<String, Value>) -> Result<Waiting, String> {
        let waiting = self.inbox.calls.open(Outgoing::plain(params.to_owned()), None).ok_or(CLOSED)?;
        let sent = send(self.link, method, waiting, meta).await;
        sent.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => CLOSED.to_owned(),
            _ => format!("{method}: {error}"),
        })
    }
}

const CLOSED: &str = "the connection closed";

async fn late_answer(late: &mut Option<Waiting>) -> Result<Outcome, tokio::sync::oneshot::error::RecvError> {
    match late {
        Some(late) => (&mut late.answer).await,
        None => std::future::pending().await,
    }
}

/// Interprets the answer to `server/discover`. `tried` are the versions that were offered so far.
fn discovered(answer: Outcome, tried: &[String]) -> Result<Discovered, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Discovery {
        supported_versions: Vec<String>,
        #[serde(default)]
        capabilities: Map<String, Value>,
    }
    let error = match answer {
        Ok(reply) => {
            // Some older servers answer any request with an empty result.
            let Ok(found) = serde_json::from_str::<Discovery>(&text(reply)?) else {
                return Ok(Discovered::Older);
            };
            let version = common(&found.supported_versions, |_| true)
                .ok_or_else(|| no_version(&found.supported_versions))?;
            let capabilities = Capabilities(found.capabilities);
            return Ok(Discovered::Agreed(Agreed { version, capabilities }));
        }
        Err(error) => error,
    };
    match error.code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => {
            let supported = error.data.map(|mut data| data["supported"].take());
            let supported: Vec<String> =
                supported.and_then(|supported| serde_json::from_value(supported).ok()).unwrap_or(Vec::new());
            // A version that was refused may be offered once more, but not for ever.
            let is_new = |version: &str| tried.iter().filter(|other| *other == version).count() < 2;
            common(&supported, is_new).map(Discovered::Again).ok_or_else(|| no_version(&supported))
        }
        ErrorCode::HEADER_MISMATCH | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY => {
            Err(format!("{DISCOVER}: {}", error.message))
        }
        _ => Ok(Discovered::Older),
    }
}

/// Interprets the answer to `initialize`.
fn initialized(answer: Outcome) -> Result<Agreed, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized {
        protocol_version: String,
        #[serde(default)]
        capabilities: Map<String, Value>,
    }
    let invalid = |why: &str| format!("{INITIALIZE}: {why}");
    let reply = answer.map_err(|error: ErrorData| invalid(&error.message))?;
    let found: Initialized =
        serde_json::from_str(&text(reply)?).map_err(|error| invalid(&format!("invalid result: {error}")))?;
    Ok(Agreed { version: found.protocol_version, capabilities: Capabilities(found.capabilities) })
}

fn text(reply: Reply) -> Result<String, String> {
    match reply {
        Reply::Whole(text) => Ok(text),
        Reply::Reduced(_) => Err("the answer is too long".to_owned()),
    }
}

/// The newest version that both sides know.
fn common(supported: &[String], is_allowed: impl Fn(&str) -> bool) -> Option<String> {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().rev().map(ProtocolVersion::as_str);
    let mut both = known.filter(|known| supported.iter().any(|other| other == known));
    both.find(|version| is_allowed(version)).map(str::to_owned)
}

fn no_version(supported: &[String]) -> String {
    format!("no common version of the protocol: the server knows {}", supported.join(", "))
}
