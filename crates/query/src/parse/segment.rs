//! Parses segments and selectors (RFC 9535, sections 2.3 and 2.5).

use super::parser::{Parsed, Parser, is_name_char, is_name_first};
use crate::tree::{Segment, Selector, Slice};

impl Parser<'_> {
    /// `segments`: any number of them. White space after the last one is not skipped.
    pub(super) fn segments(&mut self) -> Parsed<()> {
        loop {
            // White space after the last segment belongs to the caller, which may reject it.
            let before = self.at;
            self.blanks();
            match self.peek() {
                Some(b'[') => self.bracketed(false)?,
                Some(b'.') => self.dotted()?,
                _ => {
                    self.at = before;
                    return Ok(());
                }
            }
        }
    }

    /// A segment that begins with one dot or two dots.
    fn dotted(&mut self) -> Parsed<()> {
        let dot = self.at;
        self.at += 1;
        let descendant = self.eat(b'.');
        if descendant && self.peek() == Some(b'[') {
            self.bracketed(true)
        } else {
            self.shorthand(dot, descendant)
        }
    }

    /// `*` or a name after the dots that begin at `dot`.
    #[inline(never)]
    fn shorthand(&mut self, dot: usize, descendant: bool) -> Parsed<()> {
        let selector = match self.rest().chars().next() {
            Some('*') => {
                self.at += 1;
                Selector::Wildcard
            }
            Some(c) if is_name_first(c) => {
                let name = self.eat_while(is_name_char);
                self.shorthand = dot..self.at;
                Selector::Name(name.to_owned())
            }
            _ => return Err(self.missing_name(dot, descendant)),
        };
        // Once for the segment and once for its selector, as in brackets.
        self.count()?;
        self.count()?;
        self.segments.push(Segment { descendant, selectors: vec![selector] });
        Ok(())
    }

    /// `bracketed-selection`
    fn bracketed(&mut self, descendant: bool) -> Parsed<()> {
        self.count()?;
        self.open(b'[', b']');
        let first = self.selectors.len();
        loop {
            self.padded_blanks();
            let start = self.at;
            self.count()?;
            self.selector()?;
            self.padded_blanks();
            if !self.eat(b',') {
                return self.end_bracketed(descendant, first, start);
            }
        }
    }

    /// Reads the end of a `bracketed-selection`. Its selectors begin at index `first` of the stack,
    /// and the last one at offset `last` of the text.
    #[inline(never)]
    fn end_bracketed(&mut self, descendant: bool, first: usize, last: usize) -> Parsed<()> {
        if self.peek() != Some(b']') {
            return Err(self.unclosed_selector(last));
        }
        self.close("`]`")?;
        let selectors = self.selectors.split_off(first);
        self.segments.push(Segment { descendant, selectors });
        Ok(())
    }

    /// Skips white space within brackets and records it. A comparison does not allow it in its
    /// queries.
    #[inline(never)]
    fn padded_blanks(&mut self) {
        let before = self.at;
        self.blanks();
        if self.at > before && self.padding.is_none() {
            self.padding = Some(before..self.at);
        }
    }

    fn selector(&mut self) -> Parsed<()> {
        if !self.eat(b'?') {
            return self.plain_selector();
        }
        self.filter()?;
        let filter = self.expressions.pop();
        self.selectors.extend(filter.map(|filter| Selector::Filter(Box::new(filter))));
        Ok(())
    }

    /// A selector other than a filter.
    #[inline(never)]
    fn plain_selector(&mut self) -> Parsed<()> {
        let selector = match self.peek() {
            Some(b'\'' | b'"') => Selector::Name(self.string()?),
            Some(b'*') => {
                self.at += 1;
                Selector::Wildcard
            }
            Some(b':' | b'-' | b'0'..=b'9') => self.index_or_slice()?,
            _ => return Err(self.missing_selector()),
        };
        self.selectors.push(selector);
        Ok(())
    }

    /// `index-selector` or `slice-selector`, which differ only after the first integer.
    fn index_or_slice(&mut self) -> Parsed<Selector> {
        let start = self.optional_integer()?;
        let before = self.at;
        self.blanks();
        if !self.eat(b':') {
            self.at = before;
            return start.map(Selector::Index).ok_or_else(|| self.missing_selector());
        }
        self.blanks();
        let end = self.optional_integer()?;
        self.blanks();
        let mut step = None;
        if self.eat(b':') {
            self.blanks();
            step = self.optional_integer()?;
        }
        Ok(Selector::Slice(Slice { start, end, step: step.unwrap_or(1) }))
    }

    fn optional_integer(&mut self) -> Parsed<Option<i64>> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.integer().map(Some),
            _ => Ok(None),
        }
    }
}
