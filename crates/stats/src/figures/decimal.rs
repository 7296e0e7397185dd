//! The exact value of a number's lexeme.

use std::borrow::Cow;
use std::cmp::Ordering;
use trommel_reader::Number;

/// The power of ten of the first digit saturates here, so that a hostile exponent cannot overflow.
/// Numbers beyond are told apart by their digits only. That it is this power that is cut, not the
/// exponent as spelt, makes the spelling of a cut number spell the same number again, however long
/// its digits were.
const MAX_LEAD: i64 = 100_000_000_000_000_000;

/// Exponents as spelt saturate well past it, and far enough from overflow for any length of digits.
const MAX_EXPONENT: i64 = 500_000_000_000_000_000;

/// Numbers whose first digit has a power of ten in this range are spelt without an exponent.
const PLAIN: std::ops::Range<i64> = -7..21;

/// A decimal number taken apart: its significant digits, borrowed from the lexeme, and the power of
/// ten of the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// Where the significant digits lie in `whole` followed by `fraction`; empty for zero.
    start: usize,
    end: usize,
    lead: i64,
}

impl<'a> Decimal<'a> {
    /// Takes a JSON number apart. Time is linear in its length.
    pub(crate) fn new(number: Number<'a>) -> Self {
        Self::from_spelling(number.lexeme())
    }

    /// As [`new`](Self::new), for text of the crate's own making, which may begin with zeros.
    pub(crate) fn from_spelling(text: &'a str) -> Self {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, 0), |(m, e)| (m, power(e)));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let (whole, fraction) = (whole.as_bytes(), fraction.as_bytes());
        let is_significant =
            |at: usize| whole.get(at).or_else(|| fraction.get(at - whole.len())) != Some(&b'0');
        let length = whole.len() + fraction.len();
        let start = (0..length).position(is_significant).unwrap_or(0);
        let end = (0..length).rposition(is_significant).map_or(0, |last| last + 1);
        let lead = (whole.len() as i64 - 1 - start as i64 + exponent).clamp(-MAX_LEAD, MAX_LEAD);
        Self { negative: negative && end > start, whole, fraction, start, end, lead }
    }

    pub(crate) const fn is_zero(&self) -> bool {
        self.start == self.end
    }

    pub(crate) const fn is_negative(&self) -> bool {
        self.negative
    }

    /// The power of ten of the first significant digit.
    pub(crate) const fn lead(&self) -> i64 {
        self.lead
    }

    /// The significant digits, neither beginning nor ending with a zero.
    pub(crate) fn digits(&self) -> impl ExactSizeIterator<Item = u8> + Clone {
        let Self { whole, fraction, .. } = *self;
        (self.start..self.end).map(move |at| {
            let digit = whole.get(at).or_else(|| fraction.get(at - whole.len()));
            digit.map_or(0, |digit| digit.wrapping_sub(b'0'))
        })
    }

    /// Compares the values.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        match (self.sign(), other.sign()) {
            (1, 1) => self.compare_magnitude(other),
            (-1, -1) => other.compare_magnitude(self),
            (left, right) => left.cmp(&right),
        }
    }

    const fn sign(&self) -> i8 {
        if self.is_zero() {
            0
        } else if self.negative {
            -1
        } else {
            1
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        self.lead.cmp(&other.lead).then_with(|| self.digits().cmp(other.digits()))
    }

    /// The one spelling that stands for the value: shortest digits, an exponent only far from one.
    pub(crate) fn canonical(&self) -> String {
        let mut text = String::from(if self.negative { "-" } else { "" });
        let mut digits = self.digits().map(|digit| char::from(b'0' + digit));
        let length = digits.len() as i64;
        if self.is_zero() {
            text.push('0');
        } else if !PLAIN.contains(&self.lead) {
            text.extend(digits.next());
            if length > 1 {
                text.push('.');
            }
            text.extend(digits);
            text.push('e');
            text.push_str(&self.lead.to_string());
        } else if self.lead < 0 {
            text.push_str("0.");
            text.extend((self.lead + 1..0).map(|_| '0'));
            text.extend(digits);
        } else {
            text.extend(digits.by_ref().take(self.lead as usize + 1));
            text.extend((length..=self.lead).map(|_| '0'));
            if length > self.lead + 1 {
                text.push('.');
            }
            text.extend(digits);
        }
        text
    }
}

/// The canonical spelling of a number, borrowed when it is already spelt so.
pub(crate) fn canonical(number: Number<'_>) -> Cow<'_, str> {
    let lexeme = number.lexeme();
    if lexeme.len() < PLAIN.end as usize && number.is_integer() && lexeme != "-0" {
        Cow::Borrowed(lexeme)
    } else {
        Cow::Owned(Decimal::new(number).canonical())
    }
}

fn power(text: &str) -> i64 {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits = text.bytes().filter(u8::is_ascii_digit);
    sign * digits.fold(0, |value, digit| (value * 10 + i64::from(digit - b'0')).min(MAX_EXPONENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal<'_> {
        Decimal::new(Number::parse(text).unwrap())
    }

    #[test]
    fn equal_values_have_one_spelling() {
        let spellings = [
            ("0", &["-0", "0.000", "0e7", "-0.0E-3"] as &[_]),
            ("1", &["1.0", "10e-1", "0.1e1", "1E0"]),
            ("-12.5", &["-12.50", "-125e-1", "-0.00125e+4"]),
            ("100", &["1e2", "100.0"]),
            ("0.0000001", &["1e-7"]),
            ("1e-8", &["0.00000001", "10e-9"]),
            ("100000000000000000000", &["1e20"]),
            ("1e21", &["1000000000000000000000"]),
            ("1.5e400", &["15e399"]),
            ("1e100000000000000000", &["1e99999999999999999999999", "1000e99999999999999999999999"]),
            ("3.303e100000000000000000", &["33030e99999999999999999", "0.03303e9999999999999999999999"]),
            ("-1.5e-100000000000000000", &["-0.0015e-99999999999999999999", "-15000e-99999999999999999999"]),
        ];
        for (canonical, others) in spellings {
            for other in others.iter().chain([&canonical]) {
                assert_eq!(decimal(other).canonical(), canonical, "{other}");
                assert_eq!(super::canonical(Number::parse(other).unwrap()), canonical);
                assert_eq!(decimal(other).compare(&decimal(canonical)), Ordering::Equal);
            }
        }
    }

    #[test]
    fn compares_exactly_where_doubles_are_equal() {
        let ascending = [
            "-1e400",
            "-10",
            "-9.99",
            "-1e-400",
            "0",
            "1e-401",
            "1e-400",
            "9007199254740992",
            "9007199254740992.00000000001",
            "9007199254740993",
            "1e400",
            "1.0000000000000000000001e400",
        ];
        for (i, left) in ascending.iter().enumerate() {
            for (j, right) in ascending.iter().enumerate() {
                assert_eq!(decimal(left).compare(&decimal(right)), i.cmp(&j), "{left} {right}");
            }
        }
    }
}
