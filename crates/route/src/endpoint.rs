//! A model behind an endpoint that speaks as `OpenAI`'s does: `POST …/chat/completions`.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use trommel_tool::dialect::{Dialect, Export};
use trommel_tool::display::safe;
use trommel_tool::{CancelFlag, Failure, Redaction};

use crate::model::{Message, Model, Reply, Request, ToolCall};

/// How long an answer may take, unless set otherwise.
const TIMEOUT: Duration = Duration::from_mins(10);

/// How often a caller who waits for an answer looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// Bytes of an answer at most.
const LONGEST: u64 = 16 << 20;

/// Characters of what an endpoint says about an error.
const SAID: usize = 500;

/// A model behind an endpoint that speaks as `OpenAI`'s does.
///
/// Redirects are not followed, so that the key goes to the address that was given and to no other. A request whose flag is raised
/// fails at once; the exchange that it began ends by itself, at the latest when its time is up.
#[derive(Clone)]
pub struct Endpoint {
    agent: ureq::Agent,
    url: String,
    key: Option<String>,
    model: Option<String>,
}

impl Endpoint {
    /// An endpoint by its base address, such as `https://api.example.org/v1`.
    pub fn new(base: &str) -> Self {
        Self {
            agent: agent(TIMEOUT),
            url: format!("{}/chat/completions", base.trim().trim_end_matches('/')),
            key: None,
            model: None,
        }
    }

    /// Sets the key. It is told to nobody but the endpoint.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets the model that answers where a step names none.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets how long an answer may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.agent = agent(timeout);
        self
    }

    fn failure(&self, why: &str, next: &str) -> Failure {
        let url = Redaction::new().text(&self.url).into_owned();
        let why: String = safe(why).chars().take(SAID).collect();
        let why =
            self.key.as_deref().map_or_else(|| why.clone(), |key| why.replace(key, trommel_tool::REDACTED));
        Failure::new(format!(
            "the model at {} did not answer: {}; {next}",
            safe(&url),
            Redaction::new().text(&why)
        ))
    }

    /// Asks on a thread of its own, as an exchange that waits cannot be told to end.
    fn ask(&self, body: Value, cancel: &CancelFlag) -> Result<Answer, Failure> {
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        let (answered, answer) = mpsc::sync_channel(1);
        let asking = self.clone();
        // Nobody may be waiting any more.
        let exchange = move || drop(answered.send(asking.exchange(&body)));
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

    fn exchange(&self, body: &Value) -> Result<Answer, Failure> {
        let mut request = self.agent.post(&self.url);
        if let Some(key) = &self.key {
            request = request.header("Authorization", &format!("Bearer {key}"));
        }
        let sent = request.send_json(body);
        let mut response = sent.map_err(|error| {
            self.failure(&error.to_string(), "see whether the address is right, and try again")
        })?;
        let status = response.status();
        let read = response.body_mut().with_config().limit(LONGEST).read_to_vec();
        let read = read.map_err(|error| self.failure(&error.to_string(), "try again"))?;
        if !status.is_success() {
            return Err(self.refused(status.as_u16(), &read));
        }
        serde_json::from_slice(&read).map_err(|error| {
            let why = format!("what came is no chat completion ({error})");
            self.failure(&why, "see whether the address is that of an OpenAI-compatible endpoint")
        })
    }

    fn refused(&self, status: u16, body: &[u8]) -> Failure {
        let told: Option<Value> = serde_json::from_slice(body).ok();
        let message = told.as_ref().and_then(|told| {
            let error = told.get("error").unwrap_or(told);
            error.get("message").unwrap_or(error).as_str().map(str::to_owned)
        });
        let said = message.map_or(String::new(), |message| format!(", {message}"));
        let next = match status {
            401 | 403 => "see whether the key is right",
            404 => "see whether the address and the model's name are right",
            413 => "send it less: route inputs to variables",
            429 => "wait, and try again",
            400..=499 => "the endpoint does not take the request as it is",
            _ => "try again",
        };
        self.failure(&format!("status {status}{said}"), next)
    }
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

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Option<Vec<Asked>>,
}

#[derive(Deserialize)]
struct Asked {
    id: String,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Model for Endpoint {
    fn answer(&self, request: &Request<'_>) -> Result<Reply, Failure> {
        let Some(model) = request.model.or(self.model.as_deref()) else {
            return Err(Failure::refused(
                "the step names no model, and there is no usual one: write `@model NAME`",
            ));
        };
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
        let answer = self.ask(Value::Object(body), request.cancel)?;
        let said = answer.choices.into_iter().next();
        let said = said.ok_or_else(|| self.failure("the answer has no choices", "try again"))?.message;
        Ok(reply(said, &export))
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

fn reply(said: Said, export: &Export) -> Reply {
    let text = match said.content {
        Value::String(text) => text,
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    };
    let call = |asked: Asked| {
        let Function { name, arguments } = asked.function;
        // What is no JSON is told to the model by whoever validates it.
        let arguments = match arguments {
            Value::String(text) if text.trim().is_empty() => json!({}),
            Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            other => other,
        };
        let (name, arguments) = match export.restore(&name, arguments.clone()) {
            Some(own) => own,
            None => (name, arguments),
        };
        ToolCall { id: asked.id, name, arguments }
    };
    Reply { text, calls: said.tool_calls.into_iter().flatten().map(call).collect() }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("model", &self.model).finish_non_exhaustive()
    }
}
