//! Mapping the values of a selection. Values that are cheap to hold while drawing can be replaced
//! by the full content later.

use crate::{First, Item, Last, Reservoir};

impl<T> Item<T> {
    pub(crate) fn try_map<U, E>(self, f: &mut impl FnMut(T) -> Result<U, E>) -> Result<Item<U>, E> {
        Ok(Item { index: self.index, value: f(self.value)? })
    }
}

impl<T> Reservoir<T> {
    /// Maps every value. The resulting reservoir draws, merges, and is stored like this one.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<U, E>(self, mut f: impl FnMut(T) -> Result<U, E>) -> Result<Reservoir<U>, E> {
        let (schedule, items) = self.into_parts();
        let items = items.into_iter().map(|item| item.try_map(&mut f)).collect::<Result<_, E>>()?;
        Ok(Reservoir::from_parts(schedule, items))
    }
}

impl<T> First<T> {
    /// Maps every value.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<U, E>(self, mut f: impl FnMut(T) -> Result<U, E>) -> Result<First<U>, E> {
        let Self { size, seen, items } = self;
        let items = items.into_iter().map(|item| item.try_map(&mut f)).collect::<Result<_, E>>()?;
        Ok(First { size, seen, items })
    }
}

impl<T> Last<T> {
    /// Maps every value.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<U, E>(self, mut f: impl FnMut(T) -> Result<U, E>) -> Result<Last<U>, E> {
        let Self { size, seen, from, items } = self;
        let items = items.into_iter().map(|item| item.try_map(&mut f)).collect::<Result<_, E>>()?;
        Ok(Last { size, seen, from, items })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::num::NonZeroUsize;

    use super::*;
    use crate::Seed;

    #[test]
    fn mapped_reservoirs_continue_alike() {
        let size = NonZeroUsize::new(5).unwrap();
        let mut kept = Reservoir::new(size, Seed::new(7));
        for at in 0..500_u64 {
            kept.offer_with(|| at);
        }
        let mut exchanged = kept.clone().try_map(|at| Ok::<_, Infallible>(at.to_string())).unwrap();
        for at in 500..900_u64 {
            kept.offer_with(|| at);
            exchanged.offer_with(|| at.to_string());
        }
        let texts: Vec<_> = kept.into_sample().into_values().map(|at| at.to_string()).collect();
        assert_eq!(exchanged.into_sample().into_values().collect::<Vec<_>>(), texts);
    }

    #[test]
    fn returns_the_first_error() {
        let mut last = Last::new(NonZeroUsize::MIN);
        last.offer_with(|| 1);
        assert_eq!(last.try_map(|_| Err::<u8, _>("no")).err(), Some("no"));
    }
}
