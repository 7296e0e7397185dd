//! Arrays whose length is needed before their first element can be judged: `[-1]`.

use trommel_reader::{Cursor, Result};

/// So many of the last elements can be gone to at once.
const LAST: usize = 16;

/// Goes through the elements of the array that the cursor has just entered, and back: at least to before the `first` that matters
/// of so many, at most to before the first of all. Says how many there are, and before which it is.
///
/// By itself, so that the places take no stack where filters nest.
#[inline(never)]
pub(crate) fn count_elements(cursor: &mut Cursor<'_>, first: impl FnOnce(u64) -> u64) -> Result<(u64, u64)> {
    let begin = cursor.hold();
    // The places before the last elements, and before the end, each at the remainder of its index.
    let (mut length, mut last) = (0, [begin; LAST]);
    loop {
        let before = cursor.mark();
        if let Some(place) = last.get_mut(length as usize % LAST) {
            *place = before;
        }
        if !cursor.next_element()? {
            break;
        }
        cursor.skip_value()?;
        length += 1;
    }
    let wanted = first(length).min(length);
    let near = last.get(wanted as usize % LAST).filter(|_| length - wanted < LAST as u64);
    let (index, place) = near.map_or((0, &begin), |place| (wanted, place));
    cursor.rewind(place);
    cursor.release();
    Ok((length, index))
}
