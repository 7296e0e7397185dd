//! The patterns of `match` and `search`: I-Regexp (RFC 9485), translated to an engine that is
//! linear in the text.
//!
//! Only what RFC 9485 defines is a pattern; everything else (`\d`, `a*?`, `(?i)`, backreferences,
//! look-around) is none, and a filter that uses it does not hold (RFC 9535, sections 2.4.6 and
//! 2.4.7). `.` is any character but line feed and carriage return. `^` and `$` are what the RFC's
//! own mapping onto common engines (section 5) makes of them, the beginning and the end of the
//! text; as plain characters they are written `\^` and `[$]`. Case, equivalence and normalization
//! are not considered: characters are Unicode scalar values.

use std::collections::HashMap;
use std::fmt;

use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;

/// Most bytes a compiled pattern may take, and most bytes of its text.
const COMPILED: usize = 1 << 20;
const TEXT: usize = 64 << 10;
/// Groups within each other; bounds the stack that compiling takes.
const NESTING: u32 = 64;
/// Most bytes of states that are worked out while matching, per pattern and thread.
const STATES: usize = 128 << 10;
/// Most patterns in a cache, and most bytes it holds, counting the states of each as used up.
const CACHED: usize = 256;
const CACHED_BYTES: usize = 32 << 20;

/// A compiled pattern: a pure test on strings, shared freely between threads.
///
/// ```
/// use trommel_query::Pattern;
///
/// assert!(Pattern::new("[0-9]{4}-[0-9]{2}", true)?.is_match("2024-05"));
/// assert!(Pattern::new("[0-9]+", false)?.is_match("about 12"));
/// assert!(Pattern::new(r"\d+", false).is_err());
/// # Ok::<(), trommel_query::PatternError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern(meta::Regex);

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    offset: usize,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Character(char),
    Escape(char),
    Quantifier,
    Range,
    Bounds,
    Class,
    /// A parenthesis that closes nothing, or the question mark of a group with properties.
    Group(char),
    /// A class without its closing bracket; the offset is that of the opening one.
    OpenClass,
    End,
    TooLarge,
}

/// Patterns that come out of data (`match(@.a, $.pattern)`), compiled once each.
///
/// Holds at most 256 patterns and 32 MiB; when either is used up it begins anew. One per thread.
#[derive(Debug, Default)]
pub struct RegexCache {
    /// By text; the first for `search`, the second for `match`. A text that is no pattern is kept
    /// as such.
    patterns: [HashMap<Box<str>, Option<Pattern>>; 2],
    bytes: usize,
}

impl Pattern {
    /// Compiles a pattern that must match the whole text (`match`) or any part of it (`search`).
    ///
    /// Fails if the text is no I-Regexp, longer than 64 KiB or compiles to more than 1 MiB
    /// (`[a-z]{100000}`).
    pub fn new(text: &str, whole: bool) -> Result<Self, PatternError> {
        let too_large = PatternError { offset: 0, problem: Problem::TooLarge };
        if text.len() > TEXT {
            return Err(too_large);
        }
        let body = Translator::new(text).run()?;
        let translated = if whole { format!("\\A(?:{body})\\z") } else { body };
        let limits = meta::Config::new()
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(COMPILED))
            .onepass_size_limit(Some(COMPILED))
            .hybrid_cache_capacity(STATES);
        meta::Regex::builder()
            .configure(limits)
            .syntax(syntax::Config::new().nest_limit(NESTING))
            .build(&translated)
            .map_or(Err(too_large), |compiled| Ok(Self(compiled)))
    }

    /// Whether the subject matches. Linear in the subject; the factor is at most the pattern's
    /// compiled size.
    pub fn is_match(&self, subject: &str) -> bool {
        self.0.is_match(subject)
    }

    /// Bytes it may come to take.
    fn bytes(&self) -> usize {
        self.0.memory_usage() + STATES
    }
}

impl RegexCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the subject matches the pattern, as a whole (`match`) or in any part (`search`);
    /// never, if the text is no pattern.
    pub fn is_match(&mut self, pattern: &str, subject: &str, whole: bool) -> bool {
        let side = usize::from(whole);
        if let Some(known) = self.patterns[side].get(pattern) {
            return known.as_ref().is_some_and(|compiled| compiled.is_match(subject));
        }
        let compiled = Pattern::new(pattern, whole).ok();
        let found = compiled.as_ref().is_some_and(|compiled| compiled.is_match(subject));
        self.keep(pattern, compiled, side);
        found
    }

    fn keep(&mut self, text: &str, compiled: Option<Pattern>, side: usize) {
        if text.len() > TEXT {
            return;
        }
        let bytes = text.len() + compiled.as_ref().map_or(0, Pattern::bytes);
        let held = self.patterns.iter().map(HashMap::len).sum::<usize>();
        if held == CACHED || self.bytes + bytes > CACHED_BYTES {
            *self = Self::default();
        }
        self.bytes += bytes;
        self.patterns[side].insert(text.into(), compiled);
    }
}

impl PatternError {
    /// Byte of the pattern where the error is; 0 if it is the pattern's size.
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problem {
            Problem::TooLarge => {
                return f.write_str("the pattern is too large: at most 64 KiB, 1 MiB compiled");
            }
            Problem::Character(c) => write!(f, "`{c}` has no meaning here, write `\\{c}` for the character"),
            Problem::Escape('d') => f.write_str("`\\d` is not part of I-Regexp, write `[0-9]`"),
            Problem::Escape('w') => f.write_str("`\\w` is not part of I-Regexp, write `[A-Za-z0-9_]`"),
            Problem::Escape('s') => f.write_str("`\\s` is not part of I-Regexp, write `[ \\t\\r\\n]`"),
            Problem::Escape(c @ ('b' | 'B')) => {
                write!(f, "`\\{c}` is not part of I-Regexp, which has no word boundaries")
            }
            Problem::Escape(c) => write!(f, "`\\{}` is not part of I-Regexp", c.escape_debug()),
            Problem::Group('?') => {
                f.write_str("`(?` is not part of I-Regexp, which has only plain groups and no flags")
            }
            Problem::Quantifier => f.write_str("there is nothing to repeat"),
            Problem::Range => f.write_str("the range of characters runs backwards"),
            Problem::Bounds => f.write_str("the repetition is not `{n}`, `{n,}` or `{n,m}` with n up to m"),
            Problem::Class => {
                f.write_str("the character class is empty, or a `-` in it is not first or last")
            }
            Problem::Group(_) => f.write_str("the parenthesis closes nothing"),
            Problem::OpenClass => {
                f.write_str("the character class is not closed, write `\\[` for the character")
            }
            Problem::End => f.write_str("the pattern ends too early"),
        }?;
        write!(f, " (byte {} of the pattern)", self.offset)
    }
}

impl std::error::Error for PatternError {}

/// Checks a text against the grammar of RFC 9485, section 4, and writes it in the engine's syntax.
struct Translator<'t> {
    text: &'t str,
    at: usize,
    out: String,
    groups: usize,
}

impl<'t> Translator<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0, out: String::with_capacity(text.len() + 16), groups: 0 }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn problem<T>(offset: usize, problem: Problem) -> Result<T, PatternError> {
        Err(PatternError { offset, problem })
    }

    /// `i-regexp`
    fn run(mut self) -> Result<String, PatternError> {
        // Whether what is before can be repeated.
        let mut atom = false;
        loop {
            let start = self.at;
            let Some(c) = self.next() else { break };
            atom = match c {
                '?' if self.out.ends_with("(?:") => return Self::problem(start, Problem::Group(c)),
                '*' | '+' | '?' | '{' if !atom => return Self::problem(start, Problem::Quantifier),
                '{' => self.bounds(start)?,
                '*' | '+' | '?' | '|' => self.copy(c),
                '(' => self.begin_group(),
                ')' => self.end_group(start)?,
                '.' => self.put("[^\\n\\r]"),
                '[' => self.class(start)?,
                '\\' => self.escape(start)?,
                ']' | '}' => return Self::problem(start, Problem::Character(c)),
                '^' => self.put("\\A"),
                '$' => self.put("\\z"),
                _ => self.literal(c),
            };
        }
        if self.groups > 0 { Self::problem(self.at, Problem::End) } else { Ok(self.out) }
    }

    /// Writes an atom.
    fn put(&mut self, translated: &str) -> bool {
        self.out.push_str(translated);
        true
    }

    /// Writes a character that means the same in both and is no atom.
    fn copy(&mut self, c: char) -> bool {
        self.out.push(c);
        false
    }

    fn begin_group(&mut self) -> bool {
        self.groups += 1;
        self.out.push_str("(?:");
        false
    }

    fn end_group(&mut self, start: usize) -> Result<bool, PatternError> {
        if self.groups == 0 {
            return Self::problem(start, Problem::Group(')'));
        }
        self.groups -= 1;
        Ok(self.put(")"))
    }

    /// Writes a character that stands for itself, in a class or outside; `\<` and the like would
    /// mean something else.
    fn literal(&mut self, c: char) -> bool {
        if "\\.+*?()|[]{}^$#&-~".contains(c) {
            self.out.push('\\');
        }
        self.out.push(c);
        true
    }

    /// `range-quantifier`, behind its brace.
    fn bounds(&mut self, start: usize) -> Result<bool, PatternError> {
        let least = self.digits();
        let most = if self.eat(',') { self.digits() } else { least };
        let ordered = most.is_empty() || significant(least) <= significant(most);
        if least.is_empty() || !self.eat('}') || !ordered {
            return Self::problem(start, Problem::Bounds);
        }
        self.out.push_str(&self.text[start..self.at]);
        Ok(false)
    }

    fn digits(&mut self) -> &'t str {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// `SingleCharEsc` or `charClassEsc` as an atom, behind its backslash.
    fn escape(&mut self, start: usize) -> Result<bool, PatternError> {
        if matches!(self.peek(), Some('p' | 'P')) {
            return self.category(start);
        }
        let c = self.escaped_char(start)?;
        Ok(self.literal(c))
    }

    /// `SingleCharEsc`, behind its backslash.
    fn escaped_char(&mut self, start: usize) -> Result<char, PatternError> {
        match self.next() {
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some(c @ ('('..='+' | '-' | '.' | '?' | '['..='^' | '{'..='}')) => Ok(c),
            Some(c) => Self::problem(start, Problem::Escape(c)),
            None => Self::problem(start, Problem::End),
        }
    }

    /// `charClassEsc`, behind its backslash: a general category of Unicode.
    fn category(&mut self, start: usize) -> Result<bool, PatternError> {
        const CATEGORIES: [(&str, &str); 7] = [
            ("L", "lmotu"),
            ("M", "cen"),
            ("N", "dlo"),
            ("P", "cdefios"),
            ("Z", "lps"),
            ("S", "ckmo"),
            ("C", "cfno"),
        ];
        let kind = self.next().unwrap_or('p');
        let name = self.text[self.at..]
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'))
            .map(|(name, _)| name);
        let known = name.filter(|name| {
            CATEGORIES.iter().any(|(major, minors)| {
                name.strip_prefix(major).is_some_and(|minor| minor.len() <= 1 && minors.contains(minor))
            })
        });
        let Some(name) = known else { return Self::problem(start, Problem::Escape(kind)) };
        self.at += name.len() + 2;
        self.out.push_str(&self.text[start..self.at]);
        Ok(true)
    }

    /// `charClassExpr`, behind its bracket.
    fn class(&mut self, start: usize) -> Result<bool, PatternError> {
        self.out.push('[');
        if self.eat('^') {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let item = self.at;
            match self.next() {
                None => return Self::problem(start, Problem::OpenClass),
                Some(']') if first => return Self::problem(start, Problem::Class),
                Some(']') => break,
                Some('-') if first || self.peek() == Some(']') => {
                    self.literal('-');
                }
                Some('-') => return Self::problem(item, Problem::Class),
                Some('\\') if matches!(self.peek(), Some('p' | 'P')) => {
                    self.category(item)?;
                }
                Some(c) => self.class_range(item, c)?,
            }
            first = false;
        }
        self.out.push(']');
        Ok(true)
    }

    /// A character of a class that begins with `c`, or a range from it.
    fn class_range(&mut self, start: usize, c: char) -> Result<(), PatternError> {
        let low = self.class_char(start, c)?;
        self.literal(low);
        let to_range = self.peek() == Some('-') && !self.text[self.at..].starts_with("-]");
        if to_range {
            let dash = self.at;
            self.at += 1;
            let end = self.at;
            if self.text[end..].starts_with("\\p") || self.text[end..].starts_with("\\P") {
                return Self::problem(dash, Problem::Class);
            }
            let Some(c) = self.next() else { return Self::problem(end, Problem::End) };
            let high = self.class_char(end, c)?;
            if low > high {
                return Self::problem(start, Problem::Range);
            }
            self.out.push('-');
            self.literal(high);
        }
        Ok(())
    }

    /// `CCchar`, of which `c` has been read.
    fn class_char(&mut self, start: usize, c: char) -> Result<char, PatternError> {
        match c {
            '\\' => self.escaped_char(start),
            '[' | ']' => Self::problem(start, Problem::Character(c)),
            '-' => Self::problem(start, Problem::Class),
            _ => Ok(c),
        }
    }
}

/// Digits without leading zeros, with their number, so that they compare by value.
fn significant(digits: &str) -> (usize, &str) {
    let digits = digits.trim_start_matches('0');
    (digits.len(), digits)
}
