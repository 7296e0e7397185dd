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
    format: String,
    problem: Option<String>,
}

/// Sessions, one a row, by ids as short as they can be.
pub(crate) fn list(answer: &str, clock: &Clock) -> serde_json::Result<String> {
    let Listing { sessions } = serde_json::from_str(answer)?;
    if sessions.is_empty() {
        return Ok(String::new());
    }
    // Amplifier's need no mark where there are no others.
    let marked = sessions.iter().any(|row| row.format != "amplifier");
    let names = ["id", "project", "name", "turns", "model", "changed", "log of"];
    let names = if marked { &names[..] } else { names.split_last().map_or(&[][..], |(_, names)| names) };
    let mut grid = Grid::new(names, &[false, false, false, true, false, false, false]);
    let ids = beginnings(&sessions);
    let name_chars = usize::from(width().map_or(NAME as u16, |width| width.saturating_sub(OTHERS).max(20)));
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
        grid.row(cells.into_iter().chain(marked.then(|| mark.to_owned())));
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
