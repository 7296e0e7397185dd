//! Counting without paths: structure, types, and repeated names, or repeated names alone.

use super::walk::{Core, Walk};
use trommel_reader::{Kind, NameTokens};

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
            walk.repeats.begin(&mut self.sequences);
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

    /// Counts the repeated names among many names and brackets.
    pub(super) fn names_alone(&mut self, walk: &mut Walk, names: &NameTokens<'_>) {
        let limit = self.options.limits.open_names_bytes;
        for (number, &start) in names.starts().iter().enumerate() {
            match names.bytes()[usize::from(start)] {
                b'"' => {
                    let start = usize::from(start) + 1;
                    if !walk.repeats.predicted(names.bytes(), start, &mut self.sequences) {
                        walk.repeats.name(names.name(number).decode().as_bytes(), &mut self.sequences, limit);
                    }
                }
                b'{' => {
                    walk.depth += 1;
                    walk.repeats.begin(&mut self.sequences);
                }
                b'}' => {
                    walk.depth -= 1;
                    self.end_names(walk);
                }
                b'[' => walk.depth += 1,
                _ => walk.depth -= 1,
            }
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
