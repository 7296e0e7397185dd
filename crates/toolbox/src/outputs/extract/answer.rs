//! `{"extracted": …, "missing_paths": […]}`, as much of it as fits.

use super::collect::{Collector, Part};
use super::{Request, Start};
use crate::outputs::Questioned;
use crate::outputs::cursor::Binding;
use crate::outputs::item::Item;
use crate::outputs::page::{Cut, Next, Reason, Sheet};
use crate::outputs::text::push_string;

/// What an answer is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `{PATH: values, …}`
    ByPath,
    /// `[{"path": PATH, "value": values}, …]`
    WithPaths,
    /// `[value, …]`
    Flat,
    /// `[{"path": PATH, "location": …, "value": …}, …]`
    FlatWithPaths,
}

impl Shape {
    pub(super) fn of(flatten: bool, include_paths: bool) -> Self {
        match (flatten, include_paths) {
            (false, false) => Self::ByPath,
            (false, true) => Self::WithPaths,
            (true, false) => Self::Flat,
            (true, true) => Self::FlatWithPaths,
        }
    }

    pub(super) fn is_flat(self) -> bool {
        matches!(self, Self::Flat | Self::FlatWithPaths)
    }

    pub(super) fn has_paths(self) -> bool {
        matches!(self, Self::WithPaths | Self::FlatWithPaths)
    }
}

/// An answer, and where it goes on.
pub(super) struct Answer<'a> {
    request: &'a Request<'a>,
    binding: &'a Binding,
    start: Start,
    units: Vec<Unit>,
    /// For each path, whether its only value stands by itself, not in an array.
    bare: Vec<bool>,
    /// Why there may be more than the units.
    end: Option<Reason>,
    pub(super) warning: Option<String>,
}

/// A value, or what stands for a path without any.
struct Unit {
    path: usize,
    /// Its number among those of its path.
    number: u64,
    /// Nothing in a flat answer for a path without a value and without a default.
    item: Option<Item>,
    location: Option<String>,
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
        let (most, stream) = (collector.most(), collector.is_stream());
        for part in collector.parts {
            if answer.add(part, most, stream) {
                break;
            }
        }
        answer
    }

    /// Adds what was found for a path. `true` when there may be more of it, so that nothing can follow.
    fn add(&mut self, part: Part, most: usize, stream: bool) -> bool {
        let Part { path, skip, seen, values, more } = part;
        let Some(asked) = self.request.paths.get(path) else { return true };
        let singular = asked.query.is_singular() && !stream;
        if let Some(bare) = self.bare.get_mut(path) {
            *bare = singular && seen <= 1 && !more;
        }
        let known = self.units.len();
        self.units.extend((skip..).zip(values).map(|(number, value)| Unit {
            path,
            number,
            item: Some(value.item),
            location: value.location,
            missing: false,
        }));
        if more {
            self.end = Some(Reason::MaxChars);
            return true;
        }
        match self.end {
            // One value is all that a singular path can have.
            Some(Reason::Time) => return !(singular && self.units.len() > known),
            Some(_) => return false,
            None => {}
        }
        if seen == 0 && skip == 0 {
            let default = match (&self.request.default, self.request.shape.is_flat()) {
                (Some(default), _) => Some(default.clone()),
                (None, true) => None,
                (None, false) => Some("null".to_owned()),
            };
            let item = default.map(|default| Item::of_text(default, most, asked.text));
            self.units.push(Unit { path, number: 0, item, location: None, missing: true });
        }
        false
    }

    /// The paths that select nothing.
    pub(super) fn missing(&self) -> Vec<Questioned<'a>> {
        let missing = self.units.iter().filter(|unit| unit.missing);
        let paths = missing.filter_map(|unit| self.request.paths.get(unit.path));
        paths.map(super::Path::questioned).collect()
    }

    fn cut(&self, shown: usize, marked: bool) -> Option<Cut> {
        let units = self.units.get(..shown).unwrap_or_default();
        let returned = units.iter().filter(|unit| !unit.missing).count() as u64;
        let next = match (self.units.get(shown), units.last()) {
            (Some(next), _) => [next.path as u64, next.number],
            (None, Some(last)) => [last.path as u64, last.number + 1],
            (None, None) => [self.start.path as u64, self.start.skip],
        };
        let next = Some(Next::Cursor(self.binding.cursor(&next)));
        let marked = marked || units.iter().any(|unit| unit.item.as_ref().is_some_and(Item::is_large));
        match self.end {
            _ if shown < self.units.len() => Some(Cut { reason: Reason::MaxChars, returned, next }),
            Some(Reason::Damage) => Some(Cut { reason: Reason::Damage, returned, next: None }),
            Some(reason) => Some(Cut { reason, returned, next }),
            None if marked => Some(Cut { reason: Reason::MaxChars, returned, next: None }),
            None => None,
        }
    }

    fn push_path(&self, path: usize, out: &mut String) {
        push_string(self.request.paths.get(path).map_or("", |path| path.text), out);
    }

    /// The values of one path, which stand together.
    fn push_group(&self, group: &[Unit], first: Option<&str>, out: &mut String) {
        let Some(unit) = group.first() else { return };
        let with_paths = self.request.shape == Shape::WithPaths;
        if with_paths {
            out.push_str(r#"{"path":"#);
        }
        self.push_path(unit.path, out);
        out.push_str(if with_paths { r#","value":"# } else { ":" });
        let array = !unit.missing && !self.bare.get(unit.path).copied().unwrap_or(false);
        if array {
            out.push('[');
        }
        for (at, unit) in group.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            out.push_str(first.filter(|_| at == 0).unwrap_or_else(|| unit.text()));
        }
        if array {
            out.push(']');
        }
        if with_paths {
            out.push('}');
        }
    }

    fn push_flat(&self, unit: &Unit, first: Option<&str>, out: &mut String) {
        let text = first.unwrap_or_else(|| unit.text());
        if self.request.shape == Shape::Flat {
            out.push_str(text);
            return;
        }
        out.push_str(r#"{"path":"#);
        self.push_path(unit.path, out);
        if let Some(location) = &unit.location {
            out.push_str(r#","location":"#);
            push_string(location, out);
        }
        out.push_str(r#","value":"#);
        out.push_str(text);
        out.push('}');
    }

    fn push_values(&self, units: &[Unit], first: Option<&str>, out: &mut String) {
        if !self.request.shape.is_flat() {
            let groups = units.chunk_by(|one, other| one.path == other.path);
            for (at, group) in groups.enumerate() {
                if at > 0 {
                    out.push(',');
                }
                self.push_group(group, first.filter(|_| at == 0), out);
            }
            return;
        }
        let shown = units.iter().enumerate().filter(|(_, unit)| unit.item.is_some());
        for (number, (at, unit)) in shown.enumerate() {
            if number > 0 {
                out.push(',');
            }
            self.push_flat(unit, first.filter(|_| at == 0), out);
        }
    }
}

impl Unit {
    fn text(&self) -> &str {
        self.item.as_ref().map_or("", Item::text)
    }
}

impl Sheet for Answer<'_> {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn least(&self, unit: usize) -> usize {
        self.units.get(unit).and_then(|unit| unit.item.as_ref()).map_or(0, Item::chars)
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let units = self.units.get(..shown).unwrap_or_default();
        let object = self.request.shape == Shape::ByPath;
        let mut out = String::from(r#"{"extracted":"#);
        out.push(if object { '{' } else { '[' });
        self.push_values(units, first, &mut out);
        out.push(if object { '}' } else { ']' });
        let missing = units.iter().filter(|unit| unit.missing);
        for (at, unit) in missing.enumerate() {
            out.push_str(if at == 0 { r#","missing_paths":["# } else { "," });
            self.push_path(unit.path, &mut out);
        }
        if units.iter().any(|unit| unit.missing) {
            out.push(']');
        }
        if let Some(cut) = self.cut(shown, first.is_some()) {
            cut.push(&mut out);
        }
        if let Some(warning) = &self.warning {
            out.push_str(r#","warning":"#);
            push_string(warning, &mut out);
        }
        out.push('}');
        out
    }

    fn stand_in(&self, room: usize) -> Option<String> {
        self.units.first().and_then(|unit| unit.item.as_ref()).and_then(|item| item.mark(room))
    }
}
