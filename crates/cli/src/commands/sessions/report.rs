//! Reports on standard error about an answer: unreadable records, problems, and the number of
//! remaining rows.

use std::fmt::Write;

use trommel_session::{Damage, DamagedRecord};

use super::answer::{Answer, Reply, Truncated};
use crate::output::size::grouped;
use crate::output::{Notes, escape};

/// The maximum number of characters of a name or message.
const MAX_CHARS: usize = 600;

/// Reports unreadable records and problems.
pub(super) fn damage(reply: &Reply, notes: &Notes) {
    for damage in reply.answer.damages() {
        if let Some(text) = counted(damage) {
            notes.note(&text);
        }
        if let Some(DamagedRecord { file, line, .. }) = &damage.unfinished {
            let file = escape::short(file, MAX_CHARS);
            let line = line.map_or(String::new(), |line| format!(", line {line},"));
            notes.note(&format!(
                "the last line of {file}{line} is incomplete; another program may be writing it"
            ));
        }
    }
    for problem in reply.problems() {
        notes.warn(&escape::short(problem, MAX_CHARS));
    }
    let Answer::List(listing) = &reply.answer else { return };
    for row in &listing.sessions {
        if let Some(problem) = &row.problem {
            notes.warn(&escape::short(&format!("{}: {problem}", row.session_id), MAX_CHARS));
        }
    }
}

/// Describes the number of unreadable records and the first of them.
fn counted(damage: &Damage) -> Option<String> {
    let mut text = match damage.count {
        0 => return None,
        1 => "skipped 1 unreadable record".to_owned(),
        many => format!("skipped {} unreadable records", grouped(many)),
    };
    if let Some(DamagedRecord { file, line, offset, message, .. }) = damage.first.first() {
        let first = if damage.count == 1 { ": " } else { "; the first: " };
        let line = line.map_or(String::new(), |line| format!("line {line}, "));
        let (file, message) = (escape::short(file, MAX_CHARS), escape::short(message, MAX_CHARS));
        // Writing to a string cannot fail.
        let _ = write!(text, "{first}{file}, {line}byte {offset}: {message}");
    }
    Some(text)
}

/// Reports the number of remaining rows, or that there are none.
pub(super) fn remaining(reply: &Reply, notes: &Notes) {
    let answer = &reply.answer;
    answer.notes().iter().for_each(|note| notes.note(&escape::short(note, MAX_CHARS)));
    let Some(total) = answer.total() else { return };
    if let Some(Truncated { returned, next, .. }) = reply.truncated {
        notes.note(&format!("{} of {}; next page: --offset {next}", grouped(returned), grouped(total)));
    } else if total == 0 {
        match answer {
            // The notes of the listing give the reason.
            Answer::List(_) => {}
            Answer::Search(found) => match found.sessions_searched {
                0 => {}
                1 => notes.note("no matches in 1 session"),
                many => notes.note(&format!("no matches in {} sessions", grouped(many))),
            },
            Answer::Get(_) => notes.note("the session has no messages"),
            _ => notes.note("no rows"),
        }
    }
}
