//! The messages of a log, each with its turn. A turn is a user's prompt and everything up to the
//! next prompt.

use crate::error::Result;
use crate::message::{Message, MessageLimits};
use crate::records::{Damage, Flow, Log, Record};
use crate::watch::Watch;

/// The position of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessagePosition {
    /// The index, from 0. Records that are not messages do not count.
    pub(crate) index: u64,
    /// The turn, from 1. 0 before the first.
    pub(crate) turn: u64,
    pub(crate) record: Record,
}

/// Passes the messages of a log to a callback.
pub(crate) fn messages(
    log: &Log,
    limits: MessageLimits,
    watch: &Watch<'_>,
    mut visit: impl FnMut(Message, MessagePosition) -> Result<Flow>,
) -> Result<Damage> {
    let (mut index, mut turn) = (0, 0);
    log.each(
        watch,
        |cursor| {
            if limits.text <= MAX_UNHELD_CHARS {
                return limits.read(cursor).map(Some);
            }
            // Holding the record keeps its strings whole: otherwise, the reader truncates long
            // ones.
            cursor.hold();
            let message = limits.read(cursor);
            cursor.release();
            message.map(Some)
        },
        |message, record| {
            if message.role.is_empty() {
                return Ok(Flow::Continue);
            }
            turn += u64::from(message.is_prompt());
            let at = MessagePosition { index, turn, record };
            index += 1;
            visit(message, at)
        },
    )
}

/// The maximum number of characters available without holding the record.
const MAX_UNHELD_CHARS: usize = 20_000;
