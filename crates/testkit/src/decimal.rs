//! Numbers by their exact mathematical value, regardless of their notation.

use num_bigint::BigInt;
use std::cmp::Ordering;

/// A JSON number's value: `± 0.digits × 10^exponent`, of any size and precision, never rounded.
///
/// ```
/// use trommel_testkit::decimal::Decimal;
///
/// assert_eq!(Decimal::new("100e-2"), Decimal::new("1.0"));
/// assert!(Decimal::new("9007199254740993") > Decimal::new("9007199254740992"));
/// assert!(Decimal::new("-1e400") < Decimal::new("-1e399"));
/// assert_eq!(Decimal::new("-0.0"), Decimal::new("0e9"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    /// The digits without leading and trailing zeros; empty for zero.
    digits: String,
    exponent: BigInt,
}

impl Decimal {
    /// Parses a number that is valid by RFC 8259.
    pub fn new(lexeme: &str) -> Self {
        let (negative, magnitude) = match lexeme.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, lexeme),
        };
        let (mantissa, power) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let leading = all.len() - significant.len();
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Self { negative: false, digits, exponent: BigInt::ZERO };
        }
        let power: BigInt = power.parse().expect("an exponent is an integer");
        Self { negative, digits, exponent: power + whole.len() - leading }
    }

    /// Returns the mantissa as an integer and the power of ten to multiply it with, or `None` if
    /// that power is beyond ±100,000.
    pub(crate) fn scaled(&self) -> Option<(BigInt, i64)> {
        let magnitude: BigInt =
            if self.digits.is_empty() { BigInt::ZERO } else { self.digits.parse().ok()? };
        let power =
            i64::try_from(&self.exponent - self.digits.len()).ok().filter(|power| power.abs() <= 100_000)?;
        Some((if self.negative { -magnitude } else { magnitude }, power))
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (false, false) => self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits)),
            (left, right) => right.cmp(&left),
        }
    }
}

impl From<usize> for Decimal {
    fn from(value: usize) -> Self {
        Self::new(&value.to_string())
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
            (left, right) => right.cmp(&left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_numbers_by_value() {
        let ascending = [
            "-1e99999999999999999999999999999999999999999999",
            "-10",
            "-9.5",
            "-1e-400",
            "-0",
            "1e-99999999999999999999999999999999999999999999",
            "0.00099",
            "1e-3",
            "0.5",
            "1",
            "1.00000000000000000001",
            "9007199254740993",
            "1e400",
            "1.1E+400",
            "1e99999999999999999999999999999999999999999999",
        ];
        for (i, left) in ascending.iter().enumerate() {
            for (j, right) in ascending.iter().enumerate() {
                assert_eq!(Decimal::new(left).cmp(&Decimal::new(right)), i.cmp(&j), "{left} {right}");
            }
        }
    }

    #[test]
    fn equal_values_are_equal_in_any_notation() {
        for same in [
            ["1", "1.0"],
            ["0", "-0"],
            ["120", "0.0012e5"],
            ["10e9999999999999999999999999999999999999999", "1e10000000000000000000000000000000000000000"],
        ] {
            assert_eq!(Decimal::new(same[0]), Decimal::new(same[1]));
        }
    }
}
