//! Mapping sealed payloads: the one place where the store gives its word for a file.

use trommel::reader::MapPolicy;

/// The policy for sealed payloads.
pub(crate) fn sealed() -> MapPolicy {
    // SAFETY: a sealed payload lies in a folder that this user alone may write to, and no code of the store writes to it or
    // cuts it short: it is renamed to its place when it is complete, and from then on only ever removed.
    #[expect(unsafe_code, reason = "the word the library asks for")]
    unsafe {
        MapPolicy::trusted()
    }
}
