//! `cargo xtask tidy`: the rules that neither the compiler nor clippy checks.
//!
//! All rules run, and all faults are reported, with location, description, rule, and fix.

/// Declares rules as constants: the name, the rule, and the way to satisfy it.
macro_rules! rules {
    ($($NAME:ident: $rule:literal => $fix:literal;)+) => {
        $(const $NAME: Rule = Rule { rule: $rule, fix: $fix };)+
    };
}

mod crates;
mod cycles;
mod density;
mod dependencies;
mod layers;
mod locks;
mod manifests;
mod paths;
mod promises;
mod prose;
mod sizes;
mod unsafety;
mod wording;

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::fs;

use crate::Verdict;
use crate::source::Source;
use crate::workspace::{Package, Workspace};

/// One violation of one rule. Sorted by rule, then by location.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fault {
    rule: Rule,
    path: String,
    /// One-based, or 0 if the fault concerns the whole file.
    line: usize,
    what: String,
}

/// A rule, and the way to satisfy it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rule {
    rule: &'static str,
    fix: &'static str,
}

impl Rule {
    fn fault(&self, path: &str, line: usize, what: impl Into<String>) -> Fault {
        Fault { rule: *self, path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.what)
    }
}

/// The input of the rules.
struct Tree<'a> {
    workspace: &'a Workspace,
    sources: Vec<Source>,
    /// Paths and texts of manifests, prose, scripts, and sources.
    texts: Vec<(String, String)>,
    /// The paths of all files.
    files: BTreeSet<String>,
    /// Files under `src` that are compiled only for tests.
    test_files: BTreeSet<String>,
}

impl Tree<'_> {
    fn source(&self, path: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.path == path)
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.texts.iter().find(|(name, _)| name == path).map(|(_, text)| text.as_str())
    }

    /// Returns the sources of a package's own code: the files in `src` that are not only for tests.
    fn code_of(&self, package: &Package) -> impl Iterator<Item = &Source> {
        let folder = format!("{}/src/", self.workspace.relative(package.folder()));
        let sources = self.sources.iter();
        sources.filter(move |source| source.path.starts_with(&folder) && !self.is_for_tests(&source.path))
    }

    /// True if a file is a test-only module, or is below one.
    fn is_for_tests(&self, path: &str) -> bool {
        self.test_files.iter().any(|file| {
            let module = file.strip_suffix(".rs").unwrap_or(file);
            path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    }
}

const RUST: Rule = Rule { rule: "every .rs file parses", fix: "make it compile" };

pub(crate) fn run(workspace: &Workspace) -> Verdict {
    let (tree, mut faults) = read(workspace)?;
    faults.extend(layers::check(&tree));
    faults.extend(unsafety::check(&tree));
    faults.extend(crates::check(&tree));
    faults.extend(wording::check(&tree));
    faults.extend(promises::check(&tree));
    faults.extend(paths::check(&tree));
    faults.extend(manifests::check(&tree)?);
    faults.extend(locks::check(&tree)?);
    faults.extend(dependencies::check(&tree)?);
    let (figures, oversize) = sizes::check(&tree);
    faults.extend(oversize);
    faults.extend(cycles::check(&tree));
    let (defaults, dense) = density::check(&tree);
    faults.extend(dense);
    let (rates, unclear) = prose::check(&tree);
    faults.extend(unclear);
    faults.sort();
    print!("{figures}{defaults}{rates}");
    for group in faults.chunk_by(|a, b| a.rule == b.rule) {
        let Some(Fault { rule: Rule { rule, fix }, .. }) = group.first() else { continue };
        println!("\nrule: {rule}\nfix: {fix}");
        for fault in group {
            println!("  {fault}");
        }
    }
    match faults.len() {
        0 => println!("\ntidy: {} files, no fault", tree.files.len()),
        count => println!("\ntidy: {} files, {count} faults", tree.files.len()),
    }
    Ok(faults.is_empty())
}

#[expect(clippy::expect_used, reason = "a panic in a chore is a bug of it")]
fn read(workspace: &Workspace) -> Result<(Tree<'_>, Vec<Fault>), Box<dyn Error>> {
    let files = workspace.files()?;
    let mut texts = Vec::new();
    for path in files.iter().filter(|path| is_text(path)) {
        let text =
            fs::read_to_string(workspace.root.join(path)).map_err(|error| format!("{path}: {error}"))?;
        texts.push((path.clone(), text));
    }
    // Parsing takes most of the time of this chore.
    let (first, second) = texts.split_at(texts.len() / 2);
    let (mut sources, mut faults) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        let second = scope.spawn(|| parsed(second));
        for result in parsed(first).into_iter().chain(second.join().expect("parsing does not panic")) {
            match result {
                Ok(source) => sources.push(source),
                Err(fault) => faults.push(fault),
            }
        }
    });
    let test_files = sources.iter().flat_map(|source| source.test_modules.iter().cloned()).collect();
    Ok((Tree { workspace, sources, texts, files: files.into_iter().collect(), test_files }, faults))
}

/// Parses the Rust files among these texts.
fn parsed(texts: &[(String, String)]) -> Vec<Result<Source, Fault>> {
    let rust = texts.iter().filter(|(path, _)| has_extension(path, "rs"));
    let parse = |(path, text): &(String, String)| {
        Source::parse(path, text).map_err(|(line, reason)| RUST.fault(path, line, reason))
    };
    rust.map(parse).collect()
}

/// True if a file is a text that people write.
fn is_text(path: &str) -> bool {
    ["rs", "toml", "md", "sh", "yml"].iter().any(|extension| has_extension(path, extension))
        || path.starts_with(".ci/")
}

fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, found)| found == extension)
}

/// Returns the words of a line with their byte offsets. A word is a run of letters, digits, and
/// `_`.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter_map(move |word| {
        let start = rest;
        let after = start + word.len();
        rest = after + line.get(after..).and_then(|tail| tail.chars().next()).map_or(0, char::len_utf8);
        (!word.is_empty()).then_some((start, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_offsets() {
        let found: Vec<_> = words("// é: R1, r2_x!").collect();
        assert_eq!(found, [(3, "é"), (7, "R1"), (11, "r2_x")]);
    }

    #[test]
    fn fault_names_its_location() {
        let rule = Rule { rule: "a rule", fix: "a cure" };
        assert_eq!(rule.fault("a.rs", 3, "wrong").to_string(), "a.rs:3: wrong");
        assert_eq!(rule.fault("a.rs", 0, "wrong").to_string(), "a.rs: wrong");
    }
}
