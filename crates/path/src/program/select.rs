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

fn slice_selects(slice: Slice, index: u64, length: u64) -> bool {
    let Some((lower, upper)) = slice_bounds(slice, length) else { return false };
    if index < lower || index >= upper {
        return false;
    }
    let distance = if slice.step > 0 { index - lower } else { upper - 1 - index };
    distance % slice.step.unsigned_abs() == 0
}
