//! Sides of a comparison.

use std::borrow::Cow;
use std::cmp::Ordering;

use trommel_reader::{Config, Cursor, Event, Kind, Payload, Result, Scalar, Span};

use super::equal;
use crate::compare::compare_numbers;
use crate::query::{Comparison, Literal};

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
    Number(Cow<'e, str>),
    String(Cow<'e, str>),
    Container(&'e [u8]),
}

impl<'e> Operand<'e> {
    fn item<'b>(&self, cursor: &'b Cursor<'_>) -> Result<Option<Item<'b>>>
    where
        'e: 'b,
    {
        Ok(Some(match *self {
            Self::Nothing => return Ok(None),
            Self::Count(count) => Item::Number(Cow::Owned(count.to_string())),
            Self::Literal(Literal::Null) => Item::Null,
            Self::Literal(Literal::Bool(value)) => Item::Bool(*value),
            Self::Literal(Literal::Number(lexeme)) => Item::Number(Cow::Borrowed(lexeme)),
            Self::Literal(Literal::String(text)) => Item::String(Cow::Borrowed(text)),
            Self::Node(span) => Item::read(cursor.bytes(span).unwrap_or_default())?,
        }))
    }

    /// The text, if it is a string.
    pub(super) fn text<'b>(&self, cursor: &'b Cursor<'_>) -> Option<Cow<'b, str>>
    where
        'e: 'b,
    {
        match self.item(cursor) {
            Ok(Some(Item::String(text))) => Some(text),
            _ => None,
        }
    }

    /// `length(…)` (section 2.4.4): characters, elements or members; Nothing for what has no length.
    pub(super) fn length(&self, cursor: &Cursor<'_>) -> Result<Self> {
        Ok(match self.item(cursor)? {
            Some(Item::String(text)) => Self::Count(text.chars().count() as u64),
            Some(Item::Container(bytes)) => Self::Count(equal::children(bytes)?),
            _ => Self::Nothing,
        })
    }
}

impl<'e> Item<'e> {
    /// Reads the value whose bytes these are.
    pub(super) fn read(bytes: &'e [u8]) -> Result<Self> {
        if matches!(bytes.first(), Some(b'{' | b'[')) {
            return Ok(Self::Container(bytes));
        }
        let mut cursor = Cursor::new(bytes, &Config::new());
        let event = cursor.begin_value()?;
        Ok(match (event, cursor.payload()) {
            (_, Payload::Scalar(Scalar::Bool(value))) => Self::Bool(value),
            (_, Payload::Scalar(Scalar::Number(number))) => {
                Self::Number(Cow::Owned(number.lexeme().to_owned()))
            }
            (_, Payload::Scalar(Scalar::String(text))) => {
                Self::String(Cow::Owned(text.decode().into_owned()))
            }
            (Event::Begin(Kind::Array | Kind::Object), _) => Self::Container(bytes),
            _ => Self::Null,
        })
    }

    /// Order, for numbers and for strings; no others have one.
    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => Some(compare_numbers(left, right)),
            (Self::String(left), Self::String(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
            _ => None,
        }
    }

    pub(super) fn equals(&self, other: &Self) -> Result<bool> {
        Ok(match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Container(left), Self::Container(right)) => equal::containers(left, right)?,
            _ => self.order(other) == Some(Ordering::Equal),
        })
    }
}

/// A comparison by section 2.3.5.2.2.
pub(super) fn compare(
    left: &Operand<'_>,
    op: Comparison,
    right: &Operand<'_>,
    cursor: &Cursor<'_>,
) -> Result<bool> {
    let (left, right) = (left.item(cursor)?, right.item(cursor)?);
    let equal = || match (&left, &right) {
        (None, None) => Ok(true),
        (Some(left), Some(right)) => left.equals(right),
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
