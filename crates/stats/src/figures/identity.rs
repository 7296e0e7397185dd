//! The identity of scalars: the text and fingerprint that equal values share.

use super::fingerprint::fingerprint;
use std::borrow::Cow;
use trommel_base::decimal::canonical_bytes;
use trommel_reader::{Kind, Scalar};

/// Longer strings, in bytes as written, are counted but not compared.
pub(crate) const MAX_COMPARED_BYTES: u64 = 4096;

/// A scalar identified by its value: a string by its characters, a number by its numeric value,
/// regardless of how either is written.
#[derive(Clone, Debug)]
pub(crate) struct Identity<'a> {
    pub(crate) kind: Kind,
    /// Valid UTF-8, which is not checked again.
    pub(crate) text: Cow<'a, [u8]>,
    pub(crate) fingerprint: u64,
}

impl<'a> Identity<'a> {
    /// Returns the identity of a scalar, or `None` for a string too long to compare. That depends
    /// only on its length as written, not on how it was read.
    pub(crate) fn of(scalar: &Scalar<'a>) -> Option<Self> {
        let (kind, text) = match *scalar {
            Scalar::Null => (Kind::Null, Cow::Borrowed(b"null".as_slice())),
            Scalar::Bool(true) => (Kind::Bool, Cow::Borrowed(b"true".as_slice())),
            Scalar::Bool(false) => (Kind::Bool, Cow::Borrowed(b"false".as_slice())),
            Scalar::Number(number) => (Kind::Number, canonical_bytes(number.bytes())),
            Scalar::String(text) if text.is_cut() || text.byte_len() > MAX_COMPARED_BYTES => return None,
            Scalar::String(text) => (Kind::String, text.decode_bytes()),
        };
        let fingerprint = fingerprint(kind as u8, &text);
        Some(Self { kind, text, fingerprint })
    }
}
