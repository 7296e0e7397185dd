//! Names and strings as queries of RFC 9535 write them.

use std::fmt::{self, Write};

/// True if a name can follow a dot without quotes (section 2.5.1.1).
pub fn is_shorthand(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit())
}

/// Writes a name or string in single quotes, escaped as in a normalized path (section 2.7).
///
/// # Errors
///
/// Only errors of `out`.
pub fn write_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('\'')?;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || c == '\'' || c == '\\') {
        let (plain, tail) = rest.split_at(at);
        out.write_str(plain)?;
        let mut chars = tail.chars();
        if let Some(c) = chars.next() {
            write_escape(out, c)?;
        }
        rest = chars.as_str();
    }
    out.write_str(rest)?;
    out.write_char('\'')
}

/// Writes the escape of a character that a quoted literal cannot contain.
///
/// # Errors
///
/// Only errors of `out`.
pub fn write_escape(out: &mut impl Write, c: char) -> fmt::Result {
    match c {
        '\u{8}' => out.write_str("\\b"),
        '\t' => out.write_str("\\t"),
        '\n' => out.write_str("\\n"),
        '\u{c}' => out.write_str("\\f"),
        '\r' => out.write_str("\\r"),
        '\'' | '"' | '\\' => write!(out, "\\{c}"),
        _ => write!(out, "\\u{:04x}", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_as_in_normalized_paths() -> fmt::Result {
        let mut out = String::new();
        write_quoted(&mut out, "a'\"\\\u{0}\u{8}\t\n\u{b}\u{c}\r\u{1f}\u{7f}ü/")?;
        assert_eq!(out, "'a\\'\"\\\\\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\u{7f}ü/'");
        Ok(())
    }

    #[test]
    fn names_of_the_grammar_follow_a_dot() {
        let short = ["a", "_1", "é☺", "a1"];
        let quoted = ["", "1a", "a b", "a-b", "it's", "\n"];
        assert!(short.into_iter().all(is_shorthand) && !quoted.into_iter().any(is_shorthand));
    }
}
