//! Equality of containers, which are read in parallel.
//!
//! Arrays are read once, even if they are nested in each other. The members of an object are sorted
//! by name first, so an object nested in other objects is skipped once for each of them.

use std::borrow::Cow;

use trommel_reader::{Config, Cursor, Framing, Kind, Limits, Result, Span, Text, View};

use super::item::Item;

/// Pairs of values that are still to be compared.
enum Pending<'e> {
    /// The remaining elements of two arrays.
    Arrays(Box<Arrays<'e>>),
    /// The values of equal names.
    Members(Vec<Pair<'e>>),
}

/// Two values to compare.
#[derive(Clone, Copy)]
struct Pair<'e> {
    left: View<'e>,
    right: View<'e>,
}

/// A container that is being read.
struct ContainerReader<'e> {
    cursor: Cursor<'e>,
    view: View<'e>,
}

/// Two arrays that are read in lockstep.
struct Arrays<'e> {
    left: ContainerReader<'e>,
    right: ContainerReader<'e>,
}

/// The next elements of two arrays.
enum Elements<'e> {
    /// One element of each array, not both of them arrays.
    Both(Pair<'e>),
    /// Both arrays have ended.
    Neither,
    /// Only one of the arrays has ended.
    One,
}

impl<'e> ContainerReader<'e> {
    /// Enters the container with these bytes. The default depth limit is lifted, since the bytes
    /// were already skipped within the limit of the document.
    fn enter(view: View<'e>) -> Result<Self> {
        let mut limits = Limits::default();
        limits.depth = Limits::MAX_DEPTH;
        let mut cursor = Cursor::from_view(view, Framing::Concatenated, &Config::new().limits(limits));
        cursor.begin_value()?;
        Ok(Self { cursor, view })
    }

    /// Skips the next value and returns its bytes.
    fn value(&mut self) -> Result<View<'e>> {
        let span = self.cursor.skip_value()?;
        Ok(self.bytes(span))
    }

    #[expect(clippy::expect_used, reason = "the cursor reads this view alone")]
    fn bytes(&self, span: Span) -> View<'e> {
        self.view.narrow(span).expect("a token of the container is in it")
    }

    /// Returns the members of an object, sorted by name: the first member of each name, or the
    /// last.
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
        // The sort is stable, so the first of equal names stays in front.
        members.sort_by(|left, right| left.0.cmp(&right.0));
        members.dedup_by(|later, first| later.0 == first.0);
        Ok(members)
    }
}

impl<'e> Arrays<'e> {
    /// Moves to the next elements. Enters them if both are arrays.
    fn next(&mut self) -> Result<Elements<'e>> {
        let (left, right) = (&mut self.left, &mut self.right);
        loop {
            match (left.cursor.next_element()?, right.cursor.next_element()?) {
                (false, false) if left.cursor.depth() == 0 => return Ok(Elements::Neither),
                // Two inner arrays have ended together: the loop continues in the outer ones.
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

/// Counts the members or elements of a container.
pub(super) fn children(view: View<'_>) -> Result<u64> {
    let object = is_object(view);
    let ContainerReader { mut cursor, .. } = ContainerReader::enter(view)?;
    let mut count = 0;
    while if object { cursor.next_member()? } else { cursor.next_element()? } {
        cursor.skip_value()?;
        count += 1;
    }
    Ok(count)
}

/// Compares two values (section 2.3.5.2.2). Of repeated names, the first member counts, or the
/// last.
pub(super) fn items(left: &Item<'_>, right: &Item<'_>, last: bool) -> Result<bool> {
    match (left, right) {
        (Item::Container(left), Item::Container(right)) => containers(*left, *right, last),
        _ => Ok(left.equals_scalar(right)),
    }
}

/// Compares arrays element by element, and objects by name in any order. Of repeated names, the
/// first member counts, or the last. Memory is bounded by the depth and the number of members of
/// the objects on the way.
fn containers(left: View<'_>, right: View<'_>, last: bool) -> Result<bool> {
    // An explicit stack instead of recursion, so that deep values take no stack.
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

/// Starts the comparison of two containers. Returns false if they differ already.
fn begin<'e>(pair: Pair<'e>, last: bool, pending: &mut Vec<Pending<'e>>) -> Result<bool> {
    let Pair { left, right } = pair;
    if is_object(left) != is_object(right) {
        return Ok(false);
    }
    let inside = (ContainerReader::enter(left)?, ContainerReader::enter(right)?);
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
