//! The syntax tree of a query, in the words of RFC 9535.
//!
//! The tree nests at most as deep as [`QueryLimits::nesting`](crate::QueryLimits::nesting), so that
//! walking and dropping it is bounded whatever the text was.

use std::cmp::Ordering;

use crate::function::{Function, Parameter};

/// A valid, well-typed query (RFC 9535).
///
/// Parse one with [`FromStr`](std::str::FromStr) or [`parse_with`](Self::parse_with);
/// [`Display`](std::fmt::Display) writes its canonical spelling, which parses to an equal query.
/// Two spellings of one query are equal: quotes, escapes, white space, shorthand and needless
/// parentheses are not kept. Numbers in filters are kept as written, since `1.0` and `1` are one
/// value but two texts.
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
    /// `$`: the root node.
    pub const fn root() -> Self {
        Self { segments: Segments(Vec::new()) }
    }

    /// The segments after `$`.
    pub const fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Whether at most one node can be selected: only child segments, each of one name or index
    /// (section 2.3.5.1).
    pub fn is_singular(&self) -> bool {
        self.segments.is_singular()
    }

    /// The query followed by a child segment of one selector.
    #[must_use]
    pub fn with_child(mut self, selector: Selector) -> Self {
        self.segments.0.push(Segment { descendant: false, selectors: vec![selector] });
        self
    }

    /// The query followed by `[*]`: all children of its nodes.
    #[must_use]
    pub fn with_wildcard(self) -> Self {
        self.with_child(Selector::Wildcard)
    }

    /// The query followed by `[?filter]`: those children of its nodes for which the filter holds.
    #[must_use]
    pub fn with_filter(self, filter: Logical) -> Self {
        self.with_child(Selector::Filter(Box::new(filter)))
    }
}

/// What follows `$` or `@`: segments, each applied to every node the one before it selected
/// (section 2.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Segments(pub(crate) Vec<Segment>);

/// One segment (section 2.5).
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// `..[…]`: the node itself and all its descendants are searched, not only its children.
    pub descendant: bool,
    /// At least one selector; the node lists of several are joined in this order.
    pub selectors: Vec<Selector>,
}

/// One selector (section 2.3).
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "RFC 9535 has these, and whoever evaluates a query must know all"
)]
pub enum Selector {
    /// `'name'`: the member of that name, escapes undone.
    Name(String),
    /// `*`: all members or elements.
    Wildcard,
    /// `3` or `-1`: one element, counted from the end when negative.
    Index(i64),
    /// `start:end:step`
    Slice(Slice),
    /// `?…`: the members or elements for which the expression holds.
    Filter(Box<Logical>),
}

/// An array slice (section 2.3.4), as written; a step of zero selects nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// First element, if given.
    pub start: Option<i64>,
    /// One past the last element in the direction of the step, if given.
    pub end: Option<i64>,
    /// Distance between elements, 1 if not given.
    pub step: i64,
}

impl Slice {
    /// The slice of all elements, in their order.
    pub const ALL: Self = Self { start: None, end: None, step: 1 };
}

/// A logical expression (section 2.3.5).
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "RFC 9535 has these, and whoever evaluates a query must know all"
)]
pub enum Logical {
    /// Two or more operands of `||`.
    Or(Vec<Logical>),
    /// Two or more operands of `&&`.
    And(Vec<Logical>),
    /// `!…`
    Not(Box<Logical>),
    /// A query alone: whether it selects any node.
    Exists(FilterQuery),
    /// `left op right`
    Compare {
        /// Left side.
        left: Comparable,
        /// The operator.
        op: Comparison,
        /// Right side.
        right: Comparable,
    },
    /// A function that yields a truth, such as `match(…)`.
    Test(FunctionCall),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the RFC has these six")]
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
    reason = "RFC 9535 has these, and whoever evaluates a query must know all"
)]
pub enum Comparable {
    /// A literal.
    Literal(Literal),
    /// A singular query: its value, or Nothing.
    Singular(FilterQuery),
    /// A function that yields a value, such as `length(…)`.
    Call(FunctionCall),
}

/// A call of a function.
///
/// The parser only returns well-typed calls: one argument of the right type for each parameter, and
/// a [`Comparable`] or a test as the result type demands. An ill-typed call that a program puts
/// together has no value, and does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionCall {
    /// The function.
    pub function: Function,
    /// Its arguments in order.
    pub arguments: Vec<Argument>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "RFC 9535 has these types of parameters")]
pub enum Argument {
    /// A value, for [`Parameter::Value`] and [`Parameter::Pattern`].
    Value(Comparable),
    /// Nodes, for [`Parameter::NodeCount`] and [`Parameter::OnlyNode`].
    Nodes(FilterQuery),
}

/// A literal in a filter. Numbers are kept as they are written.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the scalar types of JSON")]
pub enum Literal {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The lexeme, valid by the JSON grammar.
    Number(String),
    /// The text, escapes undone.
    String(String),
}

/// A query inside a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterQuery {
    /// `$…` rather than `@…`.
    pub absolute: bool,
    /// What follows.
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
    /// The segments in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Segment> {
        self.0.iter()
    }

    /// Whether at most one node can be selected: only child segments, each of one name or index
    /// (section 2.3.5.1).
    pub fn is_singular(&self) -> bool {
        self.iter().all(|segment| {
            !segment.descendant
                && matches!(segment.selectors.as_slice(), [Selector::Name(_) | Selector::Index(_)])
        })
    }
}

impl FunctionCall {
    /// The arguments, each with the type of its parameter. Arguments beyond the last parameter are
    /// left out.
    pub fn typed_arguments(&self) -> impl Iterator<Item = (&Argument, Parameter)> {
        let parameters = self.function.signature().parameters.iter();
        self.arguments.iter().zip(parameters.map(|(_, parameter)| *parameter))
    }
}
