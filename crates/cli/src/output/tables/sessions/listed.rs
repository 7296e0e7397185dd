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

/// Columns that are taken by all but the name.
const OTHERS: u16 = 90;

/// Columns that are taken by where sessions lie.
const SOURCE: u16 = 8;

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
    let others = if placed { OTHERS + SOURCE } else { OTHERS };
    let name_chars = usize::from(width().map_or(NAME as u16, |width| width.saturating_sub(others).max(20)));
    for (row, id) in sessions.iter().zip(ids) {
        let name = row.name.as_deref().or(row.problem.as_ref().map(|_| "(its description is damaged)"));
        let cells = [
            id,
            // The end of a project's name tells more than its beginning.
            last(&row.project, SHORT),
            on_one_line(name.unwrap_or_default(), name_chars),
            row.turn_count.map(grouped).unwrap_or_default(),
            escape::short(row.model.as_deref().unwrap_or_default(), SHORT),
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
