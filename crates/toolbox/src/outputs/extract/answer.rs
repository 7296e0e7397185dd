//! The answer: as much of the document as fits on a page.

use trommel_hints::UnmatchedQuery as HintQuery;

use super::collect::{CollectOptions, Collector, Part};
use super::document::Document;
use super::request::{Path, Request, Start};
use crate::outputs::cursor::Binding;
use crate::outputs::item::Item;
use crate::outputs::page::{Next, PagedAnswer, Reason, Truncation, push_warning, unit_text};

/// An answer that can be cut and continued.
pub(super) struct Answer<'a> {
    request: &'a Request<'a>,
    binding: &'a Binding,
    start: Start,
    units: Vec<Unit>,
    /// For each path, true if its single value is written without an array.
    bare: Vec<bool>,
    /// The reason why more values may follow the units.
    end: Option<Reason>,
    pub(super) warning: Option<String>,
}

/// A value, or the default of a path without values.
struct Unit {
    path: usize,
    /// The index of the value among those of its path.
    number: u64,
    /// `None` in a flat answer, for a path without values and without a default.
    item: Option<Item>,
    location: Option<String>,
    record: Option<u64>,
    missing: bool,
}

impl<'a> Answer<'a> {
    pub(super) fn new(
        request: &'a Request<'a>,
        binding: &'a Binding,
        start: Start,
        collector: Collector,
        end: Option<Reason>,
    ) -> Self {
        let mut answer = Self {
            request,
            binding,
            start,
            units: Vec::new(),
            bare: vec![false; request.paths.len()],
            end,
            warning: None,
        };
        let options = collector.options();
        for part in collector.parts {
            if answer.add(part, options) {
                break;
            }
        }
        answer
    }

    /// Adds the values of a path. Returns true if the path may have more values, so that no other
    /// path may follow on this page.
    fn add(&mut self, part: Part, options: CollectOptions) -> bool {
        let Part { path, skip, seen, values, more } = part;
        let requested = &self.request.paths[path];
        let singular = requested.query.is_singular() && !options.records;
        self.bare[path] = singular && seen <= 1 && !more;
        let known = self.units.len();
        self.units.extend((skip..).zip(values).map(|(number, value)| Unit {
            path,
            number,
            item: Some(value.item),
            location: value.location,
            record: value.record,
            missing: false,
        }));
        if more {
            self.end = Some(Reason::MaxChars);
            return true;
        }
        match self.end {
            // A singular path selects at most one value, so it is complete.
            Some(Reason::Time) => return !(singular && self.units.len() > known),
            Some(_) => return false,
            None => {}
        }
        // On a later page of the same path, the earlier pages already had its values.
        if seen == 0 && skip == 0 {
            let default = match (&self.request.default, self.request.shape.is_flat()) {
                (Some(default), _) => Some(default.clone()),
                (None, true) => None,
                (None, false) => Some("null".to_owned()),
            };
            let item = default.map(|default| Item::of_text(default, options.max_chars, requested.text));
            self.units.push(Unit { path, number: 0, item, location: None, record: None, missing: true });
        }
        false
    }

    /// Returns the paths that select nothing.
    pub(super) fn missing(&self) -> Vec<HintQuery<'a>> {
        let missing = self.units.iter().filter(|unit| unit.missing);
        let paths = missing.map(|unit| &self.request.paths[unit.path]);
        paths.map(Path::hint_query).collect()
    }

    fn truncation(&self, shown: usize, marked: bool) -> Option<Truncation> {
        let units = &self.units[..shown];
        let returned = units.iter().filter(|unit| !unit.missing).count() as u64;
        let next = match (self.units.get(shown), units.last()) {
            (Some(next), _) => [next.path as u64, next.number],
            (None, Some(last)) => [last.path as u64, last.number + 1],
            (None, None) => [self.start.path as u64, self.start.skip],
        };
        let next = Some(Next::Cursor(self.binding.cursor(&next)));
        let marked = marked || units.iter().any(|unit| unit.item.as_ref().is_some_and(Item::is_large));
        match self.end {
            _ if shown < self.units.len() => Some(Truncation { reason: Reason::MaxChars, returned, next }),
            Some(Reason::Damage) => Some(Truncation { reason: Reason::Damage, returned, next: None }),
            Some(reason) => Some(Truncation { reason, returned, next }),
            None if marked => Some(Truncation { reason: Reason::MaxChars, returned, next: None }),
            None => None,
        }
    }

    fn document(&self) -> Document {
        Document::new(self.request.shape)
    }

    fn path(&self, unit: &Unit) -> &'a str {
        self.request.paths[unit.path].label
    }

    /// Writes the values of one path.
    fn push_group(&self, group: &[Unit], first: Option<&str>, out: &mut String) {
        let [unit, ..] = group else { return };
        let is_array = !unit.missing && !self.bare[unit.path];
        self.document().begin_group(self.path(unit), is_array, out);
        for (at, unit) in group.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            out.push_str(unit_text(at, unit.text(), first));
        }
        self.document().end_group(is_array, out);
    }

    fn push_values(&self, units: &[Unit], first: Option<&str>, out: &mut String) {
        if !self.request.shape.is_flat() {
            let groups = units.chunk_by(|one, other| one.path == other.path);
            for (at, group) in groups.enumerate() {
                if at > 0 {
                    out.push(',');
                }
                self.push_group(group, if at == 0 { first } else { None }, out);
            }
            return;
        }
        let shown = units.iter().enumerate().filter(|(_, unit)| unit.item.is_some());
        for (number, (at, unit)) in shown.enumerate() {
            if number > 0 {
                out.push(',');
            }
            self.document().begin_item(self.path(unit), unit.location.as_deref(), unit.record, out);
            out.push_str(unit_text(at, unit.text(), first));
            self.document().end_item(out);
        }
    }
}

impl Unit {
    fn text(&self) -> &str {
        self.item.as_ref().map_or("", Item::text)
    }
}

impl PagedAnswer for Answer<'_> {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn min_chars(&self, unit: usize) -> usize {
        self.units[unit].item.as_ref().map_or(0, Item::chars)
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let units = &self.units[..shown];
        let mut out = String::new();
        self.document().begin(&mut out);
        self.push_values(units, first, &mut out);
        let missing = units.iter().filter(|unit| unit.missing);
        self.document().end(missing.map(|unit| self.path(unit)), &mut out);
        if let Some(cut) = self.truncation(shown, first.is_some()) {
            cut.push(&mut out);
        }
        push_warning(self.warning.as_deref(), &mut out);
        out.push('}');
        out
    }

    fn stand_in(&self, max_chars: usize) -> Option<String> {
        self.units.first()?.item.as_ref()?.mark(max_chars)
    }
}
