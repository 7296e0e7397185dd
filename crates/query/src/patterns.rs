//! Patterns of a query that never match, because they are none.

use crate::function::Parameter;
use crate::regexp::{Pattern, PatternError};
use crate::tree::{
    Argument, Comparable, FilterQuery, FunctionCall, Literal, Logical, Query, Segments, Selector,
};

impl Query {
    /// The literal patterns of `match` and `search` that are no I-Regexp, with the reason, in
    /// order.
    ///
    /// Such a query is valid and a test with such a pattern never holds (RFC 9535, section 2.4.6),
    /// which is hardly what was meant: worth a warning.
    ///
    /// ```
    /// use trommel_query::Query;
    ///
    /// let query: Query = r"$[?match(@.zip, '\\d+')]".parse()?;
    /// let (pattern, error) = &query.bad_patterns()[0];
    /// assert_eq!(*pattern, r"\d+");
    /// assert!(error.to_string().contains("[0-9]"));
    /// # Ok::<(), trommel_query::ParseError>(())
    /// ```
    pub fn bad_patterns(&self) -> Vec<(&str, PatternError)> {
        let mut bad = Vec::new();
        in_segments(self.segments(), &mut bad);
        bad
    }
}

impl Logical {
    /// [`Query::bad_patterns`] of a filter.
    pub fn bad_patterns(&self) -> Vec<(&str, PatternError)> {
        let mut bad = Vec::new();
        in_logical(self, &mut bad);
        bad
    }
}

type Bad<'q> = Vec<(&'q str, PatternError)>;

fn in_segments<'q>(segments: &'q Segments, bad: &mut Bad<'q>) {
    for selector in segments.iter().flat_map(|segment| &segment.selectors) {
        if let Selector::Filter(filter) = selector {
            in_logical(filter, bad);
        }
    }
}

fn in_logical<'q>(logical: &'q Logical, bad: &mut Bad<'q>) {
    match logical {
        Logical::Or(operands) | Logical::And(operands) => {
            for operand in operands {
                in_logical(operand, bad);
            }
        }
        Logical::Not(operand) => in_logical(operand, bad),
        Logical::Exists(FilterQuery { segments, .. }) => in_segments(segments, bad),
        Logical::Compare { left, right, .. } => {
            in_comparable(left, bad);
            in_comparable(right, bad);
        }
        Logical::Test(call) => in_call(call, bad),
    }
}

fn in_comparable<'q>(comparable: &'q Comparable, bad: &mut Bad<'q>) {
    match comparable {
        Comparable::Literal(_) => {}
        Comparable::Singular(query) => in_segments(&query.segments, bad),
        Comparable::Call(call) => in_call(call, bad),
    }
}

fn in_call<'q>(call: &'q FunctionCall, bad: &mut Bad<'q>) {
    for (argument, parameter) in call.typed_arguments() {
        match argument {
            Argument::Nodes(query) => in_segments(&query.segments, bad),
            Argument::Value(value) => in_comparable(value, bad),
        }
        if let Parameter::Pattern { whole } = parameter
            && let Argument::Value(Comparable::Literal(Literal::String(text))) = argument
            && let Err(error) = Pattern::new(text, whole)
        {
            bad.push((text, error));
        }
    }
}
