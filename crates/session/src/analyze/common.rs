//! Shared parts of the analyses: pages, counts by name, and iteration over events.

use std::collections::BTreeMap;

use crate::budget::check_limit;
use crate::error::Result;
use crate::fields::{FieldPath, FieldValues};
use crate::layout::{EventMembers, Layout};
use crate::parallel::scan;
use crate::records::{Damage, Flow, Log, Record};
use crate::text::label;
use crate::watch::Watch;

/// A bounded part of an answer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Page {
    /// The number of rows to skip.
    pub offset: u64,
    /// The maximum number of rows.
    pub limit: usize,
}

impl Default for Page {
    fn default() -> Self {
        Self { offset: 0, limit: 100 }
    }
}

impl Page {
    /// Creates a page.
    pub fn new(offset: u64, limit: usize) -> Self {
        Self { offset, limit }
    }

    pub(super) fn check(self) -> Result<Self> {
        check_limit(self.limit).map(|()| self)
    }

    /// True if the next row belongs to the page, after `before` rows of which `kept` were returned.
    pub(super) fn takes(self, before: u64, kept: usize) -> bool {
        before >= self.offset && kept < self.limit
    }

    pub(super) fn has_more(self, kept: usize, total: u64) -> bool {
        self.offset + (kept as u64) < total
    }
}

/// The maximum number of names that are counted separately. Further names are counted together.
const MAX_NAMES: usize = 200;

/// The maximum number of characters of a name.
const MAX_NAME_CHARS: usize = 100;

/// Occurrences by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) names: BTreeMap<String, u64>,
    pub(super) other: u64,
}

impl Counts {
    pub(super) fn add(&mut self, name: &str) {
        if let Some(count) = self.names.get_mut(name) {
            *count += 1;
            return;
        }
        let name = label(name, MAX_NAME_CHARS);
        if self.names.len() < MAX_NAMES || self.names.contains_key(&name) {
            *self.names.entry(name).or_default() += 1;
        } else {
            self.other += 1;
        }
    }
}

/// Reads the known members and `more` fields of every event, and passes them to a callback.
pub(super) fn each_event(
    log: &Log,
    layout: &Layout,
    more: &[(FieldPath, usize)],
    watch: &Watch<'_>,
    visit: impl FnMut(&FieldValues, Record) -> Result<Flow>,
) -> Result<Damage> {
    let known = EventMembers::with_extra(layout, more);
    scan(log, known.fields(), &|_| true, watch, visit)
}

/// Parses dotted paths, which are known to be valid, each with its maximum number of characters.
pub(super) fn paths(paths: &[(&str, usize)]) -> Vec<(FieldPath, usize)> {
    paths.iter().map(|(path, cap)| (FieldPath::from_names(path.split('.')), *cap)).collect()
}
