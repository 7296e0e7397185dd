//! Rewrites expressions, so that they can be applied to more than one line or string at once.
//!
//! A rewritten expression finds every match of the original, and possibly more. Each of its matches
//! lies within one line, or between two bytes that no plain JSON string contains. So a search of
//! many lines or strings takes linear time, and each match leads to one of them.

use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
    Repetition,
};

/// The last control character, which ends the range of those that JSON strings must escape.
const LAST_CONTROL: char = '\u{1F}';

/// A rule for rewriting an expression.
struct Rewrite {
    /// The characters that no match may contain.
    excluded: &'static [(char, char)],
    /// Returns the replacement of an assertion.
    look: fn(Look) -> Hir,
}

/// Rewrites an expression for single lines for use on a block of lines.
pub(crate) fn for_blocks(expression: &Hir) -> Hir {
    let look = |look| {
        Hir::look(match look {
            Look::Start => Look::StartLF,
            // A line may end with CR LF, which is not part of it.
            Look::End | Look::EndLF => Look::EndCRLF,
            other => other,
        })
    };
    Rewrite { excluded: &[('\n', '\n')], look }.apply(expression)
}

/// Rewrites an expression for strings for use on JSON text. It finds matches in strings without
/// escapes.
pub(crate) fn for_json(expression: &Hir) -> Hir {
    let excluded = &[('\0', LAST_CONTROL), ('"', '"'), ('\\', '\\')];
    // The ends of a string are not those of the text, and a block of JSON text may begin or end
    // within a word, so assertions are left to the search in each string.
    Rewrite { excluded, look: |_| Hir::empty() }.apply(expression)
}

impl Rewrite {
    /// Recursion is bounded by the nesting that the parser allows.
    fn apply(&self, expression: &Hir) -> Hir {
        match expression.kind() {
            HirKind::Empty => Hir::empty(),
            HirKind::Literal(literal) => {
                let is_excluded = literal.0.iter().any(|&byte| self.excludes(byte));
                if is_excluded { Hir::fail() } else { expression.clone() }
            }
            HirKind::Class(class) => Hir::class(self.class(class)),
            HirKind::Look(look) => (self.look)(*look),
            HirKind::Repetition(repetition) => Hir::repetition(Repetition {
                sub: Box::new(self.apply(&repetition.sub)),
                ..repetition.clone()
            }),
            // Captures are not used.
            HirKind::Capture(Capture { sub, .. }) => self.apply(sub),
            HirKind::Concat(parts) => Hir::concat(parts.iter().map(|part| self.apply(part)).collect()),
            HirKind::Alternation(parts) => {
                Hir::alternation(parts.iter().map(|part| self.apply(part)).collect())
            }
        }
    }

    fn excludes(&self, byte: u8) -> bool {
        self.excluded.iter().any(|&(first, last)| (first..=last).contains(&char::from(byte)))
    }

    fn class(&self, class: &Class) -> Class {
        match class {
            Class::Unicode(class) => {
                let ranges = self.excluded.iter().map(|&(first, last)| ClassUnicodeRange::new(first, last));
                let mut class = class.clone();
                class.difference(&ClassUnicode::new(ranges));
                Class::Unicode(class)
            }
            Class::Bytes(class) => {
                // The excluded characters are ASCII.
                let ranges = self.excluded.iter();
                let ranges = ranges.map(|&(first, last)| ClassBytesRange::new(first as u8, last as u8));
                let mut class = class.clone();
                class.difference(&ClassBytes::new(ranges));
                Class::Bytes(class)
            }
        }
    }
}

/// The characters that the matches of an expression may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alphabet {
    /// ASCII, without control characters, quotes, slashes, and backslashes.
    Ascii,
    /// Any except those.
    Unicode,
    /// Also characters that JSON must or may write as an escape of two characters.
    Escapable,
}

/// Returns the alphabet of an expression.
pub(crate) fn alphabet(expression: &Hir) -> Alphabet {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => Alphabet::Ascii,
        HirKind::Literal(literal) => {
            literal.0.iter().map(|&byte| of_byte(byte)).max().unwrap_or(Alphabet::Ascii)
        }
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges().iter();
            ranges.map(|range| of_range(range.start(), range.end())).max().unwrap_or(Alphabet::Ascii)
        }
        HirKind::Class(Class::Bytes(class)) => {
            let ranges = class.ranges().iter();
            let ranges = ranges.map(|range| of_range(char::from(range.start()), char::from(range.end())));
            ranges.max().unwrap_or(Alphabet::Ascii)
        }
        HirKind::Repetition(Repetition { sub, .. }) | HirKind::Capture(Capture { sub, .. }) => alphabet(sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(alphabet).max().unwrap_or(Alphabet::Ascii)
        }
    }
}

/// A byte that is not ASCII is a part of a character that is not.
fn of_byte(byte: u8) -> Alphabet {
    of_range(char::from(byte), char::from(byte))
}

fn of_range(first: char, last: char) -> Alphabet {
    let contains = |c: char| (first..=last).contains(&c);
    if first <= LAST_CONTROL || contains('"') || contains('/') || contains('\\') {
        Alphabet::Escapable
    } else if last.is_ascii() {
        Alphabet::Ascii
    } else {
        Alphabet::Unicode
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(expression: &str) -> Hir {
        regex_syntax::ParserBuilder::new().utf8(false).build().parse(expression).unwrap()
    }

    #[test]
    fn alphabets_cover_all_characters() {
        for (expression, expected) in [
            ("abc", Alphabet::Ascii),
            ("[a-z0-9]+(x|y)*", Alphabet::Ascii),
            (r"^\bab$", Alphabet::Ascii),
            ("ä", Alphabet::Unicode),
            ("(?i)k", Alphabet::Unicode),
            ("(?i)b", Alphabet::Ascii),
            (r"\w", Alphabet::Unicode),
            ("a/b", Alphabet::Escapable),
            ("a.b", Alphabet::Escapable),
            (r"a\sb", Alphabet::Escapable),
            (r#"""#, Alphabet::Escapable),
            (r"(?-u:\xFF)", Alphabet::Unicode),
        ] {
            assert_eq!(alphabet(&parse(expression)), expected, "{expression}");
        }
    }

    #[test]
    fn excluded_characters_never_match() {
        let lines = for_blocks(&parse("a[^b]c|d\ne"));
        assert_eq!(lines, for_blocks(&lines));
        let json = for_json(&parse(r#"^a.*"b|c[^d]"#));
        assert!(json.properties().look_set().is_empty());
    }
}
