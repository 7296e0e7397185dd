//! The parser's state, its limits, and its primitives.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{ParseError, ParseErrorKind, Suggestion};
use crate::tree::{Comparable, FilterQuery, FunctionCall, Literal, Logical, Segment, Selector};

pub(super) type Parsed<T> = Result<T, ParseError>;

/// The upper bound on [`QueryLimits::nesting`]. It keeps the stack that a query takes below 256
/// KiB.
const MAX_NESTING: u32 = 128;

/// Limits on the size of a query, so that a hostile text costs neither stack nor time.
///
/// ```
/// use trommel_query::{ParseErrorKind, Query, QueryLimits};
///
/// let mut limits = QueryLimits::default();
/// limits.selectors = 4;
/// let error = Query::parse_with("$.a.b.c", &limits).unwrap_err();
/// assert_eq!(error.kind(), ParseErrorKind::TooMany);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryLimits {
    /// The maximum length of the text in bytes. Default: 1,048,576 (1 MiB).
    pub text: usize,
    /// The maximum depth of nested filters, parentheses, negations, and function calls. Default:
    /// 128. Values above 128 are treated as 128.
    pub nesting: u32,
    /// The maximum number of segments and selectors, including those in filters. Default: 4,096.
    pub selectors: u32,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self { text: 1 << 20, nesting: MAX_NESTING, selectors: 4096 }
    }
}

impl QueryLimits {
    /// Returns the effective nesting limit.
    pub(super) fn depth(&self) -> u32 {
        self.nesting.min(MAX_NESTING)
    }
}

/// A literal, a query, or a call, with its span. Its role is not known yet: a test, a side of a
/// comparison, or an argument.
pub(super) struct Operand {
    pub(super) value: Value,
    pub(super) span: Range<usize>,
}

pub(super) enum Value {
    Literal(Literal),
    Query(FilterQuery),
    Call(FunctionCall),
}

/// The state of a parse: the text, the position in it, and the results that no production has used
/// yet.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) limits: QueryLimits,
    pub(super) depth: u32,
    pub(super) selector_count: u32,
    /// The offset at which the last operand of a filter began.
    pub(super) operand: usize,
    /// The range from the dot to the end of the last shorthand name.
    pub(super) shorthand: Range<usize>,
    /// The first white space within brackets since the last operand began.
    pub(super) padding: Option<Range<usize>>,
    /// True if this parser only looks ahead for a suggestion.
    pub(super) is_lookahead: bool,
    /// The closing characters of all open brackets and parentheses, the outermost first.
    pub(super) open: Vec<u8>,
    // The stacks on which productions leave their results for the enclosing ones; see `parse`.
    pub(super) segments: Vec<Segment>,
    pub(super) selectors: Vec<Selector>,
    pub(super) expressions: Vec<Logical>,
    pub(super) operands: Vec<Operand>,
    pub(super) comparables: Vec<Comparable>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, limits: &QueryLimits) -> Parsed<Self> {
        if text.len() > limits.text {
            let expected = format!("at most {} bytes", limits.text);
            return Err(ParseError::new(ParseErrorKind::TooLong, text, text.len()..text.len(), expected));
        }
        Ok(Self {
            text,
            at: 0,
            limits: *limits,
            depth: 0,
            selector_count: 0,
            operand: 0,
            shorthand: 0..0,
            padding: None,
            is_lookahead: false,
            open: Vec::new(),
            segments: Vec::new(),
            selectors: Vec::new(),
            expressions: Vec::new(),
            operands: Vec::new(),
            comparables: Vec::new(),
        })
    }

    /// Returns a parser at another position, with empty result stacks.
    pub(super) fn at_offset(&self, at: usize) -> Self {
        Self {
            at,
            shorthand: self.shorthand.clone(),
            padding: None,
            open: self.open.clone(),
            segments: Vec::new(),
            selectors: Vec::new(),
            expressions: Vec::new(),
            operands: Vec::new(),
            comparables: Vec::new(),
            ..*self
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(super) fn eat_text(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Skips the characters for which `test` holds, and returns them.
    pub(super) fn eat_while(&mut self, test: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let run = &rest[..rest.find(|c| !test(c)).unwrap_or(rest.len())];
        self.at += run.len();
        run
    }

    /// `S`: optional white space.
    pub(super) fn blanks(&mut self) {
        self.eat_while(is_blank);
    }

    /// Reads an opening bracket or parenthesis if it is next, and records its closing character.
    #[inline(never)]
    pub(super) fn open(&mut self, opening: u8, closing: u8) -> bool {
        let found = self.eat(opening);
        if found {
            self.open.push(closing);
        }
        found
    }

    /// Reads the closing character of the innermost bracket or parenthesis. Otherwise fails with
    /// `expected`.
    #[inline(never)]
    pub(super) fn close(&mut self, expected: &'static str) -> Parsed<()> {
        let closing = self.open.last().copied();
        if closing.is_none() || self.peek() != closing {
            return Err(self.unexpected(expected));
        }
        self.open.pop();
        self.at += 1;
        Ok(())
    }

    /// Enters a level of nesting, unless that exceeds the limit. `leave` exits it.
    #[inline(never)]
    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > self.limits.depth() {
            let expected = format!("at most {} levels of nesting", self.limits.depth());
            return Err(self.error(ParseErrorKind::TooDeep, self.current_span(), expected));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Counts a segment or selector that begins here.
    #[inline(never)]
    pub(super) fn count(&mut self) -> Parsed<()> {
        self.selector_count = self.selector_count.saturating_add(1);
        if self.selector_count > self.limits.selectors {
            let expected = format!("at most {} segments and selectors", self.limits.selectors);
            return Err(self.error(ParseErrorKind::TooMany, self.current_span(), expected));
        }
        Ok(())
    }

    /// Returns a parser at another position, for a suggestion. Returns `None` in a parser that
    /// already looks ahead, so that lookahead does not recurse without end.
    pub(super) fn lookahead(&self, at: usize) -> Option<Self> {
        (!self.is_lookahead).then(|| Self { is_lookahead: true, ..self.at_offset(at) })
    }

    /// Returns the span of the next character, which is empty at the end of the text.
    pub(super) fn current_span(&self) -> Range<usize> {
        self.at..self.at + self.rest().chars().next().map_or(0, char::len_utf8)
    }

    // Out of line and cold: building an error must not enlarge the stack frames of the parser.
    #[cold]
    #[inline(never)]
    pub(super) fn error(
        &self,
        kind: ParseErrorKind,
        span: Range<usize>,
        expected: impl Into<Cow<'static, str>>,
    ) -> ParseError {
        ParseError::new(kind, self.text, span, expected)
    }

    pub(super) fn suggest(&self, span: Range<usize>, replacement: impl Into<String>) -> Option<Suggestion> {
        Suggestion::new(self.text, span, replacement)
    }
}

/// `B`: blank space.
pub(super) const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// `name-first` of a shorthand name.
pub(super) const fn is_name_first(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

/// `name-char` of a shorthand name.
pub(super) const fn is_name_char(c: char) -> bool {
    is_name_first(c) || c.is_ascii_digit()
}
