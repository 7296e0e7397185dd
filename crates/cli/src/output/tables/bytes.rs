//! The bytes of an input by path, the largest first.

use trommel::StatsAnswer;
use trommel::statistics::{BytesRow, RowCounts};
use trommel_answer::figures::share;

use super::{Column, Fit, Grid, bar, heading};
use crate::output::size::{binary, grouped};
use crate::output::{Stream, escape};

/// The columns of the longest bar.
const BAR: u64 = 16;

/// Formats the bytes of all paths. `name` is that of the input.
pub(crate) fn bytes(name: &str, answer: &StatsAnswer, out: Stream) -> String {
    let size = format!("{} ({} bytes)", binary(answer.bytes), grouped(answer.bytes));
    heading(&format!("{}: {size}", escape::short(name, 200)), out) + &listed(answer, out)
}

/// The section of all statistics, if the bytes are part of them.
pub(super) fn section(answer: &StatsAnswer, out: Stream) -> Option<String> {
    answer.summary.bytes.as_ref().map(|_| heading("Bytes", out) + &listed(answer, out))
}

fn listed(answer: &StatsAnswer, out: Stream) -> String {
    table(answer, out) + &omitted(answer) + &outside(answer)
}

fn rows(answer: &StatsAnswer) -> impl Iterator<Item = &BytesRow> {
    answer.summary.bytes.iter().flatten()
}

/// Notes that smaller paths are omitted.
fn omitted(answer: &StatsAnswer) -> String {
    match answer.summary.capped.bytes {
        Some(RowCounts { shown, total, .. }) => {
            format!("largest {} of {} paths\n", grouped(shown), grouped(total))
        }
        None => String::new(),
    }
}

fn table(answer: &StatsAnswer, out: Stream) -> String {
    let whole = answer.bytes;
    let columns = vec![
        Column::number("size"),
        Column::number("share"),
        Column::new("", Fit::Whole).rank(2),
        Column::new("path", Fit::Path),
        Column::number("values").rank(1),
        Column::number("names").rank(3),
        Column::number("space").rank(3),
    ];
    let mut grid = Grid::of(columns, out);
    for row in rows(answer) {
        let some = |bytes: u64| if bytes > 0 { binary(bytes) } else { String::new() };
        grid.row([
            binary(row.total()),
            share(row.total(), whole),
            bar(row.total(), whole, BAR),
            row.path.clone(),
            grouped(row.count),
            some(row.names),
            some(row.space),
        ]);
    }
    grid.text()
}

/// The bytes of the input that are in no value: line ends, white space around the values, and
/// malformed records that were skipped.
fn outside(answer: &StatsAnswer) -> String {
    // The values of several queries may contain each other, and a query's values are all it has.
    let roots = rows(answer).filter(|row| row.parent.is_none());
    let inside = roots.fold(0_u64, |sum, row| sum.saturating_add(row.values));
    match answer.bytes.checked_sub(inside) {
        Some(outside @ 1..) if answer.by_path.is_empty() => {
            format!("{} outside of the values, such as line ends\n", binary(outside))
        }
        _ => String::new(),
    }
}
