//! How much of an answer fits.
//!
//! An answer is a row of units (values, items, rows, members). A page shows as many as fit, from the first on, each of them
//! whole, and then says so: `"truncated":{"reason":…,"returned":…,"next":…}`. Only when not even the first one fits, a mark
//! stands in for it.

use std::fmt::Write;

use super::text::{chars, push_string};

/// Why an answer is not all there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl Reason {
    fn name(self) -> &'static str {
        match self {
            Self::MaxChars => "max_chars",
            Self::Limit => "limit",
            Self::Time => "time",
            Self::Damage => "damage",
        }
    }
}

/// What a partial answer says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) reason: Reason,
    /// How many units there are on the page.
    pub(crate) returned: u64,
    /// Where it goes on; nothing where there is no more to come.
    pub(crate) next: Option<Next>,
}

/// What to pass to the same tool to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// As `cursor`.
    Cursor(String),
    /// A number that the tool's description explains.
    Number(u64),
}

impl Cut {
    /// Appends `,"truncated":{…}`.
    pub(crate) fn push(&self, out: &mut String) {
        // Writing to a string cannot fail.
        let _ =
            write!(out, r#","truncated":{{"reason":"{}","returned":{}"#, self.reason.name(), self.returned);
        match &self.next {
            Some(Next::Cursor(cursor)) => {
                out.push_str(r#","next":"#);
                push_string(cursor, out);
            }
            Some(Next::Number(number)) => {
                let _ = write!(out, r#","next":{number}"#);
            }
            None => {}
        }
        out.push('}');
    }
}

/// An answer that may have to be cut.
pub(crate) trait Sheet {
    /// How many units there are.
    fn len(&self) -> usize;

    /// Characters that a unit takes at least.
    fn least(&self, unit: usize) -> usize;

    /// The text with the first so many units. `first` is what stands in for the first of them, where it is given.
    fn text(&self, shown: usize, first: Option<&str>) -> String;

    /// What can stand in for the first unit, in at most so many characters.
    fn stand_in(&self, room: usize) -> Option<String>;
}

/// Not even the first unit fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooSmall {
    /// With so many characters it would.
    pub(crate) needed: usize,
}

/// The text of an answer with as many units as `most` characters hold.
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

/// As many units as `most` characters hold, if that is any; nothing, too, where there are none and what stands around them
/// is too long.
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
    // More units make a longer text, so that the most that fit can be closed in on.
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
            let units: Vec<&str> =
                units.map(|(at, unit)| first.filter(|_| at == 0).unwrap_or(unit)).collect();
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
