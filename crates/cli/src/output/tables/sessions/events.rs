//! Events and errors.

use indexmap::IndexMap;
use serde_json::value::RawValue;
use trommel_session::{ErrorRow, EventRow, Member, Nested};

use super::{Clock, Json, NAME};
use crate::output::size::grouped;
use crate::output::tables::{Grid, on_one_line};
use crate::output::{Stream, escape};

/// The maximum number of characters of a field.
const FIELD: usize = 80;

/// The maximum number of characters of an error message.
const MESSAGE: usize = 300;

/// An event: its time, type, fields by path, and omitted fields.
#[derive(Default)]
struct Row {
    time: Option<String>,
    event: String,
    fields: Vec<(String, String)>,
    omitted: String,
}

impl Row {
    fn of(event: &EventRow) -> Self {
        let mut row = Self { omitted: event.omitted.join(", "), ..Self::default() };
        for (name, member) in event.fields.members() {
            let value = match member {
                Member::Value(json) => Json::of(json),
                Member::Nested(nested) => {
                    row.put_nested(name, nested);
                    continue;
                }
            };
            match (name, value) {
                ("ts" | "timestamp", Json::Text(time)) => row.time = Some(time),
                ("event" | "type", Json::Text(event)) => row.event = event,
                (_, value) => row.put(name.to_owned(), value),
            }
        }
        row
    }

    fn put_nested(&mut self, path: &str, nested: &Nested) {
        for (name, member) in nested.members() {
            let path = format!("{path}.{name}");
            match member {
                Member::Value(json) => self.put(path, Json::of(json)),
                Member::Nested(nested) => self.put_nested(&path, nested),
            }
        }
    }

    /// Adds a field. The members of an object become fields of their own.
    fn put(&mut self, path: String, value: Json<'_>) {
        let text = match value {
            Json::Object(json) => {
                // A name with half of a surrogate pair cannot be decoded. The object is shown
                // verbatim.
                let Ok(members) = serde_json::from_str::<IndexMap<String, Box<RawValue>>>(json) else {
                    return self.fields.push((path, on_one_line(json, FIELD)));
                };
                for (name, value) in members {
                    self.put(format!("{path}.{name}"), Json::of(value.get()));
                }
                return;
            }
            Json::Text(text) => on_one_line(&text, FIELD),
            Json::Plain(json) | Json::Array(json) => on_one_line(json, FIELD),
            Json::Null => "null".to_owned(),
        };
        self.fields.push((path, text));
    }

    /// Formats the known fields in one cell.
    fn unusual_fields(&self) -> String {
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

/// Formats events, one per row. Each requested field has a column; the default fields share one.
pub(crate) fn events(events: &[EventRow], usual: bool, clock: &Clock, out: Stream) -> String {
    let rows: Vec<Row> = events.iter().map(Row::of).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut columns: Vec<&str> = Vec::new();
    if !usual {
        for (name, _) in rows.iter().flat_map(|row| &row.fields) {
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
    }
    let has_omitted = rows.iter().any(|row| !row.omitted.is_empty());
    let shown: Vec<_> =
        columns.iter().map(|name| escape::short(unique_suffix(name, &columns), NAME)).collect();
    let names = ["time", "event"].into_iter().chain(usual.then_some("fields"));
    let names: Vec<&str> =
        names.chain(shown.iter().map(String::as_str)).chain(has_omitted.then_some("omitted")).collect();
    let mut grid = Grid::new(&names, &[], out).wrapped();
    for row in &rows {
        let field = |column: &&str| {
            let field = row.fields.iter().find(|(name, _)| name == column);
            field.map_or(String::new(), |(_, value)| value.clone())
        };
        let cells = [clock.millisecond(row.time.as_deref()), escape::short(&row.event, NAME)];
        let cells = cells.into_iter().chain(usual.then(|| row.unusual_fields()));
        grid.row(cells.chain(columns.iter().map(field)).chain(has_omitted.then(|| row.omitted.clone())));
    }
    grid.text()
}

/// Returns the shortest suffix of a path that no other path has.
fn unique_suffix<'a>(path: &'a str, all: &[&str]) -> &'a str {
    let ends = |other: &str, with: &str| {
        other.strip_suffix(with).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    let endings = path.rmatch_indices('.').filter_map(|(at, _)| path.get(at + 1..));
    endings
        .chain([path])
        .find(|ending| all.iter().filter(|other| ends(other, ending)).count() == 1)
        .unwrap_or(path)
}

/// Formats errors, one per row.
pub(crate) fn errors(errors: &[ErrorRow], clock: &Clock, out: Stream) -> String {
    if errors.is_empty() {
        return String::new();
    }
    let names = ["record", "time", "event", "tool", "message"];
    let mut grid = Grid::new(&names, &[true, false, false, false, false], out).wrapped();
    for row in errors {
        grid.row([
            grouped(row.record),
            clock.second(row.ts.as_deref()),
            escape::short(&row.event, NAME),
            escape::short(row.tool_name.as_deref().unwrap_or(""), NAME),
            on_one_line(&row.message, MESSAGE),
        ]);
    }
    grid.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_unique_suffixes_as_names() {
        let all = ["data.model", "data.usage.input", "data.other.input", "status", "data.status"];
        let named = all.map(|path| unique_suffix(path, &all));
        assert_eq!(named, ["model", "usage.input", "other.input", "status", "data.status"]);
    }
}
