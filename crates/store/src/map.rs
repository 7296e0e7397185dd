//! Mapping sealed payloads: the one place where the store gives its word for a file.

use trommel::reader::MapPolicy;

/// The policy for sealed payloads.
pub(crate) fn sealed() -> MapPolicy {
    // SAFETY: a sealed payload is a regular file of mode 0600 in a folder that this user alone may write to, which was checked
    // when the store was opened, and no code of the store writes to it or cuts it short: it is renamed to its place when it is
    // complete, and from then on only ever removed. That no other program of this user does so is asked of them in the
    // documentation of the crate.
    #[expect(unsafe_code, reason = "the word the library asks for")]
    unsafe {
        MapPolicy::trusted()
    }
}
