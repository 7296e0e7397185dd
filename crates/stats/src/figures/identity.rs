//! The identity of scalars: the text and fingerprint that equal values share.

use super::fingerprint::fingerprint;
use std::borrow::Cow;
use trommel_base::decimal::canonical_bytes;
use trommel_reader::{Kind, Number, Scalar, Scaled};

/// Longer strings, in bytes as written, are counted but not compared.
pub(crate) const MAX_COMPARED_BYTES: u64 = 4096;

/// The identities of literals, computed when the program is compiled.
const NULL: Identity<'static> = literal(Kind::Null, b"null");
const TRUE: Identity<'static> = literal(Kind::Bool, b"true");
const FALSE: Identity<'static> = literal(Kind::Bool, b"false");

const fn literal(kind: Kind, text: &'static [u8]) -> Identity<'static> {
    Identity { kind, text: Cow::Borrowed(text), fingerprint: fingerprint(kind as u8, text) }
}

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
        let scaled = if let Scalar::Number(number) = scalar { number.as_scaled() } else { None };
        Self::with_scaled(scalar, scaled)
    }

    /// [`of`](Self::of), given the digits of a number.
    #[inline]
    pub(super) fn with_scaled(scalar: &Scalar<'a>, scaled: Option<Scaled>) -> Option<Self> {
        let (kind, text) = match *scalar {
            Scalar::Null => return Some(NULL),
            Scalar::Bool(true) => return Some(TRUE),
            Scalar::Bool(false) => return Some(FALSE),
            Scalar::Number(number) => (Kind::Number, canonical(number, scaled)),
            Scalar::String(text) if text.is_cut() || text.byte_len() > MAX_COMPARED_BYTES => return None,
            Scalar::String(text) => (Kind::String, text.decode_bytes()),
        };
        Some(Self::new(kind, text))
    }

    /// The identity of a string or number with this decoded or canonical text.
    #[inline]
    pub(super) fn new(kind: Kind, text: Cow<'a, [u8]>) -> Self {
        let fingerprint = fingerprint(kind as u8, &text);
        Self { kind, text, fingerprint }
    }
}

/// Returns the notation that equal numbers share.
fn canonical(number: Number<'_>, scaled: Option<Scaled>) -> Cow<'_, [u8]> {
    let bytes = number.bytes();
    if is_canonical(number, scaled) { Cow::Borrowed(bytes) } else { canonical_bytes(bytes) }
}

/// True if a number is known to be written as equal numbers are compared, given its digits.
#[inline]
pub(super) fn is_canonical(number: Number<'_>, scaled: Option<Scaled>) -> bool {
    scaled.is_some_and(|Scaled { digits, places }| match places {
        0 => digits != 0 || number.bytes() == b"0",
        // Numbers below 10^-6 may need an exponent.
        _ => (places <= 6 || digits.unsigned_abs() >= 10_u64.pow(places - 6)) && digits % 10 != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_canonical_notation() {
        let wholes = "0 1 -1 -0 10 7000 123456789012345678 1234567890123456789".split(' ');
        let fractions =
            ["", ".0", ".5", ".50", ".05", ".000001", ".0000001", ".00000012", ".12345678901234567"];
        for text in wholes.flat_map(|whole| fractions.map(|fraction| whole.to_owned() + fraction)) {
            let number = Number::parse(&text).unwrap();
            assert_eq!(canonical(number, number.as_scaled()), canonical_bytes(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn literals_have_the_fingerprints_of_their_texts() {
        let literals = [(Scalar::Null, "null"), (Scalar::Bool(true), "true"), (Scalar::Bool(false), "false")];
        for (scalar, text) in literals {
            let found = Identity::of(&scalar).unwrap();
            let expected = Identity::new(scalar.kind(), text.as_bytes().into());
            assert_eq!(
                (found.kind, found.text, found.fingerprint),
                (expected.kind, expected.text, expected.fingerprint)
            );
        }
    }
}
