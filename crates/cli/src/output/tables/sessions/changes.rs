//! What was changed in a session, or would be, and what is wrong with it: in sentences.

use std::fmt::Write;

#[cfg(feature = "cloud")]
use trommel_blocks::{SessionOutcome, SyncReport};
use trommel_session::{Diagnosis, IncompleteTurn, Repaired, Rewound, SessionSync, SyncStatus, Undone};

use super::{Clock, NAME, counted};
use crate::output::escape;

/// Ids and turns that are told one by one.
const TOLD: usize = 5;

/// What a rewind did, or would do; `given` is the session as it was asked for.
pub(crate) fn rewound(rewound: &Rewound, given: &str) -> String {
    let id = escape::short(&rewound.session_id, 200);
    let gone = format!(
        "{} and {}",
        counted(rewound.would_remove.messages, "message"),
        counted(rewound.would_remove.events, "event")
    );
    let left = format!(
        "{} with {} and {}",
        counted(rewound.new_turn_count, "turn"),
        counted(rewound.messages_left, "message"),
        counted(rewound.events_left, "event")
    );
    let mut text = if rewound.dry_run {
        format!("{id} would lose {gone}; what stays is {left}.\n{NOT_YET}")
    } else if rewound.backups.is_empty() {
        format!("{id} stays as it is: there is nothing to remove. It has {left}.\n")
    } else {
        format!("{id} lost {gone}; what stays is {left}.\n{}", kept(&rewound.backups, given))
    };
    lines(&mut text, &rewound.warnings, rewound.note);
    text
}

/// Adds a line for each warning, and for the note.
fn lines(text: &mut String, warnings: &[String], note: Option<&str>) {
    for sentence in warnings.iter().map(String::as_str).chain(note) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", escape::short(sentence, 500));
    }
}

const NOT_YET: &str = "Nothing was changed: say it again with --apply to do it, after a backup.\n";

/// Where what was there before is, and how it comes back.
fn kept(backups: &[String], given: &str) -> String {
    let (names, given) = (escape::short(&backups.join(", "), 400), escape::short(given, 200));
    format!("What was there before is kept in {names}.\n`trommel sessions undo {given}` brings it back.\n")
}

/// What an undo did.
pub(crate) fn undone(undone: &Undone, clock: &Clock) -> String {
    let (id, what) = (escape::short(&undone.session_id, 200), escape::short(&undone.undone, NAME));
    let (made, restored) = (clock.stamp(&undone.made), escape::short(&undone.restored.join(", "), 400));
    let mut text = format!("The {what} of {made} is taken back in {id}: {restored} as before.\n");
    if undone.late_lines > 0 {
        let count = counted(undone.late_lines, "line");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "Restored as well: {count} that a program wrote to the backups since.");
    }
    if undone.changed_since {
        let backups = escape::short(&undone.backups.join(", "), 400);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "The session had been changed since: what was there until now is kept in {backups}."
        );
    }
    text
}

/// What is wrong with a session.
pub(crate) fn diagnosed(diagnosis: &Diagnosis, given: &str) -> String {
    let mut text = of_diagnosis(diagnosis);
    let given = escape::short(given, 200);
    // Writing to a string cannot fail.
    let _ = match diagnosis.recommended_action {
        "repair" => writeln!(text, "`trommel sessions repair {given}` shows what would fix it."),
        "restore" => writeln!(text, "A repair does not bring records back: restore them from a backup."),
        _ if diagnosis.status != "healthy" => {
            writeln!(
                text,
                "`repair` changes sessions of Amplifier only: the program that wrote the file has to fix it."
            )
        }
        _ => Ok(()),
    };
    text
}

fn of_diagnosis(diagnosis: &Diagnosis) -> String {
    let id = escape::short(&diagnosis.session_id, 200);
    if diagnosis.status == "healthy" {
        return format!("{id} is healthy.\n");
    }
    let mut text = format!("{id} is {}.\n", escape::short(diagnosis.status, NAME));
    let after = |turn: &IncompleteTurn| match turn.after_line {
        Some(line) => format!("line {line}"),
        None => format!("message {}", turn.after_index),
    };
    let turns: Vec<String> = diagnosis.incomplete_turns.iter().map(after).collect();
    for (what, rows, of) in [
        ("tool call", &diagnosis.orphaned_tool_ids, "without a result"),
        ("result", &diagnosis.misplaced_tool_ids, "out of place"),
        ("turn", &turns, "without an answer, after"),
    ] {
        if !rows.is_empty() {
            let (count, some) = (counted(rows.len() as u64, what), some(rows));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {count} {of}{} {some}", if of.ends_with("after") { "" } else { ":" });
        }
    }
    if diagnosis.damage.count > 0 {
        let _ = writeln!(text, "  {} unreadable", counted(diagnosis.damage.count, "record"));
    }
    text
}

/// The first of some names.
fn some(names: &[String]) -> String {
    let told: Vec<String> = names.iter().take(TOLD).map(|name| escape::short(name, NAME)).collect();
    let more = names.len().saturating_sub(TOLD) as u64;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    told.join(", ") + &more
}

/// What a repair did, or would do.
pub(crate) fn repaired(repaired: &Repaired, given: &str) -> String {
    if repaired.results_added + repaired.results_moved + repaired.turns_closed == 0 {
        return of_diagnosis(&repaired.diagnosis) + "There is nothing to repair, and nothing was changed.\n";
    }
    let mut done = Vec::new();
    for (count, what, how) in [
        (repaired.results_added, "result", "made up"),
        (repaired.results_moved, "result", "moved"),
        (repaired.turns_closed, "turn", "ended"),
    ] {
        if count > 0 {
            done.push(format!("{} {how}", counted(count, what)));
        }
    }
    let done = done.join(", ");
    let mut text = if repaired.dry_run {
        format!("{}A repair would be: {done}.\n{NOT_YET}", of_diagnosis(&repaired.diagnosis))
    } else {
        let id = escape::short(&repaired.diagnosis.session_id, 200);
        format!("{id} is repaired: {done}.\n{}", kept(&repaired.backups, given))
    };
    lines(&mut text, &repaired.warnings, repaired.note);
    text
}

/// How far sessions are the same elsewhere.
pub(crate) fn synced(synced: &SyncStatus, clock: &Clock) -> String {
    let mut text = if synced.connected {
        let (up, down) = (synced.pending_uploads, synced.pending_downloads);
        let last = synced.last_sync.as_deref();
        let last = last.map_or_else(|| "never".to_owned(), |last| clock.second(Some(last)));
        format!("Last synchronized: {last}; {up} to be sent, {down} to be fetched.\n")
    } else if let Some(problem) = &synced.problem {
        let up = synced.pending_uploads;
        format!("The cloud is out of reach: {}.\n{up} to be sent.\n", escape::short(problem, 600))
    } else {
        "No other machine is connected: sessions lie on this one alone.\n".to_owned()
    };
    for SessionSync { session_id, status, .. } in &synced.sessions {
        let status = status.unwrap_or("was never sent anywhere");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}", escape::short(session_id, 200), escape::short(status, NAME));
    }
    text
}

/// What became of sessions that were to be made the same.
#[cfg(feature = "cloud")]
pub(crate) fn exchanged(report: &SyncReport, cloud_only: Option<usize>) -> String {
    let counts = [
        (report.synced, "the same on both sides"),
        (report.conflicts, "in conflict"),
        (report.kept, "kept here"),
        (report.failed, "failed"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let mut text = match cloud_only {
        _ if !counts.is_empty() => format!("{counts}.\n"),
        None => "There are no sessions.\n".to_owned(),
        Some(count) => {
            let count = counted(count as u64, "session");
            format!(
                "There are no sessions here, and {count} in the cloud only: `trommel sessions sync --apply --all` fetches what is there.\n"
            )
        }
    };
    for SessionOutcome { session_id, outcome, reason, warning, .. } in &report.sessions {
        let after = |mark: &str, said: &Option<String>| {
            said.as_deref().map_or(String::new(), |said| format!("{mark}{}", escape::short(said, 600)))
        };
        let (reason, warning) = (after(": ", reason), after("; warning: ", warning));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}{reason}{warning}", escape::short(session_id, 200), outcome.name());
    }
    if report.conflicts > 0 {
        text.push_str("`trommel sessions sync SESSION --show DIR` writes out what the cloud has; `--apply --settle SIDE` says which side counts.\n");
    }
    text
}
