//! Texts stored beside the tests.

use std::path::Path;

/// Compares a text with a stored file. If `UPDATE_SNAPSHOTS` is set, stores the text instead.
///
/// # Panics
///
/// If the text differs, with the number of the first different line, and if the file cannot be
/// written.
#[track_caller]
pub fn assert_golden(file: impl AsRef<Path>, text: &str) {
    let file = file.as_ref();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(file, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", file.display()));
        return;
    }
    let stored = std::fs::read_to_string(file).unwrap_or_default();
    let differs = stored.lines().zip(text.lines()).position(|(stored, found)| stored != found);
    let line = differs.unwrap_or_else(|| stored.lines().count().min(text.lines().count())) + 1;
    assert!(
        stored == text,
        "{} differs from the stored text, first in line {line}; check the difference, then update with UPDATE_SNAPSHOTS=1\n{text}",
        file.display()
    );
}
