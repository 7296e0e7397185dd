//! An answer as JSON whose values are verbatim, and how it is made to fit.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use trommel_tool::Failure;

use super::failures::refused;

/// Characters that `truncated` takes at most.
const TRUNCATED: usize = 100;

/// Characters that an answer may have, and that could be asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) chars: usize,
    pub(super) most: usize,
}

impl Room {
    /// For a row that is whole, however long it is. Room that is added to must not overflow.
    pub(super) const BOUNDLESS: Self = Self { chars: usize::MAX / 2, most: usize::MAX / 2 };

    fn too_long(self, chars: usize) -> Failure {
        let advice = if chars <= self.most {
            format!("pass `max_chars` {chars} or more")
        } else {
            "ask for less at once".to_owned()
        };
        let given = self.chars;
        refused(format!("the answer takes {chars} characters, and `max_chars` is {given}: {advice}"))
    }
}

/// The members of an answer, in their order.
#[derive(Debug, Serialize)]
pub(super) struct Answer(IndexMap<String, Box<RawValue>>);

impl Answer {
    /// The members of what serializes as an object.
    pub(super) fn of(value: &impl Serialize) -> Result<Self, Failure> {
        let json = serde_json::to_string(value).map_err(|error| Failure::raised(&error))?;
        members(&json).map(Self)
    }

    fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.get(name).map(|value| &**value)
    }

    /// Sets a member, in its place where it has one.
    fn set(&mut self, name: &str, value: Box<RawValue>) {
        self.0.insert(name.to_owned(), value);
    }

    fn rows(&self, name: &str) -> Result<Vec<Box<RawValue>>, Failure> {
        let rows = self.get(name).map_or("[]", RawValue::get);
        serde_json::from_str(rows).map_err(|error| Failure::raised(&error))
    }

    /// Adds to what is said of problems.
    pub(super) fn add_problems(&mut self, problems: &[String]) -> Result<(), Failure> {
        if problems.is_empty() {
            return Ok(());
        }
        let mut all = self.rows(PROBLEMS)?;
        for problem in problems {
            all.push(raw(problem)?);
        }
        self.set(PROBLEMS, raw(&all)?);
        Ok(())
    }

    /// Replaces an object by the rows that are one of its members; the other members become a
    /// member of their own.
    pub(super) fn lift(&mut self, name: &str, rows: &str, others: &str) -> Result<(), Failure> {
        let Some(object) = self.get(name) else { return Ok(()) };
        let mut inner = Self(members(object.get())?);
        let lifted = inner.rows(rows)?;
        inner.0.shift_remove(rows);
        self.set(name, raw(&lifted)?);
        self.set(others, raw(&inner)?);
        Ok(())
    }

    /// Takes away the first rows, where there are any.
    pub(super) fn pass_over(&mut self, name: &str, count: u64) -> Result<(), Failure> {
        if self.get(name).is_none() {
            return Ok(());
        }
        let mut rows = self.rows(name)?;
        rows.drain(..usize::try_from(count).map_or(rows.len(), |count| count.min(rows.len())));
        self.set(name, raw(&rows)?);
        Ok(())
    }

    /// The JSON of an answer that is never cut.
    pub(super) fn whole(&self, room: Room) -> Result<String, Failure> {
        let json = raw(self)?;
        let chars = json.get().chars().count();
        if chars <= room.chars { Ok(json.get().to_owned()) } else { Err(room.too_long(chars)) }
    }

    /// The JSON of an answer with a page of rows: as many as there is room for.
    pub(super) fn paged(mut self, name: &str, offset: u64, room: Room) -> Result<String, Failure> {
        let rows = self.rows(name)?;
        let length = |row: &RawValue| row.get().chars().count() + 1;
        let around = length(&raw(&self)?) - self.get(name).map_or(0, length);
        let mut left = room.chars.saturating_sub(around + TRUNCATED);
        let fitting = rows.iter().take_while(|row| match left.checked_sub(length(row)) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        });
        let shown = fitting.count();
        if shown == 0
            && let Some(first) = rows.first()
        {
            return Err(room.too_long(around + TRUNCATED + length(first)));
        }
        let reason = if shown < rows.len() { Some("max_chars") } else { self.has_more()?.then_some("limit") };
        if let Some(reason) = reason {
            let next = offset + shown as u64;
            self.set(name, raw(&&rows[..shown])?);
            self.set("truncated", raw(&json!({"reason": reason, "returned": shown, "next": next}))?);
            self.say_more()?;
        }
        self.whole(room)
    }

    /// True if there are more rows after these.
    fn has_more(&self) -> Result<bool, Failure> {
        let page = self.page()?;
        let said = page.as_ref().unwrap_or(self).get("has_more");
        Ok(said.is_some_and(|said| said.get() == "true"))
    }

    /// Says that there are more, where an answer says so at all.
    fn say_more(&mut self) -> Result<(), Failure> {
        let Some(mut page) = self.page()? else {
            if self.get("has_more").is_some() {
                self.set("has_more", raw(&true)?);
            }
            return Ok(());
        };
        page.set("has_more", raw(&true)?);
        self.set(PAGE, raw(&page)?);
        Ok(())
    }

    /// What is said of rows in a member of their own.
    fn page(&self) -> Result<Option<Self>, Failure> {
        self.get(PAGE).map(|page| members(page.get()).map(Self)).transpose()
    }
}

/// What could not be done, beside what could.
const PROBLEMS: &str = "problems";

/// What is said of the messages of a transcript that were lifted out of it.
pub(super) const PAGE: &str = "transcript_page";

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, Failure> {
    to_raw_value(value).map_err(|error| Failure::raised(&error))
}

/// The members of a JSON object.
fn members(json: &str) -> Result<IndexMap<String, Box<RawValue>>, Failure> {
    serde_json::from_str(json).map_err(|error| Failure::raised(&error))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn answer(json: &str) -> Answer {
        Answer(members(json).unwrap())
    }

    fn room(chars: usize) -> Room {
        Room { chars, most: 100_000 }
    }

    #[test]
    fn rows_that_do_not_fit_are_left_out_from_the_end() {
        let rows =
            (0..50).map(|row| format!("{{\"number\":{row}.100000000000000000001}}")).collect::<Vec<_>>();
        let json = format!("{{\"rows\":[{}],\"has_more\":false,\"other\":1}}", rows.join(","));
        for most in [200, 300, 1_000, 1_500] {
            let fitted = answer(&json).paged("rows", 7, room(most)).unwrap();
            let value: Value = serde_json::from_str(&fitted).unwrap();
            let shown = value["rows"].as_array().unwrap().len();
            assert!(fitted.len() <= most && shown > 0 && shown < 50, "{most}");
            assert_eq!(value["truncated"]["next"], 7 + shown);
            assert_eq!(
                (&value["truncated"]["reason"], &value["has_more"]),
                (&json!("max_chars"), &json!(true))
            );
            assert!(fitted.contains("0.100000000000000000001"), "numbers stand as they were written");
            assert!(answer(&json).paged("rows", 7, room(most + 34)).unwrap().len() > fitted.len());
        }
        assert_eq!(answer(&json).paged("rows", 0, room(10_000)).unwrap(), json);
        let error = answer(&json).paged("rows", 0, room(100)).unwrap_err();
        assert!(error.message.contains("pass `max_chars`"), "{}", error.message);
    }

    #[test]
    fn rows_are_lifted_out_of_an_object() {
        let mut lifted = answer(r#"{"a":1,"t":{"m":[1,2],"n":2,"has_more":true}}"#);
        lifted.lift("t", "m", PAGE).unwrap();
        let json = lifted.paged("t", 3, room(1_000)).unwrap();
        assert_eq!(
            json,
            r#"{"a":1,"t":[1,2],"transcript_page":{"n":2,"has_more":true},"truncated":{"reason":"limit","returned":2,"next":5}}"#
        );
    }

    #[test]
    fn first_rows_are_passed_over() {
        let mut answer = answer(r#"{"rows":[1,2,3]}"#);
        answer.pass_over("rows", 2).unwrap();
        answer.pass_over("others", 2).unwrap();
        assert_eq!(answer.paged("rows", 2, room(1_000)).unwrap(), r#"{"rows":[3]}"#);
    }
}
