//! One selector, and the elements it selects in an array of a known length.

use trommel_query::Slice;

/// A selector.
#[derive(Debug)]
pub(crate) enum Select {
    Name(Box<str>),
    All,
    Index(i64),
    Slice(Slice),
    /// The number of a filter in the program.
    Filter(u32),
}

impl Select {
    /// True if it goes through an array backwards.
    pub(crate) fn is_reverse(&self) -> bool {
        matches!(self, Self::Slice(slice) if slice.step < 0)
    }

    /// True if its elements depend on the length of the array.
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

    /// True if it selects element `index` of an array of that length. The length is only used where
    /// it is needed.
    pub(crate) fn selects(&self, index: u64, length: u64) -> bool {
        match self {
            Self::All => true,
            Self::Index(wanted) => at(*wanted, length) == Some(index),
            Self::Slice(slice) => slice_selects(*slice, index, length),
            Self::Name(_) | Self::Filter(_) => false,
        }
    }

    /// The first index it can select, `u64::MAX` if it selects no element.
    pub(crate) fn start(&self, length: u64) -> u64 {
        match self {
            Self::Name(_) => u64::MAX,
            Self::Index(wanted) => at(*wanted, length).unwrap_or(u64::MAX),
            Self::Slice(slice) => slice_bounds(*slice, length).map_or(u64::MAX, |(lower, _)| lower),
            Self::All | Self::Filter(_) => 0,
        }
    }

    /// One past the last index it can select: 0 if it selects no element, `u64::MAX` if there is no
    /// last one.
    pub(crate) fn end(&self, length: u64) -> u64 {
        match self {
            Self::Name(_) => 0,
            Self::Index(wanted) => at(*wanted, length).map_or(0, |index| index + 1),
            Self::Slice(slice) => slice_bounds(*slice, length).map_or(0, |(_, upper)| upper),
            Self::All | Self::Filter(_) => u64::MAX,
        }
    }
}

/// The index that a possibly negative one stands for. Returns `None` before the array's begin.
fn at(index: i64, length: u64) -> Option<u64> {
    if index >= 0 { Some(index.unsigned_abs()) } else { length.checked_sub(index.unsigned_abs()) }
}

/// The lowest index and one past the highest that a slice can select (section 2.3.4.2.2). Returns
/// `None` if it selects nothing.
fn slice_bounds(slice: Slice, length: u64) -> Option<(u64, u64)> {
    let normal = |index: i64| at(index, length).unwrap_or(0);
    let (lower, upper) = if slice.step >= 0 {
        (slice.start.map_or(0, normal), slice.end.map_or(u64::MAX, normal))
    } else {
        // From `start` down to one above `end`; a `start` below the array selects nothing.
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
