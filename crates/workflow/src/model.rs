//! The interfaces that a host implements: models, which answer prompts and may call tools, and
//! fetchers of inputs.

use std::io::Write;

use serde_json::Value;
use trommel_tool::{Cancel, Failure, Metadata};

/// Something that answers prompts. It is called from any thread, several times at once.
pub trait Model: Send + Sync {
    /// An error if it could never answer a step that asks for this model, or for the default one.
    /// It is called for all steps before the first one runs, and sends nothing.
    fn check(&self, model: Option<&str>) -> Result<(), Failure> {
        let _ = model;
        Ok(())
    }

    /// Answers what was said so far: with a text, or by asking for tools.
    ///
    /// It should stop when the request's flag is raised. A failure says what went wrong and what to
    /// do, without secrets.
    fn answer(&self, request: &Request<'_>) -> Result<Reply, Failure>;
}

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The model's name, if the step names one.
    pub model: Option<&'a str>,
    /// How much it is to think, if the step says so.
    pub thinking: Option<&'a str>,
    /// What was said so far, the prompt first.
    pub messages: &'a [Message],
    /// The tools it may ask for.
    pub tools: &'a [&'a Metadata],
    /// Raised when the answer is not wanted any more.
    pub cancel: &'a Cancel,
}

impl<'a> Request<'a> {
    /// Asks the usual model, without tools.
    pub fn new(messages: &'a [Message], cancel: &'a Cancel) -> Self {
        Self { model: None, thinking: None, messages, tools: &[], cancel }
    }
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// By the document: a prompt.
    Prompt(String),
    /// By the model.
    Reply(Reply),
    /// By a tool, to a call of the model's.
    Tool {
        /// The call's id.
        id: String,
        /// The result, or the manifest of it, or what went wrong.
        content: String,
    },
}

/// What a model says.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// A text; the answer when no tools are asked for.
    pub text: String,
    /// The tools it asks for.
    pub calls: Vec<ToolCall>,
}

impl Reply {
    /// An answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), calls: Vec::new() }
    }

    /// Asks for a tool as well.
    #[must_use]
    pub fn call(mut self, id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        self.calls.push(ToolCall { id: id.into(), name: name.into(), arguments });
        self
    }
}

/// A tool that a model asks for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// What the model calls this call.
    pub id: String,
    /// The tool's name, as it was exported.
    pub name: String,
    /// The arguments; a text where they are no JSON.
    pub arguments: Value,
}

/// Fetches what an address leads to, or answers a query. It is called from any thread.
pub trait Fetch: Send + Sync {
    /// An error if this source could never be fetched. It is called for all steps before the first
    /// one runs, and fetches nothing.
    fn check(&self, source: &str) -> Result<(), Failure> {
        let _ = source;
        Ok(())
    }

    /// Writes it, piece by piece, as it comes. A failure says what went wrong and what to do,
    /// without secrets.
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
