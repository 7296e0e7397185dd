//! A model at an endpoint with `OpenAI`'s interface: `POST …/chat/completions`.

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

/// The default timeout of a request.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The interval at which a waiting caller checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The longest pause before a retry. If the endpoint asks for a longer one, the request is not
/// repeated.
const MAX_PAUSE: Duration = Duration::from_mins(1);

/// The maximum size of a response.
const MAX_RESPONSE_BYTES: u64 = 16 << 20;

/// The maximum length of an endpoint's error message.
const MAX_MESSAGE_CHARS: usize = 500;

/// A model at an endpoint with `OpenAI`'s interface. An `https://` address needs the feature `tls`.
///
/// Redirects are not followed, so the key is sent only to the given address. A cancelled request
/// fails at once. Its exchange continues on a thread of its own, at most until the timeout.
///
/// If the endpoint is too busy (status 429 or 503), the request is repeated up to four times. The
/// pauses are 1, 2, 4, and 8 seconds, or as long as `Retry-After` requires, up to a minute. An
/// answer that is refused, filtered, truncated, or empty is a failure.
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

/// The outcome of one exchange.
enum Exchange {
    Answer(Choice),
    /// The endpoint is too busy. The duration is that of its `Retry-After`, if any.
    Busy(Failure, Option<Duration>),
}

impl Endpoint {
    /// Creates an endpoint from its base address, such as `https://api.example.org/v1`.
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

    /// Sets the key. It is sent only to the endpoint, and never shown.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        let key = key.into();
        self.address.add_secret(&key);
        self.key = Some(key);
        self
    }

    /// Sets the model for steps that name none.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the timeout of a request. The default is ten minutes.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.agent = agent(timeout);
        self.timeout = timeout;
        self
    }

    /// Sets the number of retries if the endpoint is too busy, and the first pause. Each further
    /// pause is twice as long.
    #[must_use]
    pub fn retries(mut self, times: u32, pause: Duration) -> Self {
        (self.retries, self.pause) = (times, pause);
        self
    }

    /// Returns the model that the step names, or the default one.
    fn model_name<'a>(&'a self, model: Option<&'a str>) -> Result<&'a str, Failure> {
        if !cfg!(feature = "tls") && self.address.is_https() {
            return Err(self.failure(
                "this build has no TLS, which `https://` needs",
                "install trommel with `--features tls`, or name an `http://` address",
            ));
        }
        model.or(self.model.as_deref()).ok_or_else(|| {
            Failure::refused(
                "the step names no model, and no default is set: write `@model NAME`, or set a default model",
            )
        })
    }

    /// Returns a failure with a cause and a remedy, without secrets.
    fn failure(&self, cause: &str, next: &str) -> Failure {
        // Redact before the final cut: half of a secret would not be recognized. The first cut
        // bounds the work of the redaction.
        let cause: String = safe(cause).chars().take(4 * MAX_MESSAGE_CHARS).collect();
        let cause: String = self.address.clean(&cause).chars().take(MAX_MESSAGE_CHARS).collect();
        Failure::new(format!("the model at {} did not answer: {cause}; {next}", safe(&self.address.display)))
    }

    /// Sends a request. Retries while the endpoint is too busy.
    fn request_choice(&self, body: Value, cancel: &Cancel) -> Result<Choice, Failure> {
        let body = Arc::new(body);
        let mut pause = self.pause.min(MAX_PAUSE);
        let mut remaining = self.retries;
        loop {
            let (failure, after) = match self.exchange(&body, cancel)? {
                Exchange::Answer(choice) => return Ok(choice),
                Exchange::Busy(failure, after) => (failure, after),
            };
            let wait = after.unwrap_or(pause);
            if remaining == 0 || wait > MAX_PAUSE {
                return Err(failure);
            }
            sleep(wait, cancel)?;
            remaining -= 1;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Performs one exchange on a separate thread, because a blocked request cannot be cancelled.
    fn exchange(&self, body: &Arc<Value>, cancel: &Cancel) -> Result<Exchange, Failure> {
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let (endpoint, body) = (self.clone(), Arc::clone(body));
        // Sending fails if the caller stopped waiting.
        let exchange = move || drop(sender.send(endpoint.post(&body)));
        let thread = thread::Builder::new().name("trommel-model".to_owned()).spawn(exchange);
        thread.map_err(|error| self.failure(&error.to_string(), "try again"))?;
        loop {
            match receiver.recv_timeout(POLL_INTERVAL) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => return Err(Failure::cancelled()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.failure("the request thread ended unexpectedly", "try again"));
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
            .map_err(|error| self.transport_failure(&error, "check the address, and try again"))?;
        let status = response.status();
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let (after, location) = (header("retry-after"), header("location"));
        let read = response.body_mut().with_config().limit(MAX_RESPONSE_BYTES).read_to_vec();
        let read = read.map_err(|error| self.transport_failure(&error, "try again"))?;
        match status.as_u16() {
            status @ (429 | 503) => {
                let after = after.as_deref().and_then(retry_after);
                let next = after.filter(|after| *after > MAX_PAUSE).map_or_else(
                    || "wait, and try again".to_owned(),
                    |after| format!("try again in {} seconds", after.as_secs()),
                );
                Ok(Exchange::Busy(self.status_failure(status, &read, &next), after))
            }
            status @ 300..=399 => {
                let to = location.map_or("another address".to_owned(), |to| self.address.clean(&to));
                let next = format!("it redirects to {}: use that address", safe(&to));
                Err(self.status_failure(status, &read, &next))
            }
            _ if status.is_success() => {
                let choice = answer::choice(&read).map_err(|(cause, next)| self.failure(&cause, next))?;
                Ok(Exchange::Answer(choice))
            }
            status => Err(self.status_failure(status, &read, remedy(status))),
        }
    }

    /// The failure of an exchange without a complete response.
    fn transport_failure(&self, error: &ureq::Error, next: &str) -> Failure {
        if let ureq::Error::Timeout(_) = error {
            let cause = format!("no answer within {} seconds", self.timeout.as_secs());
            return self.failure(&cause, "ask for less, or raise the time limit of requests");
        }
        self.failure(&error.to_string(), next)
    }

    fn status_failure(&self, status: u16, body: &[u8], next: &str) -> Failure {
        let body: Option<Value> = serde_json::from_slice(body).ok();
        let message = body.as_ref().and_then(|body| answer::error_message(body.get("error").unwrap_or(body)));
        let message = message.map_or(String::new(), |message| format!(", {message}"));
        self.failure(&format!("status {status}{message}"), next)
    }
}

/// The remedy for an HTTP status.
fn remedy(status: u16) -> &'static str {
    match status {
        401 | 403 => "check the key",
        404 => "check the address and the model's name",
        413 => "send less: route inputs to variables",
        400..=499 => "check that the endpoint supports this request",
        _ => "try again",
    }
}

/// Parses the pause of a `Retry-After` header: seconds, or a date.
fn retry_after(after: &str) -> Option<Duration> {
    let after = after.trim();
    if let Ok(seconds) = after.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    // An HTTP date is an RFC 2822 date, except that its time zone is `GMT`.
    let date = jiff::fmt::rfc2822::parse(&after.replace("GMT", "+0000")).ok()?.timestamp();
    let seconds = date.as_second().saturating_sub(Timestamp::now().as_second());
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

/// Sleeps, or fails as soon as the request is cancelled.
fn sleep(pause: Duration, cancel: &Cancel) -> Result<(), Failure> {
    let since = Instant::now();
    while let Some(remaining) = pause.checked_sub(since.elapsed()).filter(|remaining| !remaining.is_zero()) {
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        thread::sleep(remaining.min(POLL_INTERVAL));
    }
    Ok(())
}

fn agent(timeout: Duration) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .http_status_as_error(false)
        .max_redirects(0)
        // A redirect is reported with its target instead of being followed with the key.
        .max_redirects_will_error(false)
        .user_agent(concat!("trommel/", env!("CARGO_PKG_VERSION")));
    config.build().into()
}

impl Model for Endpoint {
    fn check(&self, model: Option<&str>) -> Result<(), Failure> {
        self.model_name(model).map(drop)
    }

    fn answer(&self, request: &Request<'_>) -> Result<Reply, Failure> {
        let model = self.model_name(request.model)?;
        let export = Dialect::OpenAi.export(request.tools);
        let mut body = Map::new();
        body.insert("model".into(), model.into());
        let messages = request.messages.iter().map(|one| message(one, &export));
        body.insert("messages".into(), messages.collect());
        if !export.tools.is_empty() {
            body.insert("tools".into(), export.document());
        }
        if let Some(effort) = request.thinking.and_then(reasoning_effort) {
            body.insert("reasoning_effort".into(), effort.into());
        }
        let choice = self.request_choice(Value::Object(body), request.cancel)?;
        choice.reply(request.messages.len(), &export).map_err(|(cause, next)| self.failure(&cause, next))
    }
}

/// Translates a step's `thinking` to the endpoint's `reasoning_effort`; `None` for its default.
fn reasoning_effort(thinking: &str) -> Option<&str> {
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
            let mut sent = json!({"role": "assistant", "content": reply.text});
            if let (Some(sent), false) = (sent.as_object_mut(), reply.calls.is_empty()) {
                sent.insert("tool_calls".into(), reply.calls.iter().map(call).collect());
            }
            sent
        }
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("model", &self.model).finish_non_exhaustive()
    }
}
