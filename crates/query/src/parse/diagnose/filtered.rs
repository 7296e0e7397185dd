//! Diagnoses a whole query in place of a condition: `$.items[?@.a > 1]` instead of `@.a > 1`.

use crate::error::{ParseError, ParseErrorKind, Suggestion};
use crate::parse::parser::Parser;
use crate::parse::text::filter_once;
use crate::tree::{FilterQuery, Logical, Segment, Selector};

impl Parser<'_> {
    /// Creates the error for a filter that is a query from the root with a filter of its own. The
    /// inner filter is probably the intended condition.
    #[cold]
    pub(in crate::parse) fn filtered_path(&self, expression: &Logical) -> ParseError {
        let start = self.text.len() - self.text.trim_start().len();
        let span = start..self.text.trim_end().len();
        let expected = "a condition on `@`, the value to test";
        let suggestion = self.condition(expression).and_then(|condition| self.suggest_all(condition));
        self.error(ParseErrorKind::FilteredPath, span, expected).suggesting(suggestion)
    }

    fn suggest_all(&self, replacement: &str) -> Option<Suggestion> {
        self.suggest(0..self.text.len(), replacement)
    }

    /// Returns the text of the query's only filter, if the query ends with it.
    fn condition(&self, expression: &Logical) -> Option<&str> {
        let Logical::Exists(FilterQuery { segments, .. }) = expression else { return None };
        let is_filter = |segment: &Segment| matches!(segment.selectors.as_slice(), [Selector::Filter(_)]);
        let filters = segments.iter().filter(|segment| is_filter(segment)).count();
        if filters != 1 || !segments.iter().last().is_some_and(is_filter) {
            return None;
        }
        let start = self.text.find('$').and_then(|root| self.question_mark(root))? + 1;
        let mut inner = self.lookahead(start)?;
        inner.filter().ok()?;
        let text = self.text.get(start..inner.at)?.trim();
        // Parentheses around the whole condition are redundant. They are kept if the text inside
        // does not parse, as in `(a) || (b)`.
        let bare = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).map(str::trim);
        let parses = |text: &&str| filter_once(text, &self.limits).is_ok();
        bare.filter(parses).or_else(|| Some(text).filter(parses))
    }

    /// Returns the offset of the first question mark outside of quotes.
    fn question_mark(&self, from: usize) -> Option<usize> {
        let mut quote = None;
        let mut escaped = false;
        for (at, byte) in self.text.bytes().enumerate().skip(from) {
            match (quote, byte) {
                _ if escaped => escaped = false,
                (Some(_), b'\\') => escaped = true,
                (Some(open), _) if byte == open => quote = None,
                (None, b'\'' | b'"') => quote = Some(byte),
                (None, b'?') => return Some(at),
                _ => {}
            }
        }
        None
    }
}
