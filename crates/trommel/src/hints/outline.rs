//! The names and arrays there are in a document, as far as a bounded look shows.

use std::collections::HashMap;

use trommel_reader::{Cursor, Event, Kind};

use super::READ;

/// Places that are remembered.
const PLACES: usize = 4_000;

/// Bytes of names that are remembered.
const NAMES: usize = 1 << 20;

/// Bytes of a name that is remembered.
const NAME: usize = 300;

/// Elements of an array, members of an object, and records of a stream that are inspected; the others are skipped.
const CHILDREN: u64 = 200;

/// Containers within each other that are inspected.
const DEPTH: usize = 24;

/// The shape of a document: which names there are where, elements of an array taken together.
///
/// A look is bounded: 256 MiB, 200 records, 200 children of a container, 24 levels, and 4,000 places.
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

    /// Inspects what a cursor reads. An error ends the look, or skips the record where the framing allows it.
    pub(crate) fn of(cursor: &mut Cursor<'_>, is_stream: bool) -> Self {
        let outline = Self { is_stream, is_complete: true, ..Self::default() };
        let mut look = Look { outline, names: 0, open: Vec::new(), next: Self::ROOT };
        let mut records = 0;
        loop {
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
        look.outline.is_stream |= records > 1;
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
    /// The containers around the next value: their places, and their children so far.
    open: Vec<(usize, Kind, u64)>,
    /// The place of the next value.
    next: usize,
}

impl Look {
    fn is_over(&self, cursor: &Cursor<'_>) -> bool {
        cursor.offset() > READ || self.outline.places.len() >= PLACES || self.names > NAMES
    }

    /// Reads one record. Nothing if the look ends in it.
    fn record(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        self.open.clear();
        self.next = Outline::ROOT;
        while let Some(event) = cursor.advance().ok()? {
            if self.is_over(cursor) {
                return None;
            }
            match event {
                Event::Name => {
                    let name = cursor.name()?.decode();
                    self.name(&name, cursor)?;
                }
                Event::Begin(kind) => self.begin(kind, cursor)?,
                Event::Scalar(_) => self.child_ended(cursor)?,
                Event::End(_) => {
                    self.close();
                    self.child_ended(cursor)?;
                }
            }
        }
        Some(())
    }

    /// The next value is the member of this name.
    fn name(&mut self, name: &str, _: &Cursor<'_>) -> Option<()> {
        let (from, ..) = *self.open.last()?;
        if let Some(known) = self.outline.member(from, name) {
            self.next = known;
            return Some(());
        }
        // A name that is too long for a suggestion shares one place with all others like it, which no name leads to.
        let to = self.outline.places.len();
        self.outline.places.push(Place::default());
        self.next = to;
        if name.len() > NAME {
            self.outline.is_complete = false;
            return Some(());
        }
        self.names += name.len();
        let place = self.outline.places.get_mut(from)?;
        place.names.push((name.into(), to));
        place.known.insert(name.into(), to);
        Some(())
    }

    fn begin(&mut self, kind: Kind, cursor: &mut Cursor<'_>) -> Option<()> {
        let at = self.next;
        self.open.push((at, kind, 0));
        if kind == Kind::Array {
            let longest = &mut self.outline.places.get_mut(at)?.longest;
            *longest = Some(longest.unwrap_or_default());
            self.next_element(at)?;
        }
        if self.open.len() > DEPTH {
            self.leave(cursor)?;
        }
        Some(())
    }

    /// The next value is an element of the array at a place.
    fn next_element(&mut self, at: usize) -> Option<()> {
        let new = self.outline.places.len();
        self.next = new;
        Some(())
    }
}
