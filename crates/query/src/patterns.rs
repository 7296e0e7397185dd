//! Finds literal patterns in a query that are not valid I-Regexps and therefore never match.

use crate::function::Parameter;
use crate::regexp::{Pattern, PatternError};
use crate::tree::{
    Argument, Comparable, FilterQuery, FunctionCall, Literal, Logical, Query, Segments, Selector,
};

impl Query {
    /// Returns the literal patterns of `match` and `search` that are not I-Regexps, in order, each
    /// with its error.
    ///
    /// A query with such a pattern is valid, but a test that uses the pattern never holds (RFC
    /// 9535, section 2.4.6). That is rarely intended, so callers should warn about it.
    ///
    /// ```
    /// use trommel_query::Query;
    ///
    /// let query: Query = r"$[?match(@.zip, '\\d+')]".parse()?;
    /// let (pattern, error) = &query.invalid_patterns()[0];
    /// assert_eq!(*pattern, r"\d+");
    /// assert!(error.to_string().contains("[0-9]"));
    /// # Ok::<(), trommel_query::ParseError>(())
    /// ```
    pub fn invalid_patterns(&self) -> Vec<(&str, PatternError)> {
        let mut invalid = Vec::new();
        collect_from_segments(self.segments(), &mut invalid);
        invalid
    }
}

impl Logical {
    /// Returns the invalid patterns of a filter; see [`Query::invalid_patterns`].
    pub fn invalid_patterns(&self) -> Vec<(&str, PatternError)> {
        let mut invalid = Vec::new();
        collect_from_logical(self, &mut invalid);
        invalid
    }
}

type InvalidPatterns<'q> = Vec<(&'q str, PatternError)>;

fn collect_from_segments<'q>(segments: &'q Segments, invalid: &mut InvalidPatterns<'q>) {
    for selector in segments.iter().flat_map(|segment| &segment.selectors) {
        if let Selector::Filter(filter) = selector {
            collect_from_logical(filter, invalid);
        }
    }
}

fn collect_from_logical<'q>(logical: &'q Logical, invalid: &mut InvalidPatterns<'q>) {
    match logical {
        Logical::Or(operands) | Logical::And(operands) => {
            for operand in operands {
                collect_from_logical(operand, invalid);
            }
        }
        Logical::Not(operand) => collect_from_logical(operand, invalid),
        Logical::Exists(FilterQuery { segments, .. }) => collect_from_segments(segments, invalid),
        Logical::Compare { left, right, .. } => {
            collect_from_comparable(left, invalid);
            collect_from_comparable(right, invalid);
        }
        Logical::Test(call) => collect_from_call(call, invalid),
    }
}

fn collect_from_comparable<'q>(comparable: &'q Comparable, invalid: &mut InvalidPatterns<'q>) {
    match comparable {
        Comparable::Literal(_) => {}
        Comparable::Singular(query) => collect_from_segments(&query.segments, invalid),
        Comparable::Call(call) => collect_from_call(call, invalid),
    }
}

fn collect_from_call<'q>(call: &'q FunctionCall, invalid: &mut InvalidPatterns<'q>) {
    for (argument, parameter) in call.typed_arguments() {
        match argument {
            Argument::Nodes(query) => collect_from_segments(&query.segments, invalid),
            Argument::Value(value) => collect_from_comparable(value, invalid),
        }
        if let Parameter::Pattern { whole } = parameter
            && let Argument::Value(Comparable::Literal(Literal::String(text))) = argument
            && let Err(error) = Pattern::new(text, whole)
        {
            invalid.push((text, error));
        }
    }
}
