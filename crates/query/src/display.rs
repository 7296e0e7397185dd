//! Prints queries in canonical and in shorthand form.
//!
//! Normalized paths (RFC 9535, section 2.7) define how names and indices are written, and the
//! canonical form extends them: every segment in brackets, single quotes, one space after a comma
//! and around an operator, slices with their step, and parentheses only where precedence requires
//! them. Every tree from the parser prints as a text that parses to an equal query.
//!
//! The alternate form (`{:#}`) is the shorthand for people: names follow a dot where the RFC allows
//! it. Strings are in double quotes, so that a query fits between the single quotes of a shell.

use std::fmt::{self, Display, Formatter, Write};

use trommel_base::quote::{is_shorthand, write_escape, write_quoted};

use crate::tree::{
    Argument, Comparable, Comparison, FilterQuery, FunctionCall, Literal, Logical, Query, Segment, Segments,
    Selector, Slice,
};

/// Writes a string in double quotes, escaped as in JSON.
fn write_double_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for c in text.chars() {
        match c {
            '\'' => out.write_char(c)?,
            '\0'..' ' | '"' | '\\' => write_escape(out, c)?,
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('$')?;
        self.segments().fmt(f)
    }
}

/// Writes the segments alone, without `$` or `@`.
impl Display for Segments {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|segment| segment.fmt(f))
    }
}

impl Display for Segment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // Only a segment with a single name has a dotted form.
        if let (true, [Selector::Name(name)]) = (f.alternate(), self.selectors.as_slice())
            && is_shorthand(name)
        {
            f.write_str(if self.descendant { ".." } else { "." })?;
            return f.write_str(name);
        }
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
            Self::Filter(filter) => {
                f.write_char('?')?;
                filter.fmt(f)
            }
        }
    }
}

impl Display for Slice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { start, end, step } = self;
        let bound = |f: &mut Formatter<'_>, bound: &Option<i64>| match bound {
            Some(bound) => write!(f, "{bound}"),
            None => Ok(()),
        };
        bound(f, start)?;
        f.write_char(':')?;
        bound(f, end)?;
        if f.alternate() && *step == 1 { Ok(()) } else { write!(f, ":{step}") }
    }
}

impl Display for Logical {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Or(any) => write_list(f, any, " || ", |operand, f| operand.fmt_within(f, Binding::Or)),
            Self::And(all) => write_list(f, all, " && ", |operand, f| operand.fmt_within(f, Binding::And)),
            Self::Not(operand) => {
                f.write_char('!')?;
                operand.fmt_within(f, Binding::Not)
            }
            Self::Exists(query) => query.fmt(f),
            Self::Compare { left, op, right } => {
                left.fmt(f)?;
                write!(f, " {op} ")?;
                right.fmt(f)
            }
            Self::Test(call) => call.fmt(f),
        }
    }
}

/// The precedence of an expression, lowest first.
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
            Self::Exists(_) | Self::Test(_) => Binding::Test,
        }
    }

    /// Writes an operand of `operator`, in parentheses unless it binds tighter than the operator.
    fn fmt_within(&self, f: &mut Formatter<'_>, operator: Binding) -> fmt::Result {
        if self.binding() > operator {
            return self.fmt(f);
        }
        f.write_char('(')?;
        self.fmt(f)?;
        f.write_char(')')
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
            Self::Call(call) => call.fmt(f),
        }
    }
}

impl Display for FunctionCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.function.signature().name)?;
        write_list(f, &self.arguments, ", ", Argument::fmt)?;
        f.write_char(')')
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Nodes(query) => query.fmt(f),
        }
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(true) => f.write_str("true"),
            Self::Bool(false) => f.write_str("false"),
            Self::Number(lexeme) => f.write_str(lexeme),
            Self::String(text) if f.alternate() => write_double_quoted(f, text),
            Self::String(text) => write_quoted(f, text),
        }
    }
}

impl Display for FilterQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char(if self.absolute { '$' } else { '@' })?;
        self.segments.fmt(f)
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
