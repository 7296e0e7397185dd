//! Reads one message of a transcript in any of its known shapes: role, time, text, tool calls, and
//! results. Only a prefix of the text is kept, with its full length.

mod block;

use jiff::Timestamp;
use trommel::reader::{self, Cursor, Event, Kind, Names, Payload, Scalar, Text};
use trommel_base::text::first;

use crate::kind::{self, MessageKind};

use crate::searcher::raw_prefix_len;
use crate::time;
use crate::usage::{Usage, read_usage};
use crate::value::Value;

pub(crate) use block::{Blocks, blocks};
use block::{block, calls};

/// The maximum number of tool calls and results kept of one message.
const MAX_CALLS: usize = 10_000;

/// The maximum number of characters of IDs and names.
const MAX_NAME_CHARS: usize = 300;

/// The maximum length of the escape sequence of one character, in bytes: a surrogate pair.
const MAX_ESCAPE_BYTES: usize = 12;

/// The minimum number of bytes of a text to decode, so that its markers are recognized.
const MIN_DECODED_BYTES: usize = 1_000;

/// The model name of messages that a program wrote without calling a model.
const SYNTHETIC: &str = "<synthetic>";

/// Limits on the parts of a message that are kept, and properties of its log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageLimits {
    /// The maximum number of characters of the text.
    pub(crate) text: usize,
    /// The maximum number of characters of each call's arguments.
    pub(crate) arguments: usize,
    /// True in a sub-agent's log: all its messages are marked as `isSidechain`, but belong to it.
    is_agent: bool,
    reader: MessageReader,
}

/// Reads the next record as a message.
pub(crate) type MessageReader = fn(&mut Cursor<'_>, MessageLimits) -> reader::Result<Message>;

impl MessageLimits {
    pub(crate) const fn new(text: usize, arguments: usize) -> Self {
        Self { text, arguments, is_agent: false, reader: read_message }
    }

    /// The minimum to recognize the kind of a message.
    pub(crate) const fn least() -> Self {
        Self::new(kind::MAX_MARKER_CHARS, 0)
    }

    /// Adapts the limits to a log, with its format's function for reading messages.
    pub(crate) fn in_log(self, is_agent: bool, reader: MessageReader) -> Self {
        Self { is_agent, reader, ..self }
    }

    /// Reads the next record.
    pub(crate) fn read(self, cursor: &mut Cursor<'_>) -> reader::Result<Message> {
        (self.reader)(cursor, self)
    }
}

/// A message.
#[derive(Debug, Default)]
pub(crate) struct Message {
    /// Empty if the record is not a message.
    pub(crate) role: String,
    pub(crate) time: Option<Timestamp>,
    pub(crate) text: TextPrefix,
    /// The number of characters of its thinking.
    pub(crate) thinking: u64,
    pub(crate) calls: Vec<Call>,
    /// The IDs of the calls that it answers.
    pub(crate) results: Vec<String>,
    /// The name of the tool whose result it is.
    pub(crate) name: Option<String>,
    pub(crate) model: Option<String>,
    /// The response ID. Records with the same ID belong to one model response.
    pub(crate) response: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// True if the record reports an error, as defined by
    /// [`EventMembers::is_error`](crate::layout::EventMembers::is_error).
    pub(crate) is_error: bool,
    flags: Flags,
    content: Content,
}

/// Members of a record that determine its kind.
#[derive(Debug, Default)]
struct Flags {
    /// True if the message is nested in the member `message`, as in Claude Code.
    is_wrapped: bool,
    has_tool_call_id: bool,
    is_meta: bool,
    is_compaction: bool,
    is_sidechain: bool,
}

/// A summary of the blocks of a message's content.
#[derive(Debug, Default)]
struct Content {
    /// True if there is any block but tool results.
    has_own: bool,
    has_results: bool,
    has_thinking: bool,
    has_text: bool,
    /// True if the first text is a reminder.
    is_reminder: bool,
    /// The kind that the first text's marker indicates.
    marked: Option<MessageKind>,
    /// True if there is a text without a marker, or a block such as an image.
    has_plain: bool,
}

impl Content {
    fn text(&mut self, start: TextMarkers) {
        self.has_own = true;
        if !self.has_text {
            (self.is_reminder, self.marked) = (start.is_reminder, start.marked);
        }
        self.has_text = true;
        self.has_plain |= start.marked.is_none();
    }
}

/// The markers at the start of a text.
#[derive(Clone, Copy, Debug, Default)]
struct TextMarkers {
    is_reminder: bool,
    marked: Option<MessageKind>,
}

/// A call of a tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) tool: String,
    /// The JSON of the arguments, possibly truncated.
    pub(crate) arguments: String,
    pub(crate) arguments_cut: bool,
}

/// A prefix of a text, with the full length.
#[derive(Debug, Default)]
pub(crate) struct TextPrefix {
    pub(crate) text: String,
    pub(crate) chars: u64,
    kept: usize,
}

impl TextPrefix {
    fn add(&mut self, text: &Text<'_>, max_chars: usize) -> TextMarkers {
        // Two limits apply: enough bytes for the characters to keep, and enough to see a marker.
        let spare = max_chars.saturating_sub(self.kept);
        // A long text is decoded only as far as it may be kept.
        let raw = &text.raw()
            [..raw_prefix_len(text.raw(), spare.saturating_mul(MAX_ESCAPE_BYTES).max(MIN_DECODED_BYTES))];
        let decoded = Text::from_raw(raw, text.is_escaped()).decode();
        if self.chars > 0 {
            self.add_plain("\n", max_chars);
        }
        self.chars += text.char_len();
        let spare = max_chars.saturating_sub(self.kept);
        let part = first(&decoded, spare);
        self.text.push_str(part);
        self.kept += part.chars().count();
        TextMarkers { is_reminder: kind::is_reminder(&decoded), marked: kind::marked(&decoded) }
    }

    fn add_plain(&mut self, text: &str, max_chars: usize) {
        self.chars += text.len() as u64;
        if self.kept < max_chars {
            self.text.push_str(text);
            self.kept += text.len();
        }
    }

    /// Truncates to at most `max_chars` characters.
    pub(crate) fn truncate(&mut self, max_chars: usize) {
        if let Some((end, _)) = self.text.char_indices().nth(max_chars) {
            self.text.truncate(end);
            self.kept = max_chars;
        }
    }

    /// True if the text was truncated.
    pub(crate) fn is_cut(&self) -> bool {
        self.chars > self.kept as u64
    }
}

impl Message {
    /// True if a user wrote it, which is the definition of the start of a turn.
    pub(crate) fn is_prompt(&self) -> bool {
        self.role == "user" && self.kind().is_none() && !self.content.is_reminder_first(self.flags.is_wrapped)
    }

    /// Returns its kind, if its role alone is misleading.
    pub(crate) fn kind(&self) -> Option<MessageKind> {
        let Self { flags, content, .. } = self;
        match &*self.role {
            "user" => {}
            "assistant" if flags.is_sidechain => return Some(MessageKind::Sidechain),
            "assistant" => {
                let is_silent = self.text.chars == 0 && self.calls.is_empty() && !content.has_plain;
                return (content.has_thinking && is_silent).then_some(MessageKind::Thinking);
            }
            _ => return None,
        }
        // The order matters: a tool result may also be marked as meta, and a compaction as a
        // sidechain.
        match () {
            () if flags.has_tool_call_id || content.has_results && !content.has_own => {
                Some(MessageKind::ToolResult)
            }
            () if flags.is_compaction => Some(MessageKind::Compaction),
            () if flags.is_meta => Some(MessageKind::Note),
            () if flags.is_sidechain => Some(MessageKind::Sidechain),
            // Only Claude Code writes these markers. In other logs, they are the user's own words.
            () if flags.is_wrapped && !content.has_plain => content.marked,
            () => None,
        }
    }

    /// Adds the ID of an answered call, up to a limit.
    fn add_result(&mut self, id: Option<String>) {
        if self.results.len() < MAX_CALLS {
            self.results.extend(id);
        }
    }

    /// True if a program wrote it in place of a model.
    pub(crate) fn is_synthetic(&self) -> bool {
        self.model.as_deref() == Some(SYNTHETIC)
    }

    /// True if the main conversation does not include it: a message of a sub-agent, or a note from
    /// the program.
    pub(crate) fn is_side_message(&self) -> bool {
        self.flags.is_sidechain || self.flags.is_meta || self.flags.is_compaction
    }
}

impl Content {
    /// True if the content starts with a reminder. Claude Code may write a reminder and a prompt
    /// into one message, which is then a prompt.
    fn is_reminder_first(&self, is_wrapped: bool) -> bool {
        self.is_reminder && !(is_wrapped && self.has_plain)
    }
}

/// Reads the next record as a message.
pub(crate) fn read_message(cursor: &mut Cursor<'_>, limits: MessageLimits) -> reader::Result<Message> {
    thread_local! {
        static MEMBERS: Names = Names::new(NAMES.map(|(name, _)| name));
    }
    let mut message = Message::default();
    MEMBERS.with(|names| members(cursor, names, limits, false, &mut message))?;
    message.flags.is_sidechain &= !limits.is_agent;
    Ok(message)
}

/// The meaning of a member's name.
#[derive(Clone, Copy)]
enum Member {
    Role,
    Content,
    ToolCalls,
    ToolCallId,
    ToolCallIds,
    ToolUseResult,
    Name,
    Time,
    Metadata,
    Message,
    Usage,
    Model,
    Response,
    Meta,
    Compaction,
    Sidechain,
    ApiError,
    Type,
    Status,
    Level,
    Error,
}

const NAMES: [(&str, Member); 23] = [
    ("role", Member::Role),
    ("content", Member::Content),
    ("tool_calls", Member::ToolCalls),
    ("tool_call_id", Member::ToolCallId),
    ("tool_call_ids", Member::ToolCallIds),
    ("toolUseResult", Member::ToolUseResult),
    ("name", Member::Name),
    ("timestamp", Member::Time),
    ("ts", Member::Time),
    ("metadata", Member::Metadata),
    ("message", Member::Message),
    ("usage", Member::Usage),
    ("model", Member::Model),
    ("id", Member::Response),
    ("isMeta", Member::Meta),
    ("isVisibleInTranscriptOnly", Member::Meta),
    ("isCompactSummary", Member::Compaction),
    ("isSidechain", Member::Sidechain),
    ("isApiErrorMessage", Member::ApiError),
    ("type", Member::Type),
    ("status", Member::Status),
    ("level", Member::Level),
    ("error", Member::Error),
];

/// Reads the members of a record or, if `is_below`, of the message nested in it.
fn members(
    cursor: &mut Cursor<'_>,
    names: &Names,
    limits: MessageLimits,
    is_below: bool,
    message: &mut Message,
) -> reader::Result<()> {
    if !matches!(cursor.begin_value()?, Event::Begin(Kind::Object)) {
        return Ok(());
    }
    while let Some(number) = cursor.next_named(names)? {
        let Some((_, member)) = NAMES.get(number) else { continue };
        match member {
            Member::Message if cursor.peek()? == Some(Kind::Object) => {
                message.flags.is_wrapped = true;
                members(cursor, names, limits, true, message)?;
            }
            Member::Message => cursor.skip_value().map(drop)?,
            Member::Content => content(cursor, limits, message)?,
            Member::ToolCalls => calls(cursor, limits, message)?,
            Member::ToolCallIds => ids(cursor, message)?,
            Member::Metadata => metadata(cursor, message)?,
            Member::Usage => message.usage = read_usage(cursor)?.or(message.usage),
            // Its value repeats the message's content. Its presence marks a tool result.
            Member::ToolUseResult => {
                message.flags.has_tool_call_id = true;
                cursor.skip_value()?;
            }
            Member::ApiError | Member::Type | Member::Status | Member::Level if is_below => {
                cursor.skip_value()?;
            }
            member => scalar(cursor, *member, message)?,
        }
    }
    Ok(())
}

/// Reads a member whose value is a short scalar.
fn scalar(cursor: &mut Cursor<'_>, member: Member, message: &mut Message) -> reader::Result<()> {
    let mut value = Value::default();
    value.capture(cursor, MAX_NAME_CHARS)?;
    let is_true = value.json() == Some("true");
    let is_set = !matches!(value.kind(), Some(Kind::Null)) && value.json() != Some("false");
    let text = value.text().filter(|text| !text.is_empty()).map(std::borrow::Cow::into_owned);
    let flags = &mut message.flags;
    match member {
        Member::Role => message.role = text.unwrap_or_default(),
        Member::ToolCallId => {
            flags.has_tool_call_id |= text.is_some();
            message.results.extend(text);
        }
        Member::Name => message.name = text,
        Member::Time => {
            let raw = text.or_else(|| value.json().map(str::to_owned));
            message.time = message.time.or_else(|| time::parse(&raw?));
        }
        Member::Model => message.model = text,
        Member::Response => message.response = text,
        Member::Meta => flags.is_meta |= is_true,
        Member::Compaction => flags.is_compaction |= is_true,
        Member::Sidechain => flags.is_sidechain |= is_true,
        Member::ApiError => message.is_error |= is_true,
        Member::Type => message.is_error |= text.is_some_and(|kind| kind.contains("error")),
        Member::Status => message.is_error |= text.is_some_and(|status| status == "error"),
        Member::Level => message.is_error |= text.is_some_and(|level| is_error_level(&level)),
        Member::Error => message.is_error |= is_set,
        _ => {}
    }
    Ok(())
}

/// True for the level of an error, in any case.
pub(crate) fn is_error_level(level: &str) -> bool {
    level.eq_ignore_ascii_case("error")
}

/// Reads the metadata. Its time takes precedence over any other.
fn metadata(cursor: &mut Cursor<'_>, message: &mut Message) -> reader::Result<()> {
    if cursor.peek()? != Some(Kind::Object) {
        return cursor.skip_value().map(drop);
    }
    cursor.begin_value()?;
    let names = Names::new(["timestamp"]);
    let mut value = Value::default();
    while cursor.next_named(&names)?.is_some() {
        value.capture(cursor, MAX_NAME_CHARS)?;
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
        value.capture(cursor, MAX_NAME_CHARS)?;
        let id = value.text().map(std::borrow::Cow::into_owned);
        message.add_result(id);
    }
    Ok(())
}

/// Reads a content: a text, or a list of blocks.
fn content(cursor: &mut Cursor<'_>, limits: MessageLimits, message: &mut Message) -> reader::Result<()> {
    match cursor.peek()? {
        Some(Kind::String) => {
            let start = text(cursor, limits, &mut message.text)?;
            message.content.text(start);
            Ok(())
        }
        Some(Kind::Array) => {
            cursor.begin_value()?;
            while cursor.next_element()? {
                match cursor.peek()? {
                    Some(Kind::Object) => block(cursor, limits, message)?,
                    Some(Kind::String) => {
                        let start = text(cursor, limits, &mut message.text)?;
                        message.content.text(start);
                    }
                    _ => cursor.skip_value().map(drop)?,
                }
            }
            Ok(())
        }
        _ => cursor.skip_value().map(drop),
    }
}

fn text(
    cursor: &mut Cursor<'_>,
    limits: MessageLimits,
    prefix: &mut TextPrefix,
) -> reader::Result<TextMarkers> {
    cursor.begin_value()?;
    Ok(match cursor.payload() {
        Payload::Scalar(Scalar::String(text)) => prefix.add(&text, limits.text),
        _ => TextMarkers::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::config;

    fn read(json: &str) -> Message {
        read_message(&mut Cursor::new(json.as_bytes(), &config()), MessageLimits::new(10, 50)).unwrap()
    }

    #[test]
    fn reads_calls_in_all_shapes() {
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
    fn recognizes_prompts() {
        for (json, is_prompt) in [
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
            assert_eq!(read(json).is_prompt(), is_prompt, "{json}");
        }
    }

    #[test]
    fn keeps_a_prefix_and_the_full_length() {
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
    fn metadata_time_takes_precedence() {
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
