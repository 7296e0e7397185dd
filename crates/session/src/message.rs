//! One message of a transcript, in any of the shapes that are written: who said it, when, how it
//! begins, and which tools it calls or answers for. Its length is known, and only a beginning is
//! held.

mod block;

use jiff::Timestamp;
use trommel::reader::{self, Cursor, Event, Kind, Names, Payload, Scalar, Text};
use trommel_base::text::first;

use crate::kind::{self, MessageKind};

use crate::seek::whole;
use crate::time;
use crate::usage::{Usage, look_at_usage};
use crate::value::Value;

pub(crate) use block::{Blocks, blocks};
use block::{block, calls};

/// Tool calls and results of one message that are kept.
const CALLS: usize = 10_000;

/// Characters of ids and names.
const NAME: usize = 300;

/// The longest escape sequence of a character, in bytes.
const SPELT: usize = 12;

/// Bytes of a text that are decoded at least, to see how it begins.
const LEAST: usize = 1_000;

/// The model of messages that a program writes without asking one.
const SYNTHETIC: &str = "<synthetic>";

/// How much of a message is kept, and whose log it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    /// Characters of its text.
    pub(crate) text: usize,
    /// Characters of the arguments of each call.
    pub(crate) arguments: usize,
    /// True in the log of a sub-agent: all of its messages say `isSidechain`, and are its own.
    is_agent: bool,
    look: Look,
}

/// Reads the record that comes next as a message.
pub(crate) type Look = fn(&mut Cursor<'_>, Keep) -> reader::Result<Message>;

impl Keep {
    pub(crate) const fn new(text: usize, arguments: usize) -> Self {
        Self { text, arguments, is_agent: false, look }
    }

    /// As much as it takes to know the message's kind.
    pub(crate) const fn least() -> Self {
        Self::new(kind::LONGEST, 0)
    }

    /// The same in the log of a session or a sub-agent, in a format that reads messages like this.
    pub(crate) fn in_log(self, is_agent: bool, look: Look) -> Self {
        Self { is_agent, look, ..self }
    }

    /// Reads the record that comes next.
    pub(crate) fn read(self, cursor: &mut Cursor<'_>) -> reader::Result<Message> {
        (self.look)(cursor, self)
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
    /// The response's ID. Records with the same ID belong to one response of a model.
    pub(crate) response: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// True if the record is of an error, by the definition of
    /// [`Known::is_error`](crate::layout::Known::is_error).
    pub(crate) is_error: bool,
    flags: Flags,
    content: Content,
}

/// Members of a record that decide about its kind.
#[derive(Debug, Default)]
struct Flags {
    /// True for Claude Code, which puts the message below the member `message`.
    is_wrapped: bool,
    has_tool_call_id: bool,
    is_meta: bool,
    is_compaction: bool,
    is_sidechain: bool,
}

/// The parts of a message's content.
#[derive(Debug, Default)]
struct Content {
    /// Anything but results of tools.
    has_own: bool,
    has_results: bool,
    has_thinking: bool,
    has_text: bool,
    /// True if the first text is a reminder.
    is_reminder: bool,
    /// The kind that the first text marks.
    marked: Option<MessageKind>,
    /// A text that no marker begins, or an image or the like.
    has_plain: bool,
}

impl Content {
    fn text(&mut self, start: Start) {
        self.has_own = true;
        if !self.has_text {
            (self.is_reminder, self.marked) = (start.is_reminder, start.marked);
        }
        self.has_text = true;
        self.has_plain |= start.marked.is_none();
    }
}

/// What the beginning of a text says about it.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    is_reminder: bool,
    marked: Option<MessageKind>,
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
}

impl Beginning {
    fn add(&mut self, text: &Text<'_>, most: usize) -> Start {
        let room = most.saturating_sub(self.kept);
        // Of a long text only what may be kept is decoded.
        let raw = &text.raw()[..whole(text.raw(), room.saturating_mul(SPELT).max(LEAST))];
        let decoded = Text::from_raw(raw, text.is_escaped()).decode();
        if self.chars > 0 {
            self.add_plain("\n", most);
        }
        self.chars += text.char_len();
        let room = most.saturating_sub(self.kept);
        let part = first(&decoded, room);
        self.text.push_str(part);
        self.kept += part.chars().count();
        Start { is_reminder: kind::is_reminder(&decoded), marked: kind::marked(&decoded) }
    }

    fn add_plain(&mut self, text: &str, most: usize) {
        self.chars += text.len() as u64;
        if self.kept < most {
            self.text.push_str(text);
            self.kept += text.len();
        }
    }

    /// Truncates to at most `most` characters.
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
    /// True if a user said it: the definition of where a turn begins.
    pub(crate) fn is_users(&self) -> bool {
        self.role == "user" && self.kind().is_none() && !self.content.is_reminder_first(self.flags.is_wrapped)
    }

    /// Its kind, where its role alone is misleading.
    pub(crate) fn kind(&self) -> Option<MessageKind> {
        let Self { flags, content, .. } = self;
        match &*self.role {
            "user" => {}
            "assistant" if flags.is_sidechain => return Some(MessageKind::Sidechain),
            "assistant" => {
                let says_nothing = self.text.chars == 0 && self.calls.is_empty() && !content.has_plain;
                return (content.has_thinking && says_nothing).then_some(MessageKind::Thinking);
            }
            _ => return None,
        }
        match () {
            () if flags.has_tool_call_id || content.has_results && !content.has_own => {
                Some(MessageKind::ToolResult)
            }
            () if flags.is_compaction => Some(MessageKind::Compaction),
            () if flags.is_meta => Some(MessageKind::Note),
            () if flags.is_sidechain => Some(MessageKind::Sidechain),
            // Only Claude Code writes these markers; elsewhere they are the user's words.
            () if flags.is_wrapped && !content.has_plain => content.marked,
            () => None,
        }
    }

    /// Adds the ID of a call that it answers, up to a limit.
    fn add_result(&mut self, id: Option<String>) {
        if self.results.len() < CALLS {
            self.results.extend(id);
        }
    }

    /// True if a program wrote it in the place of a model, without asking one.
    pub(crate) fn is_synthetic(&self) -> bool {
        self.model.as_deref() == Some(SYNTHETIC)
    }

    /// True if the session's own conversation continues without it: a sub-agent's message, or a
    /// note of the program.
    pub(crate) fn is_inner(&self) -> bool {
        self.flags.is_sidechain || self.flags.is_meta || self.flags.is_compaction
    }
}

impl Content {
    /// Only Claude Code writes reminders and prompts into one message.
    fn is_reminder_first(&self, is_wrapped: bool) -> bool {
        self.is_reminder && !(is_wrapped && self.has_plain)
    }
}

/// Reads the record that comes next.
pub(crate) fn look(cursor: &mut Cursor<'_>, keep: Keep) -> reader::Result<Message> {
    thread_local! {
        static MEMBERS: Names = Names::new(NAMES.map(|(name, _)| name));
    }
    let mut message = Message::default();
    MEMBERS.with(|names| members(cursor, names, keep, false, &mut message))?;
    message.flags.is_sidechain &= !keep.is_agent;
    Ok(message)
}

/// The meaning of a member.
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

/// Reads the members of a record, or with `is_below` those of the message in it.
fn members(
    cursor: &mut Cursor<'_>,
    names: &Names,
    keep: Keep,
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
                members(cursor, names, keep, true, message)?;
            }
            Member::Message => cursor.skip_value().map(drop)?,
            Member::Content => content(cursor, keep, message)?,
            Member::ToolCalls => calls(cursor, keep, message)?,
            Member::ToolCallIds => ids(cursor, message)?,
            Member::Metadata => metadata(cursor, message)?,
            Member::Usage => message.usage = look_at_usage(cursor)?.or(message.usage),
            // Its content is also in the message; that it is there says that a tool answers.
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

/// A member that is a short text, a number or a word.
fn scalar(cursor: &mut Cursor<'_>, member: Member, message: &mut Message) -> reader::Result<()> {
    let mut value = Value::default();
    value.capture(cursor, NAME)?;
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
            let spelt = text.or_else(|| value.json().map(str::to_owned));
            message.time = message.time.or_else(|| time::parse(&spelt?));
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

/// True for the level of an error, in the spelling of any program.
pub(crate) fn is_error_level(level: &str) -> bool {
    level.eq_ignore_ascii_case("error")
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
        message.add_result(id);
    }
    Ok(())
}

/// A text, or a list of blocks.
fn content(cursor: &mut Cursor<'_>, keep: Keep, message: &mut Message) -> reader::Result<()> {
    match cursor.peek()? {
        Some(Kind::String) => {
            let start = text(cursor, keep, &mut message.text)?;
            message.content.text(start);
            Ok(())
        }
        Some(Kind::Array) => {
            cursor.begin_value()?;
            while cursor.next_element()? {
                match cursor.peek()? {
                    Some(Kind::Object) => block(cursor, keep, message)?,
                    Some(Kind::String) => {
                        let start = text(cursor, keep, &mut message.text)?;
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

fn text(cursor: &mut Cursor<'_>, keep: Keep, beginning: &mut Beginning) -> reader::Result<Start> {
    cursor.begin_value()?;
    Ok(match cursor.payload() {
        Payload::Scalar(Scalar::String(text)) => beginning.add(&text, keep.text),
        _ => Start::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::config;

    fn read(json: &str) -> Message {
        look(&mut Cursor::new(json.as_bytes(), &config()), Keep::new(10, 50)).unwrap()
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
