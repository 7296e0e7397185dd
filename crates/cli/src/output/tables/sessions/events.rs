//! Events, and what errors say.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Clock, NAME};
use crate::output::escape;
use crate::output::size::grouped;
use crate::output::tables::{Grid, on_one_line};

/// Characters of a field.
const FIELD: usize = 80;

/// Characters of what an error says.
const MESSAGE: usize = 300;

#[derive(Deserialize)]
struct Page {
    events: Vec<Map<String, Value>>,
}

/// An event: its time, its type, its fields by their paths, and what was left out.
#[derive(Default)]
struct Row {
    time: Option<String>,
    event: String,
    fields: Vec<(String, String)>,
    omitted: String,
}

impl Row {
    fn of(event: Map<String, Value>) -> Self {
        let mut row = Self::default();
        for (name, value) in event {
            match (name.as_str(), value) {
                ("record", _) => {}
                ("ts" | "timestamp", Value::String(time)) => row.time = Some(time),
                ("event" | "type", Value::String(event)) => row.event = event,
                ("omitted", Value::Array(names)) => {
                    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                    row.omitted = names.join(", ");
                }
                (_, value) => row.put(name, value),
            }
        }
        row
    }

    /// Puts a field, or those of an object, each by its path.
    fn put(&mut self, path: String, value: Value) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    self.put(format!("{path}.{name}"), value);
                }
            }
            Value::String(text) => self.fields.push((path, on_one_line(&text, FIELD))),
            value => self.fields.push((path, on_one_line(&value.to_string(), FIELD))),
        }
    }

    /// What is known of any event, in one cell.
    fn usual(&self) -> String {
        let unusual = |(name, value): &&(String, String)| {
            !(matches!(&**name, "lvl" | "level") && value.eq_ignore_ascii_case("info"))
        };
        let shown = self.fields.iter().filter(unusual).map(|(name, value)| {
            let name = name.strip_prefix("data.").or_else(|| name.strip_prefix("message.")).unwrap_or(name);
            format!("{name}={value}")
        });
        shown.collect::<Vec<_>>().join("  ")
    }
}

/// Events, one a row: with a column for each field that was asked for, or what is known of any in one.
pub(crate) fn events(answer: &str, usual: bool, clock: &Clock) -> serde_json::Result<String> {
    let Page { events } = serde_json::from_str(answer)?;
    let rows: Vec<Row> = events.into_iter().map(Row::of).collect();
    if rows.is_empty() {
        return Ok(String::new());
    }
    let mut columns: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.fields).filter(|_| !usual) {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    let left_out = rows.iter().any(|row| !row.omitted.is_empty());
    let shown: Vec<_> = columns.iter().map(|name| escape::short(ending(name, &columns), NAME)).collect();
    let names = ["time", "event"].into_iter().chain(usual.then_some("what is known"));
    let names: Vec<&str> =
        names.chain(shown.iter().map(String::as_str)).chain(left_out.then_some("left out")).collect();
    let mut grid = Grid::new(&names, &[]);
    for row in &rows {
        let field = |column: &&str| {
            let field = row.fields.iter().find(|(name, _)| name == column);
            field.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let cells = [clock.millisecond(row.time.as_deref()), escape::short(&row.event, NAME)];
        let cells = cells.into_iter().chain(usual.then(|| row.usual()));
        grid.row(cells.chain(columns.iter().map(field)).chain(left_out.then(|| row.omitted.clone())));
    }
    Ok(grid.text())
}

/// The shortest end of a path that is no other's.
fn ending<'a>(path: &'a str, all: &[&str]) -> &'a str {
    let ends = |other: &str, with: &str| {
        other.strip_suffix(with).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    let endings = path.rmatch_indices('.').filter_map(|(at, _)| path.get(at + 1..));
    endings
        .chain([path])
        .find(|ending| all.iter().filter(|other| ends(other, ending)).count() == 1)
        .unwrap_or(path)
}

#[derive(Deserialize)]
struct Failed {
    errors: Vec<ErrorRow>,
}

#[derive(Deserialize)]
struct ErrorRow {
    record: u64,
    ts: Option<String>,
    event: String,
    tool_name: Option<String>,
    message: String,
}

/// Errors, one a row.
pub(crate) fn errors(answer: &str, clock: &Clock) -> serde_json::Result<String> {
    let Failed { errors } = serde_json::from_str(answer)?;
    if errors.is_empty() {
        return Ok(String::new());
    }
    let mut grid =
        Grid::new(&["record", "time", "event", "tool", "what it says"], &[true, false, false, false, false]);
    for row in &errors {
        grid.row([
            grouped(row.record),
            clock.second(row.ts.as_deref()),
            escape::short(&row.event, NAME),
            escape::short(row.tool_name.as_deref().unwrap_or_default(), NAME),
            on_one_line(&row.message, MESSAGE),
        ]);
    }
    Ok(grid.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_by_what_tells_them_apart() {
        let all = ["data.model", "data.usage.input", "data.other.input", "status", "data.status"];
        let named = all.map(|path| ending(path, &all));
        assert_eq!(named, ["model", "usage.input", "other.input", "status", "data.status"]);
    }
}
