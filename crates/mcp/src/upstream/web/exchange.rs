//! One exchange over HTTP: a message, and the messages that answer it.

use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde::Deserialize;
use serde_json::json;
use trommel_base::text::{clip, safe};
use ureq::Body;
use ureq::http::Response;

use super::events::Events;
use super::{Post, Site, VERSION};
use crate::upstream::RETRY;
use crate::upstream::calls::Reply;
use crate::upstream::line::Arrival;
use crate::upstream::link::Link;
use crate::upstream::message::Incoming;
use crate::upstream::session::{DISCOVER, INITIALIZE, INITIALIZED};

/// The pause before a stream is opened again, unless the server asks for another.
const PAUSE: Duration = Duration::from_secs(1);

/// The longest such pause.
const MAX_PAUSE: Duration = Duration::from_mins(1);

/// The number of times that a stream is opened again without a new event.
const ATTEMPTS: u32 = 5;

/// A stream that was open this long did not fail.
const QUIET: Duration = Duration::from_secs(5);

/// The interval in which a pause looks for its end.
const POLL: Duration = Duration::from_millis(20);

/// The bytes of a refusal that are read.
const MAX_REFUSAL: u64 = 64 << 10;

/// The reason why an exchange has no answer.
enum Fault {
    /// The server has ended the session, and did not handle the message.
    SessionEnded(String),
    /// Only this message is concerned.
    Failed(String),
    /// The server's own error.
    Refused(ErrorData),
    /// The connection is of no use.
    Closed(String),
    /// Nobody waits for the answer.
    Abandoned,
}

/// Sends a message, and passes the answers on.
pub(super) fn run(site: &Arc<Site>, post: &Post) {
    let Some((ticket, agent)) = site.begin(post.id.clone()) else { return };
    let exchange = Exchange { site, post, ticket, agent };
    let outcome = exchange.send();
    let is_wanted = site.finish(ticket);
    match outcome {
        Ok(()) if post.method == INITIALIZED => listen(site),
        Ok(()) | Err(Fault::Abandoned) => {}
        Err(_) if !is_wanted => {}
        Err(fault) => exchange.report(fault),
    }
}

/// Opens the stream on which an older server sends messages of its own, if it has one.
fn listen(site: &Arc<Site>) {
    let name = format!("{} events", site.log.server());
    let post = Post::default();
    let listening = Arc::clone(site);
    let spawned = thread::Builder::new().name(name).spawn(move || {
        let site = listening;
        let Some((ticket, agent)) = site.begin(None) else { return };
        let exchange = Exchange { site: &site, post: &post, ticket, agent };
        // Without the stream, changes of the server's lists go unnoticed until it starts again.
        match exchange.resume(None) {
            Ok(response) if is_events(&response) => {
                if let Err(Fault::Failed(why) | Fault::Closed(why)) = exchange.follow(response) {
                    site.log.note(&format!("the stream of the server's own messages ended: {why}"));
                }
            }
            // The server has no such stream.
            Ok(_) | Err(Fault::Abandoned) => {}
            Err(fault) => exchange.report(fault),
        }
        site.finish(ticket);
    });
    if let Err(error) = spawned {
        site.log.note(&format!("no thread for the stream of the server's own messages: {error}"));
    }
}

struct Exchange<'s> {
    site: &'s Arc<Site>,
    post: &'s Post,
    ticket: u64,
    agent: ureq::Agent,
}

impl Exchange<'_> {
    fn send(&self) -> Result<(), Fault> {
        let mut request = self.agent.post(&self.site.address.url).header("Content-Type", "application/json");
        request = request.header("Accept", "application/json, text/event-stream");
        for (name, value) in self.headers() {
            request = request.header(name, value);
        }
        let response = request.send(self.post.body.as_str()).map_err(|error| self.unreachable(&error))?;
        if self.post.method == INITIALIZE
            && let Some(session) = response.headers().get("mcp-session-id")
        {
            self.site.lock().session = session.to_str().ok().map(str::to_owned);
        }
        match response.status().as_u16() {
            200..=299 if self.post.id.is_none() => Ok(()),
            202 | 204 => Err(Fault::Failed("the server accepted the request, and sent no answer".to_owned())),
            200..=299 if is_events(&response) => self.follow(response),
            200..=299 => self.whole(response),
            _ => Err(self.refusal(response)),
        }
    }

    /// The headers of the configuration, of the connection, and of the message.
    fn headers(&self) -> Vec<(String, String)> {
        let mut headers = self.site.address.headers.clone();
        let state = self.site.lock();
        let has_version = self.post.headers.iter().any(|(name, _)| *name == VERSION);
        if self.post.method != INITIALIZE && !has_version {
            headers.extend(state.version.clone().map(|version| (VERSION.to_owned(), version)));
            headers.extend(state.session.clone().map(|session| ("Mcp-Session-Id".to_owned(), session)));
        }
        headers.extend(self.post.headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        headers.extend(self.post.mirrored.iter().cloned());
        headers
    }

    /// Reads a response that is one message.
    fn whole(&self, response: Response<Body>) -> Result<(), Fault> {
        let kind = response.body().mime_type().unwrap_or("without a type").to_owned();
        let mut reader = response.into_body().into_reader();
        let arrival = self.site.messages.read(&mut reader);
        let arrival = arrival.map_err(|error| self.broken(&error))?;
        let is_answer = match arrival {
            Some(arrival) => self.deliver(arrival)?,
            None => false,
        };
        if !is_answer {
            return Err(Fault::Failed(format!("the server sent no answer to the request ({kind})")));
        }
        // To its end, so that the connection can be used again.
        let _ = io::copy(&mut reader.take(MAX_REFUSAL), &mut io::sink());
        Ok(())
    }

    /// Reads the events of a response until one of them is the answer. An older server may close
    /// the stream before, and send the rest on another.
    fn follow(&self, response: Response<Body>) -> Result<(), Fault> {
        let mut last_id = None;
        let mut pause = PAUSE;
        let mut attempts = 0;
        let mut response = response;
        loop {
            let opened = Instant::now();
            let reader = BufReader::with_capacity(64 << 10, response.into_body().into_reader());
            let mut events = Events::new(reader);
            let end = loop {
                let mut data = match events.next() {
                    Ok(Some(data)) => data,
                    Ok(None) => break "the server closed the stream before it answered".to_owned(),
                    Err(error) => break error.to_string(),
                };
                attempts = 0;
                let arrival = match self.site.messages.read(&mut data) {
                    Ok(arrival) => arrival,
                    Err(error) => break error.to_string(),
                };
                if let Some(arrival) = arrival
                    && self.deliver(arrival)?
                {
                    return Ok(());
                }
                if let Err(error) = io::copy(&mut data, &mut io::sink()) {
                    break error.to_string();
                }
            };
            pause = events.retry.unwrap_or(pause).min(MAX_PAUSE);
            last_id = events.last_id.or(last_id);
            // A server may close a quiet stream again and again.
            attempts = if opened.elapsed() > QUIET { 0 } else { attempts + 1 };
            // A stream without numbers cannot be continued, unless it belongs to no request.
            let can_resume =
                self.site.lock().version.is_some() && (last_id.is_some() || self.post.id.is_none());
            if !can_resume || attempts > ATTEMPTS {
                return Err(Fault::Failed(end));
            }
            self.wait(pause)?;
            response = self.resume(last_id.as_deref())?;
            if !is_events(&response) {
                return Err(Fault::Failed(format!("{end}, and did not continue it ({})", response.status())));
            }
        }
    }

    fn wait(&self, pause: Duration) -> Result<(), Fault> {
        let mut left = pause;
        while !left.is_zero() {
            if !self.site.is_running(self.ticket) {
                return Err(Fault::Abandoned);
            }
            let step = POLL.min(left);
            thread::sleep(step);
            left = left.saturating_sub(step);
        }
        Ok(())
    }

    /// Opens a stream for the messages after an event, or for those that belong to no request.
    fn resume(&self, last_id: Option<&str>) -> Result<Response<Body>, Fault> {
        let mut request = self.agent.get(&self.site.address.url).header("Accept", "text/event-stream");
        for (name, value) in self.headers() {
            request = request.header(name, value);
        }
        if let Some(id) = last_id {
            request = request.header("Last-Event-ID", id);
        }
        request.call().map_err(|error| self.unreachable(&error))
    }

    /// Passes a message on. Returns true if it is the answer.
    fn deliver(&self, arrival: Arrival) -> Result<bool, Fault> {
        let message = match arrival {
            Arrival::Message(message) | Arrival::TooLong(Some(message)) => message,
            Arrival::Noise(line) => {
                self.site.log.note(&line);
                return Ok(false);
            }
            Arrival::TooLong(None) => {
                let limit = self.site.messages.max_bytes;
                return Err(Fault::Failed(format!("the server's message is longer than {limit} bytes")));
            }
        };
        let is_answer = message.answers().is_some() && message.answers() == self.post.id.as_ref();
        if let (true, INITIALIZE, Incoming::Response(_, Ok(Reply::Whole(result)))) =
            (is_answer, self.post.method.as_str(), &message)
            && let Ok(Initialized { version }) = serde_json::from_str(result)
        {
            self.site.lock().version = Some(version);
        }
        if self.site.inbox.calls.is_closed() {
            return Err(Fault::Abandoned);
        }
        self.site.inbox.receive(message, || Some(Arc::new(Arc::clone(self.site)) as Arc<dyn Link>));
        Ok(is_answer)
    }

    /// The reason for a response whose status is not a success.
    fn refusal(&self, response: Response<Body>) -> Fault {
        #[derive(Deserialize)]
        struct Refusal {
            error: ErrorData,
        }
        let status = response.status();
        let place = response.headers().get("location").and_then(|place| place.to_str().ok());
        let place = place.map_or_else(String::new, |place| format!(" to {}", safe(&clip(place, 200))));
        let mut body = Vec::new();
        let read = response.into_body().into_reader().take(MAX_REFUSAL).read_to_end(&mut body);
        if read.is_ok()
            && let Ok(refusal) = serde_json::from_slice::<Refusal>(&body)
            && !matches!(status.as_u16(), 401 | 403)
            && !(status == 404 && self.has_session())
        {
            return Fault::Refused(refusal.error);
        }
        let shown = &self.site.address.shown;
        let text = String::from_utf8_lossy(&body);
        let text = match text.trim() {
            "" => String::new(),
            text => format!(": {}", safe(&clip(text, 300))),
        };
        if status == 404 && self.has_session() {
            return Fault::SessionEnded(format!("{shown} has ended the session: call again"));
        }
        let (why, concerns_all) = match status.as_u16() {
            401 | 403 => (
                format!(
                    "{shown} refuses access ({status}){text}; set the header Authorization in its configuration"
                ),
                self.post.opens(),
            ),
            300..=399 => (format!("{shown} redirects{place} ({status}): use that address"), true),
            400..=499 if self.post.method == DISCOVER => {
                // An older server does not know the request.
                return Fault::Refused(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, status.to_string(), None));
            }
            400..=499 if self.post.opens() => (
                format!(
                    "{shown} does not answer as an MCP server ({status}){text}; is the address complete?"
                ),
                true,
            ),
            _ => (format!("{shown} answered {status}{text}"), self.post.opens()),
        };
        if concerns_all { Fault::Closed(why) } else { Fault::Failed(why) }
    }

    fn has_session(&self) -> bool {
        self.post.method != INITIALIZE && self.site.lock().session.is_some()
    }

    fn unreachable(&self, error: &ureq::Error) -> Fault {
        Fault::Closed(format!("cannot reach {}: {error}", self.site.address.shown))
    }

    fn broken(&self, error: &io::Error) -> Fault {
        Fault::Failed(format!("the answer of {} was not complete: {error}", self.site.address.shown))
    }

    /// Tells those who wait.
    fn report(&self, fault: Fault) {
        let (message, closed) = match (&self.post.id, fault) {
            (_, Fault::Abandoned) => return,
            // Opening fails with the connection, and with its reason.
            (Some(_), Fault::Closed(why)) if self.post.opens() => (None, Some(why)),
            (Some(id), Fault::Closed(why)) => (Some(Incoming::failure(id.clone(), &why)), Some(why)),
            (Some(id), Fault::SessionEnded(why)) => (Some(session_ended(id, &why)), Some(why)),
            (Some(_), Fault::Failed(why)) if self.post.opens() => (None, Some(why)),
            (Some(id), Fault::Failed(why)) => (Some(Incoming::failure(id.clone(), &why)), None),
            (Some(id), Fault::Refused(error)) => (Some(Incoming::Response(id.clone(), Err(error))), None),
            (None, Fault::Closed(why) | Fault::SessionEnded(why)) => (None, Some(why)),
            (None, Fault::Failed(why)) => {
                self.site.log.note(&why);
                return;
            }
            (None, Fault::Refused(error)) => {
                self.site.log.note(&error.message);
                return;
            }
        };
        if let Some(message) = message {
            self.site.inbox.receive(message, || None);
        }
        if let Some(why) = closed {
            self.site.fail(&why);
        }
    }
}

/// The error of a request that can be sent again in a new session.
fn session_ended(id: &RequestId, why: &str) -> Incoming {
    let data = json!({ "reportedBy": "trommel", RETRY: true });
    Incoming::Response(id.clone(), Err(ErrorData::internal_error(why.to_owned(), Some(data))))
}

/// The member of the result of `initialize` that later requests repeat.
#[derive(Deserialize)]
struct Initialized {
    #[serde(rename = "protocolVersion")]
    version: String,
}

fn is_events(response: &Response<Body>) -> bool {
    response.status().is_success() && response.body().mime_type() == Some("text/event-stream")
}
