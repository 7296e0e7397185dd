use trommel::statistics::{ArrayRow, Capped, ObjectRow, RowCounts, Structure, TypeCounts};
use trommel::{PathStats, StatsAnswer};

use super::values::values;
use super::{Grid, heading};
use crate::output::size::{binary, grouped};
use crate::output::{Stream, escape, for_reader, pretty};

/// A section that `--only` can select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Root type, depth, and numbers of names and values.
    Structure,
    /// The number of values of each type.
    Types,
}

/// The input of a description, and its sections.
#[derive(Clone, Copy)]
pub(crate) struct StatsView<'a> {
    /// The name of the input.
    pub(crate) file: &'a str,
    /// The sections to show; all if empty.
    pub(crate) only: &'a [Section],
    /// The size of the input, if queries select a part of it.
    pub(crate) selected_of: Option<u64>,
}

/// Formats a description, section by section.
pub(crate) fn stats(shown: &StatsView<'_>, answer: &StatsAnswer, out: Stream) -> String {
    let StatsView { file, only, selected_of } = *shown;
    let summary = &answer.summary;
    let size = match selected_of {
        None => binary(answer.bytes),
        Some(whole) => format!("selected: {} of {}", binary(answer.bytes), binary(whole)),
    };
    let (bytes, characters) = (grouped(answer.bytes), grouped(answer.characters));
    let title = format!("{}: {size} ({bytes} bytes, {characters} characters)", escape::short(file, 200));
    let mut sections = vec![heading(&title, out)];
    if only.is_empty() || only.contains(&Section::Structure) {
        sections.push(structure(&summary.structure, answer.records, out));
    }
    if only.is_empty() || only.contains(&Section::Types) {
        sections.push(types(&summary.types, out));
    }
    if !answer.by_path.is_empty() {
        sections.push(paths(&answer.by_path, out));
    }
    if let Some(rows) = summary.arrays.as_deref().filter(|rows| !rows.is_empty()) {
        sections.push(heading("Arrays", out) + &arrays(rows, out) + &cut(summary.capped.arrays));
    }
    if let Some(rows) = summary.objects.as_deref().filter(|rows| !rows.is_empty()) {
        sections.push(heading("Objects", out) + &objects(rows, out) + &cut(summary.capped.objects));
    }
    if let Some(rows) = summary.values.as_deref().filter(|rows| !rows.is_empty()) {
        sections.push(heading("Values", out) + &values(rows, out) + &cut(summary.capped.values));
    }
    if let Some(schema) = &summary.schema {
        let schema = pretty::json(&for_reader(schema.as_json().to_owned(), true), out.is_colored);
        sections.push(format!("{}{schema}\n", heading("Schema", out)));
    }
    sections.extend(limits(&summary.capped, out));
    sections.join("\n")
}

fn structure(structure: &Structure, records: Option<u64>, out: Stream) -> String {
    let mut grid = Grid::unnamed(&[false, false], out);
    let mut row = |name: &str, figure: String| grid.row([name.to_owned(), figure]);
    if let Some(records) = records {
        row("records", grouped(records));
    }
    row("root", structure.root_type.to_owned());
    row("depth", grouped(structure.max_depth));
    row("values", grouped(structure.total_values));
    row("names", grouped(structure.total_keys));
    if structure.duplicate_names > 0 {
        row("repeated names", grouped(structure.duplicate_names));
    }
    heading("Structure", out) + &grid.text()
}

fn types(types: &TypeCounts, out: Stream) -> String {
    let mut grid = Grid::unnamed(&[false, true], out);
    let TypeCounts { object, array, string, number, boolean, null } = *types;
    for (name, count) in [
        ("object", object),
        ("array", array),
        ("string", string),
        ("number", number),
        ("boolean", boolean),
        ("null", null),
    ] {
        grid.row([name.to_owned(), grouped(count)]);
    }
    heading("Types", out) + &grid.text()
}

fn paths(rows: &[PathStats], out: Stream) -> String {
    let mut grid = Grid::new(&["query", "type", "values", "size"], &[false, false, true, true], out);
    for row in rows {
        let structure = &row.summary.structure;
        let figures = [structure.root_type.to_owned(), grouped(structure.total_values), binary(row.bytes)];
        grid.row([row.path.clone()].into_iter().chain(figures));
    }
    heading("Queries", out) + &grid.text()
}

fn arrays(rows: &[ArrayRow], out: Stream) -> String {
    let names = ["path", "arrays", "items", "shortest", "longest", "item type"];
    let mut grid = Grid::new(&names, &[false, true, true, true, true, false], out);
    for row in rows {
        let length = |length: Option<u64>| grouped(length.unwrap_or(row.length));
        let figures = [
            grouped(row.count.unwrap_or(1)),
            grouped(row.length),
            length(row.min_length),
            length(row.max_length),
            row.item_type.clone(),
        ];
        grid.row([row.path.clone()].into_iter().chain(figures));
    }
    grid.text()
}

fn objects(rows: &[ObjectRow], out: Stream) -> String {
    let names = ["path", "objects", "names", "fewest", "most"];
    let mut grid = Grid::new(&names, &[false, true, true, true, true], out);
    for row in rows {
        let keys = |keys: Option<u64>| grouped(keys.unwrap_or(row.keys));
        let figures =
            [grouped(row.count.unwrap_or(1)), grouped(row.keys), keys(row.min_keys), keys(row.max_keys)];
        grid.row([row.path.clone()].into_iter().chain(figures));
    }
    grid.text()
}

/// Notes that rows are omitted.
fn cut(rows: Option<RowCounts>) -> String {
    let cut = |rows: RowCounts| format!("first {} of {}\n", grouped(rows.shown), grouped(rows.total));
    rows.map_or(String::new(), cut)
}

/// Notes the limits that the statistics reached.
fn limits(capped: &Capped, out: Stream) -> Option<String> {
    let mut lines = Vec::new();
    if capped.folded_paths > 0 {
        lines.push(format!(
            "{} paths have too many distinct names; shown as .*",
            grouped(capped.folded_paths)
        ));
    }
    if let Some(depth) = capped.max_depth {
        lines.push(format!("rows and schema are limited to depth {depth}"));
    }
    if capped.duplicate_names {
        lines.push("the number of repeated names is a lower bound".into());
    }
    (!lines.is_empty()).then(|| heading("Limits", out) + &lines.join("\n") + "\n")
}
