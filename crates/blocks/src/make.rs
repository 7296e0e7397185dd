//! Makes blocks from the records of a session's files.

mod cut;
mod describe;

use std::borrow::Cow;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use trommel_session::Watch;

use crate::block::{Block, BlockType, Key, VERSION};
use crate::checksum;
use crate::data::{self, Body, Description, INLINE, Line, Payload, Piece, is_portable};
use crate::error::{ErrorKind, Result};
use crate::lines::{LineAt, Print, Text};
use crate::outline;
use crate::pieces::{Form, Pieces, encoded};
use crate::rows::{Kind, Row};
use crate::storage::PayloadStorage;
use cut::{Record, changed, cut};
use describe::description;
pub(crate) use describe::description_fault;

/// Length in bytes above which a record is stored as a payload, if there is a payload storage.
const LARGE: u64 = 1 << 20;

/// Receives the blocks.
pub(crate) type Take<'t> = dyn FnMut(Block) -> Result<()> + 't;

/// Makes consecutively numbered blocks.
pub(crate) struct Maker<'a, 'w> {
    pub(crate) key: &'a Key,
    pub(crate) device: &'a str,
    pub(crate) project: &'a str,
    pub(crate) payloads: Option<&'a dyn PayloadStorage>,
    pub(crate) watch: &'a Watch<'w>,
    /// The number of the next block.
    pub(crate) next: u64,
    /// The turns that the next message and the next event belong to.
    pub(crate) turns: Turns,
    /// The previous description. Only changes from it are sent.
    pub(crate) described: Option<Description>,
    /// True if the blocks are copies that follow another device's blocks in a merge.
    pub(crate) is_merged: bool,
}

/// The number of turns so far, counted by messages and by events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    pub(crate) message: u64,
    pub(crate) event: u64,
}

/// The event that starts a turn.
const TURN_START: &str = "prompt:submit";

/// A block without its number.
struct Draft<'d> {
    kind: BlockType,
    data: Box<RawValue>,
    timestamp: Option<String>,
    parent: Option<&'d str>,
    index: Option<u64>,
    is_final: bool,
}

/// The block that the pieces continue.
struct Head<'h> {
    kind: Kind,
    /// The ID of the block.
    parent: &'h str,
    /// The ID that the pieces refer to.
    event_id: &'h str,
    /// The number of pieces.
    pieces: u64,
}

/// The parts of an event that its block stores separately.
struct EventParts<'e> {
    outline: &'e outline::EventOutline,
    /// The event's data, if it is short and every storage returns it unchanged.
    inline: Option<&'e RawValue>,
    /// The print of the event's line.
    print: Print,
}

impl Maker<'_, '_> {
    /// Makes the blocks of a line, or of a whole file.
    pub(crate) fn record(&mut self, text: &Text, at: LineAt, kind: Kind, take: &mut Take<'_>) -> Result<Row> {
        let record = Record { text, at };
        let sequence = self.next;
        if at.print.bytes <= INLINE {
            self.short(&record, kind, take)?;
        } else {
            self.long(&record, kind, take)?;
        }
        let turn = if kind == Kind::Event { self.turns.event } else { self.turns.message };
        Ok(Row { sequence, until: self.next - 1, kind, print: at.print, turn })
    }

    /// Makes the block of a session without a description file.
    pub(crate) fn undescribed(&mut self, take: &mut Take<'_>) -> Result<Row> {
        let sequence = self.next;
        let description =
            Description { project_slug: Some(self.project.to_owned()), ..Description::default() };
        self.describe(description, Body::default(), take)?;
        Ok(Row {
            sequence,
            until: sequence,
            kind: Kind::Metadata,
            print: Print::default(),
            turn: self.turns.message,
        })
    }

    /// Makes the block of a rewind.
    pub(crate) fn rewind(&mut self, target: u64, reason: &str, take: &mut Take<'_>) -> Result<Row> {
        let sequence = self.next;
        let data = data::Rewind { target_sequence: target, reason: Some(reason.to_owned()) };
        self.put(Draft::of(BlockType::Rewind, raw(&data)?), take)?;
        let kind = Kind::Rewind { target };
        Ok(Row { sequence, until: sequence, kind, print: Print::default(), turn: self.turns.message })
    }

    fn short(&mut self, record: &Record<'_>, kind: Kind, take: &mut Take<'_>) -> Result<()> {
        let bytes = record.text.bytes(record.at.start, record.at.end())?;
        // The print was computed when the file was scanned. If an agent has changed the file since,
        // the block must not declare the print of another text.
        if Print::of(&bytes) != record.at.print {
            return Err(changed(record.text.path()));
        }
        let mut body = body_of(record.at.print);
        if let Ok(text) = std::str::from_utf8(&bytes) {
            body.line = Some(Line::Whole(text.to_owned()));
        } else {
            body.line = Some(Line::Whole(encoded(&bytes)));
            body.encoding = Some("base64".to_owned());
        }
        match kind {
            Kind::Message => {
                // A malformed record is stored as well: the block has its text, but no members.
                let members = serde_json::from_slice::<MessageMembers<'_>>(&bytes).unwrap_or_default();
                let outline = outline::message(&bytes[..]);
                self.message(outline, &members, body, take).map(drop)
            }
            Kind::Event => {
                let members = serde_json::from_slice::<EventMembers<'_>>(&bytes).unwrap_or_default();
                let inline = members.data.filter(|data| is_portable(data));
                body.total_size_bytes = inline.map_or(0, |data| data.get().len() as u64);
                let outline = outline::event(&bytes[..], record.at.is_finished);
                let parts = EventParts { outline: &outline, inline, print: record.at.print };
                self.event(&parts, body, take).map(drop)
            }
            _ => {
                // The blocks of a description that cannot be parsed keep its bytes and have no
                // fields; the report of the sync says so.
                let description = description(&bytes).unwrap_or_else(|_fault| Description::default());
                self.describe(description, body, take).map(drop)
            }
        }
    }

    fn long(&mut self, record: &Record<'_>, kind: Kind, take: &mut Take<'_>) -> Result<()> {
        let mut body = body_of(record.at.print);
        if let Some(payloads) = self.payloads
            && record.at.print.bytes > LARGE
        {
            // The payload is stored before the block that names it, so no block names a missing
            // one. A repeated push finds it by its name.
            let (name, size) = (cut::payload_name(record)?, record.at.print.bytes);
            let mut from = record.text.part(record.at.start, record.at.end());
            payloads.put(&name, size, &mut from, self.watch)?;
            body.payload = Some(Payload { blake3: name.clone(), name, size });
            return self.long_head(record, kind, body, take).map(drop);
        }
        let cut = cut(record, kind)?;
        body.encoding = (cut.form == Form::Base64).then(|| "base64".to_owned());
        body.has_continuation = true;
        (body.total_chunks, body.total_size_bytes) = (cut.pieces, cut.body.end - cut.body.start);
        if cut.form == Form::Utf8 {
            // `from_utf8_lossy` replaces nothing: the record is UTF-8, and is cut at the ends of a
            // JSON value or of the record.
            let part = |from, to| {
                record.text.bytes(from, to).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            };
            let before = part(record.at.start, cut.body.start)?;
            body.line = Some(Line::Around([before, part(cut.body.end, record.at.end())?]));
        }
        let (parent, event_id) = self.long_head(record, kind, body, take)?;
        let from = record.text.part(cut.body.start, cut.body.end);
        let pieces = Pieces::new(from, record.text.path(), cut.form);
        let head = Head { kind, parent: &parent, event_id: &event_id, pieces: cut.pieces };
        self.pieces(pieces, &head, take)
    }

    /// Makes the block that precedes the pieces. Returns its ID, and the ID that the pieces refer
    /// to.
    fn long_head(
        &mut self,
        record: &Record<'_>,
        kind: Kind,
        body: Body,
        take: &mut Take<'_>,
    ) -> Result<(String, String)> {
        let part = || record.text.part(record.at.start, record.at.end());
        match kind {
            Kind::Message => {
                let id = self.message(outline::message(part()), &MessageMembers::default(), body, take)?;
                Ok((id.clone(), id))
            }
            Kind::Event => {
                let outline = outline::event(part(), record.at.is_finished);
                let parts = EventParts { outline: &outline, inline: None, print: record.at.print };
                self.event(&parts, body, take)
            }
            _ => {
                let id = self.describe(Description::default(), body, take)?;
                Ok((id.clone(), id))
            }
        }
    }

    fn pieces<R: std::io::Read>(
        &mut self,
        mut pieces: Pieces<'_, R>,
        head: &Head<'_>,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let block_type = match head.kind {
            Kind::Event => BlockType::EventData,
            Kind::Message => BlockType::Message,
            _ => BlockType::SessionUpdated,
        };
        for index in 0..head.pieces {
            self.watch.check()?;
            // The pieces were counted in an earlier pass. If some are missing now, the file has
            // changed.
            let piece =
                pieces.next()?.ok().flatten().ok_or_else(|| changed(Path::new("a session's file")))?;
            let data = raw(&Piece { event_id: head.event_id.to_owned(), chunk_data: piece })?;
            let (index, is_final) = (Some(index), index + 1 == head.pieces);
            let parent = Some(head.parent);
            self.put(Draft { kind: block_type, data, timestamp: None, parent, index, is_final }, take)?;
        }
        Ok(())
    }

    fn message(
        &mut self,
        outline: outline::MessageOutline,
        members: &MessageMembers<'_>,
        body: Body,
        take: &mut Take<'_>,
    ) -> Result<String> {
        self.turns.message += u64::from(outline.begins_turn);
        let data = data::Message {
            role: outline.role,
            content: members.content.filter(|content| is_portable(content)),
            turn: self.turns.message,
            tool_calls: members.tool_calls.filter(|calls| is_portable(calls)),
            tool_call_id: members.tool_call_id.as_deref().map(str::to_owned),
            timestamp: outline.timestamp.clone(),
            body,
        };
        let timestamp = outline.timestamp;
        self.put(Draft { timestamp, ..Draft::of(BlockType::Message, raw(&data)?) }, take)
    }

    fn event(&mut self, parts: &EventParts<'_>, body: Body, take: &mut Take<'_>) -> Result<(String, String)> {
        let EventParts { outline, inline, print } = *parts;
        self.turns.event += u64::from(outline.event == TURN_START);
        // Derived from the record, because a repeated push must create the same block.
        let event_id = format!("evt_{}_{:016x}", self.next, (print.hash >> 64) as u64);
        let mut summary = outline.summary.clone();
        summary.insert("data_size_bytes".to_owned(), print.bytes.into());
        let data = data::Event {
            id: &event_id,
            kind: &outline.event,
            turn: self.turns.event,
            summary,
            outline: &outline.json,
            inline_data: inline,
            body,
        };
        let timestamp = outline.ts.clone();
        let id = self.put(Draft { timestamp, ..Draft::of(BlockType::Event, raw(&data)?) }, take)?;
        Ok((id, event_id))
    }

    /// Makes the block of a description: with all fields first, later with the changes.
    fn describe(&mut self, mut description: Description, body: Body, take: &mut Take<'_>) -> Result<String> {
        description.project_slug = Some(self.project.to_owned());
        let (kind, fields) = if self.next == 1 {
            (BlockType::SessionCreated, description.clone())
        } else {
            (BlockType::SessionUpdated, description.since(self.described.as_ref()))
        };
        let data = raw(&data::Described { description: &fields, body })?;
        let timestamp = description.updated.clone().or_else(|| description.created.clone());
        self.described = Some(description);
        self.put(Draft { timestamp, ..Draft::of(kind, data) }, take)
    }

    /// Numbers a block, derives its ID, and passes it on.
    fn put(&mut self, draft: Draft<'_>, take: &mut Take<'_>) -> Result<String> {
        // Checked here, as everything read before may have been truncated by cancellation.
        self.watch.check()?;
        let sum = checksum::of(draft.data.get())?;
        let (session, sequence) = (self.key.session(), self.next);
        // The ID depends on the device, the number, and the data: the same record becomes the same
        // block again after an interrupted sync.
        let identity = format!("{}\0{session}\0{sequence}\0{}", self.device, sum.hex);
        let mut block_id = format!("{session}_blk_{:.12}", blake3::hash(identity.as_bytes()).to_hex());
        if self.is_merged {
            block_id = format!("{block_id}-merged-{sequence}");
        }
        self.next = sequence.checked_add(1).ok_or(ErrorKind::NoNumbers)?;
        take(Block {
            block_id: block_id.clone(),
            session_id: session.to_owned(),
            user_id: self.key.user().to_owned(),
            sequence,
            timestamp: draft.timestamp.unwrap_or_else(|| Timestamp::now().to_string()),
            device_id: self.device.to_owned(),
            block_type: draft.kind,
            data: draft.data,
            parent_block_id: draft.parent.map(str::to_owned),
            chunk_index: draft.index,
            is_final_chunk: draft.is_final,
            checksum: sum.hex,
            size_bytes: sum.bytes,
            version: VERSION,
        })?;
        Ok(block_id)
    }
}

/// The members of a message that its block stores separately.
#[derive(Default, Deserialize)]
struct MessageMembers<'a> {
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
    #[serde(default, borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(default, borrow)]
    tool_call_id: Option<Cow<'a, str>>,
}

/// The member of an event that its block stores separately.
#[derive(Default, Deserialize)]
struct EventMembers<'a> {
    #[serde(default, borrow)]
    data: Option<&'a RawValue>,
}

impl Draft<'_> {
    fn of(kind: BlockType, data: Box<RawValue>) -> Self {
        Self { kind, data, timestamp: None, parent: None, index: None, is_final: true }
    }
}

fn body_of(print: Print) -> Body {
    Body { bytes: Some(print.bytes), blake3: Some(print.hex()), ..Body::default() }
}

fn raw(data: &impl Serialize) -> Result<Box<RawValue>> {
    Ok(to_raw_value(data).map_err(ErrorKind::Unwritable)?)
}
