//! Entry points for whole texts. The suggestions of their errors are not checked yet.

use super::parser::{Parsed, Parser, QueryLimits};
use crate::tree::{FilterQuery, Logical, Segments, Selector};

/// Parses a query. The suggestion of an error is not checked.
pub(super) fn query_once(text: &str, limits: &QueryLimits) -> Parsed<Segments> {
    let mut parser = Parser::new(text, limits)?;
    if !parser.eat(b'$') {
        return Err(parser.missing_root());
    }
    parser.segments()?;
    match parser.peek() {
        None => Ok(Segments(parser.segments)),
        Some(_) => Err(parser.trailing_text()),
    }
}

/// Parses a filter. The suggestion of an error is not checked.
///
/// Rejects a whole query with a filter in it, such as `$.items[?@.a > 1]`. The grammar allows it,
/// but it tests the root and therefore holds for every candidate or for none.
pub(super) fn filter_once(text: &str, limits: &QueryLimits) -> Parsed<Logical> {
    let mut parser = Parser::new(text, limits)?;
    parser.blanks();
    let bracketed = parser.open(b'[', b']');
    parser.blanks();
    if !parser.eat(b'?') && bracketed {
        return Err(parser.missing_question_mark());
    }
    parser.filter()?;
    parser.blanks();
    if bracketed {
        parser.close("an operator or `]`")?;
        parser.blanks();
    }
    // Checked last: any other error in the text is reported first.
    match (parser.peek(), parser.expressions.pop()) {
        (None, Some(expression)) if is_filtered_path(&expression) => Err(parser.filtered_path(&expression)),
        (None, Some(expression)) => Ok(expression),
        _ => Err(parser.unexpected("an operator or the end of the filter")),
    }
}

/// True if an expression only tests whether a query from the root with a filter in it selects
/// anything.
fn is_filtered_path(expression: &Logical) -> bool {
    let Logical::Exists(FilterQuery { absolute: true, segments }) = expression else { return false };
    let mut selectors = segments.iter().flat_map(|segment| &segment.selectors);
    selectors.any(|selector| matches!(selector, Selector::Filter(_)))
}
