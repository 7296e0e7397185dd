//! The section of one path: all of its figures.

use trommel::statistics::{
    FrequentSummary, NumericSummary, QuantilesSummary, ScalarValue, TextLengthsSummary, ValuesSummary,
};
use trommel_answer::figures::{binary, exact, rounded, share};
use trommel_base::text::grouped;

use crate::chart;
use crate::html::{Html, MAX_PATH};
use crate::page::Report;
use crate::rows::PathRow;

/// The maximum number of characters of a frequent value.
const MAX_VALUE: usize = 300;

impl Report {
    /// Appends the section of a path. `number` is that of its row.
    pub(crate) fn details(&self, number: usize, row: &PathRow<'_>, html: &mut Html) {
        let path = &row.bytes.path;
        html.raw("<details class=\"path\" id=\"p").number(number as u64).raw("\"><summary><code>");
        html.clipped(path, MAX_PATH).raw("</code> <span class=\"share\">");
        html.text(&share(row.bytes.total(), self.stats.bytes))
            .raw("</span></summary>\n<dl class=\"facts\">\n");
        facts(row, html);
        html.raw("</dl>\n");
        if let Some(values) = row.values {
            if let Some(sample) = self.sample_of(path) {
                html.raw("<p class=\"note\">The figures of values are those of ").text(&grouped(sample.rows));
                html.raw(" of ").text(&grouped(sample.total)).raw(" rows, drawn at random.</p>\n");
            }
            frequent(values, html);
            chart::histograms(values, html);
        }
        self.command(path, html);
        html.raw("</details>\n");
    }

    /// Appends the command that prints the values of a path.
    fn command(&self, path: &str, html: &mut Html) {
        // A path is one line, and a quote ends a quoted text.
        if self.arguments.is_empty() || path.chars().any(trommel_base::text::is_unsafe) {
            return;
        }
        let query = format!("'{}'", path.replace('\'', r"'\''"));
        html.raw("<p class=\"command\"><code>trommel extract ").text(&self.arguments);
        html.raw(" ").text(&query).raw("</code></p>\n");
    }
}

fn facts(row: &PathRow<'_>, html: &mut Html) {
    let bytes = row.bytes;
    html.fact("Size", &format!("{} ({} bytes)", binary(bytes.total()), grouped(bytes.total())));
    let parts = [("names", bytes.names), ("white space", bytes.space)].into_iter();
    let parts = parts.filter(|(_, bytes)| *bytes > 0);
    let parts: Vec<String> = parts.map(|(name, bytes)| format!("{} of {name}", binary(bytes))).collect();
    if !parts.is_empty() {
        html.fact("Of that", &parts.join(", "));
    }
    html.fact("Values", &grouped(bytes.count));
    let types: Vec<_> = bytes.types.occurring().collect();
    let types = types.into_iter().map(|(kind, count)| format!("{kind} {}", share(count, bytes.count)));
    html.fact("Types", &types.collect::<Vec<_>>().join(", "));
    if let Some((present, of)) = row.present() {
        let missing = grouped(of - present.min(of));
        html.fact("Present", &format!("in {} of objects; {missing} are without it", share(present, of)));
    }
    if let Some(array) = row.array {
        let lengths = array.min_length.zip(array.max_length);
        html.fact("Elements", &sizes(array.length, array.count, lengths));
        html.fact("Types of elements", &array.item_type);
    }
    if let Some(object) = row.object {
        html.fact("Members", &sizes(object.keys, object.count, object.min_keys.zip(object.max_keys)));
    }
    if let Some(values) = row.values {
        scalars(values, html);
    }
}

/// The number of children, and those of the smallest and the largest of several containers.
fn sizes(total: u64, count: Option<u64>, extremes: Option<(u64, u64)>) -> String {
    match (count, extremes) {
        (Some(count), Some((min, max))) => {
            let mean = rounded(total as f64 / count.max(1) as f64);
            format!("{} in all; {} to {} each, {mean} on average", grouped(total), grouped(min), grouped(max))
        }
        _ => grouped(total),
    }
}

fn scalars(values: &ValuesSummary, html: &mut Html) {
    let distinct = &values.distinct;
    let about = if distinct.approximate { "about " } else { "" };
    html.fact("Distinct", &format!("{about}{}", grouped(distinct.count)));
    if let Some(strings) = &values.strings {
        html.fact("Characters", &lengths(strings));
    }
    if let Some(numbers) = &values.numbers {
        html.fact("Numbers", &range(numbers));
    }
    if let Some(quantiles) = &values.quantiles {
        html.fact("Quantiles", &percentiles(quantiles));
    }
    if values.long_strings > 0 {
        let text = format!("{} strings of more than 4,096 bytes", grouped(values.long_strings));
        html.fact("Not compared", &text);
    }
}

fn lengths(strings: &TextLengthsSummary) -> String {
    let mean = strings.mean_length.map_or_else(String::new, |mean| format!(", {} on average", rounded(mean)));
    format!(
        "{} in the shortest to {} in the longest{mean}",
        grouped(strings.min_length),
        grouped(strings.max_length)
    )
}

fn range(numbers: &NumericSummary) -> String {
    let mut parts = Vec::new();
    if let (Some(min), Some(max)) = (&numbers.min, &numbers.max) {
        parts.push(format!("{} to {}", exact(min), exact(max)));
    }
    parts.extend(numbers.mean.map(|mean| format!("mean {}", rounded(mean))));
    parts.extend(numbers.sum.as_ref().map(|sum| format!("sum {}", exact(sum))));
    if numbers.integers == numbers.count {
        parts.push("all integers".to_owned());
    }
    parts.join("; ")
}

fn percentiles(quantiles: &QuantilesSummary) -> String {
    let QuantilesSummary { p1, p5, p25, p50, p75, p95, p99, .. } = *quantiles;
    let named = [
        ("1 %", p1),
        ("5 %", p5),
        ("25 %", p25),
        ("median", p50),
        ("75 %", p75),
        ("95 %", p95),
        ("99 %", p99),
    ];
    let known = named.into_iter().filter_map(|(name, value)| Some(format!("{name}: {}", rounded(value?))));
    known.collect::<Vec<_>>().join("; ")
}

/// Appends the most frequent values. Counts from a sketch are upper bounds.
fn frequent(values: &ValuesSummary, html: &mut Html) {
    let FrequentSummary { values: list, error, .. } = &values.frequent;
    if list.is_empty() {
        return;
    }
    let are_examples = list.iter().all(|value| value.count == 1);
    html.raw("<table class=\"frequent\"><thead><tr><th scope=\"col\">");
    html.raw(if are_examples { "Examples" } else { "Most frequent values" });
    html.raw("</th><th scope=\"col\" class=\"number\">Values</th><th scope=\"col\" class=\"number\">Share</th></tr></thead><tbody>\n");
    for value in list {
        let about = if error.is_some() { "≤ " } else { "" };
        html.raw("<tr><td><code>").clipped(&scalar(&value.value), MAX_VALUE);
        html.raw("</code></td><td class=\"number\">").text(about).text(&grouped(value.count));
        html.raw("</td><td class=\"number\">").text(&share(value.count, values.count)).raw("</td></tr>\n");
    }
    html.raw("</tbody></table>\n");
}

/// A scalar as JSON.
pub(crate) fn scalar(value: &ScalarValue) -> String {
    match value {
        ScalarValue::Bool(value) => value.to_string(),
        ScalarValue::Number(number) => number.to_string(),
        ScalarValue::String(text) => serde_json::Value::from(&**text).to_string(),
        ScalarValue::Long { bytes } => format!("(a text of {} bytes)", grouped(*bytes)),
        _ => "null".to_owned(),
    }
}
