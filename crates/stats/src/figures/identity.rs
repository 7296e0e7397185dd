//! What makes two scalars the same value.

use super::fingerprint::fingerprint;
use std::borrow::Cow;
use trommel_base::decimal::canonical;
use trommel_reader::{Kind, Scalar};

/// Strings spelt in more bytes than this are only counted.
pub(crate) const LONGEST_COMPARED: u64 = 4096;

/// A scalar by its value: strings by their characters, however escaped; numbers by what they are
/// worth, however spelt.
#[derive(Clone, Debug)]
pub(crate) struct Identity<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: Cow<'a, str>,
    pub(crate) fingerprint: u64,
}

impl<'a> Identity<'a> {
    /// None for a string too long to compare. That depends on its spelling alone, not on how it was
    /// read.
    pub(crate) fn of(scalar: &Scalar<'a>) -> Option<Self> {
        let (kind, text) = match *scalar {
            Scalar::Null => (Kind::Null, Cow::Borrowed("null")),
            Scalar::Bool(value) => (Kind::Bool, Cow::Borrowed(if value { "true" } else { "false" })),
            Scalar::Number(number) => (Kind::Number, canonical(number.lexeme())),
            Scalar::String(text) if text.is_cut() || text.byte_len() > LONGEST_COMPARED => return None,
            Scalar::String(text) => (Kind::String, text.decode()),
        };
        let fingerprint = fingerprint(kind as u8, text.as_bytes());
        Some(Self { kind, text, fingerprint })
    }
}
