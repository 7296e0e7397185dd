//! Naive searches: of whole lines and whole strings, with the crate `regex`.

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

/// A pattern for both searches.
#[derive(Clone, Debug)]
pub(crate) struct NaivePattern {
    pub(crate) text: String,
    pub(crate) is_regex: bool,
    pub(crate) ignore_case: bool,
}

impl NaivePattern {
    pub(crate) fn compile(&self) -> Regex {
        let text = if self.is_regex { self.text.clone() } else { regex::escape(&self.text) };
        RegexBuilder::new(&text).case_insensitive(self.ignore_case).build().unwrap()
    }
}

/// A match: its offset in the line or string, and the text around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NaiveMatch {
    pub(crate) at: usize,
    pub(crate) text: String,
}

/// The size of excerpts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) max_chars: usize,
    pub(crate) around: Option<usize>,
}

/// Returns the characters of a lossy text, with their lengths in bytes.
fn characters(unit: &[u8]) -> Vec<(char, usize)> {
    let mut characters = Vec::new();
    for chunk in unit.utf8_chunks() {
        characters.extend(chunk.valid().chars().map(|c| (c, c.len_utf8())));
        if !chunk.invalid().is_empty() {
            characters.push(('\u{FFFD}', chunk.invalid().len()));
        }
    }
    characters
}

/// Returns the first match at or after `from`. An empty match does not split a character.
fn find(pattern: &Regex, unit: &[u8], mut from: usize) -> Option<Range<usize>> {
    loop {
        let found = if from <= unit.len() { pattern.find_at(unit, from)? } else { return None };
        let splits = unit.get(found.start()).is_some_and(|byte| byte & 0xC0 == 0x80);
        if !(found.is_empty() && splits) {
            return Some(found.range());
        }
        from = found.start() + 1;
    }
}

/// Returns all matches in a line or string.
pub(crate) fn matches(pattern: &Regex, unit: &[u8], size: Size) -> Vec<NaiveMatch> {
    let characters = characters(unit);
    let starts: Vec<usize> = characters
        .iter()
        .scan(0, |at, &(_, length)| {
            *at += length;
            Some(*at - length)
        })
        .chain([unit.len()])
        .collect();
    let mut matches = Vec::new();
    let mut at = 0;
    while let Some(found) = find(pattern, unit, at) {
        let index = |byte: usize| starts.partition_point(|&start| start < byte);
        let (first, last) = (index(found.start), index(found.end));
        let (from, to) = match size.around {
            None if characters.len() <= size.max_chars => (0, characters.len()),
            None => {
                let from = first.saturating_sub(size.max_chars / 3);
                (from, (from + size.max_chars).min(characters.len()))
            }
            Some(around) if last - first > size.max_chars => {
                (first.saturating_sub(around), first + size.max_chars)
            }
            Some(around) => (first.saturating_sub(around), (last + around).min(characters.len())),
        };
        let mut text: String = characters[from..to].iter().map(|&(c, _)| c).collect();
        if from > 0 {
            text.insert(0, '…');
        }
        if to < characters.len() {
            text.push('…');
        }
        matches.push(NaiveMatch { at: found.start, text });
        if to == characters.len() {
            break;
        }
        at = starts[to].max(found.end);
        if at == found.start {
            at = starts[to + 1];
        }
    }
    matches
}
