//! What a search for the members of one name knows.

use trommel_scan::Needle;

/// A name to be looked for at any depth with [`Cursor::seek_name`](crate::Cursor::seek_name), and where the containers that
/// are open began.
#[derive(Clone, Debug)]
pub struct Seek {
    pub(crate) needle: Needle,
    /// Absolute offsets of the open containers, outermost first. Those that were entered by other moves are told of.
    pub(crate) opened: Vec<u64>,
    pub(crate) lowest: u32,
}

impl Seek {
    /// A search for members of this name, in whatever way it is spelt.
    pub fn new(name: &str) -> Self {
        Self { needle: Needle::new(name), opened: Vec::new(), lowest: 0 }
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.needle.name()
    }

    /// Tells where the container begins that was entered by another move, and made so many open.
    pub fn entered(&mut self, depth: u32, start: u64) {
        let Some(level) = (depth as usize).checked_sub(1) else { return };
        if self.opened.len() <= level {
            self.opened.resize(level + 1, 0);
        }
        if let Some(opened) = self.opened.get_mut(level) {
            *opened = start;
        }
        self.lowest = self.lowest.min(depth);
    }

    /// Absolute offset of the opening bracket of the open container that is so many deep, the outermost one being 1.
    pub fn start_of(&self, depth: u32) -> u64 {
        let level = (depth as usize).checked_sub(1);
        level.and_then(|level| self.opened.get(level)).copied().unwrap_or(0)
    }

    /// The fewest containers that were open at once since [`mark`](Self::mark).
    pub fn lowest(&self) -> u32 {
        self.lowest
    }

    /// Begins anew to look for the fewest open containers, of which there are now so many.
    pub fn mark(&mut self, depth: u32) {
        self.lowest = depth;
    }
}
