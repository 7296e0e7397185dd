//! What the file of a session without a description tells about it, from its first records.

use crate::error::Result;
use crate::message::{self, Keep};
use crate::metadata::Facts;
use crate::records::Flow;
use crate::session::Session;
use crate::text::shown;
use crate::watch::Watch;

/// Records that are looked at for a list.
const FIRST: u64 = 30;

/// Characters of the first message that serve as a name.
const NAME: usize = 50;

pub(crate) fn facts(session: &Session) -> Result<Facts> {
    let mut facts = Facts::default();
    let keep = Keep { text: 200, arguments: 0 };
    let watch = Watch::new();
    session.transcript(&watch)?.each(
        &watch,
        |cursor| message::look(cursor, keep).map(Some),
        |message, record| {
            facts.created = facts.created.or(message.time);
            if facts.name.is_none() && message.is_users() {
                facts.name = Some(shown(message.text.text.trim(), NAME)).filter(|name| !name.is_empty());
            }
            facts.model = facts.model.take().or(message.model);
            let known = facts.created.is_some() && facts.name.is_some() && facts.model.is_some();
            Ok(if known || record.number >= FIRST { Flow::Enough } else { Flow::On })
        },
    )?;
    Ok(facts)
}
