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
