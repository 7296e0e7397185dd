//! Function extensions (RFC 9535, section 2.4).

use super::Evaluation;
use super::compare::Operand;
use super::pattern::translate;
use crate::naive::{Data, ValueId};
use regex::Regex;
use trommel_query::{Comparable, Matching};

impl<'a> Evaluation<'a> {
    pub(super) fn length(self, argument: &Comparable, candidate: ValueId) -> Operand<'a> {
        match self.operand(argument, candidate) {
            Operand::Text(text) => Operand::Number(text.chars().count().into()),
            Operand::Container(value) => match &self.document[value].data {
                Data::Array(items) => Operand::Number(items.len().into()),
                _ => Operand::Number(self.document.members(value).len().into()),
            },
            _ => Operand::Nothing,
        }
    }

    pub(super) fn matches(self, matching: &Matching, candidate: ValueId) -> bool {
        let subject = self.operand(&matching.subject, candidate);
        let pattern = self.operand(&matching.pattern, candidate);
        let (Operand::Text(subject), Operand::Text(pattern)) = (subject, pattern) else { return false };
        let Some(pattern) = translate(&pattern) else { return false };
        let whole = if matching.whole { format!(r"\A(?:{pattern})\z") } else { pattern };
        Regex::new(&whole).is_ok_and(|regex| regex.is_match(&subject))
    }
}
