//! Errors of records that cannot be grouped.

use annotate_snippets::{Level, Renderer};
use trommel::Group;
use trommel::groups::GroupError;

use super::input::{NAME, SENTENCE};
use crate::output::escape;
use crate::output::size::{binary, grouped};

/// Renders the error of records that cannot be grouped.
pub(super) fn render(error: &GroupError, record: Option<u64>, file: &str, renderer: &Renderer) -> String {
    let (code, offset, help) = match error {
        GroupError::Groups { .. } => {
            ("group_limit", None, "use --approximate to keep the most frequent groups, or raise --max-groups")
        }
        GroupError::Bytes { .. } => (
            "group_limit",
            None,
            "use --approximate to keep the most frequent groups, or raise --max-group-bytes",
        ),
        GroupError::Unusable(value) => (
            "unusable_value",
            Some(value.offset),
            "leave out such records with --where, or use a query that selects other values",
        ),
        GroupError::ValueBytes { offset, .. } => {
            ("group_value", Some(*offset), "use a query that selects less, or fewer values per record")
        }
        _ => ("group", None, "check the queries"),
    };
    let message = match error {
        GroupError::Groups { limit } => format!("more than {} groups", grouped(*limit as u64)),
        GroupError::Bytes { limit } => format!("the groups take more than {}", binary(*limit as u64)),
        GroupError::ValueBytes { name, .. } => {
            let limit = binary(Group::VALUE_BYTES as u64);
            format!("the values of {} in one record have more than {limit}", escape::short(name, NAME))
        }
        other => escape::short(&other.to_string(), SENTENCE),
    };
    let offset = offset.map(|offset| format!("byte {offset}"));
    let note: Vec<String> =
        offset.into_iter().chain(record.map(|record| format!("record {record}"))).collect();
    let note = (!note.is_empty()).then(|| Level::NOTE.message(note.join(", ")));
    let title = Level::ERROR.primary_title(format!("{file}: {message}")).id(code);
    renderer.render(&[title.elements(note).element(Level::HELP.message(help))])
}
