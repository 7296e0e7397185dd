//! Words that must not be left in the tree: unfinished work, tests put aside, places on one
//! machine, and links that lead nowhere.

use super::{Fault, Rule, Tree, has_extension, words};
use crate::source::{Kind, Source, word};

/// Notes to oneself; in halves, so that this file does not hold them.
const NOTES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];

/// Folders that exist on one machine only.
const MACHINE_PLACES: &[&str] = &[concat!("/wo", "rk/"), concat!("/tmp/", "target"), concat!("/ro", "ot/")];

/// The folder beside the checkout that may hold the conformance suites.
const BESIDE: &str = concat!("../sh", "ared");

/// Where the conformance suites may be looked up: tests, benches and what serves them.
const CONFORMANCE_USERS: &[&str] = &["/tests/", "benches/", "crates/testkit/src/"];

rules! {
    FINISHED: "what is in the tree is finished: no notes to oneself, no stubs, no test put aside"
        => "do it, or leave it out and open an issue";
    PORTABLE: "no text depends on one machine's folders"
        => "name it relative to the workspace, or take it from an argument or a variable";
    OWN: "nothing outside the checkout is named, but for the conformance suites, by tests"
        => "state it here in the project's own words";
    LINKS: "a document that is named exists"
        => "name the right one, or say here what it said";
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
    let places = MACHINE_PLACES.iter().filter(|place| holds_place(line, place));
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
    lost.map(|name| LINKS.fault(path, number, format!("there is no `{name}`"))).collect()
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

/// Whether a line holds this absolute path, not merely a longer relative one that ends alike.
fn holds_place(line: &str, place: &str) -> bool {
    let mut offsets = line.match_indices(place).map(|(offset, _)| offset);
    offsets.any(|offset| {
        let before = line.get(..offset).and_then(|head| head.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | ')'))
    })
}

/// The Markdown files that a line of prose names, web addresses and placeholders in capitals left
/// out.
fn documents(prose: &str) -> impl Iterator<Item = &str> {
    let separators = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '/' | ':');
    let names = prose.split(separators).map(|word| word.trim_end_matches(['.', ':']));
    names.filter(|name| has_extension(name, "md") && !name.contains(':') && *name != "FILE.md")
}

/// Whether a document named in the file at `from` exists: a path from there or from the root, or a
/// bare name anywhere.
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
    fn a_place_is_absolute() {
        let place = concat!("/wo", "rk/");
        assert!(holds_place(&format!("see {place}x"), place));
        assert!(holds_place(&format!("\"{place}\""), place));
        assert!(!holds_place(&format!("frame{place}x and .{place}y"), place));
    }

    #[test]
    fn notes_and_strays_are_found_by_line() {
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
    fn documents_are_named_by_path_or_bare() {
        let line = "see docs/A.md, `b.md` (and [c](d/c.md)): not https://x.org/e.md or FILE.md.";
        assert_eq!(documents(line).collect::<Vec<_>>(), ["docs/A.md", "b.md", "d/c.md"]);
    }

    #[test]
    fn stubs_and_tests_put_aside_are_found_in_code_only() {
        let text = "// todo!()\nfn a() { todo!() }\n#[test]\n#[ignore = \"slow\"]\nfn b() {}\n";
        let lines: Vec<_> =
            check_source(&Source::parse("x.rs", text).unwrap()).iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [2, 4]);
    }
}
