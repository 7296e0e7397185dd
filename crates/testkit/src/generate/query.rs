//! Random queries that are likely to select something.

use super::random::Random;
use crate::naive::{Data, Document, ValueId, is_shorthand};

/// The features that a random query may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryOptions {
    /// The maximum number of segments, for queries that do not follow the path of a value.
    pub segments: usize,
    /// Descendant segments.
    pub descendants: bool,
    /// The maximum nesting of filter selectors; 0 for no filters.
    pub filters: usize,
    /// Several selectors in a segment.
    pub lists: bool,
    /// Work around bugs of `serde_json_path` 0.7.2. The query of the same seed keeps its meaning,
    /// but differs in notation:
    /// - `<=`, `>`, and `>=` are written by their definition, with `<` and `==`. (That library has
    ///   Nothing neither `<=` nor `>=` Nothing, and some objects `>` others.)
    /// - A negative index becomes a slice of one element. (In a singular query, the library does
    ///   not find the first element by a negative index.)
    /// - There is no white space before `..`, and the hexadecimal digits of escapes are upper case.
    ///   (The library rejects the alternatives.)
    pub detour: bool,
    /// Patterns may come from the document, and so be arbitrary text.
    pub patterns: bool,
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self { segments: 4, descendants: true, filters: 2, lists: true, detour: false, patterns: true }
    }
}

/// Generates a random query, valid and well-typed by RFC 9535, with names and values of the
/// document. Two of three queries follow the path of one of its values, with random wildcards,
/// slices, filters, and shortcuts.
pub fn query(seed: u64, document: &Document, options: &QueryOptions) -> String {
    let mut random = Random::new(seed);
    let words = Words::of(document);
    let mut composer = Composer { random: &mut random, words: &words, options: *options };
    let mut text = String::from("$");
    if composer.random.chance(67) {
        let goal = composer.random.below(document.ids().len());
        let goal = document.ids().nth(goal).unwrap();
        composer.follow(document, goal, &mut text);
    } else {
        composer.segments(&mut text, options.filters);
    }
    text
}

/// Generates a random filter, valid and well-typed by RFC 9535, with names and values of the
/// document.
pub fn filter(seed: u64, document: &Document, options: &QueryOptions) -> String {
    let (mut random, words) = (Random::new(seed), Words::of(document));
    Composer { random: &mut random, words: &words, options: *options }.filter(options.filters)
}

/// The names and values that the document offers to queries.
pub(super) struct Words {
    pub(super) names: Vec<String>,
    pub(super) numbers: Vec<String>,
    pub(super) strings: Vec<String>,
}

impl Words {
    fn of(document: &Document) -> Self {
        let mut words = Self {
            names: vec!["a".into(), "b".into(), "missing".into()],
            numbers: ["0", "1", "2", "-1", "1.5", "1e2"].map(String::from).into(),
            strings: ["", "a", "ab", "b1"].map(String::from).into(),
        };
        for id in document.ids() {
            match &document[id].data {
                Data::Object(members) => words.names.extend(members.iter().map(|member| member.name.clone())),
                Data::Number(lexeme) => words.numbers.push(lexeme.clone()),
                Data::String(text) => words.strings.push(text.clone()),
                _ => {}
            }
        }
        words
    }
}

/// Writes parts of a query.
pub(super) struct Composer<'a> {
    pub(super) random: &'a mut Random,
    pub(super) words: &'a Words,
    pub(super) options: QueryOptions,
}

/// A selector. The first two variants have a shorthand after a dot.
enum Choice {
    Name(String),
    Wildcard,
    Other(String),
}

impl Composer<'_> {
    /// Appends segments that lead to `goal`, or past it.
    fn follow(&mut self, document: &Document, goal: ValueId, text: &mut String) {
        let mut path = Vec::new();
        let mut at = goal;
        while let Some(parent) = document.parent(at) {
            path.push(at);
            at = parent;
        }
        let mut descendant = false;
        for step in path.into_iter().rev() {
            if step != goal && self.options.descendants && self.random.chance(20) {
                descendant = true;
                continue;
            }
            let choice = self.selector_for(document, step);
            self.segment(choice, descendant, self.options.filters, text);
            descendant = false;
        }
        if self.random.chance(25) {
            let choice = self.selector(self.options.filters);
            self.segment(choice, false, self.options.filters, text);
        }
    }

    /// Returns a selector that selects `step` among its siblings, or at least tests it.
    fn selector_for(&mut self, document: &Document, step: ValueId) -> Choice {
        if self.options.filters > 0 && self.random.chance(12) {
            return Choice::Other(self.filter(self.options.filters));
        }
        if self.random.chance(20) {
            return Choice::Wildcard;
        }
        let (parent, position) = (document.parent(step).unwrap(), document.position(step).unwrap());
        if let Some(member) = document.members(parent).get(position) {
            return Choice::Name(member.name.clone());
        }
        let from_end = document.children(parent).len() - position;
        Choice::Other(match self.random.below(4) {
            0 | 1 => position.to_string(),
            2 => self.element(&format!("-{from_end}")),
            _ => format!("{position}:{}", position + self.random.below(4)),
        })
    }

    /// Appends random segments.
    pub(super) fn segments(&mut self, text: &mut String, filters: usize) {
        for _ in 0..self.random.below(self.options.segments + 1) {
            let descendant = self.options.descendants && self.random.chance(25);
            let choice = self.selector(filters);
            self.segment(choice, descendant, filters, text);
        }
    }

    fn segment(&mut self, first: Choice, descendant: bool, filters: usize, text: &mut String) {
        if self.random.chance(3) {
            let space = self.random.pick(&[" ", "\n", " \t"]);
            text.push_str(if self.options.detour { "" } else { space });
        }
        let alone = !self.options.lists || self.random.chance(85);
        let dots = if descendant { ".." } else { "." };
        match first {
            Choice::Name(name) if alone && is_shorthand(&name) && self.random.chance(70) => {
                text.push_str(dots);
                text.push_str(&name);
                return;
            }
            Choice::Wildcard if alone && self.random.chance(60) => {
                text.push_str(dots);
                text.push('*');
                return;
            }
            _ => {}
        }
        let mut list = vec![self.bracketed(first)];
        if !alone {
            for _ in 0..self.random.between(1, 2) {
                let choice = self.selector(filters);
                list.push(self.bracketed(choice));
            }
            let other = self.random.below(list.len());
            list.swap(0, other);
        }
        text.push_str(if descendant { "..[" } else { "[" });
        text.push_str(self.blank());
        text.push_str(&list.join(if self.random.chance(50) { "," } else { " , " }));
        text.push_str(self.blank());
        text.push(']');
    }

    fn bracketed(&mut self, choice: Choice) -> String {
        match choice {
            Choice::Name(name) => self.string(&name),
            Choice::Wildcard => "*".into(),
            Choice::Other(text) => text,
        }
    }

    fn selector(&mut self, filters: usize) -> Choice {
        let filter = if filters > 0 { 3 } else { 0 };
        match self.random.weighted(&[5, 3, 2, 2, filter]) {
            0 => Choice::Name(self.name()),
            1 => Choice::Wildcard,
            2 => {
                let index = self.index();
                Choice::Other(self.element(&index))
            }
            3 => Choice::Other(self.slice()),
            _ => Choice::Other(self.filter(filters)),
        }
    }

    pub(super) fn name(&mut self) -> String {
        self.words.names[self.random.below(self.words.names.len())].clone()
    }

    pub(super) fn index(&mut self) -> String {
        match self.random.below(10) {
            0 => self.random.pick(&["9007199254740991", "-9007199254740991", "100"]).into(),
            _ => (self.random.below(9) as i64 - 4).to_string(),
        }
    }

    /// Returns the selector of one element.
    pub(super) fn element(&self, index: &str) -> String {
        match index.strip_prefix('-') {
            Some("1") if self.options.detour => "-1:".into(),
            Some(from_end) if self.options.detour => {
                format!("{index}:-{}", from_end.parse::<u64>().unwrap() - 1)
            }
            _ => index.into(),
        }
    }

    fn slice(&mut self) -> String {
        let mut part = || if self.random.chance(40) { String::new() } else { self.index() };
        let (start, end, step) = (part(), part(), part());
        let (before, after) = (self.blank(), self.blank());
        if self.random.chance(40) {
            format!("{start}{before}:{after}{end}:{step}")
        } else {
            format!("{start}:{end}")
        }
    }

    pub(super) fn blank(&mut self) -> &'static str {
        if self.random.chance(8) { self.random.pick(&[" ", "\t", "\r\n", "  "]) } else { "" }
    }

    /// Returns a string literal in either kind of quotes.
    pub(super) fn string(&mut self, text: &str) -> String {
        let quote = if self.random.chance(70) { '\'' } else { '"' };
        let mut literal = String::from(quote);
        for character in text.chars() {
            match character {
                '\\' => literal.push_str("\\\\"),
                '\n' => literal.push_str("\\n"),
                '/' if self.random.chance(50) => literal.push_str("\\/"),
                _ if character == quote => literal.extend(['\\', quote]),
                _ if character < ' ' || self.random.chance(3) => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        let escape = format!("\\u{unit:04x}");
                        let escape = if self.options.detour { format!("\\u{unit:04X}") } else { escape };
                        literal.push_str(&escape);
                    }
                }
                _ => literal.push(character),
            }
        }
        literal.push(quote);
        literal
    }
}
