//! Sums without rounding.

use crate::decimal::Decimal;
use num_bigint::{BigInt, Sign};

/// The number of digits that determine the rounding of a quotient. A double, or the midpoint
/// between two of them, has at most 768 significant digits. With more digits than that, and a
/// sticky digit for the rest, the standard library's correctly rounded parser gives the correct
/// result.
const DIGITS: u32 = 800;

/// An exact sum of decimal numbers: `mantissa × 10^power`.
///
/// ```
/// use trommel_testkit::statistics::Sum;
///
/// let mut sum = Sum::default();
/// for lexeme in ["1e20", "0.1", "0.2", "-1e20"] {
///     sum.add(lexeme);
/// }
/// assert_eq!(sum.to_f64(), Some(0.3));
/// assert_eq!(sum.to_integer(), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    mantissa: BigInt,
    power: i64,
    /// True if a number was too large or too small to add.
    overflow: bool,
}

impl Sum {
    /// Adds a JSON number. If its power of ten is beyond ±100,000, the sum becomes unknown.
    pub fn add(&mut self, lexeme: &str) {
        match Decimal::new(lexeme).scaled() {
            Some((mantissa, power)) => self.add_scaled(&mantissa, power),
            None => self.overflow = true,
        }
    }

    /// Adds the exact value of a finite double.
    pub fn add_f64(&mut self, value: f64) {
        assert!(value.is_finite(), "a finite double");
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7FF) as i64;
        let fraction = bits & ((1 << 52) - 1);
        let (magnitude, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        let mantissa = BigInt::from(magnitude) * value.signum() as i64;
        if exponent >= 0 {
            self.add_scaled(&(mantissa << exponent), 0);
        } else {
            // m / 2^e is m * 5^e / 10^e.
            self.add_scaled(&(mantissa * BigInt::from(5).pow(-exponent as u32)), exponent);
        }
    }

    fn add_scaled(&mut self, mantissa: &BigInt, power: i64) {
        let common = self.power.min(power);
        let raised = |mantissa: &BigInt, power: i64| mantissa * BigInt::from(10).pow((power - common) as u32);
        self.mantissa = raised(&self.mantissa, self.power) + raised(mantissa, power);
        self.power = common;
    }

    /// Returns the sum, if it is an integer that fits.
    pub fn to_integer(&self) -> Option<i128> {
        if self.overflow {
            return None;
        }
        if self.power >= 0 {
            return i128::try_from(&self.mantissa * BigInt::from(10).pow(self.power as u32)).ok();
        }
        let divisor = BigInt::from(10).pow(-self.power as u32);
        let whole = &self.mantissa / &divisor;
        (&whole * divisor == self.mantissa).then(|| i128::try_from(whole).ok()).flatten()
    }

    /// Returns the double nearest to the sum, infinite beyond a double's range.
    pub fn to_f64(&self) -> Option<f64> {
        self.mean(1)
    }

    /// Returns the double nearest to the sum divided by `count`.
    pub fn mean(&self, count: u64) -> Option<f64> {
        if self.overflow || count == 0 {
            return None;
        }
        let dividend = &self.mantissa * BigInt::from(10).pow(DIGITS);
        let count = BigInt::from(count);
        let mut quotient = &dividend / &count * 10;
        if dividend != &quotient / 10 * count {
            quotient += if dividend.sign() == Sign::Minus { -1 } else { 1 };
        }
        format!("{quotient}e{}", self.power - i64::from(DIGITS) - 1).parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(lexemes: &[&str]) -> Sum {
        let mut sum = Sum::default();
        for lexeme in lexemes {
            sum.add(lexeme);
        }
        sum
    }

    #[test]
    fn sums_without_rounding() {
        assert_eq!(
            sum(&["9223372036854775807", "9223372036854775807"]).to_integer(),
            Some(18_446_744_073_709_551_614)
        );
        assert_eq!(sum(&["1.5", "1.5", "-1e1"]).to_integer(), Some(-7));
        assert_eq!(sum(&["1e400", "1", "-1e400"]).to_integer(), Some(1));
        assert_eq!(sum(&["1", "2", "4"]).mean(3), Some(7.0 / 3.0));
        assert_eq!(sum(&["-1", "-1"]).mean(3), Some(-2.0 / 3.0));
        assert_eq!(sum(&[]).to_f64(), Some(0.0));
        assert_eq!(sum(&["1e999999"]).to_f64(), None);
    }

    #[test]
    fn doubles_have_an_exact_value() {
        for value in [0.1, -2.5, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e300, -0.0, 9_007_199_254_740_992.0] {
            let mut sum = Sum::default();
            sum.add_f64(value);
            assert_eq!(sum.to_f64(), Some(value));
            sum.add_f64(-value);
            assert_eq!(sum.to_integer(), Some(0));
        }
    }
}
