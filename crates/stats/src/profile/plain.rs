//! Counting without paths: structure, types, and repeated names, or repeated names alone.

use super::walk::{Core, Walk};
use trommel_reader::Kind;

impl Core {
    #[inline]
    pub(super) fn count_plain(&mut self, walk: &Walk, kind: Kind) {
        if !self.options.counts {
            return;
        }
        self.totals.kinds.observe(kind);
        self.totals.max_depth = self.totals.max_depth.max(walk.depth + 1);
        if walk.depth == 0 {
            self.totals.records += 1;
            self.totals.roots.insert(kind);
        }
    }

    #[inline]
    pub(super) fn begin_plain(&mut self, walk: &mut Walk, kind: Kind) {
        self.count_plain(walk, kind);
        walk.depth += 1;
        if kind == Kind::Object && self.options.counts_repeats() {
            walk.repeats.begin();
        }
    }

    #[inline]
    pub(super) fn end_plain(&mut self, walk: &mut Walk, kind: Kind) {
        walk.depth -= 1;
        if kind == Kind::Object {
            self.end_names(walk);
        }
    }

    #[inline]
    pub(super) fn name_plain(&mut self, walk: &mut Walk, name: &[u8]) {
        self.totals.keys += u64::from(self.options.counts);
        if self.options.counts_repeats() {
            walk.repeats.name(name, &mut self.sequences, self.options.limits.open_names_bytes);
        }
    }

    pub(super) fn close_plain(&mut self, walk: &mut Walk) {
        while self.end_names(walk) {}
        walk.depth = 0;
    }

    /// Ends the innermost object. Returns false if no object is open.
    fn end_names(&mut self, walk: &mut Walk) -> bool {
        let Some((count, missed)) = walk.repeats.end(&mut self.sequences) else { return false };
        self.totals.duplicates += count;
        self.totals.missed |= missed;
        true
    }
}
