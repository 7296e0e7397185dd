//! Character budgets for the rows of a page.

use std::io;

use serde::Serialize;
use trommel_base::text::count_chars;

use crate::error::{RequestFault, Result};

/// The maximum number of rows of a page.
pub const MAX_ROWS: usize = 50_000;

/// Fails if a page size is zero or too large.
pub(crate) fn check_limit(limit: usize) -> Result<()> {
    match limit {
        1..=MAX_ROWS => Ok(()),
        _ => Err(RequestFault::Limit { given: limit, max: MAX_ROWS }.into()),
    }
}

/// The minimum budget, which suffices for any row after truncation.
const MIN_CHARS: usize = 200;

/// The default budget for the rows of a page.
pub(crate) const DEFAULT_MAX_CHARS: usize = 1_000_000;

/// The remaining budget of a page whose rows form a JSON array.
#[derive(Debug)]
pub(crate) struct CharBudget {
    left: usize,
    is_full: bool,
    is_empty: bool,
}

impl CharBudget {
    pub(crate) fn new(max_chars: usize) -> Result<Self> {
        if max_chars < MIN_CHARS {
            return Err(RequestFault::MaxChars { given: max_chars, min: MIN_CHARS }.into());
        }
        // One character for the opening bracket.
        Ok(Self { left: max_chars - 1, is_full: false, is_empty: true })
    }

    /// True if a row did not fit, which ends the page.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// True if no row was added yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Returns the maximum number of characters of the next row.
    pub(crate) fn remaining(&self) -> usize {
        // One character for the comma or bracket after the row.
        self.left.saturating_sub(1)
    }

    /// Raises the budget so that a row fits.
    pub(crate) fn raise_to_fit(&mut self, row: &impl Serialize) {
        self.left = self.left.max(json_chars(row) + 1);
    }

    /// Adds a row if it fits. Returns false, and ends the page, if not.
    pub(crate) fn try_add(&mut self, row: &impl Serialize) -> bool {
        let chars = json_chars(row);
        self.is_full |= chars > self.remaining();
        if !self.is_full {
            self.left -= chars + 1;
            self.is_empty = false;
        }
        !self.is_full
    }
}

/// Returns the number of characters of a value's JSON.
pub(crate) fn json_chars(value: &impl Serialize) -> usize {
    let mut chars = Chars(0);
    // Serializing rows to a counter cannot fail.
    let _ = serde_json::to_writer(&mut chars, value);
    chars.0
}

/// A writer that counts characters.
struct Chars(usize);

impl io::Write for Chars {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += count_chars(bytes) as usize;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the longest prefix of a text that takes at most `max` characters inside JSON quotes.
pub(crate) fn prefix(text: &str, max_chars: usize) -> &str {
    let mut chars = 0;
    let end = text.char_indices().find(|(_, c)| {
        chars += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            _ => 1,
        };
        chars > max_chars
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_stays_within_its_budget() {
        let rows = ["é".repeat(95), "x".repeat(100), "y".repeat(100)];
        for (max_chars, fit) in [(200, 1), (201, 1), (202, 2), (304, 2), (305, 3), (1_000, 3)] {
            let mut budget = CharBudget::new(max_chars).unwrap();
            let taken = rows.iter().take_while(|row| budget.try_add(row)).collect::<Vec<_>>();
            assert_eq!(taken.len(), fit, "{max_chars}");
            assert!(json_chars(&taken) <= max_chars && budget.is_full() == (fit < 3), "{max_chars}");
        }
        assert!(CharBudget::new(199).unwrap_err().to_string().contains("less than 200"));
    }

    #[test]
    fn prefixes_count_escaped_characters() {
        for (text, max_chars, expected) in
            [("a\nb", 3, "a\n"), ("é\u{1}b", 6, "é"), ("é\u{1}b", 7, "é\u{1}"), ("ab", 9, "ab")]
        {
            assert_eq!(prefix(text, max_chars), expected);
            assert!(json_chars(&prefix(text, max_chars)) <= max_chars + 2);
        }
    }
}
