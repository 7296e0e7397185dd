//! The smallest or largest value of a group.

use std::cmp::Ordering;

use trommel_base::decimal::compare_numbers;

use crate::value::decoded;

/// The smallest or largest value so far, as first written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extreme {
    /// Empty without values.
    text: Box<[u8]>,
    /// The nearest double, if it is a number.
    double: f64,
    /// The length of the longest value observed. It does not depend on the order, as the length of
    /// the text would.
    longest: u32,
}

impl Extreme {
    /// Replaces the value with a number whose nearest double is `double`, if that compares to it as
    /// `wanted`.
    pub(crate) fn observe_number(&mut self, lexeme: &[u8], double: f64, wanted: Ordering) {
        // Rounding is monotonic, so only numbers with equal doubles need their digits.
        let order = double.partial_cmp(&self.double).filter(|order| order.is_ne());
        let digits = || compare_numbers(&text(lexeme), &text(&self.text));
        if self.text.is_empty() || order.unwrap_or_else(digits) == wanted {
            (self.text, self.double) = (lexeme.into(), double);
        }
        self.longest = self.longest.max(lexeme.len() as u32);
    }

    /// Replaces the value with a string, if that compares to it as `wanted`.
    pub(crate) fn observe_string(&mut self, quoted: &[u8], wanted: Ordering) {
        if self.text.is_empty() || compare_strings(quoted, &self.text) == wanted {
            self.text = quoted.into();
        }
        self.longest = self.longest.max(quoted.len() as u32);
    }

    /// Merges the extreme of later values. Both are numbers, or both are strings.
    pub(crate) fn merge(&mut self, later: &Self, wanted: Ordering) {
        match later.text.first() {
            None => {}
            Some(b'"') => self.observe_string(&later.text, wanted),
            Some(_) => self.observe_number(&later.text, later.double, wanted),
        }
        self.longest = self.longest.max(later.longest);
    }

    /// A stored extreme; without a value if the text is empty.
    #[cfg(feature = "serde")]
    pub(crate) fn restored(text: &str, double: f64, longest: u32) -> Self {
        Self { text: text.as_bytes().into(), double, longest }
    }

    /// The length of the longest value observed.
    #[cfg(feature = "serde")]
    pub(crate) const fn longest(&self) -> u32 {
        self.longest
    }

    /// The value as first written, if there is one.
    pub(crate) fn value(&self) -> Option<&[u8]> {
        Some(&*self.text).filter(|text| !text.is_empty())
    }

    /// Bytes beyond the row.
    pub(crate) fn charge(&self) -> usize {
        self.longest as usize
    }

    /// Bytes beyond the row after a merge.
    pub(crate) fn merged_charge(&self, later: &Self) -> usize {
        self.longest.max(later.longest) as usize
    }
}

/// Compares two strings by their code points.
pub(crate) fn compare_strings(left: &[u8], right: &[u8]) -> Ordering {
    if !left.contains(&b'\\') && !right.contains(&b'\\') {
        // The closing quote must not take part: characters below it exist.
        return left[..left.len() - 1].cmp(&right[..right.len() - 1]);
    }
    decoded(left).cmp(&decoded(right))
}

/// A lexeme as text. It was validated, so it is ASCII.
pub(crate) fn text(lexeme: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(lexeme)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(extreme: &mut Extreme, lexeme: &str, wanted: Ordering) {
        extreme.observe_number(lexeme.as_bytes(), lexeme.parse().unwrap(), wanted);
    }

    #[test]
    fn numbers_compare_by_value_and_print_as_first_written() {
        let (mut min, mut max) = (Extreme::default(), Extreme::default());
        assert_eq!(min.value(), None);
        for lexeme in ["9007199254740993", "9007199254740992.0", "9007199254740992", "9007199254740993e0"] {
            number(&mut min, lexeme, Ordering::Less);
            number(&mut max, lexeme, Ordering::Greater);
        }
        assert_eq!(min.value(), Some(&b"9007199254740992.0"[..]));
        assert_eq!(max.value(), Some(&b"9007199254740993"[..]));
        number(&mut max, "1e400", Ordering::Greater);
        number(&mut max, "1e99999999999999999999", Ordering::Greater);
        number(&mut max, "9e9999999999999999999", Ordering::Greater);
        min.merge(&max, Ordering::Less);
        min.merge(&Extreme::default(), Ordering::Less);
        assert_eq!(min.value(), Some(&b"9007199254740992.0"[..]));
        max.merge(&min, Ordering::Greater);
        assert_eq!(max.value(), Some(&b"1e99999999999999999999"[..]));
        assert_eq!((min.charge(), min.merged_charge(&max)), (22, 22));
    }

    #[test]
    fn strings_compare_by_code_point() {
        let ascending = [
            "\"\"",
            "\"\\u0000\"",
            "\" \"",
            "\"\\u0021\"",
            "\"\\\"\"",
            "\"a\"",
            "\"a \"",
            "\"b\"",
            "\"\u{E000}\"",
            "\"\\ud83d\\ude00\"",
        ];
        for (one, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(
                    compare_strings(left.as_bytes(), right.as_bytes()),
                    one.cmp(&other),
                    "{left} {right}"
                );
            }
        }
        let mut max = Extreme::default();
        for text in ["\"b\"", "\"\\u0062\"", "\"a\""] {
            max.observe_string(text.as_bytes(), Ordering::Greater);
        }
        assert_eq!(max.value(), Some(&b"\"b\""[..]));
    }
}
