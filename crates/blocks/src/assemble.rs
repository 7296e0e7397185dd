//! Assembles the lines of a session's files from blocks.

use serde_json::value::RawValue;
use trommel_session::Watch;

use crate::block::{Block, BlockType};
use crate::data::{Body, Description, Foreign, Line, Piece, Rewind};
use crate::error::{ErrorKind, Result};
use crate::foreign;
use crate::lines::{Print, Printer};
use crate::outline::UNFINISHED;
use crate::pieces::decoded;
use crate::rows::{Hidden, Kind, Row};
use crate::storage::PayloadStorage;

/// Receives the assembled lines. Each line that is started is either finished or discarded.
pub(crate) trait Lines {
    /// Starts a line.
    fn begin(&mut self, kind: Kind) -> Result<()>;
    /// Appends to it.
    fn add(&mut self, part: &[u8]) -> Result<()>;
    /// Finishes it.
    fn end(&mut self, row: &Row) -> Result<()>;
    /// Discards it, as if it had not been started.
    fn discard(&mut self) -> Result<()>;
}

/// The parts of events that are assembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Whole events.
    Whole,
    /// Only the small fields of events.
    Outline,
    /// No lines: only rows.
    Rows,
}

/// Assembles the lines of a session from its blocks.
pub(crate) struct Assembler<'a, 'w> {
    pub(crate) hidden: &'a Hidden,
    pub(crate) depth: Depth,
    pub(crate) payloads: Option<&'a dyn PayloadStorage>,
    pub(crate) watch: &'a Watch<'w>,
    /// The rows so far, in order. Records without all their pieces are [`Kind::None`].
    pub(crate) rows: Vec<Row>,
    /// The description so far.
    pub(crate) description: Option<Description>,
    open: Option<Open>,
}

/// A record whose pieces are still arriving.
struct Open {
    row: Row,
    id: String,
    /// The index of the next piece, and the number of pieces.
    next: u64,
    total: u64,
    encoding: Option<String>,
    suffix: String,
    printer: Printer,
    is_written: bool,
}

impl<'a, 'w> Assembler<'a, 'w> {
    pub(crate) fn new(
        hidden: &'a Hidden,
        depth: Depth,
        payloads: Option<&'a dyn PayloadStorage>,
        watch: &'a Watch<'w>,
    ) -> Self {
        Self { hidden, depth, payloads, watch, rows: Vec::new(), description: None, open: None }
    }

    /// Adds the next block. Blocks must come in the order of their numbers.
    pub(crate) fn take(&mut self, block: &Block, lines: &mut dyn Lines) -> Result<()> {
        block.check_version()?;
        // Pieces of messages and descriptions have the type of their record, so the parent
        // identifies them.
        if block.parent_block_id.is_some() || block.block_type == BlockType::EventData {
            return self.piece(block, lines);
        }
        self.abandon(block.sequence, lines)?;
        match block.block_type {
            BlockType::SessionCreated | BlockType::SessionUpdated => self.described(block, lines),
            BlockType::Message => self.record(block, Kind::Message, lines),
            BlockType::Event => self.record(block, Kind::Event, lines),
            BlockType::Rewind => {
                let Rewind { target_sequence: target, .. } = block.data()?;
                self.note(block, Kind::Rewind { target });
                Ok(())
            }
            BlockType::Fork => {
                self.note(block, Kind::Fork);
                Ok(())
            }
            BlockType::SessionDeleted | BlockType::EventData => {
                self.note(block, Kind::None);
                Ok(())
            }
        }
    }

    /// Returns the result after the last block. A record that still lacks pieces is discarded, and
    /// the result says to resume before it.
    pub(crate) fn finish(mut self, head: u64, lines: &mut dyn Lines) -> Result<Assembled> {
        let mut through = head;
        if let Some(open) = self.open.take() {
            if open.is_written {
                lines.discard()?;
            }
            through = open.row.sequence - 1;
        } else if let Some(last) = self.rows.last().filter(|last| last.until > head) {
            // Without pieces, a record is incomplete if those that it declares exceed the head.
            through = last.sequence - 1;
            self.rows.pop();
        }
        Ok(Assembled { rows: self.rows, description: self.description, through, others: 0, own: Vec::new() })
    }

    /// The last block that belongs to a known record, at least `after`.
    pub(crate) fn known_until(&self, after: u64) -> u64 {
        self.rows.last().map_or(after, |row| row.until)
    }

    fn note(&mut self, block: &Block, kind: Kind) {
        let turn = self.rows.last().map_or(0, |row| row.turn);
        let sequence = block.sequence;
        self.rows.push(Row { sequence, until: sequence, kind, print: Print::default(), turn });
    }

    /// Discards an open record that is interrupted by another block: it counts as no record.
    fn abandon(&mut self, next: u64, lines: &mut dyn Lines) -> Result<()> {
        if let Some(open) = self.open.take() {
            if open.is_written {
                lines.discard()?;
            }
            self.rows.push(Row { kind: Kind::None, until: next - 1, ..open.row });
        }
        // A declared piece would have the number of this block, so it never arrived.
        if let Some(last) = self.rows.last_mut().filter(|last| last.until >= next) {
            (last.kind, last.until) = (Kind::None, next - 1);
        }
        Ok(())
    }

    fn described(&mut self, block: &Block, lines: &mut dyn Lines) -> Result<()> {
        let mut description: Description = block.data()?;
        // Other programs keep the time of creation only in the block.
        if block.version == 0 && block.block_type == BlockType::SessionCreated {
            description.created.get_or_insert_with(|| block.timestamp.clone());
        }
        if !self.hidden.hides(block.sequence) {
            let known = self.description.take().unwrap_or_default();
            self.description = Some(known.then(description));
        }
        self.record(block, Kind::Metadata, lines)
    }

    fn record(&mut self, block: &Block, kind: Kind, lines: &mut dyn Lines) -> Result<()> {
        let body: Body = block.data()?;
        let foreign: Foreign<'_> = block.data()?;
        let turn = foreign.turn.unwrap_or_else(|| self.rows.last().map_or(0, |row| row.turn));
        let declared =
            body.bytes.zip(body.blake3.as_deref()).and_then(|(bytes, hex)| Print::from_hex(bytes, hex));
        let mut row = Row {
            sequence: block.sequence,
            until: block.sequence,
            kind,
            print: declared.unwrap_or(Print::NONE),
            turn,
        };
        let is_seen = !self.hidden.hides(block.sequence);
        // Other programs count inline data as one piece. Only a continuation has further blocks.
        let chunks = if body.has_continuation { body.total_chunks } else { 0 };
        if self.depth == Depth::Rows || self.depth == Depth::Outline && kind == Kind::Event {
            // The count comes from the storage, and may be any number.
            row.until = row.until.saturating_add(chunks);
            if self.depth == Depth::Outline && is_seen {
                row.print = outline(block, &foreign, row, lines)?;
            }
            self.rows.push(row);
            return Ok(());
        }
        let is_written = is_seen;
        if is_written {
            lines.begin(kind)?;
        }
        if kind == Kind::Metadata && block.version > 0 && body.bytes.is_none() {
            // The session has no description: its file does not exist.
            if is_written {
                lines.end(&row)?;
            }
            self.rows.push(row);
            return Ok(());
        }
        let mut open = Open {
            row,
            id: block.block_id.clone(),
            next: 0,
            total: chunks,
            encoding: body.encoding.clone(),
            suffix: String::new(),
            printer: Printer::default(),
            is_written,
        };
        self.begin(block, &body, &mut open, lines)?;
        if open.total == 0 {
            return self.close(open, declared, lines);
        }
        open.row.print = declared.unwrap_or(Print::NONE);
        self.open = Some(open);
        Ok(())
    }

    /// Adds the part of a record that is in its first block, or the payload.
    fn begin(&mut self, block: &Block, body: &Body, open: &mut Open, lines: &mut dyn Lines) -> Result<()> {
        if let Some(payload) = &body.payload {
            return if open.is_written { self.payload(block, &payload.name, open, lines) } else { Ok(()) };
        }
        match &body.line {
            Some(Line::Whole(text)) => open.add(&decoded(text, body.encoding.as_deref())?, lines),
            Some(Line::Around([before, suffix])) => {
                open.suffix.clone_from(suffix);
                open.add(before.as_bytes(), lines)
            }
            None if block.version == 0 && open.row.kind == Kind::Metadata => {
                let known = self.description.clone().unwrap_or_default();
                open.add(foreign::description(block, &known).as_bytes(), lines)
            }
            None if block.version == 0 => {
                let (text, suffix) = foreign::line(block, body.has_continuation)?;
                open.suffix = suffix;
                open.add(text.as_bytes(), lines)
            }
            None => Ok(()),
        }
    }

    fn payload(&self, block: &Block, name: &str, open: &mut Open, lines: &mut dyn Lines) -> Result<()> {
        let Some(payloads) = self.payloads else {
            let (sequence, session) = (block.sequence, block.session_id.clone());
            return Err(ErrorKind::NoPayloadStorage { sequence, session }.into());
        };
        payloads.get(name, self.watch, &mut |part| open.add(part, lines))
    }

    fn piece(&mut self, block: &Block, lines: &mut dyn Lines) -> Result<()> {
        if self.depth == Depth::Rows && self.open.is_none() {
            return Ok(());
        }
        let Some(mut open) = self.open.take() else { return Ok(()) };
        let piece: Piece = block.data()?;
        let is_next = block.chunk_index.is_none_or(|index| index == open.next)
            && block.parent_block_id.as_ref().is_none_or(|parent| *parent == open.id);
        // Blocks are created in order, so a skipped piece cannot arrive later.
        if !is_next {
            self.open = Some(open);
            return self.abandon(block.sequence + 1, lines);
        }
        open.add(&decoded(&piece.chunk_data, open.encoding.as_deref())?, lines)?;
        (open.next, open.row.until) = (open.next + 1, block.sequence);
        if open.next < open.total {
            self.open = Some(open);
            return Ok(());
        }
        let declared = Some(open.row.print).filter(|print| *print != Print::default());
        self.close(open, declared, lines)
    }

    /// Finishes a record. Fails unless it matches the length and hash that its block declares.
    fn close(&mut self, mut open: Open, declared: Option<Print>, lines: &mut dyn Lines) -> Result<()> {
        let suffix = std::mem::take(&mut open.suffix);
        open.add(suffix.as_bytes(), lines)?;
        let found = open.printer.print();
        // The payload of a hidden record is not downloaded, so its text cannot be compared.
        let is_known = open.is_written || self.depth == Depth::Whole && open.printer.print().bytes > 0;
        if let Some(declared) = declared.filter(|print| is_known && *print != found) {
            let (sequence, found, written) = (open.row.sequence, found.bytes, declared.bytes);
            return Err(ErrorKind::Record { sequence, found, written }.into());
        }
        open.row.print = declared.unwrap_or(found);
        if open.is_written {
            lines.end(&open.row)?;
        }
        self.rows.push(open.row);
        Ok(())
    }
}

/// Writes the small fields of an event as its line, and returns the line's print.
fn outline(block: &Block, foreign: &Foreign<'_>, row: Row, lines: &mut dyn Lines) -> Result<Print> {
    let mut text = match foreign.outline.as_deref() {
        Some(outline) => outline.to_owned(),
        None => foreign::outline(block, foreign.summary.map(RawValue::get))?,
    };
    text.push_str(if text == UNFINISHED { "" } else { "\n" });
    lines.begin(Kind::Event)?;
    lines.add(text.as_bytes())?;
    let print = Print::of(text.as_bytes());
    lines.end(&Row { print, ..row })?;
    Ok(print)
}

impl Open {
    fn add(&mut self, part: &[u8], lines: &mut dyn Lines) -> Result<()> {
        self.printer.add(part);
        if self.is_written { lines.add(part) } else { Ok(()) }
    }
}

/// The rows and the description assembled from blocks.
pub(crate) struct Assembled {
    pub(crate) rows: Vec<Row>,
    pub(crate) description: Option<Description>,
    /// The last block of the last complete record.
    pub(crate) through: u64,
    /// The last block of another device, if that was determined.
    pub(crate) others: u64,
    /// The records of this device, if that was determined.
    pub(crate) own: Vec<u64>,
}

/// Ignores lines, for callers that only need rows.
pub(crate) struct NoLines;

impl Lines for NoLines {
    fn begin(&mut self, _: Kind) -> Result<()> {
        Ok(())
    }

    fn add(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, _: &Row) -> Result<()> {
        Ok(())
    }

    fn discard(&mut self) -> Result<()> {
        Ok(())
    }
}
