//! From text to tree: recursive descent over the grammar of RFC 9535 (appendix A), with the rules of
//! well-typedness (section 2.4.3) checked on the way.
//!
//! One function per production, in the grammar's order and words. White space is skipped exactly where the grammar
//! has `S`. The parser never looks back; recursion happens only through [`Parser::enter`], which bounds it.
//!
//! What a production has read goes on a stack of the parser, from which the production around it takes it. Nothing
//! large is returned, and what does not recur is kept out of line, so that the frames of the functions that call each
//! other stay small: the deepest query fits a thread of 256 KiB twice, optimized or not.
//!
//! What to say about a text that fails is worked out in `near`, on the cold path only.

mod filter;
mod function;
mod limits;
mod literal;
mod near;
mod segment;
mod string;

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{ParseError, ParseErrorKind, Suggestion};
use crate::tree::{Comparable, FilterQuery, Logical, Segment, Segments, Selector};
use filter::Operand;

pub use limits::QueryLimits;

type Parsed<T> = Result<T, ParseError>;

/// `jsonpath-query`: the whole text.
pub(crate) fn query(text: &str, limits: &QueryLimits) -> Parsed<Segments> {
    let parse = |text: &str| query_once(text, limits).map(drop);
    query_once(text, limits).map_err(|error| near::checked(error, text, (&near::query_of_jq, &parse)))
}

/// A filter's expression alone: `logical-expr`, `?logical-expr` or `[?logical-expr]`, white space around it.
pub(crate) fn filter(text: &str, limits: &QueryLimits) -> Parsed<Logical> {
    let parse = |text: &str| filter_once(text, limits).map(drop);
    filter_once(text, limits).map_err(|error| near::checked(error, text, (&near::filter_of_jq, &parse)))
}

/// As [`query`], with a suggestion that is not checked.
fn query_once(text: &str, limits: &QueryLimits) -> Parsed<Segments> {
    let mut parser = Parser::new(text, limits)?;
    if !parser.eat(b'$') {
        return Err(parser.no_root());
    }
    parser.segments()?;
    match parser.peek() {
        None => Ok(Segments(parser.segments)),
        Some(_) => Err(parser.after_query()),
    }
}

/// As [`filter`], with a suggestion that is not checked.
///
/// A whole query with a filter in it, such as `$.items[?@.a > 1]`, is valid by the grammar, but it tests the root and so
/// holds for every candidate or for none: it is refused.
fn filter_once(text: &str, limits: &QueryLimits) -> Parsed<Logical> {
    let mut parser = Parser::new(text, limits)?;
    parser.blanks();
    let bracketed = parser.open(b'[', b']');
    parser.blanks();
    if !parser.eat(b'?') && bracketed {
        return Err(parser.no_question_mark());
    }
    parser.filter()?;
    parser.blanks();
    if bracketed {
        parser.close("an operator or `]`")?;
        parser.blanks();
    }
    match (parser.peek(), parser.expressions.pop()) {
        (None, Some(expression)) if is_filtered_path(&expression) => Err(parser.filtered_path(&expression)),
        (None, Some(expression)) => Ok(expression),
        _ => Err(parser.unexpected("an operator or the end of the filter")),
    }
}

/// True if an expression only tests whether a query from the root that has a filter selects anything.
fn is_filtered_path(expression: &Logical) -> bool {
    let Logical::Exists(FilterQuery { absolute: true, segments }) = expression else { return false };
    let mut selectors = segments.iter().flat_map(|segment| &segment.selectors);
    selectors.any(|selector| matches!(selector, Selector::Filter(_)))
}

/// A text, how far it has been read, and what of it has not been used yet.
struct Parser<'t> {
    text: &'t str,
    at: usize,
    limits: QueryLimits,
    depth: u32,
    counted: u32,
    /// Where the last operand in a filter began.
    operand: usize,
    /// The dot and the end of the last shorthand name.
    shorthand: Range<usize>,
    /// The first white space within brackets since the operand began.
    padding: Option<Range<usize>>,
    /// Whether this only looks ahead.
    looking: bool,
    /// What closes the brackets and parentheses that are open.
    open: Vec<u8>,
    segments: Vec<Segment>,
    selectors: Vec<Selector>,
    expressions: Vec<Logical>,
    operands: Vec<Operand>,
    comparables: Vec<Comparable>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, limits: &QueryLimits) -> Parsed<Self> {
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
    fn moved(&self, at: usize) -> Self {
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

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn eat_text(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Passes over the characters for which the test holds and returns them.
    fn eat_while(&mut self, test: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let run = &rest[..rest.find(|c| !test(c)).unwrap_or(rest.len())];
        self.at += run.len();
        run
    }

    /// `S`: optional white space.
    fn blanks(&mut self) {
        self.eat_while(is_blank);
    }

    /// Opens a bracket or parenthesis if it stands here, and remembers what closes it.
    #[inline(never)]
    fn open(&mut self, opening: u8, closing: u8) -> bool {
        let found = self.eat(opening);
        if found {
            self.open.push(closing);
        }
        found
    }

    /// Closes the innermost bracket or parenthesis; fails with what was expected here.
    #[inline(never)]
    fn close(&mut self, expected: &'static str) -> Parsed<()> {
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
    fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > self.limits.depth() {
            let expected = format!("at most {} levels of nesting", self.limits.depth());
            return Err(self.error(ParseErrorKind::TooDeep, self.here(), expected));
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Counts a segment or selector that begins here.
    #[inline(never)]
    fn count(&mut self) -> Parsed<()> {
        self.counted = self.counted.saturating_add(1);
        if self.counted > self.limits.selectors {
            let expected = format!("at most {} segments and selectors", self.limits.selectors);
            return Err(self.error(ParseErrorKind::TooMany, self.here(), expected));
        }
        Ok(())
    }

    /// A parser that looks ahead from another place, for a suggestion. What looks ahead does not do so again, which
    /// would not end.
    fn look(&self, at: usize) -> Option<Self> {
        (!self.looking).then(|| Self { looking: true, ..self.moved(at) })
    }

    /// The span of the character here, empty at the end.
    fn here(&self) -> Range<usize> {
        self.at..self.at + self.rest().chars().next().map_or(0, char::len_utf8)
    }

    #[cold]
    #[inline(never)]
    fn error(
        &self,
        kind: ParseErrorKind,
        span: Range<usize>,
        expected: impl Into<Cow<'static, str>>,
    ) -> ParseError {
        ParseError::new(kind, self.text, span, expected)
    }

    fn suggest(&self, span: Range<usize>, replacement: impl Into<String>) -> Option<Suggestion> {
        Suggestion::new(self.text, span, replacement)
    }
}

/// `B`: blank space.
const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// `name-first` of a shorthand name.
const fn is_name_first(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

/// `name-char` of a shorthand name.
const fn is_name_char(c: char) -> bool {
    is_name_first(c) || c.is_ascii_digit()
}
