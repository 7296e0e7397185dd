//! A compiled selector, and the elements it selects in an array of a known length.

use trommel_query::Slice;

/// A compiled selector.
#[derive(Debug)]
pub(crate) enum Select {
    Name(Box<str>),
    All,
    Index(i64),
    Slice(Slice),
    /// The index of a filter in the program.
    Filter(u32),
}

impl Select {
    /// True if it selects the elements of an array in descending order.
    pub(crate) fn is_reverse(&self) -> bool {
        matches!(self, Self::Slice(slice) if slice.step < 0)
    }

    /// True if the selected elements depend on the length of the array.
    pub(crate) fn needs_length(&self) -> bool {
        match self {
            Self::Index(index) => *index < 0,
            Self::Slice(slice) => {
                slice.step < 0
                    || slice.start.is_some_and(|start| start < 0)
                    || slice.end.is_some_and(|end| end < 0)
            }
            Self::Name(_) | Self::All | Self::Filter(_) => false,
        }
    }

    /// True if it selects the element `index` of an array with `length` elements. Selectors that do
    /// not need the length ignore it.
    pub(crate) fn selects(&self, index: u64, length: u64) -> bool {
        match self {
            Self::All => true,
            Self::Index(wanted) => at(*wanted, length) == Some(index),
            Self::Slice(slice) => slice_selects(*slice, index, length),
            Self::Name(_) | Self::Filter(_) => false,
        }
    }

    /// Returns the first index that it can select, or `u64::MAX` if it selects no elements.
    pub(crate) fn start(&self, length: u64) -> u64 {
        match self {
            Self::Name(_) => u64::MAX,
            Self::Index(wanted) => at(*wanted, length).unwrap_or(u64::MAX),
            Self::Slice(slice) => slice_bounds(*slice, length).map_or(u64::MAX, |(lower, _)| lower),
            Self::All | Self::Filter(_) => 0,
        }
    }

    /// Returns the first index at or after `from` that it can select, or `u64::MAX` if there is
    /// none.
    pub(crate) fn next(&self, from: u64, length: u64) -> u64 {
        let next = match self {
            Self::All | Self::Filter(_) => from,
            Self::Name(_) | Self::Index(_) => self.start(length),
            Self::Slice(slice) => slice_next(*slice, from, length),
        };
        if next < from { u64::MAX } else { next }
    }

    /// Returns one past the last index that it can select: 0 if it selects no elements, and
    /// `u64::MAX` if there is no upper bound.
    pub(crate) fn end(&self, length: u64) -> u64 {
        match self {
            Self::Name(_) => 0,
            Self::Index(wanted) => at(*wanted, length).map_or(0, |index| index + 1),
            Self::Slice(slice) => slice_bounds(*slice, length).map_or(0, |(_, upper)| upper),
            Self::All | Self::Filter(_) => u64::MAX,
        }
    }
}

/// Resolves an index, which counts from the end if it is negative. Returns `None` if it is before
/// the start of the array.
fn at(index: i64, length: u64) -> Option<u64> {
    if index >= 0 { Some(index.unsigned_abs()) } else { length.checked_sub(index.unsigned_abs()) }
}

/// Returns the lowest index that a slice can select, and one past the highest (section 2.3.4.2.2).
/// Returns `None` if it selects nothing.
fn slice_bounds(slice: Slice, length: u64) -> Option<(u64, u64)> {
    let normal = |index: i64| at(index, length).unwrap_or(0);
    let (lower, upper) = if slice.step >= 0 {
        (slice.start.map_or(0, normal), slice.end.map_or(u64::MAX, normal))
    } else {
        // From `start` down to one above `end`. A `start` before the array selects nothing.
        let upper = match slice.start {
            Some(start) => at(start, length)?.saturating_add(1).min(length),
            None => length,
        };
        (slice.end.map_or(0, |end| at(end, length).map_or(0, |end| end + 1)), upper)
    };
    (slice.step != 0 && lower < upper).then_some((lower, upper))
}

fn slice_next(slice: Slice, from: u64, length: u64) -> u64 {
    let Some((lower, upper)) = slice_bounds(slice, length) else { return u64::MAX };
    let (from, step) = (from.max(lower), slice.step.unsigned_abs());
    let next = if slice.step > 0 {
        (from - lower).checked_next_multiple_of(step).and_then(|distance| distance.checked_add(lower))
    } else {
        (upper - 1).checked_sub(from).map(|distance| upper - 1 - distance / step * step)
    };
    next.filter(|next| *next < upper).unwrap_or(u64::MAX)
}

fn slice_selects(slice: Slice, index: u64, length: u64) -> bool {
    let Some((lower, upper)) = slice_bounds(slice, length) else { return false };
    if index < lower || index >= upper {
        return false;
    }
    let distance = if slice.step > 0 { index - lower } else { upper - 1 - index };
    distance % slice.step.unsigned_abs() == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_index_is_the_first_that_is_selected() {
        let bounds = [None, Some(-12), Some(-7), Some(-1), Some(0), Some(1), Some(4), Some(9), Some(30)];
        let slices = bounds.iter().flat_map(|&start| bounds.iter().map(move |&end| (start, end)));
        let slices = slices.flat_map(|(start, end)| {
            [-9, -3, -1, 0, 1, 2, 5, i64::MAX].map(|step| Select::Slice(Slice { start, end, step }))
        });
        let indices = [-11, -10, -3, -1, 0, 2, 9, 10].map(Select::Index);
        for select in slices.chain(indices).chain([Select::All]) {
            for length in [0, 1, 5, 10] {
                for from in 0..12 {
                    let expected = (from..length).find(|index| select.selects(*index, length));
                    let next = Some(select.next(from, length)).filter(|next| *next < length);
                    assert_eq!(next, expected, "{select:?} from {from} of {length}");
                }
            }
        }
    }
}
