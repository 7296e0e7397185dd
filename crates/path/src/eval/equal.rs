//! Whether two containers are equal, read side by side.

use trommel_reader::{Config, Cursor, Event, Kind, Payload, Result};

use super::operand::Item;

/// Pairs of values still to be compared.
enum Pending<'e> {
    /// The elements that follow in two arrays.
    Arrays(Box<(Cursor<'e>, &'e [u8], Cursor<'e>, &'e [u8])>),
    /// Values of equal names.
    Members(Vec<(&'e [u8], &'e [u8])>),
}

/// Members or elements of a container.
pub(super) fn children(bytes: &[u8]) -> Result<u64> {
    let mut cursor = Cursor::new(bytes, &Config::new());
    let object = cursor.begin_value()? == Event::Begin(Kind::Object);
    let mut count = 0;
    while if object { cursor.next_member()? } else { cursor.next_element()? } {
        cursor.skip_value()?;
        count += 1;
    }
    Ok(count)
}

/// Deep equality: arrays element by element, objects by name whatever the order; of repeated names the first counts.
/// Memory is bounded by the depth and the number of members of the objects on the way.
pub(super) fn containers(left: &[u8], right: &[u8]) -> Result<bool> {
    let mut pending = Vec::new();
    if !begin(left, right, &mut pending)? {
        return Ok(false);
    }
    while let Some(last) = pending.last_mut() {
        let next = match last {
            Pending::Members(values) => values.pop(),
            Pending::Arrays(arrays) => match next_elements(arrays)? {
                Elements::Both(left, right) => Some((left, right)),
                Elements::Neither => None,
                Elements::One => return Ok(false),
            },
        };
        let Some((left, right)) = next else {
            pending.pop();
            continue;
        };
        let equal = match (Item::read(left)?, Item::read(right)?) {
            (Item::Container(left), Item::Container(right)) => begin(left, right, &mut pending)?,
            (left, right) => left.equals(&right)?,
        };
        if !equal {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sets out to compare two containers; `false` when they are seen to differ at once.
fn begin<'e>(left: &'e [u8], right: &'e [u8], pending: &mut Vec<Pending<'e>>) -> Result<bool> {
    if left.first() != right.first() {
        return Ok(false);
    }
    if left.first() == Some(&b'[') {
        let mut cursors = (Cursor::new(left, &Config::new()), Cursor::new(right, &Config::new()));
        cursors.0.begin_value()?;
        cursors.1.begin_value()?;
        pending.push(Pending::Arrays(Box::new((cursors.0, left, cursors.1, right))));
        return Ok(true);
    }
    let (left, right) = (members(left)?, members(right)?);
    let same = left.len() == right.len() && left.iter().zip(&right).all(|(left, right)| left.0 == right.0);
    if same {
        pending
            .push(Pending::Members(left.iter().zip(&right).map(|(left, right)| (left.1, right.1)).collect()));
    }
    Ok(same)
}

enum Elements<'e> {
    Both(&'e [u8], &'e [u8]),
    Neither,
    One,
}

fn next_elements<'e>(arrays: &mut (Cursor<'e>, &'e [u8], Cursor<'e>, &'e [u8])) -> Result<Elements<'e>> {
    let (left, left_bytes, right, right_bytes) = arrays;
    Ok(match (left.next_element()?, right.next_element()?) {
        (true, true) => Elements::Both(value(left, left_bytes)?, value(right, right_bytes)?),
        (false, false) => Elements::Neither,
        _ => Elements::One,
    })
}

/// The bytes of the value that comes next.
fn value<'e>(cursor: &mut Cursor<'e>, bytes: &'e [u8]) -> Result<&'e [u8]> {
    let span = cursor.skip_value()?;
    Ok(bytes.get(span.start as usize..span.end as usize).unwrap_or_default())
}

/// The members of an object, sorted by name, the first of each name.
fn members(bytes: &[u8]) -> Result<Vec<(String, &[u8])>> {
    let mut cursor = Cursor::new(bytes, &Config::new());
    cursor.begin_value()?;
    let mut members = Vec::new();
    while cursor.next_member()? {
        let Payload::Name(name) = cursor.payload() else { continue };
        let name = name.decode().into_owned();
        members.push((name, value(&mut cursor, bytes)?));
    }
    // A stable sort: of equal names the first stays in front.
    members.sort_by(|left, right| left.0.cmp(&right.0));
    members.dedup_by(|later, first| later.0 == first.0);
    Ok(members)
}
