//! Which containers are open: one bit a level, in words that are kept from record to record.

/// The kinds of the open containers, innermost last.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    words: Vec<u64>,
    depth: u32,
}

impl Stack {
    /// How many are open.
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Opens an object, or an array.
    #[inline]
    pub fn push(&mut self, object: bool) {
        let (word, bit) = (self.depth as usize / 64, self.depth % 64);
        if word == self.words.len() {
            self.words.push(0);
        }
        if let Some(bits) = self.words.get_mut(word) {
            *bits = *bits & !(1 << bit) | u64::from(object) << bit;
        }
        self.depth += 1;
    }

    /// Closes the innermost one, if any.
    #[inline]
    pub fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Goes back to an earlier depth. Levels that were left stay as they were until something is pushed over them.
    pub fn set_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// Opens and closes what it takes to be like another stack from some level on. What it says of lower levels means nothing
    /// afterwards, unless it was like the other there before. Linear in the levels from there on.
    pub fn copy_above(&mut self, other: &Self, level: u32) {
        let (from, to) = (level as usize / 64, (other.depth as usize).div_ceil(64));
        if self.words.len() < to {
            self.words.resize(to, 0);
        }
        if let (Some(own), Some(others)) = (self.words.get_mut(from..to), other.words.get(from..to)) {
            own.copy_from_slice(others);
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
        let level = depth.checked_sub(1).filter(|_| depth <= self.depth)?;
        self.words.get(level as usize / 64).map(|bits| bits >> (level % 64) & 1 == 1)
    }
}
