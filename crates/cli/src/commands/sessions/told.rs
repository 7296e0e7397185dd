//! What is said of an answer on standard error: what could not be read, and what there is besides.

use std::fmt::Write;

use serde::Deserialize;

use crate::args::SessionOperation as Operation;
use crate::output::size::grouped;
use crate::output::{Notes, escape};

/// Characters of what is said.
const LONGEST: usize = 600;

/// The parts of any answer that tell of damage.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Told {
    damage: Damage,
    transcript_page: Part,
    events_summary: Part,
    diagnosis: Part,
    problems: Vec<String>,
    sessions: Vec<Row>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    damage: Damage,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Damage {
    count: u64,
    first: Vec<Damaged>,
    unfinished: Option<Damaged>,
}

#[derive(Deserialize)]
struct Damaged {
    file: String,
    line: Option<u64>,
    offset: u64,
    message: String,
}

#[derive(Deserialize)]
struct Row {
    session_id: String,
    problem: Option<String>,
}

/// Says what could not be read.
pub(super) fn damage(answer: &str, notes: &Notes) {
    let told: Told = serde_json::from_str(answer).unwrap_or_default();
    let parts = [told.transcript_page, told.events_summary, told.diagnosis].map(|part| part.damage);
    for damage in [told.damage].iter().chain(&parts) {
        if let Some(text) = counted(damage) {
            notes.note(&text);
        }
        if let Some(Damaged { file, line, .. }) = &damage.unfinished {
            let file = escape::short(file, LONGEST);
            let line = line.map_or(String::new(), |line| format!(", line {line},"));
            notes.note(&format!("the last line of {file}{line} has no end; it may be being written"));
        }
    }
    for problem in &told.problems {
        notes.warn(&escape::short(problem, LONGEST));
    }
    for Row { session_id, problem } in &told.sessions {
        if let Some(problem) = problem {
            notes.warn(&escape::short(&format!("{session_id}: {problem}"), LONGEST));
        }
    }
}

/// How many records were none, and the first.
fn counted(damage: &Damage) -> Option<String> {
    let mut text = match damage.count {
        0 => return None,
        1 => "1 record could not be read".to_owned(),
        many => format!("{} records could not be read", grouped(many)),
    };
    if let Some(Damaged { file, line, offset, message }) = damage.first.first() {
        let first = if damage.count == 1 { "" } else { "the first: " };
        let line = line.map_or(String::new(), |line| format!("line {line}, "));
        let (file, message) = (escape::short(file, LONGEST), escape::short(message, LONGEST));
        // Writing to a string cannot fail.
        let _ = write!(text, "; {first}{file}, {line}byte {offset}: {message}");
    }
    Some(text)
}

/// How many rows there are, of how many.
#[derive(Deserialize)]
struct Amounts {
    total: Option<u64>,
    total_count: Option<u64>,
    transcript_page: Option<Total>,
    sessions_searched: Option<u64>,
    #[serde(default)]
    notes: Vec<String>,
    truncated: Option<Truncated>,
}

#[derive(Deserialize)]
struct Total {
    total_count: u64,
}

#[derive(Deserialize)]
struct Truncated {
    returned: u64,
    next: u64,
}

/// Says what is not shown, or that there is nothing.
pub(super) fn rest(operation: &Operation, answer: &str, notes: &Notes) {
    let Ok(count) = serde_json::from_str::<Amounts>(answer) else { return };
    count.notes.iter().for_each(|note| notes.note(&escape::short(note, LONGEST)));
    let page = count.transcript_page.map(|page| page.total_count);
    let Some(total) = count.total.or(count.total_count).or(page) else { return };
    if let Some(Truncated { returned, next }) = count.truncated {
        notes.note(&format!("{} of {}; next page: --offset {next}", grouped(returned), grouped(total)));
    } else if total == 0 {
        match (operation, count.sessions_searched) {
            // Its own notes say why.
            (Operation::List(_), _) | (Operation::Search(_), Some(0)) => {}
            (Operation::Search(_), Some(1)) => notes.note("no matches in 1 session"),
            (Operation::Search(_), searched) => {
                notes.note(&format!("no matches in {} sessions", grouped(searched.unwrap_or(0))));
            }
            (Operation::Get(_), _) => notes.note("no messages were kept"),
            _ => notes.note("there are none"),
        }
    }
}

/// Whether a search found anything.
pub(super) fn found_any(answer: &str) -> bool {
    serde_json::from_str::<Amounts>(answer)
        .is_ok_and(|count| count.total_count.is_some_and(|total| total > 0))
}

/// Whether a diagnosis found nothing wrong.
pub(super) fn is_healthy(answer: &str) -> bool {
    #[derive(Deserialize)]
    struct Status {
        status: String,
    }
    serde_json::from_str::<Status>(answer).is_ok_and(|told| told.status == "healthy")
}

/// Whether both sides are the same now.
#[cfg(feature = "cloud")]
pub(super) fn is_synced(answer: &str) -> bool {
    #[derive(Deserialize)]
    struct Report {
        conflicts: u64,
        failed: u64,
    }
    serde_json::from_str::<Report>(answer).is_ok_and(|told| told.conflicts == 0 && told.failed == 0)
}
