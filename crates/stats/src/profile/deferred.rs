//! Describes many scalars at once.
//!
//! [`Core::shape`] copies the scalars whose values are observed. Later, those of one path are
//! described together: their figures are fetched into the cache once, and branches are predictable.

use super::trie::NONE;
use super::walk::Core;
use crate::figures::{BATCH, Observed};
use trommel_reader::{Number, Scalar, Text};

/// The maximum number of deferred scalars. Each may be the first of its path, and its figures are
/// only accounted for when it is described, so this bounds the memory beyond the limit.
const MAX_DEFERRED: usize = 1024;

/// Deferred scalars are described once they have this many bytes.
const MAX_BYTES: usize = 64 << 10;

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
    /// The first byte of the scalar as written, of a number 0.
    tag: u8,
    /// The number of the scalar before in the list, or [`NONE`].
    before: u32,
}

impl Deferred {
    fn push(&mut self, scalar: &Scalar<'_>, at: u64, before: u32) {
        let (tag, bytes) = match scalar {
            Scalar::Null => (b'n', &[][..]),
            Scalar::Bool(value) => (if *value { b't' } else { b'f' }, &[][..]),
            Scalar::Number(number) => (0, number.bytes()),
            Scalar::String(text) => (b'"', text.raw()),
        };
        // A scalar is shorter than the batch of tokens, which has fewer than 2^16 bytes.
        let (start, length) = (self.bytes.len() as u32, bytes.len() as u32);
        self.bytes.extend_from_slice(bytes);
        self.scalars.push(DeferredScalar { at, start, length, tag, before });
    }

    fn scalar(&self, scalar: &DeferredScalar) -> Scalar<'_> {
        let bytes = || &self.bytes[scalar.start as usize..][..scalar.length as usize];
        match scalar.tag {
            b'n' => Scalar::Null,
            tag @ (b't' | b'f') => Scalar::Bool(tag == b't'),
            b'"' => Scalar::String(Text::valid(bytes())),
            _ => Scalar::Number(Number::valid(bytes())),
        }
    }
}

impl Core {
    /// Defers a scalar whose value is observed.
    pub(super) fn defer(&mut self, node: u32, scalar: &Scalar<'_>, at: u64) {
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
        let (mut batch, mut filled) = ([const { Observed::NONE }; BATCH], 0);
        for &node in &deferred.nodes {
            let mut next = std::mem::replace(&mut self.trie.nodes[node as usize].deferred, NONE);
            while let Some(found) = deferred.scalars.get(next as usize) {
                let scalar = deferred.scalar(found);
                self.describe_schema(node, &scalar);
                batch[filled] = Observed::new(scalar, found.at);
                (filled, next) = (filled + 1, found.before);
                if filled == BATCH || next == NONE {
                    self.observe_values(node, &batch[..filled]);
                    filled = 0;
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
