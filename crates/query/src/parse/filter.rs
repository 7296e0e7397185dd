//! Parses filters: logical expressions, comparisons, and tests (RFC 9535, section 2.3.5).

use super::parser::{Operand, Parsed, Parser, Value, is_blank};
use crate::error::ParseErrorKind;
use crate::function::FunctionResult;
use crate::tree::{Comparable, Comparison, FilterQuery, Literal, Logical, Segments};

/// The tokens that may follow an operand without a comparison, and those that may follow any other
/// part of an expression.
const AFTER_TEST: &str = "a comparison, `&&`, `||` or the end of the filter";
const AFTER_EXPRESSION: &str = "`&&`, `||` or the end of the filter";
const SINGULAR: &str =
    "a query that selects at most one node: only names and indices, no `*`, `..`, slice, filter or list";

impl Parser<'_> {
    /// `filter-selector`, after the question mark.
    pub(super) fn filter(&mut self) -> Parsed<()> {
        self.enter()?;
        self.blanks();
        self.logical()?;
        self.leave();
        Ok(())
    }

    /// `logical-expr`
    fn logical(&mut self) -> Parsed<()> {
        // The expressions from `any` are operands of `||`, and those from `all` operands of the
        // `&&` that is still open. `&&` binds tighter, so `||` and the end close it first.
        let any = self.expressions.len();
        let mut all = any;
        loop {
            self.basic()?;
            let before = self.at;
            // White space after an expression belongs to the caller's production, so it is restored
            // below.
            self.blanks();
            if self.eat_text("&&") {
                self.blanks();
            } else if self.eat_text("||") {
                self.blanks();
                self.conjunction(all);
                all = self.expressions.len();
            } else if self.expression_may_end() {
                self.at = before;
                self.conjunction(all);
                self.disjunction(any);
                return Ok(());
            } else {
                return Err(self.unexpected(AFTER_EXPRESSION));
            }
        }
    }

    /// `basic-expr`
    fn basic(&mut self) -> Parsed<()> {
        match self.peek() {
            Some(b'!') => self.negation(),
            Some(b'(') => self.parenthesized(),
            _ => self.comparison_or_test(),
        }
    }

    /// `!` before parentheses or a test. A comparison can be negated only in parentheses.
    fn negation(&mut self) -> Parsed<()> {
        let start = self.at;
        self.enter()?;
        self.at += 1;
        self.blanks();
        match self.peek() {
            Some(b'(') => self.parenthesized()?,
            Some(b'!') => return Err(self.double_negation(start)),
            _ => {
                self.operand(false)?;
                if self.comparison().is_some() {
                    return Err(self.negated_comparison(start));
                }
                self.test()?;
            }
        }
        self.leave();
        self.negate();
        Ok(())
    }

    /// `paren-expr`, without its negation
    fn parenthesized(&mut self) -> Parsed<()> {
        self.enter()?;
        self.open(b'(', b')');
        self.blanks();
        self.logical()?;
        self.blanks();
        self.leave();
        self.close("an operator or `)`")
    }

    /// `comparison-expr` or `test-expr`, which differ only after the first operand.
    fn comparison_or_test(&mut self) -> Parsed<()> {
        // Each side may have white space in its brackets of which only a comparison complains, so
        // it is recorded per side.
        self.padding = None;
        self.operand(false)?;
        let Some(op) = self.comparison() else { return self.test() };
        self.comparable()?;
        self.padding = None;
        self.operand(true)?;
        self.comparable()?;
        self.compare(op);
        Ok(())
    }

    /// Reads a comparison operator with the white space around it, if there is one here.
    #[inline(never)]
    pub(super) fn comparison(&mut self) -> Option<Comparison> {
        const OPERATORS: [(&str, Comparison); 6] = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let before = self.at;
        self.blanks();
        let found = OPERATORS.into_iter().find(|(text, _)| self.eat_text(text));
        match found {
            Some(_) => self.blanks(),
            None => self.at = before,
        }
        found.map(|(_, comparison)| comparison)
    }

    /// Reads a literal, a query, or a function call. `right` is true for the right side of a
    /// comparison.
    pub(super) fn operand(&mut self, right: bool) -> Parsed<()> {
        let start = self.at;
        match self.peek() {
            Some(b'@' | b'$') => self.filter_query()?,
            Some(b'(') => return Err(self.missing_operand(right)),
            _ => {
                let word = self.eat_while(|c| c.is_ascii_alphanumeric() || c == '_').len();
                // RFC 9535 allows no white space between the name of a function and its
                // parenthesis.
                if word > 0 && self.peek() == Some(b'(') {
                    self.call(start)?;
                } else {
                    self.at = start;
                    self.literal(right)?;
                }
            }
        }
        self.operand = start;
        Ok(())
    }

    /// `filter-query`
    fn filter_query(&mut self) -> Parsed<()> {
        let (start, first) = (self.at, self.segments.len());
        self.at += 1;
        self.segments()?;
        self.end_filter_query(start, first);
        Ok(())
    }

    #[inline(never)]
    fn end_filter_query(&mut self, start: usize, first: usize) {
        let absolute = self.text[start..].starts_with('$');
        let segments = Segments(self.segments.split_off(first));
        self.push_operand(start, Value::Query(FilterQuery { absolute, segments }));
    }

    /// `literal`
    #[inline(never)]
    fn literal(&mut self, right: bool) -> Parsed<()> {
        let start = self.at;
        let literal = match self.peek() {
            Some(b'\'' | b'"') => Literal::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Literal::Number(self.number()?.to_owned()),
            _ => match self.eat_while(|c| c.is_ascii_alphanumeric() || c == '_') {
                "true" => Literal::Bool(true),
                "false" => Literal::Bool(false),
                "null" => Literal::Null,
                _ => {
                    self.at = start;
                    return Err(self.missing_operand(right));
                }
            },
        };
        self.push_operand(start, Value::Literal(literal));
        Ok(())
    }

    pub(super) fn push_operand(&mut self, start: usize, value: Value) {
        self.operands.push(Operand { value, span: start..self.at });
    }

    /// Turns the last operand into a test: a query, or a function with a logical result.
    #[inline(never)]
    fn test(&mut self) -> Parsed<()> {
        if !self.operand_may_end() {
            return Err(self.unexpected(AFTER_TEST));
        }
        let Some(Operand { value, span }) = self.operands.pop() else { return Ok(()) };
        self.expressions.push(match value {
            Value::Query(query) => Logical::Exists(query),
            Value::Call(call) if call.function.signature().result == FunctionResult::Logical => {
                Logical::Test(call)
            }
            Value::Call(call) => return Err(self.value_as_test(call.function, span)),
            Value::Literal(_) => {
                let expected = "a comparison, as in `@.a == 1`";
                return Err(self.error(ParseErrorKind::LiteralAlone, span, expected));
            }
        });
        Ok(())
    }

    /// True if the next token can follow an operand.
    // Checked before types are, so that an invalid operator is reported rather than a type error.
    fn operand_may_end(&self) -> bool {
        let rest = self.rest().trim_start_matches(is_blank);
        rest.is_empty()
            || rest.starts_with([')', ']', ','])
            || rest.starts_with("&&")
            || rest.starts_with("||")
    }

    /// True if the next token can follow an expression.
    // Called before the level is left, so that `self.depth` still shows that an invalid operator is
    // inside a filter.
    fn expression_may_end(&self) -> bool {
        matches!(self.peek(), None | Some(b')' | b']' | b','))
    }

    /// Turns the last operand into a side of a comparison: a literal, a singular query without
    /// white space in its brackets, or a function with a value.
    #[inline(never)]
    fn comparable(&mut self) -> Parsed<()> {
        let Some(Operand { value, span }) = self.operands.pop() else { return Ok(()) };
        self.comparables.push(match value {
            Value::Literal(literal) => Comparable::Literal(literal),
            Value::Query(query) if !query.segments.is_singular() => {
                return Err(self.error(ParseErrorKind::NotSingular, span, SINGULAR));
            }
            Value::Query(query) => match &self.padding {
                Some(padding) => return Err(self.padded_query(padding.clone())),
                None => Comparable::Singular(query),
            },
            Value::Call(call) if call.function.signature().result == FunctionResult::Logical => {
                return Err(self.compared_logical(span));
            }
            Value::Call(call) => Comparable::Call(call),
        });
        Ok(())
    }

    /// Combines the last two comparables.
    #[inline(never)]
    fn compare(&mut self, op: Comparison) {
        let right = self.comparables.pop();
        let sides = self.comparables.pop().zip(right);
        self.expressions.extend(sides.map(|(left, right)| Logical::Compare { left, op, right }));
    }

    /// Negates the last expression.
    #[inline(never)]
    fn negate(&mut self) {
        let negated = self.expressions.pop();
        self.expressions.extend(negated.map(|operand| Logical::Not(Box::new(operand))));
    }

    /// Joins the expressions from `first` by `&&`, unless there is only one. Nested conjunctions
    /// are flattened.
    #[inline(never)]
    fn conjunction(&mut self, first: usize) {
        if self.expressions.len() - first > 1 {
            let mut all = Vec::new();
            for operand in self.expressions.drain(first..) {
                match operand {
                    Logical::And(inner) => all.extend(inner),
                    other => all.push(other),
                }
            }
            self.expressions.push(Logical::And(all));
        }
    }

    /// Joins the expressions from `first` by `||`, unless there is only one. Nested disjunctions
    /// are flattened.
    #[inline(never)]
    fn disjunction(&mut self, first: usize) {
        if self.expressions.len() - first > 1 {
            let mut any = Vec::new();
            for operand in self.expressions.drain(first..) {
                match operand {
                    Logical::Or(inner) => any.extend(inner),
                    other => any.push(other),
                }
            }
            self.expressions.push(Logical::Or(any));
        }
    }
}
