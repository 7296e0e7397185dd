//! Groups as JSON.

use std::io::Write;

use trommel::groups::{AggregateKind, AggregateValue, Approximation, Group, GroupRow, Groups};

/// The JSON text of groups, written one by one.
#[derive(Clone, Copy, Debug)]
pub struct GroupsText<'g> {
    group: &'g Group,
    groups: &'g Groups,
}

impl<'g> GroupsText<'g> {
    /// The text of the answer to a request.
    pub fn new(group: &'g Group, groups: &'g Groups) -> Self {
        Self { group, groups }
    }

    /// Appends a group: `{"key":{NAME:value,…},"count":n,"sum":{NAME:n},…}`. A missing value is
    /// absent from the key. A figure without values is null.
    ///
    /// `error` is the maximum number by which an approximate count is too high, and
    /// `distinct_error` the error bound of estimates, relative to the true number.
    pub fn push_row(&self, row: &GroupRow<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"key":{"#);
        let mut first = true;
        for (key, value) in self.group.keys.iter().zip(row.keys()) {
            let Some(value) = value else { continue };
            push_member(&mut first, &key.name, out);
            out.extend_from_slice(value);
        }
        push(out, format_args!("}},\"count\":{}", row.count()));
        if row.error() > 0 {
            push(out, format_args!(",\"error\":{}", row.error()));
        }
        for kind in AggregateKind::ALL {
            self.push_figures(kind, row, out);
        }
        out.push(b'}');
    }

    /// Appends the figures of a kind, if there are any.
    fn push_figures(&self, kind: AggregateKind, row: &GroupRow<'_>, out: &mut Vec<u8>) {
        let figures = self.group.aggregates.iter().enumerate().filter(|(_, figure)| figure.kind == kind);
        let (mut first, mut errors) = (true, Vec::new());
        for (index, figure) in figures {
            if first {
                push(out, format_args!(",\"{}\":{{", kind.name()));
            }
            push_member(&mut first, &figure.name, out);
            match row.value(index) {
                AggregateValue::Sum(sum) => out.extend_from_slice(sum.as_str().as_bytes()),
                AggregateValue::Mean(mean) => push_double(mean, out),
                AggregateValue::Extreme(value) => out.extend_from_slice(value),
                AggregateValue::Distinct(distinct) => {
                    push(out, format_args!("{}", distinct.count));
                    errors.extend(distinct.relative_error.map(|error| (&figure.name, error)));
                }
                _ => out.extend_from_slice(b"null"),
            }
        }
        if !first {
            out.push(b'}');
        }
        let mut first = true;
        for (name, error) in errors {
            if first {
                out.extend_from_slice(br#","distinct_error":{"#);
            }
            push_member(&mut first, name, out);
            push_double(error, out);
        }
        if !first {
            out.push(b'}');
        }
    }

    /// Appends the members that follow the groups: `"total":records,"total_groups":n`, and for
    /// approximate groups their error bounds.
    pub fn push_totals(&self, out: &mut Vec<u8>) {
        let (total, groups) = (self.groups.total(), self.groups.total_groups());
        push(out, format_args!("\"total\":{total},\"total_groups\":{groups}"));
        if let Some(Approximation { error, total_groups_relative_error, .. }) = self.groups.approximation() {
            push(out, format_args!(",\"approximate\":true,\"error\":{error}"));
            if let Some(error) = total_groups_relative_error {
                out.extend_from_slice(br#","total_groups_error":"#);
                push_double(error, out);
            }
        }
    }
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory cannot fail.
    let _ = out.write_fmt(text);
}

/// Appends the name of a member, after a comma unless it is the first.
fn push_member(first: &mut bool, name: &str, out: &mut Vec<u8>) {
    if !std::mem::take(first) {
        out.push(b',');
    }
    let _ = serde_json::to_writer(&mut *out, name);
    out.push(b':');
}

/// Appends the shortest digits of a finite double.
fn push_double(value: f64, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, &value);
}
