//! Random names, strings, and numbers, and the ways to write them in JSON.

use super::random::Random;
use super::shape::{Names, Numbers, Shape};
use std::io::Write;

const PLAIN: [&str; 10] = ["a", "b", "c", "id", "name", "items", "data", "x", "key", "value"];

const ODD: [&str; 32] = [
    "",
    " ",
    "{",
    "[",
    "}",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\\\"",
    "'",
    "O'Reilly",
    "\n",
    "\u{0}",
    "\u{1f}\u{b}",
    "\u{7f}",
    "ü",
    "日本",
    "😀",
    "\u{feff}",
    "\u{2028}",
    "a.b",
    "..",
    "$",
    "@",
    "*",
    "0",
    "-1",
    "true",
    "{\"a\":1}",
    "first name",
];

/// Generates a random name.
pub(super) fn random_name(random: &mut Random, names: Names) -> String {
    if names == Names::Plain || random.chance(50) {
        return random.pick(&PLAIN).into();
    }
    match random.weighted(&[8, 2, 1]) {
        0 => random.pick(&ODD).into(),
        1 => format!("{}{}", random.pick(&PLAIN), random.pick(&ODD)),
        _ => random.pick(&PLAIN).repeat(random.between(60, 70)),
    }
}

/// Generates a random string of at most as many characters as the shape allows.
pub(super) fn random_text(random: &mut Random, shape: &Shape) -> String {
    if shape.names == Names::Plain || random.chance(30) {
        return random.pick(&["", "a", "b", "ab", "abc", "b1", "text", "été"]).into();
    }
    let mut text = String::new();
    for _ in 0..random.below(shape.text + 1) {
        text.push_str(match random.weighted(&[6, 2]) {
            0 => random.pick(&["a", "b", "z", "0", " ", "x"]),
            _ => random.pick(&ODD),
        });
    }
    text.chars().take(shape.text).collect()
}

/// Writes scalars in random notations.
pub(super) struct ScalarWriter<'a> {
    pub(super) random: &'a mut Random,
    pub(super) out: &'a mut Vec<u8>,
}

impl ScalarWriter<'_> {
    /// Writes a string. Every character is written verbatim or in a random valid escape.
    pub(super) fn string(&mut self, text: &str) {
        self.out.push(b'"');
        text.chars().for_each(|character| self.character(character));
        self.out.push(b'"');
    }

    fn character(&mut self, character: char) {
        let must = matches!(character, '\0'..='\u{1f}' | '"' | '\\');
        if !must && !self.random.chance(5) {
            self.out.extend(character.encode_utf8(&mut [0; 4]).bytes());
            return;
        }
        let short = match character {
            '"' | '\\' | '/' => Some(character),
            '\u{8}' => Some('b'),
            '\u{c}' => Some('f'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\t' => Some('t'),
            _ => None,
        };
        match short {
            Some(letter) if !self.random.chance(20) => write!(self.out, "\\{letter}").unwrap(),
            _ => self.unicode_escape(character),
        }
    }

    fn unicode_escape(&mut self, character: char) {
        for unit in character.encode_utf16(&mut [0; 2]) {
            if self.random.chance(50) {
                write!(self.out, "\\u{unit:04x}").unwrap();
            } else {
                write!(self.out, "\\u{unit:04X}").unwrap();
            }
        }
    }

    /// Writes a string with an odd or even run of backslashes that begins at or near the edge of a
    /// block of 64 bytes.
    pub(super) fn edge_string(&mut self) {
        self.out.push(b'"');
        let wanted = (64 - self.random.below(10)) % 64;
        while self.out.len() % 64 != wanted {
            self.out.push(b'x');
        }
        let run = self.random.below(12);
        self.out.resize(self.out.len() + run, b'\\');
        if run % 2 == 1 {
            self.out.extend(self.random.pick::<str>(&["\"", "n", "u005c", "/", "\\"]).bytes());
        }
        self.out.extend(self.random.pick::<str>(&["", "", "{", "}],", ":é"]).bytes());
        self.out.push(b'"');
    }

    /// Writes a random number.
    pub(super) fn number(&mut self, numbers: Numbers) {
        let text = match (numbers, self.random.below(4)) {
            (_, 0) => self.random.below(5).to_string(),
            (_, 1) => (self.random.below(2_000_001) as i64 - 1_000_000).to_string(),
            (Numbers::Plain, _) => self
                .random
                .pick(&["0.5", "-0.25", "1.5", "2.0", "1e2", "100", "0", "-1", "1e-3", "3.125"])
                .into(),
            (Numbers::Wild, 2) => self.random.pick(&WILD).into(),
            (Numbers::Wild, _) => self.long_number(),
        };
        self.out.extend(text.bytes());
    }

    fn long_number(&mut self) -> String {
        let mut text = String::from(if self.random.chance(50) { "-" } else { "" });
        text.push(char::from(b'1' + self.random.below(9) as u8));
        self.digits(&mut text, 40);
        if self.random.chance(50) {
            text.push('.');
            text.push('5');
            self.digits(&mut text, 60);
        }
        if self.random.chance(40) {
            text.push_str(self.random.pick(&["e", "E", "e+", "E-", "e-"]));
            text.push_str(&self.random.below(40).to_string());
        }
        text
    }

    fn digits(&mut self, text: &mut String, most: usize) {
        for _ in 0..self.random.below(most) {
            text.push(char::from(b'0' + self.random.below(10) as u8));
        }
    }
}

const WILD: [&str; 26] = [
    "-0",
    "-0.0",
    "0e0",
    "0E+5",
    "1.0",
    "1e0",
    "10e-1",
    "0.1e1",
    "100e-2",
    "1E400",
    "-1e400",
    "1e-400",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "9007199254740993.0",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "0.1",
    "0.10000000000000000000001",
    "3077999.0",
    "1.0e-308",
];
