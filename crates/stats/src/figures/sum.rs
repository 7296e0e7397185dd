//! Sums that are never rounded.

use super::exact::Exact;
use crate::Accumulator;
use trommel_base::decimal::Decimal;
use trommel_reader::Number;

/// Decimal digits a limb.
const DIGITS: i64 = 18;
const BASE: i128 = 1_000_000_000_000_000_000;
/// Digits below ten to this power are left out.
const LOWEST_POWER: i64 = -1170;

/// An exact sum of JSON numbers, in decimal: `0.1` and `0.2` make `0.3`, and the order does not
/// matter.
///
/// Numbers beyond a double's range (from about 1.8e308) must not be added; digits smaller than
/// 10^-1170 are left out, which [`is_exact`](Self::is_exact) tells. Grows with the spread of the
/// magnitudes, at most to about 1.5 KB; adding takes time in proportion to a number's digits.
#[derive(Clone, Debug, Default)]
pub struct ExactSum {
    /// Limbs in base 10^18, smallest first, carries not yet taken: about 10^19 numbers may be added
    /// before one overflows.
    limbs: Vec<i128>,
    /// The power of 10^18 of the first limb.
    low: i64,
    cut: bool,
}

/// A sum as digits without sign, most significant first, and the power of ten of the last one.
struct Spelling {
    negative: bool,
    digits: Vec<u8>,
    power: i64,
}

impl ExactSum {
    /// Adds a number.
    pub fn observe(&mut self, number: Number<'_>) {
        match number.as_i64() {
            Some(value) => self.add(0, i128::from(value)),
            None => self.add_decimal(&Decimal::new(number.lexeme())),
        }
    }

    pub(super) fn add_decimal(&mut self, number: &Decimal<'_>) {
        let sign = if number.is_negative() { -1 } else { 1 };
        let mut power = number.lead();
        for digit in number.digits() {
            if power < LOWEST_POWER {
                self.cut = true;
                return;
            }
            let weight = i128::from(10_u64.pow(power.rem_euclid(DIGITS) as u32));
            self.add(power.div_euclid(DIGITS), sign * i128::from(digit) * weight);
            power -= 1;
        }
    }

    /// Whether every digit of every number is in the sum.
    pub const fn is_exact(&self) -> bool {
        !self.cut
    }

    /// Bytes to account for.
    pub(super) fn charge(&self) -> usize {
        64.max(self.limbs.len() * size_of::<i128>())
    }

    fn add(&mut self, place: i64, value: i128) {
        if self.limbs.is_empty() {
            self.low = place;
        }
        if place < self.low {
            let missing = (self.low - place) as usize;
            self.limbs.splice(0..0, std::iter::repeat_n(0, missing));
            self.low = place;
        }
        let at = (place - self.low) as usize;
        if at >= self.limbs.len() {
            self.limbs.resize(at + 1, 0);
        }
        let limb = &mut self.limbs[at];
        *limb = limb.saturating_add(value);
    }

    /// The limbs with all carries taken, each from 0 up to the base, and what is carried out of the
    /// last.
    fn carried(&self, sign: i128) -> (Vec<u64>, i128) {
        let mut carry = 0;
        let mut carried = Vec::with_capacity(self.limbs.len() + 2);
        for limb in &self.limbs {
            let value = limb.saturating_mul(sign).saturating_add(carry);
            carried.push(value.rem_euclid(BASE) as u64);
            carry = value.div_euclid(BASE);
        }
        (carried, carry)
    }

    fn spelling(&self) -> Spelling {
        let negative = self.carried(1).1 < 0;
        let (mut limbs, mut carry) = self.carried(if negative { -1 } else { 1 });
        while carry > 0 {
            limbs.push((carry % BASE) as u64);
            carry /= BASE;
        }
        let places = || (0..DIGITS as u32).rev().map(|place| 10_u64.pow(place));
        let digits = limbs.iter().rev().flat_map(|limb| places().map(move |place| (limb / place % 10) as u8));
        let digits: Vec<u8> = digits.skip_while(|&digit| digit == 0).collect();
        let power = if digits.is_empty() { 0 } else { self.low * DIGITS };
        Spelling { negative, digits, power }
    }

    /// The sum divided by `count`, rounded once, to the nearest double; none when `count` is 0.
    pub fn mean(&self, count: u64) -> Option<f64> {
        if count == 0 {
            return None;
        }
        let Spelling { negative, digits, mut power } = self.spelling();
        let mut quotient = String::from(if negative { "-0" } else { "0" });
        let mut rest: u128 = 0;
        let mut more = digits.into_iter();
        let mut significant = 0;
        // A double and the middle of two have at most 768 digits: past them, only whether anything
        // follows matters.
        while more.len() > 0 || (rest > 0 && significant < 780) {
            let digit = more.next().unwrap_or_else(|| {
                power -= 1;
                0
            });
            rest = rest * 10 + u128::from(digit);
            let next = rest / u128::from(count);
            rest %= u128::from(count);
            significant += usize::from(significant > 0 || next > 0);
            quotient.push(char::from(b'0' + next as u8));
        }
        let sticky = if rest > 0 { "1" } else { "0" };
        format!("{quotient}{sticky}e{}", power - 1).parse().ok()
    }
}

impl Accumulator for ExactSum {
    type Summary = Exact;

    fn merge(&mut self, other: Self) {
        for (place, limb) in (other.low..).zip(other.limbs) {
            self.add(place, limb);
        }
        self.cut |= other.cut;
    }

    fn summary(&self) -> Exact {
        let Spelling { negative, digits, power } = self.spelling();
        let sign = if negative { "-" } else { "" };
        let digits: String = digits.into_iter().map(|digit| char::from(b'0' + digit)).collect();
        Exact::from_spelling(&format!("{sign}0{digits}e{power}"))
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ExactSum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.summary().as_str(), self.cut).serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for ExactSum {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (text, cut) = <(String, bool)>::deserialize(deserializer)?;
        let number = Number::parse(&text).map(|number| Decimal::new(number.lexeme()));
        let number = number
            .filter(|number| number.lead() < 400)
            .ok_or_else(|| serde::de::Error::custom("a sum is a number below 1e400"))?;
        let mut sum = Self { cut, ..Self::default() };
        sum.add_decimal(&number);
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum<'a>(lexemes: impl IntoIterator<Item = &'a str>) -> ExactSum {
        let mut sum = ExactSum::default();
        lexemes.into_iter().for_each(|lexeme| sum.observe(Number::parse(lexeme).unwrap()));
        sum
    }

    #[test]
    fn sums_without_rounding() {
        let text = |lexemes: &[&str]| sum(lexemes.iter().copied()).summary().as_str().to_owned();
        assert_eq!(text(&[]), "0");
        assert_eq!(text(&["0.1", "0.2"]), "0.3");
        assert_eq!(text(&["1e308", "1e-20", "-1e308", "2.5"]), "2.50000000000000000001");
        assert_eq!(text(&["9223372036854775807", "9223372036854775807"]), "18446744073709551614");
        assert_eq!(text(&["-9223372036854775808", "-9223372036854775808"]), "-18446744073709551616");
        assert_eq!(text(&["-1", "0.999999999999999999999"]), "-1e-21");
        assert_eq!(text(&["1.7e308", "1.7e308"]), "3.4e308");
        assert_eq!(text(&["999999999999999999", "1", "-1000000000000000000"]), "0");
    }

    #[test]
    fn means_are_rounded_once() {
        assert_eq!(sum(["1", "2", "4"]).mean(3), Some(7.0 / 3.0));
        assert_eq!(sum(["-1", "-1"]).mean(3), Some(-2.0 / 3.0));
        assert_eq!(sum(["0.1", "0.2"]).mean(2), Some(0.15));
        assert_eq!(sum(["5e-324"]).mean(1), Some(5e-324));
        assert_eq!(sum([]).mean(0), None);
        assert_eq!(sum([]).mean(3), Some(0.0));
    }

    #[test]
    fn says_when_digits_are_left_out() {
        let tiny = sum(["1e-1170", "1"]);
        assert!(tiny.is_exact());
        assert_eq!(tiny.summary().as_str().len(), 1172);
        let cut = sum(["1e-1171", "1"]);
        assert!(!cut.is_exact());
        assert_eq!(cut.summary().as_str(), "1");
    }
}
