//! A number as written in the input.

use std::fmt;

use crate::grammar::Numeral;

/// A number: its lexeme, valid by RFC 8259 section 6, and conversions that report when they would
/// round.
///
/// No big integer is ever built from input; a caller that needs one has the lexeme.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Number<'a> {
    /// Bytes of the grammar, which are ASCII. They become text only where it is needed, because
    /// most numbers are only counted.
    lexeme: &'a [u8],
}

/// A number without an exponent, as an integer divided by a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a number has no further part")]
pub struct Scaled {
    /// The digits, with the number's sign; fewer than 10^18.
    pub digits: i64,
    /// The number of digits after the point, at most 18.
    pub places: u32,
}

impl<'a> Number<'a> {
    /// A number whose bytes match the grammar.
    #[doc(hidden)]
    #[inline]
    pub const fn valid(lexeme: &'a [u8]) -> Self {
        Self { lexeme }
    }

    /// Parses a lexeme; `None` if the text is not a JSON number. Linear in its length.
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut numeral = Numeral::default();
        let length = numeral.advance(text.as_bytes());
        (length == text.len() && numeral.is_whole()).then_some(Self { lexeme: text.as_bytes() })
    }

    /// The number as written. Linear in its length.
    #[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "the grammar of numbers is ASCII")]
    pub fn lexeme(self) -> &'a str {
        std::str::from_utf8(self.lexeme).expect("digits, signs, points, and letters `e`")
    }

    /// The bytes of the number as written, which are ASCII.
    pub const fn bytes(self) -> &'a [u8] {
        self.lexeme
    }

    /// True if the lexeme has neither a fraction nor an exponent.
    pub fn is_integer(self) -> bool {
        !self.lexeme.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    }

    /// The value, if the lexeme is an integer that fits. `-0` is `0`.
    pub fn as_i64(self) -> Option<i64> {
        self.lexeme().parse().ok()
    }

    /// The value, if the lexeme is an integer that fits. `-0` is `0`.
    pub fn as_i128(self) -> Option<i128> {
        self.lexeme().parse().ok()
    }

    /// The digits and the place of the point, if there is no exponent and there are at most 18
    /// digits. The sign of a zero is lost.
    ///
    /// ```
    /// use trommel_reader::{Number, Scaled};
    ///
    /// let number = Number::parse("-12.50").unwrap();
    /// assert_eq!(number.as_scaled(), Some(Scaled { digits: -1250, places: 2 }));
    /// assert_eq!(Number::parse("1e2").unwrap().as_scaled(), None);
    /// ```
    pub fn as_scaled(self) -> Option<Scaled> {
        let (is_negative, unsigned) = match self.lexeme {
            [b'-', unsigned @ ..] => (true, unsigned),
            unsigned => (false, unsigned),
        };
        if unsigned.len() > MAX_SCALED + 1 {
            return None;
        }
        let (whole, read) = digits(unsigned, 0);
        let (digits, places) = match unsigned.get(read) {
            None => (whole, 0),
            Some(b'.') => {
                let fraction = &unsigned[read + 1..];
                let (all, places) = digits(fraction, whole);
                if places < fraction.len() {
                    return None;
                }
                (all, places)
            }
            Some(_) => return None,
        };
        if read + places > MAX_SCALED {
            return None;
        }
        // At most 18 digits, so neither the cast nor the sign overflows.
        let digits = digits.cast_signed();
        Some(Scaled { digits: if is_negative { -digits } else { digits }, places: places as u32 })
    }

    /// The nearest double, correctly rounded; infinite beyond the range of doubles.
    pub fn as_f64(self) -> f64 {
        self.as_f64_with(self.as_scaled())
    }

    /// [`as_f64`](Self::as_f64), given the result of [`as_scaled`](Self::as_scaled).
    pub fn as_f64_with(self, scaled: Option<Scaled>) -> f64 {
        match scaled {
            Some(Scaled { digits: 0, .. }) => {
                if self.lexeme.first() == Some(&b'-') {
                    -0.0
                } else {
                    0.0
                }
            }
            // The quotient of two exact doubles is rounded once (Clinger 1990).
            Some(Scaled { digits, places }) if digits.unsigned_abs() <= MAX_EXACT => {
                digits as f64 / POWERS[places as usize]
            }
            _ => self.parsed(),
        }
    }

    fn parsed(self) -> f64 {
        let parse = |text: &str| text.parse().unwrap_or(f64::NAN);
        let lexeme = self.lexeme();
        // The standard library clamps exponents of seven digits, which only matters for mantissas
        // of that length.
        if lexeme.len() < LONG_LEXEME { parse(lexeme) } else { parse(&self.shortened()) }
    }

    /// A much shorter lexeme for a long number, with the same nearest double.
    fn shortened(self) -> String {
        let (sign, text) = self.lexeme().strip_prefix('-').map_or(("", self.lexeme()), |text| ("-", text));
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

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Number").field("lexeme", &self.lexeme()).finish()
    }
}

/// Reads digits from the start of `bytes`, after those of `value`. Returns all of them as an
/// integer, modulo 2^64, and the number of digits that were read.
#[inline]
fn digits(bytes: &[u8], mut value: u64) -> (u64, usize) {
    let mut read = 0;
    while let Some(word) = bytes[read..].first_chunk::<8>() {
        let Some(eight) = eight_digits(u64::from_le_bytes(*word)) else { break };
        value = value.wrapping_mul(100_000_000).wrapping_add(eight);
        read += 8;
    }
    for byte in &bytes[read..] {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        read += 1;
    }
    (value, read)
}

/// Reads eight digits, of which the first is the lowest byte, by three multiplications: each adds
/// neighbors, of one, two, and four digits.
#[inline]
const fn eight_digits(word: u64) -> Option<u64> {
    const HIGH: u64 = 0xF0F0_F0F0_F0F0_F0F0;
    let digits = word ^ 0x3030_3030_3030_3030;
    // A byte above 9 has a high bit, or gets one by adding 6.
    if (digits | digits.wrapping_add(0x0606_0606_0606_0606)) & HIGH != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_FFFF_0000_FFFF;
    Some(fours.wrapping_mul(10_000 << 32 | 1) >> 32)
}

/// The digits of a [`Scaled`] number, so that the integer fits.
const MAX_SCALED: usize = 18;

/// Every integer up to this has a double of the same value.
const MAX_EXACT: u64 = 1 << 53;

/// The powers of ten that [`Scaled`] numbers are divided by, all of them exact.
const POWERS: [f64; MAX_SCALED + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

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
    fn short_numbers_are_parsed_at_once() {
        let mut texts: Vec<String> =
            ["0", "-0", "0.0", "-0.0", "9007199254740993", "9007199254740992.5"].map(str::to_owned).to_vec();
        for digits in 1..=20 {
            for places in 0..digits {
                let number = "9182736455463728190".repeat(2);
                let (whole, fraction) = (&number[..digits - places], &number[..places]);
                texts.push(format!("-{whole}.{fraction}").trim_end_matches('.').to_owned());
                texts.push(format!("0.{}{fraction}7", "0".repeat(digits - places)));
            }
        }
        for text in texts {
            let number = Number::parse(&text).unwrap();
            assert_eq!(number.as_f64().to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            let unsigned = text.trim_start_matches('-');
            let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
            let expected = (whole.len() + fraction.len() <= MAX_SCALED).then(|| {
                let digits: i64 = format!("{whole}{fraction}").parse().unwrap();
                let digits = if text.starts_with('-') { -digits } else { digits };
                Scaled { digits, places: fraction.len() as u32 }
            });
            assert_eq!(number.as_scaled(), expected, "{text}");
        }
        for text in ["1e2", "1.5E3", "12345678e1", "1.12345678e1"] {
            assert_eq!(Number::parse(text).unwrap().as_scaled(), None);
        }
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
