//! How many characters the rows of a page may have together.

use std::io;

use serde::Serialize;
use trommel_base::text::count_chars;

use crate::error::{RequestFault, Result};

/// Rows of a page at most.
pub const MOST_ROWS: usize = 50_000;

/// An error for a page that has no rows, or too many.
pub(crate) fn check_limit(limit: usize) -> Result<()> {
    match limit {
        1..=MOST_ROWS => Ok(()),
        _ => Err(RequestFault::Limit { given: limit, max: MOST_ROWS }.into()),
    }
}

/// Characters of a page that are enough for a row.
const LEAST: usize = 200;

/// Characters of the rows of a page together, unless something else is asked for.
pub(crate) const ROWS: usize = 1_000_000;

/// The room that is left in a page, whose rows stand in a list.
#[derive(Debug)]
pub(crate) struct Room {
    left: usize,
    is_full: bool,
    is_empty: bool,
}

impl Room {
    pub(crate) fn new(max_chars: usize) -> Result<Self> {
        if max_chars < LEAST {
            return Err(RequestFault::MaxChars { given: max_chars, min: LEAST }.into());
        }
        // The list's first bracket.
        Ok(Self { left: max_chars - 1, is_full: false, is_empty: true })
    }

    /// Whether a row did not fit, which ends the page.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether no row was taken yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Characters that the next row may have.
    pub(crate) fn left(&self) -> usize {
        // Behind it stands a comma or a bracket.
        self.left.saturating_sub(1)
    }

    /// Makes as much room as a row needs.
    pub(crate) fn make(&mut self, row: &impl Serialize) {
        self.left = self.left.max(json_chars(row) + 1);
    }

    /// Whether there is room for a row, which then is taken.
    pub(crate) fn take(&mut self, row: &impl Serialize) -> bool {
        let chars = json_chars(row);
        self.is_full |= chars > self.left();
        if !self.is_full {
            self.left -= chars + 1;
            self.is_empty = false;
        }
        !self.is_full
    }
}

/// Characters of something's JSON.
pub(crate) fn json_chars(value: &impl Serialize) -> usize {
    let mut chars = Chars(0);
    // Nothing that is shown here fails to be written.
    let _ = serde_json::to_writer(&mut chars, value);
    chars.0
}

/// Counts characters of what is written.
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

/// The longest beginning of a text that has at most so many characters within JSON's quotes.
pub(crate) fn beginning(text: &str, most: usize) -> &str {
    let mut chars = 0;
    let end = text.char_indices().find(|(_, c)| {
        chars += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            _ => 1,
        };
        chars > most
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_the_characters_that_were_asked_for() {
        let rows = ["é".repeat(95), "x".repeat(100), "y".repeat(100)];
        for (most, fit) in [(200, 1), (201, 1), (202, 2), (304, 2), (305, 3), (1_000, 3)] {
            let mut room = Room::new(most).unwrap();
            let taken = rows.iter().take_while(|row| room.take(row)).collect::<Vec<_>>();
            assert_eq!(taken.len(), fit, "{most}");
            assert!(json_chars(&taken) <= most && room.is_full() == (fit < 3), "{most}");
        }
        assert!(Room::new(199).unwrap_err().to_string().contains("less than 200"));
    }

    #[test]
    fn beginnings_count_what_is_escaped() {
        for (text, most, expected) in
            [("a\nb", 3, "a\n"), ("é\u{1}b", 6, "é"), ("é\u{1}b", 7, "é\u{1}"), ("ab", 9, "ab")]
        {
            assert_eq!(beginning(text, most), expected);
            assert!(json_chars(&beginning(text, most)) <= most + 2);
        }
    }
}
