//! Segments and selectors (RFC 9535, sections 2.3 and 2.5).

use super::{Parsed, Parser, is_name_char, is_name_first};
use crate::query::{Segment, Segments, Selector, Slice};

impl Parser<'_> {
    /// `segments`: as many as there are, possibly none; white space behind the last is not passed over.
    pub(super) fn segments(&mut self) -> Parsed<Segments> {
        let mut segments = Vec::new();
        loop {
            let before = self.at;
            self.blanks();
            match self.peek() {
                Some(b'[') => segments.push(self.bracketed(false)?),
                Some(b'.') => segments.push(self.dotted()?),
                _ => {
                    self.at = before;
                    return Ok(Segments(segments));
                }
            }
        }
    }

    /// A segment that begins with one dot or two.
    fn dotted(&mut self) -> Parsed<Segment> {
        let dot = self.at;
        self.at += 1;
        let descendant = self.eat(b'.');
        let selector = match self.rest().chars().next() {
            Some('[') if descendant => return self.bracketed(true),
            Some('*') => {
                self.at += 1;
                Selector::Wildcard
            }
            Some(c) if is_name_first(c) => {
                let name = self.eat_while(is_name_char);
                self.shorthand = dot..self.at;
                Selector::Name(name.to_owned())
            }
            _ => return Err(self.after_dot(dot, descendant)),
        };
        self.count()?;
        self.count()?;
        Ok(Segment { descendant, selectors: vec![selector] })
    }

    /// `bracketed-selection`
    fn bracketed(&mut self, descendant: bool) -> Parsed<Segment> {
        self.count()?;
        self.open(b'[', b']');
        let mut selectors = Vec::new();
        loop {
            self.padded_blanks();
            let start = self.at;
            self.count()?;
            selectors.push(self.selector()?);
            self.padded_blanks();
            if !self.eat(b',') {
                match self.peek() {
                    Some(b']') => self.close("`]`")?,
                    _ => return Err(self.after_selector(start)),
                }
                return Ok(Segment { descendant, selectors });
            }
        }
    }

    /// White space within brackets: a comparison allows none in its queries, so that it is remembered.
    fn padded_blanks(&mut self) {
        let before = self.at;
        self.blanks();
        if self.at > before && self.padding.is_none() {
            self.padding = Some(before..self.at);
        }
    }

    fn selector(&mut self) -> Parsed<Selector> {
        match self.peek() {
            Some(b'\'' | b'"') => Ok(Selector::Name(self.string()?)),
            Some(b'*') => {
                self.at += 1;
                Ok(Selector::Wildcard)
            }
            Some(b'?') => {
                self.at += 1;
                Ok(Selector::Filter(Box::new(self.filter()?)))
            }
            Some(b':' | b'-' | b'0'..=b'9') => self.index_or_slice(),
            _ => Err(self.no_selector()),
        }
    }

    /// `index-selector` or `slice-selector`, which differ behind the first integer only.
    fn index_or_slice(&mut self) -> Parsed<Selector> {
        let start = self.optional_integer()?;
        let before = self.at;
        self.blanks();
        if !self.eat(b':') {
            self.at = before;
            return start.map(Selector::Index).ok_or_else(|| self.no_selector());
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
