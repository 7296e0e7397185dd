//! The text of results.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use trommel_tool::{Output, ToolError, ToolExecution};

use crate::era::Era;

/// The `_meta` member with the name and version of a server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// A result under construction: its members, then those that every result has in its era.
pub(crate) struct ResultText {
    era: Era,
    text: String,
}

impl ResultText {
    pub(crate) fn new(era: Era) -> Self {
        Self { era, text: String::from("{") }
    }

    /// Adds a member whose value is JSON text.
    pub(crate) fn raw(mut self, name: &str, value: &str) -> Self {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.text.push_str(&string(name));
        self.text.push(':');
        self.text.push_str(value);
        self
    }

    /// Adds a member.
    pub(crate) fn member(self, name: &str, value: &Value) -> Self {
        self.raw(name, &value.to_string())
    }

    /// Adds how long clients may keep the result.
    pub(crate) fn cached(self, ttl_ms: u64, scope: &str) -> Self {
        match self.era {
            Era::Modern => self.member("ttlMs", &ttl_ms.into()).member("cacheScope", &scope.into()),
            Era::Legacy => self,
        }
    }

    /// Returns the complete text.
    pub(crate) fn finish(self) -> String {
        let complete = match self.era {
            Era::Modern => self
                .member("resultType", &"complete".into())
                .member("_meta", &json!({ SERVER_INFO: implementation() })),
            Era::Legacy => self,
        };
        complete.text + "}"
    }
}

/// The name and version of this server.
pub(crate) fn implementation() -> Value {
    json!({ "name": "trommel", "version": env!("CARGO_PKG_VERSION") })
}

/// Returns a JSON string.
pub(crate) fn string(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns a text block of a result's content.
pub(crate) fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, string(text))
}

/// Returns the result of a call of one of our tools.
///
/// The answer is structured content, and the same JSON is a text block for clients that read only
/// text. If the answer is incomplete, a block before it says so, because a client may cut the end of
/// the text.
pub(crate) fn execution(era: Era, execution: &ToolExecution) -> String {
    let result = &execution.result;
    if let Some(error) = &result.error {
        return failure(era, &error_text(error));
    }
    let output = result.output.as_ref();
    let mut blocks = Vec::new();
    if let Some(Output::Json(answer)) = output {
        blocks.extend(incomplete(answer).map(|note| text_block(&note)));
    }
    if let Some(warning) = result.metadata.get("warning") {
        let warning = warning.as_str().map_or_else(|| warning.to_string(), str::to_owned);
        blocks.push(text_block(&format!("warning: {warning}")));
    }
    blocks.push(text_block(output.map_or("", Output::as_str)));
    let text = ResultText::new(era).raw("content", &format!("[{}]", blocks.join(",")));
    let text = match output {
        Some(Output::Json(answer)) if era == Era::Modern || answer.get().starts_with('{') => {
            text.raw("structuredContent", answer.get())
        }
        _ => text,
    };
    text.raw("isError", "false").finish()
}

/// Returns the result of a call that failed.
pub(crate) fn failure(era: Era, message: &str) -> String {
    let content = format!("[{}]", text_block(message));
    ResultText::new(era).raw("content", &content).raw("isError", "true").finish()
}

/// The message of an error, its faults, and the next steps.
fn error_text(error: &ToolError) -> String {
    let mut text = error.message.clone();
    for cause in &error.causes {
        text.push_str("\ncaused by: ");
        text.push_str(cause);
    }
    let corrections = error.faults.iter().filter_map(|fault| fault.did_you_mean.as_deref());
    for correction in corrections.map(|name| format!("did you mean `{name}`?")) {
        text.push_str("\nhelp: ");
        text.push_str(&correction);
    }
    for suggestion in &error.suggestions {
        text.push_str("\nhelp: ");
        text.push_str(suggestion);
    }
    text
}

/// Returns a sentence about an answer that is incomplete.
fn incomplete(answer: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow)]
        truncated: Option<Truncated<'a>>,
    }
    #[derive(Deserialize)]
    struct Truncated<'a> {
        reason: String,
        #[serde(borrow)]
        next: Option<&'a RawValue>,
    }
    let Answer { truncated } = serde_json::from_str(answer.get()).ok()?;
    let Truncated { reason, next } = truncated?;
    let next = next.map_or_else(
        || "`truncated` has the details".to_owned(),
        |next| format!("to continue, repeat the call with {next} from `truncated.next`"),
    );
    Some(format!("This answer is incomplete ({reason}): {next}."))
}

/// Returns the JSON of a value that is known to serialize.
pub(crate) fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| {
        debug_assert!(false, "the value does not serialize: {error}");
        json!({ "error": error.to_string() }).to_string()
    })
}
