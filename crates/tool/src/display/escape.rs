//! What must not reach a terminal as it stands.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character could make a terminal do something, hide text, or make a reader see another text than there is:
/// control characters, marks that turn the direction round, characters without width that join nothing, and tags.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}

/// A text for a terminal, on one line: whatever could deceive a reader or do something to a terminal is written as JSON
/// would escape it.
///
/// ```
/// use trommel_tool::display::safe;
///
/// assert_eq!(safe("plain ü"), "plain ü");
/// assert_eq!(safe("\u{1b}[2J\u{202e}evil"), "\\u001b[2J\\u202eevil");
/// ```
pub fn safe(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        if is_unsafe(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// The lines of a text, each [`safe`], with tabs as four spaces. A carriage return before a line's end is part of it.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line =
            if line.contains('\t') { Cow::Owned(line.replace('\t', "    ")) } else { Cow::Borrowed(line) };
        safe(&line).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_dangerous_is_left() {
        let text: String = (0..0x11_0000).filter_map(char::from_u32).filter(|&c| is_unsafe(c)).collect();
        let escaped = safe(&text);
        assert!(escaped.is_ascii() && !escaped.contains(char::is_control));
        // JSON's escapes, so that nothing is lost.
        assert_eq!(serde_json::from_str::<String>(&format!("\"{escaped}\"")).unwrap(), text);
    }

    #[test]
    fn joined_and_combining_characters_stay() {
        for text in ["e\u{301}", "👨\u{200d}👩\u{200d}👧", "☺\u{fe0f}", "日本語", "a\u{a0}b"] {
            assert_eq!(safe(text), text);
        }
    }

    #[test]
    fn lines_end_as_on_any_system() {
        assert_eq!(lines("a\r\nb\tc\rd\n").collect::<Vec<_>>(), ["a", "b    c\\u000dd", ""]);
    }
}
