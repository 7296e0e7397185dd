//! The parser's state, its limits, and its primitives.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{ParseError, ParseErrorKind, Suggestion};
use crate::tree::{Comparable, FilterQuery, FunctionCall, Literal, Logical, Segment, Selector};

pub(super) type Parsed<T> = Result<T, ParseError>;

/// The deepest nesting, whatever is asked for: the stack a query takes stays below 256 KiB.
const MAX_NESTING: u32 = 128;

/// Bounds on a query text, so that a hostile one costs neither stack nor time.
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
    /// Bytes of the text. Default: 1,048,576 (1 MiB).
    pub text: usize,
    /// Depth of filters, parentheses, negations and function calls within each other. Default: 128,
    /// which is also the most: a larger figure is taken as 128.
    pub nesting: u32,
    /// Segments and selectors together, those in filters included. Default: 4,096.
    pub selectors: u32,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self { text: 1 << 20, nesting: MAX_NESTING, selectors: 4096 }
    }
}

impl QueryLimits {
    /// The nesting that is in force.
    pub(super) fn depth(&self) -> u32 {
        self.nesting.min(MAX_NESTING)
    }
}

/// A literal, query or call, and where it stands, before its place says what it is used for.
pub(super) struct Operand {
    pub(super) value: Value,
    pub(super) span: Range<usize>,
}

pub(super) enum Value {
    Literal(Literal),
    Query(FilterQuery),
    Call(FunctionCall),
}

/// A text, how far it has been read, and what of it has not been used yet.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) limits: QueryLimits,
    pub(super) depth: u32,
    pub(super) counted: u32,
    /// Where the last operand in a filter began.
    pub(super) operand: usize,
    /// The dot and the end of the last shorthand name.
    pub(super) shorthand: Range<usize>,
    /// The first white space within brackets since the operand began.
    pub(super) padding: Option<Range<usize>>,
    /// Whether this only looks ahead.
    pub(super) looking: bool,
    /// What closes the brackets and parentheses that are open.
    pub(super) open: Vec<u8>,
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
            counted: 0,
            operand: 0,
            shorthand: 0..0,
            padding: None,
            looking: false,
            open: Vec::new(),
            segments: Vec::new(),
            selectors: Vec::new(),
            expressions: Vec::new(),
            operands: Vec::new(),
            comparables: Vec::new(),
        })
    }

    /// Another place with nothing read yet.
    pub(super) fn moved(&self, at: usize) -> Self {
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

    /// Passes over the characters for which the test holds and returns them.
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

    /// Opens a bracket or parenthesis if it stands here, and remembers what closes it.
    #[inline(never)]
    pub(super) fn open(&mut self, opening: u8, closing: u8) -> bool {
        let found = self.eat(opening);
        if found {
            self.open.push(closing);
        }
        found
    }

    /// Closes the innermost bracket or parenthesis; fails with what was expected here.
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

    /// One level deeper, for as long as the level is within the limit; `leave` goes back.
    #[inline(never)]
    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > self.limits.depth() {
            let expected = format!("at most {} levels of nesting", self.limits.depth());
            return Err(self.error(ParseErrorKind::TooDeep, self.here(), expected));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Counts a segment or selector that begins here.
    #[inline(never)]
    pub(super) fn count(&mut self) -> Parsed<()> {
        self.counted = self.counted.saturating_add(1);
        if self.counted > self.limits.selectors {
            let expected = format!("at most {} segments and selectors", self.limits.selectors);
            return Err(self.error(ParseErrorKind::TooMany, self.here(), expected));
        }
        Ok(())
    }

    /// A parser that looks ahead from another place, for a suggestion. What looks ahead does not do
    /// so again, which would not end.
    pub(super) fn look(&self, at: usize) -> Option<Self> {
        (!self.looking).then(|| Self { looking: true, ..self.moved(at) })
    }

    /// The span of the character here, empty at the end.
    pub(super) fn here(&self) -> Range<usize> {
        self.at..self.at + self.rest().chars().next().map_or(0, char::len_utf8)
    }

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
