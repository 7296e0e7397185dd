//! Random filter expressions.

use super::query::Composer;

const PATTERNS: [&str; 14] = [
    ".*",
    "a.*",
    "[a-z]+",
    "[^a]",
    ".",
    "a|b",
    "(ab)*",
    "b?",
    "a{1,2}",
    r"\p{L}+",
    r"[\p{Nd}\-]",
    r"\.",
    "(",
    "[",
];

impl Composer<'_> {
    /// Generates a filter selector, with nested filters up to a depth of `nesting`, itself
    /// included.
    pub(super) fn filter(&mut self, nesting: usize) -> String {
        let expression = self.logical(nesting, 2);
        format!("?{}{expression}", self.blank())
    }

    fn logical(&mut self, nesting: usize, operators: usize) -> String {
        let weight = operators.min(1);
        match self.random.weighted(&[2 * weight, 2 * weight, weight, 4, 8, 2]) {
            0 => self.joined("||", nesting, operators - 1),
            1 => self.joined("&&", nesting, operators - 1),
            2 => {
                let (inner, space) = (self.logical(nesting, operators - 1), self.blank());
                format!("{}({space}{inner}{space})", self.not())
            }
            3 => format!("{}{}", self.not(), self.query_text(nesting - 1)),
            4 => self.comparison(nesting - 1),
            _ => {
                let function = self.random.pick(&["match", "search"]);
                let (subject, pattern) = (self.value_argument(nesting - 1), self.pattern(nesting - 1));
                format!("{}{function}({}{subject}{},{pattern})", self.not(), self.blank(), self.blank())
            }
        }
    }

    fn not(&mut self) -> &'static str {
        if self.random.chance(25) { "!" } else { "" }
    }

    fn joined(&mut self, operator: &str, nesting: usize, operators: usize) -> String {
        let operands: Vec<_> =
            (0..self.random.between(2, 3)).map(|_| self.logical(nesting, operators)).collect();
        let space = if self.random.chance(80) { " " } else { "" };
        operands.join(&format!("{space}{operator}{space}"))
    }

    fn comparison(&mut self, nesting: usize) -> String {
        let operator = self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
        let space = if self.random.chance(80) { " " } else { "" };
        let (left, right) = (self.comparable(nesting), self.comparable(nesting));
        let written = |operator: &str| format!("{left}{space}{operator}{space}{right}");
        match operator {
            _ if !self.options.detour => written(operator),
            "<=" => format!("({} || {left}=={right})", written("<")),
            ">=" => format!("({right}<{left} || {left}=={right})"),
            ">" => format!("{right}<{left}"),
            _ => written(operator),
        }
    }

    fn comparable(&mut self, nesting: usize) -> String {
        match self.random.weighted(&[5, 8, 2, 2, 2]) {
            0 => self.literal(),
            1 => self.singular(),
            2 => format!("length({})", self.value_argument(nesting)),
            3 => format!("count({})", self.query_text(nesting)),
            _ => format!("value({})", self.query_text(nesting)),
        }
    }

    fn value_argument(&mut self, nesting: usize) -> String {
        match self.random.weighted(&[8, 2, 1]) {
            0 => self.singular(),
            1 => self.literal(),
            _ => format!("value({})", self.query_text(nesting)),
        }
    }

    fn pattern(&mut self, nesting: usize) -> String {
        if self.options.patterns && self.random.chance(15) {
            return self.value_argument(nesting);
        }
        let pattern = self.random.pick(&PATTERNS);
        self.string(pattern)
    }

    fn literal(&mut self) -> String {
        match self.random.weighted(&[1, 1, 1, 4, 4]) {
            0 => "null".into(),
            1 => "true".into(),
            2 => "false".into(),
            3 => self.words.numbers[self.random.below(self.words.numbers.len())].clone(),
            _ => {
                let text = self.words.strings[self.random.below(self.words.strings.len())].clone();
                self.string(&text)
            }
        }
    }

    fn start(&mut self) -> &'static str {
        if self.random.chance(85) { "@" } else { "$" }
    }

    /// Generates a query of names and indices only.
    fn singular(&mut self) -> String {
        let mut text = String::from(self.start());
        let mut negative = false;
        for _ in 0..self.random.weighted(&[3, 6, 1]) {
            if self.random.chance(70) {
                let name = self.name();
                text.extend(["[", &self.string(&name), "]"]);
                continue;
            }
            let index = self.index();
            negative |= index.starts_with('-');
            text.extend(["[", &self.element(&index), "]"]);
        }
        if negative && self.options.detour { format!("value({text})") } else { text }
    }

    /// Generates any query.
    fn query_text(&mut self, nesting: usize) -> String {
        let mut text = String::from(self.start());
        self.segments(&mut text, nesting);
        text
    }
}
