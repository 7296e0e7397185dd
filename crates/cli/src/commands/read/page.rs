//! As much of a value as fits on a page, in the words of `tool_outputs.read`.

use std::fmt::Write;

use trommel::path::Query;
use trommel_toolbox::outputs::Mark;

use super::cursor;
use super::value::Value;
use crate::output::{for_reader, push_string};

/// What is asked.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) path: &'a str,
    pub(super) query: &'a Query,
    /// Characters of the page at most.
    pub(super) most: usize,
    /// Children, or bytes of a string, that earlier pages had.
    pub(super) start: u64,
    /// What ties that to the value.
    pub(super) tag: Option<u32>,
}

/// What of a value may stand on the page.
pub(super) enum Body {
    Members(Vec<Child>),
    Elements(Vec<Child>),
    /// The characters as they are spelt, and the bytes that are left of the string with them.
    String {
        units: Vec<String>,
        left: u64,
    },
    Scalar(Child),
}

/// A child of a container, or a value that is not taken apart.
#[derive(Debug)]
pub(super) struct Child {
    /// The name of a member, as it is spelt.
    pub(super) name: Option<String>,
    /// Whether that is only its beginning.
    pub(super) is_cut: bool,
    /// The text, or a mark where no page can hold it.
    pub(super) text: String,
    /// What stands in its place where there is no room for it, if it may come to that.
    pub(super) mark: Option<Mark>,
    /// Whether the text is that already.
    pub(super) is_large: bool,
}

impl Child {
    /// Characters that it takes at least.
    pub(super) fn least(&self) -> usize {
        self.name.as_ref().map_or(0, |name| chars(name) + 1) + chars(&self.text) + 1
    }

    fn push(&self, mark: Option<&str>, out: &mut String) {
        if let Some(name) = &self.name {
            out.push_str(name);
            out.push(':');
        }
        out.push_str(mark.unwrap_or(&self.text));
    }
}

/// Why there is no page.
pub(super) enum NoPage {
    /// The cursor is of another value.
    Foreign,
    /// Not even the first child fits.
    TooSmall { needed: usize },
}

impl Asked<'_> {
    /// The page.
    pub(super) fn page(&self, value: &Value) -> Result<String, NoPage> {
        if self.tag.is_some_and(|tag| tag != cursor::tag(self.start, self.tie(value))) {
            return Err(NoPage::Foreign);
        }
        match &value.body {
            Body::Members(children) => self.fit(children.len(), children.first(), &|shown, mark| {
                self.container(value, children.get(..shown).unwrap_or_default(), mark, ["{", "}"])
            }),
            Body::Elements(children) => self.fit(children.len(), children.first(), &|shown, mark| {
                self.container(value, children.get(..shown).unwrap_or_default(), mark, ["[", "]"])
            }),
            Body::String { units, left } => self.fit(units.len(), None, &|shown, _| {
                self.string(value, units.get(..shown).unwrap_or_default(), *left)
            }),
            Body::Scalar(child) => self.fit(1, Some(child), &|_, mark| {
                let mut out = self.head(value);
                child.push(mark, &mut out);
                Self::end(out, (mark.is_some() || child.is_large).then_some((0, None)))
            }),
        }
    }

    /// The text with as many units as fit; with a mark for the first one where not even that does.
    fn fit(
        &self,
        units: usize,
        first: Option<&Child>,
        text: &dyn Fn(usize, Option<&str>) -> String,
    ) -> Result<String, NoPage> {
        let fits = |text: &String| chars(text) <= self.most;
        // A unit is a character at least.
        let most = units.min(self.most);
        if let Some(page) = Some(text(most, None)).filter(|page| most == units && fits(page)) {
            return Ok(page);
        }
        // More units make a longer text, so that the most that fit can be closed in on.
        let (mut shown, mut too_many) = (0, most + 1);
        while shown + 1 < too_many {
            let middle = shown.midpoint(too_many);
            if fits(&text(middle, None)) { shown = middle } else { too_many = middle }
        }
        if shown > 0 {
            return Ok(text(shown, None));
        }
        let around = chars(&text(most.min(1), Some("")));
        let Some(mark) = first.and_then(|first| first.mark.as_ref()) else {
            return Err(NoPage::TooSmall { needed: chars(&text(most.min(1), None)) });
        };
        match self.most.checked_sub(around).and_then(|room| mark.text(room)) {
            Some(mark) => Ok(text(1, Some(&mark))),
            None => Err(NoPage::TooSmall { needed: around + Mark::SHORTEST }),
        }
    }

    /// What a cursor is tied to.
    fn tie(&self, value: &Value) -> (String, u64, Option<u64>) {
        (self.query.to_string(), value.bytes, value.items)
    }

    fn head(&self, value: &Value) -> String {
        let mut head = format!(r#"{{"path":{},"kind":"{}""#, string(self.path), value.kind);
        let _ = write!(head, r#","size":{{"bytes":{}"#, value.bytes);
        if let Some(items) = value.items {
            let _ = write!(head, r#","items":{items}"#);
        }
        head.push_str(r#"},"content":"#);
        head
    }

    fn container(
        &self,
        value: &Value,
        shown: &[Child],
        mark: Option<&str>,
        [open, close]: [&str; 2],
    ) -> String {
        let mut out = self.head(value);
        out.push_str(open);
        for (number, child) in shown.iter().enumerate() {
            out.push_str(if number > 0 { "," } else { "" });
            child.push(mark.filter(|_| number == 0), &mut out);
        }
        let behind = self.start + shown.len() as u64;
        let left = value.items.unwrap_or_default().saturating_sub(behind);
        if left > 0 {
            out.push_str(if shown.is_empty() { "" } else { "," });
            let more = format!(r#""$more":{left}"#);
            let _ = if open == "{" { write!(out, "{more}") } else { write!(out, "{{{more}}}") };
        }
        out.push_str(close);
        let is_cut = left > 0 || mark.is_some() || shown.iter().any(|child| child.is_large || child.is_cut);
        let next = (left > 0).then(|| cursor::write(behind, self.tie(value)));
        Self::end(out, is_cut.then_some((shown.len(), next)))
    }

    fn string(&self, value: &Value, shown: &[String], left: u64) -> String {
        let mut out = self.head(value);
        out.push('"');
        out.push_str(&shown.concat());
        let length: u64 = shown.iter().map(|unit| unit.len() as u64).sum();
        let is_cut = length < left;
        out.push_str(if is_cut { "…\"" } else { "\"" });
        let next = is_cut.then(|| Some(cursor::write(self.start + length, self.tie(value))));
        Self::end(out, next.map(|next| (shown.len(), next)))
    }

    /// Ends a page, and says how much it has and where it goes on when it is not all.
    fn end(mut out: String, cut: Option<(usize, Option<String>)>) -> String {
        if let Some((returned, next)) = cut {
            let _ = write!(out, r#","truncated":{{"reason":"max_chars","returned":{returned}"#);
            if let Some(next) = next {
                let _ = write!(out, r#","next":"{next}""#);
            }
            out.push('}');
        }
        out.push('}');
        out
    }
}

/// A text as a JSON string, with escapes for what would do something to a terminal.
fn string(text: &str) -> String {
    let mut out = Vec::new();
    push_string(text, &mut out);
    for_reader(String::from_utf8(out).unwrap_or_default(), true)
}

fn chars(text: &str) -> usize {
    text.chars().count()
}
