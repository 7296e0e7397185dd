//! Sessions in a list.

use serde::Deserialize;

use super::{Clock, NAME};
use crate::output::escape;
use crate::output::size::grouped;
use crate::output::tables::{Grid, on_one_line, width};

/// Characters of an id at least.
const ID: usize = 8;

/// Characters of a project and of a model.
const SHORT: usize = 20;

/// Characters of a name, a project and a model at least.
const SHORTEST: usize = 8;

/// Columns that ids, turns, times and the space between columns take.
const FIXED: usize = 8 + 5 + 16 + 6 * 2;

/// Columns that each mark takes: the program's name, and where the session is stored.
const MARK: usize = 11;

#[derive(Deserialize)]
struct Listing {
    sessions: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    session_id: String,
    project: String,
    name: Option<String>,
    turn_count: Option<u64>,
    model: Option<String>,
    modified: Option<String>,
    source: String,
    format: String,
    problem: Option<String>,
}

/// Sessions, one a row, by ids as short as they can be.
pub(crate) fn list(answer: &str, clock: &Clock) -> serde_json::Result<String> {
    let Listing { sessions } = serde_json::from_str(answer)?;
    if sessions.is_empty() {
        return Ok(String::new());
    }
    // Amplifier's, and those that lie here alone, need no mark where there are no others.
    let marked = sessions.iter().any(|row| row.format != "amplifier");
    let placed = sessions.iter().any(|row| row.source != "local");
    let marks = [marked.then_some("log of"), placed.then_some("source")].into_iter().flatten();
    let names = ["id", "project", "name", "turns", "model", "changed"].into_iter().chain(marks);
    let mut grid =
        Grid::new(&names.collect::<Vec<_>>(), &[false, false, false, true, false, false, false, false]);
    let ids = beginnings(&sessions);
    let fixed = FIXED + MARK * (usize::from(marked) + usize::from(placed));
    let (name_chars, short_chars) = shares(width().map(|width| usize::from(width).saturating_sub(fixed)));
    for (row, id) in sessions.iter().zip(ids) {
        let name = row.name.as_deref().or(row.problem.as_ref().map(|_| "(its description is damaged)"));
        let cells = [
            id,
            // The ends of projects and models distinguish them.
            last(&row.project, short_chars),
            on_one_line(name.unwrap_or_default(), name_chars),
            row.turn_count.map(grouped).unwrap_or_default(),
            last(undated(row.model.as_deref().unwrap_or_default()), short_chars),
            clock.minute(row.modified.as_deref()),
        ];
        let mark = match row.format.as_str() {
            "amplifier" => "Amplifier",
            "claude_code" => "Claude",
            _ => "a chat",
        };
        let marks = [marked.then(|| mark.to_owned()), placed.then(|| escape::short(&row.source, SHORT))];
        grid.row(cells.into_iter().chain(marks.into_iter().flatten()));
    }
    Ok(grid.text())
}

/// Characters of a name, a project, and a model that fit `columns`.
fn shares(columns: Option<usize>) -> (usize, usize) {
    let Some(columns) = columns else { return (NAME, SHORT) };
    let short = (columns * 3 / 10).clamp(SHORTEST, SHORT);
    // One column marks that a name is cut.
    (columns.saturating_sub(2 * short + 1).clamp(SHORTEST, NAME), short)
}

/// The name of a model without the date of its release, which does not distinguish models.
fn undated(model: &str) -> &str {
    match model.rsplit_once("-20") {
        Some((name, date)) if date.len() == 6 && date.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => model,
    }
}

/// The end of a text.
fn last(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    "…".chars().chain(text.chars().skip(count - most + 1)).collect()
}

/// Of each id the shortest beginning that no other in the list has.
fn beginnings(rows: &[Row]) -> Vec<String> {
    let mut sorted: Vec<&str> = rows.iter().map(|row| row.session_id.as_str()).collect();
    sorted.sort_unstable();
    let common = |one: &str, other: &str| one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let beginning = |row: &Row| {
        let id = row.session_id.as_str();
        let at = sorted.partition_point(|other| *other < id);
        let neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let shared = neighbours.filter_map(|at| sorted.get(at)).map(|other| common(id, other) + 1);
        id.chars().take(shared.max().unwrap_or(0).max(ID)).collect()
    };
    rows.iter().map(beginning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(sources: [&str; 2], format: &str) -> String {
        let row = |(id, source): (&str, &str)| {
            format!(
                r#"{{"session_id":"{id}","project":"-p","name":null,"source":"{source}","format":"{format}"}}"#
            )
        };
        let rows = ["a", "b"].into_iter().zip(sources).map(row).collect::<Vec<_>>().join(",");
        list(&format!("{{\"sessions\":[{rows}]}}"), &Clock::new(true)).unwrap()
    }

    #[test]
    fn lists_fit_the_terminal() {
        for (columns, marks) in (80..200).flat_map(|columns| [(columns, 0), (columns, 1)]) {
            let fixed = FIXED + marks * MARK;
            let (name, short) = shares(Some(columns - fixed));
            assert!(fixed + name + 1 + 2 * short <= columns, "{columns}: {name} {short}");
        }
        assert_eq!(undated("claude-sonnet-4-5-20250929"), "claude-sonnet-4-5");
        assert_eq!(undated("gpt-2025"), "gpt-2025");
    }

    #[test]
    fn where_sessions_lie_is_shown_where_it_differs() {
        let local = listed(["local", "local"], "amplifier");
        assert!(
            !local.contains("source") && !local.contains("local") && !local.contains("log of"),
            "{local}"
        );
        for (sources, format) in
            [(["local", "cloud"], "amplifier"), (["both", "local"], "amplifier"), (["both", "cloud"], "chat")]
        {
            let shown = listed(sources, format);
            let lines = shown.lines().map(str::trim_end).collect::<Vec<_>>();
            assert!(lines.iter().any(|line| line.ends_with("source")), "{shown}");
            for source in sources {
                assert!(lines.iter().any(|line| line.ends_with(source)), "{shown}");
            }
            assert_eq!(shown.contains("log of"), format == "chat", "{shown}");
        }
    }
}
