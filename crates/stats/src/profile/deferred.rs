//! Describes many scalars at once.
//!
//! [`Core::shape`] copies the scalars whose values are observed. Later, those of one path are
//! described together: their figures are fetched into the cache once, and branches are predictable.

use super::shape::KINDS;
use super::trie::NONE;
use super::walk::Core;
use crate::figures::{BATCH, Batch};
use trommel_reader::{Kind, Number, Scalar, Text};

/// The maximum number of deferred scalars. Each may be the first of its path, and its figures are
/// only accounted for when it is described, so this bounds the memory beyond the limit.
const MAX_DEFERRED: usize = 2048;

/// Deferred scalars are described once they have this many bytes.
const MAX_BYTES: usize = 128 << 10;

/// Bytes that are copied at once. Most scalars have no more.
const COPIED: usize = 32;

/// Scalars to describe, in a list for each node. A node has the number of the last one.
#[derive(Clone, Debug, Default)]
pub(super) struct Deferred {
    bytes: Vec<u8>,
    scalars: Vec<DeferredScalar>,
    nodes: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct DeferredScalar {
    at: u64,
    /// Where its bytes begin.
    start: u32,
    length: u32,
    /// The first byte of a literal, or a quote. A number has any other byte.
    tag: u8,
    /// The number of the scalar before in the list, or [`NONE`].
    before: u32,
}

/// A scalar that can be deferred.
#[derive(Clone, Copy)]
pub(super) struct Deferrable<'a> {
    /// The first byte of a literal, or a quote. A number has any other byte.
    pub(super) tag: u8,
    /// Its bytes as written, of a string without the quotes, and maybe more.
    pub(super) bytes: &'a [u8],
    /// The number of its own bytes.
    pub(super) length: usize,
}

impl<'a> Deferrable<'a> {
    /// `None` for a scalar that is not deferred, because it is long or not whole.
    pub(super) fn new(scalar: &Scalar<'a>) -> Option<Self> {
        let (tag, bytes) = match scalar {
            Scalar::Null => (b'n', &[][..]),
            Scalar::Bool(value) => (if *value { b't' } else { b'f' }, &[][..]),
            Scalar::Number(number) => (0, number.bytes()),
            Scalar::String(text) if text.is_cut() => return None,
            Scalar::String(text) => (b'"', text.raw()),
        };
        (bytes.len() < MAX_BYTES).then_some(Self { tag, bytes, length: bytes.len() })
    }
}

impl Deferred {
    #[inline]
    fn push(&mut self, Deferrable { tag, bytes, length }: Deferrable<'_>, at: u64, before: u32) {
        let start = self.bytes.len();
        // Copying a fixed number of bytes needs no call. The excess is cut off.
        if length <= COPIED
            && let Some(bytes) = bytes.first_chunk::<COPIED>()
        {
            self.bytes.extend_from_slice(bytes);
            self.bytes.truncate(start + length);
        } else {
            self.bytes.extend_from_slice(&bytes[..length]);
        }
        // There are fewer bytes than twice the maximum: the longest token is shorter than that.
        let (start, length) = (start as u32, length as u32);
        self.scalars.push(DeferredScalar { at, start, length, tag, before });
    }

    fn bytes(&self, scalar: &DeferredScalar) -> &[u8] {
        &self.bytes[scalar.start as usize..][..scalar.length as usize]
    }

    fn scalar(&self, scalar: &DeferredScalar) -> Scalar<'_> {
        match scalar.tag {
            b'n' => Scalar::Null,
            tag @ (b't' | b'f') => Scalar::Bool(tag == b't'),
            b'"' => Scalar::String(Text::valid(self.bytes(scalar))),
            _ => Scalar::Number(Number::valid(self.bytes(scalar))),
        }
    }

    /// Adds a scalar to a batch, by its kind: a [`Scalar`] would be written to memory first.
    #[inline]
    fn push_to<'a>(&'a self, batch: &mut Batch<'a>, scalar: &DeferredScalar) {
        match scalar.tag {
            b'n' | b't' | b'f' => batch.push_literal(self.scalar(scalar), scalar.at),
            b'"' => batch.push_text(Text::valid(self.bytes(scalar)), scalar.at),
            _ => batch.push_number(Number::valid(self.bytes(scalar)), scalar.at),
        }
    }
}

impl Core {
    /// Defers a scalar whose value is observed.
    #[inline]
    pub(super) fn defer(&mut self, node: u32, scalar: Deferrable<'_>, at: u64) {
        let Some(found) = self.trie.nodes.get_mut(node as usize) else { return };
        let deferred = &mut self.deferred;
        let before = std::mem::replace(&mut found.deferred, deferred.scalars.len() as u32);
        if before == NONE {
            deferred.nodes.push(node);
        }
        deferred.push(scalar, at, before);
        if deferred.scalars.len() == MAX_DEFERRED || deferred.bytes.len() >= MAX_BYTES {
            self.describe_deferred();
        }
    }

    /// Describes the deferred scalars. Must be called before nodes are renumbered, and before
    /// figures are read.
    pub(super) fn describe_deferred(&mut self) {
        if self.deferred.nodes.is_empty() {
            return;
        }
        let mut deferred = std::mem::take(&mut self.deferred);
        // The bytes of all scalars are searched for escapes at once.
        let mut batch = Batch::of_plain_texts(Text::valid(&deferred.bytes).is_plain());
        for &node in &deferred.nodes {
            let found = &mut self.trie.nodes[node as usize];
            let can_change = [found.can_change(Kind::String), found.can_change(Kind::Number)];
            let mut next = std::mem::replace(&mut found.deferred, NONE);
            while let Some(found) = deferred.scalars.get(next as usize) {
                let kind = KINDS[usize::from(found.tag)];
                if can_change[0] && kind == Kind::String || can_change[1] && kind == Kind::Number {
                    self.describe_schema(node, &deferred.scalar(found));
                }
                deferred.push_to(&mut batch, found);
                next = found.before;
                if batch.count == BATCH || next == NONE {
                    self.observe_values(node, &batch);
                    batch.clear();
                }
            }
        }
        drop(batch);
        deferred.bytes.clear();
        deferred.scalars.clear();
        deferred.nodes.clear();
        self.deferred = deferred;
    }
}
