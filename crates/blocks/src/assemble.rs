//! Blocks made into the lines of files again.

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

/// Where lines go. A record that is begun ends, or is taken back.
pub(crate) trait Lines {
    /// A line begins.
    fn begin(&mut self, kind: Kind) -> Result<()>;
    /// It goes on.
    fn add(&mut self, part: &[u8]) -> Result<()>;
    /// It was a whole one.
    fn end(&mut self, row: &Row) -> Result<()>;
    /// It was none: as if it had not begun.
    fn take_back(&mut self) -> Result<()>;
}

/// How much of each event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Everything.
    Whole,
    /// Of events their small fields.
    Outline,
    /// Nothing: rows are found, and no lines.
    Rows,
}

/// Blocks on their way to lines.
pub(crate) struct Assembler<'a, 'w> {
    pub(crate) hidden: &'a Hidden,
    pub(crate) depth: Depth,
    pub(crate) payloads: Option<&'a dyn PayloadStorage>,
    pub(crate) watch: &'a Watch<'w>,
    /// What was found, in order. Records that never ended are [`Kind::Nothing`].
    pub(crate) rows: Vec<Row>,
    /// What was said of the session last.
    pub(crate) description: Option<Description>,
    open: Option<Open>,
}

/// A record whose pieces are on their way.
struct Open {
    row: Row,
    id: String,
    /// The piece that comes next, and how many there are.
    next: u64,
    total: u64,
    encoding: Option<String>,
    behind: String,
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

    /// The next block, which is given in the order of numbers.
    pub(crate) fn take(&mut self, block: &Block, lines: &mut dyn Lines) -> Result<()> {
        block.check_version()?;
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
                self.note(block, Kind::Nothing);
                Ok(())
            }
        }
    }

    /// What was found when the last block was given. A record that waits for pieces is taken back,
    /// and is where to go on.
    pub(crate) fn finish(mut self, head: u64, lines: &mut dyn Lines) -> Result<Found> {
        let mut through = head;
        if let Some(open) = self.open.take() {
            if open.is_written {
                lines.take_back()?;
            }
            through = open.row.sequence - 1;
        } else if let Some(last) = self.rows.last().filter(|last| last.until > head) {
            through = last.sequence - 1;
            self.rows.pop();
        }
        Ok(Found { rows: self.rows, description: self.description, through, others: 0, own: Vec::new() })
    }

    /// Up to where all blocks belong to records, behind a number.
    pub(crate) fn known_until(&self, after: u64) -> u64 {
        self.rows.last().map_or(after, |row| row.until)
    }

    fn note(&mut self, block: &Block, kind: Kind) {
        let turn = self.rows.last().map_or(0, |row| row.turn);
        let sequence = block.sequence;
        self.rows.push(Row { sequence, until: sequence, kind, print: Print::default(), turn });
    }

    /// A record that waits for pieces and gets something else is none.
    fn abandon(&mut self, next: u64, lines: &mut dyn Lines) -> Result<()> {
        if let Some(open) = self.open.take() {
            if open.is_written {
                lines.take_back()?;
            }
            self.rows.push(Row { kind: Kind::Nothing, until: next - 1, ..open.row });
        }
        if let Some(last) = self.rows.last_mut().filter(|last| last.until >= next) {
            (last.kind, last.until) = (Kind::Nothing, next - 1);
        }
        Ok(())
    }

    fn described(&mut self, block: &Block, lines: &mut dyn Lines) -> Result<()> {
        let mut told: Description = block.data()?;
        if block.version == 0 && block.block_type == BlockType::SessionCreated {
            told.created.get_or_insert_with(|| block.timestamp.clone());
        }
        if !self.hidden.hides(block.sequence) {
            let known = self.description.take().unwrap_or_default();
            self.description = Some(known.then(told));
        }
        self.record(block, Kind::Metadata, lines)
    }

    fn record(&mut self, block: &Block, kind: Kind, lines: &mut dyn Lines) -> Result<()> {
        let body: Body = block.data()?;
        let told: Foreign<'_> = block.data()?;
        let turn = told.turn.unwrap_or_else(|| self.rows.last().map_or(0, |row| row.turn));
        let told_print =
            body.bytes.zip(body.blake3.as_deref()).and_then(|(bytes, hex)| Print::from_hex(bytes, hex));
        let mut row = Row {
            sequence: block.sequence,
            until: block.sequence,
            kind,
            print: told_print.unwrap_or(Print::NONE),
            turn,
        };
        let is_seen = !self.hidden.hides(block.sequence);
        let chunks = if body.has_continuation { body.total_chunks } else { 0 };
        if self.depth == Depth::Rows || self.depth == Depth::Outline && kind == Kind::Event {
            row.until = row.until.saturating_add(chunks);
            if self.depth == Depth::Outline && is_seen {
                row.print = outline(block, &told, row, lines)?;
            }
            self.rows.push(row);
            return Ok(());
        }
        let is_written = is_seen;
        if is_written {
            lines.begin(kind)?;
        }
        if kind == Kind::Metadata && block.version > 0 && body.bytes.is_none() {
            // The session says nothing of itself: there is no such file.
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
            behind: String::new(),
            printer: Printer::default(),
            is_written,
        };
        self.begin(block, &body, &mut open, lines)?;
        if open.total == 0 {
            return self.close(open, told_print, lines);
        }
        open.row.print = told_print.unwrap_or(Print::NONE);
        self.open = Some(open);
        Ok(())
    }

    /// What of a record stands in its first block, or lies with the payloads.
    fn begin(&mut self, block: &Block, body: &Body, open: &mut Open, lines: &mut dyn Lines) -> Result<()> {
        if let Some(payload) = &body.payload {
            return if open.is_written { self.payload(block, &payload.name, open, lines) } else { Ok(()) };
        }
        match &body.line {
            Some(Line::Whole(text)) => open.add(&decoded(text, body.encoding.as_deref())?, lines),
            Some(Line::Around([before, behind])) => {
                open.behind.clone_from(behind);
                open.add(before.as_bytes(), lines)
            }
            None if block.version == 0 && open.row.kind == Kind::Metadata => {
                let told = self.description.clone().unwrap_or_default();
                open.add(foreign::description(block, &told).as_bytes(), lines)
            }
            None if block.version == 0 => {
                let (text, behind) = foreign::line(block, body.has_continuation)?;
                open.behind = behind;
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
        let told = Some(open.row.print).filter(|print| *print != Print::default());
        self.close(open, told, lines)
    }

    /// A record is whole: an error unless it is what was written.
    fn close(&mut self, mut open: Open, told: Option<Print>, lines: &mut dyn Lines) -> Result<()> {
        let behind = std::mem::take(&mut open.behind);
        open.add(behind.as_bytes(), lines)?;
        let found = open.printer.print();
        let is_known = open.is_written || self.depth == Depth::Whole && open.printer.print().bytes > 0;
        if let Some(told) = told.filter(|told| is_known && *told != found) {
            let (sequence, found, written) = (open.row.sequence, found.bytes, told.bytes);
            return Err(ErrorKind::Record { sequence, found, written }.into());
        }
        open.row.print = told.unwrap_or(found);
        if open.is_written {
            lines.end(&open.row)?;
        }
        self.rows.push(open.row);
        Ok(())
    }
}

/// Writes an event's small fields for the event; what tells that line from every other.
fn outline(block: &Block, told: &Foreign<'_>, row: Row, lines: &mut dyn Lines) -> Result<Print> {
    let mut text = match told.outline.as_deref() {
        Some(outline) => outline.to_owned(),
        None => foreign::outline(block, told.summary.map(RawValue::get))?,
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

/// What blocks told.
pub(crate) struct Found {
    pub(crate) rows: Vec<Row>,
    pub(crate) description: Option<Description>,
    /// The last block that belongs to a record that is whole.
    pub(crate) through: u64,
    /// The last block of another device, where that was looked at.
    pub(crate) others: u64,
    /// The records of this device, where that was looked at.
    pub(crate) own: Vec<u64>,
}

/// For whom only rows matter.
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

    fn take_back(&mut self) -> Result<()> {
        Ok(())
    }
}
