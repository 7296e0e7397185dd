use trommel::statistics::{ArrayRow, Capped, ObjectRow, Structure, TypeCounts};
use trommel::{PathStats, StatsAnswer};

use super::bytes::section;
use super::fields::{counts, cut, fields};
use super::{Grid, heading, shorten, width};
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

/// The number of rows of arrays and of objects.
const CONTAINER_ROWS: usize = 20;

/// The input of a description, and its sections.
#[derive(Clone, Copy)]
pub(crate) struct StatsView<'a> {
    /// The name of the input.
    pub(crate) file: &'a str,
    /// The sections to show; all if empty.
    pub(crate) only: &'a [Section],
    /// The described part of the input, if it is not the whole.
    pub(crate) selection: Option<Selection<'a>>,
    /// True if the most frequent values are listed one by one.
    pub(crate) lists_values: bool,
}

/// A part of an input.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'a> {
    /// The options that select it.
    pub(crate) by: &'a str,
    /// The size of the whole input in bytes.
    pub(crate) whole: u64,
}

/// Formats a description, section by section.
pub(crate) fn stats(shown: &StatsView<'_>, answer: &StatsAnswer, out: Stream) -> String {
    let only = shown.only;
    let summary = &answer.summary;
    let mut sections = vec![title(shown, answer, out)];
    if only.is_empty() {
        sections.extend(fields(answer, shown.lists_values, out));
    }
    if only.is_empty() || only.contains(&Section::Structure) {
        sections.push(structure(&summary.structure, answer.records, out));
    }
    if only.is_empty() || only.contains(&Section::Types) {
        sections.push(types(&summary.types, out));
    }
    if !answer.by_path.is_empty() {
        sections.push(paths(&answer.by_path, out));
    }
    sections.extend(section(answer, out));
    if let Some(rows) = summary.arrays.as_deref().filter(|rows| !rows.is_empty()) {
        let note = cut(counts(summary.capped.arrays, rows.len()), CONTAINER_ROWS.min(rows.len()));
        sections.push(heading("Arrays", out) + &arrays(rows, out) + &note);
    }
    if let Some(rows) = summary.objects.as_deref().filter(|rows| !rows.is_empty()) {
        let note = cut(counts(summary.capped.objects, rows.len()), CONTAINER_ROWS.min(rows.len()));
        sections.push(heading("Objects", out) + &objects(rows, out) + &note);
    }
    if let Some(schema) = &summary.schema {
        let schema = pretty::json(&for_reader(schema.as_json().to_owned(), true), out.is_colored);
        sections.push(format!("{}{schema}\n", heading("Schema", out)));
    }
    sections.extend(limits(&summary.capped, out));
    sections.join("\n")
}

/// Formats the name and size of the input and, on a line of its own, the size of the described
/// part.
fn title(shown: &StatsView<'_>, answer: &StatsAnswer, out: Stream) -> String {
    let file = escape::short(shown.file, 200);
    let (bytes, characters) = (grouped(answer.bytes), grouped(answer.characters));
    let described = format!("{} ({bytes} bytes, {characters} characters)", binary(answer.bytes));
    let Some(Selection { by, whole }) = shown.selection else {
        return heading(&format!("{file}: {described}"), out);
    };
    let input = format!("{file}: {} ({} bytes)", binary(whole), grouped(whole));
    heading(&input, out) + &heading(&format!("selected by {}: {described}", escape::short(by, 200)), out)
}

fn structure(structure: &Structure, records: Option<u64>, out: Stream) -> String {
    let counted = |count: u64, what: &str| format!("{} {what}{}", grouped(count), plural(count));
    let items = [
        records.map(|records| counted(records, "record")),
        Some(format!("root {}", structure.root_type)),
        Some(format!("depth {}", grouped(structure.max_depth))),
        Some(counted(structure.total_values, "value")),
        Some(counted(structure.total_keys, "name")),
        (structure.duplicate_names > 0).then(|| counted(structure.duplicate_names, "repeated name")),
    ];
    heading("Structure", out) + &list(&items.into_iter().flatten().collect::<Vec<_>>(), out)
}

fn types(types: &TypeCounts, out: Stream) -> String {
    let counted = |(name, count): (&str, u64)| format!("{} {name}{}", grouped(count), plural(count));
    heading("Types", out) + &list(&types.occurring().map(counted).collect::<Vec<_>>(), out)
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Formats items on as few lines as possible.
fn list(items: &[String], out: Stream) -> String {
    let columns = width(out).map_or(usize::MAX, |width| usize::from(width) - 1);
    shorten::list(items, columns).iter().fold(String::new(), |text, line| text + " " + line + "\n")
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
    for row in rows.iter().take(CONTAINER_ROWS) {
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
    for row in rows.iter().take(CONTAINER_ROWS) {
        let keys = |keys: Option<u64>| grouped(keys.unwrap_or(row.keys));
        let figures =
            [grouped(row.count.unwrap_or(1)), grouped(row.keys), keys(row.min_keys), keys(row.max_keys)];
        grid.row([row.path.clone()].into_iter().chain(figures));
    }
    grid.text()
}

/// Notes the limits that the statistics reached.
fn limits(capped: &Capped, out: Stream) -> Option<String> {
    let mut lines = Vec::new();
    if capped.folded_paths > 0 {
        lines.push(format!(
            "{} path{} with too many distinct names: some are shown as .*",
            grouped(capped.folded_paths),
            plural(capped.folded_paths)
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
