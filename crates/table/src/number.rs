//! The types that hold the numbers of a column exactly.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use trommel_base::decimal::compare_numbers;

/// Maximum digits of a number that every type of its kind holds.
const SAFE_DIGITS: usize = 15;

/// Maximum digits of a decimal of 128 bits.
const DECIMAL_DIGITS: usize = 38;

/// The types that hold all numbers so far exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Numbers {
    pub(crate) int64: bool,
    pub(crate) uint64: bool,
    /// Integers of at most 38 digits.
    pub(crate) decimal: bool,
    /// Doubles whose shortest notation has the value of the number.
    pub(crate) double: bool,
    /// Doubles, after rounding: all numbers are in their range.
    pub(crate) rounded: bool,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { int64: true, uint64: true, decimal: true, double: true, rounded: true }
    }
}

impl Numbers {
    /// The types for one number of the JSON grammar.
    pub(crate) fn of(lexeme: &str) -> Self {
        let digits = lexeme.strip_prefix('-').unwrap_or(lexeme);
        let is_negative = digits.len() < lexeme.len();
        // No integer type has a negative zero.
        let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit()) && lexeme != "-0";
        if is_integer && digits.len() <= SAFE_DIGITS {
            return Self { uint64: !is_negative, ..Self::default() };
        }
        let (double, rounded) = as_double(lexeme);
        let integer =
            if is_integer && digits.len() <= DECIMAL_DIGITS { lexeme.parse::<i128>().ok() } else { None };
        Self {
            int64: integer.is_some_and(|integer| i64::try_from(integer).is_ok()),
            uint64: integer.is_some_and(|integer| u64::try_from(integer).is_ok()),
            decimal: integer.is_some(),
            double,
            rounded,
        }
    }

    /// Adds a number.
    pub(crate) fn observe(&mut self, lexeme: &str) {
        self.merge(Self::of(lexeme));
    }

    /// Adds the numbers of another part of the input.
    pub(crate) fn merge(&mut self, one: Self) {
        self.int64 &= one.int64;
        self.uint64 &= one.uint64;
        self.decimal &= one.decimal;
        self.double &= one.double;
        self.rounded &= one.rounded;
    }
}

/// True if a double holds the number exactly, in the sense of its shortest notation; and if it is
/// in the range of doubles.
fn as_double(lexeme: &str) -> (bool, bool) {
    // Decimals of 15 digits survive a double (IEEE 754), unless their exponent is extreme.
    if lexeme.len() <= SAFE_DIGITS && !lexeme.contains(['e', 'E']) {
        return (true, true);
    }
    let Ok(value) = lexeme.parse::<f64>() else { return (false, false) };
    if !value.is_finite() {
        return (false, false);
    }
    (compare_numbers(lexeme, &format!("{value:e}")) == Ordering::Equal, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_the_types_that_hold_it() {
        let all = Numbers::default();
        let none = Numbers { int64: false, uint64: false, decimal: false, double: false, rounded: false };
        let real = Numbers { double: true, rounded: true, ..none };
        let cases = [
            ("0", all),
            ("-1", Numbers { uint64: false, ..all }),
            ("-0", real),
            ("9007199254740993", Numbers { double: false, ..all }),
            ("9223372036854775807", Numbers { double: false, ..all }),
            ("-9223372036854775808", Numbers { uint64: false, double: false, ..all }),
            ("18446744073709551615", Numbers { int64: false, double: false, ..all }),
            ("18446744073709551616", Numbers { int64: false, uint64: false, double: false, ..all }),
            (&"9".repeat(38), Numbers { decimal: true, rounded: true, ..none }),
            (&"9".repeat(39), Numbers { rounded: true, ..none }),
            ("0.1", real),
            ("1.50", real),
            ("1e300", real),
            ("1e400", none),
            ("1e-400", Numbers { rounded: true, ..none }),
            ("0.1000000000000000055511151231257827", Numbers { rounded: true, ..none }),
            ("0.30000000000000004", real),
            ("123456789012345678.5", Numbers { rounded: true, ..none }),
        ];
        for (lexeme, types) in cases {
            assert_eq!(Numbers::of(lexeme), types, "{lexeme}");
        }
    }
}
