//! I-Regexp (RFC 9485): the grammar of section 3, and the mapping of section 5.4 to the syntax of
//! `regex`.

use std::iter::Peekable;
use std::str::Chars;

/// Translates a pattern to the syntax of the crate `regex`; `None` if it is not an I-Regexp.
///
/// `^` and `$` are copied and so become anchors, as in the mappings of section 5.
pub(super) fn translate(pattern: &str) -> Option<String> {
    let mut translation = Translation { rest: pattern.chars().peekable(), out: String::new(), open: 0 };
    while translation.rest.peek().is_some() {
        translation.piece()?;
    }
    (translation.open == 0).then_some(translation.out)
}

struct Translation<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    open: usize,
}

impl Translation<'_> {
    fn piece(&mut self) -> Option<()> {
        match self.rest.next()? {
            '|' => {
                self.out.push('|');
                return Some(());
            }
            '(' => {
                self.open += 1;
                self.out.push_str("(?:");
                return Some(());
            }
            ')' => {
                self.open = self.open.checked_sub(1)?;
                self.out.push(')');
            }
            '.' => self.out.push_str(r"[^\n\r]"),
            '\\' => self.escape()?,
            '[' => self.class()?,
            '*' | '+' | '?' | ']' | '{' | '}' => return None,
            anchor @ ('^' | '$') => self.out.push(anchor),
            character => self.plain(character),
        }
        self.quantifier()
    }

    fn plain(&mut self, character: char) {
        self.out.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
    }

    fn quantifier(&mut self) -> Option<()> {
        match self.rest.peek() {
            Some('*' | '+' | '?') => self.out.extend(self.rest.next()),
            Some('{') => {
                let range = self.braces()?;
                let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let (least, most) = range.split_once(',').unwrap_or((&range, ""));
                if !number(least) || !(most.is_empty() || number(most)) {
                    return None;
                }
                self.out.extend(["{", &range, "}"]);
            }
            _ => {}
        }
        Some(())
    }

    /// Reads braces at the current position and returns the text between them.
    fn braces(&mut self) -> Option<String> {
        self.rest.next_if_eq(&'{')?;
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                '}' => return Some(text),
                character => text.push(character),
            }
        }
    }

    /// Translates the rest of an escape after its backslash, inside or outside a class.
    fn escape(&mut self) -> Option<()> {
        match self.rest.next()? {
            character @ ('(' | ')' | '*' | '+' | '-' | '.' | '?' | '[' | '\\' | ']' | '^' | '{' | '|'
            | '}') => {
                self.out.extend(['\\', character]);
            }
            character @ ('n' | 'r' | 't') => self.out.extend(['\\', character]),
            character @ ('p' | 'P') => {
                let name = self.braces().filter(|name| CATEGORIES.contains(&name.as_str()))?;
                self.out.extend(['\\', character, '{']);
                self.out.extend([&name, "}"]);
            }
            _ => return None,
        }
        Some(())
    }

    /// Translates a class after its opening bracket.
    fn class(&mut self) -> Option<()> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        if self.rest.next_if_eq(&'-').is_some() {
            self.out.push_str(r"\-");
        } else if self.rest.peek() == Some(&']') {
            return None;
        }
        loop {
            match self.rest.next()? {
                ']' => break,
                '-' => {
                    self.out.push_str(r"\-");
                    self.rest.next_if_eq(&']')?;
                    break;
                }
                character => self.class_item(character)?,
            }
        }
        self.out.push(']');
        Some(())
    }

    /// Translates a character, a range, or a category.
    fn class_item(&mut self, character: char) -> Option<()> {
        if character == '\\' && matches!(self.rest.peek(), Some('p' | 'P')) {
            return self.escape();
        }
        self.class_character(character)?;
        // A hyphen before the closing bracket is a literal, not a range.
        let mut ahead = self.rest.clone();
        if ahead.next() == Some('-') && ahead.peek() != Some(&']') {
            self.rest.next();
            self.out.push('-');
            let end = self.rest.next()?;
            self.class_character(end)?;
        }
        Some(())
    }

    fn class_character(&mut self, character: char) -> Option<()> {
        match character {
            '[' | ']' | '-' => return None,
            '\\' if matches!(self.rest.peek(), Some('p' | 'P')) => return None,
            '\\' => self.escape()?,
            _ => self.plain(character),
        }
        Some(())
    }
}

/// The general categories of Unicode that section 3 lists.
const CATEGORIES: [&str; 36] = [
    "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Pe",
    "Pf", "Pi", "Po", "Ps", "Z", "Zl", "Zp", "Zs", "S", "Sc", "Sk", "Sm", "So", "C", "Cc", "Cf", "Cn", "Co",
];

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    fn matches(pattern: &str, subject: &str) -> bool {
        let pattern = translate(pattern).unwrap();
        Regex::new(&format!(r"\A(?:{pattern})\z")).unwrap().is_match(subject)
    }

    #[test]
    fn accepts_every_form_of_the_grammar() {
        for (pattern, subject) in [
            ("", ""),
            ("a|b", "b"),
            ("(ab)*", "abab"),
            ("()", ""),
            ("a{2}", "aa"),
            ("a{2,}", "aaa"),
            ("a{1,2}", "a"),
            ("[a-c]+", "abc"),
            ("[-a]", "-"),
            ("[a-]", "-"),
            ("[^a-]", "b"),
            ("[-]", "-"),
            ("[&&~~#]", "~"),
            (r"[\[\]\-\n]", "]"),
            (r"\p{Lu}\P{Lu}", "Aa"),
            (r"[\p{Nd}x]+", "1x2"),
            (r"\(\.\)", "(.)"),
            ("a#b c", "a#b c"),
            (".", "\u{2028}"),
            ("€&-,/:~", "€&-,/:~"),
        ] {
            assert!(matches(pattern, subject), "{pattern}");
        }
        assert!(!matches(".", "\n") && !matches(".", "\r") && !matches("a|b", "ab"));
    }

    #[test]
    fn rejects_other_syntax() {
        for pattern in [
            "(",
            ")",
            "a**",
            "a*?",
            "*",
            "a{",
            "a{1",
            "(*a)",
            "a|*",
            "a{,2}",
            "a{x}",
            "a{1}{2}",
            "]",
            "}",
            "[",
            "[]",
            "[^]",
            "[a",
            "[[a]",
            "[a-b-c]",
            r"\d",
            r"\w",
            r"\b",
            r"\",
            r"\p{L",
            r"\p{Cs}",
            r"\p{Greek}",
            r"\pL",
            r"[\p{L}-z]x[",
            r"[a-\p{L}]",
            "(?:a)",
            r"\1",
            "[--a]",
        ] {
            assert_eq!(translate(pattern), None, "{pattern}");
        }
    }
}
