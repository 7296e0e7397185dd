//! A model behind an endpoint that speaks as `OpenAI`'s does: `POST …/chat/completions`.

mod address;
mod answer;

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use trommel_base::text::safe;
use trommel_tool::dialect::{Dialect, Export};
use trommel_tool::{Cancel, Failure};

use crate::model::{Message, Model, Reply, Request, ToolCall};
use address::Address;
use answer::Choice;

/// The longest time that a request may take, unless set otherwise.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The interval at which a waiting caller checks for cancellation.
const LOOK: Duration = Duration::from_millis(20);

/// The longest pause before a request is repeated. An endpoint that asks for a longer one gets no
/// further request.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Bytes of an answer at most.
const LONGEST: u64 = 16 << 20;

/// Characters of an endpoint's error message.
const SAID: usize = 500;

/// A model behind an endpoint that speaks as `OpenAI`'s does.
///
/// Redirects are not followed, so that the key goes to the given address only. A request whose flag
/// is raised fails at once; the exchange that it began ends by itself, at the latest when its time
/// is up.
///
/// A request that the endpoint is too busy for (status 429 or 503) is repeated up to four times,
/// after 1, 2, 4 and 8 seconds, or after as long as its `Retry-After` says, up to a minute. An
/// answer that was refused, filtered, cut off, or is empty is a failure.
#[derive(Clone)]
pub struct Endpoint {
    agent: ureq::Agent,
    address: Address,
    key: Option<String>,
    model: Option<String>,
    timeout: Duration,
    retries: u32,
    pause: Duration,
}

/// The end of one exchange.
enum Exchange {
    Answer(Choice),
    /// The endpoint is too busy, and says perhaps when to try again.
    Busy(Failure, Option<Duration>),
}

impl Endpoint {
    /// An endpoint by its base address, such as `https://api.example.org/v1`.
    pub fn new(base: &str) -> Self {
        Self {
            agent: agent(TIMEOUT),
            address: Address::new(base),
            key: None,
            model: None,
            timeout: TIMEOUT,
            retries: 4,
            pause: Duration::from_secs(1),
        }
    }

    /// Sets the key. It is sent to the endpoint only, and never shown.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        let key = key.into();
        self.address.add(&key);
        self.key = Some(key);
        self
    }

    /// Sets the model that answers where a step names none.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the longest time that a request may take: ten minutes unless set.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.agent = agent(timeout);
        self.timeout = timeout;
        self
    }

    /// Sets how often a request is repeated that the endpoint is too busy for, and the first pause;
    /// each further pause is twice as long.
    #[must_use]
    pub fn retries(mut self, times: u32, pause: Duration) -> Self {
        (self.retries, self.pause) = (times, pause);
        self
    }

    /// The model that a step names, or the default one.
    fn chosen<'a>(&'a self, model: Option<&'a str>) -> Result<&'a str, Failure> {
        model.or(self.model.as_deref()).ok_or_else(|| {
            Failure::refused(
                "the step names no model, and there is no default: write `@model NAME`, or set a default model",
            )
        })
    }

    fn failure(&self, why: &str, next: &str) -> Failure {
        let why: String = safe(why).chars().take(4 * SAID).collect();
        let why: String = self.address.clean(&why).chars().take(SAID).collect();
        Failure::new(format!("the model at {} did not answer: {why}; {next}", safe(&self.address.shown)))
    }

    /// Sends a request, and again while the endpoint is too busy.
    fn ask(&self, body: Value, cancel: &Cancel) -> Result<Choice, Failure> {
        let body = Arc::new(body);
        let mut pause = self.pause.min(LONGEST_PAUSE);
        let mut left = self.retries;
        loop {
            let (failure, after) = match self.exchange(&body, cancel)? {
                Exchange::Answer(choice) => return Ok(choice),
                Exchange::Busy(failure, after) => (failure, after),
            };
            let wait = after.unwrap_or(pause);
            if left == 0 || wait > LONGEST_PAUSE {
                return Err(failure);
            }
            sleep(wait, cancel)?;
            left -= 1;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Makes one exchange on a thread of its own, as it cannot be cancelled while it waits.
    fn exchange(&self, body: &Arc<Value>, cancel: &Cancel) -> Result<Exchange, Failure> {
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        let (answered, answer) = mpsc::sync_channel(1);
        let (asking, body) = (self.clone(), Arc::clone(body));
        // The caller may have stopped waiting.
        let exchange = move || drop(answered.send(asking.post(&body)));
        let thread = thread::Builder::new().name("trommel-model".to_owned()).spawn(exchange);
        thread.map_err(|error| self.failure(&error.to_string(), "try again"))?;
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => return Err(Failure::cancelled()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.failure("the exchange broke off", "try again"));
                }
            }
        }
    }

    fn post(&self, body: &Value) -> Result<Exchange, Failure> {
        let mut request = self.agent.post(&self.address.url);
        if let Some(key) = &self.key {
            request = request.header("Authorization", &format!("Bearer {key}"));
        }
        let mut response = request
            .send_json(body)
            .map_err(|error| self.broken(&error, "check the address, and try again"))?;
        let status = response.status();
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let (after, location) = (header("retry-after"), header("location"));
        let read = response.body_mut().with_config().limit(LONGEST).read_to_vec();
        let read = read.map_err(|error| self.broken(&error, "try again"))?;
        match status.as_u16() {
            status @ (429 | 503) => {
                let after = after.as_deref().and_then(pause);
                let next = after.filter(|after| *after > LONGEST_PAUSE).map_or_else(
                    || "wait, and try again".to_owned(),
                    |after| format!("it asks to wait {} seconds: try again then", after.as_secs()),
                );
                Ok(Exchange::Busy(self.refused(status, &read, &next), after))
            }
            status @ 300..=399 => {
                let to = location.map_or("another address".to_owned(), |to| self.address.clean(&to));
                let next = format!("it redirects to {}: use that address", safe(&to));
                Err(self.refused(status, &read, &next))
            }
            _ if status.is_success() => {
                let choice = answer::choice(&read).map_err(|(why, next)| self.failure(&why, next))?;
                Ok(Exchange::Answer(choice))
            }
            status => Err(self.refused(status, &read, advice(status))),
        }
    }

    /// The failure of an exchange that did not come to its end.
    fn broken(&self, error: &ureq::Error, next: &str) -> Failure {
        if let ureq::Error::Timeout(_) = error {
            let why = format!("there was no answer within {} seconds", self.timeout.as_secs());
            return self.failure(&why, "ask for less, or raise the time limit of requests");
        }
        self.failure(&error.to_string(), next)
    }

    fn refused(&self, status: u16, body: &[u8], next: &str) -> Failure {
        let body: Option<Value> = serde_json::from_slice(body).ok();
        let message = body.as_ref().and_then(|body| answer::error_message(body.get("error").unwrap_or(body)));
        let message = message.map_or(String::new(), |message| format!(", {message}"));
        self.failure(&format!("status {status}{message}"), next)
    }
}

/// The advice for a status.
fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "check the key",
        404 => "check the address and the model's name",
        413 => "send less: route inputs to variables",
        400..=499 => "the endpoint does not accept this request",
        _ => "try again",
    }
}

/// The pause that a `Retry-After` asks for: seconds, or a date.
fn pause(after: &str) -> Option<Duration> {
    let after = after.trim();
    if let Ok(seconds) = after.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    // The date of HTTP differs from that of mails in its time zone only.
    let date = jiff::fmt::rfc2822::parse(&after.replace("GMT", "+0000")).ok()?.timestamp();
    let seconds = date.as_second().saturating_sub(Timestamp::now().as_second());
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

/// Waits, unless the answer is not wanted any more.
fn sleep(pause: Duration, cancel: &Cancel) -> Result<(), Failure> {
    let since = Instant::now();
    while let Some(left) = pause.checked_sub(since.elapsed()).filter(|left| !left.is_zero()) {
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        thread::sleep(left.min(LOOK));
    }
    Ok(())
}

fn agent(timeout: Duration) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("trommel/", env!("CARGO_PKG_VERSION")));
    config.build().into()
}

impl Model for Endpoint {
    fn check(&self, model: Option<&str>) -> Result<(), Failure> {
        self.chosen(model).map(drop)
    }

    fn answer(&self, request: &Request<'_>) -> Result<Reply, Failure> {
        let model = self.chosen(request.model)?;
        let export = Dialect::OpenAi.export(request.tools);
        let mut body = Map::new();
        body.insert("model".into(), model.into());
        let spoken = request.messages.iter().map(|said| message(said, &export));
        body.insert("messages".into(), spoken.collect());
        if !export.tools.is_empty() {
            body.insert("tools".into(), export.document());
        }
        if let Some(effort) = request.thinking.and_then(effort) {
            body.insert("reasoning_effort".into(), effort.into());
        }
        let choice = self.ask(Value::Object(body), request.cancel)?;
        choice.reply(request.messages.len(), &export).map_err(|(why, next)| self.failure(&why, next))
    }
}

/// How much to think, in the endpoint's words; nothing for what is usual.
fn effort(thinking: &str) -> Option<&str> {
    match thinking {
        "true" | "yes" | "on" | "1" => Some("medium"),
        "false" | "no" | "off" | "0" => None,
        effort => Some(effort),
    }
}

fn message(message: &Message, export: &Export) -> Value {
    match message {
        Message::Prompt(text) => json!({"role": "user", "content": text}),
        Message::Tool { id, content } => json!({"role": "tool", "tool_call_id": id, "content": content}),
        Message::Reply(reply) => {
            let call = |call: &ToolCall| {
                let arguments =
                    call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_owned);
                let name = export.names.exported(&call.name).unwrap_or(&call.name);
                json!({"id": call.id, "type": "function", "function": {"name": name, "arguments": arguments}})
            };
            let mut said = json!({"role": "assistant", "content": reply.text});
            if let (Some(said), false) = (said.as_object_mut(), reply.calls.is_empty()) {
                said.insert("tool_calls".into(), reply.calls.iter().map(call).collect());
            }
            said
        }
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("model", &self.model).finish_non_exhaustive()
    }
}
