//! The transport to a server at a URL: each message is an HTTP request, on a thread of its own
//! (MCP 2025-03-26 to 2026-07-28, Streamable HTTP).

mod address;
mod events;
mod exchange;
mod headers;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rmcp::model::RequestId;
use tokio::sync::oneshot;

use super::inbox::Inbox;
use super::line::Messages;
use super::link::{Link, Sending};
use super::log::ServerLog;
use super::message::Sent;
use super::params::Params;
use super::session::{DISCOVER, INITIALIZE, INITIALIZED, NEWER};
pub(super) use address::Address;
pub(crate) use headers::{Mirrored, without_annotations};

/// How long a connection may take to open.
const CONNECT: Duration = Duration::from_secs(10);

/// How long the end of a session may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// What the exchanges with a server share.
pub(super) struct Site {
    address: Address,
    messages: Messages,
    inbox: Inbox,
    log: ServerLog,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The session that an older server keeps.
    session: Option<String>,
    /// The version that was agreed on with an older server.
    version: Option<String>,
    /// Connections for later requests.
    idle: Vec<ureq::Agent>,
    /// The exchanges in progress. Shutting an agent down ends its exchange.
    running: Vec<(u64, Option<RequestId>, ureq::Agent)>,
    next_ticket: u64,
    /// The exchanges whose threads have not ended.
    active: usize,
    is_closed: bool,
    /// The reason why the connection is of no use.
    fault: Option<String>,
}

/// A message that is sent.
#[derive(Default)]
struct Post {
    /// The number of a request.
    id: Option<RequestId>,
    method: String,
    body: String,
    headers: Vec<(&'static str, String)>,
    mirrored: Vec<(String, String)>,
}

impl Site {
    pub(super) fn new(address: Address, messages: Messages, inbox: Inbox, log: &ServerLog) -> Arc<Self> {
        Arc::new(Self { address, messages, inbox, log: log.clone(), state: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reason why the connection is of no use, if it is.
    pub(super) fn fault(&self) -> Option<String> {
        self.lock().fault.clone()
    }

    /// Takes a connection for an exchange. `None` once all is closed.
    fn begin(&self, id: Option<RequestId>) -> Option<(u64, ureq::Agent)> {
        let mut state = self.lock();
        if state.is_closed {
            return None;
        }
        let agent = state.idle.pop().unwrap_or_else(|| self.address.agent());
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.active += 1;
        state.running.push((ticket, id, agent.clone()));
        Some((ticket, agent))
    }

    /// Returns the connection of an exchange. False if the exchange was ended by the client.
    fn finish(&self, ticket: u64) -> bool {
        let mut state = self.lock();
        state.active -= 1;
        let position = state.running.iter().position(|(other, ..)| *other == ticket);
        let ended = position.map(|position| state.running.swap_remove(position));
        match ended {
            Some((_, _, agent)) => {
                state.idle.push(agent);
                true
            }
            None => false,
        }
    }

    fn is_running(&self, ticket: u64) -> bool {
        self.lock().running.iter().any(|(other, ..)| *other == ticket)
    }

    /// Ends the exchange of a request.
    fn abandon(&self, id: &RequestId) {
        let mut state = self.lock();
        let position = state.running.iter().position(|(_, other, _)| other.as_ref() == Some(id));
        let ended = position.map(|position| state.running.swap_remove(position));
        drop(state);
        if let Some((_, _, agent)) = ended {
            agent.shutdown();
        }
    }

    /// Ends all exchanges, and the session of an older server.
    pub(super) fn close(&self) {
        let (running, session) = {
            let mut state = self.lock();
            state.is_closed = true;
            state.idle.clear();
            (std::mem::take(&mut state.running), state.session.take())
        };
        for (_, _, agent) in running {
            agent.shutdown();
        }
        // An unfinished output is removed before this program can end.
        let deadline = Instant::now() + GOODBYE;
        while self.lock().active > 0 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
        if let Some(session) = session {
            let mut request = self.address.agent().delete(&self.address.url);
            for (name, value) in &self.address.headers {
                request = request.header(name, value);
            }
            let mut request = request.header("Mcp-Session-Id", session);
            if let Some(version) = &self.lock().version {
                request = request.header(VERSION, version);
            }
            // A server may refuse it, or be gone.
            let _ = request.config().timeout_global(Some(GOODBYE)).build().call();
        }
    }

    /// The connection is of no use.
    fn fail(&self, why: &str) {
        self.log.note(why);
        self.lock().fault.get_or_insert_with(|| why.to_owned());
        self.inbox.calls.close();
    }
}

impl Post {
    /// The request that carries a message.
    fn of(message: Sent) -> io::Result<Self> {
        let Sent { id, method, body, version, outgoing, .. } = message;
        let mut post = Self { id, method, body, ..Self::default() };
        let Some(version) = version else { return Ok(post) };
        let is_newer = version.as_str() >= NEWER;
        post.headers.push((VERSION, version));
        if is_newer {
            post.headers.push(("Mcp-Method", post.method.clone()));
            if let Some(outgoing) = outgoing {
                let params = Params::parse(&outgoing.params).map_err(io::Error::other)?;
                let named = headers::named_by(&post.method).and_then(|by| params.get(by));
                let name = named.and_then(|name| serde_json::from_str::<String>(name.get()).ok());
                post.headers.extend(name.map(|name| ("Mcp-Name", headers::encoded(&name))));
                post.mirrored.clone_from(&outgoing.mirrored);
            }
        }
        Ok(post)
    }

    /// True for a request that opens the connection.
    fn opens(&self) -> bool {
        matches!(self.method.as_str(), INITIALIZE | DISCOVER)
    }
}

/// The header of the version.
const VERSION: &str = "MCP-Protocol-Version";

impl Link for Arc<Site> {
    /// Sends a message on a thread of its own.
    fn send(&self, message: Sent) -> Sending {
        let site = Self::clone(self);
        Box::pin(async move { send(site, message).await })
    }
}

async fn send(site: Arc<Site>, message: Sent) -> io::Result<()> {
    if let Some(id) = &message.cancels {
        site.abandon(id);
        // Closing the stream cancels; only older servers need the notification as well.
        if site.lock().version.is_none() {
            return Ok(());
        }
    }
    let post = Post::of(message)?;
    // Later messages must not overtake it.
    let is_awaited = post.method == INITIALIZED;
    let (done, ended) = oneshot::channel();
    thread::Builder::new().name(format!("{} http", site.log.server())).spawn(move || {
        exchange::run(&site, &post);
        // The message need not be awaited.
        let _ = done.send(());
    })?;
    if is_awaited {
        let _ = ended.await;
    }
    Ok(())
}
