//! Fits an answer into a number of characters.
//!
//! An answer is a sequence of units: values, items, rows, or members. A page has the first units
//! that fit, each of them whole. If some are left out, it ends with
//! `"truncated":{"reason":…,"returned":…,"next":…}`. If not even the first unit fits, a mark
//! replaces it.

use serde::Serialize;

use crate::text::{chars, json};

/// The default length of an answer in characters.
pub(crate) const DEFAULT_CHARS: usize = 30_000;

/// The default length of a page of `tool_outputs.read` in characters.
pub(crate) const READ_CHARS: usize = 8_000;

/// The smallest `max_chars` of a call.
pub(crate) const MIN_CHARS: usize = 200;

/// The largest `max_chars` of a call.
pub(crate) const MAX_CHARS: usize = 100_000;

/// The reason why an answer is partial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    /// The answer would exceed `max_chars`.
    MaxChars,
    /// The limit of the call was reached.
    Limit,
    /// The call ran out of time.
    Time,
    /// The payload is damaged.
    Damage,
}

/// The `truncated` member of a partial answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Truncation {
    pub(crate) reason: Reason,
    /// The number of units on the page.
    pub(crate) returned: u64,
    /// The argument that continues the answer. `None` if nothing follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<Next>,
}

/// The argument that continues an answer of the same tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Next {
    /// The value of `cursor`.
    Cursor(String),
    /// A number that the tool's description explains.
    Number(u64),
}

impl Truncation {
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

/// An answer that is cut to fit a page.
pub(crate) trait PagedAnswer {
    /// Returns the number of units.
    fn len(&self) -> usize;

    /// Returns a lower bound on the characters that a unit takes.
    fn min_chars(&self, unit: usize) -> usize;

    /// Returns the text with the first `shown` units. If `first` is given, it replaces the first
    /// unit.
    fn text(&self, shown: usize, first: Option<&str>) -> String;

    /// Returns a replacement for the first unit of at most `max_chars` characters.
    fn stand_in(&self, max_chars: usize) -> Option<String>;
}

/// Returns the text of the unit at an index: the replacement for the first unit, if there is one.
pub(crate) fn unit_text<'t>(at: usize, own: &'t str, first: Option<&'t str>) -> &'t str {
    match first {
        Some(first) if at == 0 => first,
        _ => own,
    }
}

/// The error of a page that is too small for even one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageTooSmall {
    /// The number of characters that would be enough.
    pub needed: usize,
}

/// Returns the text of an answer with as many units as fit into `max_chars` characters.
pub(crate) fn fit(answer: &dyn PagedAnswer, max_chars: usize) -> Result<String, PageTooSmall> {
    if let Some(shown) = fitting(answer, max_chars) {
        return Ok(answer.text(shown, None));
    }
    if answer.len() == 0 {
        return Err(PageTooSmall { needed: chars(&answer.text(0, None)) });
    }
    let around = chars(&answer.text(1, Some("")));
    let mark = max_chars.checked_sub(around).and_then(|max_chars| answer.stand_in(max_chars));
    match mark {
        Some(mark) => Ok(answer.text(1, Some(&mark))),
        None => Err(PageTooSmall { needed: needed(answer, around) }),
    }
}

/// Returns the number of units that fit into `max_chars` characters. Returns `None` if no unit
/// fits, or if the text around an empty answer is too long.
pub(crate) fn fitting(answer: &dyn PagedAnswer, max_chars: usize) -> Option<usize> {
    let fits = |shown: usize| chars(&answer.text(shown, None)) <= max_chars;
    let mut sum = 0;
    let may_fit = |&unit: &usize| {
        sum += answer.min_chars(unit);
        sum <= max_chars
    };
    // Lower bounds rule out most units without writing the text once.
    let at_most = (0..answer.len()).take_while(may_fit).count();
    // The complete answer has no `truncated`, so it may be shorter than one with fewer units.
    if at_most == answer.len() && fits(at_most) {
        return Some(at_most);
    }
    // The text grows with the number of units, so bisection finds the largest number that fits.
    let (mut shown, mut too_many) = (0, at_most.min(answer.len().saturating_sub(1)) + 1);
    while shown + 1 < too_many {
        let middle = shown.midpoint(too_many);
        if fits(middle) { shown = middle } else { too_many = middle }
    }
    (shown > 0).then_some(shown)
}

/// Returns the number of characters that a page with one unit takes.
fn needed(answer: &dyn PagedAnswer, around: usize) -> usize {
    // The mark is tried at every length, because its shortest form depends on the unit. A whole
    // unit may be shorter than its mark.
    let whole = chars(&answer.text(1, None));
    let mark = (0..whole.saturating_sub(around)).find_map(|max_chars| answer.stand_in(max_chars));
    mark.map_or(whole, |mark| around + chars(&mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Row(Vec<String>, Option<&'static str>);

    impl PagedAnswer for Row {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn min_chars(&self, unit: usize) -> usize {
            chars(&self.0[unit])
        }

        fn text(&self, shown: usize, first: Option<&str>) -> String {
            let units = self.0[..shown].iter().enumerate();
            let units: Vec<&str> = units.map(|(at, unit)| unit_text(at, unit, first)).collect();
            let mut text = format!("[{}]", units.join(","));
            if shown < self.0.len() {
                let next = Some(Next::Number(shown as u64));
                Truncation { reason: Reason::MaxChars, returned: shown as u64, next }.push(&mut text);
            }
            text
        }

        fn stand_in(&self, max_chars: usize) -> Option<String> {
            self.1.filter(|mark| chars(mark) <= max_chars).map(str::to_owned)
        }
    }

    #[test]
    fn truncations_serialize() {
        let mut text = String::new();
        let next = Some(Next::Cursor("1ab".into()));
        Truncation { reason: Reason::Time, returned: 3, next }.push(&mut text);
        Truncation { reason: Reason::Damage, returned: 0, next: None }.push(&mut text);
        let second = r#","truncated":{"reason":"damage","returned":0}"#;
        assert_eq!(text, format!(r#","truncated":{{"reason":"time","returned":3,"next":"1ab"}}{second}"#));
    }

    #[test]
    fn units_that_do_not_fit_report_the_needed_size() {
        let row = Row(vec!["x".repeat(100), "y".into()], Some("<large>"));
        let around = chars(&row.text(1, Some("")));
        assert_eq!(fit(&row, around + 6), Err(PageTooSmall { needed: around + 7 }));
        assert!(fit(&row, around + 7).unwrap().starts_with("[<large>]"));
        let without = Row(row.0, None);
        assert_eq!(fit(&without, 20), Err(PageTooSmall { needed: around + 100 }));
        assert_eq!(fit(&Row(Vec::new(), None), 2).unwrap(), "[]");
    }

    proptest! {
        #[test]
        fn pages_are_as_full_as_possible(lengths in prop::collection::vec(1..40_usize, 0..60), max_chars in 80..400_usize) {
            let row = Row(lengths.iter().map(|&length| "ü".repeat(length)).collect(), Some("<large>"));
            let text = fit(&row, max_chars).unwrap();
            prop_assert!(chars(&text) <= max_chars);
            let best = (0..=lengths.len()).rev().find(|&shown| chars(&row.text(shown, None)) <= max_chars);
            if let Some(best) = best.filter(|&best| best > 0 || lengths.is_empty()) {
                prop_assert_eq!(text, row.text(best, None));
            }
        }
    }
}
