//! Finds the members of an object that have certain names.

use trommel_scan::{MemberSearch, MemberStop, Names};

use super::{Cursor, Expect, Token};
use crate::error::{ErrorKind, Limit, Result, Syntax};

/// With more names than this, the name of each member is looked up.
const MAX_NAMES: usize = 8;

impl Cursor<'_> {
    /// In an object, between members: moves to the value of the next member with one of these
    /// names, and returns the index of the name. If no such member follows, moves past the closing
    /// bracket and returns `None`. A value that was not read is skipped.
    ///
    /// Under structural validation, other members are skipped with their names, and only the ends
    /// of strings and brackets are checked. With few names that costs masks, else tokens.
    pub fn next_named(&mut self, names: &Names) -> Result<Option<usize>> {
        if !self.skips_by_masks() || names.iter().len() > MAX_NAMES {
            return self.next_named_by_tokens(names);
        }
        match self.expect {
            Expect::First | Expect::Next | Expect::Value if self.stack.in_object() => {}
            _ => return self.failure(),
        }
        // The next member is often the right one, and found without masks.
        if self.expect != Expect::Value && self.quick_member() {
            let name = self.source.window().get(self.start + 1..self.end - 1);
            if let Some(name) = name.and_then(|name| names.index_of(name, false)) {
                return Ok(Some(name));
            }
        }
        self.token = Token::None;
        let mut state = MemberSearch::new(names, u64::from(self.limits.depth - self.stack.depth()));
        // The offset since which a value may have been skipped, and false once others have helped.
        let (mut since, mut may_share) = (self.offset(), true);
        loop {
            let window = self.source.window();
            state.base = self.source.base();
            match (self.kernels.members)(window, self.at, &mut state) {
                MemberStop::Found { name, open, close, colon, escaped } => {
                    self.expect = Expect::Value;
                    (self.start, self.at) = (open, open);
                    // Bytes without escapes equal a requested name, so they are valid. Reading the
                    // name reports errors of escapes and of its length.
                    if escaped || (close - open) as u64 > self.limits.token_bytes {
                        self.read_name()?;
                    } else {
                        (self.end, self.at) = (close + 1, colon + 1);
                        self.token = Token::Name { escaped: false };
                    }
                    return Ok(Some(name));
                }
                MemberStop::End(index) => {
                    (self.start, self.at) = (index, index);
                    if window.get(index) != Some(&b'}') {
                        return self.fail(Syntax::MismatchedBracket, index);
                    }
                    self.close();
                    return Ok(None);
                }
                MemberStop::Mismatched(index) => return self.fail(Syntax::MismatchedBracket, index),
                MemberStop::TooDeep(index) => {
                    let limit = Limit::Depth(u64::from(self.limits.depth));
                    return self.refuse(ErrorKind::Limit(limit), index);
                }
                MemberStop::More => {
                    // A name whose colon is not visible yet may start at `start`, so its bytes are
                    // kept.
                    (self.start, self.at) = (state.needed(window), window.len());
                    if self.may_pass() && self.pass_members(names, state.skip.depth > 0)? {
                        state = MemberSearch::new(names, u64::from(self.limits.depth - self.stack.depth()));
                        continue;
                    }
                    if state.skip.depth == 0 {
                        since = self.offset();
                    } else if may_share {
                        may_share = !self.share(&mut state.skip, since)?;
                    }
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

    /// Passes members of the innermost object that have other names, or the rest of the container
    /// that is the value of one.
    #[cold]
    fn pass_members(&mut self, names: &Names, in_value: bool) -> Result<bool> {
        let (names, depth): (Vec<&str>, _) = (names.iter().collect(), self.stack.depth());
        let asked_from = self.guide_from;
        let ordered = match names[..] {
            [name] => self.pass_in_order(depth, name)?,
            _ => None,
        };
        let passed = match ordered {
            Some(passed) => passed,
            None => self.pass_to_names(depth, &names)?,
        };
        if passed {
            return Ok(true);
        }
        if !in_value {
            return Ok(false);
        }
        // The other question can be answered here, too.
        self.guide_from = asked_from;
        let passed = self.pass_container(depth + 1, None)?;
        if passed {
            self.after_value();
        }
        Ok(passed)
    }

    fn next_named_by_tokens(&mut self, names: &Names) -> Result<Option<usize>> {
        while self.next_member()? {
            if let Some(name) = self.index_of_name(names) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    fn index_of_name(&self, names: &Names) -> Option<usize> {
        let name = self.name()?;
        names.iter().position(|wanted| name.eq_str(wanted))
    }
}
