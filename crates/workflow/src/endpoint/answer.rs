//! Parsing of chat completions.
//!
//! An answer that is refused, filtered, truncated, or empty is rejected. If it were accepted, it
//! would overwrite files.

use serde::Deserialize;
use serde_json::{Value, json};
use trommel_tool::dialect::Export;

use crate::model::{Reply, ToolCall};

/// The cause of a rejection, and its remedy.
pub(super) type Rejection = (String, &'static str);

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    error: Value,
}

/// An answer of the model, with the reason for its end.
#[derive(Deserialize)]
pub(super) struct Choice {
    message: ChoiceMessage,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChoiceMessage {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<RequestedCall>>,
}

#[derive(Deserialize)]
struct RequestedCall {
    #[serde(default)]
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// Returns the first choice of a response with status 200.
pub(super) fn choice(body: &[u8]) -> Result<Choice, Rejection> {
    const ADDRESS: &str = "check that the address is that of an OpenAI-compatible endpoint";
    let body: Body = serde_json::from_slice(body)
        .map_err(|error| (format!("the response is not a chat completion ({error})"), ADDRESS))?;
    match body.choices {
        Some(choices) if !choices.is_empty() => {
            choices.into_iter().next().ok_or_else(|| ("the answer has no choices".to_owned(), "try again"))
        }
        _ if !body.error.is_null() => {
            Err((error_message(&body.error).unwrap_or_else(|| body.error.to_string()), "try again"))
        }
        Some(_) => Err(("the answer has no choices".to_owned(), "try again")),
        None => Err(("the response is not a chat completion (missing field `choices`)".to_owned(), ADDRESS)),
    }
}

/// Returns the message of an error object `{"message": …}`, or of an error that is itself a text.
pub(super) fn error_message(error: &Value) -> Option<String> {
    error.get("message").unwrap_or(error).as_str().map(str::to_owned)
}

impl Choice {
    /// Converts the choice to a reply, with the tools' own names. The number `answer` makes
    /// generated call IDs unique within the conversation.
    pub(super) fn reply(self, answer: usize, export: &Export) -> Result<Reply, Rejection> {
        let Self { message: ChoiceMessage { content, refusal, tool_calls }, finish_reason } = self;
        // Some endpoints return the content as an array of parts.
        let part = |kind: &str| match &content {
            Value::Array(parts) => {
                parts.iter().filter_map(|part| part.get(kind).and_then(Value::as_str)).collect::<String>()
            }
            _ => String::new(),
        };
        let refusal = refusal.unwrap_or_default() + &part("refusal");
        if !refusal.trim().is_empty() {
            return Err((format!("it refused: {}", refusal.trim()), "change the prompt"));
        }
        match finish_reason.as_deref() {
            Some("content_filter") => {
                return Err(("a content filter withheld the answer".to_owned(), "change the prompt"));
            }
            Some("length") => {
                let cause = "the answer was cut off at the model's output limit (finish_reason `length`)";
                return Err((
                    cause.to_owned(),
                    "ask for a shorter answer, or raise the limit at the endpoint",
                ));
            }
            _ => {}
        }
        let calls = tool_calls.into_iter().flatten().enumerate();
        let calls: Vec<_> = calls
            .map(|(number, requested)| call(format!("call_{answer}_{number}"), requested, export))
            .collect();
        let text = content.as_str().map_or_else(|| part("text"), str::to_owned);
        if calls.is_empty() && text.trim().is_empty() {
            return Err(("the answer is empty".to_owned(), "try again, or change the prompt"));
        }
        Ok(Reply { text, calls })
    }
}

/// Converts a requested call. If it has no ID, it gets `id`: IDs only associate results with calls.
fn call(id: String, requested: RequestedCall, export: &Export) -> ToolCall {
    let Function { name, arguments } = requested.function;
    // Arguments that are not JSON stay a text. The validation of the call then explains the error
    // to the model.
    let arguments = match arguments {
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::Null => json!({}),
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    let (name, arguments) = match export.restore(&name, arguments.clone()) {
        Some(restored) => restored,
        None => (name, arguments),
    };
    ToolCall { id: requested.id.filter(|id| !id.is_empty()).unwrap_or(id), name, arguments }
}
