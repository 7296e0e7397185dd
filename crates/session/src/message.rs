//! One message of a transcript, in any of the shapes that are written: who said it, when, how it begins, and which tools it
//! calls or answers for. Its length is known, and only a beginning is held.

use jiff::Timestamp;
use trommel::reader::{self, Cursor, Event, Kind, Names, Payload, Scalar, Text};

use crate::project::Value;
use crate::seek::whole;
use crate::time;
use crate::usage::{Usage, look_at_usage};

/// Tool calls and results of one message that are kept.
const CALLS: usize = 10_000;

/// Characters of ids and names.
const NAME: usize = 300;

/// How a message that is no user's begins, though its role says so.
const REMINDER: &str = "<system-reminder>";

/// Bytes that a character is spelt with at most.
const SPELT: usize = 12;

/// Bytes of a text that are decoded at least, to see how it begins.
const LEAST: usize = 1_000;

/// How much of a message is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    /// Characters of its text.
    pub(crate) text: usize,
    /// Characters of the arguments of each call.
    pub(crate) arguments: usize,
}

impl Keep {
    /// As much as it takes to know whose it is.
    pub(crate) const fn least() -> Self {
        Self { text: 64, arguments: 0 }
    }
}

/// A message.
#[derive(Debug, Default)]
pub(crate) struct Message {
    /// Empty where the record is no message.
    pub(crate) role: String,
    pub(crate) time: Option<Timestamp>,
    pub(crate) text: Beginning,
    /// Characters of what it thought.
    pub(crate) thinking: u64,
    pub(crate) calls: Vec<Call>,
    /// Ids of the calls that it answers.
    pub(crate) results: Vec<String>,
    /// The tool's name, of its result.
    pub(crate) name: Option<String>,
    pub(crate) model: Option<String>,
    /// What tells records of one response of a model from those of another.
    pub(crate) response: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) is_error: bool,
    has_tool_call_id: bool,
    /// Written by the program, or said to a sub-agent.
    is_inner: bool,
    content: Content,
}

/// What a message's content is made of.
#[derive(Debug, Default)]
struct Content {
    /// Anything but results of tools.
    has_own: bool,
    has_results: bool,
}

/// A call of a tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) tool: String,
    /// JSON of the arguments, or its beginning.
    pub(crate) arguments: String,
    pub(crate) arguments_cut: bool,
}

/// The beginning of a text, and how long all of it is.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    pub(crate) text: String,
    pub(crate) chars: u64,
    kept: usize,
    is_reminder: bool,
}

impl Beginning {
    fn add(&mut self, text: &Text<'_>, most: usize) {
        let room = most.saturating_sub(self.kept);
        // Of a long text only what may be kept is decoded.
        let raw =
            text.raw().get(..whole(text.raw(), room.saturating_mul(SPELT).max(LEAST))).unwrap_or_default();
        let decoded = Text::from_raw(raw, text.is_escaped()).decode();
        if self.chars > 0 {
            self.add_plain("\n", most);
        } else {
            self.is_reminder = decoded.trim_start().starts_with(REMINDER);
        }
        self.chars += text.char_len();
        let room = most.saturating_sub(self.kept);
        let end = decoded.char_indices().nth(room).map_or(decoded.len(), |(at, _)| at);
        let part = decoded.get(..end).unwrap_or_default();
        self.text.push_str(part);
        self.kept += part.chars().count();
    }

    fn add_plain(&mut self, text: &str, most: usize) {
        self.chars += text.len() as u64;
        if self.kept < most {
            self.text.push_str(text);
            self.kept += text.len();
        }
    }

    /// Lets go of all but so many characters.
    pub(crate) fn keep(&mut self, most: usize) {
        if let Some((end, _)) = self.text.char_indices().nth(most) {
            self.text.truncate(end);
            self.kept = most;
        }
    }

    /// Whether something is left out.
    pub(crate) fn is_cut(&self) -> bool {
        self.chars > self.kept as u64
    }
}

impl Message {
    /// Whether a user said it: the definition of where a turn begins.
    pub(crate) fn is_users(&self) -> bool {
        let answers = self.has_tool_call_id || self.content.has_results && !self.content.has_own;
        self.role == "user" && !answers && !self.is_inner && !self.text.is_reminder
    }

    /// Whether it was said to or by a sub-agent, or is a note of the program.
    pub(crate) fn is_inner(&self) -> bool {
        self.is_inner
    }
}

/// Looks at the record that comes next.
pub(crate) fn look(cursor: &mut Cursor<'_>, keep: Keep) -> reader::Result<Message> {
    thread_local! {
        static MEMBERS: Names = Names::new(NAMES.map(|(name, _)| name));
    }
    let mut message = Message::default();
    MEMBERS.with(|names| members(cursor, names, keep, &mut message))?;
    Ok(message)
}

/// What a member of a message is for.
#[derive(Clone, Copy)]
enum Member {
    Role,
    Content,
    ToolCalls,
    ToolCallId,
    ToolCallIds,
    Name,
    Time,
    Metadata,
    Message,
    Usage,
    Model,
    Response,
    Inner,
}

const NAMES: [(&str, Member); 17] = [
    ("role", Member::Role),
    ("content", Member::Content),
    ("tool_calls", Member::ToolCalls),
    ("tool_call_id", Member::ToolCallId),
    ("tool_call_ids", Member::ToolCallIds),
    ("name", Member::Name),
    ("timestamp", Member::Time),
    ("ts", Member::Time),
    ("metadata", Member::Metadata),
    ("message", Member::Message),
    ("usage", Member::Usage),
    ("model", Member::Model),
    ("id", Member::Response),
    ("isMeta", Member::Inner),
    ("isSidechain", Member::Inner),
    ("isCompactSummary", Member::Inner),
    ("isVisibleInTranscriptOnly", Member::Inner),
];

fn members(cursor: &mut Cursor<'_>, names: &Names, keep: Keep, message: &mut Message) -> reader::Result<()> {
    if !matches!(cursor.begin_value()?, Event::Begin(Kind::Object)) {
        return Ok(());
    }
    while let Some(number) = cursor.next_named(names)? {
        let Some((_, member)) = NAMES.get(number) else { continue };
        match member {
            Member::Message if cursor.peek()? == Some(Kind::Object) => members(cursor, names, keep, message)?,
            Member::Message => cursor.skip_value().map(drop)?,
            Member::Content => content(cursor, keep, message)?,
            Member::ToolCalls => calls(cursor, keep, message)?,
            Member::ToolCallIds => ids(cursor, message)?,
            Member::Metadata => metadata(cursor, message)?,
            Member::Usage => message.usage = look_at_usage(cursor)?.or(message.usage),
            member => scalar(cursor, *member, message)?,
        }
    }
    Ok(())
}

/// A member that is a short text, a number or a word.
fn scalar(cursor: &mut Cursor<'_>, member: Member, message: &mut Message) -> reader::Result<()> {
    let mut value = Value::default();
    value.capture(cursor, NAME)?;
    let text = value.text().filter(|text| !text.is_empty()).map(std::borrow::Cow::into_owned);
    match member {
        Member::Role => message.role = text.unwrap_or_default(),
        Member::ToolCallId => {
            message.has_tool_call_id |= text.is_some();
            message.results.extend(text);
        }
        Member::Name => message.name = text,
        Member::Time => {
            let spelt = text.or_else(|| value.json().map(str::to_owned)).unwrap_or_default();
            message.time = message.time.or_else(|| time::parse(&spelt));
        }
        Member::Model => message.model = text,
        Member::Response => message.response = text,
        Member::Inner => message.is_inner |= value.json() == Some("true"),
        _ => {}
    }
    Ok(())
}

/// A time in the metadata counts before any other.
fn metadata(cursor: &mut Cursor<'_>, message: &mut Message) -> reader::Result<()> {
    if cursor.peek()? != Some(Kind::Object) {
        return cursor.skip_value().map(drop);
    }
    cursor.begin_value()?;
    let names = Names::new(["timestamp"]);
    let mut value = Value::default();
    while cursor.next_named(&names)?.is_some() {
        value.capture(cursor, NAME)?;
        message.time = value.text().and_then(|text| time::parse(&text)).or(message.time);
    }
    Ok(())
}

fn ids(cursor: &mut Cursor<'_>, message: &mut Message) -> reader::Result<()> {
    if cursor.peek()? != Some(Kind::Array) {
        return cursor.skip_value().map(drop);
    }
    cursor.begin_value()?;
    let mut value = Value::default();
    while cursor.next_element()? {
        value.capture(cursor, NAME)?;
        let id = value.text().map(std::borrow::Cow::into_owned);
        message.results.extend(id.filter(|_| message.results.len() < CALLS));
    }
    Ok(())
}

/// A text, or a list of blocks.
fn content(cursor: &mut Cursor<'_>, keep: Keep, message: &mut Message) -> reader::Result<()> {
    match cursor.peek()? {
        Some(Kind::String) => {
            message.content.has_own = true;
            text(cursor, keep, &mut message.text)
        }
        Some(Kind::Array) => {
            cursor.begin_value()?;
            while cursor.next_element()? {
                match cursor.peek()? {
                    Some(Kind::Object) => block(cursor, keep, message)?,
                    Some(Kind::String) => {
                        message.content.has_own = true;
                        text(cursor, keep, &mut message.text)?;
                    }
                    _ => cursor.skip_value().map(drop)?,
                }
            }
            Ok(())
        }
        _ => cursor.skip_value().map(drop),
    }
}

fn text(cursor: &mut Cursor<'_>, keep: Keep, beginning: &mut Beginning) -> reader::Result<()> {
    cursor.begin_value()?;
    if let Payload::Scalar(Scalar::String(text)) = cursor.payload() {
        beginning.add(&text, keep.text);
    }
    Ok(())
}

/// The members of blocks and calls that matter.
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

/// A block of a content, whose type may stand behind what it says.
#[derive(Default)]
struct Block {
    kind: String,
    call: Call,
    answers: Option<String>,
    text: Beginning,
    thinking: u64,
    is_error: bool,
}

fn block(cursor: &mut Cursor<'_>, keep: Keep, message: &mut Message) -> reader::Result<()> {
    let mut block = Block::default();
    block.read(cursor, keep)?;
    let Block { kind, call, answers, text, thinking, is_error } = block;
    message.thinking += thinking;
    message.is_error |= is_error;
    let is_result = kind == "tool_result" || answers.is_some();
    message.content.has_results |= is_result;
    message.content.has_own |= !is_result;
    message.results.extend(answers.filter(|_| message.results.len() < CALLS));
    if matches!(&*kind, "tool_call" | "tool_use" | "server_tool_use") && message.calls.len() < CALLS {
        message.calls.push(call);
    }
    if text.chars > 0 {
        let whole = Text::plain(&text.text);
        let rest = text.chars - whole.char_len();
        let is_first = message.text.chars == 0;
        message.text.add(&whole, keep.text);
        message.text.is_reminder = if is_first { text.is_reminder } else { message.text.is_reminder };
        message.text.chars += rest;
    }
    Ok(())
}

impl Block {
    fn read(&mut self, cursor: &mut Cursor<'_>, keep: Keep) -> reader::Result<()> {
        thread_local! {
            static MEMBERS: Names = Names::new(BLOCK);
        }
        cursor.begin_value()?;
        MEMBERS.with(|names| {
            while let Some(number) = cursor.next_named(names)? {
                self.member(cursor, BLOCK.get(number).copied().unwrap_or_default(), keep)?;
            }
            Ok(())
        })
    }

    fn member(&mut self, cursor: &mut Cursor<'_>, name: &str, keep: Keep) -> reader::Result<()> {
        let kind = cursor.peek()?;
        match (name, kind) {
            ("text", Some(Kind::String)) => text(cursor, keep, &mut self.text),
            ("content", Some(Kind::String | Kind::Array)) => self.result(cursor, keep),
            ("thinking", Some(Kind::String)) => {
                cursor.begin_value()?;
                if let Payload::Scalar(Scalar::String(text)) = cursor.payload() {
                    self.thinking += text.char_len();
                }
                Ok(())
            }
            ("input" | "arguments", _) => self.call.take_arguments(cursor, keep),
            ("function", Some(Kind::Object)) => self.read(cursor, keep),
            ("type" | "id" | "name" | "tool" | "tool_use_id" | "tool_call_id" | "is_error", _) => {
                let mut value = Value::default();
                value.capture(cursor, NAME)?;
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

    /// What a tool answered: a text, or blocks of which some are.
    fn result(&mut self, cursor: &mut Cursor<'_>, keep: Keep) -> reader::Result<()> {
        let mut inner = Message::default();
        content(cursor, keep, &mut inner)?;
        self.text = inner.text;
        Ok(())
    }
}

impl Call {
    /// Arguments as an object, or as the text of one.
    fn take_arguments(&mut self, cursor: &mut Cursor<'_>, keep: Keep) -> reader::Result<()> {
        if keep.arguments == 0 {
            return cursor.skip_value().map(drop);
        }
        let mut value = Value::default();
        value.capture(cursor, keep.arguments)?;
        self.arguments_cut = value.is_over();
        self.arguments = match value.text() {
            Some(text) => text.into_owned(),
            None => value.json().unwrap_or_default().to_owned(),
        };
        Ok(())
    }
}

/// Calls in either shape: `{id, tool, arguments}`, or `{id, function: {name, arguments}}`.
fn calls(cursor: &mut Cursor<'_>, keep: Keep, message: &mut Message) -> reader::Result<()> {
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
        block.read(cursor, keep)?;
        if message.calls.len() < CALLS {
            message.calls.push(block.call);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::config;

    fn read(json: &str) -> Message {
        look(&mut Cursor::new(json.as_bytes(), &config()), Keep { text: 10, arguments: 50 }).unwrap()
    }

    #[test]
    fn calls_are_read_in_both_shapes() {
        let one = read(
            r#"{"role":"assistant","content":"","tool_calls":[{"id":"a","tool":"grep","arguments":{"x": 1}}]}"#,
        );
        let other = read(
            r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"grep","arguments":"{\"x\":1}"}}]}"#,
        );
        let block = read(
            r#"{"role":"assistant","content":[{"input":{"x":1},"name":"grep","id":"a","type":"tool_use"}]}"#,
        );
        for message in [one, other, block] {
            let call = &message.calls[0];
            assert_eq!((&*call.id, &*call.tool, &*call.arguments), ("a", "grep", r#"{"x":1}"#));
            assert!(message.results.is_empty());
        }
    }

    #[test]
    fn a_users_message_is_a_users() {
        for (json, is_users) in [
            (r#"{"role":"user","content":"hi"}"#, true),
            (r#"{"content":[{"text":"hi","type":"text"}],"role":"user"}"#, true),
            (r#"{"role":"user","content":[{"type":"image","source":{}}]}"#, true),
            (r#"{"role":"user","content":"\n<system-reminder>x"}"#, false),
            (r#"{"role":"user","content":"x","tool_call_id":"a"}"#, false),
            (r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#, false),
            (
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"and"}]}"#,
                true,
            ),
            (r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"x"}}"#, false),
            (r#"{"role":"assistant","content":"x"}"#, false),
        ] {
            assert_eq!(read(json).is_users(), is_users, "{json}");
        }
    }

    #[test]
    fn a_beginning_is_held_and_the_length_known() {
        let message = read(r#"{"role":"tool","tool_call_id":"a","content":"0123456789abc","name":"t"}"#);
        assert_eq!(
            (&*message.text.text, message.text.chars, message.text.is_cut()),
            ("0123456789", 13, true)
        );
        let blocks = read(
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"0123456789abc"}]}]}"#,
        );
        assert_eq!((&*blocks.text.text, blocks.text.chars), ("0123456789", 13));
        assert_eq!(blocks.results, ["a"]);
    }

    #[test]
    fn the_time_of_the_metadata_counts_first() {
        let one = read(
            r#"{"role":"user","timestamp":"2026-01-01T00:00:00Z","metadata":{"timestamp":"2026-01-02T00:00:00Z"}}"#,
        );
        let other = read(
            r#"{"metadata":{"timestamp":"2026-01-02T00:00:00Z"},"role":"user","ts":"2026-01-01T00:00:00Z"}"#,
        );
        assert_eq!(one.time, other.time);
        assert_eq!(one.time.unwrap().to_string(), "2026-01-02T00:00:00Z");
    }
}
