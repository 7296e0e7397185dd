//! The trait of selections that know how many candidates to skip.

use crate::{First, Last, Reservoir, Systematic};

/// A selection that knows how many candidates to skip before the next wanted one.
///
/// ```
/// use std::num::NonZeroUsize;
/// use trommel_sampler::{Draw, Last};
///
/// let mut last = Last::new(NonZeroUsize::MIN.saturating_add(2));
/// last.offer_all(1 << 60, || 'a');
/// last.offer_with(|| 'b');
/// assert_eq!(last.into_sample().into_values().collect::<String>(), "aab");
/// ```
pub trait Draw<T> {
    /// Returns the number of candidates to skip before the next wanted one; `u64::MAX` if no
    /// further one is wanted.
    fn to_skip(&self) -> u64;

    /// Counts `n` candidates that are not offered.
    fn skip(&mut self, n: u64);

    /// Offers the next candidate. If it is wanted, calls `make`, takes its value, and returns true.
    fn offer_with(&mut self, make: impl FnOnce() -> T) -> bool;

    /// Offers the same candidate `times` times. The cost depends on the number of candidates taken,
    /// not on `times`.
    fn offer_all(&mut self, times: u64, make: impl FnMut() -> T) {
        offer_each(self, times, make);
    }
}

fn offer_each<T>(drawer: &mut (impl Draw<T> + ?Sized), mut times: u64, mut make: impl FnMut() -> T) {
    while times > 0 {
        let skipped = drawer.to_skip().min(times);
        drawer.skip(skipped);
        times -= skipped;
        if times > 0 {
            drawer.offer_with(&mut make);
            times -= 1;
        }
    }
}

macro_rules! draw {
    ($drawer:ident $(, $rest:item)?) => {
        impl<T> Draw<T> for $drawer<T> {
            fn to_skip(&self) -> u64 {
                self.to_skip()
            }

            fn skip(&mut self, n: u64) {
                self.skip(n);
            }

            fn offer_with(&mut self, make: impl FnOnce() -> T) -> bool {
                self.offer_with(make)
            }

            $($rest)?
        }
    };
}

draw!(Reservoir);
draw!(First);
draw!(Systematic);
draw!(
    Last,
    // The last `size` candidates push out everything before them.
    fn offer_all(&mut self, times: u64, make: impl FnMut() -> T) {
        let size = self.size.get() as u64;
        self.skip(times.saturating_sub(size));
        offer_each(self, times.min(size), make);
    }
);
