//! A string that is never displayed.

use std::fmt;

use zeroize::Zeroizing;

/// A key, token, or connection string. `Display` and `Debug` hide it; [`Secret::expose`] returns
/// it.
///
/// ```
/// let secret = trommel_storage::Secret::new("opens everything");
/// assert_eq!(format!("{secret} {secret:?}"), "(secret) (secret)");
/// assert_eq!(secret.expose(), "opens everything");
/// ```
///
/// Its memory is overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// Returns the secret text.
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
