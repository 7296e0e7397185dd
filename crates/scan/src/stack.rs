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
        self.depth += 1;
        self.put(self.depth, object);
    }

    /// Closes the innermost one, if any.
    #[inline]
    pub fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Says what the container is that is so many deep, whether it is open or about to be.
    #[inline]
    pub(crate) fn put(&mut self, depth: u32, object: bool) {
        let level = depth.saturating_sub(1);
        let (word, bit) = (level as usize / 64, level % 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if let Some(bits) = self.words.get_mut(word) {
            *bits = *bits & !(1 << bit) | u64::from(object) << bit;
        }
    }

    /// How many of the open containers are objects.
    #[inline]
    pub(crate) fn objects(&self) -> u32 {
        let (whole, rest) = (self.depth as usize / 64, self.depth % 64);
        let last = self.words.get(whole).map_or(0, |bits| (bits & ((1 << rest) - 1)).count_ones());
        self.words.iter().take(whole).map(|bits| bits.count_ones()).sum::<u32>() + last
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
