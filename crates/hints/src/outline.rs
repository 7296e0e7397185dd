//! The names and arrays there are in a document, as far as a bounded look shows.

use std::collections::HashMap;

use trommel::reader::{Cursor, Event, Kind};

use super::{READ, is_stream};

/// Places that are remembered.
const PLACES: usize = 4_000;

/// Bytes of names that are remembered.
const NAMES: usize = 1 << 20;

/// Bytes of a name that is remembered.
const NAME: usize = 300;

/// Elements of an array, members of an object, and records of a stream that are inspected; the rest
/// is skipped.
const CHILDREN: u64 = 200;

/// Containers within each other that are inspected.
const DEPTH: usize = 24;

/// The shape of a document: which names there are where, elements of an array taken together.
///
/// A look is bounded: 256 MiB, 200 records, 200 children of a container, 24 levels, and 4,000
/// places.
#[derive(Clone, Debug)]
pub struct Outline {
    places: Vec<Place>,
    /// True if the document is a stream of records.
    pub(super) is_stream: bool,
    /// True if nothing was skipped.
    pub(super) is_complete: bool,
}

/// A place in the document: the values that one path without indices leads to.
#[derive(Clone, Debug, Default)]
struct Place {
    /// Members in order of first appearance.
    names: Vec<(Box<str>, usize)>,
    known: HashMap<Box<str>, usize>,
    element: Option<usize>,
    /// The elements of the longest array here.
    longest: Option<u64>,
}

impl Default for Outline {
    fn default() -> Self {
        Self { places: vec![Place::default()], is_stream: false, is_complete: false }
    }
}

impl Outline {
    /// The place of `$`.
    pub(super) const ROOT: usize = 0;

    /// Inspects what a cursor reads. An error ends the look, or skips the record where the framing
    /// allows it.
    pub(super) fn of(cursor: &mut Cursor<'_>) -> Self {
        let outline = Self { is_complete: true, ..Self::default() };
        let mut look = Look { outline, names: 0, open: Vec::new(), member: Self::ROOT };
        let mut records = 0;
        // A record that cannot be read counts as well, so that the look ends.
        for _ in 0..2 * CHILDREN {
            match cursor.next_record() {
                Ok(false) => break,
                Ok(true) if records == CHILDREN => {
                    look.outline.is_complete = false;
                    break;
                }
                Ok(true) if look.record(cursor).is_some() => records += 1,
                _ => {
                    look.outline.is_complete = false;
                    if !cursor.can_recover() || look.is_over(cursor) {
                        break;
                    }
                }
            }
        }
        look.outline.is_stream = records > 1 || is_stream(cursor.framing());
        look.outline
    }

    /// Bytes of memory, roughly.
    pub fn weight(&self) -> usize {
        let names = self.places.iter().flat_map(|place| &place.names);
        names.map(|(name, _)| 2 * name.len()).sum::<usize>() + self.places.len() * 2 * size_of::<Place>()
    }

    /// The place of the members of a name.
    pub(super) fn member(&self, place: usize, name: &str) -> Option<usize> {
        self.places.get(place)?.known.get(name).copied()
    }

    /// The place of the elements.
    pub(super) fn element(&self, place: usize) -> Option<usize> {
        self.places.get(place)?.element
    }

    /// The names of the members, in order of first appearance.
    pub(super) fn names(&self, place: usize) -> impl Iterator<Item = (&str, usize)> {
        let names = self.places.get(place).map_or(&[][..], |place| &place.names);
        names.iter().map(|(name, place)| (&**name, *place))
    }

    /// The number of elements in the longest array at a place; nothing if no array was seen there.
    pub(super) fn longest(&self, place: usize) -> Option<u64> {
        self.places.get(place)?.longest
    }

    /// Every place, each after the one that contains it, with how it is reached from there.
    pub(super) fn steps(&self) -> impl Iterator<Item = (usize, Option<&str>, usize)> {
        self.places.iter().enumerate().flat_map(|(from, place)| {
            let names = place.names.iter().map(move |(name, to)| (from, Some(&**name), *to));
            names.chain(place.element.map(|to| (from, None, to)))
        })
    }
}

/// A look in progress.
struct Look {
    outline: Outline,
    /// Bytes of names so far.
    names: usize,
    open: Vec<Open>,
    /// The place of the member whose name was read last.
    member: usize,
}

/// A container around the next value.
struct Open {
    place: usize,
    kind: Kind,
    children: u64,
}

impl Look {
    fn is_over(&self, cursor: &Cursor<'_>) -> bool {
        cursor.offset() > READ || self.outline.places.len() >= PLACES || self.names > NAMES
    }

    /// Reads one record. Nothing if the look ends in it.
    fn record(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        self.open.clear();
        while let Some(event) = cursor.advance().ok()? {
            if self.is_over(cursor) {
                return None;
            }
            match event {
                Event::Name => {
                    let name = cursor.name()?.decode();
                    self.name(&name)?;
                }
                Event::Begin(kind) => self.begin(kind, cursor)?,
                Event::Scalar(_) => {
                    self.place();
                    self.child_ended(cursor)?;
                }
                Event::End(_) => {
                    self.close();
                    self.child_ended(cursor)?;
                }
            }
        }
        Some(())
    }

    /// The next value is the member of this name.
    fn name(&mut self, name: &str) -> Option<()> {
        let from = self.open.last()?.place;
        if let Some(known) = self.outline.member(from, name) {
            self.member = known;
            return Some(());
        }
        self.member = self.new_place();
        // A name that is too long for a suggestion leads nowhere.
        if name.len() > NAME {
            self.outline.is_complete = false;
            return Some(());
        }
        self.names += name.len();
        let place = self.outline.places.get_mut(from)?;
        place.names.push((name.into(), self.member));
        place.known.insert(name.into(), self.member);
        Some(())
    }

    fn new_place(&mut self) -> usize {
        self.outline.places.push(Place::default());
        self.outline.places.len() - 1
    }

    /// The place of the value that begins here.
    fn place(&mut self) -> usize {
        let Some(Open { place: from, kind, .. }) = self.open.last() else { return Outline::ROOT };
        let (from, is_array) = (*from, *kind == Kind::Array);
        if !is_array {
            return self.member;
        }
        if let Some(known) = self.outline.element(from) {
            return known;
        }
        let new = self.new_place();
        if let Some(place) = self.outline.places.get_mut(from) {
            place.element = Some(new);
        }
        new
    }

    fn begin(&mut self, kind: Kind, cursor: &mut Cursor<'_>) -> Option<()> {
        let place = self.place();
        self.open.push(Open { place, kind, children: 0 });
        if self.open.len() > DEPTH { self.leave(cursor) } else { Some(()) }
    }

    /// Closes the innermost container.
    fn close(&mut self) {
        let Some(Open { place, kind: Kind::Array, children }) = self.open.pop() else { return };
        if let Some(place) = self.outline.places.get_mut(place) {
            place.longest = place.longest.max(Some(children));
        }
    }

    /// A child of the innermost container has ended; when there were enough, the container is left.
    fn child_ended(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let Some(open) = self.open.last_mut() else { return Some(()) };
        open.children += 1;
        if open.children >= CHILDREN { self.leave(cursor) } else { Some(()) }
    }

    /// Leaves the innermost container, and those around it that have shown enough by that.
    fn leave(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        self.outline.is_complete = false;
        cursor.leave().ok()?;
        self.close();
        self.child_ended(cursor)
    }
}

#[cfg(test)]
mod tests {
    use trommel::reader::{Config, Framing, Validation, View};

    use super::*;

    fn outline(text: &str) -> Outline {
        let config = Config::new().validation(Validation::Structural);
        Outline::of(&mut Cursor::from_view(View::new(text.as_bytes()), Framing::Auto, &config))
    }

    /// The paths of all places, in order.
    fn paths(outline: &Outline) -> Vec<String> {
        let mut paths = vec![String::from("$"); outline.places.len()];
        for (from, name, to) in outline.steps() {
            paths[to] = match name {
                Some(name) => format!("{}.{name}", paths[from]),
                None => format!("{}[*]", paths[from]),
            };
        }
        paths
    }

    #[test]
    fn places_in_order_of_first_appearance() {
        let outline =
            outline("{\"a\": [{\"b\": 1, \"c d\": [[]]}, {\"b\": 2, \"e\": null}], \"f\": {}}\n[7]");
        let expected =
            ["$", "$.a", "$.a[*]", "$.a[*].b", "$.a[*].c d", "$.a[*].c d[*]", "$.a[*].e", "$.f", "$[*]"];
        assert_eq!(paths(&outline), expected);
        assert!(outline.is_stream && outline.is_complete);
        assert_eq!((outline.longest(0), outline.longest(1), outline.longest(2)), (Some(1), Some(2), None));
    }

    #[test]
    fn sees_what_follows_a_long_array() {
        let long = format!(
            r#"{{"a": [{}0], "deep": {}1{}, "last": 1}}"#,
            "[1,2],".repeat(1000),
            "[".repeat(60),
            "]".repeat(60)
        );
        let outline = outline(&long);
        assert_eq!(paths(&outline).last().unwrap(), "$.last");
        assert!(!outline.is_complete && outline.weight() > 10);
    }

    #[test]
    fn a_look_is_bounded() {
        let members =
            |seed: u32| (0..150).map(|n| format!("\"m{seed}_{n}\": 1")).collect::<Vec<_>>().join(",");
        let wide: Vec<String> = (0..100).map(|n| format!("\"k{n}\": {{{}}}", members(n))).collect();
        assert_eq!(outline(&format!("{{{}}}", wide.join(","))).places.len(), PLACES);
        assert_eq!(paths(&outline("[1, 2")), ["$", "$[*]"]);
        assert_eq!(paths(&outline("")), ["$"]);
        let long = outline(&format!(r#"{{"{}": {{"a": 1}}, "b": 2}}"#, "x".repeat(301)));
        assert!(long.member(0, "b").is_some() && long.names(0).count() == 1 && !long.is_complete);
    }
}
