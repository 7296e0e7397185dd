//! Sides of comparisons, and arguments of functions.

use std::borrow::Cow;
use std::cmp::Ordering;

use trommel_query::{Comparison, Literal};
use trommel_reader::{Cursor, Result, Span, View};

use super::equal;
use super::item::{Item, Lexeme};

/// A value. A node is represented by its span in the document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operand<'e> {
    /// The absence of a value (section 2.3.5.2.2).
    Nothing,
    Literal(&'e Literal),
    /// A node of the document, whose bytes the cursor holds.
    Node(Span),
    Count(u64),
}

/// The sides of a comparison.
pub(super) struct ComparisonSides<'e> {
    pub(super) left: Operand<'e>,
    pub(super) right: Operand<'e>,
}

impl<'e> Operand<'e> {
    fn item<'b>(&self, cursor: &'b Cursor<'_>) -> Option<Item<'b>>
    where
        'e: 'b,
    {
        Some(match *self {
            Self::Nothing => return None,
            Self::Count(count) => Item::Number(Lexeme::of_count(count)),
            Self::Literal(Literal::Null) => Item::Null,
            Self::Literal(Literal::Bool(value)) => Item::Bool(*value),
            Self::Literal(Literal::Number(lexeme)) => Item::Number(Lexeme::Text(lexeme)),
            Self::Literal(Literal::String(text)) => Item::String(Cow::Borrowed(text)),
            Self::Node(span) => Item::of(node(span, cursor)),
        })
    }

    /// Returns the text of a string, and `None` for other values.
    pub(super) fn text<'b>(&self, cursor: &'b Cursor<'_>) -> Option<Cow<'b, str>>
    where
        'e: 'b,
    {
        match self.item(cursor) {
            Some(Item::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Evaluates `length(…)` (section 2.4.4): the number of characters, elements, or members.
    /// Nothing for other values.
    pub(super) fn length(&self, cursor: &Cursor<'_>) -> Result<Self> {
        Ok(match self.item(cursor) {
            Some(Item::String(text)) => Self::Count(text.chars().count() as u64),
            Some(Item::Container(view)) => Self::Count(equal::children(view)?),
            _ => Self::Nothing,
        })
    }
}

/// Returns the bytes of a node, which the cursor holds while a filter is evaluated.
#[expect(clippy::expect_used, reason = "the cursor holds the nodes of filters")]
fn node<'b>(span: Span, cursor: &'b Cursor<'_>) -> View<'b> {
    View::at(cursor.bytes(span).expect("the bytes of a filter's node are held"), span.start)
}

impl ComparisonSides<'_> {
    /// Compares according to section 2.3.5.2.2. If `last` is true, objects are compared by the last
    /// member of each name.
    pub(super) fn compare(&self, op: Comparison, last: bool, cursor: &Cursor<'_>) -> Result<bool> {
        let (left, right) = (self.left.item(cursor), self.right.item(cursor));
        let equal = || match (&left, &right) {
            (None, None) => Ok(true),
            (Some(left), Some(right)) => equal::items(left, right, last),
            _ => Ok(false),
        };
        let less = |left: &Option<Item<'_>>, right: &Option<Item<'_>>| match (left, right) {
            (Some(left), Some(right)) => left.order(right) == Some(Ordering::Less),
            _ => false,
        };
        Ok(match op {
            Comparison::Equal => equal()?,
            Comparison::NotEqual => !equal()?,
            Comparison::Less => less(&left, &right),
            Comparison::Greater => less(&right, &left),
            Comparison::LessOrEqual => less(&left, &right) || equal()?,
            Comparison::GreaterOrEqual => less(&right, &left) || equal()?,
        })
    }
}
