//! How filters order numbers and strings (RFC 9535, section 2.3.5.2.2).

use std::cmp::Ordering;

/// Exponents of so many digits are calculated with; it takes i128 in any case, since digits shift them.
const EXPONENT_DIGITS: usize = 36;

/// Compares two numbers by their exact mathematical value.
///
/// Both are lexemes of the JSON grammar (RFC 8259, section 6), of any length and magnitude: `1`, `1.0` and `10e-1`
/// are equal, as are `0` and `-0.0e9`; `1e400` is less than `1e401`; nothing is rounded and no number is built.
/// Linear in the lengths; no allocation unless an exponent has more than 36 digits. For texts that are no numbers
/// the order is unspecified.
///
/// ```
/// use std::cmp::Ordering;
/// use trommel_query::compare_numbers;
///
/// assert_eq!(compare_numbers("9007199254740993", "9007199254740992.0"), Ordering::Greater);
/// assert_eq!(compare_numbers("0.1e1", "1"), Ordering::Equal);
/// ```
pub fn compare_numbers(left: &str, right: &str) -> Ordering {
    if let (Some(left), Some(right)) = (small_integer(left), small_integer(right)) {
        return left.cmp(&right);
    }
    let (left, right) = (Decimal::of(left), Decimal::of(right));
    left.sign().cmp(&right.sign()).then_with(|| {
        let magnitudes = left.compare_magnitude(&right);
        if left.negative { magnitudes.reverse() } else { magnitudes }
    })
}

/// Compares two strings by their Unicode scalar values, which is the order of their UTF-8 bytes.
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

/// The value of an integer of at most 18 digits, which fits however it is signed.
fn small_integer(lexeme: &str) -> Option<i64> {
    if lexeme.len() > 18 {
        return None;
    }
    let (negative, digits) = signed(lexeme.as_bytes());
    let value = digits
        .iter()
        .try_fold(0_i64, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))?;
    Some(if negative { -value } else { value })
}

/// A number as 0.d₁d₂d₃… × 10^exponent with d₁ ≠ 0, its digits left where they stand; zero has no digits.
struct Decimal<'a> {
    negative: bool,
    /// Digits before the point, without leading zeros.
    whole: &'a [u8],
    /// Digits behind the point; if `whole` is empty, without leading zeros.
    fraction: &'a [u8],
    /// What the digits' place adds to the written exponent.
    shift: i128,
    /// The written exponent's sign and its digits without leading zeros.
    exponent: (bool, &'a [u8]),
}

impl<'a> Decimal<'a> {
    fn of(lexeme: &'a str) -> Self {
        let (negative, unsigned) = signed(lexeme.as_bytes());
        let (mantissa, exponent) = split(unsigned, |byte| matches!(byte, b'e' | b'E'));
        let (whole, fraction) = split(mantissa, |byte| byte == b'.');
        let whole = without_zeros(whole);
        let significant = if whole.is_empty() { without_zeros(fraction) } else { fraction };
        let (exponent_negative, exponent) = signed(exponent);
        Self {
            negative,
            whole,
            fraction: significant,
            shift: whole.len() as i128 - (fraction.len() - significant.len()) as i128,
            exponent: (exponent_negative, without_zeros(exponent)),
        }
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.iter().chain(self.fraction).copied()
    }

    /// -1, 0 or 1.
    fn sign(&self) -> i8 {
        let zero = self.whole.is_empty() && self.fraction.is_empty();
        match (zero, self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// Compares the absolute values of two numbers that are not zero, or both zero.
    fn compare_magnitude(&self, other: &Self) -> Ordering {
        if self.sign() == 0 {
            return Ordering::Equal;
        }
        self.compare_exponent(other).then_with(|| {
            let (mut left, mut right) = (self.digits(), other.digits());
            loop {
                let (x, y) = (left.next(), right.next());
                let order = x.unwrap_or(b'0').cmp(&y.unwrap_or(b'0'));
                if order.is_ne() || (x.is_none() && y.is_none()) {
                    return order;
                }
            }
        })
    }

    fn compare_exponent(&self, other: &Self) -> Ordering {
        let (longer, shorter) = {
            let (left, right) = (self.exponent.1.len(), other.exponent.1.len());
            (left.max(right), left.min(right))
        };
        if longer <= EXPONENT_DIGITS {
            return self.small_exponent().cmp(&other.small_exponent());
        }
        // The places of the digits shift an exponent by less than 2^64, which neither changes the sign of a huge
        // one nor makes up for more than one digit.
        let order = match (self.exponent.0, other.exponent.0) {
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            _ if shorter < EXPONENT_DIGITS => self.exponent.1.len().cmp(&other.exponent.1.len()),
            _ => by_value(&self.huge_exponent(), &other.huge_exponent()),
        };
        if self.exponent.0 { order.reverse() } else { order }
    }

    /// The exponent, if what is written has at most [`EXPONENT_DIGITS`].
    fn small_exponent(&self) -> i128 {
        let (negative, digits) = self.exponent;
        let value = digits.iter().fold(0, |value, &byte| value * 10 + digit(byte));
        self.shift + if negative { -value } else { value }
    }

    /// The digits of an exponent of many digits, the shift added to its absolute value.
    fn huge_exponent(&self) -> Vec<u8> {
        let (negative, digits) = self.exponent;
        let mut carry = if negative { -self.shift } else { self.shift };
        let mut sum = Vec::with_capacity(digits.len() + 1);
        for &byte in digits.iter().rev() {
            let place = digit(byte) + carry;
            // The remainder of a division by ten is a digit.
            sum.push(place.rem_euclid(10) as u8);
            carry = place.div_euclid(10);
        }
        sum.push(carry.rem_euclid(10) as u8);
        sum.reverse();
        sum
    }
}

/// Compares two numbers given by their digits, leading zeros allowed.
fn by_value(left: &[u8], right: &[u8]) -> Ordering {
    let significant = |digits: &[u8]| digits.iter().position(|&digit| digit != 0).unwrap_or(digits.len());
    let (left, right) = (&left[significant(left)..], &right[significant(right)..]);
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

fn digit(byte: u8) -> i128 {
    i128::from(byte.wrapping_sub(b'0') % 10)
}

/// Whether there is a minus, and what follows the sign.
fn signed(bytes: &[u8]) -> (bool, &[u8]) {
    match bytes {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, bytes),
    }
}

/// What is before and behind the first byte for which the test holds.
fn split(bytes: &[u8], at: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let length = bytes.iter().position(|&byte| at(byte)).unwrap_or(bytes.len());
    (&bytes[..length], bytes.get(length + 1..).unwrap_or_default())
}

fn without_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&byte| byte == b'0').count();
    &digits[zeros..]
}
