//! Filters: logical expressions, comparisons and tests (RFC 9535, section 2.3.5).

use std::ops::Range;

use super::function::Call;
use super::{Parsed, Parser};
use crate::error::ParseErrorKind;
use crate::query::{Comparable, Comparison, FilterQuery, Literal, Logical};

/// What may follow an operand that stands alone, and what may follow any other part of an expression.
const AFTER_TEST: &str = "a comparison, `&&`, `||` or the end of the filter";
const AFTER_EXPRESSION: &str = "`&&`, `||` or the end of the filter";

/// A literal, query or call, before its place says what it is used for.
pub(super) enum Operand {
    Literal(Literal),
    Query(FilterQuery),
    Call(Call),
}

impl Parser<'_> {
    /// `filter-selector`, behind the question mark.
    pub(super) fn filter(&mut self) -> Parsed<Logical> {
        self.enter()?;
        self.blanks();
        let expression = self.logical()?;
        self.leave();
        Ok(expression)
    }

    /// `logical-expr`
    pub(super) fn logical(&mut self) -> Parsed<Logical> {
        let mut any = Vec::new();
        let mut all = vec![self.basic()?];
        loop {
            let before = self.at;
            self.blanks();
            if self.eat_text("&&") {
                self.blanks();
                all.push(self.basic()?);
            } else if self.eat_text("||") {
                self.blanks();
                any.push(conjunction(std::mem::take(&mut all)));
                all.push(self.basic()?);
            } else if !self.expression_may_end() {
                return Err(self.unexpected(AFTER_EXPRESSION));
            } else {
                self.at = before;
                any.push(conjunction(all));
                return Ok(disjunction(any));
            }
        }
    }

    /// `basic-expr`
    fn basic(&mut self) -> Parsed<Logical> {
        match self.peek() {
            Some(b'!') => self.negation(),
            Some(b'(') => self.parenthesized(),
            _ => self.comparison_or_test(),
        }
    }

    /// `!` before parentheses or a test; a comparison needs parentheses.
    fn negation(&mut self) -> Parsed<Logical> {
        let start = self.at;
        self.enter()?;
        self.at += 1;
        self.blanks();
        let negated = match self.peek() {
            Some(b'(') => self.parenthesized()?,
            Some(b'!') => return Err(self.double_negation(start)),
            _ => {
                let (operand, span) = self.operand(false)?;
                if self.comparison().is_some() {
                    return Err(self.negated_comparison(start));
                }
                self.test(operand, span)?
            }
        };
        self.leave();
        Ok(Logical::Not(Box::new(negated)))
    }

    /// `paren-expr`, without its negation
    fn parenthesized(&mut self) -> Parsed<Logical> {
        self.enter()?;
        self.open(b'(', b')');
        self.blanks();
        let expression = self.logical()?;
        self.blanks();
        self.close("an operator or `)`")?;
        self.leave();
        Ok(expression)
    }

    /// `comparison-expr` or `test-expr`, which differ behind the first operand only.
    fn comparison_or_test(&mut self) -> Parsed<Logical> {
        self.padding = None;
        let (operand, span) = self.operand(false)?;
        let Some(op) = self.comparison() else { return self.test(operand, span) };
        let left = self.comparable(operand, span)?;
        self.padding = None;
        let (operand, span) = self.operand(true)?;
        let right = self.comparable(operand, span)?;
        Ok(Logical::Compare { left, op, right })
    }

    /// A comparison operator with the white space around it, if one stands here.
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

    /// A literal, query or function call, and where it stands; `right` of an operator or not.
    pub(super) fn operand(&mut self, right: bool) -> Parsed<(Operand, Range<usize>)> {
        let start = self.at;
        let operand = match self.peek() {
            Some(root @ (b'@' | b'$')) => {
                self.at += 1;
                let segments = self.segments()?;
                Operand::Query(FilterQuery { absolute: root == b'$', segments })
            }
            Some(b'\'' | b'"') => Operand::Literal(Literal::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Operand::Literal(Literal::Number(self.number()?.to_owned())),
            _ => self.word(right)?,
        };
        self.operand = start;
        Ok((operand, start..self.at))
    }

    /// A function call, or `true`, `false` or `null`.
    fn word(&mut self, right: bool) -> Parsed<Operand> {
        let start = self.at;
        let word = self.eat_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let literal = match word {
            _ if self.peek() == Some(b'(') && !word.is_empty() => {
                return self.call(start..self.at).map(Operand::Call);
            }
            "true" => Literal::Bool(true),
            "false" => Literal::Bool(false),
            "null" => Literal::Null,
            _ => {
                self.at = start;
                return Err(self.no_operand(right));
            }
        };
        Ok(Operand::Literal(literal))
    }

    /// An operand that is not compared: a query, or a function that yields a truth.
    fn test(&mut self, operand: Operand, span: Range<usize>) -> Parsed<Logical> {
        if !self.operand_may_end() {
            return Err(self.unexpected(AFTER_TEST));
        }
        match operand {
            Operand::Query(query) => Ok(Logical::Exists(query)),
            Operand::Call(Call::Logical(matching)) => Ok(Logical::Matches(matching)),
            Operand::Call(Call::Value(_)) => Err(self.untested_value(span)),
            Operand::Literal(_) => {
                Err(self.error(ParseErrorKind::LiteralAlone, span, "a comparison, as in `@.a == 1`"))
            }
        }
    }

    /// Whether what follows can follow an operand, so that a wrong operator is reported before a wrong type.
    fn operand_may_end(&self) -> bool {
        let rest = self.rest().trim_start_matches(super::is_blank);
        rest.is_empty()
            || rest.starts_with([')', ']', ','])
            || rest.starts_with("&&")
            || rest.starts_with("||")
    }

    /// Whether what stands here can follow an expression. Asked before the filter is left, so that a wrong operator
    /// is known to stand in one.
    fn expression_may_end(&self) -> bool {
        matches!(self.peek(), None | Some(b')' | b']' | b','))
    }

    /// A side of a comparison: a literal, a singular query spelt without white space in its brackets, or a function
    /// that yields a value.
    fn comparable(&self, operand: Operand, span: Range<usize>) -> Parsed<Comparable> {
        match operand {
            Operand::Literal(literal) => Ok(Comparable::Literal(literal)),
            Operand::Query(query) if !query.segments.is_singular() => Err(self.error(
                ParseErrorKind::NotSingular,
                span,
                "a query that selects one node at most: only names and indices, no `*`, `..`, slice, filter or list",
            )),
            Operand::Query(query) => match &self.padding {
                Some(padding) => Err(self.padded(padding.clone())),
                None => Ok(Comparable::Singular(query)),
            },
            Operand::Call(Call::Value(value)) => Ok(value),
            Operand::Call(Call::Logical(_)) => Err(self.compared_truth(span)),
        }
    }
}

/// Operands of `&&` as one expression, those of an operand that is itself a conjunction among them.
fn conjunction(operands: Vec<Logical>) -> Logical {
    join(operands, Logical::And, |operand| match operand {
        Logical::And(inner) => Ok(inner),
        other => Err(other),
    })
}

/// Operands of `||` as one expression, those of an operand that is itself a disjunction among them.
fn disjunction(operands: Vec<Logical>) -> Logical {
    join(operands, Logical::Or, |operand| match operand {
        Logical::Or(inner) => Ok(inner),
        other => Err(other),
    })
}

fn join(
    mut operands: Vec<Logical>,
    make: fn(Vec<Logical>) -> Logical,
    split: fn(Logical) -> Result<Vec<Logical>, Logical>,
) -> Logical {
    if operands.len() == 1
        && let Some(only) = operands.pop()
    {
        return only;
    }
    let mut flat = Vec::with_capacity(operands.len());
    for operand in operands {
        match split(operand) {
            Ok(inner) => flat.extend(inner),
            Err(other) => flat.push(other),
        }
    }
    make(flat)
}
