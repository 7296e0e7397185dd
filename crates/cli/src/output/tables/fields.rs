//! The fields of an input: a row for each path, with statistics of its values on request.

use std::collections::HashMap;

use trommel::StatsAnswer;
use trommel::statistics::{
    FieldRow, FrequentSummary, FrequentValue, NumericSummary, RowCounts, ScalarValue, Summary, ValuesSummary,
};
use trommel_answer::figures::{exact, rounded, share};

use super::{Cell, Column, CountedItem, Fit, Grid, heading, shorten};
use crate::output::Stream;
use crate::output::size::grouped;

/// The number of frequent values in a row.
const FREQUENT: usize = 3;

/// The maximum number of characters of a frequent value in a row.
const MAX_CHARS: usize = 40;

/// The mark of an estimate.
const fn about(approximate: bool) -> &'static str {
    if approximate { "~" } else { "" }
}

/// A field, and the statistics of its scalars if they were requested.
struct Row<'a> {
    field: &'a FieldRow,
    values: Option<&'a ValuesSummary>,
}

/// Formats the fields, and the most frequent values of each if `lists_values` is true.
pub(super) fn fields(answer: &StatsAnswer, lists_values: bool, out: Stream) -> Vec<String> {
    let summary = &answer.summary;
    let rows = rows(answer);
    if rows.is_empty() {
        return Vec::new();
    }
    let mut sections = Vec::new();
    let note = cut(counts(summary.capped.fields, rows.len()), rows.len());
    if summary.values.is_none() {
        sections.push(heading("Fields", out) + &plain(&rows, out) + &note);
        return sections;
    }
    let grid = described(&rows, out);
    sections.push(heading("Fields", out) + &grid.text() + &note);
    if !grid.shows("median") {
        sections.extend(numbers(&rows, out));
    }
    if lists_values {
        sections.extend(frequent_values(&rows, out));
    }
    sections
}

/// Returns the fields of all queries, each with its statistics.
fn rows(answer: &StatsAnswer) -> Vec<Row<'_>> {
    let whole = answer.by_path.is_empty().then_some(&answer.summary);
    let parts = whole.into_iter().chain(answer.by_path.iter().map(|part| &part.summary));
    parts.flat_map(rows_of).collect()
}

fn rows_of(summary: &Summary) -> Vec<Row<'_>> {
    let values = summary.values.iter().flatten();
    let values: HashMap<&str, &ValuesSummary> = values.map(|row| (row.path.as_str(), row)).collect();
    let fields = summary.fields.iter().flatten();
    fields.map(|field| Row { field, values: values.get(field.path.as_str()).copied() }).collect()
}

impl Row<'_> {
    /// The path, the types, the number of values, and the share of objects that have the name.
    fn basics(&self) -> [String; 4] {
        let FieldRow { path, types, count, missing, parents, .. } = self.field;
        let mut types: Vec<&str> = types.occurring().map(|(name, _)| name).collect();
        types.sort_unstable();
        let present = if *parents > 0 { share(parents - missing, *parents) } else { String::new() };
        [path.clone(), types.join("|"), grouped(*count), present]
    }

    fn numbers(&self) -> Option<&NumericSummary> {
        self.values?.numbers.as_ref()
    }

    /// The minimum, the median, the mean, the maximum, and the sum.
    fn figures(&self) -> [String; 5] {
        let Some(numbers) = self.numbers() else { return Default::default() };
        let quantiles = self.values.and_then(|values| values.quantiles.as_ref());
        let median = quantiles.and_then(|quantiles| Some((quantiles.approximate, quantiles.p50?)));
        let of = |number: &Option<_>| number.as_ref().map_or_else(String::new, exact);
        [
            of(&numbers.min),
            median.map_or_else(String::new, |(approximate, median)| {
                about(approximate).to_owned() + &rounded(median)
            }),
            numbers.mean.map_or_else(String::new, rounded),
            of(&numbers.max),
            of(&numbers.sum),
        ]
    }

    /// The range of the lengths of strings.
    fn lengths(&self) -> String {
        let Some(strings) = self.values.and_then(|values| values.strings.as_ref()) else {
            return String::new();
        };
        let (least, most) = (strings.min_length, strings.max_length);
        if least == most { grouped(least) } else { format!("{}–{}", grouped(least), grouped(most)) }
    }

    fn frequent(&self) -> Cell {
        let Some(values) = self.values else { return Cell::Items(Vec::new()) };
        let item = |value: &FrequentValue| {
            let short = match &value.value {
                ScalarValue::Number(number) => Some(exact(number)),
                _ => None,
            };
            let text = text_of(&value.value);
            let text = if short.is_some() { text } else { shorten::end(&text, MAX_CHARS) };
            CountedItem { text, short, count: format!(" × {}", count_of(value, &values.frequent)) }
        };
        Cell::Items(values.frequent.values.iter().take(FREQUENT).map(item).collect())
    }
}

fn text_of(value: &ScalarValue) -> String {
    match value {
        ScalarValue::Null => "null".into(),
        ScalarValue::Bool(value) => value.to_string(),
        ScalarValue::Number(number) => number.to_string(),
        ScalarValue::String(text) => serde_json::Value::from(&**text).to_string(),
        _ => "(long)".into(),
    }
}

fn count_of(value: &FrequentValue, summary: &FrequentSummary) -> String {
    about(summary.approximate).to_owned() + &grouped(value.count)
}

/// Formats the fields alone.
fn plain(rows: &[Row<'_>], out: Stream) -> String {
    let columns = [Column::new("path", Fit::Path), Column::new("type", Fit::Text)];
    let numbers = ["values", "present"].map(Column::number);
    let mut grid = Grid::of(columns.into_iter().chain(numbers).collect(), out);
    for row in rows {
        grid.row(row.basics());
    }
    grid.text()
}

/// Lays out the fields with the statistics of their values. The columns of numbers that do not fit
/// are in a table of their own.
fn described(rows: &[Row<'_>], out: Stream) -> Grid {
    let columns = vec![
        Column::new("path", Fit::Path),
        Column::new("type", Fit::Text).at_least(12),
        Column::number("values").rank(3),
        Column::number("present"),
        Column::number("distinct").rank(1),
        Column::number("minimum").rank(2),
        Column::number("median").rank(2),
        Column::number("mean").rank(5),
        Column::number("maximum").rank(2),
        Column::number("sum").rank(6),
        Column::number("length").rank(4),
        Column::new("most frequent", Fit::Text),
    ];
    let mut grid = Grid::of(columns, out);
    for row in rows {
        let distinct = row.values.map_or_else(String::new, |values| {
            about(values.distinct.approximate).to_owned() + &grouped(values.distinct.count)
        });
        let texts = row.basics().into_iter().chain([distinct]).chain(row.figures()).chain([row.lengths()]);
        grid.row(texts.map(Cell::from).chain([row.frequent()]));
    }
    grid
}

/// Formats the figures of the fields with numbers.
fn numbers(rows: &[Row<'_>], out: Stream) -> Option<String> {
    let numeric: Vec<_> = rows.iter().filter_map(|row| Some((row, row.numbers()?))).collect();
    if numeric.is_empty() {
        return None;
    }
    let columns = vec![
        Column::new("path", Fit::Path),
        Column::number("numbers").rank(3),
        Column::number("minimum"),
        Column::number("median"),
        Column::number("mean").rank(1),
        Column::number("maximum"),
        Column::number("sum").rank(2),
    ];
    let mut grid = Grid::of(columns, out);
    for (row, numbers) in numeric {
        let cells = [row.field.path.clone(), grouped(numbers.count)];
        grid.row(cells.into_iter().chain(row.figures()));
    }
    Some(heading("Numbers", out) + &grid.text())
}

/// Lists the most frequent values of each field, one per row.
fn frequent_values(rows: &[Row<'_>], out: Stream) -> Option<String> {
    let columns = vec![
        Column::new("path", Fit::Path),
        Column::number("count"),
        Column::number("share"),
        Column::new("value", Fit::Text),
    ];
    let mut grid = Grid::of(columns, out);
    let mut is_empty = true;
    for row in rows {
        let Some(values) = row.values else { continue };
        for (number, value) in values.frequent.values.iter().enumerate() {
            let path = if number == 0 { row.field.path.clone() } else { String::new() };
            let count = count_of(value, &values.frequent);
            grid.row([path, count, share(value.count, values.count), text_of(&value.value)]);
            is_empty = false;
        }
    }
    (!is_empty).then(|| heading("Most frequent values", out) + &grid.text())
}

/// Returns the number of all rows of a section.
pub(super) fn counts(capped: Option<RowCounts>, rows: usize) -> u64 {
    capped.map_or(rows as u64, |capped| capped.total)
}

/// Notes that rows are omitted.
pub(super) fn cut(total: u64, shown: usize) -> String {
    if total <= shown as u64 {
        return String::new();
    }
    format!("first {} of {}\n", grouped(shown as u64), grouped(total))
}
