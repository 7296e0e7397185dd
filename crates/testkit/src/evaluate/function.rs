//! Function extensions (RFC 9535, section 2.4).

use super::Evaluation;
use super::compare::Operand;
use super::pattern::translate;
use crate::naive::{Data, ValueId};
use regex::Regex;
use trommel_query::{Argument, Comparable, FilterQuery, Function, FunctionCall};

impl<'a> Evaluation<'a> {
    /// Evaluates a function that returns a value.
    pub(super) fn call(self, call: &FunctionCall, candidate: ValueId) -> Operand<'a> {
        match (call.function, call.arguments.as_slice()) {
            (Function::Length, [Argument::Value(value)]) => self.length(value, candidate),
            (Function::Count, [Argument::Nodes(query)]) => {
                Operand::Number(self.nodes(query, candidate).len().into())
            }
            (Function::Value, [Argument::Nodes(query)]) => self.only_node(query, candidate),
            // A function that returns no value, or ill-typed arguments.
            (
                Function::Length | Function::Count | Function::Value | Function::Match | Function::Search,
                _,
            ) => Operand::Nothing,
        }
    }

    /// Evaluates a function that returns a logical result.
    pub(super) fn test(self, call: &FunctionCall, candidate: ValueId) -> bool {
        match (call.function, call.arguments.as_slice()) {
            (Function::Match, [Argument::Value(text), Argument::Value(pattern)]) => {
                self.matches(text, pattern, candidate, true)
            }
            (Function::Search, [Argument::Value(text), Argument::Value(pattern)]) => {
                self.matches(text, pattern, candidate, false)
            }
            (
                Function::Length | Function::Count | Function::Value | Function::Match | Function::Search,
                _,
            ) => false,
        }
    }

    fn length(self, argument: &Comparable, candidate: ValueId) -> Operand<'a> {
        match self.operand(argument, candidate) {
            Operand::Text(text) => Operand::Number(text.chars().count().into()),
            Operand::Container(value) => match &self.document[value].data {
                Data::Array(items) => Operand::Number(items.len().into()),
                _ => Operand::Number(self.document.members(value).len().into()),
            },
            _ => Operand::Nothing,
        }
    }

    fn only_node(self, query: &FilterQuery, candidate: ValueId) -> Operand<'a> {
        match self.nodes(query, candidate).as_slice() {
            &[node] => Operand::of(self.document, node),
            _ => Operand::Nothing,
        }
    }

    fn matches(self, subject: &Comparable, pattern: &Comparable, candidate: ValueId, whole: bool) -> bool {
        let subject = self.operand(subject, candidate);
        let pattern = self.operand(pattern, candidate);
        let (Operand::Text(subject), Operand::Text(pattern)) = (subject, pattern) else { return false };
        let Some(pattern) = translate(&pattern) else { return false };
        let whole = if whole { format!(r"\A(?:{pattern})\z") } else { pattern };
        Regex::new(&whole).is_ok_and(|regex| regex.is_match(&subject))
    }
}
