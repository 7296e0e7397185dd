use trommel::statistics::{
    Exact, FrequentSummary, NumericSummary, QuantilesSummary, ScalarValue, ValuesSummary,
};

use super::Grid;
use crate::output::size::grouped;
use crate::output::{Stream, escape};

/// The number of frequent values in a row.
const FREQUENT: usize = 3;

/// The maximum number of characters of a frequent value.
const MAX_CHARS: usize = 24;

/// Formats statistics of values by path, one per row. Numbers have a table of their own.
pub(super) fn values(rows: &[ValuesSummary], out: Stream) -> String {
    let mut grid = Grid::new(
        &["path", "values", "distinct", "length", "most frequent"],
        &[false, true, true, true, false],
        out,
    );
    for row in rows {
        let lengths = row.strings.as_ref().map_or(String::new(), |strings| {
            let (least, most) = (strings.min_length, strings.max_length);
            if least == most { grouped(least) } else { format!("{}–{}", grouped(least), grouped(most)) }
        });
        let figures = [
            grouped(row.count),
            about(row.distinct.approximate) + &grouped(row.distinct.count),
            lengths,
            frequent(&row.frequent),
        ];
        grid.row([row.path.clone()].into_iter().chain(figures));
    }
    let numbers = rows.iter().filter_map(|row| Some((row, row.numbers.as_ref()?)));
    let numbers: Vec<_> = numbers.collect();
    if numbers.is_empty() {
        return grid.text();
    }
    let names = ["path", "numbers", "minimum", "median", "mean", "maximum", "sum"];
    let mut table = Grid::new(&names, &[false, true, true, true, true, true, true], out);
    for (row, summary) in numbers {
        table.row([row.path.clone()].into_iter().chain(figures(summary, row.quantiles.as_ref())));
    }
    grid.text() + "\n" + &table.text()
}

fn figures(numbers: &NumericSummary, quantiles: Option<&QuantilesSummary>) -> [String; 6] {
    let exact = |number: &Option<Exact>| number.as_ref().map_or(String::new(), ToString::to_string);
    let double = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    let median =
        quantiles.map_or(String::new(), |quantiles| about(quantiles.approximate) + &double(quantiles.p50));
    [
        grouped(numbers.count),
        exact(&numbers.min),
        median,
        double(numbers.mean),
        exact(&numbers.max),
        exact(&numbers.sum),
    ]
}

fn frequent(summary: &FrequentSummary) -> String {
    let shown = summary.values.iter().take(FREQUENT).map(|value| {
        let text = match &value.value {
            ScalarValue::Null => "null".into(),
            ScalarValue::Bool(value) => value.to_string(),
            ScalarValue::Number(number) => number.to_string(),
            ScalarValue::String(text) => serde_json::Value::from(&**text).to_string(),
            _ => "(long)".into(),
        };
        format!(
            "{} × {}{}",
            escape::short(&text, MAX_CHARS),
            about(summary.approximate),
            grouped(value.count)
        )
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The mark of an estimate.
fn about(approximate: bool) -> String {
    if approximate { "~".into() } else { String::new() }
}
