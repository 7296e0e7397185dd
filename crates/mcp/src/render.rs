//! The text of results.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use trommel_base::text::clip;
use trommel_store::Store;
use trommel_tool::{Output, ToolError, ToolExecution};

use crate::era::Era;
use crate::manifest::{self, ManifestText};
use crate::resources;
use crate::upstream::{Params, Part, Reduced};

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
        self.finish_as("complete")
    }

    /// Returns the complete text of a result of a type.
    pub(crate) fn finish_as(self, kind: &str) -> String {
        let complete = match self.era {
            Era::Modern => self
                .member("resultType", &kind.into())
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
/// text. If the answer is incomplete, a block before it says so, because a client may cut the end
/// of the text.
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

/// Returns the result of a call that succeeded, with a text of ours.
pub(crate) fn message(era: Era, text: &str) -> String {
    ResultText::new(era).raw("content", &format!("[{}]", text_block(text))).raw("isError", "false").finish()
}

/// Returns the result of a call that failed.
pub(crate) fn failure(era: Era, message: &str) -> String {
    let content = format!("[{}]", text_block(message));
    ResultText::new(era).raw("content", &content).raw("isError", "true").finish()
}

/// The message of a result that is an error, as far as it is short.
pub(crate) fn error_of(result: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Failed {
        #[serde(default, rename = "isError")]
        is_error: bool,
    }
    #[derive(Deserialize)]
    struct Message {
        content: Vec<Value>,
    }
    // Few results are errors, and most are long.
    let is_error = serde_json::from_str::<Failed>(result).is_ok_and(|result| result.is_error);
    if !is_error {
        return None;
    }
    let blocks = serde_json::from_str(result).map_or_else(|_| Vec::new(), |Message { content }| content);
    let text = blocks.iter().find_map(|block| block["text"].as_str()).unwrap_or("the tool failed");
    Some(clip(text, 1_000).into_owned())
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
        |next| format!("continue with {next}, which is `truncated.next`"),
    );
    Some(format!("This answer is incomplete ({reason}): {next}."))
}

/// Returns the result of a server, unchanged but for what the client's revision needs: a type, and
/// structured content only if it is an object.
pub(crate) fn passed(era: Era, text: String, has_type: bool, is_odd: bool) -> String {
    match era {
        Era::Modern if !has_type => with_member(text, r#""resultType":"complete""#),
        Era::Legacy if is_odd => match Params::parse(&text) {
            Ok(mut members) => {
                members.remove("structuredContent");
                members.text()
            }
            Err(_) => text,
        },
        _ => text,
    }
}

/// Adds to the contents of a resource how long they may be kept, if the server did not say.
pub(crate) fn cacheable(era: Era, text: String) -> String {
    let is_complete = Params::parse(&text).is_ok_and(|members| members.get("contents").is_some());
    let has_hint = Params::parse(&text).is_ok_and(|members| members.get("ttlMs").is_some());
    if era == Era::Legacy || !is_complete || has_hint {
        return text;
    }
    with_member(text, r#""ttlMs":0,"cacheScope":"private""#)
}

/// Adds a member to the text of an object.
pub(crate) fn with_member(mut text: String, member: &str) -> String {
    text.truncate(text.trim_end().len());
    if text.pop() == Some('}') {
        let is_empty = text.trim_end().ends_with('{');
        text.push_str(if is_empty { "" } else { "," });
        text.push_str(member);
        text.push('}');
    }
    text
}

/// The maximum number of characters of all manifests in a result.
const MANIFEST_CHARS: usize = 2_000;

/// The stored values that get a link, and the characters of a link.
const LINKS: usize = 3;
const LINK_CHARS: usize = 250;

/// Returns the result of a server whose long values were stored: manifests in their place, and the
/// rest verbatim.
pub(crate) fn reduced(era: Era, store: &Store, reduced: &Reduced, what: &str) -> String {
    let manifests = reduced.parts.iter().filter_map(|part| match part {
        Part::Stored { stored, role, texts } => {
            Some(ManifestText { store, stored, role: *role, texts: *texts, what })
        }
        _ => None,
    });
    let manifests: Vec<ManifestText<'_>> = manifests.collect();
    let links: Vec<String> = manifests.iter().take(LINKS).map(|manifest| link(manifest.stored)).collect();
    let most = MANIFEST_CHARS - links.len() * LINK_CHARS;
    // One text for all of them, in the place of the first.
    let mut manifest = match &manifests[..] {
        [] => None,
        [one] => Some(one.write(most, reduced.is_structured_repeated)),
        all => Some(manifest::several(all, most)),
    };
    let mut blocks = Vec::new();
    for part in &reduced.parts {
        match part {
            Part::Verbatim(block) => blocks.push(block.clone()),
            Part::Stored { .. } => blocks.extend(manifest.take().map(|text| text_block(&text))),
            Part::Lost { head, bytes, why } => {
                let notice = format!(
                    "This result is incomplete: only its start follows. All of it has {bytes} bytes, and could not be stored: {why}"
                );
                blocks.push(text_block(&notice));
                blocks.push(text_block(head));
            }
        }
    }
    if reduced.is_resource {
        return resource(era, &reduced.parts, blocks, what);
    }
    blocks.extend(links);
    let mut text = ResultText::new(era).raw("content", &format!("[{}]", blocks.join(",")));
    for (name, value) in &reduced.members {
        if !matches!(name.as_str(), "resultType" | "_meta") {
            text = text.raw(name, value);
        }
    }
    if let Some(structured) = &reduced.structured
        && (era == Era::Modern || structured.starts_with('{'))
    {
        text = text.raw("structuredContent", structured);
    }
    text.finish()
}

/// A link to a stored output, as a block.
fn link(stored: &trommel_store::Stored) -> String {
    let mut block = json!({ "type": "resource_link" });
    if let (Some(block), Value::Object(described)) = (block.as_object_mut(), resources::describe(stored)) {
        block.extend(described);
    }
    block.to_string()
}

/// Returns the contents of a resource. Texts become contents with the URI that was read.
fn resource(era: Era, parts: &[Part], blocks: Vec<String>, uri: &str) -> String {
    let is_stored = |part: &&Part| matches!(part, Part::Stored { .. });
    // The stored parts have one block together, and a lost one has two.
    let mut is_first = true;
    let mut is_verbatim = parts
        .iter()
        .filter(|part| !is_stored(part) || std::mem::take(&mut is_first))
        .flat_map(|part| match part {
            Part::Verbatim(_) => vec![true],
            Part::Stored { .. } => vec![false],
            Part::Lost { .. } => vec![false, false],
        });
    let contents = blocks.into_iter().map(|block| {
        if is_verbatim.next().unwrap_or(false) {
            return block;
        }
        let text: Value = serde_json::from_str(&block).unwrap_or(Value::Null);
        json!({ "uri": uri, "mimeType": "text/plain", "text": text["text"] }).to_string()
    });
    let contents = format!("[{}]", contents.collect::<Vec<_>>().join(","));
    ResultText::new(era).raw("contents", &contents).cached(0, "private").finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_added_to_objects() {
        assert_eq!(with_member(r#"{"a":1} "#.into(), r#""b":2"#), r#"{"a":1,"b":2}"#);
        assert_eq!(with_member("{ }".into(), r#""b":2"#), r#"{ "b":2}"#);
    }

    #[test]
    fn older_clients_get_structured_objects_only() {
        let text = r#"{"content":[],"structuredContent":[1.0],"x":1e999}"#;
        assert_eq!(passed(Era::Legacy, text.into(), false, true), r#"{"content":[],"x":1e999}"#);
        assert_eq!(passed(Era::Legacy, text.into(), false, false), text);
        let modern = r#"{"content":[],"structuredContent":[1.0],"x":1e999,"resultType":"complete"}"#;
        assert_eq!(passed(Era::Modern, text.into(), false, true), modern);
        assert_eq!(passed(Era::Modern, modern.into(), true, true), modern);
    }

    #[test]
    fn incomplete_answers_say_so_first() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let answer = raw(r#"{"extracted":[],"truncated":{"reason":"max_chars","returned":0,"next":"abc"}}"#);
        let note = incomplete(&answer).unwrap();
        assert!(note.contains("incomplete (max_chars)") && note.contains(r#""abc""#), "{note}");
        assert_eq!(incomplete(&raw(r#"{"extracted":{"truncated":{"reason":"x"}}}"#)), None);
        assert_eq!(incomplete(&raw("[1]")), None);
    }
}
