//! Decimal numbers as text: exact comparison, and one canonical notation per value.
//!
//! Nothing is rounded, and no number is computed: all functions work on the digits as written. The
//! texts are numbers of the JSON grammar (RFC 8259, section 6), of any length and magnitude. For
//! other texts the results are unspecified.

use std::borrow::Cow;
use std::cmp::Ordering;

/// The power of ten of the first digit saturates here, so that a hostile exponent cannot overflow.
/// [`Decimal::compare`] distinguishes numbers beyond it by their digits alone. The power of the
/// digit saturates, not the exponent as written: so the canonical notation of a saturated number
/// parses to the same number, however many digits it has.
const MAX_LEAD: i64 = 100_000_000_000_000_000;

/// Written exponents saturate well beyond it, but far enough from overflow for any number of
/// digits.
const MAX_EXPONENT: i64 = 500_000_000_000_000_000;

/// Maximum digits of an exponent that is computed in `i128`, including the shift by the number's
/// own digits.
const EXPONENT_DIGITS: usize = 36;

/// Numbers whose first digit has a power of ten in this range are written without an exponent.
const PLAIN: std::ops::Range<i64> = -7..21;

/// Maximum digits of an integer that fits into 64 bits with any sign.
const SMALL_DIGITS: usize = 18;

/// A parsed number: its significant digits, borrowed from the text, and the power of ten of the
/// first digit.
#[derive(Clone, Copy, Debug)]
pub struct Decimal<'a> {
    negative: bool,
    /// The significant digits before the point.
    whole: &'a [u8],
    /// The significant digits after the point. Neither the first nor the last of all significant
    /// digits is a zero; zero has none.
    fraction: &'a [u8],
    /// The power of ten of the first digit, without the written exponent.
    base_lead: i64,
    /// The exponent as written, with its sign.
    exponent: &'a [u8],
    /// The power of ten of the first digit, saturated at [`MAX_LEAD`].
    lead: i64,
}

/// Compares two numbers by their exact mathematical value.
///
/// `1`, `1.0` and `10e-1` are equal, as are `0` and `-0.0e9`; `1e400` is less than `1e401`. Linear
/// in the lengths; no allocation unless an exponent has more than 36 digits.
///
/// ```
/// use std::cmp::Ordering;
/// use trommel_base::decimal::compare_numbers;
///
/// assert_eq!(compare_numbers("9007199254740993", "9007199254740992.0"), Ordering::Greater);
/// assert_eq!(compare_numbers("0.1e1", "1"), Ordering::Equal);
/// ```
pub fn compare_numbers(left: &str, right: &str) -> Ordering {
    if let (Some(left), Some(right)) = (small_integer(left), small_integer(right)) {
        return left.cmp(&right);
    }
    let (left, right) = (Decimal::new(left), Decimal::new(right));
    left.compare_by(&right, |left, right| {
        let leads = left.lead.cmp(&right.lead);
        // Saturated leads are equal, so the exponents as written must be compared.
        leads
            .then_with(|| if left.lead.abs() < MAX_LEAD { Ordering::Equal } else { left.compare_lead(right) })
    })
}

/// Returns the canonical notation of a number, borrowed if the number is already written that way.
/// Equal values have the same notation: the shortest digits, and an exponent only for very large
/// and very small numbers.
///
/// Powers of ten of the first digit saturate at 10^17, in either direction.
///
/// ```
/// use trommel_base::decimal::canonical;
///
/// assert_eq!(["1.0", "10e-1", "-0.00125e+4", "1e21"].map(canonical), ["1", "1", "-12.5", "1e21"]);
/// ```
pub fn canonical(number: &str) -> Cow<'_, str> {
    if is_canonical(number.as_bytes()) {
        Cow::Borrowed(number)
    } else {
        Cow::Owned(Decimal::new(number).canonical())
    }
}

/// [`canonical`] for the bytes of a number.
pub fn canonical_bytes(number: &[u8]) -> Cow<'_, [u8]> {
    if is_canonical(number) {
        return Cow::Borrowed(number);
    }
    Cow::Owned(Decimal::of(number).canonical().into_bytes())
}

/// True if a number is written in its canonical notation, as nearly all are: few digits, no
/// exponent, and no zeros that could be left out.
fn is_canonical(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    // Letters have a high bit that digits, points, and signs lack.
    let letters = number.iter().fold(0, |bits, byte| bits | byte);
    if number.len() >= PLAIN.end as usize || letters & 0x40 != 0 || number == b"-0" {
        return false;
    }
    let Some(point) = digits.iter().take(PLAIN.end as usize).position(|&byte| byte == b'.') else {
        return true;
    };
    // A fraction below one has at most as many zeros as the notation without an exponent allows.
    let zeros = || digits[point + 1..].iter().take_while(|&&byte| byte == b'0').count();
    let is_small = || digits[0] == b'0' && zeros() >= PLAIN.start.unsigned_abs() as usize;
    digits.last() != Some(&b'0') && !is_small()
}

/// Returns a notation that two numbers share exactly if their values are equal. It is that of
/// [`canonical`], except that powers of ten never saturate. Linear in the length.
///
/// ```
/// use trommel_base::decimal::identity;
///
/// assert_eq!(["1.0", "10e-1", "1e99999999999999999999"].map(identity), ["1", "1", "1e99999999999999999999"]);
/// ```
pub fn identity(number: &str) -> Cow<'_, str> {
    if is_canonical(number.as_bytes()) {
        return Cow::Borrowed(number);
    }
    let parsed = Decimal::new(number);
    Cow::Owned(if parsed.lead.abs() < MAX_LEAD { parsed.canonical() } else { parsed.identity() })
}

impl<'a> Decimal<'a> {
    /// Parses a number. Unlike in JSON, it may begin with zeros. Linear in its length.
    pub fn new(number: &'a str) -> Self {
        Self::of(number.as_bytes())
    }

    fn of(number: &'a [u8]) -> Self {
        let (negative, unsigned) = signed(number);
        let (whole, fraction, exponent) = parts(unsigned);
        let (before, after) = (without_leading_zeros(whole), without_trailing_zeros(fraction));
        let (whole, fraction, base_lead) = if !before.is_empty() {
            let whole = if after.is_empty() { without_trailing_zeros(before) } else { before };
            (whole, after, before.len() as i64 - 1)
        } else if !after.is_empty() {
            let significant = without_leading_zeros(after);
            (before, significant, -1 - (after.len() - significant.len()) as i64)
        } else {
            return Self { negative: false, whole: &[], fraction: &[], base_lead: 0, exponent: &[], lead: 0 };
        };
        let lead = if exponent.is_empty() { base_lead } else { base_lead + saturated(exponent) };
        Self { negative, whole, fraction, base_lead, exponent, lead: lead.clamp(-MAX_LEAD, MAX_LEAD) }
    }

    /// True for zero, with any sign.
    pub const fn is_zero(&self) -> bool {
        self.whole.is_empty() && self.fraction.is_empty()
    }

    /// True for a number below zero.
    pub const fn is_negative(&self) -> bool {
        self.negative
    }

    /// The power of ten of the first significant digit, saturated at 10^17 in either direction; 0
    /// for zero.
    pub const fn lead(&self) -> i64 {
        self.lead
    }

    /// The significant digits from 0 to 9. Neither the first nor the last is a zero.
    pub fn digits(&self) -> impl Iterator<Item = u8> + Clone + use<'a> {
        self.whole.iter().chain(self.fraction).map(|digit| digit.wrapping_sub(b'0'))
    }

    /// Compares the values of the canonical notations: saturated numbers are compared by sign and
    /// digits alone.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.compare_by(other, |left, right| left.lead.cmp(&right.lead))
    }

    /// Compares by sign, then by the power of ten, then by the digits.
    #[inline]
    fn compare_by(&self, other: &Self, powers: impl Fn(&Self, &Self) -> Ordering) -> Ordering {
        match (self.sign(), other.sign()) {
            (1, 1) => powers(self, other).then_with(|| self.compare_digits(other)),
            (-1, -1) => powers(other, self).then_with(|| other.compare_digits(self)),
            (left, right) => left.cmp(&right),
        }
    }

    /// Returns -1, 0, or 1.
    const fn sign(&self) -> i8 {
        if self.is_zero() {
            0
        } else if self.negative {
            -1
        } else {
            1
        }
    }

    /// Compares two fractions `0.d1d2…`: the digits have no zeros at their ends.
    fn compare_digits(&self, other: &Self) -> Ordering {
        if self.whole.len() == other.whole.len() {
            self.whole.cmp(other.whole).then_with(|| self.fraction.cmp(other.fraction))
        } else {
            self.digits().cmp(other.digits())
        }
    }

    /// Compares the powers of ten of the first digits, of any magnitude.
    #[cold]
    fn compare_lead(&self, other: &Self) -> Ordering {
        let (left, right) = (Exponent::new(self), Exponent::new(other));
        let (longer, shorter) = {
            let (left, right) = (left.digits.len(), right.digits.len());
            (left.max(right), left.min(right))
        };
        if longer <= EXPONENT_DIGITS {
            return left.small_sum().cmp(&right.small_sum());
        }
        // The numbers' own digits shift an exponent by less than 2^64. That neither changes the
        // sign of a huge exponent nor makes up for more than one digit.
        let order = match (left.negative, right.negative) {
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            _ if shorter < EXPONENT_DIGITS => left.digits.len().cmp(&right.digits.len()),
            _ => by_value(&left.huge_sum(), &right.huge_sum()),
        };
        if left.negative { order.reverse() } else { order }
    }

    /// Returns the canonical notation of the value. The function [`canonical`] is cheaper for most
    /// numbers.
    pub fn canonical(&self) -> String {
        let mut text = String::from(if self.negative { "-" } else { "" });
        let mut digits = self.digits().map(|digit| char::from(b'0' + digit));
        let length = (self.whole.len() + self.fraction.len()) as i64;
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

    /// Returns the digits, and the power of ten of the first one at its full length.
    #[cold]
    fn identity(&self) -> String {
        let mut text = String::from(if self.negative { "-" } else { "" });
        let mut digits = self.digits().map(|digit| char::from(b'0' + digit));
        text.extend(digits.next());
        if self.whole.len() + self.fraction.len() > 1 {
            text.push('.');
        }
        text.extend(digits);
        text.push('e');
        text.push_str(&Exponent::new(self).sum());
        text
    }
}

/// A number's exponent, of any magnitude, and the power of ten of its first digit without it.
struct Exponent<'a> {
    negative: bool,
    /// The digits as written, without leading zeros.
    digits: &'a [u8],
    base_lead: i128,
}

impl<'a> Exponent<'a> {
    fn new(number: &Decimal<'a>) -> Self {
        let (negative, digits) = signed(number.exponent);
        Self { negative, digits: without_leading_zeros(digits), base_lead: i128::from(number.base_lead) }
    }

    /// The sum of exponent and `base_lead`, if the exponent has at most [`EXPONENT_DIGITS`] digits.
    fn small_sum(&self) -> i128 {
        let value = self.digits.iter().fold(0, |value, &byte| value * 10 + digit(byte));
        self.base_lead + if self.negative { -value } else { value }
    }

    /// The sum of exponent and `base_lead` as text.
    fn sum(&self) -> String {
        if self.digits.len() <= EXPONENT_DIGITS {
            return self.small_sum().to_string();
        }
        let sum = self.huge_sum();
        let digits = sum.iter().skip_while(|digit| **digit == 0).map(|digit| char::from(b'0' + digit));
        if self.negative { "-" } else { "" }.chars().chain(digits).collect()
    }

    /// The digits of the sum of exponent and `base_lead`, without the sign, possibly with leading
    /// zeros.
    fn huge_sum(&self) -> Vec<u8> {
        let mut carry = if self.negative { -self.base_lead } else { self.base_lead };
        let mut sum = Vec::with_capacity(self.digits.len() + 1);
        for &byte in self.digits.iter().rev() {
            let sum_digit = digit(byte) + carry;
            // The Euclidean remainder of a division by ten is a digit, also for a negative carry.
            sum.push(sum_digit.rem_euclid(10) as u8);
            carry = sum_digit.div_euclid(10);
        }
        sum.push(carry.rem_euclid(10) as u8);
        sum.reverse();
        sum
    }
}

/// The value of an integer of at most [`SMALL_DIGITS`] digits.
fn small_integer(number: &str) -> Option<i64> {
    if number.len() > SMALL_DIGITS {
        return None;
    }
    let (negative, digits) = signed(number.as_bytes());
    let value = digits
        .iter()
        .try_fold(0_i64, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))?;
    Some(if negative { -value } else { value })
}

/// Compares two numbers by their digits, possibly with leading zeros.
fn by_value(left: &[u8], right: &[u8]) -> Ordering {
    let significant = |digits: &[u8]| digits.iter().position(|&digit| digit != 0).unwrap_or(digits.len());
    let (left, right) = (&left[significant(left)..], &right[significant(right)..]);
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

/// The value of a written exponent, saturated at [`MAX_EXPONENT`] in either direction.
fn saturated(exponent: &[u8]) -> i64 {
    let (negative, digits) = signed(exponent);
    let digits = digits.iter().filter(|byte| byte.is_ascii_digit());
    let value = digits.fold(0, |value, digit| (value * 10 + i64::from(digit - b'0')).min(MAX_EXPONENT));
    if negative { -value } else { value }
}

fn digit(byte: u8) -> i128 {
    i128::from(byte.wrapping_sub(b'0') % 10)
}

/// Splits off the sign. Returns true for a minus.
fn signed(bytes: &[u8]) -> (bool, &[u8]) {
    match bytes {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, bytes),
    }
}

/// Splits an unsigned number into the digits before the point, those after it, and the exponent.
fn parts(number: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let is_exponent = |byte: &u8| matches!(byte, b'e' | b'E');
    let Some(end) = number.iter().position(|byte| *byte == b'.' || is_exponent(byte)) else {
        return (number, &[], &[]);
    };
    let (whole, rest) = (&number[..end], &number[end + 1..]);
    if number[end] != b'.' {
        return (whole, &[], rest);
    }
    match rest.iter().position(is_exponent) {
        Some(end) => (whole, &rest[..end], &rest[end + 1..]),
        None => (whole, rest, &[]),
    }
}

fn without_leading_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&byte| byte == b'0').count();
    &digits[zeros..]
}

fn without_trailing_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|&&byte| byte == b'0').count();
    &digits[..digits.len() - zeros]
}

#[cfg(test)]
mod tests {
    use super::*;

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
                assert_eq!(Decimal::new(other).canonical(), canonical, "{other}");
                assert_eq!(super::canonical(other), canonical);
                assert_eq!(Decimal::new(other).compare(&Decimal::new(canonical)), Ordering::Equal);
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
                assert_eq!(Decimal::new(left).compare(&Decimal::new(right)), i.cmp(&j), "{left} {right}");
            }
        }
    }

    /// Beyond the greatest power of ten only [`compare_numbers`] is exact.
    #[test]
    fn cut_powers_compare_by_their_digits() {
        let (larger, smaller) = ("1e999999999999999999999", "2e99999999999999999999");
        assert_eq!(compare_numbers(larger, smaller), Ordering::Greater);
        assert_eq!(Decimal::new(larger).compare(&Decimal::new(smaller)), Ordering::Less);
    }

    #[test]
    fn numbers_may_begin_with_zeros() {
        assert_eq!(Decimal::new("-00012500e-2").canonical(), "-125");
        assert_eq!(Decimal::new("0e0").canonical(), "0");
        assert!(!Decimal::new("-000").is_negative());
    }
}
