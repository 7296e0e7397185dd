//! Numbers for people, rounded. JSON has all digits.

use trommel::statistics::Exact;
use trommel_base::text::grouped;

use crate::size::size;

/// The number of significant digits.
const DIGITS: i32 = 6;

/// Integers with more digits are rounded, in tables with many columns of numbers and in others.
const MAX_DIGITS: usize = 12;
const MAX_DIGITS_WIDE: usize = 15;

/// Formats a size in units of 1024 with their own names: `1.5 MiB`.
pub fn binary(bytes: u64) -> String {
    let size = size(bytes);
    match size.strip_suffix('B') {
        Some(figure) if !figure.ends_with(' ') => format!("{figure}iB"),
        _ => size,
    }
}

/// Formats an exact number: integers in full unless they are long, others rounded.
pub fn exact(number: &Exact) -> String {
    within(number.as_str(), MAX_DIGITS)
}

/// Formats a JSON number: integers in full unless they are very long, others rounded.
pub fn number_text(text: &str) -> String {
    within(text, MAX_DIGITS_WIDE)
}

fn within(text: &str, max_digits: usize) -> String {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.len() <= max_digits
        && let Ok(integer) = digits.parse()
    {
        return sign(text.len() > digits.len()) + &grouped(integer);
    }
    let double = text.parse().unwrap_or(f64::NAN);
    // Beyond the range of a double, the text itself is shortened.
    if double.is_finite() && double != 0.0 { rounded(double) } else { short_mantissa(text) }
}

/// Formats a double with about six significant digits: `4,977,472`, `317.25`, `1.2e-7`.
pub fn rounded(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || !number.is_finite() {
        return size.to_string();
    }
    if !(1e-4..1e12).contains(&size) {
        return short_mantissa(&format!("{number:.0$e}", DIGITS as usize - 1));
    }
    let decimals = (DIGITS - 1 - size.log10().floor() as i32).max(0);
    let text = format!("{size:.0$}", decimals as usize);
    let (integer, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let integer = integer.parse().map_or_else(|_| integer.to_owned(), grouped);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    sign(number < 0.0) + &integer + point + fraction
}

/// Truncates the digits before an exponent, and removes zeros at their end.
fn short_mantissa(text: &str) -> String {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let negative = mantissa.starts_with('-');
    let digits = mantissa.trim_start_matches('-');
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // A long integer without an exponent gets one.
    let (first, moved) = integer.split_at(integer.len().min(1));
    let exponent = exponent.parse::<i64>().map_or_else(
        |_| exponent.to_owned(),
        |exponent| exponent.saturating_add(moved.len() as i64).to_string(),
    );
    let fraction: String = moved.chars().chain(fraction.chars()).take(DIGITS as usize - 1).collect();
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    let exponent = if exponent == "0" { String::new() } else { format!("e{exponent}") };
    format!("{}{first}{point}{fraction}{exponent}", sign(negative))
}

fn sign(negative: bool) -> String {
    if negative { "-".into() } else { String::new() }
}

/// Formats a part of a whole in percent. Only a whole is 100 %, and only nothing is 0 %.
pub fn share(part: u64, whole: u64) -> String {
    let percent = part as f64 / whole as f64 * 100.0;
    match percent {
        _ if part >= whole => "100 %".into(),
        _ if part == 0 => "0 %".into(),
        0.1..=99.9 => format!("{percent:.1} %").replace(".0 %", " %"),
        _ if percent < 1.0 => "<0.1 %".into(),
        _ => ">99.9 %".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::reader::Number;

    #[test]
    fn sizes_name_binary_units() {
        for (bytes, text) in
            [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (29_874_354, "28.5 MiB"), (1 << 40, "1 TiB")]
        {
            assert_eq!(binary(bytes), text);
        }
    }

    #[test]
    fn doubles_have_six_digits() {
        let cases = [
            (0.0, "0"),
            (317.25, "317.25"),
            (-1.5, "-1.5"),
            (2.934_922_604_900_214, "2.93492"),
            (4_977_472.069_783_334, "4,977,472"),
            (12_345.678_9, "12,345.7"),
            (999_999.97, "1,000,000"),
            (0.1 + 0.2, "0.3"),
            (0.000_123_456_789, "0.000123457"),
            (1e-7, "1e-7"),
            (-1.234_567_89e-300, "-1.23457e-300"),
            (298_648_324_187.0, "298,648,324,187"),
            (5.058_749_240_958_157e17, "5.05875e17"),
            (f64::INFINITY, "inf"),
        ];
        for (number, text) in cases {
            assert_eq!(rounded(number), text);
        }
    }

    #[test]
    fn integers_are_exact_up_to_some_digits() {
        let cases = [
            ("0", "0"),
            ("-42", "-42"),
            ("123456789012", "123,456,789,012"),
            ("-1234567890123", "-1.23457e12"),
            ("505874924095815681", "5.05875e17"),
            ("0.10", "0.1"),
            ("1e400", "1e400"),
            ("-1.23456789e400", "-1.23456e400"),
            ("1.5e-400", "1.5e-400"),
        ];
        for (number, text) in cases {
            assert_eq!(exact(&Exact::new(Number::parse(number).unwrap())), text);
        }
        assert_eq!(number_text("-123456789012345"), "-123,456,789,012,345");
        let long = format!("98765432{}", "1".repeat(400));
        assert_eq!(exact(&Exact::new(Number::parse(&long).unwrap())), "9.87654e407");
    }

    #[test]
    fn only_a_whole_is_all() {
        let cases = [
            (0, 3, "0 %"),
            (1, 3, "33.3 %"),
            (1, 2, "50 %"),
            (3, 3, "100 %"),
            (1, 100_000, "<0.1 %"),
            (99_999, 100_000, ">99.9 %"),
            (999, 1000, "99.9 %"),
            (1, 1000, "0.1 %"),
        ];
        for (part, whole, text) in cases {
            assert_eq!(share(part, whole), text, "{part} of {whole}");
        }
    }
}
