//! An answer as JSON with verbatim values, and its cutting to a number of characters.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use trommel_tool::Failure;

use super::failures::refused;

/// The maximum length of the member `truncated` in characters.
const MAX_TRUNCATED_CHARS: usize = 100;

/// The length limit of an answer, and the largest one that a call can request, in characters.
#[derive(Clone, Copy, Debug)]
pub(super) struct CharBudget {
    pub(super) chars: usize,
    pub(super) max_chars: usize,
}

impl CharBudget {
    /// No limit, for a single row that is returned whole. It is half of the maximum so that sums do
    /// not overflow.
    pub(super) const UNLIMITED: Self = Self { chars: usize::MAX / 2, max_chars: usize::MAX / 2 };

    fn too_long(self, chars: usize) -> Failure {
        let advice = if chars <= self.max_chars {
            format!("pass `max_chars` {chars} or more")
        } else {
            "request less at once".to_owned()
        };
        let given = self.chars;
        refused(format!("the answer takes {chars} characters, and `max_chars` is {given}: {advice}"))
    }
}

/// The members of an answer, in order.
#[derive(Debug, Serialize)]
pub(super) struct Answer(IndexMap<String, Box<RawValue>>);

impl Answer {
    /// Creates an answer from a value that serializes as an object.
    pub(super) fn of(value: &impl Serialize) -> Result<Self, Failure> {
        let json = serde_json::to_string(value).map_err(|error| Failure::raised(&error))?;
        members(&json).map(Self)
    }

    fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.get(name).map(|value| &**value)
    }

    /// Sets a member. An existing one keeps its position.
    fn set(&mut self, name: &str, value: Box<RawValue>) {
        self.0.insert(name.to_owned(), value);
    }

    fn rows(&self, name: &str) -> Result<Vec<Box<RawValue>>, Failure> {
        let rows = self.get(name).map_or("[]", RawValue::get);
        serde_json::from_str(rows).map_err(|error| Failure::raised(&error))
    }

    /// Appends problems to those of the answer.
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

    /// Replaces the object `name` by the array that is its member `rows`. Its other members become
    /// the object `others`.
    pub(super) fn lift(&mut self, name: &str, rows: &str, others: &str) -> Result<(), Failure> {
        let Some(object) = self.get(name) else { return Ok(()) };
        let mut inner = Self(members(object.get())?);
        let lifted = inner.rows(rows)?;
        inner.0.shift_remove(rows);
        self.set(name, raw(&lifted)?);
        self.set(others, raw(&inner)?);
        Ok(())
    }

    /// Removes the first `count` rows, if the answer has any.
    pub(super) fn skip_rows(&mut self, name: &str, count: u64) -> Result<(), Failure> {
        if self.get(name).is_none() {
            return Ok(());
        }
        let mut rows = self.rows(name)?;
        rows.drain(..usize::try_from(count).map_or(rows.len(), |count| count.min(rows.len())));
        self.set(name, raw(&rows)?);
        Ok(())
    }

    /// Returns the JSON of an answer that cannot be cut.
    pub(super) fn whole(&self, budget: CharBudget) -> Result<String, Failure> {
        let json = raw(self)?;
        let chars = json.get().chars().count();
        if chars <= budget.chars { Ok(json.get().to_owned()) } else { Err(budget.too_long(chars)) }
    }

    /// Returns the JSON of an answer with as many rows as fit.
    pub(super) fn paged(mut self, name: &str, offset: u64, budget: CharBudget) -> Result<String, Failure> {
        let rows = self.rows(name)?;
        let length = |row: &RawValue| row.get().chars().count() + 1;
        let around = length(&raw(&self)?) - self.get(name).map_or(0, length);
        // Space for `truncated` is reserved up front, because its presence depends on the number of
        // rows.
        let mut left = budget.chars.saturating_sub(around + MAX_TRUNCATED_CHARS);
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
            return Err(budget.too_long(around + MAX_TRUNCATED_CHARS + length(first)));
        }
        let reason = if shown < rows.len() { Some("max_chars") } else { self.has_more()?.then_some("limit") };
        if let Some(reason) = reason {
            let next = offset + shown as u64;
            self.set(name, raw(&&rows[..shown])?);
            self.set("truncated", raw(&json!({"reason": reason, "returned": shown, "next": next}))?);
            self.set_has_more()?;
        }
        self.whole(budget)
    }

    /// True if more rows follow the ones of the answer.
    fn has_more(&self) -> Result<bool, Failure> {
        let page = self.page()?;
        let said = page.as_ref().unwrap_or(self).get("has_more");
        Ok(said.is_some_and(|said| said.get() == "true"))
    }

    /// Sets `has_more`, if the answer has such a member.
    fn set_has_more(&mut self) -> Result<(), Failure> {
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

    /// Returns the object that describes lifted rows, if there is one.
    fn page(&self) -> Result<Option<Self>, Failure> {
        self.get(PAGE).map(|page| members(page.get()).map(Self)).transpose()
    }
}

/// The member that reports problems.
const PROBLEMS: &str = "problems";

/// The member that describes the messages lifted out of a transcript.
pub(super) const PAGE: &str = "transcript_page";

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, Failure> {
    to_raw_value(value).map_err(|error| Failure::raised(&error))
}

/// Parses the members of a JSON object.
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

    fn budget(chars: usize) -> CharBudget {
        CharBudget { chars, max_chars: 100_000 }
    }

    #[test]
    fn rows_that_do_not_fit_are_omitted_from_the_end() {
        let rows =
            (0..50).map(|row| format!("{{\"number\":{row}.100000000000000000001}}")).collect::<Vec<_>>();
        let json = format!("{{\"rows\":[{}],\"has_more\":false,\"other\":1}}", rows.join(","));
        for max_chars in [200, 300, 1_000, 1_500] {
            let fitted = answer(&json).paged("rows", 7, budget(max_chars)).unwrap();
            let value: Value = serde_json::from_str(&fitted).unwrap();
            let shown = value["rows"].as_array().unwrap().len();
            assert!(fitted.len() <= max_chars && shown > 0 && shown < 50, "{max_chars}");
            assert_eq!(value["truncated"]["next"], 7 + shown);
            assert_eq!(
                (&value["truncated"]["reason"], &value["has_more"]),
                (&json!("max_chars"), &json!(true))
            );
            assert!(fitted.contains("0.100000000000000000001"), "numbers are verbatim");
            assert!(answer(&json).paged("rows", 7, budget(max_chars + 34)).unwrap().len() > fitted.len());
        }
        assert_eq!(answer(&json).paged("rows", 0, budget(10_000)).unwrap(), json);
        let error = answer(&json).paged("rows", 0, budget(100)).unwrap_err();
        assert!(error.message.contains("pass `max_chars`"), "{}", error.message);
    }

    #[test]
    fn rows_are_lifted_out_of_an_object() {
        let mut lifted = answer(r#"{"a":1,"t":{"m":[1,2],"n":2,"has_more":true}}"#);
        lifted.lift("t", "m", PAGE).unwrap();
        let json = lifted.paged("t", 3, budget(1_000)).unwrap();
        assert_eq!(
            json,
            r#"{"a":1,"t":[1,2],"transcript_page":{"n":2,"has_more":true},"truncated":{"reason":"limit","returned":2,"next":5}}"#
        );
    }

    #[test]
    fn skips_first_rows() {
        let mut answer = answer(r#"{"rows":[1,2,3]}"#);
        answer.skip_rows("rows", 2).unwrap();
        answer.skip_rows("others", 2).unwrap();
        assert_eq!(answer.paged("rows", 2, budget(1_000)).unwrap(), r#"{"rows":[3]}"#);
    }
}
