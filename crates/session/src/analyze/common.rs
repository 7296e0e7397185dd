//! What the figures have in common: pages, counts of names, and the way through the events.

use std::collections::BTreeMap;

use crate::divided::each_found;
use crate::error::Result;
use crate::layout::{Known, Layout};
use crate::project::{FieldPath, Found};
use crate::records::{Damage, Flow, Log, Record};
use crate::room::check_limit;
use crate::text::label;
use crate::watch::Watch;

/// Which part of what was found to return.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Page {
    /// How many to pass over.
    pub offset: u64,
    /// How many at most.
    pub limit: usize,
}

impl Default for Page {
    fn default() -> Self {
        Self { offset: 0, limit: 100 }
    }
}

impl Page {
    /// A page.
    pub fn new(offset: u64, limit: usize) -> Self {
        Self { offset, limit }
    }

    pub(super) fn check(self) -> Result<Self> {
        check_limit(self.limit).map(|()| self)
    }

    /// Whether the next of something belongs to it, of which so many were before and so many are
    /// kept.
    pub(super) fn takes(self, before: u64, kept: usize) -> bool {
        before >= self.offset && kept < self.limit
    }

    pub(super) fn has_more(self, kept: usize, total: u64) -> bool {
        self.offset + (kept as u64) < total
    }
}

/// Names that are counted one by one; more of them together.
const NAMES: usize = 200;

/// Characters of such a name.
const NAME: usize = 100;

/// How often each of some names was met.
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
        let name = label(name, NAME);
        if self.names.len() < NAMES || self.names.contains_key(&name) {
            *self.names.entry(name).or_default() += 1;
        } else {
            self.other += 1;
        }
    }
}

/// Goes through events, of each looking at the known members and some more.
pub(super) fn each_event(
    log: &Log,
    layout: &Layout,
    more: &[(FieldPath, usize)],
    watch: &Watch<'_>,
    take: impl FnMut(&Found, Record) -> Result<Flow>,
) -> Result<Damage> {
    let known = Known::and(layout, more);
    each_found(log, known.fields(), &|_| true, watch, take)
}

/// Paths with dots, which are right, of each at most so many characters.
pub(super) fn paths(paths: &[(&str, usize)]) -> Vec<(FieldPath, usize)> {
    paths.iter().map(|(path, cap)| (FieldPath::of(path.split('.')), *cap)).collect()
}
