//! Counts many tokens of one value in one loop.
//!
//! The loop does what [`Core::begin`], [`Core::end`], [`Core::name`], and [`Core::scalar`] do for
//! each token. It keeps the open container at hand, handles a name together with its value, finds
//! the end of a name only if the name is not the predicted one, and adds the totals at the end.

use super::trie::{Label, NONE, Node, Trie};
use super::walk::{Core, Frame, Walk};
use super::words::is_equal;
use crate::figures::Kinds;
use trommel_reader::{Kind, Tokens};

/// The kinds of values by their first bytes. Other bytes do not occur.
const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Number; 256];
    kinds[b'{' as usize] = Kind::Object;
    kinds[b'[' as usize] = Kind::Array;
    kinds[b'"' as usize] = Kind::String;
    kinds[b't' as usize] = Kind::Bool;
    kinds[b'f' as usize] = Kind::Bool;
    kinds[b'n' as usize] = Kind::Null;
    kinds
};

/// The totals of some tokens.
#[derive(Default)]
struct Added {
    kinds: Kinds,
    names: u64,
}

impl Core {
    /// Counts the tokens from a number, as long as a container is open, and the trie needs no more
    /// than `limit` bytes. Returns the number of the token to continue with.
    ///
    /// `DESCRIBES` is true if scalars are described as well as counted.
    pub(super) fn shape<const DESCRIBES: bool>(
        &mut self,
        walk: &mut Walk,
        tokens: &Tokens<'_>,
        first: usize,
        limit: u64,
    ) -> usize {
        let Some(mut frame) = walk.frames.pop() else { return first };
        let (bytes, starts) = (tokens.bytes(), tokens.starts());
        let mut added = Added::default();
        let mut number = first;
        while let Some(&start) = starts.get(number) {
            let mut byte = bytes[usize::from(start)];
            if matches!(byte, b'}' | b']') {
                self.reach(walk.frames.len() + usize::from(frame.members() > 0));
                self.end_of(&frame);
                number += 1;
                let Some(outer) = walk.frames.pop() else {
                    self.count(&added);
                    return number;
                };
                frame = outer;
                continue;
            }
            let node = if frame.kind == Kind::Object {
                let node = self.member_at(&mut frame, tokens, number);
                added.names += 1;
                number += 1;
                byte = bytes[usize::from(starts[number])];
                node
            } else if frame.deeper {
                self.trie.item(frame.node)
            } else {
                NONE
            };
            let kind = KINDS[usize::from(byte)];
            let at = tokens.base() + u64::from(starts[number]);
            added.kinds.observe(kind);
            if frame.kind == Kind::Array {
                frame.element(kind);
            }
            if let Some(node) = self.trie.nodes.get_mut(node as usize) {
                node.observe(kind, at);
            }
            if DESCRIBES && let Some(scalar) = tokens.scalar(number) {
                self.describe(node, &scalar, at);
            }
            number += 1;
            if kind.is_container() {
                self.objects += 1;
                let mut inner = Frame::new(kind, node, self.goes_deeper(node), self.objects);
                inner.marks = !walk.nested;
                walk.frames.push(std::mem::replace(&mut frame, inner));
            }
            if self.trie.charge > limit {
                break;
            }
        }
        self.reach(walk.frames.len() + usize::from(frame.members() > 0));
        walk.frames.push(frame);
        self.count(&added);
        number
    }

    fn count(&mut self, added: &Added) {
        self.totals.keys += added.names;
        crate::Accumulator::merge(&mut self.totals.kinds, added.kinds);
    }

    /// Notes a value in `depth` containers.
    fn reach(&mut self, depth: usize) {
        self.totals.max_depth = self.totals.max_depth.max(depth as u64 + 1);
    }

    /// Counts the name that is the token with this number, and returns the node of its value.
    #[inline]
    fn member_at(&mut self, frame: &mut Frame, tokens: &Tokens<'_>, number: usize) -> u32 {
        if frame.deeper && frame.marks {
            let next = self.trie.predicted(frame.node, frame.last);
            let start = usize::from(tokens.starts()[number]) + 1;
            if self.trie.is_named(next, frame.node, tokens.bytes(), start) {
                let node = &mut self.trie.nodes[next as usize];
                let is_repeated = std::mem::replace(&mut node.seen_in, frame.object) == frame.object;
                node.present += u64::from(!is_repeated);
                self.totals.duplicates += u64::from(is_repeated);
                frame.member(next);
                return next;
            }
        }
        self.other_member(frame, tokens, number)
    }

    #[cold]
    #[inline(never)]
    fn other_member(&mut self, frame: &mut Frame, tokens: &Tokens<'_>, number: usize) -> u32 {
        let name = tokens.name(number);
        if name.is_escaped() {
            self.member(frame, name.decode().as_bytes())
        } else {
            self.member(frame, name.raw())
        }
    }
}

impl Trie {
    /// Returns the node of the member that is expected after another, or first.
    #[inline]
    fn predicted(&self, parent: u32, last: u32) -> u32 {
        match self.nodes.get(last as usize) {
            Some(last) => last.follower,
            None => self.nodes[parent as usize].objects.as_ref().map_or(NONE, |objects| objects.head),
        }
    }

    /// True if a node is that of the name after an opening quote, which is valid and may have
    /// escapes. False if comparing the bytes cannot tell.
    #[inline]
    fn is_named(&self, node: u32, parent: u32, bytes: &[u8], start: usize) -> bool {
        let Some(Node { parent: own, label: Label::Name(offset, length), .. }) =
            self.nodes.get(node as usize)
        else {
            return false;
        };
        let length = *length as usize;
        *own == parent
            && bytes.get(start + length) == Some(&b'"')
            && !self.has_quoted_names()
            && is_equal(self.name_from(*offset), &bytes[start..], length)
    }
}
