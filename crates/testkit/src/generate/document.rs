//! Random documents.

use super::random::Random;
use super::scalars::{ScalarWriter, random_name, random_text};
use super::shape::{Layout, Shape};
use std::collections::BTreeSet;

/// Generates a random document, valid by RFC 8259.
pub fn document(seed: u64, shape: &Shape) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut text = Vec::new();
    write(&mut random, shape, &mut text);
    text
}

/// Appends one document to `out`. Block edges count from the start of `out`.
pub(super) fn write(random: &mut Random, shape: &Shape, out: &mut Vec<u8>) {
    let mut writer = Writer { random, shape, out, left: shape.values, open: Vec::new() };
    writer.space();
    writer.value();
    while !writer.open.is_empty() {
        writer.advance();
    }
    writer.space();
}

struct Writer<'a> {
    random: &'a mut Random,
    shape: &'a Shape,
    out: &'a mut Vec<u8>,
    left: usize,
    open: Vec<Open>,
}

struct Open {
    object: bool,
    wanted: usize,
    written: usize,
    names: BTreeSet<String>,
}

impl Writer<'_> {
    /// Ends the innermost container, or writes its next child up to a scalar or an opening bracket.
    fn advance(&mut self) {
        let open = self.open.last_mut().unwrap();
        if open.written == open.wanted || self.left == 0 {
            let (close, empty) = (if open.object { b'}' } else { b']' }, open.written == 0);
            self.open.pop();
            if !empty {
                self.line();
            }
            self.space();
            self.out.push(close);
            return;
        }
        open.written += 1;
        let (first, object) = (open.written == 1, open.object);
        if !first {
            self.space();
            self.out.push(b',');
        }
        self.line();
        self.space();
        if object {
            self.name();
        }
        self.value();
    }

    fn name(&mut self) {
        let name = self.choose_name();
        ScalarWriter { random: self.random, out: self.out }.string(&name);
        self.space();
        self.out.push(b':');
        if self.shape.layout == Layout::Pretty {
            self.out.push(b' ');
        }
        self.space();
    }

    fn choose_name(&mut self) -> String {
        let open = self.open.last_mut().unwrap();
        if self.shape.duplicates && !open.names.is_empty() && self.random.chance(25) {
            return open.names.iter().nth(self.random.below(open.names.len())).unwrap().clone();
        }
        let mut name = random_name(self.random, self.shape.names);
        // Names are unique unless repetition was requested; a number makes a repeated one
        // different.
        while !open.names.insert(name.clone()) {
            name.push_str(&self.random.below(100).to_string());
        }
        name
    }

    fn value(&mut self) {
        self.left = self.left.saturating_sub(1);
        let deeper = self.open.len() < self.shape.depth && self.left > 0;
        let last = self.open.last().is_none_or(|open| open.written == open.wanted);
        let chain = self.shape.is_deep() && last;
        if deeper && (self.open.is_empty() && self.random.chance(95) || self.random.chance(40) || chain) {
            self.container();
        } else {
            self.scalar();
        }
    }

    fn container(&mut self) {
        let object = self.random.chance(55);
        let least = usize::from(self.open.is_empty() || self.shape.is_deep());
        let most = if self.open.is_empty() { self.shape.width } else { self.shape.width.min(12) };
        let wanted = if self.random.chance(10) { least } else { self.random.between(least, most.max(1)) };
        self.out.push(if object { b'{' } else { b'[' });
        self.open.push(Open { object, wanted, written: 0, names: BTreeSet::new() });
    }

    fn scalar(&mut self) {
        match self.random.weighted(&[1, 1, 1, 4, 4, 1]) {
            0 => self.out.extend(b"null"),
            1 => self.out.extend(b"true"),
            2 => self.out.extend(b"false"),
            3 => ScalarWriter { random: self.random, out: self.out }.number(self.shape.numbers),
            4 => {
                let text = random_text(self.random, self.shape);
                ScalarWriter { random: self.random, out: self.out }.string(&text);
            }
            _ => ScalarWriter { random: self.random, out: self.out }.edge_string(),
        }
    }

    /// Writes a new line with its indentation, if the layout has them.
    fn line(&mut self) {
        if self.shape.layout == Layout::Pretty {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + 2 * self.open.len(), b' ');
        }
    }

    /// Writes random white space, if the layout has it.
    fn space(&mut self) {
        let kinds = match self.shape.layout {
            Layout::Compact | Layout::Pretty => return,
            Layout::Random => &b" \t\n\r"[..],
            Layout::OneLine => b" \t",
        };
        let length = match self.random.weighted(&[60, 37, 3]) {
            0 => 0,
            1 => self.random.between(1, 3),
            _ => self.random.between(60, 70),
        };
        for _ in 0..length {
            self.out.push(kinds[self.random.below(kinds.len())]);
        }
    }
}
