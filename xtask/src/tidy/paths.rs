//! Paths that documents name: each exists in the workspace.
//!
//! A path is a backquoted word in one of two forms. From the root it begins with a folder of the
//! workspace: `crates/scan/src/seek.rs`, `xtask/src/tidy.rs`. In ARCHITECTURE.md and the design
//! notes, it may be relative to the `src` folder of a crate: the one that the heading names, the
//! first cell of a table's row (or of an earlier row, if that cell is empty), or the first word of
//! a list item. A path in capitals, such as `NAME.rs`, is a placeholder.

use std::collections::BTreeSet;

use super::{Fault, Rule, Tree, has_extension};

/// Folders at the root that a path may begin with.
const ROOTS: &[&str] = &["crates/", "xtask/", "benches/", "fuzz/", "docs/", "testdata/", ".ci/"];

rules! {
    PATHS: "a path that a document names exists"
        => "name the file as it is now, or drop the sentence";
}

/// A path as a document names it, resolved to the workspace's root.
#[derive(Debug, PartialEq, Eq)]
struct NamedPath {
    line: usize,
    written: String,
    resolved: String,
}

pub(super) fn check(tree: &Tree<'_>) -> Vec<Fault> {
    let documents = tree.texts.iter().filter(|(path, _)| is_checked(path));
    let check_document = |(path, text): &(String, String)| {
        let named = named_paths(path, text).into_iter();
        let missing = named.filter(|named| !exists(&tree.files, &named.resolved));
        let fault = |named: NamedPath| {
            let NamedPath { line, written, resolved } = named;
            let what = match nearest(&tree.files, &resolved) {
                Some(near) => format!("there is no `{written}`; nearest: `{near}`"),
                None => format!("there is no `{written}`"),
            };
            PATHS.fault(path, line, what)
        };
        missing.map(fault).collect::<Vec<_>>()
    };
    documents.flat_map(check_document).collect()
}

fn is_checked(path: &str) -> bool {
    let is_page = path.strip_prefix("docs/").is_some_and(|name| has_extension(name, "md"));
    is_page || path == "ARCHITECTURE.md" || path == "CONTRIBUTING.md"
}

/// The paths of a document outside fenced blocks.
fn named_paths(document: &str, text: &str) -> Vec<NamedPath> {
    let has_sections = document == "ARCHITECTURE.md" || document == "docs/DESIGN-NOTES.md";
    let mut section = None;
    let mut fenced = false;
    let mut paths = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        if content.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        if let Some(heading) = content.strip_prefix('#') {
            section = has_sections.then(|| crate_folder(heading)).flatten();
        } else if has_sections && let Some(name) = item_crate(content) {
            section = crate_folder(name);
        }
        for word in content.split('`').skip(1).step_by(2) {
            // A test is named as `FILE::FUNCTION`.
            let written = word.split("::").next().unwrap_or(word);
            if let Some(resolved) = resolve(written, section.as_deref()) {
                paths.push(NamedPath { line, written: written.to_owned(), resolved });
            }
        }
    }
    paths
}

/// The crate that a row of a table or a list item begins with.
fn item_crate(line: &str) -> Option<&str> {
    let row = line.strip_prefix("| `").and_then(|rest| rest.split_once("` |"));
    let item = || line.strip_prefix("- `").and_then(|rest| rest.split_once("`: "));
    row.or_else(item).map(|(name, _)| name)
}

/// The `src` folder of the crate that a heading names in its first word.
fn crate_folder(heading: &str) -> Option<String> {
    let name = heading.trim_start_matches('#').split_whitespace().next()?.trim_matches(['`', ',', ':']);
    let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    is_name.then(|| format!("crates/{name}/src/"))
}

fn resolve(word: &str, section: Option<&str>) -> Option<String> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let is_placeholder =
        |part: &str| part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let stems = |part: &str| part.split('.').next().is_some_and(is_placeholder);
    let is_document = has_extension(word, "md");
    if !word.chars().all(is_path) || !is_document && word.split('/').any(stems) {
        return None;
    }
    if ROOTS.iter().any(|root| word.starts_with(root)) {
        return Some(word.to_owned());
    }
    // A relative path is a Rust file, or a folder with its slash.
    let is_relative = has_extension(word, "rs") || word.ends_with('/') && word.len() > 1;
    if is_relative && !word.starts_with(['/', '.']) {
        section.map(|folder| format!("{folder}{word}"))
    } else {
        None
    }
}

/// True if the path is a file, or a folder that holds one.
fn exists(files: &BTreeSet<String>, path: &str) -> bool {
    let folder = format!("{}/", path.trim_end_matches('/'));
    files.contains(path)
        || files.range(folder.clone()..).next().is_some_and(|file| file.starts_with(&folder))
        // Folders whose contents are not written by people are not listed.
        || path.starts_with("testdata/")
        || path.starts_with("fuzz/")
}

/// The existing file or folder with the smallest edit distance to a path, if it is near.
fn nearest<'a>(files: &'a BTreeSet<String>, path: &str) -> Option<&'a str> {
    let candidates = files.iter().flat_map(|file| {
        let folders = file.match_indices('/').filter_map(|(end, _)| file.get(..=end));
        folders.chain([file.as_str()])
    });
    let measured = candidates.map(|file| (distance(file, path), file));
    let (distance, file) = measured.min()?;
    (distance * 2 < path.len()).then_some(file)
}

/// The Levenshtein distance between two texts, by bytes.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, byte) in left.bytes().enumerate() {
        let mut next = vec![index + 1];
        let mut previous = index + 1;
        for (other, pair) in right.bytes().zip(row.windows(2)) {
            let &[diagonal, above] = pair else { continue };
            previous = (diagonal + usize::from(byte != other)).min(above + 1).min(previous + 1);
            next.push(previous);
        }
        row = next;
    }
    row.last().copied().unwrap_or(left.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn reads_paths_from_the_root_and_from_a_crate() {
        let text = "# Map\n`crates/a/src/b.rs`\n## scan\n- `seek.rs`, `backend/`, `word`, `NAME.rs`\n```\n`c.rs`\n```\n## A crate\n`d.rs`\n";
        let found: Vec<_> =
            named_paths("ARCHITECTURE.md", text).into_iter().map(|path| (path.line, path.resolved)).collect();
        let expected =
            [(2, "crates/a/src/b.rs"), (4, "crates/scan/src/seek.rs"), (4, "crates/scan/src/backend/")];
        assert_eq!(found, expected.map(|(line, path)| (line, path.to_owned())));
    }

    #[test]
    fn reads_paths_of_the_crate_of_a_row_or_item() {
        let text = "## Engine\n| `scan` | `seek.rs` |\n|  | `tally.rs` |\n- `path`: `plan.rs`\n";
        let found: Vec<_> =
            named_paths("ARCHITECTURE.md", text).into_iter().map(|path| path.resolved).collect();
        let expected = ["crates/scan/src/seek.rs", "crates/scan/src/tally.rs", "crates/path/src/plan.rs"];
        assert_eq!(found, expected);
    }

    #[test]
    fn reads_only_root_paths_elsewhere() {
        let text = "## scan\n`seek.rs` and `crates/a/tests/b.rs::c`\n";
        let found: Vec<_> =
            named_paths("CONTRIBUTING.md", text).into_iter().map(|path| path.resolved).collect();
        assert_eq!(found, ["crates/a/tests/b.rs"]);
    }

    #[test]
    fn accepts_files_and_folders() {
        let files = files(&["crates/a/src/b.rs", "crates/a/src/c/d.rs"]);
        assert!(exists(&files, "crates/a/src/b.rs"));
        assert!(exists(&files, "crates/a/src/c/"));
        assert!(exists(&files, "crates/a/src/c"));
        assert!(!exists(&files, "crates/a/src/b"));
    }

    #[test]
    fn suggests_the_nearest_path() {
        let files = files(&["crates/a/src/seek.rs", "crates/a/src/validate/tape.rs"]);
        assert_eq!(nearest(&files, "crates/a/src/sek.rs"), Some("crates/a/src/seek.rs"));
        assert_eq!(nearest(&files, "crates/a/src/vet/tape.rs"), Some("crates/a/src/validate/tape.rs"));
        assert_eq!(nearest(&files, "zzz/q"), None);
    }

    #[test]
    fn measures_edit_distance() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
        assert_eq!(distance("ab", "ab"), 0);
    }
}
