//! The kinds of open containers: one bit per level, in words that are reused between records.

/// The kinds of the open containers, innermost last.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    words: Vec<u64>,
    depth: u32,
}

impl Stack {
    /// The number of levels in one word.
    pub(crate) const SHALLOW: u32 = 64;

    /// The number of open containers.
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Opens an object, or an array.
    #[inline]
    pub fn push(&mut self, object: bool) {
        self.depth += 1;
        self.put(self.depth, object);
    }

    /// Closes the innermost container.
    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(self.depth > 0, "a container is open");
        // Not checked in release builds, because this runs for each bracket.
        self.depth = self.depth.saturating_sub(1);
    }

    /// Sets the kind of the container at this depth, which is open or about to be opened.
    #[inline]
    pub(crate) fn put(&mut self, depth: u32, object: bool) {
        debug_assert!(depth > 0, "the outermost container is one deep");
        let level = depth.saturating_sub(1);
        let (word, bit) = (level as usize / 64, level % 64);
        if word >= self.words.len() {
            self.grow(word + 1);
        }
        let bits = &mut self.words[word];
        *bits = *bits & !(1 << bit) | u64::from(object) << bit;
    }

    #[cold]
    fn grow(&mut self, words: usize) {
        self.words.resize(words, 0);
    }

    /// The number of objects among the outermost containers, down to this depth or to
    /// [`SHALLOW`](Self::SHALLOW).
    #[inline]
    pub(crate) fn shallow_objects(&self, depth: u32) -> u32 {
        // `words` is empty until the first container is opened.
        let bits = self.words.first().map_or(0, |bits| *bits);
        if depth < Self::SHALLOW { (bits & ((1 << depth) - 1)).count_ones() } else { bits.count_ones() }
    }

    /// The number of objects among the containers below `above`, down to `depth`; zero if that is
    /// not deeper. Linear in the levels between.
    #[inline]
    pub(crate) fn objects(&self, above: u32, depth: u32) -> u32 {
        let below = |level: u32| (level as usize / 64, (1_u64 << (level % 64)) - 1);
        let ((from, skipped), (to, rest)) = (below(above), below(depth));
        let (mut objects, mut index) = (0, from);
        while index <= to && above < depth {
            // Levels that were never open have no word, and no object.
            let Some(&(mut bits)) = self.words.get(index) else { break };
            if index == from {
                bits &= !skipped;
            }
            if index == to {
                bits &= rest;
            }
            objects += bits.count_ones();
            index += 1;
        }
        objects
    }

    /// Returns to an earlier depth. Levels below it keep their kinds until they are overwritten.
    pub fn set_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// Makes this stack equal to another one from a level on. Lower levels are undefined
    /// afterwards, unless they were equal before. Linear in the levels from there on.
    pub fn copy_above(&mut self, other: &Self, level: u32) {
        let (from, to) = (level as usize / 64, (other.depth as usize).div_ceil(64));
        if self.words.len() < to {
            self.words.resize(to, 0);
        }
        if from < to {
            self.words[from..to].copy_from_slice(&other.words[from..to]);
        }
        self.depth = other.depth;
    }

    /// True if the innermost open container is an object.
    #[inline]
    pub fn in_object(&self) -> bool {
        self.object_at(self.depth) == Some(true)
    }

    /// True if the open container at this depth, counted from 1, is an object; `None` if none is
    /// open there.
    #[inline]
    pub fn object_at(&self, depth: u32) -> Option<bool> {
        if depth > self.depth {
            return None;
        }
        let level = depth.checked_sub(1)?;
        Some(self.words[level as usize / 64] >> (level % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_between_two_depths() {
        let is_object = |level: u32| level.is_multiple_of(3) || level > 130;
        let mut stack = Stack::default();
        (0..200).for_each(|level| stack.push(is_object(level)));
        // Levels beyond the last word are not objects.
        let count =
            |above: u32, depth: u32| (above..depth.min(200)).filter(|&level| is_object(level)).count() as u32;
        for above in 0..=260 {
            for depth in 0..=200 {
                assert_eq!(stack.objects(above, depth), count(above, depth), "{above} {depth}");
            }
            assert_eq!(stack.shallow_objects(above), count(0, above.min(Stack::SHALLOW)), "{above}");
        }
    }
}
