//! Texts that must not be in the tree: unfinished work, ignored tests, paths of one machine, and
//! broken links.

use super::{Fault, Rule, Tree, has_extension, words};
use crate::source::{Kind, Source, word};

/// Markers of unfinished work, split in halves so that this file does not contain them.
const NOTES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];

/// Folders that exist on one machine only.
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/tmp/", "target"), concat!("/ro", "ot/")];

/// The folder beside the checkout that may hold the conformance suites.
const BESIDE: &str = concat!("../sh", "ared");

/// Folders that may refer to the conformance suites: tests, benches and what serves them.
const CONFORMANCE_USERS: &[&str] = &["/tests/", "benches/", "crates/testkit/src/"];

rules! {
    FINISHED: "all code is finished: no work notes, no stubs, no ignored tests"
        => "finish it, or remove it and open an issue";
    PORTABLE: "no text depends on one machine's folders"
        => "use a path relative to the workspace, or an argument or a variable";
    OWN: "no text names files outside the checkout, except tests, which may name the conformance suites"
        => "state the fact itself, without the reference";
    LINKS: "every document that a text names exists"
        => "correct the name, or state the fact itself";
}

pub(super) fn check(tree: &Tree<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in &tree.texts {
        for (line, number) in text.lines().zip(1..) {
            faults.extend(check_line(path, number, line));
            if !has_extension(path, "rs") {
                faults.extend(check_documents(tree, path, number, line));
            }
        }
    }
    for source in &tree.sources {
        faults.extend(check_source(source));
        for (number, comment) in &source.comments {
            faults.extend(check_documents(tree, &source.path, *number, comment));
        }
    }
    faults
}

fn check_line(path: &str, number: usize, line: &str) -> Vec<Fault> {
    let notes = words(line).filter(|(_, word)| NOTES.contains(word));
    let mut faults =
        notes.map(|(_, word)| FINISHED.fault(path, number, format!("`{word}`"))).collect::<Vec<_>>();
    let places = MACHINE_PATHS.iter().filter(|place| holds_path(line, place));
    faults.extend(places.map(|place| PORTABLE.fault(path, number, format!("`{place}`"))));
    let looks_up = CONFORMANCE_USERS.iter().any(|user| path.contains(user));
    let strays = line.split(BESIDE).skip(1).any(|rest| !looks_up || !rest.starts_with("/conformance"));
    if strays {
        faults.push(OWN.fault(path, number, format!("`{BESIDE}`")));
    }
    faults
}

fn check_documents(tree: &Tree<'_>, path: &str, number: usize, prose: &str) -> Vec<Fault> {
    let lost = documents(prose).filter(|name| !exists(tree, path, name));
    lost.map(|name| LINKS.fault(path, number, format!("no document `{name}`"))).collect()
}

fn check_source(source: &Source) -> Vec<Fault> {
    let patterns = [
        ("todo!", vec![word("todo"), Kind::Mark('!')]),
        ("unimplemented!", vec![word("unimplemented"), Kind::Mark('!')]),
        ("#[ignore]", vec![Kind::Mark('#'), Kind::Open('['), word("ignore")]),
    ];
    let places = patterns
        .iter()
        .flat_map(|(what, pattern)| source.find(pattern).into_iter().map(move |line| (line, what)));
    places.map(|(line, what)| FINISHED.fault(&source.path, line, format!("`{what}`"))).collect()
}

/// True if a line contains this absolute path, and not only as the end of a longer relative path.
fn holds_path(line: &str, place: &str) -> bool {
    let mut offsets = line.match_indices(place).map(|(offset, _)| offset);
    offsets.any(|offset| {
        let before = line.get(..offset).and_then(|head| head.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | ')'))
    })
}

/// Returns the Markdown files that a line of prose names, without web addresses and placeholders in
/// capitals.
fn documents(prose: &str) -> impl Iterator<Item = &str> {
    let separators = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '/' | ':');
    let names = prose.split(separators).map(|word| word.trim_end_matches(['.', ':']));
    names.filter(|name| {
        let is_extension = name.starts_with('.') && !name.contains('/');
        has_extension(name, "md") && !name.contains(':') && !is_extension && *name != "FILE.md"
    })
}

/// True if a document named in the file at `from` exists. A path may be relative to that file or to
/// the root; a bare name may be anywhere.
fn exists(tree: &Tree<'_>, from: &str, name: &str) -> bool {
    if !name.contains('/') {
        return tree.files.iter().any(|file| file.rsplit('/').next() == Some(name));
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let root = &tree.workspace.root;
    [root.join(folder).join(name), root.join(name)].iter().any(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_only_absolute_paths() {
        let place = concat!("/wo", "rk/");
        assert!(holds_path(&format!("see {place}x"), place));
        assert!(holds_path(&format!("\"{place}\""), place));
        assert!(!holds_path(&format!("frame{place}x and .{place}y"), place));
    }

    #[test]
    fn finds_work_notes_and_foreign_paths() {
        let wrong = |path: &str, line: &str| check_line(path, 1, line).len();
        for note in NOTES {
            assert_eq!(wrong("a.md", &format!("{note}: later")), 1);
            assert_eq!(wrong("a.md", &format!("a{note}b")), 0);
        }
        assert_eq!(wrong("crates/x/tests/cts.rs", &format!("{BESIDE}/conformance/cts")), 0);
        assert_eq!(wrong("crates/x/tests/cts.rs", &format!("{BESIDE}/notes")), 1);
        assert_eq!(wrong("crates/x/src/lib.rs", &format!("{BESIDE}/conformance/cts")), 1);
    }

    #[test]
    fn finds_documents_by_path_or_bare_name() {
        let line = "see docs/A.md, `b.md` (and [c](d/c.md)): not https://x.org/e.md or FILE.md.";
        assert_eq!(documents(line).collect::<Vec<_>>(), ["docs/A.md", "b.md", "d/c.md"]);
    }

    #[test]
    fn finds_stubs_and_ignored_tests_only_in_code() {
        let text = "// todo!()\nfn a() { todo!() }\n#[test]\n#[ignore = \"slow\"]\nfn b() {}\n";
        let lines: Vec<_> =
            check_source(&Source::parse("x.rs", text).unwrap()).iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [2, 4]);
    }
}
