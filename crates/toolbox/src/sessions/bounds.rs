//! What a caller may ask for at once.

/// What a caller may ask for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// Rows of an answer at most.
    pub rows: usize,
    /// Characters of an answer at most.
    pub chars: usize,
    /// Characters of a message at most. Where there is no limit, a message that does not fit an
    /// answer is whole in one of its own.
    pub text: Option<usize>,
}

impl Bounds {
    /// For a program that reads answers by itself: memory follows what it asks for.
    pub const WIDE: Self = Self { rows: trommel_session::MOST_ROWS, chars: 8_000_000, text: None };
}

impl Default for Bounds {
    /// For a model.
    fn default() -> Self {
        Self { rows: 1_000, chars: 100_000, text: Some(20_000) }
    }
}
