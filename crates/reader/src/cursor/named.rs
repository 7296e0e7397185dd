//! To the members of an object that have certain names.

use trommel_scan::{Named, Names, Naming};

use super::{Cursor, Expect, Token};
use crate::config::Validation;
use crate::error::{ErrorKind, Limit, Result, Syntax};

/// Where there are more names, each member's is looked up.
const FEW: usize = 8;

impl Cursor<'_> {
    /// In an object, between members: goes to the next member whose name is one of these, before
    /// its value, and returns the name's number; or past the closing bracket, and returns nothing.
    /// A value that was not looked at is skipped.
    ///
    /// Under structural validation other members are skipped with their names: of them only the
    /// ends of strings and brackets are checked. Costs masks then, where there are few names; else
    /// tokens.
    pub fn next_named(&mut self, names: &Names) -> Result<Option<usize>> {
        if self.validation == Validation::Strict || names.iter().len() > FEW {
            return self.next_named_by_tokens(names);
        }
        match self.expect {
            Expect::First | Expect::Next | Expect::Value if self.stack.in_object() => {}
            _ => return self.failure(),
        }
        // Often it is the next member, whose name is then found without masks.
        if self.expect != Expect::Value && self.quick_member() {
            let name = self.source.window().get(self.start + 1..self.end - 1);
            if let Some(number) = name.and_then(|name| names.number_of(name, false)) {
                return Ok(Some(number));
            }
        }
        self.token = Token::None;
        let mut state = Naming::new(names, u64::from(self.limits.depth - self.stack.depth()));
        loop {
            let window = self.source.window();
            state.base = self.source.base();
            match (self.kernels.members)(window, self.at, &mut state) {
                Named::Found { number, open, close, colon, escaped } => {
                    self.expect = Expect::Value;
                    (self.start, self.at) = (open, open);
                    if escaped || (close - open) as u64 > self.limits.token_bytes {
                        self.read_name()?;
                    } else {
                        (self.end, self.at) = (close + 1, colon + 1);
                        self.token = Token::Name { escaped: false };
                    }
                    return Ok(Some(number));
                }
                Named::End(index) => {
                    (self.start, self.at) = (index, index);
                    if window.get(index) != Some(&b'}') {
                        return self.fail(Syntax::MismatchedBracket, index);
                    }
                    self.close();
                    return Ok(None);
                }
                Named::Mismatched(index) => return self.fail(Syntax::MismatchedBracket, index),
                Named::TooDeep(index) => {
                    let limit = Limit::Depth(u64::from(self.limits.depth));
                    return self.refuse(ErrorKind::Limit(limit), index);
                }
                Named::More => {
                    (self.start, self.at) = (state.needed(window), window.len());
                    if !self.more()? {
                        let open = if state.skip.in_string() {
                            Syntax::UnterminatedString
                        } else {
                            Syntax::UnexpectedEnd
                        };
                        return self.fail(open, self.at);
                    }
                }
            }
        }
    }

    fn next_named_by_tokens(&mut self, names: &Names) -> Result<Option<usize>> {
        while self.next_member()? {
            if let Some(number) = self.number_of_name(names) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    fn number_of_name(&self, names: &Names) -> Option<usize> {
        let name = self.name()?;
        names.iter().position(|wanted| name.eq_str(wanted))
    }
}
