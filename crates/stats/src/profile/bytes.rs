//! Bytes by path: how many bytes of the input the values of each path take.
//!
//! A container's bytes are its brackets, the commas between its children, white space, and its
//! children with their names and colons. The white space is the rest, so it is never counted byte
//! by byte. Only white space, and a comma or a colon, are between a token and the next one, so the
//! end of a token is found from there.

use super::trie::{NONE, Trie};
use super::walk::{Core, Frame};
use trommel_reader::{Scalar, Tokens};

/// The bytes of all values of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PathBytes {
    /// From the first byte of each value to its last one, with all that is in it.
    pub(crate) values: u64,
    /// The names of these values, with quotes and colons. 0 for roots and elements.
    pub(crate) names: u64,
    /// White space in these values, outside of the values in them.
    pub(crate) space: u64,
}

impl PathBytes {
    /// Adds the bytes of other values of the path.
    pub(crate) fn merge(&mut self, other: Self) {
        self.values = self.values.saturating_add(other.values);
        self.names = self.names.saturating_add(other.names);
        self.space = self.space.saturating_add(other.space);
    }

    /// The bytes of the values and their names.
    pub(crate) fn total(self) -> u64 {
        self.values.saturating_add(self.names)
    }
}

/// The bytes of a scalar.
pub(super) fn length_of(scalar: &Scalar<'_>) -> u64 {
    let length = match scalar {
        Scalar::Null | Scalar::Bool(true) => 4,
        Scalar::Bool(false) => 5,
        Scalar::Number(number) => number.bytes().len(),
        Scalar::String(text) => text.raw().len() + 2,
    };
    length as u64
}

/// The bytes without the white space at their end. Valid JSON has no other byte up to the space
/// outside of strings.
#[inline]
fn trimmed(bytes: &[u8]) -> &[u8] {
    let last = bytes.iter().rposition(|&byte| byte > b' ');
    &bytes[..last.map_or(0, |last| last + 1)]
}

/// The bytes that are expected between a scalar and the next token, because they were there
/// before: most documents are written by one program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separator {
    length: u64,
    /// The least word, in little-endian order, that ends with the separator after a byte that is
    /// not white space, and the distance to the greatest one.
    least: u32,
    range: u32,
}

impl Separator {
    pub(super) const COMMA: Self = Self { length: 1, least: 0x2C21_0000, range: 0x00DE_FFFF };
    const COMMA_AND_SPACE: Self = Self { length: 2, least: 0x202C_2100, range: 0x0000_DEFF };
}

/// The bytes of the scalar with this number, which begins at an offset.
#[inline]
pub(super) fn scalar_length(separator: &mut Separator, tokens: &Tokens<'_>, number: usize, at: u64) -> u64 {
    if let Some(&next) = tokens.starts().get(number + 1)
        && let Some(&end) = tokens.bytes()[..usize::from(next)].last_chunk()
    {
        let length = tokens.base() + u64::from(next) - at;
        let word = u32::from_le_bytes(end);
        if word.wrapping_sub(separator.least) <= separator.range {
            return length - separator.length;
        }
        // The last scalar of a container: nothing is before its bracket.
        if end[3] > b' ' && end[3] != b',' {
            return length;
        }
    }
    other_length(separator, tokens, number)
}

/// [`scalar_length`] with another separator, which is expected from now on if it is a usual one.
#[cold]
fn other_length(separator: &mut Separator, tokens: &Tokens<'_>, number: usize) -> u64 {
    let bytes = &tokens.bytes()[tokens.starts()[number].into()..tokens.next(number)];
    let (scalar, usual) = match bytes {
        [scalar @ .., b',', b' '] => (scalar, Separator::COMMA_AND_SPACE),
        [scalar @ .., b','] => (scalar, Separator::COMMA),
        scalar => (scalar, *separator),
    };
    if scalar.last().is_some_and(|&last| last > b' ') {
        *separator = usual;
        return scalar.len() as u64;
    }
    let bytes = trimmed(bytes);
    bytes.strip_suffix(b",").map_or(bytes, trimmed).len() as u64
}

/// The bytes of the name that starts at an index, and of its colon. `value` is the start of its
/// value.
#[inline]
pub(super) fn name_length(bytes: &[u8], start: usize, value: usize) -> u64 {
    let with_colon = trimmed(&bytes[start..value]);
    trimmed(&with_colon[..with_colon.len() - 1]).len() as u64 + 1
}

impl Core {
    /// Counts the bytes of a child of a container: of its name with the colon, and of its value. 0
    /// for an element, which has no name, and for a container, which counts at its end.
    #[inline]
    pub(super) fn add_child(&mut self, frame: &mut Frame, node: u32, name: u64, value: u64) {
        frame.inner += name + value;
        if let Some(bytes) = self.trie.bytes.get_mut(node as usize) {
            bytes.names += name;
            bytes.values += value;
        }
    }

    /// Counts the bytes of a value, which is in a container unless it is a root.
    #[inline]
    pub(super) fn add_value(&mut self, outer: Option<&mut Frame>, node: u32, length: u64) {
        if let Some(frame) = outer {
            frame.inner += length;
        }
        if let Some(bytes) = self.trie.bytes.get_mut(node as usize) {
            bytes.values += length;
        }
    }

    /// Counts the bytes of a container, which ends at this offset.
    #[inline]
    pub(super) fn add_container(&mut self, frame: &Frame, outer: Option<&mut Frame>, end: u64) {
        let length = end - frame.start;
        self.add_value(outer, frame.node, length);
        // White space is never seen: it is what the brackets, commas, and children leave.
        let brackets_and_commas = 2 + frame.members().saturating_sub(1);
        if let Some(bytes) = self.trie.bytes.get_mut(frame.node as usize) {
            bytes.space += length - brackets_and_commas - frame.inner;
        }
    }
}

impl Trie {
    /// Drops the bytes, if they are not requested.
    pub(super) fn restrict_bytes(&mut self, are_requested: bool) {
        if !are_requested {
            (self.counts_bytes, self.bytes) = (false, Vec::new());
        }
    }

    /// The bytes of a node. `None` if they are not counted.
    pub(super) fn bytes_of(&self, node: u32) -> Option<PathBytes> {
        if node == NONE { None } else { self.bytes.get(node as usize).copied() }
    }
}
