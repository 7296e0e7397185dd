//! Golden texts under `tests/golden`.

use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

#[track_caller]
fn assert_kept(name: &str, shown: &str) {
    let kept = std::fs::read_to_string(path(name)).unwrap_or_default();
    let differs = kept.lines().zip(shown.lines()).position(|(kept, shown)| kept != shown);
    let line = differs.unwrap_or_else(|| kept.lines().count().min(shown.lines().count())) + 1;
    assert!(shown == kept, "tests/golden/{name} is another, first in line {line}:\n{shown}");
}

/// Compares a text with a golden file. With `UPDATE_SNAPSHOTS` set, it replaces the file.
#[track_caller]
pub(crate) fn assert_golden(name: &str, shown: &str) {
    let name = format!("more/{name}");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path("more")).unwrap();
        std::fs::write(path(&name), shown).unwrap();
    }
    assert_kept(&name, shown);
}
