//! The matches of a page.

use std::ops::ControlFlow;

use trommel::Error;
use trommel_base::text::first;
use trommel_search::{PatternMatch, SearchPosition};

use super::row::MatchRow;
use crate::outputs::job::ResultNotifier;
use crate::outputs::page::{Next, PagedAnswer, Reason, Truncation, push_warning, unit_text};
use crate::text::{chars, json};

/// A match as text, and the position after it.
pub(super) struct Row {
    found: MatchRow,
    text: String,
    chars: usize,
    next: SearchPosition,
}

/// Collects matches until there are enough for a page.
pub(super) struct Collector {
    rows: Vec<Row>,
    limit: usize,
    max_chars: usize,
    /// The number of characters of the rows.
    chars: usize,
    notifier: ResultNotifier,
}

impl Collector {
    pub(super) fn new(limit: usize, max_chars: usize, notifier: ResultNotifier) -> Self {
        Self { rows: Vec::new(), limit, max_chars, chars: 0, notifier }
    }

    /// Receives a match. One more than the limit shows that the answer is partial.
    pub(super) fn receive(&mut self, found: PatternMatch) -> ControlFlow<()> {
        self.notifier.notify();
        let next = found.next;
        let found = MatchRow::from(found);
        let text = json(&found);
        let count = chars(&text);
        self.chars += count;
        self.rows.push(Row { found, text, chars: count, next });
        let is_enough = self.rows.len() > self.limit || self.chars > self.max_chars;
        if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Returns the reason why the search was stopped.
    pub(super) fn end(&self) -> Reason {
        if self.rows.len() > self.limit { Reason::Limit } else { Reason::MaxChars }
    }

    /// Returns the reason why an answer is partial after an error. `None` if there is nothing to
    /// answer, or the error is another one.
    pub(super) fn end_of_error(&self, error: &Error, is_out_of_time: bool) -> Option<Reason> {
        let Error::Read { error, .. } = error else { return None };
        if self.rows.is_empty() {
            None
        } else if error.is_cancelled() {
            is_out_of_time.then_some(Reason::Time)
        } else {
            error.is_syntax().then_some(Reason::Damage)
        }
    }

    pub(super) fn rows(mut self) -> Vec<Row> {
        self.rows.truncate(self.limit);
        self.rows
    }
}

/// `{"matches":[…]}`
pub(super) struct Matches<'a> {
    pub(super) rows: Vec<Row>,
    /// The reason why the search ended early, if it did.
    pub(super) end: Option<Reason>,
    /// Encodes a position as a cursor.
    pub(super) cursor: &'a dyn Fn(SearchPosition) -> String,
    pub(super) warning: Warning,
}

/// The warnings of an answer.
pub(super) struct Warning {
    /// The warning that the output has records that are not JSON.
    pub(super) damaged: Option<String>,
    /// The warning of an answer without matches.
    pub(super) of_none: Option<&'static str>,
}

impl Matches<'_> {
    fn truncation(&self, shown: usize) -> Option<Truncation> {
        let is_all = shown == self.rows.len();
        let reason = if is_all { self.end? } else { Reason::MaxChars };
        // Nothing can be read after damage.
        let is_end = is_all && reason == Reason::Damage;
        let last = if is_end { None } else { shown.checked_sub(1).and_then(|last| self.rows.get(last)) };
        let next = last.map(|row| Next::Cursor((self.cursor)(row.next)));
        Some(Truncation { reason, returned: shown as u64, next })
    }
}

impl PagedAnswer for Matches<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn min_chars(&self, unit: usize) -> usize {
        self.rows[unit].chars
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let rows = self.rows[..shown].iter().enumerate();
        let rows: Vec<&str> = rows.map(|(at, row)| unit_text(at, &row.text, first)).collect();
        let mut out = format!(r#"{{"matches":[{}]"#, rows.join(","));
        if let Some(truncation) = self.truncation(shown) {
            truncation.push(&mut out);
        }
        let of_none = if self.rows.is_empty() { self.warning.of_none } else { None };
        push_warning(self.warning.damaged.as_deref().or(of_none), &mut out);
        out.push('}');
        out
    }

    /// Drops the lines around the match, then more and more of its text, and then its path.
    fn stand_in(&self, max_chars: usize) -> Option<String> {
        let row = MatchRow {
            is_truncated: true,
            before: Vec::new(),
            after: Vec::new(),
            ..self.rows.first()?.found.clone()
        };
        let cuts =
            std::iter::successors(Some(chars(&row.text)), |length| (*length > 0).then_some(length / 2));
        let with_path = cuts.map(|length| MatchRow { text: cut(&row.text, length), ..row.clone() });
        let without = MatchRow { path: None, text: String::new(), ..row.clone() };
        with_path.chain([without]).map(|row| json(&row)).find(|text| chars(text) <= max_chars)
    }
}

/// Returns the first characters of a text, with an ellipsis if it is longer.
fn cut(text: &str, length: usize) -> String {
    let start = first(text, length);
    if start.len() < text.len() { format!("{start}…") } else { start.to_owned() }
}
