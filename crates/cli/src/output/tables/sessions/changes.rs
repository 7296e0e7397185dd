//! Reports about changes, previews, and faults of a session, in sentences.

use std::fmt::Write;

#[cfg(feature = "cloud")]
use trommel_blocks::{SessionOutcome, SyncReport};
use trommel_session::{
    Diagnosis, IncompleteTurn, RepairReport, RewindReport, SessionSync, SyncStatus, UndoReport,
};

use super::{Clock, NAME, counted};
use crate::output::escape;

/// The maximum number of IDs or turns to list.
const MAX_LISTED: usize = 5;

/// Reports a rewind or its preview. `given` is the session argument.
pub(crate) fn rewound(rewound: &RewindReport, given: &str) -> String {
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
        format!("A rewind of {id} would remove {gone}, and leave {left}.\n{NOTHING_CHANGED}")
    } else if rewound.backups.is_empty() {
        format!("Nothing to remove from {id}. It has {left}.\n")
    } else {
        format!("Removed {gone} from {id}, and left {left}.\n{}", backup_lines(&rewound.backups, given))
    };
    lines(&mut text, &rewound.warnings, rewound.note);
    text
}

/// Adds a line for each warning and for the note.
fn lines(text: &mut String, warnings: &[String], note: Option<&str>) {
    for sentence in warnings.iter().map(String::as_str).chain(note) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", escape::short(sentence, 500));
    }
}

const NOTHING_CHANGED: &str = "Nothing was changed. Pass --apply to make a backup and apply it.\n";

/// Reports where the backup is and how to restore it.
fn backup_lines(backups: &[String], given: &str) -> String {
    let (names, given) = (escape::short(&backups.join(", "), 400), escape::short(given, 200));
    format!("The previous files are backed up in {names}.\n`trommel sessions undo {given}` restores them.\n")
}

/// Reports an undo.
pub(crate) fn undone(undone: &UndoReport, clock: &Clock) -> String {
    let (id, what) = (escape::short(&undone.session_id, 200), escape::short(&undone.undone, NAME));
    let (made, restored) = (clock.stamp(&undone.made), escape::short(&undone.restored.join(", "), 400));
    let mut text = format!("Undid the {what} of {made} in {id}: restored {restored}.\n");
    if undone.late_lines > 0 {
        let count = counted(undone.late_lines, "line");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "Also restored {count} that a program wrote to the backups since.");
    }
    if undone.changed_since {
        let backups = escape::short(&undone.backups.join(", "), 400);
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "The session had changed since; its changed files are backed up in {backups}.");
    }
    text
}

/// Reports the faults of a session.
pub(crate) fn diagnosed(diagnosis: &Diagnosis, given: &str) -> String {
    let mut text = of_diagnosis(diagnosis);
    let given = escape::short(given, 200);
    // Writing to a string cannot fail.
    let _ = match diagnosis.recommended_action {
        "repair" => writeln!(text, "`trommel sessions repair {given}` previews the fix."),
        "restore" => writeln!(text, "A repair cannot recover records; restore them from a backup."),
        _ if diagnosis.status != "healthy" => {
            writeln!(
                text,
                "`repair` supports only Amplifier sessions. Fix the file with the program that wrote it."
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
        ("result", &diagnosis.misplaced_tool_ids, "out of position"),
        ("turn", &turns, "without an answer, after"),
    ] {
        if !rows.is_empty() {
            let (count, some) = (counted(rows.len() as u64, what), list_some(rows));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {count} {of}{} {some}", if of.ends_with("after") { "" } else { ":" });
        }
    }
    if diagnosis.damage.count > 0 {
        let _ = writeln!(text, "  {} unreadable", counted(diagnosis.damage.count, "record"));
    }
    text
}

/// Lists the first of some names.
fn list_some(names: &[String]) -> String {
    let listed: Vec<String> = names.iter().take(MAX_LISTED).map(|name| escape::short(name, NAME)).collect();
    let more = names.len().saturating_sub(MAX_LISTED) as u64;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    listed.join(", ") + &more
}

/// Reports a repair or its preview.
pub(crate) fn repaired(repaired: &RepairReport, given: &str) -> String {
    if repaired.results_added + repaired.results_moved + repaired.turns_closed == 0 {
        return of_diagnosis(&repaired.diagnosis) + "Nothing to repair; nothing was changed.\n";
    }
    let mut done = Vec::new();
    for (count, what, how) in [
        (repaired.results_added, "result", "added"),
        (repaired.results_moved, "result", "moved"),
        (repaired.turns_closed, "turn", "closed"),
    ] {
        if count > 0 {
            done.push(format!("{} {how}", counted(count, what)));
        }
    }
    let done = done.join(", ");
    let mut text = if repaired.dry_run {
        format!(
            "{}A repair would make these changes: {done}.\n{NOTHING_CHANGED}",
            of_diagnosis(&repaired.diagnosis)
        )
    } else {
        let id = escape::short(&repaired.diagnosis.session_id, 200);
        format!("Repaired {id}: {done}.\n{}", backup_lines(&repaired.backups, given))
    };
    lines(&mut text, &repaired.warnings, repaired.note);
    text
}

/// Reports the sync status.
pub(crate) fn synced(synced: &SyncStatus, clock: &Clock) -> String {
    let mut text = if synced.connected {
        let (up, down) = (synced.pending_uploads, synced.pending_downloads);
        let last = synced.last_sync.as_deref();
        let last = last.map_or_else(|| "never".to_owned(), |last| clock.second(Some(last)));
        format!("Last synced: {last}; {up} to push, {down} to pull.\n")
    } else if let Some(problem) = &synced.problem {
        let up = synced.pending_uploads;
        format!("The cloud is unreachable: {}.\n{up} to push.\n", escape::short(problem, 600))
    } else {
        "No storage is connected; sessions are only on this machine.\n".to_owned()
    };
    for SessionSync { session_id, status, .. } in &synced.sessions {
        let status = status.unwrap_or("never pushed");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}", escape::short(session_id, 200), escape::short(status, NAME));
    }
    text
}

/// Reports the outcome of a sync.
#[cfg(feature = "cloud")]
pub(crate) fn exchanged(report: &SyncReport, cloud_only: Option<usize>) -> String {
    let counts = [
        (report.synced, "synced"),
        (report.conflicts, "in conflict"),
        (report.kept, "kept here"),
        (report.failed, "failed"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let mut text = match cloud_only {
        _ if !counts.is_empty() => format!("{counts}.\n"),
        None => "No sessions.\n".to_owned(),
        Some(count) => {
            let count = counted(count as u64, "session");
            format!(
                "No local sessions; {count} only in the cloud. `trommel sessions sync --apply --all` downloads them.\n"
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
        text.push_str("`trommel sessions sync SESSION --show DIR` writes the cloud's copy to DIR; `--apply --resolve SIDE` resolves conflicts.\n");
    }
    text
}
