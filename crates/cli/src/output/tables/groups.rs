use trommel::groups::{AggregateValue, Approximation, Group, GroupRow, Groups};
use trommel_answer::figures::{number_text, rounded};
use trommel_base::text::clip;

use super::Grid;
use crate::output::size::grouped;
use crate::output::{Stream, escape};

/// The maximum number of characters of a value.
const MAX_CHARS: usize = 60;

/// Formats groups, one per row, and their totals.
pub(crate) fn groups(group: &Group, groups: &Groups, rows: &[GroupRow<'_>], out: Stream) -> String {
    let figures = group.aggregates.iter().map(|figure| format!("{} {}", figure.kind.name(), figure.name));
    let names: Vec<String> =
        group.keys.iter().map(|key| key.name.clone()).chain(["count".into()]).chain(figures).collect();
    let names: Vec<String> = names.iter().map(|name| escape::short(name, MAX_CHARS)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let right: Vec<bool> = (0..names.len()).map(|column| column >= group.keys.len()).collect();
    let mut grid = Grid::new(&names, &right, out);
    for row in rows {
        let about = if row.error() > 0 { "≤ " } else { "" };
        let keys = row.keys().map(|value| value.map_or_else(|| "(missing)".into(), shown));
        let figures = (0..group.aggregates.len()).map(|figure| figure_text(&row.value(figure)));
        let count = format!("{about}{}", grouped(row.count()));
        grid.row(keys.chain([count]).chain(figures));
    }
    format!("{}\n{}\n", grid.text(), totals(groups))
}

/// The totals in one line.
fn totals(groups: &Groups) -> String {
    let plural =
        |count: u64, noun: &str| format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" });
    let (records, all) = (plural(groups.total(), "record"), plural(groups.total_groups(), "group"));
    match groups.approximation() {
        None => format!("{all}, {records}"),
        Some(Approximation { error, total_groups_relative_error, .. }) => {
            let about = if total_groups_relative_error.is_some() { "about " } else { "" };
            let listed = grouped(groups.len() as u64);
            format!("{about}{all}, {records}; kept {listed}, others have at most {}", plural(error, "record"))
        }
    }
}

/// A value as text: a string without its quotes, unless it would look like another value.
fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let decoded = serde_json::from_str::<String>(&text).ok();
    let plain = decoded.filter(|decoded| {
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(decoded).is_ok();
        !decoded.is_empty() && !is_json && decoded.trim() == decoded && decoded != "(missing)"
    });
    clip(&plain.unwrap_or_else(|| text.into_owned()), MAX_CHARS).into_owned()
}

fn figure_text(value: &AggregateValue<'_>) -> String {
    match value {
        AggregateValue::Sum(sum) => number_text(sum.as_str()),
        AggregateValue::Mean(mean) => rounded(*mean),
        AggregateValue::Extreme(value) => shown(value),
        AggregateValue::Distinct(distinct) => {
            let about = if distinct.approximate { "~" } else { "" };
            format!("{about}{}", grouped(distinct.count))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_look_like_other_values_keep_their_quotes() {
        for (value, text) in [
            ("\"a b\"", "a b"),
            ("\"\\u0061\"", "a"),
            ("\"1\"", "\"1\""),
            ("\"null\"", "\"null\""),
            ("\"\"", "\"\""),
            ("\"(missing)\"", "\"(missing)\""),
            ("[1]", "[1]"),
            ("1.0", "1.0"),
        ] {
            assert_eq!(shown(value.as_bytes()), text);
        }
    }
}
