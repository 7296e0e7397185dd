//! A number with all its digits.

use std::fmt;
use trommel_base::decimal::{Decimal, canonical};
use trommel_reader::Number;

/// A decimal number of any size, exact. Equal values have equal texts.
///
/// With the feature `serde` it is serialized as a number if a 64-bit integer or a double has
/// exactly these digits, else as a string, so that no digit is lost.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Exact {
    text: Box<str>,
}

impl Exact {
    /// Converts a JSON number.
    pub fn new(number: Number<'_>) -> Self {
        Self { text: canonical(number.lexeme()).into() }
    }

    /// Parses a decimal number produced by this crate, which may begin with zeros.
    pub(crate) fn from_decimal(text: &str) -> Self {
        Self { text: Decimal::new(text).canonical().into() }
    }

    /// The digits, as a JSON number.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the nearest double; infinite beyond a double's range.
    pub fn to_f64(&self) -> f64 {
        self.text.parse().unwrap_or(f64::NAN)
    }

    /// Returns the double that has the same shortest digits, if there is one.
    pub fn as_double(&self) -> Option<f64> {
        let value = self.to_f64();
        let shortest = format!("{value:e}");
        let number = Number::parse(&shortest)?;
        (Decimal::new(number.lexeme()).canonical() == *self.text).then_some(value)
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Exact {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Integers first: as a double, an integer beyond 2^53 would lose digits.
        if let Ok(value) = self.text.parse::<i64>() {
            serializer.serialize_i64(value)
        } else if let Ok(value) = self.text.parse::<u64>() {
            serializer.serialize_u64(value)
        } else if let Some(value) = self.as_double() {
            serializer.serialize_f64(value)
        } else {
            serializer.serialize_str(&self.text)
        }
    }
}
