//! A text that nobody is to see.

use std::fmt;

use zeroize::Zeroizing;

/// A key, a token or a connection string. It never shows itself: whoever needs it asks for it by
/// name.
///
/// ```
/// let secret = trommel_storage::Secret::new("opens everything");
/// assert_eq!(format!("{secret} {secret:?}"), "(secret) (secret)");
/// assert_eq!(secret.expose(), "opens everything");
/// ```
///
/// Its memory is written over when it is let go.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a text that is not to be shown.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself, for whoever is to have it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}
