//! The options of a plan, and the properties that a plan reports.

/// The number of a query in its plan, counted from 0 in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueryId(pub(crate) u32);

impl QueryId {
    /// Returns the number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The order in which the nodes of a query are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The order of RFC 9535's node lists. Where the input has another order, matches carry keys to
    /// sort them by.
    #[default]
    Rfc,
    /// The order in which nodes start in the input.
    Document,
    /// Any order. A node that a query selects several times is entered once, with its number of
    /// occurrences.
    Any,
}

/// The members that a name selects in an object that repeats the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Duplicates {
    /// The first member. The matcher does not search for a second one, so it can leave a decided
    /// record early.
    #[default]
    First,
    /// The last member, as in most parsers. Each object in which a name is selected is read to its
    /// end and then again, so a stream has to hold it.
    Last,
    /// All members of that name.
    All,
}

/// The way in which a plan reads its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a query has these three ways to read its input")]
pub enum Pass {
    /// Every byte is read once, and matches come in the requested order.
    Single,
    /// Filters read their candidates ahead, and then the matcher reads them again.
    Lookahead,
    /// Earlier parts of the document are read again: for `$` in a filter, the length of an array,
    /// or an order other than the input's.
    Rescan,
}

/// The options with which queries are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanOptions {
    /// The order of each query's nodes.
    pub order: Order,
    /// The policy for repeated names in an object.
    pub duplicates: Duplicates,
}

impl PlanOptions {
    /// Returns the defaults: RFC order, and the first member of a repeated name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Sets the policy for repeated names.
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }
}
