//! Files that may contain `unsafe`, and the comment that each use needs.

use std::collections::BTreeSet;
use std::iter;

use super::sizes::engine_crate;
use super::{Fault, Rule, Tree};
use crate::source::{Kind, Source, Token};

/// The files that may contain `unsafe`, each with its reason.
const ALLOWED: &[(&str, &str)] = &[
    ("benches/peer/main.rs", "a peer's input file is mapped"),
    ("crates/capi/src/abi.rs", "arguments and results at addresses of the caller in C"),
    ("crates/capi/src/document.rs", "documents over bytes and callbacks of the caller in C"),
    ("crates/capi/src/handle.rs", "a function exported to C"),
    ("crates/capi/src/partial.rs", "functions exported to C"),
    ("crates/capi/src/run.rs", "callbacks of the caller in C"),
    ("crates/capi/src/status.rs", "functions exported to C"),
    ("crates/capi/src/table.rs", "an Arrow stream at an address of the caller in C"),
    ("crates/capi/src/text.rs", "a function exported to C"),
    ("crates/cli/src/sigbus.rs", "the handler for a mapped file that shrinks"),
    ("crates/cli/src/stdio.rs", "the check for closed streams before the runtime replaces them"),
    ("crates/python/src/source.rs", "the caller vouches for a file that is mapped"),
    ("crates/reader/src/map.rs", "memory maps, and the policy by which the caller vouches for a file"),
    ("crates/scan/src/backend/avx2.rs", "loads of 32-byte lanes, and calls under a checked target feature"),
    ("crates/scan/src/backend/sse2.rs", "loads of 16-byte lanes"),
    ("crates/scan/src/backend/table.rs", "calls of code for a processor feature that has been detected"),
    ("crates/testkit/src/alloc.rs", "a counting global allocator"),
    ("crates/toolbox/tests/peaks.rs", "a test maps payloads that it has written"),
    ("crates/toolbox/src/outputs/source/mapped.rs", "a test maps a payload that it has written"),
];

/// Promise R43: the maximum number of modules with `unsafe` in the engine's crates.
const ENGINE_MODULES: usize = 3;

rules! {
    LISTED: "`unsafe` appears only in the files listed in xtask/src/tidy/unsafety.rs"
        => "use safe code, or move it into a safe interface of a listed file";
    EXPLAINED: "every unsafe block and impl has a `// SAFETY:` comment directly above it or its statement"
        => "name the guarantee, and the code that gives it";
    USED: "every file listed in xtask/src/tidy/unsafety.rs contains `unsafe`"
        => "remove the file from the list";
    BUDGET: "at most 3 modules of the engine's crates contain `unsafe` (R43)"
        => "merge the unsafe code into fewer modules, or use safe code";
}

pub(super) fn check(tree: &Tree<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in &tree.sources {
        let places = uses(source);
        let listed = ALLOWED.iter().any(|(path, _)| *path == source.path);
        match places.is_empty() {
            true if listed => faults.push(USED.fault(&source.path, 0, "listed, but without `unsafe`")),
            false if !listed => {
                faults.extend(
                    places.iter().map(|place| LISTED.fault(&source.path, place.line, "`unsafe` here")),
                );
            }
            _ => {}
        }
        let bare = places.iter().filter(|place| place.needs_reason && !is_explained(&source.text, place));
        faults
            .extend(bare.map(|place| EXPLAINED.fault(&source.path, place.line, "`unsafe` without a reason")));
    }
    let gone = ALLOWED.iter().filter(|(path, _)| !tree.files.contains(*path));
    faults.extend(gone.map(|(path, _)| USED.fault(path, 0, "listed, but does not exist")));
    let engine = ALLOWED.iter().filter_map(|(path, _)| engine_module(path)).collect::<BTreeSet<_>>();
    if engine.len() > ENGINE_MODULES {
        faults.push(BUDGET.fault(
            "xtask/src/tidy/unsafety.rs",
            0,
            format!("{} modules are listed", engine.len()),
        ));
    }
    faults
}

/// Returns the top-level module of an engine crate that a file belongs to:
/// `crates/scan/src/backend`.
fn engine_module(path: &str) -> Option<&str> {
    let (_, inside) = path.strip_prefix(engine_crate(path)?)?.split_once('/')?;
    let name = inside.split(['/', '.']).next()?;
    path.get(..path.len() - inside.len() + name.len())
}

/// One use of `unsafe` in the code.
struct Use {
    line: usize,
    /// The first line of its statement.
    statement: usize,
    /// True for a block or an impl, which must be justified. False for a declaration, which states
    /// requirements instead.
    needs_reason: bool,
}

fn uses(source: &Source) -> Vec<Use> {
    let found = source.tokens.iter().enumerate().filter(|(_, token)| token.is_word("unsafe"));
    found
        .map(|(index, token)| {
            let next = source.tokens.get(index + 1);
            Use {
                line: token.first_line(),
                statement: statement_line(&source.tokens[..=index]),
                needs_reason: next.is_some_and(|next| next.kind == Kind::Open('{') || next.is_word("impl")),
            }
        })
        .collect()
}

/// Returns the line on which the statement of the last token begins.
fn statement_line(tokens: &[Token]) -> usize {
    let ends = |token: &&Token| matches!(token.kind, Kind::Mark(';') | Kind::Open('{') | Kind::Close('}'));
    let inside = tokens.iter().rev().take_while(|token| !ends(token));
    inside.last().map_or(0, Token::first_line)
}

fn is_explained(text: &str, place: &Use) -> bool {
    let lines = text.lines().collect::<Vec<_>>();
    [place.line, place.statement].into_iter().any(|line| comment_above(&lines, line).any(is_safety_comment))
}

/// Returns a one-based line, and the lines of comments and attributes directly above it.
fn comment_above<'a>(lines: &[&'a str], line: usize) -> impl Iterator<Item = &'a str> {
    let above = lines[..line - 1].iter().rev();
    let attached = above.copied().take_while(|line| line.trim_start().starts_with(['/', '#', '*']));
    iter::once(lines[line - 1]).chain(attached)
}

fn is_safety_comment(line: &str) -> bool {
    line.split_once("//")
        .or_else(|| line.split_once("/*"))
        .is_some_and(|(_, comment)| comment.contains("SAFETY:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line of each use, and true if it is explained.
    fn found(text: &str) -> Vec<(usize, bool)> {
        let source = Source::parse("x.rs", text).unwrap();
        let explained = |place: &Use| !place.needs_reason || is_explained(text, place);
        uses(&source).iter().map(|place| (place.line, explained(place))).collect()
    }

    #[test]
    fn ignores_comments_strings_and_lint_names() {
        assert!(found("#![expect(unsafe_code)]\n// unsafe { }\nconst A: &str = \"unsafe {\";\n").is_empty());
    }

    #[test]
    fn accepts_a_reason_above_the_block_or_its_statement() {
        assert_eq!(
            found("fn a() {\n    // SAFETY: b is pure.\n    let x = f(1,\n        unsafe { b() });\n}"),
            [(4, true)]
        );
        assert_eq!(
            found(
                "fn a() {\n    let x = match y {\n        // SAFETY: ok.\n        _ => unsafe { b() },\n    };\n}"
            ),
            [(4, true)]
        );
        assert_eq!(found("// SAFETY: plain data.\n#[cfg(unix)]\nunsafe impl Send for X {}"), [(3, true)]);
    }

    #[test]
    fn rejects_a_reason_elsewhere() {
        assert_eq!(found("fn a() {\n    // SAFETY: ok.\n    b();\n    unsafe { c() }\n}"), [(4, false)]);
        assert_eq!(found("fn a() {\n    // Quick.\n    unsafe { c() }\n}"), [(3, false)]);
    }

    #[test]
    fn counts_the_files_of_a_module_once() {
        assert_eq!(engine_module("crates/scan/src/backend/avx2.rs"), Some("crates/scan/src/backend"));
        assert_eq!(engine_module("crates/scan/src/backend.rs"), Some("crates/scan/src/backend"));
        assert_eq!(engine_module("crates/cli/src/sigbus.rs"), None);
    }

    #[test]
    fn declarations_need_no_reason() {
        assert_eq!(
            found("unsafe fn a() {}\nmacro_rules! m { () => { unsafe { b() } } }"),
            [(1, true), (2, false)]
        );
    }
}
