//! Counts many tokens of one value in one loop.
//!
//! The loop does what [`Core::begin`], [`Core::end`], [`Core::name`], and [`Core::scalar`] do for
//! each token. It keeps the open container at hand, handles a name together with its value, finds
//! the end of a name only if the name is not the predicted one, and adds the totals at the end.

use super::bytes::{Separator, name_length, scalar_length};
use super::deferred::Deferrable;
use super::trie::{Label, NONE, Node, Trie};
use super::walk::{Core, Frame, Walk};
use crate::figures::Kinds;
use trommel_reader::{Kind, Tokens};

/// The kinds of values by their first bytes. Any other byte is the first one of a number.
pub(super) const KINDS: [Kind; 256] = {
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

/// A scalar among the tokens.
struct ScalarToken {
    kind: Kind,
    number: usize,
    /// The bytes as written, if they are counted.
    length: Option<u64>,
}

impl Core {
    /// Counts the tokens from a number, as long as a container is open, and the trie needs no more
    /// than `limit` bytes. Returns the number of the token to continue with.
    ///
    /// `DESCRIBES` is true if scalars are described as well as counted, `BYTES` if the bytes of
    /// values are counted.
    pub(super) fn shape<const DESCRIBES: bool, const BYTES: bool>(
        &mut self,
        walk: &mut Walk,
        tokens: &Tokens<'_>,
        first: usize,
        limit: u64,
    ) -> usize {
        let Some(mut frame) = walk.frames.pop() else { return first };
        let (bytes, starts, base) = (tokens.bytes(), tokens.starts(), tokens.base());
        let (mut added, mut separator) = (Added::default(), Separator::COMMA);
        let mut number = first;
        while let Some(&start) = starts.get(number) {
            let mut start = usize::from(start);
            let mut byte = bytes[start];
            if matches!(byte, b'}' | b']') {
                self.reach(walk.frames.len() + usize::from(frame.members() > 0));
                if BYTES {
                    self.add_container(&frame, walk.frames.last_mut(), base + start as u64 + 1);
                }
                self.end_of(&frame);
                number += 1;
                let Some(outer) = walk.frames.pop() else {
                    self.count(&added);
                    return number;
                };
                frame = outer;
                continue;
            }
            let mut name_bytes = 0;
            let node = if frame.kind == Kind::Object {
                let (node, length) = match self.predicted_at(&mut frame, bytes, start + 1) {
                    Some(predicted) => predicted,
                    None => (self.other_member(&mut frame, tokens, number), 0),
                };
                added.names += 1;
                number += 1;
                let name = std::mem::replace(&mut start, usize::from(starts[number]));
                byte = bytes[start];
                name_bytes = if BYTES && length == 0 { name_length(bytes, name, start) } else { length };
                node
            } else {
                self.element_node(&mut frame)
            };
            let kind = KINDS[usize::from(byte)];
            let at = base + start as u64;
            added.kinds.observe(kind);
            if frame.kind == Kind::Array {
                frame.element(kind);
            }
            let mut is_row = false;
            if let Some(node) = self.trie.nodes.get_mut(node as usize) {
                node.kinds.observe(kind);
                node.first = node.first.min(at);
                is_row = node.is_row;
                if kind.is_container() {
                    node.observe_container(kind, at);
                }
            }
            // Roots are observed one by one.
            if DESCRIBES && is_row {
                self.begin_row(node, at);
            }
            if kind.is_container() {
                if BYTES {
                    self.add_child(&mut frame, node, name_bytes, 0);
                }
                self.objects += 1;
                let mut inner = Frame::new(kind, node, self.goes_deeper(node), self.objects);
                (inner.marks, inner.start) = (!walk.nested, at);
                walk.frames.push(std::mem::replace(&mut frame, inner));
            } else {
                let length = BYTES.then(|| scalar_length(&mut separator, tokens, number, at));
                if let Some(length) = length {
                    self.add_child(&mut frame, node, name_bytes, length);
                }
                if DESCRIBES {
                    self.describe_token(node, tokens, &ScalarToken { kind, number, length });
                }
            }
            number += 1;
            // Making room renumbers the nodes of the frames, so it is left to the caller.
            if self.trie.charge > limit {
                break;
            }
        }
        self.reach(walk.frames.len() + usize::from(frame.members() > 0));
        walk.frames.push(frame);
        self.count(&added);
        number
    }

    /// The node of the elements, which is that of the last one.
    #[inline]
    fn element_node(&mut self, frame: &mut Frame) -> u32 {
        if frame.last == NONE && frame.deeper {
            frame.last = self.trie.item(frame.node);
        }
        frame.last
    }

    /// Describes a scalar, or defers it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a part of the loop")]
    fn describe_token(&mut self, node: u32, tokens: &Tokens<'_>, token: &ScalarToken) {
        let ScalarToken { kind, number, length } = *token;
        let Some(found) = self.trie.nodes.get(node as usize) else { return };
        if self.observes_values(found) {
            let start = usize::from(tokens.starts()[number]);
            let at = tokens.base() + start as u64;
            let length =
                length.unwrap_or_else(|| scalar_length(&mut { Separator::COMMA }, tokens, number, at));
            let (scalar, length) = (&tokens.bytes()[start..], length as usize);
            let quote = usize::from(kind == Kind::String);
            let scalar = Deferrable { tag: scalar[0], bytes: &scalar[quote..], length: length - 2 * quote };
            self.defer(node, scalar, at);
        } else if found.can_change(kind)
            && let Some(scalar) = tokens.scalar(number)
        {
            self.describe_schema(node, &scalar);
        }
    }

    fn count(&mut self, added: &Added) {
        self.totals.keys += added.names;
        crate::Accumulator::merge(&mut self.totals.kinds, added.kinds);
    }

    /// Notes a value in `depth` containers.
    fn reach(&mut self, depth: usize) {
        self.totals.max_depth = self.totals.max_depth.max(depth as u64 + 1);
    }

    /// Counts the name that starts at an index. Returns the node of its value, and the bytes of the
    /// name and its colon, if the name is the expected one.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the body of the loop, apart from the rare case")]
    fn predicted_at(&mut self, frame: &mut Frame, bytes: &[u8], start: usize) -> Option<(u32, u64)> {
        if !frame.marks || !frame.deeper {
            return None;
        }
        let next = self.trie.predicted(frame.node, frame.last);
        let node = self.trie.named(next, frame.node, bytes, start)?;
        // Each object has a number of its own, so a node that was seen in this one is a repeat.
        let is_repeated = std::mem::replace(&mut node.seen_in, frame.object) == frame.object;
        node.present += u64::from(!is_repeated);
        self.totals.duplicates += u64::from(is_repeated);
        // The opening quote and the colon.
        let length = u64::from(node.spelling.length) + 2;
        frame.member(next);
        Some((next, length))
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

impl Node {
    /// True if a scalar of this kind can change the schema.
    #[inline]
    pub(super) const fn can_change(&self, kind: Kind) -> bool {
        match kind {
            Kind::String => self.formats != 0,
            Kind::Number => !self.has_fractions,
            _ => false,
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

    /// Returns the node with this number if it is that of the name that starts at an index. The
    /// name is valid, and may have escapes. `None` for another name, and for one with escapes.
    #[inline]
    fn named(&mut self, node: u32, parent: u32, bytes: &[u8], start: usize) -> Option<&mut Node> {
        let Self { nodes, names, .. } = self;
        let node = nodes.get_mut(node as usize)?;
        let Label::Name(offset, _) = node.label else { return None };
        let is_named =
            node.parent == parent && node.spelling.is_at(bytes, start, || &names[offset as usize..]);
        is_named.then_some(node)
    }
}
