//! The I-Regexp that says the same as a pattern written for another engine.

use crate::regexp::Pattern;

/// Classes that other engines have an escape for, and their members in an I-Regexp.
const CLASSES: [(char, &str); 3] = [('d', "0-9"), ('w', "A-Za-z0-9_"), ('s', " \\t\\r\\n")];

impl Pattern {
    /// The I-Regexp that matches the same as a pattern in the syntax of other engines, if there is
    /// one: `\d` becomes `[0-9]`, `\w` `[A-Za-z0-9_]`, `\s` `[ \t\r\n]`, `(?:…)` a plain group, and
    /// a lazy repetition a plain one.
    ///
    /// Word boundaries, flags, look-around and backreferences have no counterpart.
    ///
    /// ```
    /// use trommel_query::Pattern;
    ///
    /// assert_eq!(Pattern::respelled(r"v\d+(?:\.\d+)?").as_deref(), Some(r"v[0-9]+(\.[0-9]+)?"));
    /// assert_eq!(Pattern::respelled(r"\bRT"), None);
    /// ```
    pub fn respelled(text: &str) -> Option<String> {
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
                    // Laziness changes how much is matched, and never whether something is.
                    rest = rest.strip_prefix('?').unwrap_or(rest);
                }
                c => out.push(c),
            }
        }
        (out != text && Self::new(&out, true).is_ok()).then_some(out)
    }
}

/// Writes what an escape stands for. Nothing, if an I-Regexp cannot say it.
fn push_escape(escaped: char, in_class: bool, out: &mut String) -> Option<()> {
    let lower = escaped.to_ascii_lowercase();
    if let Some((_, members)) = CLASSES.iter().find(|(name, _)| *name == lower) {
        let negated = escaped.is_ascii_uppercase();
        match (in_class, negated) {
            (true, true) => return None,
            (true, false) => out.push_str(members),
            (false, true) => out.extend(["[^", members, "]"]),
            (false, false) => out.extend(["[", members, "]"]),
        }
        return Some(());
    }
    match escaped {
        // What I-Regexp escapes as well.
        'n' | 'r' | 't' | 'p' | 'P' | '('..='+' | '-' | '.' | '?' | '['..='^' | '{'..='}' => {
            out.push('\\');
            out.push(escaped);
        }
        // A letter or digit means something to other engines.
        escaped if escaped.is_alphanumeric() => return None,
        '$' => out.push_str("[$]"),
        escaped => out.push(escaped),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn respells_what_other_engines_write() {
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
            assert_eq!(Pattern::respelled(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn respelled_patterns_match_the_same() {
        for (text, subject, is_match) in
            [(r"\d{2}", "42", true), (r"\w+\s\w+", "a b", true), (r"\D", "7", false), (r"x*?y", "xxy", true)]
        {
            let pattern = Pattern::new(&Pattern::respelled(text).unwrap(), true).unwrap();
            assert_eq!(pattern.is_match(subject), is_match, "{text}");
        }
    }
}
