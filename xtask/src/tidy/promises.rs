//! `docs/PROMISES.md`: every promise that a test names has a row, and the test of every row exists.
//!
//! The document has tables with a column `test`. A row begins with the promise's ID, `R` and a
//! number. Its test cell names, each in backquotes, a test as `FILE::FUNCTION`, a file such as a
//! fuzz target, or a `cargo` command. Without a test, the cell gives the reason in words.

use std::collections::BTreeMap;

use super::{Fault, Rule, Tree, words};
use crate::source::{Kind, Source, Token};

const DOCUMENT: &str = "docs/PROMISES.md";

/// The chores that a row may name as its test.
const CHORES: &[&str] = &["tidy", "deep", "mcp", "rss", "coverage", "instructions"];

rules! {
    KNOWN: "every promise that a test or comment names has a row in docs/PROMISES.md"
        => "add the row, or correct the ID";
    SHOWN: "every row of docs/PROMISES.md names existing tests, or gives the reason in words"
        => "name the test as `FILE::FUNCTION`, with its current name";
    ONCE: "a promise has one row in docs/PROMISES.md"
        => "move its tests to one row";
}

pub(super) fn check(tree: &Tree<'_>) -> Vec<Fault> {
    let Some(document) = tree.text(DOCUMENT) else {
        return vec![ONCE.fault(DOCUMENT, 0, "missing")];
    };
    let rows = rows(document);
    let mut faults = rows.iter().flat_map(|row| check_row(tree, row)).collect::<Vec<_>>();
    let mut known = BTreeMap::new();
    for row in &rows {
        if let Some(first) = known.insert(row.id, row.line) {
            faults.push(ONCE.fault(DOCUMENT, row.line, format!("{} is also on line {first}", row.id)));
        }
    }
    for source in &tree.sources {
        let unknown = claims(source).into_iter().filter(|(_, id)| !known.contains_key(id.as_str()));
        faults.extend(unknown.map(|(line, id)| KNOWN.fault(&source.path, line, format!("{id} has no row"))));
    }
    faults
}

#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    line: usize,
    id: &'a str,
    test: &'a str,
}

fn rows(document: &str) -> Vec<Row<'_>> {
    let mut column = None;
    let mut rows = Vec::new();
    for (index, line) in document.lines().enumerate() {
        let cells = line.trim().trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>();
        column = cells.iter().position(|cell| *cell == "test").or(column);
        if let Some(id) = cells.first().filter(|id| line.starts_with('|') && is_promise(id)) {
            let test = column.and_then(|column| cells.get(column)).copied().unwrap_or_default();
            rows.push(Row { line: index + 1, id, test });
        }
    }
    rows
}

fn check_row(tree: &Tree<'_>, row: &Row<'_>) -> Vec<Fault> {
    let fault = |what| SHOWN.fault(DOCUMENT, row.line, format!("{}: {what}", row.id));
    if !row.test.contains(char::is_alphabetic) {
        return vec![fault("no test and no reason".to_owned())];
    }
    let named = row.test.split('`').skip(1).step_by(2);
    named.filter_map(|name| missing(tree, name)).map(fault).collect()
}

/// Returns the fault of a test that a row names, if any.
fn missing(tree: &Tree<'_>, name: &str) -> Option<String> {
    if let Some(command) = name.strip_prefix("cargo ") {
        let mut words = command.split_whitespace();
        let unknown =
            words.next() == Some("xtask") && !words.next().is_some_and(|chore| CHORES.contains(&chore));
        return unknown.then(|| format!("no chore `{name}`"));
    }
    let (path, function) = name.split_once("::").map_or((name, None), |(path, rest)| (path, Some(rest)));
    if !tree.files.contains(path) {
        return Some(format!("no file `{path}`"));
    }
    let function = function?;
    let last = function.rsplit("::").next().unwrap_or(function);
    let found = tree.source(path).is_some_and(|source| source.has_function(last));
    (!found).then(|| format!("`{path}` has no function `{function}`"))
}

/// Returns the promises that comments and function names of a source name, with their lines.
fn claims(source: &Source) -> Vec<(usize, String)> {
    let comments = source.comments.iter().flat_map(|(line, text)| {
        words(text).filter(|(_, word)| is_promise(word)).map(|(_, word)| (*line, word.to_owned()))
    });
    let names = source.tokens.windows(2).filter_map(|pair| match pair {
        [before, Token { kind: Kind::Word(name), .. }] if before.is_word("fn") => {
            Some((before.first_line(), promise_of_name(name)?))
        }
        _ => None,
    });
    comments.chain(names).collect()
}

/// True for an `R` and a number of up to three digits.
fn is_promise(word: &str) -> bool {
    let Some(digits) = word.strip_prefix('R') else { return false };
    (1..=3).contains(&digits.len())
        && !digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the promise in the prefix of a test's name: `r`, the number, and `_`.
fn promise_of_name(name: &str) -> Option<String> {
    let id = name.split_once('_')?.0.strip_prefix('r').map(|digits| format!("R{digits}"))?;
    is_promise(&id).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rows_under_their_header() {
        let document = "| id | promise | test |\n|---|---|---|\n| R1 | same | `a.rs::b` |\n\nR2 is prose.\n";
        assert_eq!(rows(document), [Row { line: 3, id: "R1", test: "`a.rs::b`" }]);
    }

    #[test]
    fn reads_promises_in_comments_and_names() {
        let text = "/// R33, R34: uniform.\nfn r5_backends() {}\nconst X: &str = \"R9\"; // not R09, RFC\nfn r_8() {}\n";
        let source = Source::parse("x.rs", text).unwrap();
        let found: Vec<_> = claims(&source).into_iter().map(|(line, id)| format!("{line} {id}")).collect();
        assert_eq!(found, ["1 R33", "1 R34", "2 R5"]);
    }
}
