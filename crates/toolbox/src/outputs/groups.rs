//! The queries of groups.

use trommel::path::Query;

/// A path with an optional name: `NAME=$.path`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedPath<'t> {
    pub(super) name: Option<&'t str>,
    pub(super) path: &'t str,
}

impl<'t> NamedPath<'t> {
    /// Separates name and path. A name may contain `=`, so the first `=$` separates them.
    pub(super) fn parse(text: &'t str) -> Self {
        match text.find("=$") {
            Some(end) if end > 0 && !text.trim_start().starts_with('$') => {
                Self { name: Some(&text[..end]), path: &text[end + 1..] }
            }
            _ => Self { name: None, path: text },
        }
    }

    /// The name, or the last name of the query, or else the path itself.
    pub(super) fn name_for(&self, query: &'t Query) -> &'t str {
        self.name.or_else(|| query.last_name()).unwrap_or(self.path)
    }
}
