//! Texts that are kept beside the tests.

use std::path::Path;

/// Compares a text with the one in a file. With `UPDATE_SNAPSHOTS` set, it is kept there instead.
///
/// # Panics
///
/// When the text is another, naming the first line that differs; and when it cannot be kept.
#[track_caller]
pub fn assert_kept(file: impl AsRef<Path>, text: &str) {
    let file = file.as_ref();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(file, text).unwrap_or_else(|error| panic!("cannot keep {}: {error}", file.display()));
        return;
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    let differs = kept.lines().zip(text.lines()).position(|(kept, shown)| kept != shown);
    let line = differs.unwrap_or_else(|| kept.lines().count().min(text.lines().count())) + 1;
    assert!(
        kept == text,
        "{} is not what is kept, first in line {line}; look at it, and keep it with UPDATE_SNAPSHOTS=1\n{text}",
        file.display()
    );
}
