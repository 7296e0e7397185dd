//! Errors of records that cannot be grouped.

use annotate_snippets::{Level, Renderer};
use trommel::Group;
use trommel::groups::GroupError;

use super::{NAME, SENTENCE};
use crate::output::escape;
use crate::output::size::{binary, grouped};

/// Renders the error of records that cannot be grouped.
pub(super) fn render(error: &GroupError, record: Option<u64>, file: &str, renderer: &Renderer) -> String {
    let (code, message, mut help) = parts(error);
    if matches!(error, GroupError::ValueBytes { .. }) && record.is_none() {
        help = "make the elements of an array records: add --each '$.array[*]'";
    }
    let offset = match error {
        GroupError::Unusable(value) => Some(value.offset),
        GroupError::ValueBytes { offset, .. } => Some(*offset),
        _ => None,
    };
    let offset = offset.map(|offset| format!("byte {offset}"));
    let record = record.map(|record| format!("record {record}"));
    let position: Vec<String> = offset.into_iter().chain(record).collect();
    let note = (!position.is_empty()).then(|| Level::NOTE.message(position.join(", ")));
    let title = Level::ERROR.primary_title(format!("{file}: {message}")).id(code);
    renderer.render(&[title.elements(note).element(Level::HELP.message(help))])
}

/// The code, the message, and the help of an error.
fn parts(error: &GroupError) -> (&'static str, String, &'static str) {
    match error {
        GroupError::Groups { limit } => (
            "group_limit",
            format!("more than {} groups", grouped(*limit as u64)),
            "use --approximate to keep the most frequent groups, or raise --max-groups",
        ),
        GroupError::Bytes { limit } => (
            "group_limit",
            format!("the groups take more than {}", binary(*limit as u64)),
            "use --approximate to keep the most frequent groups, or raise --max-group-bytes",
        ),
        GroupError::ValueBytes { name, .. } => {
            let (name, limit) = (escape::short(name, NAME), binary(Group::VALUE_BYTES as u64));
            let message = format!("the values of {name} in one record have more than {limit}");
            ("group_value", message, "use a query that selects less in each record")
        }
        GroupError::Unusable(value) => (
            "unusable_value",
            escape::short(&value.to_string(), SENTENCE),
            "leave out such records with --where, or use a query that selects other values",
        ),
        other => ("group", escape::short(&other.to_string(), SENTENCE), "group each file on its own"),
    }
}
