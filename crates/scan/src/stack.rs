//! Which containers are open: one bit a level, in words that are kept from record to record.

/// The kinds of the open containers, innermost last.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    words: Vec<u64>,
    depth: u32,
}

impl Stack {
    /// The depth that one word holds.
    pub(crate) const SHALLOW: u32 = 64;

    /// How many are open.
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Opens an object, or an array.
    #[inline]
    pub fn push(&mut self, object: bool) {
        self.depth += 1;
        self.put(self.depth, object);
    }

    /// Closes the innermost one.
    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(self.depth > 0, "a container is open");
        // A release build does not check it, as this runs for each bracket.
        self.depth = self.depth.saturating_sub(1);
    }

    /// Says what the container is that is so many deep, whether it is open or about to be.
    #[inline]
    pub(crate) fn put(&mut self, depth: u32, object: bool) {
        debug_assert!(depth > 0, "the outermost container is one deep");
        let level = depth.saturating_sub(1);
        let (word, bit) = (level as usize / 64, level % 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let bits = &mut self.words[word];
        *bits = *bits & !(1 << bit) | u64::from(object) << bit;
    }

    /// How many of the outermost containers are objects, down to a depth or to
    /// [`SHALLOW`](Self::SHALLOW).
    #[inline]
    pub(crate) fn shallow_objects(&self, depth: u32) -> u32 {
        // There is no word before the first container is opened.
        let bits = self.words.first().map_or(0, |bits| *bits);
        if depth < Self::SHALLOW { (bits & ((1 << depth) - 1)).count_ones() } else { bits.count_ones() }
    }

    /// How many of the containers from one depth down to another are objects; none if the other is
    /// no deeper. Linear in the levels between.
    #[inline]
    pub(crate) fn objects(&self, above: u32, depth: u32) -> u32 {
        let below = |level: u32| (level as usize / 64, (1_u64 << (level % 64)) - 1);
        let ((from, passed), (to, rest)) = (below(above), below(depth));
        let (mut objects, mut index) = (0, from);
        while index <= to && above < depth {
            // Levels that were never open have no word, and no object.
            let Some(&(mut bits)) = self.words.get(index) else { break };
            if index == from {
                bits &= !passed;
            }
            if index == to {
                bits &= rest;
            }
            objects += bits.count_ones();
            index += 1;
        }
        objects
    }

    /// Goes back to an earlier depth. Levels that were left stay as they were until something is
    /// pushed over them.
    pub fn set_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// Opens and closes what it takes to be like another stack from some level on. What it says of
    /// lower levels means nothing afterwards, unless it was like the other there before. Linear in
    /// the levels from there on.
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

    /// Whether the innermost open container is an object.
    #[inline]
    pub fn in_object(&self) -> bool {
        self.object_at(self.depth) == Some(true)
    }

    /// Whether the open container is an object that is so many deep, counted from 1.
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
        // What is behind its last word is none.
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
