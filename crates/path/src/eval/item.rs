//! Values from the document or from a query: scalars, and the bytes of containers.

use std::borrow::Cow;
use std::cmp::Ordering;

use trommel_query::{compare_numbers, compare_strings};
use trommel_reader::{Text, View};

/// A scalar, or the bytes of a container.
#[derive(Debug)]
pub(super) enum Item<'e> {
    Null,
    Bool(bool),
    Number(Lexeme<'e>),
    String(Cow<'e, str>),
    Container(View<'e>),
}

/// A number as written.
#[derive(Debug)]
pub(super) enum Lexeme<'e> {
    Text(&'e str),
    /// A count, which does not occur in the document as text.
    Count {
        /// The digits, with leading zeros.
        digits: [u8; COUNT_DIGITS],
        /// The number of digits without leading zeros.
        length: usize,
    },
}

/// The number of digits of the largest count.
const COUNT_DIGITS: usize = 20;

impl<'e> Item<'e> {
    /// Reads the value with these bytes. Scalars are valid JSON: they are validated even where they
    /// are skipped.
    pub(super) fn of(view: View<'e>) -> Self {
        let bytes = view.bytes();
        match bytes {
            [b'{' | b'[', ..] => Self::Container(view),
            [b'"', inside @ .., b'"'] => {
                Self::String(Text::from_raw(inside, memchr::memchr(b'\\', inside).is_some()).decode())
            }
            [b't' | b'f', ..] => Self::Bool(bytes == b"true"),
            [b'-' | b'0'..=b'9', ..] => Self::Number(Lexeme::Text(ascii(bytes))),
            _ => Self::Null,
        }
    }

    /// Compares two numbers or two strings. Other values have no order.
    pub(super) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => Some(compare_numbers(left.as_str(), right.as_str())),
            (Self::String(left), Self::String(right)) => Some(compare_strings(left, right)),
            _ => None,
        }
    }

    /// Compares two values that are not both containers.
    pub(super) fn equals_scalar(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            _ => self.order(other) == Some(Ordering::Equal),
        }
    }
}

impl Lexeme<'_> {
    pub(super) fn of_count(mut count: u64) -> Self {
        let mut digits = [b'0'; COUNT_DIGITS];
        let mut length = 1;
        for (at, digit) in digits.iter_mut().rev().enumerate() {
            *digit = b'0' + (count % 10) as u8;
            count /= 10;
            if *digit != b'0' {
                length = at + 1;
            }
        }
        Self::Count { digits, length }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Count { digits, length } => ascii(&digits[COUNT_DIGITS - length..]),
        }
    }
}

/// Returns the text of a number, which was validated or was written digit by digit.
#[expect(clippy::expect_used, reason = "the grammar of numbers is ASCII")]
fn ascii(number: &[u8]) -> &str {
    std::str::from_utf8(number).expect("a number is ASCII")
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
