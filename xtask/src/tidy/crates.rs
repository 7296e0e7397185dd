//! Rules for every crate: front-page docs, and no terminal output from a library.

use super::{Fault, Rule, Tree};
use crate::source::{Kind, Source, word};
use crate::workspace::Package;

/// Packages whose purpose is to print.
const PRINTERS: &[&str] = &["trommel-explore", "trommel-benches", "trommel-cli", "trommel-testkit", "xtask"];

/// The fewest `//!` lines that can state a crate's purpose, terms, and limits.
const FRONT_LINES: usize = 3;

rules! {
    FRONT: "every library, program and example begins with at least 3 lines of `//!` docs"
        => "say what it is for, who should use it, and its limits";
    SILENT: "only the command line and the tools print or end the process; libraries do not"
        => "return a value or an error, and let the caller print it";
}

pub(super) fn check(tree: &Tree<'_>) -> Vec<Fault> {
    let packages = &tree.workspace.packages;
    let silent = packages.iter().filter(|package| !PRINTERS.contains(&&*package.name));
    let loud = silent.flat_map(|package| tree.code_of(package)).flat_map(check_silence);
    packages.iter().flat_map(|package| check_fronts(tree, package)).chain(loud).collect()
}

fn check_fronts(tree: &Tree<'_>, package: &Package) -> Vec<Fault> {
    let shown = package.targets.iter().filter(|target| target.is(&["lib", "proc-macro", "bin", "example"]));
    let sources = shown.filter_map(|target| tree.source(&tree.workspace.relative(&target.src_path)));
    sources
        .filter(|source| source.front_lines < FRONT_LINES)
        .map(|source| FRONT.fault(&source.path, 1, format!("{} lines of docs", source.front_lines)))
        .collect()
}

fn check_silence(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut look = |pattern: &[Kind], what: &str| {
        let lines = source.find(pattern).into_iter().filter(|&line| !source.is_test_line(line));
        faults.extend(lines.map(|line| SILENT.fault(&source.path, line, format!("`{what}` in a library"))));
    };
    for name in ["print", "println", "eprint", "eprintln", "dbg"] {
        for open in ['(', '[', '{'] {
            look(&[word(name), Kind::Mark('!'), Kind::Open(open)], &format!("{name}!"));
        }
    }
    for name in ["stdout", "stderr"] {
        look(&[word(name), Kind::Open('('), Kind::Close(')')], &format!("{name}()"));
    }
    for name in ["exit", "abort"] {
        look(&[word("process"), Kind::Mark(':'), Kind::Mark(':'), word(name)], &format!("process::{name}"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_printing_only_in_code() {
        let text = concat!(
            "//! println!(\"doc\");\nfn a() { println!(\"x\"); }\n",
            "fn b() { std::process::exit(1); io::stdout(); }\n",
            "fn c(print: u8) { print != 1; dbg![1]; }\n",
            "#[cfg(test)]\nmod tests { fn t() { eprintln!(); } }\n",
        );
        let found: Vec<_> = check_silence(&Source::parse("x.rs", text).unwrap())
            .into_iter()
            .map(|f| (f.line, f.what))
            .collect();
        let expected = [(2, "`println!`"), (4, "`dbg!`"), (3, "`stdout()`"), (3, "`process::exit`")];
        assert_eq!(found, expected.map(|(line, what)| (line, format!("{what} in a library"))));
    }
}
