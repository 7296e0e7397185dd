//! How much of an answer fits.
//!
//! An answer is a row of units (values, items, rows, members). A page shows as many as fit, from
//! the first on, each of them whole, and then says so:
//! `"truncated":{"reason":…,"returned":…,"next":…}`. Only if not even the first one fits, a mark
//! stands in for it.

use serde::Serialize;

use crate::text::{chars, json};

/// Characters of an answer, unless the call says otherwise.
pub(crate) const DEFAULT_CHARS: usize = 30_000;

/// Characters of a page of `tool_outputs.read`, unless the call says otherwise.
pub(crate) const READ_CHARS: usize = 8_000;

/// The fewest characters that can be asked for.
pub(crate) const LEAST_CHARS: usize = 200;

/// The most characters that can be asked for.
pub(crate) const MAX_CHARS: usize = 100_000;

/// Why an answer is partial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    /// It would be longer than `max_chars`.
    MaxChars,
    /// As many were asked for.
    Limit,
    /// There was no time for more.
    Time,
    /// The payload is not what was stored.
    Damage,
}

/// What a partial answer says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Cut {
    pub(crate) reason: Reason,
    /// The number of units on the page.
    pub(crate) returned: u64,
    /// Where it continues; nothing if there is no more to come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<Next>,
}

/// The argument with which the same tool continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Next {
    /// As `cursor`.
    Cursor(String),
    /// A number that the tool's description explains.
    Number(u64),
}

impl Cut {
    /// Appends `,"truncated":{…}`.
    pub(crate) fn push(&self, out: &mut String) {
        out.push_str(r#","truncated":"#);
        out.push_str(&json(self));
    }
}

/// Appends `,"warning":…`, if there is one.
pub(crate) fn push_warning(warning: Option<&str>, out: &mut String) {
    if let Some(warning) = warning {
        out.push_str(r#","warning":"#);
        crate::text::push_string(warning, out);
    }
}

/// An answer that may have to be cut.
pub(crate) trait Sheet {
    /// The number of units.
    fn len(&self) -> usize;

    /// A lower bound of the characters that a unit takes.
    fn least(&self, unit: usize) -> usize;

    /// The text with the first `shown` units. `first` stands in for the first of them, where it is
    /// given.
    fn text(&self, shown: usize, first: Option<&str>) -> String;

    /// A stand-in for the first unit, of at most `room` characters.
    fn stand_in(&self, room: usize) -> Option<String>;
}

/// The text of the unit at a position: the stand-in, if it is the first one and has one.
pub(crate) fn unit_text<'t>(at: usize, own: &'t str, first: Option<&'t str>) -> &'t str {
    match first {
        Some(first) if at == 0 => first,
        _ => own,
    }
}

/// Not even the first unit fits on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooSmall {
    /// Characters with which it would.
    pub needed: usize,
}

/// Returns the text of an answer with as many units as `most` characters hold.
pub(crate) fn fit(sheet: &dyn Sheet, most: usize) -> Result<String, TooSmall> {
    if let Some(shown) = fitting(sheet, most) {
        return Ok(sheet.text(shown, None));
    }
    if sheet.len() == 0 {
        return Err(TooSmall { needed: chars(&sheet.text(0, None)) });
    }
    let around = chars(&sheet.text(1, Some("")));
    let mark = most.checked_sub(around).and_then(|room| sheet.stand_in(room));
    match mark {
        Some(mark) => Ok(sheet.text(1, Some(&mark))),
        None => Err(TooSmall { needed: needed(sheet, around) }),
    }
}

/// Returns the number of units that `most` characters hold, if that is any. Returns nothing, too,
/// if there are none and the text around them is too long.
pub(crate) fn fitting(sheet: &dyn Sheet, most: usize) -> Option<usize> {
    let fits = |shown: usize| chars(&sheet.text(shown, None)) <= most;
    let mut sum = 0;
    let may_fit = |&unit: &usize| {
        sum += sheet.least(unit);
        sum <= most
    };
    let at_most = (0..sheet.len()).take_while(may_fit).count();
    if at_most == sheet.len() && fits(at_most) {
        return Some(at_most);
    }
    // More units make a longer text, so that bisection finds the most that fit.
    let (mut shown, mut too_many) = (0, at_most.min(sheet.len().saturating_sub(1)) + 1);
    while shown + 1 < too_many {
        let middle = shown.midpoint(too_many);
        if fits(middle) { shown = middle } else { too_many = middle }
    }
    (shown > 0).then_some(shown)
}

/// Characters that a page with one unit takes.
fn needed(sheet: &dyn Sheet, around: usize) -> usize {
    let whole = chars(&sheet.text(1, None));
    let mark = (0..whole.saturating_sub(around)).find_map(|room| sheet.stand_in(room));
    mark.map_or(whole, |mark| around + chars(&mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Row(Vec<String>, Option<&'static str>);

    impl Sheet for Row {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn least(&self, unit: usize) -> usize {
            chars(&self.0[unit])
        }

        fn text(&self, shown: usize, first: Option<&str>) -> String {
            let units = self.0[..shown].iter().enumerate();
            let units: Vec<&str> = units.map(|(at, unit)| unit_text(at, unit, first)).collect();
            let mut text = format!("[{}]", units.join(","));
            if shown < self.0.len() {
                let next = Some(Next::Number(shown as u64));
                Cut { reason: Reason::MaxChars, returned: shown as u64, next }.push(&mut text);
            }
            text
        }

        fn stand_in(&self, room: usize) -> Option<String> {
            self.1.filter(|mark| chars(mark) <= room).map(str::to_owned)
        }
    }

    #[test]
    fn cuts_say_what_was_cut() {
        let mut text = String::new();
        let next = Some(Next::Cursor("1ab".into()));
        Cut { reason: Reason::Time, returned: 3, next }.push(&mut text);
        Cut { reason: Reason::Damage, returned: 0, next: None }.push(&mut text);
        let second = r#","truncated":{"reason":"damage","returned":0}"#;
        assert_eq!(text, format!(r#","truncated":{{"reason":"time","returned":3,"next":"1ab"}}{second}"#));
    }

    #[test]
    fn what_does_not_fit_says_what_it_needs() {
        let row = Row(vec!["x".repeat(100), "y".into()], Some("<large>"));
        let around = chars(&row.text(1, Some("")));
        assert_eq!(fit(&row, around + 6), Err(TooSmall { needed: around + 7 }));
        assert!(fit(&row, around + 7).unwrap().starts_with("[<large>]"));
        let without = Row(row.0, None);
        assert_eq!(fit(&without, 20), Err(TooSmall { needed: around + 100 }));
        assert_eq!(fit(&Row(Vec::new(), None), 2).unwrap(), "[]");
    }

    proptest! {
        #[test]
        fn pages_are_as_full_as_can_be(lengths in prop::collection::vec(1..40_usize, 0..60), most in 80..400_usize) {
            let row = Row(lengths.iter().map(|&length| "ü".repeat(length)).collect(), Some("<large>"));
            let text = fit(&row, most).unwrap();
            prop_assert!(chars(&text) <= most);
            let best = (0..=lengths.len()).rev().find(|&shown| chars(&row.text(shown, None)) <= most);
            if let Some(best) = best.filter(|&best| best > 0 || lengths.is_empty()) {
                prop_assert_eq!(text, row.text(best, None));
            }
        }
    }
}
