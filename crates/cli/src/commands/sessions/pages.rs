//! Answers that come in pages, joined: the tool's own limits do not bind the command line.

use std::io;
use std::num::NonZeroU64;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use trommel_toolbox::sessions::Bounds;

use crate::errors::Failure;

/// How much is asked for at a time: each page goes through the log again, so there should be few.
pub(super) const PAGE: Bounds = Bounds::WIDE;

/// A question, and whether its answer comes in pages.
pub(super) struct Asked {
    pub(super) arguments: Value,
    pub(super) paging: Option<Paging>,
}

/// Rows that a page has room for when they are long.
const LONG_ROWS: u64 = 8_000;

/// Which rows are wanted.
pub(super) struct Paging {
    /// The member of the answer that holds them.
    rows: &'static str,
    offset: u64,
    limit: u64,
    /// How many are asked for at a time.
    at_once: u64,
    /// Whether the tool is told how many.
    is_limited: bool,
    /// Whether they may be written as they come.
    is_written: bool,
}

impl Paging {
    /// All of them.
    pub(super) fn new(rows: &'static str) -> Self {
        Self { rows, offset: 0, limit: u64::MAX, at_once: LONG_ROWS, is_limited: true, is_written: true }
    }

    pub(super) fn from(self, offset: u64) -> Self {
        Self { offset, ..self }
    }

    pub(super) fn most(self, limit: Option<NonZeroU64>) -> Self {
        Self { limit: limit.map_or(u64::MAX, Into::into), ..self }
    }

    /// Where the tool takes only as many as there is room for, however many are asked for.
    pub(super) fn until_full(self) -> Self {
        Self { at_once: PAGE.rows as u64, ..self }
    }

    /// Where they have to be looked at in the end.
    pub(super) fn kept(self) -> Self {
        Self { is_written: false, ..self }
    }

    /// Where the tool takes no limit.
    pub(super) fn unlimited(self) -> Self {
        Self { is_limited: false, ..self }
    }
}

/// The whole answer: asked for page by page, with all rows that are wanted. Where there is somebody to write to, and rows come first in
/// the answer, they are written as they come, and what is returned has none.
pub(super) fn all(
    asked: Asked,
    out: Option<&mut dyn io::Write>,
    mut ask: impl FnMut(Value) -> Result<Box<RawValue>, Failure>,
) -> Result<String, Failure> {
    let Asked { mut arguments, paging } = asked;
    let mut put = |name: &str, value: Option<u64>| {
        if let Some(arguments) = arguments.as_object_mut() {
            match value {
                Some(value) => arguments.insert(name.to_owned(), value.into()),
                None => arguments.remove(name),
            };
        }
        arguments.clone()
    };
    let arguments = put("max_chars", Some(PAGE.chars as u64));
    let Some(Paging { rows, mut offset, limit, at_once, is_limited, is_written }) = paging else {
        let answer = ask(arguments)?.get().to_owned();
        return match out {
            Some(out) => Ok(writeln!(out, "{answer}").map(|()| answer)?),
            None => Ok(answer),
        };
    };
    let mut answer = Answer::default();
    let mut all =
        Rows { name: rows, out, count: 0, may_be_written: is_written, is_written: false, kept: Vec::new() };
    loop {
        let left = limit.saturating_sub(all.count);
        put("offset", Some(offset).filter(|offset| *offset > 0));
        let page = ask(put("limit", is_limited.then_some(left.min(at_once))))?;
        // It is the same on every page.
        put("include_events_summary", None);
        let next = answer.join(page.get(), &mut all)?;
        match next {
            // Whoever is told to go on where they are has come to an end.
            Some(next) if next > offset && all.count < limit => offset = next,
            _ => return answer.end(all, next),
        }
    }
}

/// Rows of all pages: written as they come, or kept.
struct Rows<'a> {
    name: &'static str,
    out: Option<&'a mut dyn io::Write>,
    count: u64,
    may_be_written: bool,
    is_written: bool,
    kept: Vec<Box<RawValue>>,
}

impl Rows<'_> {
    /// Takes the rows of a page, which stand first in its answer or do not.
    fn take(&mut self, rows: Vec<Box<RawValue>>, are_first: bool) -> io::Result<()> {
        if self.may_be_written
            && self.count == 0
            && are_first
            && let Some(out) = &mut self.out
        {
            write!(out, "{{\"{}\":[", self.name)?;
            self.is_written = true;
        }
        let before = self.count;
        self.count += rows.len() as u64;
        let Some(out) = self.out.as_mut().filter(|_| self.is_written) else {
            self.kept.extend(rows);
            return Ok(());
        };
        for (row, number) in rows.iter().zip(before..) {
            write!(out, "{}{row}", if number == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// The members of an answer, in their order, as they were written.
#[derive(Default, Serialize, Deserialize)]
struct Answer(IndexMap<String, Box<RawValue>>);

/// Why an answer is not all.
#[derive(Deserialize)]
struct Truncated {
    next: u64,
}

impl Answer {
    /// Adds a page: its rows behind those there are, and in the place of other members what the page says. Returns where the next
    /// one begins.
    fn join(&mut self, page: &str, all: &mut Rows<'_>) -> io::Result<Option<u64>> {
        let page: Self = serde_json::from_str(page).map_err(io::Error::other)?;
        self.0.shift_remove("truncated");
        let mut next = None;
        for (place, (name, value)) in page.0.into_iter().enumerate() {
            if name == all.name {
                let more: Vec<Box<RawValue>> = serde_json::from_str(value.get()).map_err(io::Error::other)?;
                all.take(more, place == 0)?;
                self.0.insert(name, RawValue::NULL.to_owned());
            } else {
                if name == "truncated" {
                    next =
                        Some(serde_json::from_str::<Truncated>(value.get()).map_err(io::Error::other)?.next);
                }
                self.0.insert(name, value);
            }
        }
        Ok(next)
    }

    /// The answer with all rows, or what is left to write of it.
    fn end(mut self, all: Rows<'_>, next: Option<u64>) -> Result<String, Failure> {
        let Rows { name, out, count, is_written, kept, .. } = all;
        let raw = |value: &Value| to_raw_value(value).map_err(io::Error::other);
        if let Some(rows) = self.0.get_mut(name) {
            *rows = to_raw_value(&kept).map_err(io::Error::other)?;
        }
        if let Some(next) = next {
            let truncated = raw(&json!({"reason": "limit", "returned": count, "next": next}))?;
            self.0.insert("truncated".to_owned(), truncated);
        }
        let answer = serde_json::to_string(&self).map_err(io::Error::other)?;
        match out {
            Some(out) if is_written => {
                // The rows are the first member, and stand there already.
                let rest = answer.get(name.len() + "{\"\":[".len()..).unwrap_or("]}");
                writeln!(out, "{rest}")?;
            }
            Some(out) => writeln!(out, "{answer}")?,
            None => {}
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool with ten rows that gives at most three at a time, beside a number that no double holds.
    fn tool(arguments: &Value) -> Box<RawValue> {
        let offset = arguments["offset"].as_u64().unwrap_or(0);
        let wanted = arguments["limit"].as_u64().unwrap_or(u64::MAX).min(3);
        let rows: Vec<u64> = (offset..10).take(wanted as usize).collect();
        let next = offset + rows.len() as u64;
        let truncated = if next < 10 {
            format!(r#","truncated":{{"reason":"max_chars","returned":{},"next":{next}}}"#, rows.len())
        } else {
            String::new()
        };
        let summary = if arguments["include_events_summary"] == true { r#""summary":1e999,"# } else { "" };
        let rows = json!(rows);
        let json = format!(r#"{{{summary}"rows":{rows},"has_more":{}{truncated}}}"#, next < 10);
        RawValue::from_string(json).unwrap()
    }

    fn asked(paging: Paging, summary: bool, out: Option<&mut dyn io::Write>) -> (String, usize) {
        let mut asked = 0;
        let arguments = json!({"include_events_summary": summary});
        let answer = all(Asked { arguments, paging: Some(paging) }, out, |arguments| {
            asked += 1;
            Ok(tool(&arguments))
        });
        (answer.unwrap(), asked)
    }

    fn joined(paging: Paging) -> (String, usize) {
        asked(paging, true, None)
    }

    #[test]
    fn rows_are_written_as_they_come() {
        for (from, limit, summary) in
            [(0, 10, false), (0, 10, true), (2, 4, false), (2, 4, true), (20, 1, false)]
        {
            let paging = || Paging { limit, ..Paging::new("rows").from(from) };
            let mut written = Vec::new();
            let (rest, pages) = asked(paging(), summary, Some(&mut written));
            let (whole, as_many) = asked(paging(), summary, None);
            assert_eq!((String::from_utf8(written).unwrap(), pages), (whole.clone() + "\n", as_many));
            let rest: Value = serde_json::from_str(&rest.replace("1e999", "0")).unwrap();
            assert_eq!(rest["rows"] == json!([]), !summary || from == 20, "what is written is not kept");
        }
    }

    #[test]
    fn pages_are_joined() {
        let (answer, asked) = joined(Paging::new("rows"));
        assert_eq!(answer, r#"{"summary":1e999,"rows":[0,1,2,3,4,5,6,7,8,9],"has_more":false}"#);
        assert_eq!(asked, 4);
        let (answer, asked) = joined(Paging { limit: 4, ..Paging::new("rows").from(2) });
        assert_eq!(
            answer,
            r#"{"summary":1e999,"rows":[2,3,4,5],"has_more":true,"truncated":{"reason":"limit","returned":4,"next":6}}"#
        );
        assert_eq!(asked, 2);
        assert_eq!(joined(Paging::new("rows").unlimited()).1, 4);
        assert_eq!(joined(Paging::new("rows").from(20)).0, r#"{"summary":1e999,"rows":[],"has_more":false}"#);
    }
}
