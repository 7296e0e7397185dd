//! The rows of all tables, joined by path.

use std::collections::HashMap;

use trommel::StatsAnswer;
use trommel::path::{Query, Selector};
use trommel::statistics::{ArrayRow, BytesRow, FieldRow, ObjectRow, TypeCounts, ValuesSummary};

/// Everything about one path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathRow<'a> {
    pub(crate) bytes: &'a BytesRow,
    pub(crate) field: Option<&'a FieldRow>,
    pub(crate) values: Option<&'a ValuesSummary>,
    pub(crate) array: Option<&'a ArrayRow>,
    pub(crate) object: Option<&'a ObjectRow>,
}

impl PathRow<'_> {
    /// The share of objects that have the name, if its absence can be seen.
    pub(crate) fn present(&self) -> Option<(u64, u64)> {
        let field = self.field.filter(|field| field.parents > 0)?;
        Some((field.parents.saturating_sub(field.missing), field.parents))
    }
}

/// Joins the rows of all paths that have bytes, the largest first.
pub(crate) fn joined<'a>(stats: &'a StatsAnswer) -> Vec<PathRow<'a>> {
    let summary = &stats.summary;
    let fields = by_path(summary.fields.as_ref(), |row| &row.path);
    let values = by_path(summary.values.as_ref(), |row| &row.path);
    let arrays = by_path(summary.arrays.as_ref(), |row| &row.path);
    let objects = by_path(summary.objects.as_ref(), |row| &row.path);
    let row = |bytes: &'a BytesRow| {
        let path = bytes.path.as_str();
        PathRow {
            bytes,
            field: fields.get(path).copied(),
            values: values.get(path).copied(),
            array: arrays.get(path).copied(),
            object: objects.get(path).copied(),
        }
    };
    summary.bytes.iter().flatten().map(row).collect()
}

fn by_path<T>(rows: Option<&Vec<T>>, path: impl Fn(&T) -> &String) -> HashMap<&str, &T> {
    rows.into_iter().flatten().map(|row| (path(row).as_str(), row)).collect()
}

/// The number of paths of an input.
pub(crate) fn count_paths(stats: &StatsAnswer) -> u64 {
    let summary = &stats.summary;
    let rows = summary.bytes.as_ref().map_or(0, |rows| rows.len() as u64);
    summary.capped.bytes.map_or(rows, |capped| capped.total)
}

/// The bytes of the paths in all tables, each of which is a part of the page.
pub(crate) fn path_bytes(stats: &StatsAnswer) -> usize {
    fn sum<T>(rows: Option<&Vec<T>>, path: impl Fn(&T) -> &String) -> usize {
        rows.into_iter().flatten().map(|row| path(row).len()).sum()
    }
    let summary = &stats.summary;
    sum(summary.bytes.as_ref(), |row| &row.path)
        + sum(summary.fields.as_ref(), |row| &row.path)
        + sum(summary.values.as_ref(), |row| &row.path)
        + sum(summary.arrays.as_ref(), |row| &row.path)
        + sum(summary.objects.as_ref(), |row| &row.path)
}

/// Keeps the rows of the largest paths in all tables.
pub(crate) fn keep_largest(stats: &mut StatsAnswer, max: usize) {
    let summary = &mut stats.summary;
    let Some(bytes) = summary.bytes.as_mut().filter(|bytes| bytes.len() > max) else { return };
    // Larger paths come first, so the path that contains a kept one is kept, too.
    bytes.truncate(max);
    let kept: std::collections::HashSet<&str> = bytes.iter().map(|row| row.path.as_str()).collect();
    let keep = |path: &String| kept.contains(path.as_str());
    summary.fields.iter_mut().for_each(|rows| rows.retain(|row| keep(&row.path)));
    summary.values.iter_mut().for_each(|rows| rows.retain(|row| keep(&row.path)));
    summary.arrays.iter_mut().for_each(|rows| rows.retain(|row| keep(&row.path)));
    summary.objects.iter_mut().for_each(|rows| rows.retain(|row| keep(&row.path)));
}

/// The names in a path.
pub(crate) fn names(path: &str) -> Vec<String> {
    let Ok(query) = path.parse::<Query>() else { return Vec::new() };
    let selectors = query.segments().iter().flat_map(|segment| &segment.selectors);
    let name = |selector: &Selector| match selector {
        Selector::Name(name) => Some(name.clone()),
        _ => None,
    };
    selectors.filter_map(name).collect()
}

/// The last step of a path as a label: a name, `[*]`, or `*`.
pub(crate) fn label(path: &str) -> String {
    let Ok(query) = path.parse::<Query>() else { return path.to_owned() };
    let last = query.segments().iter().last().and_then(|segment| segment.selectors.last());
    match last {
        None => "$".to_owned(),
        Some(Selector::Name(name)) => name.clone(),
        Some(_) if path.ends_with(".*") => "*".to_owned(),
        Some(_) => "[*]".to_owned(),
    }
}

/// The only type of the values of a path, `mixed` if there are several. Nulls beside another type
/// do not count.
pub(crate) fn kind(types: TypeCounts) -> &'static str {
    let mut kinds = types.occurring().map(|(kind, _)| kind).filter(|kind| *kind != "null");
    match (kinds.next(), kinds.next()) {
        (None, _) => "null",
        (Some(kind), None) => kind,
        _ => "mixed",
    }
}
