//! Plain English: expressions that need a second reading, and names that say nothing.
//!
//! The rule reads comments, rustdoc, string literals of at least three words, and Markdown, line by
//! line. Each expression of `prose.toml` may occur up to its ceiling. Above it, every occurrence
//! is reported. Code in backquotes and in fenced blocks is not prose.

use std::fmt::Write as _;

use regex::Regex;
use serde::Deserialize;

use super::{Fault, Rule, Tree, has_extension};
use crate::source::{Kind, Source, Token};

/// Doc comments that may open with an interrogative, in percent.
const MAX_OPENERS: f64 = 6.0;

rules! {
    EXPRESSIONS: "prose is plain: each expression stays below its rate per 1,000 words"
        => "rewrite the sentence with a named actor, a verb, and the terms of CONTRIBUTING.md";
    OPENERS: "at most 6 % of doc comments open with What, Whether, How, Where, Which, Why, or Who"
        => "open with a verb (Returns, Parses), with the noun itself, or with `True if`";
    NAMES: "types and functions have names that say what they are"
        => "take a noun or a verb of the glossary in CONTRIBUTING.md";
}

/// Names that say nothing about their subject, each with names to choose from.
const BANNED_TYPES: &[(&str, &str)] = &[
    ("Asked", "`Request`, `Query`"),
    ("Coming", "`StagedFile`"),
    ("Found", "`SearchResult`, `Match`"),
    ("Glimpse", "`PayloadStats`"),
    ("Kept", "`Retained`, `Saved` with a noun"),
    ("Landing", "`StagedCommit`"),
    ("Parcel", "`SpooledWrite`"),
    ("Place", "`Span`, `Path`, `Location`"),
    ("Seen", "`Observed` with a noun"),
    ("Shelf", "`OverflowStore`"),
    ("Told", "`Report`, `Warning`"),
    ("Vetting", "`Validation`"),
    ("Wanted", "`Requested` with a noun"),
    ("Whoever", "`Caller`, `Owner`"),
];

const BANNED_FUNCTIONS: &[(&str, &str)] = &[
    ("carry_out", "`apply`"),
    ("go_on", "`resume`, `continue_from`"),
    ("let_go", "`release`, `drop`"),
    ("mend", "`fix`, `repair`"),
    ("pass_over", "`skip`"),
    ("settle", "`resolve`"),
    ("tell", "`report`, `warn`"),
    ("told", "`report`, `with_context`"),
    ("vet", "`validate`"),
];

/// Negative flags, banned as any identifier.
const BANNED_WORDS: &[(&str, &str)] = &[("no_enter", "`enter`"), ("no_leave", "`leave`")];

/// An expression that the rule counts.
#[derive(Deserialize)]
struct Expression {
    name: String,
    pattern: String,
    /// The highest rate per 1,000 words.
    ceiling: f64,
    /// The words to write instead.
    write: String,
}

#[derive(Deserialize)]
struct Expressions {
    expression: Vec<Expression>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextKind {
    Doc,
    Comment,
    Message,
    Markdown,
}

/// A line of prose.
#[derive(Debug, PartialEq, Eq)]
struct ProseLine {
    line: usize,
    kind: TextKind,
    text: String,
}

/// An occurrence, and the line of prose that holds it.
#[derive(Debug, PartialEq, Eq)]
struct Hit {
    path: String,
    line: usize,
    text: String,
}

/// The occurrences of one expression.
struct Count {
    expression: Expression,
    regex: Regex,
    hits: Vec<Hit>,
}

/// Counts over all files.
struct Census {
    expressions: Vec<Count>,
    words: usize,
    doc_comments: usize,
    openers: Vec<Hit>,
    patterns: Patterns,
}

/// The patterns that divide a file into prose and code.
struct Patterns {
    comment: Regex,
    trailing_comment: Regex,
    literal: Regex,
    code_literal: Regex,
    backquoted: Regex,
    word: Regex,
    letters: Regex,
    opener: Regex,
}

/// Returns a table of the rates, and the faults of each expression that exceeds its ceiling.
pub(super) fn check(tree: &Tree<'_>) -> (String, Vec<Fault>) {
    let mut census = Census::new();
    for (path, text) in tree.texts.iter().filter(|(path, _)| is_prose(path)) {
        census.read(path, text);
    }
    let table = census.table();
    let mut faults = census.faults();
    faults.extend(tree.sources.iter().flat_map(check_names));
    (table, faults)
}

/// True if the rule reads the file: sources and Markdown that people maintain.
fn is_prose(path: &str) -> bool {
    // A prefix of a path component is enough, so that `target.rs` is left out as well.
    let excluded = ["testdata", "corpus", "target", "LICENSE"];
    let is_excluded = |part: &str| excluded.iter().any(|prefix| part.starts_with(prefix));
    (has_extension(path, "rs") || has_extension(path, "md")) && !path.split('/').any(is_excluded)
}

impl Patterns {
    fn new() -> Self {
        Self {
            comment: compile(r"^\s*(///|//!|//)\s?(.*)"),
            trailing_comment: compile(r"\s(//)\s(.*)"),
            literal: compile(r#""((?:[^"\\]|\\.)*)""#),
            code_literal: compile(r#"[{}\[\]]\S*[":]|\$\.|\\""#),
            backquoted: compile("`[^`]*`"),
            word: compile("[A-Za-z']+"),
            letters: compile("[A-Za-z]{2,}"),
            opener: compile("^(What|Whether|How|Where|Which|Why|Who)\\b"),
        }
    }

    fn texts(&self, path: &str, text: &str) -> Vec<ProseLine> {
        if has_extension(path, "md") { self.markdown(text) } else { self.rust(text) }
    }

    fn markdown(&self, text: &str) -> Vec<ProseLine> {
        let mut fenced = false;
        let mut texts = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            let start = content.trim_start();
            if start.starts_with("```") || start.starts_with("~~~") {
                fenced = !fenced;
            } else if !fenced {
                texts.push(ProseLine { line, kind: TextKind::Markdown, text: self.without_code(content) });
            }
        }
        texts
    }

    fn rust(&self, text: &str) -> Vec<ProseLine> {
        let mut texts = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            let comment = self.comment.captures(content).or_else(|| self.trailing_comment.captures(content));
            if let Some(comment) = comment {
                let (_, [marker, words]) = comment.extract();
                let kind = if marker == "//" { TextKind::Comment } else { TextKind::Doc };
                texts.push(ProseLine { line, kind, text: self.without_code(words) });
                continue;
            }
            for literal in self.literal.captures_iter(content) {
                let (_, [words]) = literal.extract();
                if self.letters.find_iter(words).count() >= 3 && !self.code_literal.is_match(words) {
                    texts.push(ProseLine { line, kind: TextKind::Message, text: words.to_owned() });
                }
            }
        }
        texts
    }

    fn without_code(&self, text: &str) -> String {
        self.backquoted.replace_all(text, "").into_owned()
    }
}

impl Census {
    #[expect(clippy::expect_used, reason = "the table is part of the program and tested")]
    fn new() -> Self {
        let table: Expressions = toml::from_str(include_str!("prose.toml")).expect("prose.toml is a table");
        let count = |expression: Expression| Count {
            regex: compile(&expression.pattern),
            expression,
            hits: Vec::new(),
        };
        Self {
            expressions: table.expression.into_iter().map(count).collect(),
            words: 0,
            doc_comments: 0,
            openers: Vec::new(),
            patterns: Patterns::new(),
        }
    }

    fn read(&mut self, path: &str, content: &str) {
        let mut last_doc_line = None;
        for ProseLine { line, kind, text } in self.patterns.texts(path, content) {
            self.words += self.patterns.word.find_iter(&text).count();
            let hit = || Hit { path: path.to_owned(), line, text: text.trim().to_owned() };
            if kind == TextKind::Doc {
                // Only the first line of a doc comment can open it.
                if last_doc_line != Some(line - 1) {
                    self.doc_comments += 1;
                    if self.patterns.opener.is_match(&text) {
                        self.openers.push(hit());
                    }
                }
                last_doc_line = Some(line);
            }
            for count in &mut self.expressions {
                let occurrences = count.regex.find_iter(&text).count();
                count.hits.extend(std::iter::repeat_with(hit).take(occurrences));
            }
        }
    }

    fn rate(&self, hits: &[Hit]) -> f64 {
        1000.0 * ratio(hits.len(), self.words)
    }

    fn openers_percent(&self) -> f64 {
        100.0 * ratio(self.openers.len(), self.doc_comments)
    }

    fn table(&self) -> String {
        let mut text = format!("\nprose: {} words{:>21}{:>9}{:>9}\n", self.words, "count", "rate", "ceiling");
        // Writing to text cannot fail.
        for Count { expression, hits, .. } in &self.expressions {
            let (name, ceiling) = (&expression.name, expression.ceiling);
            let _ = writeln!(text, "{name:<35} {:>5} {:>8.2} {ceiling:>8.2}", hits.len(), self.rate(hits));
        }
        let (count, percent) = (self.openers.len(), self.openers_percent());
        let _ = writeln!(text, "{:<35} {count:>5} {percent:>6.1} % {MAX_OPENERS:>6.1} %", "doc openers");
        text
    }

    fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for Count { expression, hits, .. } in &self.expressions {
            if self.rate(hits) > expression.ceiling {
                let Expression { name, write, .. } = expression;
                let fault = |hit: &Hit| hit.fault(EXPRESSIONS, &format!("[{name}] write: {write}"));
                faults.extend(hits.iter().map(fault));
            }
        }
        if self.openers_percent() > MAX_OPENERS {
            faults.extend(self.openers.iter().map(|hit| hit.fault(OPENERS, "[doc openers]")));
        }
        faults
    }
}

impl Hit {
    fn fault(&self, rule: Rule, label: &str) -> Fault {
        let excerpt: String = self.text.chars().take(100).collect();
        rule.fault(&self.path, self.line, format!("{label}: {excerpt}"))
    }
}

/// Returns a fault for each banned name that a source defines.
fn check_names(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut keyword = "";
    for token in &source.tokens {
        let Token { kind: Kind::Word(word), .. } = token else {
            keyword = "";
            continue;
        };
        let banned = match keyword {
            "struct" | "enum" | "trait" | "type" | "union" => lookup(BANNED_TYPES, word),
            "fn" => lookup(BANNED_FUNCTIONS, word),
            _ => lookup(BANNED_WORDS, word),
        };
        if let Some(names) = banned {
            let what = format!("`{word}`: take {names}, or what fits");
            faults.push(NAMES.fault(&source.path, token.first_line(), what));
        }
        keyword = word;
    }
    faults
}

fn lookup(table: &[(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(name, _)| *name == word).map(|(_, names)| *names)
}

#[expect(clippy::expect_used, reason = "the patterns are part of the program and tested")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("patterns of the rule are valid")
}

fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(part) / number(whole.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = concat!("to", "ld");

    fn census(path: &str, text: &str) -> Census {
        let mut census = Census::new();
        census.read(path, text);
        census
    }

    fn hits(census: &Census) -> Vec<String> {
        let all = census.expressions.iter().flat_map(|count| &count.hits);
        all.map(|hit| format!("{}:{}", hit.path, hit.line)).collect()
    }

    #[test]
    fn reads_comments_and_messages_of_rust() {
        let text = concat!(
            "/// One `code` two.\n",
            "fn a() { b(\"three plain words\"); } // four\n",
            "const B: &str = \"two words\";\n",
            "const C: &str = \"three plain words\";\n",
        );
        let found: Vec<_> =
            Patterns::new().texts("a.rs", text).into_iter().map(|t| (t.line, t.kind)).collect();
        // A line with a trailing comment counts as comment alone.
        assert_eq!(found, [(1, TextKind::Doc), (2, TextKind::Comment), (4, TextKind::Message)]);
    }

    #[test]
    fn skips_code_in_markdown() {
        let text = format!("One `{TOLD}`.\n```\n{TOLD}\n```\nIs {TOLD}.\n");
        assert_eq!(hits(&census("a.md", &text)), ["a.md:5"]);
    }

    #[test]
    fn skips_literals_that_hold_code() {
        let text = format!("const A: &str = \"a {TOLD} b $.x ccc\";\nconst B: &str = \"aa {TOLD} bb\";\n");
        assert_eq!(hits(&census("a.rs", &text)), ["a.rs:2"]);
    }

    #[test]
    fn reports_only_expressions_over_their_ceiling() {
        let rare = format!("{TOLD} {}", "word ".repeat(9_999));
        assert_eq!(census("a.md", &rare).faults(), []);
        let frequent = format!("it is {TOLD} twice: {TOLD}\n");
        let faults = census("a.md", &frequent).faults();
        assert_eq!(faults.len(), 2);
        let shown = faults.first().map(ToString::to_string).unwrap();
        assert!(shown.starts_with("a.md:1: [tell"), "{shown}");
        assert!(shown.contains("write: report"), "{shown}");
    }

    #[test]
    fn counts_the_first_line_of_a_doc_comment_as_its_opener() {
        let text = "/// How a.\n/// How b.\nfn a() {}\n/// Returns.\n/// What.\nfn b() {}\n// How c.\n";
        let census = census("a.rs", text);
        assert_eq!((census.doc_comments, census.openers.len()), (2, 1));
        assert_eq!(census.faults().iter().map(|fault| fault.line).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn finds_banned_names_where_they_are_defined() {
        let text = "struct Place;\nfn told() {}\nfn f(place: Place) { told(); x.no_enter = true; }\nstruct ByteSpan;";
        let source = Source::parse("a.rs", text).unwrap();
        let lines: Vec<_> = check_names(&source).iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [1, 2, 3]);
    }

    #[test]
    fn every_ceiling_is_positive_and_every_pattern_compiles() {
        assert!(Census::new().expressions.iter().all(|count| count.expression.ceiling > 0.0));
        assert!(BANNED_TYPES.len() + BANNED_FUNCTIONS.len() + BANNED_WORDS.len() <= 30);
    }

    #[test]
    fn leaves_out_data_and_licenses() {
        assert!(is_prose("README.md") && is_prose("crates/a/src/lib.rs"));
        assert!(!is_prose("testdata/a.md") && !is_prose("fuzz/corpus/a.md") && !is_prose("a.toml"));
    }
}
