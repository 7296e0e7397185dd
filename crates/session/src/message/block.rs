//! Blocks of a message's content, and tool calls.

use trommel::reader::{self, Cursor, Kind, Names, Payload, Scalar, Text};

use super::{
    Call, MAX_CALLS, MAX_NAME_CHARS, Message, MessageLimits, TextMarkers, TextPrefix, content, text,
};
use crate::value::Value;

/// The members of blocks and calls that are read.
const BLOCK: [&str; 13] = [
    "type",
    "text",
    "thinking",
    "id",
    "name",
    "tool",
    "input",
    "arguments",
    "function",
    "tool_use_id",
    "tool_call_id",
    "content",
    "is_error",
];

/// A block of a content. Its type may come after its text.
#[derive(Default)]
struct Block {
    kind: String,
    call: Call,
    answers: Option<String>,
    text: TextPrefix,
    start: TextMarkers,
    thinking: u64,
    is_error: bool,
}

/// Reads a block of a message.
pub(super) fn block(
    cursor: &mut Cursor<'_>,
    limits: MessageLimits,
    message: &mut Message,
) -> reader::Result<()> {
    let mut block = Block::default();
    block.read(cursor, limits)?;
    let is_result = block.is_result();
    let Block { kind, call, answers, text, start, thinking, is_error } = block;
    message.thinking += thinking;
    message.is_error |= is_result && is_error;
    message.add_result(answers);
    match &*kind {
        _ if is_result => message.content.has_results = true,
        "thinking" | "redacted_thinking" | "reasoning" => {
            (message.content.has_own, message.content.has_thinking) = (true, true);
        }
        _ if is_call(&kind) => {
            message.content.has_own = true;
            if message.calls.len() < MAX_CALLS {
                message.calls.push(call);
            }
        }
        _ if text.chars > 0 => message.content.text(start),
        "text" => message.content.has_own = true,
        _ => (message.content.has_own, message.content.has_plain) = (true, true),
    }
    if text.chars > 0 {
        let whole = Text::plain(&text.text);
        let rest = text.chars - whole.char_len();
        message.text.add(&whole, limits.text);
        message.text.chars += rest;
    }
    Ok(())
}

fn is_call(kind: &str) -> bool {
    matches!(kind, "tool_call" | "tool_use" | "server_tool_use")
}

/// The blocks of a content that error reports need: tool calls, and the first result of a failed
/// tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    /// The IDs and tools of calls.
    pub(crate) calls: Vec<(String, String)>,
    /// The ID of the failed call, and a prefix of its result.
    pub(crate) failed: Option<(String, String)>,
    /// A prefix of the first text.
    pub(crate) text: String,
}

/// The maximum number of characters of a text in [`Blocks`].
const MAX_BLOCK_TEXT_CHARS: usize = 600;

/// The maximum number of calls in [`Blocks`].
const MAX_BLOCK_CALLS: usize = 100;

/// Reads the next value as a content. None if it is not a list.
pub(crate) fn blocks(cursor: &mut Cursor<'_>) -> reader::Result<Option<Blocks>> {
    if cursor.peek()? != Some(Kind::Array) {
        return cursor.skip_value().map(|_| None);
    }
    cursor.begin_value()?;
    let mut found = Blocks::default();
    while cursor.next_element()? {
        if cursor.peek()? != Some(Kind::Object) {
            cursor.skip_value()?;
            continue;
        }
        let mut block = Block::default();
        block.read(cursor, MessageLimits::new(MAX_BLOCK_TEXT_CHARS, 0))?;
        if is_call(&block.kind) && found.calls.len() < MAX_BLOCK_CALLS {
            found.calls.push((block.call.id, block.call.tool));
        } else if block.is_result() && block.is_error && found.failed.is_none() {
            found.failed = Some((block.answers.unwrap_or_default(), block.text.text));
        } else if block.kind == "text" && found.text.is_empty() {
            found.text = block.text.text;
        }
    }
    Ok(Some(found))
}

impl Block {
    fn is_result(&self) -> bool {
        self.kind == "tool_result" || self.answers.is_some()
    }

    fn read(&mut self, cursor: &mut Cursor<'_>, limits: MessageLimits) -> reader::Result<()> {
        thread_local! {
            static MEMBERS: Names = Names::new(BLOCK);
        }
        cursor.begin_value()?;
        MEMBERS.with(|names| {
            while let Some(number) = cursor.next_named(names)? {
                self.member(cursor, BLOCK[number], limits)?;
            }
            Ok(())
        })
    }

    fn member(&mut self, cursor: &mut Cursor<'_>, name: &str, limits: MessageLimits) -> reader::Result<()> {
        let kind = cursor.peek()?;
        match (name, kind) {
            ("text", Some(Kind::String)) => {
                self.start = text(cursor, limits, &mut self.text)?;
                Ok(())
            }
            ("content", Some(Kind::String | Kind::Array)) => self.result(cursor, limits),
            ("thinking", Some(Kind::String)) => {
                cursor.begin_value()?;
                if let Payload::Scalar(Scalar::String(text)) = cursor.payload() {
                    self.thinking += text.char_len();
                }
                Ok(())
            }
            ("input" | "arguments", _) => self.call.read_arguments(cursor, limits),
            ("function", Some(Kind::Object)) => self.read(cursor, limits),
            ("type" | "id" | "name" | "tool" | "tool_use_id" | "tool_call_id" | "is_error", _) => {
                let mut value = Value::default();
                value.capture(cursor, MAX_NAME_CHARS)?;
                let text = value.text().map(std::borrow::Cow::into_owned);
                match name {
                    "type" if self.kind.is_empty() => self.kind = text.unwrap_or_default(),
                    "id" => self.call.id = text.unwrap_or_default(),
                    "name" | "tool" => self.call.tool = text.unwrap_or_default(),
                    "tool_use_id" | "tool_call_id" => self.answers = text,
                    "is_error" => self.is_error = value.json() == Some("true"),
                    _ => {}
                }
                Ok(())
            }
            _ => cursor.skip_value().map(drop),
        }
    }

    /// Reads a tool's result: a text, or a list of blocks.
    fn result(&mut self, cursor: &mut Cursor<'_>, limits: MessageLimits) -> reader::Result<()> {
        let mut inner = Message::default();
        content(cursor, limits, &mut inner)?;
        self.text = inner.text;
        Ok(())
    }
}

impl Call {
    /// Reads arguments, given as an object or as its text.
    fn read_arguments(&mut self, cursor: &mut Cursor<'_>, limits: MessageLimits) -> reader::Result<()> {
        if limits.arguments == 0 {
            return cursor.skip_value().map(drop);
        }
        let mut value = Value::default();
        value.capture(cursor, limits.arguments)?;
        self.arguments_cut = value.is_too_long();
        self.arguments = match value.text() {
            Some(text) => text.into_owned(),
            None => value.json().unwrap_or_default().to_owned(),
        };
        Ok(())
    }
}

/// Reads calls in either shape: `{id, tool, arguments}`, or `{id, function: {name, arguments}}`.
pub(super) fn calls(
    cursor: &mut Cursor<'_>,
    limits: MessageLimits,
    message: &mut Message,
) -> reader::Result<()> {
    if cursor.peek()? != Some(Kind::Array) {
        return cursor.skip_value().map(drop);
    }
    cursor.begin_value()?;
    while cursor.next_element()? {
        if cursor.peek()? != Some(Kind::Object) {
            cursor.skip_value()?;
            continue;
        }
        let mut block = Block::default();
        block.read(cursor, limits)?;
        if message.calls.len() < MAX_CALLS {
            message.calls.push(block.call);
        }
    }
    Ok(())
}
