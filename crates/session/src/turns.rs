//! The messages of a log, each with its turn: a turn is what a user said and everything until a
//! user said something again.

use crate::error::Result;
use crate::message::{Keep, Message};
use crate::records::{Damage, Flow, Log, Record};
use crate::watch::Watch;

/// The position of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    /// From 0; records that are no messages do not count.
    pub(crate) index: u64,
    /// From 1; 0 before the first.
    pub(crate) turn: u64,
    pub(crate) record: Record,
}

/// Goes through the messages of a log.
pub(crate) fn messages(
    log: &Log,
    keep: Keep,
    watch: &Watch<'_>,
    mut take: impl FnMut(Message, At) -> Result<Flow>,
) -> Result<Damage> {
    let (mut index, mut turn) = (0, 0);
    log.each(
        watch,
        |cursor| {
            if keep.text <= UNHELD {
                return keep.read(cursor).map(Some);
            }
            // Strings are not cut while a record is held, however long they are.
            cursor.hold();
            let message = keep.read(cursor);
            cursor.release();
            message.map(Some)
        },
        |message, record| {
            if message.role.is_empty() {
                return Ok(Flow::On);
            }
            turn += u64::from(message.is_users());
            let at = At { index, turn, record };
            index += 1;
            take(message, at)
        },
    )
}

/// Characters of a message that are there without holding its record.
const UNHELD: usize = 20_000;
