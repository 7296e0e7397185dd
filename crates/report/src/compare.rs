//! Two inputs side by side: what appeared, vanished, changed, and moved.

use std::collections::{BTreeMap, HashMap};

use trommel::statistics::TypeCounts;
use trommel_answer::figures::{binary, rounded, share};
use trommel_base::text::grouped;

use crate::page::Report;
use crate::rows::{self, PathRow};
use crate::sections::{Cell, Sections, Table};

/// Shares that moved by less are not listed, in percentage points.
const LEAST_POINTS: f64 = 0.1;

/// Figures that changed by less are not listed, as a part of the larger one.
const LEAST_CHANGE: f64 = 0.01;

/// Two reports to compare: an earlier and a later state of the same data.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a pair")]
pub struct Comparison {
    /// The earlier state.
    pub before: Report,
    /// The later state.
    pub after: Report,
}

/// A path in both.
struct Pair<'a> {
    before: PathRow<'a>,
    after: PathRow<'a>,
}

impl Comparison {
    /// Formats the differences as a page, with at most `max_bytes` if possible. Every table is
    /// sorted by importance, and has up to 2,000 rows, or fewer if the page would be larger. The
    /// smallest page may be larger.
    pub fn page(&self, title: &str, max_bytes: usize) -> String {
        let (before, after) = (rows::joined(&self.before.stats), rows::joined(&self.after.stats));
        let earlier: HashMap<&str, PathRow<'_>> = by_path(&before);
        let later: HashMap<&str, PathRow<'_>> = by_path(&after);
        let pairs = before
            .iter()
            .filter_map(|row| Some(Pair { before: *row, after: *later.get(row.bytes.path.as_str())? }));
        let pairs: Vec<Pair<'_>> = pairs.collect();
        let new = after.iter().filter(|row| !earlier.contains_key(row.bytes.path.as_str()));
        let gone = before.iter().filter(|row| !later.contains_key(row.bytes.path.as_str()));
        let mut page = Sections::new(title);
        page.facts = self.facts();
        page.notes = self.notes();
        page.tables = vec![
            one_side("Paths that appeared", new, self.after.stats.bytes, "No path appeared."),
            one_side("Paths that vanished", gone, self.before.stats.bytes, "No path vanished."),
            types(&pairs),
            self.shares(&pairs),
            figures(&pairs),
        ];
        page.page(max_bytes)
    }

    fn facts(&self) -> Vec<(String, String)> {
        let both = |name: &str, of: &dyn Fn(&Report) -> String| {
            (name.to_owned(), format!("{} → {}", of(&self.before), of(&self.after)))
        };
        let input = |report: &Report| match report.inputs.as_slice() {
            [input] => input.name.clone(),
            inputs => format!("{} inputs", inputs.len()),
        };
        let mut facts = vec![
            both("Inputs", &input),
            both("Size", &|report| binary(report.stats.bytes)),
            both("Values", &|report| grouped(report.stats.summary.structure.total_values)),
            both("Depth", &|report| grouped(report.stats.summary.structure.max_depth)),
        ];
        if let (Some(before), Some(after)) = (self.before.stats.records, self.after.stats.records) {
            facts.push(("Records".to_owned(), format!("{} → {}", grouped(before), grouped(after))));
        }
        facts.push(("Made".to_owned(), self.after.made.clone()));
        facts.retain(|(_, value)| !value.is_empty());
        facts
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (side, report) in [("before", &self.before), ("after", &self.after)] {
            notes.extend(report.faults.iter().map(|fault| format!("{side}: {fault}")));
            for sample in &report.sampled {
                let (rows, total) = (grouped(sample.rows), grouped(sample.total));
                notes.push(format!(
                    "{side}: the figures of values in {} are those of {rows} of {total} rows, drawn with seed {}",
                    sample.path, sample.seed
                ));
            }
            if report.stats.summary.capped.bytes.is_some() {
                notes.push(format!("{side}: only the largest paths are compared"));
            }
        }
        notes
    }

    fn shares(&self, pairs: &[Pair<'_>]) -> Table {
        let percent = |part: u64, whole: u64| part as f64 / whole.max(1) as f64 * 100.0;
        let (before, after) = (self.before.stats.bytes, self.after.stats.bytes);
        let mut table = Table::new("Shares of bytes that moved", &["Path", "Before", "After", "Points"]);
        "No share moved by a tenth of a percentage point.".clone_into(&mut table.empty);
        let mut moved: Vec<(f64, Vec<Cell>)> = Vec::new();
        for pair in pairs {
            let (old, new) = (pair.before.bytes.total(), pair.after.bytes.total());
            let (from, to) = (percent(old, before), percent(new, after));
            if (to - from).abs() >= LEAST_POINTS {
                let cells = vec![
                    Cell::text(&pair.after.bytes.path),
                    Cell::number(from, share(old, before)).bar(from, 100.0),
                    Cell::number(to, share(new, after)).bar(to, 100.0),
                    Cell::number(to - from, signed(to - from)),
                ];
                moved.push(((to - from).abs(), cells));
            }
        }
        table.rows = by_importance(moved);
        table
    }
}

fn by_path<'a>(rows: &[PathRow<'a>]) -> HashMap<&'a str, PathRow<'a>> {
    rows.iter().map(|row| (row.bytes.path.as_str(), *row)).collect()
}

/// The largest first; rows of the same importance keep their order.
fn by_importance(mut rows: Vec<(f64, Vec<Cell>)>) -> Vec<Vec<Cell>> {
    rows.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    rows.into_iter().map(|(_, cells)| cells).collect()
}

/// The paths of one side alone, the largest first.
fn one_side<'a>(title: &str, rows: impl Iterator<Item = &'a PathRow<'a>>, whole: u64, empty: &str) -> Table {
    let mut table = Table::new(title, &["Path", "Types", "Size", "Share", "Values"]);
    empty.clone_into(&mut table.empty);
    let cells = rows.map(|row| {
        let (total, count) = (row.bytes.total(), row.bytes.count);
        vec![
            Cell::text(&row.bytes.path),
            Cell::text(type_names(row.bytes.types)),
            Cell::number(total as f64, binary(total)),
            Cell::number(total as f64, share(total, whole)).bar(total as f64, whole as f64),
            Cell::number(count as f64, grouped(count)),
        ]
    });
    table.rows = cells.collect();
    table
}

fn type_names(types: TypeCounts) -> String {
    types.occurring().map(|(kind, _)| kind).collect::<Vec<_>>().join(", ")
}

/// The paths whose set of types differs.
fn types(pairs: &[Pair<'_>]) -> Table {
    let mut table = Table::new("Types that changed", &["Path", "Before", "After"]);
    "No path has other types.".clone_into(&mut table.empty);
    let shares = |row: &PathRow<'_>| {
        let all = row.bytes.count;
        let kinds = row.bytes.types.occurring().map(|(kind, count)| format!("{kind} {}", share(count, all)));
        kinds.collect::<Vec<_>>().join(", ")
    };
    let changed =
        pairs.iter().filter(|pair| type_names(pair.before.bytes.types) != type_names(pair.after.bytes.types));
    table.rows = changed
        .map(|pair| {
            let cells = [&pair.after.bytes.path, &shares(&pair.before), &shares(&pair.after)];
            cells.into_iter().map(Cell::text).collect()
        })
        .collect();
    table
}

/// The figures of a path that can be compared, by name.
fn compared(row: &PathRow<'_>) -> BTreeMap<&'static str, f64> {
    let mut figures = BTreeMap::new();
    figures.insert("values", row.bytes.count as f64);
    figures.insert("bytes of a value", row.bytes.values as f64 / row.bytes.count.max(1) as f64);
    if let Some((present, of)) = row.present() {
        figures.insert("present in %", present as f64 / of.max(1) as f64 * 100.0);
    }
    if let Some(array) = row.array {
        figures.insert("elements on average", array.length as f64 / array.count.unwrap_or(1).max(1) as f64);
    }
    let Some(values) = row.values else { return figures };
    figures.insert("distinct", values.distinct.count as f64);
    if let Some(numbers) = &values.numbers {
        figures.extend(numbers.min.as_ref().map(|min| ("smallest", min.to_f64())));
        figures.extend(numbers.max.as_ref().map(|max| ("largest", max.to_f64())));
        figures.extend(numbers.mean.map(|mean| ("mean", mean)));
    }
    figures.extend(values.quantiles.and_then(|quantiles| quantiles.p50).map(|median| ("median", median)));
    if let Some(strings) = &values.strings {
        figures.insert("longest", strings.max_length as f64);
        figures.extend(strings.mean_length.map(|mean| ("characters on average", mean)));
    }
    figures
}

/// The figures that changed by at least a hundredth.
fn figures(pairs: &[Pair<'_>]) -> Table {
    let mut table = Table::new("Figures that moved", &["Path", "Figure", "Before", "After", "Change"]);
    "No figure changed by a hundredth.".clone_into(&mut table.empty);
    let mut moved = Vec::new();
    for pair in pairs {
        let later = compared(&pair.after);
        for (name, from) in compared(&pair.before) {
            let Some(&to) = later.get(name) else { continue };
            let change = (to - from) / from.abs().max(to.abs());
            // The change from zero to zero is NaN, which is not listed.
            if change.abs() >= LEAST_CHANGE {
                let relative = if from == 0.0 {
                    "from 0".to_owned()
                } else {
                    signed((to - from) / from.abs() * 100.0) + " %"
                };
                let cells = vec![
                    Cell::text(&pair.after.bytes.path),
                    Cell::text(name),
                    Cell::number(from, rounded(from)),
                    Cell::number(to, rounded(to)),
                    Cell::number(change, relative),
                ];
                moved.push((change.abs(), cells));
            }
        }
    }
    table.rows = by_importance(moved);
    table
}

/// A difference with its sign, and one decimal.
fn signed(difference: f64) -> String {
    let text = format!("{:.1}", difference.abs());
    let text = text.strip_suffix(".0").unwrap_or(&text);
    format!("{}{text}", if difference < 0.0 { "−" } else { "+" })
}
