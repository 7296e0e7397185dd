//! The exact sum of a group's numbers, small while all of them are 64-bit integers.

use trommel_base::decimal::Decimal;
use trommel_reader::Number;
use trommel_stats::{Accumulator, Exact, ExactSum};

/// Digits below ten to this power are lost in a sum, so numbers that have any are refused.
const LOWEST_POWER: i64 = -1170;

/// A sum of 64-bit integers in two words: as an `i128`, it would widen every row to 16-byte
/// alignment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wide {
    low: u64,
    high: i64,
}

/// An exact sum.
#[derive(Clone, Debug, Default)]
pub(crate) enum Total {
    /// Of no numbers.
    #[default]
    Empty,
    /// Of 64-bit integers only.
    Integer(Wide),
    /// Of numbers of any kind.
    Decimal(Box<ExactSum>),
}

impl From<i128> for Wide {
    fn from(value: i128) -> Self {
        Self { low: value as u64, high: (value >> 64) as i64 }
    }
}

impl From<Wide> for i128 {
    fn from(wide: Wide) -> Self {
        Self::from(wide.high) << 64 | Self::from(wide.low)
    }
}

/// True if a number can be added: a double has its magnitude, and no digit is below 10^-1170.
pub(crate) fn can_add(number: Number<'_>) -> bool {
    // Without an exponent, so few digits are within both bounds.
    if number.lexeme().len() < 300 && !number.lexeme().bytes().any(|byte| matches!(byte, b'e' | b'E')) {
        return true;
    }
    let decimal = Decimal::new(number.lexeme());
    let last = decimal.lead() - decimal.digits().count().saturating_sub(1) as i64;
    number.as_f64().is_finite() && last >= LOWEST_POWER
}

impl Total {
    /// An upper bound of [`charge`](Self::charge): a sum has at most 86 limbs of 16 bytes.
    pub(crate) const MAX_CHARGE: usize = 2048;

    /// Adds an integer `times` times.
    #[inline]
    pub(crate) fn add_integer(&mut self, value: i64, times: u64) {
        let product = i128::from(value) * i128::from(times);
        let sum = match self {
            Self::Empty => Some(product),
            Self::Integer(sum) => i128::from(*sum).checked_add(product),
            Self::Decimal(_) => None,
        };
        match sum {
            Some(sum) => *self = Self::Integer(sum.into()),
            None => self.decimal().observe_integer(product),
        }
    }

    /// Adds a number `times` times.
    pub(crate) fn add(&mut self, number: Number<'_>, times: u64) {
        self.decimal().observe_times(number, times);
    }

    pub(crate) fn merge(&mut self, later: Self) {
        match later {
            Self::Empty => {}
            Self::Integer(value) => {
                let value = i128::from(value);
                let sum = match self {
                    Self::Empty => Some(value),
                    Self::Integer(sum) => i128::from(*sum).checked_add(value),
                    Self::Decimal(_) => None,
                };
                match sum {
                    Some(sum) => *self = Self::Integer(sum.into()),
                    None => self.decimal().observe_integer(value),
                }
            }
            Self::Decimal(sum) => self.decimal().merge(*sum),
        }
    }

    /// The sum as decimal, after a conversion if needed.
    fn decimal(&mut self) -> &mut ExactSum {
        if !matches!(self, Self::Decimal(_)) {
            *self = Self::Decimal(Box::new(self.to_exact()));
        }
        let Self::Decimal(sum) = self else { unreachable!("it was converted") };
        sum
    }

    fn to_exact(&self) -> ExactSum {
        let mut sum = ExactSum::default();
        match self {
            Self::Empty => {}
            Self::Integer(value) => sum.observe_integer(i128::from(*value)),
            Self::Decimal(exact) => sum.clone_from(exact),
        }
        sum
    }

    /// Returns the sum; `None` without numbers.
    pub(crate) fn sum(&self) -> Option<Exact> {
        if matches!(self, Self::Empty) { None } else { Some(self.to_exact().summary()) }
    }

    /// Returns the double nearest to the mean of `count` numbers.
    pub(crate) fn mean(&self, count: u64) -> Option<f64> {
        self.to_exact().mean(count)
    }

    /// Bytes beyond the row. They depend on the numbers, not on their order.
    pub(crate) fn charge(&self) -> usize {
        match self {
            Self::Empty | Self::Integer(_) => 0,
            Self::Decimal(sum) => size_of::<ExactSum>() + sum.charge(),
        }
    }
}

impl Total {
    /// Bytes beyond the row after a merge.
    pub(crate) fn merged_charge(&self, later: &Self) -> usize {
        match (self, later) {
            (Self::Decimal(sum), Self::Decimal(later)) => size_of::<ExactSum>() + sum.merged_charge(later),
            (Self::Decimal(_), _) | (_, Self::Decimal(_)) => {
                size_of::<ExactSum>() + self.to_exact().merged_charge(&later.to_exact())
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number<'_> {
        Number::parse(text).unwrap()
    }

    #[test]
    fn sums_are_exact_in_any_form() {
        let mut total = Total::default();
        assert_eq!((total.sum(), total.mean(0)), (None, None));
        total.add_integer(i64::MIN, 1);
        total.add_integer(-1, 2);
        assert!(matches!(total, Total::Integer(_)));
        assert_eq!(total.sum().unwrap().as_str(), "-9223372036854775810");
        total.add(number("0.1"), 3);
        assert_eq!(total.sum().unwrap().as_str(), "-9223372036854775809.7");
        total.add_integer(i64::MAX, 1);
        let mut other = Total::default();
        other.add_integer(2, 1);
        total.merge(other);
        total.merge(Total::default());
        assert_eq!((total.sum().unwrap().as_str(), total.mean(2)), ("-0.7", Some(-0.35)));
        let mut merged = Total::default();
        merged.merge(total.clone());
        let expected = merged.merged_charge(&total);
        merged.merge(total);
        assert_eq!(merged.charge(), expected);
        assert_eq!(merged.sum().unwrap().as_str(), "-1.4");
    }

    #[test]
    fn the_largest_products_do_not_overflow() {
        let mut total = Total::default();
        for _ in 0..3 {
            total.add_integer(i64::MIN, u64::MAX);
        }
        assert!(matches!(total, Total::Decimal(_)));
        assert_eq!(total.mean(3), Some(-(2.0_f64.powi(127))));
    }

    #[test]
    fn refuses_numbers_that_a_sum_would_round() {
        for good in ["1e308", "-1.7976931348623157e308", "5e-324", "1e-1170", "0e9999", "0.0"] {
            assert!(can_add(number(good)), "{good}");
        }
        for bad in ["1e309", "-1e99999999999999999999", "1e-1171", "1.00000000000000000001e-1160"] {
            assert!(!can_add(number(bad)), "{bad}");
        }
    }
}
