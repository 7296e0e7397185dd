//! A number as written in the input.

use crate::grammar::Numeral;

/// A number: its lexeme, valid by RFC 8259 section 6, and conversions that report when they would
/// round.
///
/// No big integer is ever built from input; a caller that needs one has the lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a> {
    lexeme: &'a str,
}

impl<'a> Number<'a> {
    /// A number whose bytes match the grammar.
    #[inline]
    #[expect(clippy::expect_used, reason = "the grammar of numbers is ASCII")]
    pub(crate) fn of_digits(lexeme: &'a [u8]) -> Self {
        Self { lexeme: std::str::from_utf8(lexeme).expect("digits, signs, points, and letters `e`") }
    }

    /// Parses a lexeme; `None` if the text is not a JSON number. Linear in its length.
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut numeral = Numeral::default();
        let length = numeral.advance(text.as_bytes());
        (length == text.len() && numeral.is_whole()).then_some(Self { lexeme: text })
    }

    /// The number as written.
    pub const fn lexeme(self) -> &'a str {
        self.lexeme
    }

    /// True if the lexeme has neither a fraction nor an exponent.
    pub fn is_integer(self) -> bool {
        !self.lexeme.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    }

    /// The value, if the lexeme is an integer that fits. `-0` is `0`.
    pub fn as_i64(self) -> Option<i64> {
        self.lexeme.parse().ok()
    }

    /// The value, if the lexeme is an integer that fits. `-0` is `0`.
    pub fn as_i128(self) -> Option<i128> {
        self.lexeme.parse().ok()
    }

    /// The nearest double, correctly rounded; infinite beyond the range of doubles.
    pub fn as_f64(self) -> f64 {
        let parse = |text: &str| text.parse().unwrap_or(f64::NAN);
        // The standard library clamps exponents of seven digits, which only matters for mantissas
        // of that length.
        if self.lexeme.len() < LONG_LEXEME { parse(self.lexeme) } else { parse(&self.shortened()) }
    }

    /// A much shorter lexeme for a long number, with the same nearest double.
    fn shortened(self) -> String {
        let (sign, text) = self.lexeme.strip_prefix('-').map_or(("", self.lexeme), |text| ("-", text));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = || whole.bytes().chain(fraction.bytes());
        let zeros = digits().take_while(|&digit| digit == b'0').count();
        let mut kept: String = digits().skip(zeros).take(DECISIVE_DIGITS).map(char::from).collect();
        if kept.is_empty() {
            return format!("{sign}0");
        }
        if digits().skip(zeros + DECISIVE_DIGITS).any(|digit| digit != b'0') {
            kept.push('1');
        }
        // Saturates if the exponent alone decides.
        let negative = exponent.starts_with('-');
        let size = exponent.trim_start_matches(['+', '-']).parse().unwrap_or(i64::MAX / 2);
        let point = whole.len() as i64 - zeros as i64;
        let power = point + if negative { -size } else { size };
        format!("{sign}0.{kept}e{}", power.clamp(-1_000, 1_000))
    }
}

/// Lexemes of this length or more are shortened before they are parsed.
const LONG_LEXEME: usize = 1 << 16;

/// The number of significant digits that decide the rounding of a decimal, together with whether
/// all further digits are zero: no double, and no value halfway between two, has more than 767.
const DECISIVE_DIGITS: usize = 800;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_exactly_json_numbers() {
        for good in ["0", "-0", "10", "1.5", "1e5", "1E+05", "-1.25e-3", "123456789012345678901234567890"] {
            assert_eq!(Number::parse(good).map(Number::lexeme), Some(good));
        }
        for bad in ["", "-", "01", "1.", ".5", "1e", "1e+", "+1", "0x1", "1_000", "NaN", "1 "] {
            assert_eq!(Number::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn long_numbers_are_rounded_once() {
        let zeros = "0".repeat(LONG_LEXEME);
        let value = |text: &str| Number::parse(text).unwrap().as_f64();
        let digits = "123456789".repeat(LONG_LEXEME / 9);
        for text in ["1.5", "-0.3", "179769313486231580793728971405301", "9007199254740993"] {
            // The same value with a long lexeme.
            let point = if text.contains('.') { "" } else { "." };
            let long = format!("{text}{point}{zeros}");
            assert_eq!(value(&long).to_bits(), value(text).to_bits(), "{text}");
            let scaled = format!("{text}{point}{zeros}e-{}", "9".repeat(8));
            assert_eq!(value(&scaled).abs().to_bits(), 0, "{text}");
        }
        let tenths = digits.len() - 1;
        for (long, short) in [
            (format!("9007199254740993.{zeros}1"), "9007199254740994"),
            (format!("1{zeros}e-{LONG_LEXEME}"), "1"),
            (format!("0.{zeros}1e{}", LONG_LEXEME + 1), "1"),
            (format!("-{digits}e-{}", "7".repeat(LONG_LEXEME)), "-0"),
            (format!("0.{zeros}e999999999"), "0"),
            (format!("{digits}.5e-{tenths}"), "1.234567891234567891234"),
        ] {
            assert_eq!(value(&long).to_bits(), value(short).to_bits(), "{short}");
        }
        assert!(value(&format!("{digits}e{}", "7".repeat(LONG_LEXEME))).is_infinite());
    }

    #[test]
    fn values_that_do_not_fit_are_none() {
        let number = |text| Number::parse(text).unwrap();
        assert_eq!(number("-0").as_i64(), Some(0));
        assert_eq!(number("9223372036854775807").as_i64(), Some(i64::MAX));
        assert_eq!(number("9223372036854775808").as_i64(), None);
        assert_eq!(number("9223372036854775808").as_i128(), Some(9_223_372_036_854_775_808));
        assert_eq!(number("1.0").as_i64(), None);
        assert!(number("1e400").as_f64().is_infinite());
        assert_eq!(number("1e2").as_f64().to_bits(), 100_f64.to_bits());
        assert!(!number("1e2").is_integer());
    }
}
