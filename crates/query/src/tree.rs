//! The syntax tree of a query, with the terms of RFC 9535.
//!
//! The tree is at most [`QueryLimits::nesting`](crate::QueryLimits::nesting) levels deep, so
//! walking and dropping it takes bounded stack.

use std::cmp::Ordering;

use crate::function::{Function, Parameter};

/// A valid, well-typed query (RFC 9535).
///
/// Parse one with [`FromStr`](std::str::FromStr) or [`parse_with`](Self::parse_with).
/// [`Display`](std::fmt::Display) writes the canonical form, which parses to an equal query.
///
/// Queries that differ only in notation are equal: quotes, escapes, white space, shorthand, and
/// redundant parentheses are not kept. Numbers in filters are kept as written, since `1.0` and `1`
/// are one value but two lexemes.
///
/// ```
/// use trommel_query::Query;
///
/// let query: Query = "$.store..book[?@.price < 10 && (@.isbn)].title".parse()?;
/// assert_eq!(query.to_string(), "$['store']..['book'][?@['price'] < 10 && @['isbn']]['title']");
/// assert!(!query.is_singular());
/// # Ok::<(), trommel_query::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    segments: Segments,
}

impl Query {
    /// Returns the query `$`, which selects the root node.
    pub const fn root() -> Self {
        Self { segments: Segments(Vec::new()) }
    }

    /// Returns the segments after `$`.
    pub const fn segments(&self) -> &Segments {
        &self.segments
    }

    /// True if the query selects at most one node: it has only child segments, each with a single
    /// name or index (section 2.3.5.1).
    pub fn is_singular(&self) -> bool {
        self.segments.is_singular()
    }

    /// Returns the name in the last segment whose only selector is a name: `price` for
    /// `$.items[*].price`, and `tags` for `$.tags[*]`.
    ///
    /// ```
    /// use trommel_query::Query;
    ///
    /// for (query, name) in [("$.a['b c'][0]", Some("b c")), ("$[*]", None), ("$['a','b']", None)] {
    ///     assert_eq!(query.parse::<Query>()?.last_name(), name);
    /// }
    /// # Ok::<(), trommel_query::ParseError>(())
    /// ```
    pub fn last_name(&self) -> Option<&str> {
        self.segments.0.iter().rev().find_map(|segment| match segment.selectors.as_slice() {
            [Selector::Name(name)] => Some(name.as_str()),
            _ => None,
        })
    }

    /// Appends a child segment with one selector.
    #[must_use]
    pub fn with_child(self, selector: Selector) -> Self {
        self.with_children(vec![selector])
    }

    /// Returns the query with another child segment, which has at least one selector.
    #[must_use]
    pub fn with_children(mut self, selectors: Vec<Selector>) -> Self {
        self.segments.0.push(Segment { descendant: false, selectors });
        self
    }

    /// Appends the segments of another query, which is then applied to each node of this one.
    ///
    /// ```
    /// use trommel_query::Query;
    ///
    /// let rows: Query = "$.rows[*]".parse()?;
    /// assert_eq!(rows.joined(&"$.id".parse()?).to_string(), "$['rows'][*]['id']");
    /// # Ok::<(), trommel_query::ParseError>(())
    /// ```
    #[must_use]
    pub fn joined(mut self, within: &Self) -> Self {
        self.segments.0.extend_from_slice(&within.segments.0);
        self
    }

    /// Appends `[*]`, which selects all children of the nodes so far.
    #[must_use]
    pub fn with_wildcard(self) -> Self {
        self.with_child(Selector::Wildcard)
    }

    /// Replaces a last segment `[*]` by the slice of elements from `start` to `end`, without `end`.
    /// Without such a segment, the query stays as it is.
    #[must_use]
    pub fn with_last_slice(mut self, start: u64, end: u64) -> Self {
        let bound = |index: u64| Some(i64::try_from(index).unwrap_or(i64::MAX));
        if let Some(last) = self.segments.0.last_mut()
            && !last.descendant
            && last.selectors == [Selector::Wildcard]
        {
            last.selectors = vec![Selector::Slice(Slice { start: bound(start), end: bound(end), step: 1 })];
        }
        self
    }

    /// Appends `[?filter]`, which selects the children for which the filter holds.
    #[must_use]
    pub fn with_filter(self, filter: Logical) -> Self {
        self.with_child(Selector::Filter(Box::new(filter)))
    }
}

/// The segments after `$` or `@`. Each is applied to every node that the previous one selected
/// (section 2.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Segments(pub(crate) Vec<Segment>);

/// One segment (section 2.5).
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// True for `..[…]`, which searches the node and all its descendants instead of only its
    /// children.
    pub descendant: bool,
    /// At least one selector. The node lists of several selectors are concatenated in this order.
    pub selectors: Vec<Selector>,
}

/// One selector (section 2.3).
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "RFC 9535 defines these, and an evaluator must handle all of them"
)]
pub enum Selector {
    /// `'name'`: the member of that name. The text is unescaped.
    Name(String),
    /// `*`: all members or elements.
    Wildcard,
    /// `3` or `-1`: one element, counted from the end if negative.
    Index(i64),
    /// `start:end:step`
    Slice(Slice),
    /// `?…`: the members or elements for which the expression holds.
    Filter(Box<Logical>),
}

/// An array slice (section 2.3.4), as written; a step of zero selects nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The first index, if given.
    pub start: Option<i64>,
    /// The index at which the slice stops, exclusive in the direction of the step, if given.
    pub end: Option<i64>,
    /// The distance between selected elements; 1 if not given.
    pub step: i64,
}

impl Slice {
    /// The slice that selects all elements in order.
    pub const ALL: Self = Self { start: None, end: None, step: 1 };
}

/// A logical expression (section 2.3.5).
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "RFC 9535 defines these, and an evaluator must handle all of them"
)]
pub enum Logical {
    /// Two or more operands of `||`.
    Or(Vec<Logical>),
    /// Two or more operands of `&&`.
    And(Vec<Logical>),
    /// `!…`
    Not(Box<Logical>),
    /// A query alone. It holds if the query selects at least one node.
    Exists(FilterQuery),
    /// `left op right`
    Compare {
        /// The left side.
        left: Comparable,
        /// The operator.
        op: Comparison,
        /// The right side.
        right: Comparable,
    },
    /// A function with a logical result, such as `match(…)`.
    Test(FunctionCall),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the RFC defines these six")]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// Compares two strings by their Unicode scalar values, which is the order of their UTF-8 bytes
/// (section 2.3.5.2.2).
///
/// ```
/// use std::cmp::Ordering;
///
/// // Unlike UTF-16 code units, where the surrogates of U+1F600 come before U+FF5E.
/// assert_eq!(trommel_query::compare_strings("\u{ff5e}", "\u{1f600}"), Ordering::Less);
/// ```
pub fn compare_strings(left: &str, right: &str) -> Ordering {
    left.as_bytes().cmp(right.as_bytes())
}

/// A side of a comparison, or an argument of type `ValueType` (section 2.4.1).
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "RFC 9535 defines these, and an evaluator must handle all of them"
)]
pub enum Comparable {
    /// A literal.
    Literal(Literal),
    /// The value of a singular query, or Nothing.
    Singular(FilterQuery),
    /// A function with a value as its result, such as `length(…)`.
    Call(FunctionCall),
}

/// A call of a function.
///
/// The parser returns only well-typed calls: one argument of a valid type for each parameter, in a
/// [`Comparable`] or a test as the result type requires. A program can also construct an ill-typed
/// call, which has no value and does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionCall {
    /// The function.
    pub function: Function,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "RFC 9535 defines these parameter types")]
pub enum Argument {
    /// A value, for [`Parameter::Value`] and [`Parameter::Pattern`].
    Value(Comparable),
    /// Nodes, for [`Parameter::NodeCount`] and [`Parameter::OnlyNode`].
    Nodes(FilterQuery),
}

/// A literal in a filter. Numbers are kept as written.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the scalar types of JSON")]
pub enum Literal {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The lexeme, valid by the JSON grammar.
    Number(String),
    /// The text, unescaped.
    String(String),
}

/// A query inside a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterQuery {
    /// True for `$…`, false for `@…`.
    pub absolute: bool,
    /// The segments after `$` or `@`.
    pub segments: Segments,
}

impl FromIterator<Segment> for Segments {
    fn from_iter<I: IntoIterator<Item = Segment>>(segments: I) -> Self {
        Self(segments.into_iter().collect())
    }
}

impl From<Segments> for Query {
    fn from(segments: Segments) -> Self {
        Self { segments }
    }
}

impl Segments {
    /// Iterates over the segments in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Segment> {
        self.0.iter()
    }

    /// True if the segments select at most one node: they are child segments, each with a single
    /// name or index (section 2.3.5.1).
    pub fn is_singular(&self) -> bool {
        self.iter().all(|segment| {
            !segment.descendant
                && matches!(segment.selectors.as_slice(), [Selector::Name(_) | Selector::Index(_)])
        })
    }
}

impl FunctionCall {
    /// Pairs each argument with the type of its parameter. Arguments beyond the last parameter are
    /// omitted.
    pub fn typed_arguments(&self) -> impl Iterator<Item = (&Argument, Parameter)> {
        let parameters = self.function.signature().parameters.iter();
        self.arguments.iter().zip(parameters.map(|(_, parameter)| *parameter))
    }
}
