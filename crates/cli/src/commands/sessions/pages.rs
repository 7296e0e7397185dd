//! Answers that come in pages, joined: the tool's own limits do not bind the command line.

use std::fmt;
use std::io;
use std::num::NonZeroU64;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
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

/// Which rows are wanted.
pub(super) struct Paging {
    /// The member of the answer that holds them.
    rows: &'static str,
    offset: u64,
    limit: u64,
    /// Whether the tool is told how many.
    is_limited: bool,
}

impl Paging {
    /// All of them.
    pub(super) fn new(rows: &'static str) -> Self {
        Self { rows, offset: 0, limit: u64::MAX, is_limited: true }
    }

    pub(super) fn from(self, offset: u64) -> Self {
        Self { offset, ..self }
    }

    pub(super) fn most(self, limit: Option<NonZeroU64>) -> Self {
        Self { limit: limit.map_or(u64::MAX, Into::into), ..self }
    }

    /// Where the tool takes no limit.
    pub(super) fn unlimited(self) -> Self {
        Self { is_limited: false, ..self }
    }
}

/// The whole answer: asked for page by page, with all rows that are wanted.
pub(super) fn all(
    asked: Asked,
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
    let Some(Paging { rows, mut offset, limit, is_limited }) = paging else {
        return Ok(ask(arguments)?.get().to_owned());
    };
    let mut answer = Answer::default();
    let mut all: Vec<Box<RawValue>> = Vec::new();
    loop {
        let left = limit.saturating_sub(all.len() as u64);
        put("offset", Some(offset).filter(|offset| *offset > 0));
        let page = ask(put("limit", is_limited.then_some(left.min(PAGE.rows as u64))))?;
        // It is the same on every page.
        put("include_events_summary", None);
        let next = answer.join(page.get(), rows, &mut all)?;
        match next {
            // Whoever is told to go on where they are has come to an end.
            Some(next) if next > offset && (all.len() as u64) < limit => offset = next,
            _ => return answer.end(rows, &all, next),
        }
    }
}

/// The members of an answer, in their order, as they were written.
#[derive(Default)]
struct Answer(Vec<(String, Box<RawValue>)>);

/// Why an answer is not all.
#[derive(Deserialize)]
struct Truncated {
    next: u64,
}

impl Answer {
    /// Adds a page: its rows behind those there are, and in the place of other members what the page says. Returns where the next
    /// one begins.
    fn join(&mut self, page: &str, rows: &str, all: &mut Vec<Box<RawValue>>) -> io::Result<Option<u64>> {
        let page: Self = serde_json::from_str(page).map_err(io::Error::other)?;
        self.0.retain(|(name, _)| name != "truncated");
        let mut next = None;
        for (name, value) in page.0 {
            if name == rows {
                let more: Vec<Box<RawValue>> = serde_json::from_str(value.get()).map_err(io::Error::other)?;
                all.extend(more);
                self.set(&name, RawValue::NULL.to_owned());
            } else {
                if name == "truncated" {
                    next =
                        Some(serde_json::from_str::<Truncated>(value.get()).map_err(io::Error::other)?.next);
                }
                self.set(&name, value);
            }
        }
        Ok(next)
    }

    fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// The answer with all rows.
    fn end(mut self, rows: &str, all: &[Box<RawValue>], next: Option<u64>) -> Result<String, Failure> {
        let raw = |value: &Value| to_raw_value(value).map_err(io::Error::other);
        if self.0.iter().any(|(name, _)| name == rows) {
            self.set(rows, to_raw_value(all).map_err(io::Error::other)?);
        }
        if let Some(next) = next {
            self.set("truncated", raw(&json!({"reason": "limit", "returned": all.len(), "next": next}))?);
        }
        Ok(serde_json::to_string(&self).map_err(io::Error::other)?)
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Answer;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Answer, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Answer(members))
            }
        }

        deserializer.deserialize_map(Members)
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

    fn joined(paging: Paging) -> (String, usize) {
        let mut asked = 0;
        let arguments = json!({"include_events_summary": true});
        let answer = all(Asked { arguments, paging: Some(paging) }, |arguments| {
            asked += 1;
            Ok(tool(&arguments))
        });
        (answer.unwrap(), asked)
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
