//! A number as it stands in the input.

use crate::grammar::Numeral;

/// A number: its lexeme, valid by RFC 8259 section 6, and ways to read it that say when they would round.
///
/// No big integer is ever built from input; whoever wants one has the lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a> {
    lexeme: &'a str,
}

impl<'a> Number<'a> {
    /// Wraps a lexeme that has passed the grammar.
    pub(crate) fn new(lexeme: &'a str) -> Self {
        Self { lexeme }
    }

    /// Reads a lexeme, or `None` when the text is not a JSON number. Time is linear in its length.
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut numeral = Numeral::default();
        let length = numeral.pass(text.as_bytes());
        (length == text.len() && numeral.is_whole()).then_some(Self { lexeme: text })
    }

    /// The number as it is spelt.
    pub const fn lexeme(self) -> &'a str {
        self.lexeme
    }

    /// Whether the spelling has neither a fraction nor an exponent.
    pub fn is_integer(self) -> bool {
        !self.lexeme.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    }

    /// The value, when the spelling is an integer that fits. `-0` is `0`.
    pub fn as_i64(self) -> Option<i64> {
        self.lexeme.parse().ok()
    }

    /// The value, when the spelling is an integer that fits. `-0` is `0`.
    pub fn as_i128(self) -> Option<i128> {
        self.lexeme.parse().ok()
    }

    /// The nearest double, correctly rounded; infinite when the magnitude is beyond a double's range.
    pub fn as_f64(self) -> f64 {
        self.lexeme.parse().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_json_allows_and_nothing_else() {
        for good in ["0", "-0", "10", "1.5", "1e5", "1E+05", "-1.25e-3", "123456789012345678901234567890"] {
            assert_eq!(Number::parse(good).map(Number::lexeme), Some(good));
        }
        for bad in ["", "-", "01", "1.", ".5", "1e", "1e+", "+1", "0x1", "1_000", "NaN", "1 "] {
            assert_eq!(Number::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn says_when_a_value_does_not_fit() {
        let number = |text| Number::parse(text).unwrap();
        assert_eq!(number("-0").as_i64(), Some(0));
        assert_eq!(number("9223372036854775807").as_i64(), Some(i64::MAX));
        assert_eq!(number("9223372036854775808").as_i64(), None);
        assert_eq!(number("9223372036854775808").as_i128(), Some(9_223_372_036_854_775_808));
        assert_eq!(number("1.0").as_i64(), None);
        assert!(number("1e400").as_f64().is_infinite());
        assert!(number("1e2").as_f64() == 100.0 && !number("1e2").is_integer());
    }
}
