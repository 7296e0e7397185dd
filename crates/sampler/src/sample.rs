/// A selected candidate with its position in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Item<T> {
    /// The number of candidates before it in the whole stream, skipped ones included.
    pub index: u64,
    /// The value built for it.
    pub value: T,
}

impl<T> Item<T> {
    /// Adds `by` candidates before the item.
    pub(crate) fn shift(&mut self, by: u64) {
        self.index = self.index.saturating_add(by);
    }
}

/// The result of a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Sample<T> {
    /// The selected candidates in the order of the stream.
    pub items: Vec<Item<T>>,
    /// The size of the population: the number of candidates offered or skipped.
    pub seen: u64,
}

impl<T> Sample<T> {
    /// Sorts items into the order of the stream.
    pub(crate) fn new(mut items: Vec<Item<T>>, seen: u64) -> Self {
        items.sort_by_key(|item| item.index);
        Self { items, seen }
    }

    /// Returns the indices of the selected candidates, ascending.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = u64> {
        self.items.iter().map(|item| item.index)
    }

    /// Returns the values of the selected candidates, in the order of the stream.
    pub fn into_values(self) -> impl ExactSizeIterator<Item = T> {
        self.items.into_iter().map(|item| item.value)
    }
}
