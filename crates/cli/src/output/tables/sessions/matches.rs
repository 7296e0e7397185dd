//! The matches of a search.

use std::fmt::Write;
use std::ops::Range;

use owo_colors::OwoColorize;
use trommel_session::{Match, Matches};

use super::{Clock, NAME, counted};
use crate::output::size::grouped;
use crate::output::tables::heading;
use crate::output::{Stream, escape};

/// Formats excerpts by session, with the searched text marked.
pub(crate) fn matches(found: &Matches, sought: &str, clock: &Clock, out: Stream) -> String {
    let mut text = String::new();
    let same =
        |one: &Match, other: &Match| (&one.session_id, &one.project) == (&other.session_id, &other.project);
    // Writing to a string cannot fail.
    for group in found.matches.chunk_by(same) {
        let Some(first) = group.first() else { continue };
        let (id, project) = (escape::short(&first.session_id, 120), escape::short(&first.project, NAME));
        text.push_str(&heading(&format!("{id}  {project}  {}", clock.minute(first.created.as_deref())), out));
        for found in group {
            let id: String = found.session_id.chars().take(8).collect();
            let position =
                found.line_number.map_or_else(|| found.match_type.to_owned(), |line| format!("line {line}"));
            let (position, field) = (escape::text(&position), escape::short(&found.field, NAME));
            let (id, about) = (escape::text(&id), about(found, clock));
            let _ = writeln!(text, "{id} {position}{about}: {field}");
            text.push_str(&excerpt(&found.excerpt, sought, out));
        }
        text.push('\n');
    }
    if !found.matches.is_empty() {
        let (hits, sessions) = (grouped(found.total_hits), found.sessions_with_matches);
        let plural = if found.total_hits == 1 { "match" } else { "matches" };
        let searched = counted(found.sessions_searched, "session");
        let _ = writeln!(text, "{hits} {plural} in {sessions} of {searched}");
    }
    text
}

/// Returns the turn, role or event, and time of a match, as far as they are known.
fn about(found: &Match, clock: &Clock) -> String {
    let turn = found.turn.map(|turn| format!("turn {turn}"));
    let name = found.role.as_ref().or(found.event.as_ref()).map(|name| escape::short(name, NAME));
    let time = found.ts.as_ref().map(|time| clock.second(Some(time)));
    [turn, name, time].into_iter().flatten().fold(String::new(), |text, part| text + ", " + &part)
}

/// Indents an excerpt and marks the matches.
fn excerpt(excerpt: &str, sought: &str, out: Stream) -> String {
    let mut text = String::new();
    for line in excerpt.trim_matches('\n').split('\n') {
        text.push_str("    ");
        let mut at = 0;
        for hit in hits(line, sought) {
            text.push_str(&escape::lines(&line[at..hit.start]));
            let shown = escape::lines(&line[hit.clone()]);
            if out.is_colored {
                text.push_str(&shown.red().bold().to_string());
            } else {
                text.push_str(&shown);
            }
            at = hit.end;
        }
        text.push_str(&escape::lines(&line[at..]));
        text.push('\n');
    }
    text
}

/// Returns the spans of a text in a line, ignoring case.
fn hits(line: &str, sought: &str) -> Vec<Range<usize>> {
    let sought: Vec<char> = sought.chars().flat_map(char::to_lowercase).collect();
    let folded: Vec<(char, Range<usize>)> = line
        .char_indices()
        .flat_map(|(at, c)| c.to_lowercase().map(move |lower| (lower, at..at + c.len_utf8())))
        .collect();
    let mut found: Vec<Range<usize>> = Vec::new();
    for window in folded.windows(sought.len().max(1)) {
        let fits = window.iter().map(|(c, _)| c).eq(&sought);
        let (Some((_, first)), Some((_, last))) = (window.first(), window.last()) else { continue };
        if fits && found.last().is_none_or(|before| before.end <= first.start) {
            found.push(first.start..last.end);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_ignore_case() {
        assert_eq!(hits("Late, LATE and lAtE", "late"), [0..4, 6..10, 15..19]);
        assert_eq!(hits("aaaa", "aa"), [0..2, 2..4]);
        assert_eq!(hits("İstanbul ÜBER, über", "über"), [10..15, 17..22]);
        assert!(hits("", "x").is_empty());
        assert!(hits("x", "").is_empty());
    }
}
