//! The canonical spelling of queries.
//!
//! Normalized paths (RFC 9535, section 2.7) fix the spelling of names and indices; the rest follows them: every
//! segment in brackets, single quotes, one space after a comma and around an operator, a slice with its step,
//! parentheses only where precedence needs them. What comes out of the parser prints to a text that parses to an
//! equal query.

use std::fmt::{self, Display, Formatter, Write};

use crate::tree::{
    Comparable, Comparison, FilterQuery, Literal, Logical, Matching, Query, Segment, Segments, Selector,
    Slice,
};

/// Writes a name or string in single quotes, escaped as in a normalized path.
pub(crate) fn write_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
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

/// Writes a character that cannot stand in a string literal in single quotes.
fn write_escape(out: &mut impl Write, c: char) -> fmt::Result {
    match c {
        '\u{8}' => out.write_str("\\b"),
        '\t' => out.write_str("\\t"),
        '\n' => out.write_str("\\n"),
        '\u{c}' => out.write_str("\\f"),
        '\r' => out.write_str("\\r"),
        '\'' | '\\' => write!(out, "\\{c}"),
        _ => write!(out, "\\u{:04x}", u32::from(c)),
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "${}", self.segments())
    }
}

/// The segments alone, without `$` or `@`.
impl Display for Segments {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|segment| segment.fmt(f))
    }
}

impl Display for Segment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.descendant { "..[" } else { "[" })?;
        write_list(f, &self.selectors, ", ", Selector::fmt)?;
        f.write_char(']')
    }
}

impl Display for Selector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write_quoted(f, name),
            Self::Wildcard => f.write_char('*'),
            Self::Index(index) => write!(f, "{index}"),
            Self::Slice(slice) => slice.fmt(f),
            Self::Filter(filter) => write!(f, "?{filter}"),
        }
    }
}

impl Display for Slice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for bound in [self.start, self.end] {
            if let Some(bound) = bound {
                write!(f, "{bound}")?;
            }
            f.write_char(':')?;
        }
        write!(f, "{}", self.step)
    }
}

impl Display for Logical {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Or(any) => write_list(f, any, " || ", |of, f| of.fmt_within(f, Binding::Or)),
            Self::And(all) => write_list(f, all, " && ", |of, f| of.fmt_within(f, Binding::And)),
            Self::Not(of) => {
                f.write_char('!')?;
                of.fmt_within(f, Binding::Not)
            }
            Self::Exists(query) => query.fmt(f),
            Self::Compare { left, op, right } => write!(f, "{left} {op} {right}"),
            Self::Matches(matching) => matching.fmt(f),
        }
    }
}

/// How tight an expression binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Compare,
    Not,
    Test,
}

impl Logical {
    fn binding(&self) -> Binding {
        match self {
            Self::Or(_) => Binding::Or,
            Self::And(_) => Binding::And,
            Self::Compare { .. } => Binding::Compare,
            Self::Not(_) => Binding::Not,
            Self::Exists(_) | Self::Matches(_) => Binding::Test,
        }
    }

    /// Writes an operand of an operator, in parentheses unless it binds tighter than that.
    fn fmt_within(&self, f: &mut Formatter<'_>, operator: Binding) -> fmt::Result {
        if self.binding() > operator { self.fmt(f) } else { write!(f, "({self})") }
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        })
    }
}

impl Display for Comparable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(literal) => literal.fmt(f),
            Self::Singular(query) => query.fmt(f),
            Self::Length(of) => write!(f, "length({of})"),
            Self::Count(query) => write!(f, "count({query})"),
            Self::Value(query) => write!(f, "value({query})"),
        }
    }
}

impl Display for Matching {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = if self.whole { "match" } else { "search" };
        write!(f, "{name}({}, {})", self.subject, self.pattern)
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(true) => f.write_str("true"),
            Self::Bool(false) => f.write_str("false"),
            Self::Number(lexeme) => f.write_str(lexeme),
            Self::String(text) => write_quoted(f, text),
        }
    }
}

impl Display for FilterQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.absolute { '$' } else { '@' }, self.segments)
    }
}

/// Writes the items with a separator between them.
fn write_list<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    separator: &str,
    write: impl Fn(&T, &mut Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        write(item, f)?;
    }
    Ok(())
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
}
