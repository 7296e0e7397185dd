//! The interfaces that a host implements: models, which answer prompts and may call tools, and
//! fetchers of inputs.

use std::io::Write;

use serde_json::Value;
use trommel_tool::{Cancel, Failure, Metadata};

/// A model that answers prompts. It is called from any thread, also several times at once.
pub trait Model: Send + Sync {
    /// Returns an error if the named model, or the default one, can never answer. It is called for
    /// all steps before the first one runs, and must not send a request.
    fn check(&self, model: Option<&str>) -> Result<(), Failure> {
        let _ = model;
        Ok(())
    }

    /// Continues a conversation: returns a text, or requests calls of tools.
    ///
    /// An implementation should stop when [`Request::cancel`] is raised. The message of a failure
    /// states the cause and the remedy, and must not contain secrets.
    fn answer(&self, request: &Request<'_>) -> Result<Reply, Failure>;
}

/// A request to a model.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The model's name, if the step has one.
    pub model: Option<&'a str>,
    /// The thinking effort, if the step sets one.
    pub thinking: Option<&'a str>,
    /// The conversation so far. The first message is the prompt.
    pub messages: &'a [Message],
    /// The tools that the model may call.
    pub tools: &'a [&'a Metadata],
    /// Raised when the caller stops waiting for the answer.
    pub cancel: &'a Cancel,
}

impl<'a> Request<'a> {
    /// Creates a request to the default model, without tools.
    pub fn new(messages: &'a [Message], cancel: &'a Cancel) -> Self {
        Self { model: None, thinking: None, messages, tools: &[], cancel }
    }
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// A prompt from the document.
    Prompt(String),
    /// A reply of the model.
    Reply(Reply),
    /// The outcome of a call that the model requested.
    Tool {
        /// The ID of the call.
        id: String,
        /// The result, its manifest, or the error.
        content: String,
    },
}

/// A reply of a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// The text; the final answer if `calls` is empty.
    pub text: String,
    /// The tool calls that the model requests.
    pub calls: Vec<ToolCall>,
}

impl Reply {
    /// Creates an answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), calls: Vec::new() }
    }

    /// Adds the request of a tool call.
    #[must_use]
    pub fn call(mut self, id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        self.calls.push(ToolCall { id: id.into(), name: name.into(), arguments });
        self
    }
}

/// A tool call that a model requests.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The model's ID for this call.
    pub id: String,
    /// The tool's exported name.
    pub name: String,
    /// The arguments, or a text if they are not valid JSON.
    pub arguments: Value,
}

/// A fetcher of `url:` or `query:` inputs. It is called from any thread.
pub trait Fetch: Send + Sync {
    /// Returns an error if this source can never be fetched. It is called for all steps before the
    /// first one runs, and must not fetch anything.
    fn check(&self, source: &str) -> Result<(), Failure> {
        let _ = source;
        Ok(())
    }

    /// Writes the content to `to` in pieces, as it arrives. The message of a failure states the
    /// cause and the remedy, and must not contain secrets.
    fn fetch(&self, source: &str, to: &mut dyn Write) -> Result<(), Failure>;
}

impl<F> Fetch for F
where
    F: Fn(&str, &mut dyn Write) -> Result<(), Failure> + Send + Sync,
{
    fn fetch(&self, source: &str, to: &mut dyn Write) -> Result<(), Failure> {
        self(source, to)
    }
}
