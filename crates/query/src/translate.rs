//! Translates patterns of other regex engines to I-Regexp.

use crate::regexp::Pattern;

/// The class escapes of other engines, and the members of each class in an I-Regexp.
const CLASSES: [(char, &str); 3] = [('d', "0-9"), ('w', "A-Za-z0-9_"), ('s', " \\t\\r\\n")];

impl Pattern {
    /// Translates a pattern of another engine to an equivalent I-Regexp, if there is one. `\d`
    /// becomes `[0-9]`, `\w` becomes `[A-Za-z0-9_]`, and `\s` becomes `[ \t\r\n]`. `(?:…)` becomes
    /// a plain group, and a lazy repetition a greedy one.
    ///
    /// Returns `None` for word boundaries, flags, look-around, and backreferences, which have no
    /// equivalent, and for a text that needs no translation.
    ///
    /// ```
    /// use trommel_query::Pattern;
    ///
    /// assert_eq!(Pattern::translate(r"v\d+(?:\.\d+)?").as_deref(), Some(r"v[0-9]+(\.[0-9]+)?"));
    /// assert_eq!(Pattern::translate(r"\bRT"), None);
    /// ```
    pub fn translate(text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len() * 2);
        let mut rest = text;
        let mut in_class = false;
        while let Some(c) = rest.chars().next() {
            rest = rest.get(c.len_utf8()..)?;
            match c {
                '\\' => {
                    let escaped = rest.chars().next()?;
                    rest = rest.get(escaped.len_utf8()..)?;
                    push_escape(escaped, in_class, &mut out)?;
                }
                '[' if in_class => out.push_str("\\["),
                '[' => {
                    in_class = true;
                    out.push(c);
                }
                ']' => {
                    in_class = false;
                    out.push(c);
                }
                '(' if !in_class && rest.starts_with("?:") => {
                    rest = rest.get(2..)?;
                    out.push(c);
                }
                '*' | '+' | '?' | '}' if !in_class => {
                    out.push(c);
                    // Laziness affects the extent of a match but never whether there is one.
                    rest = rest.strip_prefix('?').unwrap_or(rest);
                }
                c => out.push(c),
            }
        }
        (out != text && Self::new(&out, true).is_ok()).then_some(out)
    }
}

/// Writes the translation of an escape. Returns `None` if I-Regexp has no equivalent.
fn push_escape(escaped: char, in_class: bool, out: &mut String) -> Option<()> {
    let lower = escaped.to_ascii_lowercase();
    if let Some((_, members)) = CLASSES.iter().find(|(name, _)| *name == lower) {
        let negated = escaped.is_ascii_uppercase();
        match (in_class, negated) {
            // A negated class inside another class would need class subtraction.
            (true, true) => return None,
            (true, false) => out.push_str(members),
            (false, true) => out.extend(["[^", members, "]"]),
            (false, false) => out.extend(["[", members, "]"]),
        }
        return Some(());
    }
    match escaped {
        // I-Regexp has the same escapes.
        'n' | 'r' | 't' | 'p' | 'P' | '('..='+' | '-' | '.' | '?' | '['..='^' | '{'..='}' => {
            out.push('\\');
            out.push(escaped);
        }
        // Other engines give an escaped letter or digit a meaning of its own.
        escaped if escaped.is_alphanumeric() => return None,
        // I-Regexp has no escape for `$`.
        '$' => out.push_str("[$]"),
        escaped => out.push(escaped),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translates_constructs_of_other_engines() {
        for (text, expected) in [
            (r"\d+", Some("[0-9]+")),
            (r"[\w.]+@\w+", Some("[A-Za-z0-9_.]+@[A-Za-z0-9_]+")),
            (r"a\sb", Some(r"a[ \t\r\n]b")),
            (r"\D\S", Some(r"[^0-9][^ \t\r\n]")),
            ("a.*?b", Some("a.*b")),
            ("(?:ab)+", Some("(ab)+")),
            (r"a\/b", Some("a/b")),
            (r"\$5", Some("[$]5")),
            ("[[]", Some(r"[\[]")),
            ("a+", None),
            ("[0-9", None),
            (r"\bRT", None),
            ("(?i)rt", None),
            (r"(a)\1", None),
            (r"[\D]", None),
            ("\\", None),
        ] {
            assert_eq!(Pattern::translate(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn translated_patterns_match_the_same() {
        for (text, subject, is_match) in
            [(r"\d{2}", "42", true), (r"\w+\s\w+", "a b", true), (r"\D", "7", false), (r"x*?y", "xxy", true)]
        {
            let pattern = Pattern::new(&Pattern::translate(text).unwrap(), true).unwrap();
            assert_eq!(pattern.is_match(subject), is_match, "{text}");
        }
    }
}
