//! Open containers, where plain paths follow their tree.

/// A container on the way down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) node: u32,
    pub(crate) start: u64,
    pub(crate) object: bool,
    /// The number of containers open around it.
    pub(crate) floor: u32,
    /// Index of the next element.
    pub(crate) index: u64,
    /// A bit for each of the node's names that was found.
    pub(crate) found: u64,
    pub(crate) held: bool,
}
