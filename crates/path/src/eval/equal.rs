//! Equality of containers, which are read side by side.
//!
//! Arrays are read once, however they nest in each other. The members of an object are sorted by
//! name first, so that an object inside of objects is skipped once for each of them.

use std::borrow::Cow;

use trommel_reader::{Config, Cursor, Framing, Kind, Limits, Result, Span, Text, View};

use super::item::Item;

/// Pairs of values still to be compared.
enum Pending<'e> {
    /// The elements that follow in two arrays.
    Arrays(Box<Arrays<'e>>),
    /// Values of equal names.
    Members(Vec<Pair<'e>>),
}

/// Two values to be compared.
#[derive(Clone, Copy)]
struct Pair<'e> {
    left: View<'e>,
    right: View<'e>,
}

/// A container that is being read.
struct Inside<'e> {
    cursor: Cursor<'e>,
    view: View<'e>,
}

/// Two arrays, read in step.
struct Arrays<'e> {
    left: Inside<'e>,
    right: Inside<'e>,
}

/// What comes next in two arrays.
enum Elements<'e> {
    /// An element in each, not both of them arrays.
    Both(Pair<'e>),
    /// Both are at their end.
    Neither,
    /// One is at its end.
    One,
}

impl<'e> Inside<'e> {
    /// Enters the container whose bytes these are. They were skipped once, so that no limit is
    /// needed.
    fn enter(view: View<'e>) -> Result<Self> {
        let mut limits = Limits::default();
        limits.depth = Limits::MAX_DEPTH;
        let mut cursor = Cursor::from_view(view, Framing::Concatenated, &Config::new().limits(limits));
        cursor.begin_value()?;
        Ok(Self { cursor, view })
    }

    /// The bytes of the value that comes next.
    fn value(&mut self) -> Result<View<'e>> {
        let span = self.cursor.skip_value()?;
        Ok(self.bytes(span))
    }

    #[expect(clippy::expect_used, reason = "the cursor reads this view alone")]
    fn bytes(&self, span: Span) -> View<'e> {
        self.view.narrow(span).expect("a token of the container is in it")
    }

    /// The members of an object, sorted by name: the first of each name, or the last.
    fn members(mut self, last: bool) -> Result<Vec<(Cow<'e, str>, View<'e>)>> {
        let mut members = Vec::new();
        while self.cursor.next_member()? {
            let escaped = self.cursor.name().is_some_and(|name| name.is_escaped());
            let quoted = self.bytes(self.cursor.span()).bytes();
            let inside = &quoted[1..quoted.len() - 1];
            members.push((Text::from_raw(inside, escaped).decode(), self.value()?));
        }
        if last {
            members.reverse();
        }
        // A stable sort: of equal names the first stays in front.
        members.sort_by(|left, right| left.0.cmp(&right.0));
        members.dedup_by(|later, first| later.0 == first.0);
        Ok(members)
    }
}

impl<'e> Arrays<'e> {
    /// Goes on to the next elements; where both are arrays, into them.
    fn next(&mut self) -> Result<Elements<'e>> {
        let (left, right) = (&mut self.left, &mut self.right);
        loop {
            match (left.cursor.next_element()?, right.cursor.next_element()?) {
                (false, false) if left.cursor.depth() == 0 => return Ok(Elements::Neither),
                (false, false) => {}
                (true, true) => {
                    let kinds = (left.cursor.peek()?, right.cursor.peek()?);
                    if kinds != (Some(Kind::Array), Some(Kind::Array)) {
                        return Ok(Elements::Both(Pair { left: left.value()?, right: right.value()? }));
                    }
                    left.cursor.begin_value()?;
                    right.cursor.begin_value()?;
                }
                _ => return Ok(Elements::One),
            }
        }
    }
}

/// Members or elements of a container.
pub(super) fn children(view: View<'_>) -> Result<u64> {
    let object = is_object(view);
    let Inside { mut cursor, .. } = Inside::enter(view)?;
    let mut count = 0;
    while if object { cursor.next_member()? } else { cursor.next_element()? } {
        cursor.skip_value()?;
        count += 1;
    }
    Ok(count)
}

/// Equality (section 2.3.5.2.2). Of repeated names the first member counts, or the last.
pub(super) fn items(left: &Item<'_>, right: &Item<'_>, last: bool) -> Result<bool> {
    match (left, right) {
        (Item::Container(left), Item::Container(right)) => containers(*left, *right, last),
        _ => Ok(left.equals_scalar(right)),
    }
}

/// Deep equality: arrays element by element, objects by name in any order; of repeated names the
/// first counts, or the last. Memory is bounded by the depth and the number of members of the
/// objects on the way.
fn containers(left: View<'_>, right: View<'_>, last: bool) -> Result<bool> {
    let mut pending = Vec::new();
    if !begin(Pair { left, right }, last, &mut pending)? {
        return Ok(false);
    }
    while let Some(innermost) = pending.last_mut() {
        let next = match innermost {
            Pending::Members(values) => values.pop(),
            Pending::Arrays(arrays) => match arrays.next()? {
                Elements::Both(elements) => Some(elements),
                Elements::Neither => None,
                Elements::One => return Ok(false),
            },
        };
        let Some(Pair { left, right }) = next else {
            pending.pop();
            continue;
        };
        let equal = match (Item::of(left), Item::of(right)) {
            (Item::Container(left), Item::Container(right)) => {
                begin(Pair { left, right }, last, &mut pending)?
            }
            (left, right) => left.equals_scalar(&right),
        };
        if !equal {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Begins to compare two containers. Returns false if they differ at once.
fn begin<'e>(pair: Pair<'e>, last: bool, pending: &mut Vec<Pending<'e>>) -> Result<bool> {
    let Pair { left, right } = pair;
    if is_object(left) != is_object(right) {
        return Ok(false);
    }
    let inside = (Inside::enter(left)?, Inside::enter(right)?);
    if !is_object(left) {
        let (left, right) = inside;
        pending.push(Pending::Arrays(Box::new(Arrays { left, right })));
        return Ok(true);
    }
    let (left, right) = (inside.0.members(last)?, inside.1.members(last)?);
    let same = left.len() == right.len() && left.iter().zip(&right).all(|(left, right)| left.0 == right.0);
    if same {
        let values = left.iter().zip(&right).map(|(left, right)| Pair { left: left.1, right: right.1 });
        pending.push(Pending::Members(values.collect()));
    }
    Ok(same)
}

fn is_object(view: View<'_>) -> bool {
    view.bytes().first() == Some(&b'{')
}
