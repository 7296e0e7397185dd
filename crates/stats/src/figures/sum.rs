//! Sums without rounding.

use super::exact::Exact;
use crate::Accumulator;
use trommel_base::decimal::Decimal;
use trommel_reader::{Number, Scaled};

/// Decimal digits of a limb.
const DIGITS: i64 = 18;
const BASE: i128 = 1_000_000_000_000_000_000;
/// The powers of ten up to that of a limb.
const POWERS: [i64; DIGITS as usize + 1] = {
    let mut powers = [1; DIGITS as usize + 1];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// Digits below ten to this power are dropped.
const LOWEST_POWER: i64 = -1170;

/// An exact decimal sum of JSON numbers: `0.1` and `0.2` make `0.3`, in any order.
///
/// Numbers beyond a double's range (from about 1.8e308) must not be added. Digits smaller than
/// 10^-1170 are dropped; [`is_exact`](Self::is_exact) then returns false. Memory grows with the
/// spread of the magnitudes, to about 1.5 KB at most. Adding takes time linear in a number's
/// digits.
#[derive(Clone, Debug, Default)]
pub struct ExactSum {
    /// Limbs in base 10^18, smallest first, with carries not yet propagated: about 10^19 numbers
    /// can be added before a limb overflows.
    limbs: Vec<i128>,
    /// The power of 10^18 of the first limb.
    low: i64,
    has_dropped_digits: bool,
}

/// A sum as unsigned digits, most significant first, and the power of ten of the last one.
struct SignedDigits {
    negative: bool,
    digits: Vec<u8>,
    power: i64,
}

impl ExactSum {
    /// Adds a number.
    pub fn observe(&mut self, number: Number<'_>) {
        self.observe_all(std::iter::once((number, number.as_scaled())));
    }

    /// Adds numbers, each given with the result of [`Number::as_scaled`].
    pub(super) fn observe_all<'a>(&mut self, numbers: impl Iterator<Item = (Number<'a>, Option<Scaled>)>) {
        // Most numbers add to the same two limbs.
        let (mut wholes, mut fractions) = (None::<i128>, None::<i128>);
        for (number, scaled) in numbers {
            let Some(Scaled { digits, places }) = scaled else {
                self.observe_long(number);
                continue;
            };
            let unit = POWERS[places as usize];
            let (whole, fraction) = if places == 0 { (digits, 0) } else { (digits / unit, digits % unit) };
            if whole != 0 || places == 0 {
                *wholes.get_or_insert(0) += i128::from(whole);
            }
            if fraction != 0 {
                let factor = POWERS[DIGITS as usize - places as usize];
                *fractions.get_or_insert(0) += i128::from(fraction) * i128::from(factor);
            }
        }
        for (place, sum) in [(0, wholes), (-1, fractions)] {
            if let Some(sum) = sum {
                self.add(place, sum);
            }
        }
    }

    fn observe_long(&mut self, number: Number<'_>) {
        match number.as_i64() {
            Some(value) => self.add(0, i128::from(value)),
            None if self.add_short(number.lexeme()) => {}
            None => self.add_decimal(&Decimal::new(number.lexeme())),
        }
    }

    /// Adds a number without an exponent, if the digits on each side of its point fit into a limb.
    /// Returns false if they do not. The state is that of [`add_decimal`](Self::add_decimal).
    fn add_short(&mut self, lexeme: &str) -> bool {
        let (sign, unsigned) = lexeme.strip_prefix('-').map_or((1, lexeme), |unsigned| (-1, unsigned));
        let Some((whole, fraction)) = unsigned.split_once('.') else { return false };
        let is_short = whole.len() <= DIGITS as usize && fraction.len() <= DIGITS as usize;
        // An exponent makes the fraction no integer.
        let (Ok(whole), Ok(digits)) = (whole.parse::<u64>(), fraction.parse::<u64>()) else { return false };
        if !is_short {
            return false;
        }
        if whole > 0 {
            self.add(0, sign * i128::from(whole));
        }
        if digits > 0 {
            let scale = 10_u64.pow(DIGITS as u32 - fraction.len() as u32);
            self.add(-1, sign * i128::from(digits) * i128::from(scale));
        }
        true
    }

    /// Adds a number `times` times. Linear in its digits.
    ///
    /// ```
    /// use trommel_reader::Number;
    /// use trommel_stats::{Accumulator, ExactSum};
    ///
    /// let mut sum = ExactSum::default();
    /// sum.observe_times(Number::parse("0.1").unwrap(), u64::MAX);
    /// assert_eq!(sum.summary().as_str(), "1844674407370955161.5");
    /// ```
    pub fn observe_times(&mut self, number: Number<'_>, times: u64) {
        if times == 1 {
            return self.observe(number);
        }
        let mut product = Self::default();
        product.observe(number);
        // The limbs of one number are below the base, so a product of two 64-bit numbers fits.
        for limb in &mut product.limbs {
            *limb = limb.saturating_mul(i128::from(times));
        }
        // Large limbs would use up the room that limbs have for carries.
        let (carried, carry) = product.carried(1);
        for (place, limb) in (product.low..).zip(carried) {
            self.add(place, i128::from(limb));
        }
        if carry != 0 {
            self.add(product.low + product.limbs.len() as i64, carry);
        }
        self.has_dropped_digits |= product.has_dropped_digits;
    }

    /// Adds an integer.
    pub fn observe_integer(&mut self, value: i128) {
        if value.unsigned_abs() < 1 << 96 {
            return self.add(0, value);
        }
        // A larger value would use up the room that limbs have for carries.
        self.add(0, value.rem_euclid(BASE));
        self.add(1, value.div_euclid(BASE));
    }

    pub(super) fn add_decimal(&mut self, number: &Decimal<'_>) {
        let sign = if number.is_negative() { -1 } else { 1 };
        let mut power = number.lead();
        for digit in number.digits() {
            if power < LOWEST_POWER {
                self.has_dropped_digits = true;
                return;
            }
            let weight = i128::from(10_u64.pow(power.rem_euclid(DIGITS) as u32));
            self.add(power.div_euclid(DIGITS), sign * i128::from(digit) * weight);
            power -= 1;
        }
    }

    /// Returns true if every digit of every number is in the sum.
    pub const fn is_exact(&self) -> bool {
        !self.has_dropped_digits
    }

    /// The memory that the sum takes, in bytes. It depends on the observed numbers, not on their
    /// order.
    pub fn charge(&self) -> usize {
        64.max(self.limbs.len() * size_of::<i128>())
    }

    /// The memory that the sum takes after another one is merged, in bytes.
    pub fn merged_charge(&self, other: &Self) -> usize {
        if self.limbs.is_empty() || other.limbs.is_empty() {
            return self.charge().max(other.charge());
        }
        let end = |sum: &Self| sum.low + sum.limbs.len() as i64;
        let limbs = end(self).max(end(other)) - self.low.min(other.low);
        64.max(limbs as usize * size_of::<i128>())
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
        // Carries are propagated only when the sum is read. Until then a limb has room for more
        // than 10^19 additions, so no real input saturates it.
        let limb = &mut self.limbs[at];
        *limb = limb.saturating_add(value);
    }

    /// Returns the limbs with all carries propagated, each from 0 to below the base, and the carry
    /// out of the last limb.
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

    fn signed_digits(&self) -> SignedDigits {
        let negative = self.carried(1).1 < 0;
        // A negative sum has a negative carry. Negating every limb first gives the digits of its
        // magnitude.
        let (mut limbs, mut carry) = self.carried(if negative { -1 } else { 1 });
        while carry > 0 {
            limbs.push((carry % BASE) as u64);
            carry /= BASE;
        }
        let places = || (0..DIGITS as u32).rev().map(|place| 10_u64.pow(place));
        let digits = limbs.iter().rev().flat_map(|limb| places().map(move |place| (limb / place % 10) as u8));
        let digits: Vec<u8> = digits.skip_while(|&digit| digit == 0).collect();
        let power = if digits.is_empty() { 0 } else { self.low * DIGITS };
        SignedDigits { negative, digits, power }
    }

    /// Returns the sum divided by `count`, rounded once to the nearest double; `None` if `count` is
    /// 0.
    pub fn mean(&self, count: u64) -> Option<f64> {
        if count == 0 {
            return None;
        }
        let SignedDigits { negative, digits, mut power } = self.signed_digits();
        let mut quotient = String::from(if negative { "-0" } else { "0" });
        let mut rest: u128 = 0;
        let mut more = digits.into_iter();
        let mut significant = 0;
        // A double, or the midpoint between two, has at most 768 digits. Beyond them, it matters
        // only whether any digit follows, and one sticky digit stands for all of these.
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
        self.has_dropped_digits |= other.has_dropped_digits;
    }

    fn summary(&self) -> Exact {
        let SignedDigits { negative, digits, power } = self.signed_digits();
        let sign = if negative { "-" } else { "" };
        let digits: String = digits.into_iter().map(|digit| char::from(b'0' + digit)).collect();
        Exact::from_decimal(&format!("{sign}0{digits}e{power}"))
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ExactSum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.summary().as_str(), self.has_dropped_digits).serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for ExactSum {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (text, has_dropped_digits) = <(String, bool)>::deserialize(deserializer)?;
        let number = Number::parse(&text).map(|number| Decimal::new(number.lexeme()));
        let number = number
            .filter(|number| number.lead() < 400)
            .ok_or_else(|| serde::de::Error::custom("a sum must be a number below 1e400"))?;
        let mut sum = Self { has_dropped_digits, ..Self::default() };
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

    /// Short numbers leave the same limbs as digit by digit, and so the same memory.
    #[test]
    fn short_numbers_are_added_at_once() {
        for lexeme in ["0.0", "-0.5", "5.0", "12.34", "-99999999.9999999999", "10.05", "0.000000000000000001"]
        {
            let (mut short, mut long) = (ExactSum::default(), ExactSum::default());
            let number = Number::parse(lexeme).unwrap();
            short.observe(number);
            long.add_decimal(&Decimal::new(lexeme));
            assert_eq!((short.low, &short.limbs), (long.low, &long.limbs), "{lexeme}");
        }
        for lexeme in [
            "0.0",
            "-0.5",
            "5.0",
            "12.34",
            "-999999999999999999.999999999999999999",
            "0.000000000000000001",
            "10.05",
        ] {
            let (mut short, mut long) = (ExactSum::default(), ExactSum::default());
            assert!(short.add_short(lexeme), "{lexeme}");
            long.add_decimal(&Decimal::new(lexeme));
            assert_eq!((short.low, &short.limbs), (long.low, &long.limbs), "{lexeme}");
        }
        for lexeme in ["1", "1e5", "1.5e5", "1.5E-5", "1.0000000000000000001", "1234567890123456789.5"] {
            assert!(!ExactSum::default().add_short(lexeme), "{lexeme}");
        }
    }

    #[test]
    fn charges_of_merged_sums_are_known_before() {
        let numbers = ["1", "0.5", "1e100", "1e-300", "-2e100", "0"];
        for left in numbers.iter().map(|number| sum([*number])).chain([sum([])]) {
            for right in numbers.iter().map(|number| sum([*number])).chain([sum([])]) {
                let mut merged = left.clone();
                merged.merge(right.clone());
                assert_eq!(left.merged_charge(&right), merged.charge());
            }
        }
    }

    #[test]
    fn repeated_numbers_are_products() {
        for number in ["0", "7", "-0.25", "9223372036854775807", "-9223372036854775808", "1e30", "-1.5e-30"] {
            for times in [0, 1, 2, 1000] {
                let mut product = sum(["0.5"]);
                product.observe_times(Number::parse(number).unwrap(), times);
                let added = std::iter::repeat_n(number, times as usize).chain(["0.5"]);
                assert_eq!(product.summary(), sum(added).summary(), "{number} {times}");
            }
        }
        let mut product = ExactSum::default();
        product.observe_times(Number::parse("-9223372036854775808").unwrap(), u64::MAX);
        product.observe_integer(1);
        assert_eq!(product.summary().as_str(), "-1.70141183460469231722463931679029329919e38");
    }

    #[test]
    fn reports_dropped_digits() {
        let tiny = sum(["1e-1170", "1"]);
        assert!(tiny.is_exact());
        assert_eq!(tiny.summary().as_str().len(), 1172);
        let dropped = sum(["1e-1171", "1"]);
        assert!(!dropped.is_exact());
        assert_eq!(dropped.summary().as_str(), "1");
    }
}
