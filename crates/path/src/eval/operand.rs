//! Sides of a comparison.

use std::borrow::Cow;
use std::cmp::Ordering;

use trommel_reader::{Cursor, Result, Span, Text, View};

use super::equal;
use trommel_query::{Comparison, Literal};
use trommel_query::{compare_numbers, compare_strings};

/// A value, by where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operand<'e> {
    /// There is no value (section 2.3.5.2.2).
    Nothing,
    Literal(&'e Literal),
    /// A node of the document, whose bytes are held.
    Node(Span),
    Count(u64),
}

/// A value that is no container, or the bytes of one that is.
#[derive(Debug)]
pub(super) enum Item<'e> {
    Null,
    Bool(bool),
    Number(Lexeme<'e>),
    String(Cow<'e, str>),
    Container(View<'e>),
}

/// A number as it is written.
#[derive(Debug)]
pub(super) enum Lexeme<'e> {
    Text(&'e str),
    /// The last so many of the bytes are the digits of a count.
    Count([u8; COUNT_DIGITS], usize),
}

/// Digits of the largest count.
const COUNT_DIGITS: usize = 20;

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
            Self::Node(span) => Item::of(View::at(cursor.bytes(span).unwrap_or_default(), span.start)),
        })
    }

    /// The text, if it is a string.
    pub(super) fn text<'b>(&self, cursor: &'b Cursor<'_>) -> Option<Cow<'b, str>>
    where
        'e: 'b,
    {
        match self.item(cursor) {
            Some(Item::String(text)) => Some(text),
            _ => None,
        }
    }

    /// `length(…)` (section 2.4.4): characters, elements or members; Nothing for what has no length.
    pub(super) fn length(&self, cursor: &Cursor<'_>) -> Result<Self> {
        Ok(match self.item(cursor) {
            Some(Item::String(text)) => Self::Count(text.chars().count() as u64),
            Some(Item::Container(view)) => Self::Count(equal::children(view)?),
            _ => Self::Nothing,
        })
    }
}

impl<'e> Item<'e> {
    /// The value whose bytes these are. A scalar's have passed the grammar: no scalar is skipped unseen.
    pub(super) fn of(view: View<'e>) -> Self {
        let bytes = view.bytes();
        match bytes {
            [b'{' | b'[', ..] => Self::Container(view),
            [b'"', inside @ .., b'"'] => {
                Self::String(Text::from_raw(inside, memchr::memchr(b'\\', inside).is_some()).decode())
            }
            [b't' | b'f', ..] => Self::Bool(bytes == b"true"),
            [b'-' | b'0'..=b'9', ..] => {
                Self::Number(Lexeme::Text(std::str::from_utf8(bytes).unwrap_or_default()))
            }
            _ => Self::Null,
        }
    }

    /// Order, for numbers and for strings; no others have one.
    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => Some(compare_numbers(left.as_str(), right.as_str())),
            (Self::String(left), Self::String(right)) => Some(compare_strings(left, right)),
            _ => None,
        }
    }

    /// Equality; of a repeated name the first member counts, or the last.
    pub(super) fn equals(&self, other: &Self, last: bool) -> Result<bool> {
        Ok(match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Container(left), Self::Container(right)) => equal::containers(*left, *right, last)?,
            _ => self.order(other) == Some(Ordering::Equal),
        })
    }
}

impl Lexeme<'_> {
    fn of_count(mut count: u64) -> Self {
        let mut digits = [b'0'; COUNT_DIGITS];
        let mut length = 1;
        for (at, digit) in digits.iter_mut().rev().enumerate() {
            *digit = b'0' + (count % 10) as u8;
            count /= 10;
            if *digit != b'0' {
                length = at + 1;
            }
        }
        Self::Count(digits, length)
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Count(digits, length) => {
                let digits = digits.get(COUNT_DIGITS - length..).unwrap_or_default();
                std::str::from_utf8(digits).unwrap_or_default()
            }
        }
    }
}

/// A comparison by section 2.3.5.2.2.
pub(super) fn compare(
    [left, right]: [&Operand<'_>; 2],
    op: Comparison,
    last: bool,
    cursor: &Cursor<'_>,
) -> Result<bool> {
    let (left, right) = (left.item(cursor), right.item(cursor));
    let equal = || match (&left, &right) {
        (None, None) => Ok(true),
        (Some(left), Some(right)) => left.equals(right, last),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_as_numbers() {
        for count in [0, 1, 9, 10, 100, 90_210, u64::MAX] {
            assert_eq!(Lexeme::of_count(count).as_str(), count.to_string());
        }
    }
}
