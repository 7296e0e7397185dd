//! What the selections have in common that know how many candidates to pass over.

use crate::{First, Last, Reservoir, Systematic};

/// A selection that knows how many candidates to pass over before it wants one.
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
    /// How many candidates to pass over before the next wanted one; `u64::MAX` when none is.
    fn to_skip(&self) -> u64;

    /// Counts `n` candidates that are not offered.
    fn pass_over(&mut self, n: u64);

    /// Offers the next candidate. If it is wanted, `make` is called, its value taken, and the
    /// answer is true.
    fn offer_with(&mut self, make: impl FnOnce() -> T) -> bool;

    /// Offers one candidate many times over, in time that follows those that are taken.
    fn offer_all(&mut self, times: u64, make: impl FnMut() -> T) {
        offer_each(self, times, make);
    }
}

fn offer_each<T>(drawer: &mut (impl Draw<T> + ?Sized), mut times: u64, mut make: impl FnMut() -> T) {
    while times > 0 {
        let passed = drawer.to_skip().min(times);
        drawer.pass_over(passed);
        times -= passed;
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

            fn pass_over(&mut self, n: u64) {
                self.pass_over(n);
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
    // The last ones push all before them out.
    fn offer_all(&mut self, times: u64, make: impl FnMut() -> T) {
        let size = self.size.get() as u64;
        self.pass_over(times.saturating_sub(size));
        offer_each(self, times.min(size), make);
    }
);
