//! What a caller chooses for a plan, and what a plan reports of itself.

/// The number of a query in its plan, counted from 0 in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueryId(pub(crate) u32);

impl QueryId {
    /// The number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The order in which the nodes of one query are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The order of RFC 9535's node lists. Matches carry keys to be sorted by where the input has
    /// another order.
    #[default]
    Rfc,
    /// The order in which nodes start in the input.
    Document,
    /// Any order; a node that a query selects several times is entered once, with its number of
    /// times.
    Any,
}

/// Which members a name selects when an object has several of that name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Duplicates {
    /// The first. Nothing looks for a second, so that what is decided can be left.
    #[default]
    First,
    /// The last, as most parsers have it. Each object in which a name is selected is read ahead to
    /// its end, and then again: a stream keeps it meanwhile.
    Last,
    /// All of them.
    All,
}

/// What a plan needs from its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "the three ways a query can look at its input")]
pub enum Pass {
    /// Every byte is read once, and matches come in the order wanted.
    Single,
    /// The candidates of filters are read, then read again.
    Lookahead,
    /// Earlier parts of the document must be read again: for `$` in a filter, the length of an
    /// array, or an order that is not the input's.
    Rescan,
}

/// How the queries are to be matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanOptions {
    /// Order of each query's nodes.
    pub order: Order,
    /// Policy for repeated names in an object.
    pub duplicates: Duplicates,
}

impl PlanOptions {
    /// The order of the RFC, names taken as unique.
    pub fn new() -> Self {
        Self::default()
    }

    /// With this order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// With this policy for repeated names.
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }
}
