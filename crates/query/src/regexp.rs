//! The patterns of `match` and `search`: I-Regexp (RFC 9485), translated for an engine that runs in
//! time linear in the text.
//!
//! Only the syntax of RFC 9485 is accepted. Other constructs (`\d`, `a*?`, `(?i)`, backreferences,
//! look-around) are errors, and a filter that uses them does not hold (RFC 9535, sections 2.4.6 and
//! 2.4.7). `.` matches any character except line feed and carriage return.
//!
//! `^` and `$` match the start and the end of the text, following the RFC's mapping to common
//! engines (section 5). As literal characters they are written `\^` and `[$]`. Matching is
//! case-sensitive and without normalization: characters are Unicode scalar values.

use std::collections::HashMap;
use std::fmt;

use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;

/// The maximum size of a compiled pattern and of its text, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;
const MAX_TEXT_BYTES: usize = 64 << 10;
/// The maximum nesting of groups. It bounds the stack that compiling takes.
const MAX_GROUP_DEPTH: u32 = 64;
/// The maximum size of the lazily built automaton, in bytes per pattern and thread.
const MAX_STATE_BYTES: usize = 128 << 10;
/// The maximum number of patterns in a cache, and its maximum size in bytes. The size counts each
/// pattern's automaton as fully built.
const MAX_CACHED_PATTERNS: usize = 256;
const MAX_CACHED_BYTES: usize = 32 << 20;

/// A compiled pattern. Matching has no side effects, so threads can share one.
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

/// The reason why a text is not a valid pattern.
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
    /// An unmatched closing parenthesis, or the question mark of a group with properties.
    Group(char),
    /// A class without its closing bracket. The offset is that of the opening bracket.
    OpenClass,
    End,
    TooLarge,
}

/// A cache of compiled patterns that come from data (`match(@.a, $.pattern)`). Use one per thread.
///
/// It holds at most 256 patterns and 32 MiB. Reaching either limit clears the cache.
#[derive(Debug, Default)]
pub struct RegexCache {
    /// By text; the first map is for `search`, the second for `match`. An invalid pattern is cached
    /// as `None`.
    patterns: [HashMap<Box<str>, Option<Pattern>>; 2],
    bytes: usize,
}

impl Pattern {
    /// Compiles a pattern that must match the whole text (`match`) or any part of it (`search`).
    ///
    /// # Errors
    ///
    /// Fails if the text is not an I-Regexp, is longer than 64 KiB, or compiles to more than 1 MiB
    /// (`[a-z]{100000}`).
    pub fn new(text: &str, whole: bool) -> Result<Self, PatternError> {
        let too_large = PatternError { offset: 0, problem: Problem::TooLarge };
        if text.len() > MAX_TEXT_BYTES {
            return Err(too_large);
        }
        // The engine accepts more than I-Regexp, so the translator checks the grammar first.
        let body = Translator::new(text).run()?;
        // The group keeps an alternation such as `a|b` together between the anchors.
        let translated = if whole { format!("\\A(?:{body})\\z") } else { body };
        let limits = meta::Config::new()
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_COMPILED_BYTES))
            .onepass_size_limit(Some(MAX_COMPILED_BYTES))
            .hybrid_cache_capacity(MAX_STATE_BYTES);
        meta::Regex::builder()
            .configure(limits)
            .syntax(syntax::Config::new().nest_limit(MAX_GROUP_DEPTH))
            .build(&translated)
            .map_or(Err(too_large), |compiled| Ok(Self(compiled)))
    }

    /// True if the subject matches. Takes time linear in the subject, with a factor of at most the
    /// pattern's compiled size.
    pub fn is_match(&self, subject: &str) -> bool {
        self.0.is_match(subject)
    }

    /// Returns the maximum memory of the pattern in bytes, with its automaton fully built.
    fn bytes(&self) -> usize {
        self.0.memory_usage() + MAX_STATE_BYTES
    }
}

impl RegexCache {
    /// Creates an empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// True if the pattern matches the whole subject (`whole`, as `match` does) or any part of it
    /// (as `search` does). An invalid pattern never matches.
    pub fn is_match(&mut self, pattern: &str, subject: &str, whole: bool) -> bool {
        let index = usize::from(whole);
        if let Some(known) = self.patterns[index].get(pattern) {
            return known.as_ref().is_some_and(|compiled| compiled.is_match(subject));
        }
        let compiled = Pattern::new(pattern, whole).ok();
        let found = compiled.as_ref().is_some_and(|compiled| compiled.is_match(subject));
        self.insert(pattern, compiled, index);
        found
    }

    fn insert(&mut self, text: &str, compiled: Option<Pattern>, index: usize) {
        // An overlong text fails before it is compiled, so caching it would only cost memory.
        if text.len() > MAX_TEXT_BYTES {
            return;
        }
        let bytes = text.len() + compiled.as_ref().map_or(0, Pattern::bytes);
        let count = self.patterns.iter().map(HashMap::len).sum::<usize>();
        if count == MAX_CACHED_PATTERNS || self.bytes + bytes > MAX_CACHED_BYTES {
            // Clearing everything needs no bookkeeping per use. Data with that many different
            // patterns gains little from any policy.
            *self = Self::default();
        }
        self.bytes += bytes;
        self.patterns[index].insert(text.into(), compiled);
    }
}

impl PatternError {
    /// Returns the byte offset of the error in the pattern, or 0 if the pattern is too large.
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problem {
            Problem::TooLarge => {
                return f.write_str("the pattern is too large: at most 64 KiB, or 1 MiB compiled");
            }
            Problem::Character(c) => write!(f, "`{c}` is not allowed here, write `\\{c}` for the character"),
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
            Problem::Quantifier => f.write_str("nothing to repeat"),
            Problem::Range => f.write_str("the range of characters is reversed"),
            Problem::Bounds => f.write_str("the repetition is not `{n}`, `{n,}` or `{n,m}` with n up to m"),
            Problem::Class => {
                f.write_str("the character class is empty, or a `-` in it is not first or last")
            }
            Problem::Group(_) => f.write_str("unmatched closing parenthesis"),
            Problem::OpenClass => {
                f.write_str("the character class is not closed, write `\\[` for the character")
            }
            Problem::End => f.write_str("the pattern ends too early"),
        }?;
        write!(f, " (byte {} of the pattern)", self.offset)
    }
}

impl std::error::Error for PatternError {}

/// Checks a text against the grammar of RFC 9485, section 4, and translates it to the engine's
/// syntax.
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

    fn eat(&mut self, expected: char) -> bool {
        let found = self.peek() == Some(expected);
        self.at += if found { expected.len_utf8() } else { 0 };
        found
    }

    fn problem<T>(offset: usize, problem: Problem) -> Result<T, PatternError> {
        Err(PatternError { offset, problem })
    }

    /// `i-regexp`
    fn run(mut self) -> Result<String, PatternError> {
        // True if the previous token can be repeated.
        let mut atom = false;
        loop {
            let start = self.at;
            let Some(c) = self.next() else { break };
            atom = match c {
                // The translation writes every group as `(?:`, so this is a `?` directly after `(`.
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

    /// Writes a character that has the same meaning in both syntaxes and is not an atom.
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

    /// Writes a literal character, inside or outside a class.
    fn literal(&mut self, c: char) -> bool {
        // The engine gives escapes such as `\<` a meaning of their own, so only these are escaped.
        if "\\.+*?()|[]{}^$#&-~".contains(c) {
            self.out.push('\\');
        }
        self.out.push(c);
        true
    }

    /// `range-quantifier`, after its brace.
    fn bounds(&mut self, start: usize) -> Result<bool, PatternError> {
        let min = self.digits();
        let max = if self.eat(',') { self.digits() } else { min };
        // The digits are compared as text: bounds may be too large for any integer type.
        let ordered = max.is_empty() || significant(min) <= significant(max);
        if min.is_empty() || !self.eat('}') || !ordered {
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

    /// `SingleCharEsc` or `charClassEsc` as an atom, after its backslash.
    fn escape(&mut self, start: usize) -> Result<bool, PatternError> {
        if matches!(self.peek(), Some('p' | 'P')) {
            return self.category(start);
        }
        let c = self.escaped_char(start)?;
        Ok(self.literal(c))
    }

    /// `SingleCharEsc`, after its backslash.
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

    /// `charClassEsc`, after its backslash: a general category of Unicode.
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

    /// `charClassExpr`, after its bracket.
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
                // A `-` at the start or the end of a class is a literal character.
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

    /// A character of a class that begins with `c`, or a range that starts with it.
    fn class_range(&mut self, start: usize, c: char) -> Result<(), PatternError> {
        let low = self.class_char(start, c)?;
        self.literal(low);
        // A `-` before the closing bracket is a literal character.
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

    /// `CCchar`, after its first character `c` was read.
    fn class_char(&mut self, start: usize, c: char) -> Result<char, PatternError> {
        match c {
            '\\' => self.escaped_char(start),
            '[' | ']' => Self::problem(start, Problem::Character(c)),
            '-' => Self::problem(start, Problem::Class),
            _ => Ok(c),
        }
    }
}

/// Returns the digits without leading zeros, preceded by their number. Such pairs compare by value.
fn significant(digits: &str) -> (usize, &str) {
    let digits = digits.trim_start_matches('0');
    (digits.len(), digits)
}
