//! The list of sessions.

use trommel_session::{Listing, SessionRow, Source};

use super::{Clock, NAME, source};
use crate::output::Stream;
use crate::output::size::grouped;
use crate::output::tables::{Grid, on_one_line, width};

/// The minimum number of characters of an ID.
const ID: usize = 8;

/// The maximum number of characters of a project or model.
const SHORT: usize = 20;

/// The minimum number of characters of a name, project, or model.
const MIN_CHARS: usize = 8;

/// The columns of IDs, turns, times, and the space between columns.
const FIXED: usize = 8 + 5 + 16 + 6 * 2;

/// The columns of each optional column: the format of the log, and the location.
const MARK: usize = 11;

/// Formats sessions, one per row, with the shortest unique ID prefixes.
pub(crate) fn list(listing: &Listing, clock: &Clock, out: Stream) -> String {
    let sessions = &listing.sessions;
    if sessions.is_empty() {
        return String::new();
    }
    // Formats that a storage can hold and local sessions are the default. The columns appear only
    // if another value occurs.
    let marked = sessions.iter().any(|row| !row.format.is_mirrored());
    let placed = sessions.iter().any(|row| row.source != Source::Local);
    let marks = [marked.then_some("format"), placed.then_some("source")].into_iter().flatten();
    let names = ["id", "project", "name", "turns", "model", "changed"].into_iter().chain(marks);
    let right = &[false, false, false, true, false, false, false, false];
    let mut grid = Grid::new(&names.collect::<Vec<_>>(), right, out);
    let ids = unique_prefixes(sessions);
    let fixed = FIXED + MARK * (usize::from(marked) + usize::from(placed));
    let columns = width(out).map(|width| usize::from(width).saturating_sub(fixed));
    let (name_chars, short_chars) = shares(columns);
    for (row, id) in sessions.iter().zip(ids) {
        let name = row.name.as_deref().or(row.problem.as_ref().map(|_| "(damaged metadata)"));
        let cells = [
            id,
            // The ends of projects and models distinguish them.
            last(&row.project, short_chars),
            on_one_line(name.unwrap_or(""), name_chars),
            row.turn_count.map_or(String::new(), grouped),
            last(undated(row.model.as_deref().unwrap_or("")), short_chars),
            clock.minute(row.modified.as_deref()),
        ];
        let marks = [
            marked.then(|| row.format.short_name().to_owned()),
            placed.then(|| source(row.source).to_owned()),
        ];
        grid.row(cells.into_iter().chain(marks.into_iter().flatten()));
    }
    grid.text()
}

/// Divides `columns` into the characters of a name and of a project or model.
fn shares(columns: Option<usize>) -> (usize, usize) {
    let Some(columns) = columns else { return (NAME, SHORT) };
    let short = (columns * 3 / 10).clamp(MIN_CHARS, SHORT);
    // One column is for the mark of a truncated name.
    (columns.saturating_sub(2 * short + 1).clamp(MIN_CHARS, NAME), short)
}

/// Removes the release date from the name of a model, because it does not distinguish models.
fn undated(model: &str) -> &str {
    match model.rsplit_once("-20") {
        Some((name, date)) if date.len() == 6 && date.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => model,
    }
}

/// Returns the end of a text.
fn last(text: &str, max_chars: usize) -> String {
    let count = text.chars().count();
    if count <= max_chars {
        return text.to_owned();
    }
    "…".chars().chain(text.chars().skip(count - max_chars + 1)).collect()
}

/// Returns the shortest unique prefix of each ID.
fn unique_prefixes(rows: &[SessionRow]) -> Vec<String> {
    let mut sorted: Vec<&str> = rows.iter().map(|row| row.session_id.as_str()).collect();
    sorted.sort_unstable();
    let common = |one: &str, other: &str| one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let beginning = |row: &SessionRow| {
        let id = row.session_id.as_str();
        let at = sorted.partition_point(|other| *other < id);
        let neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let shared = neighbours.filter_map(|at| sorted.get(at)).map(|other| common(id, other) + 1);
        id.chars().take(shared.max().unwrap_or(0).max(ID)).collect()
    };
    rows.iter().map(beginning).collect()
}

#[cfg(test)]
mod tests {
    use trommel_session::{Format, ListQuery, Watch};

    use super::*;

    fn listed(sources: [Source; 2], format: Format) -> String {
        let home = tempfile::tempdir().unwrap();
        for id in ["a", "b"] {
            let folder = home.path().join("projects/-p/sessions").join(id);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("metadata.json"), "{}").unwrap();
        }
        let sessions = trommel_session::Sessions::new().amplifier(home.path());
        let mut listing = sessions.list(&ListQuery::default(), &Watch::new()).unwrap();
        for (row, source) in listing.sessions.iter_mut().zip(sources) {
            (row.source, row.format) = (source, format);
        }
        list(&listing, &Clock::new(true), Stream::NONE)
    }

    #[test]
    fn lists_fit_the_terminal() {
        for (columns, marks) in (80..200).flat_map(|columns| [(columns, 0), (columns, 1)]) {
            let fixed = FIXED + marks * MARK;
            let (name, short) = shares(Some(columns - fixed));
            assert!(fixed + name + 1 + 2 * short <= columns, "{columns}: {name} {short}");
        }
        assert_eq!(undated("claude-sonnet-4-5-20250929"), "claude-sonnet-4-5");
        assert_eq!(undated("gpt-2025"), "gpt-2025");
    }

    #[test]
    fn optional_columns_appear_only_if_values_differ() {
        let local = listed([Source::Local; 2], Format::Amplifier);
        assert!(
            !local.contains("source") && !local.contains("local") && !local.contains("format"),
            "{local}"
        );
        for (sources, format) in [
            ([Source::Local, Source::Cloud], Format::Amplifier),
            ([Source::Both, Source::Local], Format::Amplifier),
            ([Source::Both, Source::Cloud], Format::Chat),
        ] {
            let shown = listed(sources, format);
            let lines = shown.lines().map(str::trim_end).collect::<Vec<_>>();
            assert!(lines.iter().any(|line| line.ends_with("source")), "{shown}");
            for name in sources.map(source) {
                assert!(lines.iter().any(|line| line.ends_with(name)), "{shown}");
            }
            assert_eq!(shown.contains("format"), format == Format::Chat, "{shown}");
        }
    }
}
