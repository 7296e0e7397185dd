//! Scalars of one path, in columns.

use super::identity::{Identity, MAX_COMPARED_BYTES, is_canonical};
use arrayvec::ArrayVec;
use trommel_base::text::count_chars;
use trommel_reader::{Kind, Number, Scalar, Scaled, Text};

/// The number of scalars that figures take at once.
pub(crate) const BATCH: usize = 64;

/// At most [`BATCH`] items, without an allocation.
pub(crate) type Column<T> = ArrayVec<T, BATCH>;

/// Scalars of one path with everything that figures need of them, in columns.
#[derive(Debug, Default)]
pub(crate) struct Batch<'a> {
    /// The number of scalars.
    pub(crate) count: usize,
    /// The numbers, with their digits and the nearest doubles.
    pub(super) numbers: Column<(Number<'a>, Option<Scaled>)>,
    pub(super) doubles: Column<f64>,
    /// The characters of each string.
    pub(super) lengths: Column<u64>,
    /// The scalars that are compared, with their offsets.
    pub(super) identities: Column<(Identity<'a>, u64)>,
    /// True if all texts are known to be plain.
    are_plain: bool,
}

impl<'a> Batch<'a> {
    /// Creates a batch of one scalar at an offset.
    pub(crate) fn of(scalar: Scalar<'a>, at: u64) -> Self {
        let mut batch = Self::default();
        batch.push(scalar, at);
        batch
    }

    /// Creates an empty batch, given if all texts that will be pushed are known to be plain.
    pub(crate) fn of_plain_texts(are_plain: bool) -> Self {
        Self { are_plain, ..Self::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.numbers.clear();
        self.doubles.clear();
        self.lengths.clear();
        self.identities.clear();
    }

    /// Parses the scalar at an offset. Linear in its length.
    pub(crate) fn push(&mut self, scalar: Scalar<'a>, at: u64) {
        match scalar {
            Scalar::Number(number) => self.push_number(number, at),
            Scalar::String(text) => self.push_text(text, at),
            Scalar::Null | Scalar::Bool(_) => self.push_literal(scalar, at),
        }
    }

    pub(crate) fn push_literal(&mut self, scalar: Scalar<'a>, at: u64) {
        self.count += 1;
        self.identities.extend(Identity::of(&scalar).map(|identity| (identity, at)));
    }

    /// Parses the number at an offset.
    #[inline]
    pub(crate) fn push_number(&mut self, number: Number<'a>, at: u64) {
        self.count += 1;
        let scaled = number.as_scaled();
        self.doubles.push(number.as_f64_with(scaled));
        self.numbers.push((number, scaled));
        // Most numbers are written like that.
        if is_canonical(number, scaled) {
            self.identities.push((Identity::new(Kind::Number, number.bytes().into()), at));
        } else {
            let identity = Identity::with_scaled(&Scalar::Number(number), scaled);
            self.identities.extend(identity.map(|identity| (identity, at)));
        }
    }

    /// Parses the string at an offset.
    #[inline]
    pub(crate) fn push_text(&mut self, text: Text<'a>, at: u64) {
        self.count += 1;
        // Most strings are whole, and their bytes are characters.
        let (raw, length) = (text.raw(), text.raw().len() as u64);
        if length <= MAX_COMPARED_BYTES && (self.are_plain || text.is_plain()) {
            self.lengths.push(length);
            return self.identities.push((Identity::new(Kind::String, raw.into()), at));
        }
        let identity = Identity::of(&Scalar::String(text));
        // Counted in the decoded text, if there is one.
        let decoded = identity.as_ref().map(|identity| count_chars(&identity.text));
        self.lengths.push(decoded.unwrap_or_else(|| text.char_len()));
        self.identities.extend(identity.map(|identity| (identity, at)));
    }
}
