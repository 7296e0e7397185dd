//! Sum, mean, minimum, and maximum of numbers.

use super::exact::Exact;
use super::sum::ExactSum;
use crate::Accumulator;
use std::cmp::Ordering;
use trommel_base::decimal::Decimal;
use trommel_reader::{Number, Scaled};

/// Bytes of the texts of minimum and maximum, except for very long ones.
const EXTREMES_BYTES: usize = 80;

/// Count, sum, mean, minimum, and maximum of numbers, computed from their decimal digits, not from
/// doubles. Exact; about 200 bytes.
///
/// ```
/// use trommel_reader::Number;
/// use trommel_stats::{Accumulator, Numeric};
///
/// let mut prices = Numeric::default();
/// for lexeme in ["0.10", "0.20", "3e-1"] {
///     prices.observe(Number::parse(lexeme).unwrap());
/// }
/// let summary = prices.summary();
/// assert_eq!(summary.sum.unwrap().as_str(), "0.6");
/// assert_eq!(summary.mean, Some(0.2));
/// assert_eq!(summary.max.unwrap().as_str(), "0.3");
/// ```
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Numeric {
    count: u64,
    integers: u64,
    beyond_double: u64,
    out_of_range: u64,
    sum: ExactSum,
    min: Option<Extreme>,
    max: Option<Extreme>,
}

impl Numeric {
    /// Adds a number.
    pub fn observe(&mut self, number: Number<'_>) {
        let scaled = number.as_scaled();
        self.observe_all(&[(number, scaled)], &[number.as_f64_with(scaled)]);
    }

    /// Adds numbers with their digits, given the nearest doubles.
    pub(super) fn observe_all(&mut self, numbers: &[(Number<'_>, Option<Scaled>)], doubles: &[f64]) {
        self.count += numbers.len() as u64;
        for (&(number, scaled), &value) in numbers.iter().zip(doubles) {
            let is_integer = scaled.map_or_else(|| number.is_integer(), |scaled| scaled.places == 0);
            self.integers += u64::from(is_integer);
            self.beyond_double += u64::from(is_integer && !fits_double(number, scaled, value));
            self.out_of_range += u64::from(value.is_infinite());
            // Most numbers are between the extremes.
            if self.min.as_ref().is_none_or(|min| value <= min.value) {
                Extreme::update(&mut self.min, number, value, Ordering::Less);
            }
            if self.max.as_ref().is_none_or(|max| value >= max.value) {
                Extreme::update(&mut self.max, number, value, Ordering::Greater);
            }
        }
        let in_range = numbers.iter().zip(doubles).filter(|(_, value)| value.is_finite());
        self.sum.observe_all(in_range.map(|(&number, _)| number));
    }

    /// Bytes to account for.
    pub(crate) fn charge(&self) -> usize {
        size_of::<Self>() + self.sum.charge() + EXTREMES_BYTES
    }

    /// Returns the number of observed numbers.
    pub const fn count(&self) -> u64 {
        self.count
    }
}

/// The smallest or largest number so far. The nearest double decides most comparisons.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "Box<str>", try_from = "Box<str>"))]
struct Extreme {
    text: Exact,
    value: f64,
}

impl Extreme {
    /// Replaces `extreme` with `number` if it is empty or `number` compares to it as `wanted`.
    fn update(extreme: &mut Option<Self>, number: Number<'_>, value: f64, wanted: Ordering) {
        let better = extreme.as_ref().is_none_or(|current| current.compare(number, value) == wanted);
        if better {
            *extreme = Some(Self { text: Exact::new(number), value });
        }
    }

    /// Compares a number with this one. Rounding to doubles is monotonic, so only numbers with
    /// equal doubles need their digits.
    fn compare(&self, number: Number<'_>, value: f64) -> Ordering {
        let digits = || {
            let (number, own) = (number.lexeme(), self.text.as_str());
            if number == own { Ordering::Equal } else { Decimal::new(number).compare(&Decimal::new(own)) }
        };
        value.partial_cmp(&self.value).filter(|order| order.is_ne()).unwrap_or_else(digits)
    }
}

#[cfg(feature = "serde")]
impl From<Extreme> for Box<str> {
    fn from(extreme: Extreme) -> Self {
        extreme.text.as_str().into()
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Box<str>> for Extreme {
    type Error = &'static str;

    fn try_from(text: Box<str>) -> Result<Self, Self::Error> {
        let number = Number::parse(&text).ok_or("an extreme must be a number")?;
        Ok(Self { text: Exact::new(number), value: number.as_f64() })
    }
}

/// Returns true if an integer has a double of the same value.
fn fits_double(number: Number<'_>, scaled: Option<Scaled>, value: f64) -> bool {
    if let Some(Scaled { digits, .. }) = scaled {
        return value as i64 == digits;
    }
    let digits = number.lexeme().trim_start_matches('-');
    // `{:.0}` prints the exact integer value of the double, not its shortest digits.
    format!("{:.0}", value.abs()) == digits
}

impl Accumulator for Numeric {
    type Summary = NumericSummary;

    fn merge(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.integers = self.integers.saturating_add(other.integers);
        self.beyond_double = self.beyond_double.saturating_add(other.beyond_double);
        self.out_of_range = self.out_of_range.saturating_add(other.out_of_range);
        self.sum.merge(other.sum);
        let extremes =
            [(&mut self.min, other.min, Ordering::Less), (&mut self.max, other.max, Ordering::Greater)];
        for (slot, extreme, wanted) in extremes {
            if let Some(Extreme { text, value }) = extreme
                && let Some(number) = Number::parse(text.as_str())
            {
                Extreme::update(slot, number, value, wanted);
            }
        }
    }

    fn summary(&self) -> NumericSummary {
        let in_range = self.out_of_range == 0;
        NumericSummary {
            count: self.count,
            integers: self.integers,
            beyond_double: self.beyond_double,
            out_of_range: self.out_of_range,
            min: self.min.as_ref().map(|extreme| extreme.text.clone()),
            max: self.max.as_ref().map(|extreme| extreme.text.clone()),
            sum: in_range.then(|| self.sum.summary()),
            mean: if in_range { self.sum.mean(self.count) } else { None },
            approximate: !self.sum.is_exact(),
        }
    }
}

/// The figures about some numbers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NumericSummary {
    /// The number of numbers.
    pub count: u64,
    /// Numbers written without a fraction and an exponent.
    pub integers: u64,
    /// Integers that have no double of the same value.
    pub beyond_double: u64,
    /// Numbers too large in magnitude for a double (from about 1.8e308).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::is_zero"))]
    pub out_of_range: u64,
    /// The smallest number; `None` without numbers.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub min: Option<Exact>,
    /// The largest number; `None` without numbers.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub max: Option<Exact>,
    /// The exact sum; `None` if a number was out of range.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sum: Option<Exact>,
    /// The double nearest to the exact mean; `None` without numbers or if one was out of range.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub mean: Option<f64>,
    /// True if digits below 10^-1170 were dropped from the sum and the mean. The error is less than
    /// that for each number.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::is_false"))]
    pub approximate: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(lexemes: &[&str]) -> NumericSummary {
        let mut numeric = Numeric::default();
        for lexeme in lexemes {
            numeric.observe(Number::parse(lexeme).unwrap());
        }
        numeric.summary()
    }

    #[test]
    fn compares_numbers_beyond_doubles() {
        let found = summary(&[
            "9007199254740993",
            "9007199254740992",
            "9007199254740992.0",
            "-9007199254740993",
            "1e23",
        ]);
        assert_eq!((found.count, found.integers, found.beyond_double), (5, 3, 2));
        assert_eq!(summary(&["10000000000000000000000", "100000000000000000000000"]).beyond_double, 1);
        let close = summary(&["9007199254740993", "9007199254740992.5", "9007199254740992"]);
        assert_eq!(close.max.unwrap().as_str(), "9007199254740993");
        assert_eq!(close.min.unwrap().as_str(), "9007199254740992");
    }

    #[test]
    fn out_of_range_numbers_have_extremes_but_no_sum() {
        let found = summary(&["1e400", "-2e400", "1e399", "3"]);
        assert_eq!((found.out_of_range, found.sum, found.mean), (3, None, None));
        assert_eq!((found.min.unwrap().as_str(), found.max.unwrap().as_str()), ("-2e400", "1e400"));
        assert_eq!(summary(&[]).mean, None);
    }
}
