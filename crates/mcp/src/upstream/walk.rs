//! The response of a server, read once: its values go to memory or to the store as they arrive.

use std::io::Read;
use std::sync::Arc;

use rmcp::model::RequestId;
use serde_json::value::RawValue;
use trommel_reader::{Config, Cursor, Error, Framing, Kind, Limits};
use trommel_store::{Store, Stored};

use super::capture::{Captures, Sink, Tee};
use super::spill::{CallOrigin, Received, Spill};

/// The bytes of a name, or of a number outside stored values.
const TOKEN_BYTES: u64 = 64 << 10;

/// The bytes of all members of a response that are passed on besides its content: an error, lists.
const MEMBER_BYTES: usize = 32 << 20;

/// The bytes of an image, or of another block that is not text, that are passed on.
const BLOCK_BYTES: usize = 1 << 20;

/// The length of texts that are passed on beside stored ones, each and all together.
const BESIDE: usize = 2_000;

/// The values that are stored as outputs of their own. More texts become records of one output.
const OUTPUTS: usize = 8;

/// The reason why a response cannot be read.
#[derive(Debug)]
pub(super) enum WalkError {
    /// It is not valid JSON, or the connection failed.
    Reader(Error),
    /// It is no JSON-RPC response, or a part of it exceeds a limit.
    Invalid(String),
}

impl From<Error> for WalkError {
    fn from(error: Error) -> Self {
        Self::Reader(error)
    }
}

impl std::fmt::Display for WalkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Reader(error) => write!(f, "{error}"),
            Self::Invalid(message) => f.write_str(message),
        }
    }
}

type Result<T> = std::result::Result<T, WalkError>;

/// A part of a result, in the order of arrival.
#[derive(Debug)]
pub(crate) enum Part {
    /// A block of content, or of contents, verbatim.
    Verbatim(String),
    /// A text, an item of structured content, or a block that was too long.
    Stored {
        /// The stored output.
        stored: Box<Stored>,
        /// Its role in the result.
        role: Role,
        /// The number of texts in it, if it has several as its records.
        texts: Option<u64>,
    },
    /// A value that was too long and could not be stored.
    Lost {
        /// The start of it.
        head: String,
        /// Its length.
        bytes: u64,
        /// The reason.
        why: String,
    },
}

/// The role of a stored value in its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The text of a block.
    Text,
    /// The structured content.
    Structured,
    /// A block other than text.
    Block,
}

/// A result whose long values were replaced.
#[derive(Debug, Default)]
pub(crate) struct Reduced {
    /// The blocks and stored values.
    pub(crate) parts: Vec<Part>,
    /// The structured content, if it is short.
    pub(crate) structured: Option<String>,
    /// The role that the structured content had besides: it is identical to the text.
    pub(crate) is_structured_repeated: bool,
    /// The other members of the result, verbatim.
    pub(crate) members: Vec<(String, String)>,
    /// True for the result of `resources/read`, whose parts are contents.
    pub(crate) is_resource: bool,
}

/// Where the bytes of a captured value go.
enum Target<'s> {
    Spill(Box<Spill<'s>>),
    /// To memory, up to a number of bytes.
    Memory {
        bytes: Vec<u8>,
        most: usize,
    },
}

impl Sink for Target<'_> {
    fn take(&mut self, bytes: &[u8]) {
        match self {
            Self::Spill(spill) => spill.take(bytes),
            Self::Memory { bytes: kept, most } => {
                let space = (*most + 1).saturating_sub(kept.len());
                kept.extend_from_slice(&bytes[..bytes.len().min(space)]);
            }
        }
    }
}

/// A response that is being read.
pub(super) struct Walk<'s, 'a> {
    cursor: Cursor<'a>,
    captures: Captures<Target<'s>>,
    store: &'s Arc<Store>,
    /// The characters that pass unchanged.
    limit: usize,
    /// The ID of the request, once it was read.
    pub(super) id: Option<RequestId>,
    /// The error, verbatim.
    pub(super) error: Option<String>,
    has_result: bool,
    blocks: Blocks<'s>,
    structured: Option<Structured<'s>>,
    members: Vec<(String, String)>,
    member_bytes: usize,
    is_resource: bool,
}

/// The text of a block.
enum BlockText<'s> {
    /// It has none.
    None,
    /// It is a value of its own.
    Own(Box<Spill<'s>>),
    /// It was added to the records.
    Record,
}

/// The structured content of a result.
struct Structured<'s> {
    spill: Spill<'s>,
    /// The hash of its longest string, if the rest of it is short.
    string: Option<blake3::Hash>,
}

impl<'s, 'a> Walk<'s, 'a> {
    /// Reads one message from a reader. The first `limit` bytes of values are kept in memory.
    pub(super) fn new(reader: impl Read + Send + 'a, store: &'s Arc<Store>, limit: usize) -> Self
    where
        's: 'a,
    {
        let mut limits = Limits::default();
        limits.token_bytes = TOKEN_BYTES;
        let (tee, captures) = Tee::new(reader);
        Self {
            cursor: Cursor::from_reader(tee, Framing::Single, &Config::new().limits(limits)),
            captures,
            store,
            limit,
            id: None,
            error: None,
            has_result: false,
            blocks: Blocks::new(store, limit),
            structured: None,
            members: Vec::new(),
            member_bytes: 0,
            is_resource: false,
        }
    }

    /// Reads the message to its end.
    pub(super) fn read(&mut self) -> Result<()> {
        if self.cursor.peek()? != Some(Kind::Object) {
            return Err(WalkError::Invalid("the message is not an object".into()));
        }
        self.cursor.begin_value()?;
        while let Some(name) = self.next_name()? {
            match name.as_str() {
                "result" => self.result()?,
                "id" => {
                    let id = self.member()?;
                    self.id = serde_json::from_str(&id).ok();
                }
                "error" => self.error = Some(self.member()?),
                _ => drop(self.member()?),
            }
        }
        self.cursor.validate_rest()?;
        if self.has_result || self.error.is_some() {
            Ok(())
        } else {
            Err(WalkError::Invalid("the message is too long for a request or a notification".into()))
        }
    }

    fn next_name(&mut self) -> Result<Option<String>> {
        if !self.cursor.next_member()? {
            return Ok(None);
        }
        Ok(self.cursor.name().map(|name| name.decode().into_owned()))
    }

    /// Reads a value into memory.
    fn member(&mut self) -> Result<String> {
        let most = MEMBER_BYTES - self.member_bytes;
        self.captures.start(self.cursor.offset(), Target::Memory { bytes: Vec::new(), most });
        let span = self.cursor.skip_value()?;
        let Some(Target::Memory { bytes, .. }) = self.captures.end(span.end) else {
            return Err(WalkError::Invalid("a value was not captured".into()));
        };
        self.member_bytes += bytes.len();
        if bytes.len() > most {
            return Err(WalkError::Invalid(format!(
                "the message has members of more than {MEMBER_BYTES} bytes"
            )));
        }
        String::from_utf8(bytes).map_err(|_checked| WalkError::Invalid("a value is not UTF-8".into()))
    }

    fn result(&mut self) -> Result<()> {
        self.has_result = true;
        if self.cursor.peek()? != Some(Kind::Object) {
            return Err(WalkError::Invalid("the result is not an object".into()));
        }
        self.cursor.begin_value()?;
        while let Some(name) = self.next_name()? {
            let is_list = self.cursor.peek()? == Some(Kind::Array);
            match name.as_str() {
                "content" | "contents" if is_list => {
                    self.is_resource = name == "contents";
                    self.cursor.begin_value()?;
                    while self.cursor.next_element()? {
                        self.block()?;
                    }
                }
                "structuredContent" => self.structured()?,
                _ => {
                    let value = self.member()?;
                    self.members.push((name, value));
                }
            }
        }
        Ok(())
    }

    /// Reads a block of content. Its bytes are captured until it proves to be a long text.
    fn block(&mut self) -> Result<()> {
        let spill = Spill::new(self.store, BLOCK_BYTES);
        self.captures.start(self.cursor.offset(), Target::Spill(Box::new(spill)));
        let text = self.block_text()?;
        let raw = match self.captures.end(self.cursor.offset()) {
            Some(Target::Spill(spill)) => Some(spill),
            _ => None,
        };
        match (text, raw) {
            (BlockText::Own(text), raw) => {
                let block = raw.and_then(|raw| raw.text().map(str::to_owned));
                self.blocks.add_text(*text, block);
            }
            (BlockText::None, Some(raw)) => self.blocks.add_block(*raw),
            (BlockText::None, None) => return Err(WalkError::Invalid("a block was not captured".into())),
            (BlockText::Record, _) => {}
        }
        Ok(())
    }

    /// Reads a block, or the resource that is embedded in one, and returns its text.
    fn block_text(&mut self) -> Result<BlockText<'s>> {
        let mut text = BlockText::None;
        if self.cursor.peek()? != Some(Kind::Object) {
            self.cursor.skip_value()?;
            return Ok(text);
        }
        let mut is_text = self.is_resource;
        // The depth of the block, and of the resource in it.
        let outside = self.cursor.depth();
        self.cursor.begin_value()?;
        while self.cursor.depth() > outside {
            if !self.cursor.next_member()? {
                // After the members of a resource, those of the block follow.
                continue;
            }
            let is = |name: &str| self.cursor.name().is_some_and(|found| found.eq_str(name));
            let (is_type, is_resource, has_text) = (is("type"), is("resource"), is("text"));
            let kind = self.cursor.peek()?;
            if has_text {
                match self.text(is_text)? {
                    BlockText::None => {}
                    found => text = found,
                }
            } else if is_type && kind == Some(Kind::String) {
                self.cursor.begin_value()?;
                is_text |= is_type_text(&self.cursor);
            } else if is_resource && kind == Some(Kind::Object) && self.cursor.depth() == outside + 1 {
                self.cursor.begin_value()?;
            } else {
                self.cursor.skip_value()?;
            }
        }
        Ok(text)
    }

    /// Reads the text of a block. Once it is longer than the limit, the block's own bytes are no
    /// longer needed.
    fn text(&mut self, is_text: bool) -> Result<BlockText<'s>> {
        if self.cursor.peek()? != Some(Kind::String) {
            self.cursor.skip_value()?;
            return Ok(BlockText::None);
        }
        if is_text && self.blocks.outputs >= OUTPUTS {
            drop(self.captures.abandon());
            return self.text_record();
        }
        let mut spill = Spill::new(self.store, self.limit);
        let mut is_captured = true;
        if let Some(mut pieces) = self.cursor.text_pieces()? {
            while let Some(piece) = pieces.next_piece()? {
                spill.take(piece.as_bytes());
                if is_captured && !spill.is_short() && (is_text || spill.bytes() > BLOCK_BYTES as u64) {
                    is_captured = false;
                    drop(self.captures.abandon());
                }
            }
        }
        Ok(BlockText::Own(Box::new(spill)))
    }

    /// Adds a text of any length to the records, as a string.
    fn text_record(&mut self) -> Result<BlockText<'s>> {
        let Some(mut pieces) = self.cursor.text_pieces()? else { return Ok(BlockText::None) };
        let rest = self.blocks.rest.get_or_insert_with(|| Spill::new(self.store, 0));
        rest.take(b"\"");
        while let Some(piece) = pieces.next_piece()? {
            let quoted = serde_json::Value::from(piece).to_string();
            rest.take(&quoted.as_bytes()[1..quoted.len() - 1]);
        }
        rest.take(b"\"\n");
        self.blocks.rest_texts += 1;
        self.blocks.texts += 1;
        Ok(BlockText::Record)
    }

    /// Reads the structured content. If it is an object with a long string, its hash tells if the
    /// string is a copy of the text.
    fn structured(&mut self) -> Result<()> {
        self.captures
            .start(self.cursor.offset(), Target::Spill(Box::new(Spill::new(self.store, self.limit))));
        let mut string: Option<blake3::Hash> = None;
        let mut longest = 0;
        let mut rest = 0;
        if self.cursor.peek()? == Some(Kind::Object) {
            self.cursor.begin_value()?;
            while self.cursor.next_member()? {
                let start = self.cursor.offset();
                let mut hasher = blake3::Hasher::new();
                let is_string = match self.cursor.text_pieces()? {
                    Some(mut pieces) => {
                        while let Some(piece) = pieces.next_piece()? {
                            hasher.update(piece.as_bytes());
                        }
                        true
                    }
                    None => false,
                };
                if !is_string {
                    self.cursor.skip_value()?;
                }
                let length = self.cursor.offset() - start;
                if is_string && length > longest {
                    rest += longest;
                    longest = length;
                    string = Some(hasher.finalize());
                } else {
                    rest += length;
                }
            }
        } else {
            self.cursor.skip_value()?;
        }
        if let Some(Target::Spill(spill)) = self.captures.end(self.cursor.offset()) {
            let string = if rest <= BESIDE as u64 { string } else { None };
            self.structured = Some(Structured { spill: *spill, string });
        }
        Ok(())
    }

    /// Ends the values, as results of a call.
    pub(super) fn finish(self, origin: &CallOrigin) -> Reduced {
        let Self { mut blocks, structured, members, is_resource, .. } = self;
        let mut reduced = Reduced { members, is_resource, ..Reduced::default() };
        if let Some(Structured { mut spill, string }) = structured {
            reduced.is_structured_repeated =
                blocks.single_text().is_some_and(|text| is_copy(text, &mut spill, string));
            if !spill.is_short() || blocks.held + spill.bytes() as usize > blocks.limit {
                blocks.overflow();
            }
            if blocks.is_over && !reduced.is_structured_repeated && spill.bytes() > BESIDE as u64 {
                spill.store();
            }
            // A copy of the text is dropped, with what was written of it.
            if !(blocks.is_over && reduced.is_structured_repeated) {
                match spill.finish(origin) {
                    Received::Short(text) => reduced.structured = Some(text),
                    received => blocks.items.push(Item::Done(part(received, Role::Structured))),
                }
            }
        }
        reduced.parts = blocks.finish(origin);
        reduced
    }
}

/// True if the current value is `"text"`.
fn is_type_text(cursor: &Cursor<'_>) -> bool {
    use trommel_reader::{Payload, Scalar};
    matches!(cursor.payload(), Payload::Scalar(Scalar::String(text)) if text.eq_str("text"))
}

/// True if the structured content repeats a text: as the same JSON, or in its longest string.
fn is_copy(text: &mut Spill<'_>, structured: &mut Spill<'_>, string: Option<blake3::Hash>) -> bool {
    if string.is_some() && string == text.hash() {
        return true;
    }
    let hash = text.minified_hash();
    hash.is_some() && hash == structured.minified_hash()
}

/// The part that a received value becomes.
fn part(received: Received, role: Role) -> Part {
    match received {
        Received::Short(text) => Part::Verbatim(text),
        Received::Stored(stored) => Part::Stored { stored, role, texts: None },
        Received::Lost { head, bytes, why } => Part::Lost { head, bytes, why },
    }
}

/// The blocks of a result.
struct Blocks<'s> {
    store: &'s Arc<Store>,
    limit: usize,
    items: Vec<Item<'s>>,
    /// The bytes of texts in memory.
    held: usize,
    /// The bytes of blocks in memory that are not text.
    other: usize,
    /// True if the texts together exceed the limit.
    is_over: bool,
    /// The bytes of short texts that pass beside stored ones.
    beside: usize,
    outputs: usize,
    /// The texts that have no output of their own, as records.
    rest: Option<Spill<'s>>,
    rest_texts: u64,
    texts: u64,
}

enum Item<'s> {
    /// A short text with its block, verbatim.
    Text { text: Spill<'s>, block: String },
    /// A value for the store.
    Spill { spill: Spill<'s>, role: Role },
    /// A finished part.
    Done(Part),
}

impl<'s> Blocks<'s> {
    fn new(store: &'s Arc<Store>, limit: usize) -> Self {
        Self {
            store,
            limit,
            items: Vec::new(),
            held: 0,
            other: 0,
            is_over: false,
            beside: 0,
            outputs: 0,
            rest: None,
            rest_texts: 0,
            texts: 0,
        }
    }

    /// The only text, if there is one.
    fn single_text(&mut self) -> Option<&mut Spill<'s>> {
        if self.texts != 1 {
            return None;
        }
        self.items.iter_mut().find_map(|item| match item {
            Item::Text { text, .. } => Some(text),
            Item::Spill { spill, role: Role::Text } => Some(spill),
            _ => None,
        })
    }

    /// Adds a text, with the bytes of its block if they were kept.
    fn add_text(&mut self, text: Spill<'s>, block: Option<String>) {
        self.texts += 1;
        match block {
            Some(block)
                if text.is_short() && !self.is_over && self.held + text.bytes() as usize <= self.limit =>
            {
                self.held += text.bytes() as usize;
                self.items.push(Item::Text { text, block });
            }
            block => {
                self.overflow();
                let item = self.placed(text, block);
                self.items.extend(item);
            }
        }
    }

    /// Places the texts in memory anew, once the limit is exceeded.
    fn overflow(&mut self) {
        if self.is_over {
            return;
        }
        self.is_over = true;
        for item in std::mem::take(&mut self.items) {
            let item = match item {
                Item::Text { text, block } => self.placed(text, Some(block)),
                item => Some(item),
            };
            self.items.extend(item);
        }
    }

    /// Places a text of a result that exceeds the limit.
    fn placed(&mut self, mut text: Spill<'s>, block: Option<String>) -> Option<Item<'s>> {
        let length = text.bytes() as usize;
        match block {
            Some(block) if length <= BESIDE && self.beside + length <= BESIDE => {
                self.beside += length;
                Some(Item::Text { text, block })
            }
            _ if !text.is_short() || (length > BESIDE && self.outputs < OUTPUTS) => {
                self.outputs += 1;
                text.store();
                Some(Item::Spill { spill: text, role: Role::Text })
            }
            _ => {
                let record = record(text.text().unwrap_or(""));
                let rest = self.rest.get_or_insert_with(|| Spill::new(self.store, 0));
                rest.take(record.as_bytes());
                self.rest_texts += 1;
                None
            }
        }
    }

    /// Adds a block that is not text.
    fn add_block(&mut self, raw: Spill<'s>) {
        let length = raw.bytes() as usize;
        let is_kept = raw.is_short() && self.other + length <= BLOCK_BYTES;
        match raw.text() {
            Some(block) if is_kept => {
                self.other += length;
                self.items.push(Item::Done(Part::Verbatim(block.to_owned())));
            }
            _ => {
                let mut spill = raw;
                spill.store();
                self.items.push(Item::Spill { spill, role: Role::Block });
            }
        }
    }

    fn finish(self, origin: &CallOrigin) -> Vec<Part> {
        let items = self.items.into_iter();
        let mut parts: Vec<Part> = items
            .map(|item| match item {
                Item::Text { block, .. } => Part::Verbatim(block),
                Item::Spill { spill, role } => part(spill.finish(origin), role),
                Item::Done(part) => part,
            })
            .collect();
        if let Some(rest) = self.rest {
            let mut part = part(rest.finish(origin), Role::Text);
            if let Part::Stored { texts, .. } = &mut part {
                *texts = Some(self.rest_texts);
            }
            parts.push(part);
        }
        parts
    }
}

/// Returns a text as a record of JSON Lines: verbatim if it is JSON in one line, else as a string.
fn record(text: &str) -> String {
    let is_json = !text.contains('\n') && serde_json::from_str::<&RawValue>(text).is_ok();
    let mut record = if is_json { text.to_owned() } else { serde_json::Value::from(text).to_string() };
    record.push('\n');
    record
}
