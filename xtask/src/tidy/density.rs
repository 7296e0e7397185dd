//! Bounds on the density of code: tuples as parameters, wide comments, silent defaults, and
//! conditions after values.

use std::fmt::Write as _;

use super::sizes::KEYWORDS;
use super::{Fault, Rule, Tree};
use crate::source::{Kind, Source, word};

const PARAMETERS_MAX: usize = 5;
const COMMENT_MAX: usize = 100;
const DEFAULTS_MAX: usize = 59;

rules! {
    TUPLES: "no function destructures a tuple in its parameter list"
        => "use a struct with named fields, or separate parameters";
    PARAMETERS: "a function has at most 5 parameters, counting the elements of tuples, unless they are keyword arguments of Python"
        => "group related parameters in a struct";
    COMMENTS: "a comment line has at most 100 columns, except tables, code, and diagrams"
        => "wrap the paragraph";
    DEFAULTS: "the workspace's own code has fewer than 60 `unwrap_or_default()`"
        => "index, use `expect` with the reason, or return an error; keep obviously correct uses";
    FILTERS: "a condition is before the value that depends on it, not in a `filter` that ignores its argument"
        => "write `if condition { value } else { None }`, or return early";
}

/// Returns the figures as a table, and the faults.
pub(super) fn check(tree: &Tree<'_>) -> (String, Vec<Fault>) {
    let mut faults = tree.sources.iter().flat_map(check_comments).collect::<Vec<_>>();
    let mut text = String::from("\nunwrap_or_default() in code\n");
    let mut total = 0;
    for package in &tree.workspace.packages {
        let sources: Vec<&Source> = tree.code_of(package).collect();
        faults.extend(sources.iter().flat_map(|source| check_functions(source)));
        let count: usize = sources.iter().map(|source| defaults(source)).sum();
        total += count;
        // Writing to text cannot fail.
        let _ = writeln!(text, "{:<27} {count:>5}", tree.workspace.relative(package.folder()));
    }
    let _ = writeln!(text, "{:<27} {total:>5}", "all");
    if total > DEFAULTS_MAX {
        faults.push(DEFAULTS.fault("workspace", 0, format!("there are {total}")));
    }
    (text, faults)
}

fn check_functions(source: &Source) -> Vec<Fault> {
    let ignoring =
        [Kind::Mark('.'), word("filter"), Kind::Open('('), Kind::Mark('|'), word("_"), Kind::Mark('|')];
    let filters = in_code(source, &ignoring);
    let mut faults: Vec<Fault> =
        filters.map(|line| FILTERS.fault(&source.path, line, "`filter(|_| ..)`".to_owned())).collect();
    for function in source.functions.iter().filter(|function| !function.test) {
        let name = &function.name;
        if function.takes_tuple {
            faults.push(TUPLES.fault(&source.path, function.line, format!("`{name}` destructures a tuple")));
        }
        if function.real_parameters > PARAMETERS_MAX && !KEYWORDS.contains(&&*source.path) {
            let what = format!("`{name}` has {} parameters in all", function.real_parameters);
            faults.push(PARAMETERS.fault(&source.path, function.line, what));
        }
    }
    faults
}

fn check_comments(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut comments = source.comments.iter().map(|(line, _)| *line).peekable();
    let mut is_fenced = false;
    for (number, line) in (1..).zip(source.text.lines()) {
        while comments.next_if(|comment| *comment < number).is_some() {}
        let words = if comments.peek() == Some(&number) { comment(line) } else { None };
        let Some(words) = words else {
            is_fenced = false;
            continue;
        };
        is_fenced ^= words.starts_with("```");
        let columns = line.chars().count();
        if columns > COMMENT_MAX && !is_fenced && can_be_wrapped(words) {
            faults.push(COMMENTS.fault(&source.path, number, format!("{columns} columns")));
        }
    }
    faults
}

/// Returns the text of a comment line.
fn comment(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix("//")?;
    Some(comment.trim_start_matches(['/', '!']).trim())
}

/// True if the text has several words and is not a table row.
fn can_be_wrapped(words: &str) -> bool {
    !words.starts_with('|') && words.contains(' ')
}

/// Counts `unwrap_or_default()` in a source, without its tests.
fn defaults(source: &Source) -> usize {
    in_code(source, &[Kind::Mark('.'), word("unwrap_or_default"), Kind::Open('(')]).count()
}

/// Returns the lines with a sequence of tokens, without those of tests.
fn in_code(source: &Source, tokens: &[Kind]) -> impl Iterator<Item = usize> {
    source.find(tokens).into_iter().filter(|&line| !source.is_test_line(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_elements_of_tuples() {
        let text = "fn f((a, b): (u8, u8), c: &(u8, u8), d: (), e: u8) {}\nfn g(_: (), x: [u8; 9]) {}\n\
            #[cfg(test)]\nmod tests { fn t((a, b): (u8, u8)) {} }\n";
        let faults = check_functions(&Source::parse("x.rs", text).unwrap());
        let found: Vec<_> = faults.iter().map(|fault| (fault.line, &*fault.what)).collect();
        assert_eq!(found, [(1, "`f` destructures a tuple"), (1, "`f` has 6 parameters in all")]);
    }

    #[test]
    fn finds_wide_comments_except_tables() {
        let words = "word ".repeat(20);
        let text = format!(
            "//! {words}\n//! | {words} |\n// {}\n/// {words}x\n/// ```\n/// {words}\n/// ```\nfn f() {{\n    \"\n// {words}\"\n}}\n",
            "x".repeat(120)
        );
        let faults = check_comments(&Source::parse("x.rs", &text).unwrap());
        let found: Vec<_> = faults.iter().map(|fault| (fault.line, &*fault.what)).collect();
        assert_eq!(found, [(1, "104 columns"), (4, "105 columns")]);
    }

    #[test]
    fn finds_conditions_after_values() {
        let text = "fn f() { a.filter(|_| b); a.filter(|a| b); a.filter( |_| b) }\n\
            #[cfg(test)]\nfn t() { a.filter(|_| b); }\n";
        let faults = check_functions(&Source::parse("x.rs", text).unwrap());
        assert_eq!(faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn counts_defaults_only_in_code() {
        let text = "// x.unwrap_or_default()\nfn f() { x.unwrap_or_default().y.unwrap_or_default(); }\n\
            #[cfg(test)]\nfn t() { x.unwrap_or_default(); }\n";
        assert_eq!(defaults(&Source::parse("x.rs", text).unwrap()), 2);
    }
}
