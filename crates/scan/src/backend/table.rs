//! The entry points of a backend, each compiled with the backend's instructions.

use crate::members::{Named, Naming};
use crate::runs::Plain;
use crate::seek::{Seeking, Sought};
use crate::skip::{Skip, Skipped};
use crate::tally::Tallying;
use crate::vet::{Tape, Vetted, Vetting};

/// The entry points of a backend, chosen once.
#[derive(Debug)]
pub struct Kernels {
    /// Past the bracket that brings [`Skip::depth`] to zero.
    pub skip: fn(&[u8], usize, &mut Skip) -> Skipped,
    /// The same, counting what is passed.
    pub tally: fn(&[u8], usize, &mut Tallying) -> Skipped,
    /// To the next member of an object with one of a few names, or to its end.
    pub members: fn(&[u8], usize, &mut Naming<'_>) -> Named,
    /// To the next member of a name, or past a bracket.
    pub seek: fn(&[u8], usize, &mut Seeking<'_>) -> Sought,
    /// As far as all is right, or past a bracket.
    pub vet: fn(&[u8], usize, &mut Vetting<'_>) -> Vetted,
    /// The same, writing down where tokens are; of at most [`Tape::MOST`] bytes.
    pub index: fn(&[u8], usize, &mut Vetting<'_>, &mut Tape) -> Vetted,
    /// The same for names and brackets alone.
    pub names: fn(&[u8], usize, &mut Vetting<'_>, &mut Tape) -> Vetted,
    /// To the end of the plain part of a string.
    pub plain: fn(&[u8], usize) -> Plain,
    /// To the first byte that is special in a string, or is not ASCII.
    pub ascii: fn(&[u8], usize) -> usize,
    /// How many bytes begin a character.
    pub chars: fn(&[u8]) -> u64,
    /// To the first byte that is no white space.
    pub space: fn(&[u8], usize) -> usize,
    /// Appends all but insignificant white space.
    pub compact: fn(&[u8], &mut Vec<u8>),
}

/// Makes the table of entry points for a backend, each compiled with the backend's features.
macro_rules! instantiate {
    ($lanes:ident, $proof:ident, $features:literal) => {
        pub(super) static KERNELS: $crate::backend::Kernels = {
            #[target_feature(enable = $features)]
            fn skip(bytes: &[u8], from: usize, state: &mut $crate::skip::Skip) -> $crate::skip::Skipped {
                $crate::skip::skip::<$lanes>($proof(()), bytes, from, state)
            }
            #[target_feature(enable = $features)]
            fn tally(
                bytes: &[u8],
                from: usize,
                state: &mut $crate::tally::Tallying,
            ) -> $crate::skip::Skipped {
                $crate::tally::tally::<$lanes>($proof(()), bytes, from, state)
            }
            #[target_feature(enable = $features)]
            fn members(
                bytes: &[u8],
                from: usize,
                state: &mut $crate::members::Naming<'_>,
            ) -> $crate::members::Named {
                $crate::members::members::<$lanes>($proof(()), bytes, from, state)
            }
            #[target_feature(enable = $features)]
            fn seek(
                bytes: &[u8],
                from: usize,
                state: &mut $crate::seek::Seeking<'_>,
            ) -> $crate::seek::Sought {
                $crate::seek::seek::<$lanes>($proof(()), bytes, from, state)
            }
            #[target_feature(enable = $features)]
            fn vet(bytes: &[u8], from: usize, state: &mut $crate::vet::Vetting<'_>) -> $crate::vet::Vetted {
                $crate::vet::vet::<$lanes, _>($proof(()), bytes, from, state, &mut $crate::vet::Nowhere)
            }
            #[target_feature(enable = $features)]
            fn index(
                bytes: &[u8],
                from: usize,
                state: &mut $crate::vet::Vetting<'_>,
                tape: &mut $crate::vet::Tape,
            ) -> $crate::vet::Vetted {
                $crate::vet::vet::<$lanes, _>($proof(()), bytes, from, state, tape)
            }
            #[target_feature(enable = $features)]
            fn names(
                bytes: &[u8],
                from: usize,
                state: &mut $crate::vet::Vetting<'_>,
                tape: &mut $crate::vet::Tape,
            ) -> $crate::vet::Vetted {
                $crate::vet::vet::<$lanes, _>($proof(()), bytes, from, state, &mut $crate::vet::Names(tape))
            }
            #[target_feature(enable = $features)]
            fn plain(bytes: &[u8], from: usize) -> $crate::runs::Plain {
                $crate::runs::plain::<$lanes>($proof(()), bytes, from)
            }
            #[target_feature(enable = $features)]
            fn ascii(bytes: &[u8], from: usize) -> usize {
                $crate::runs::ascii::<$lanes>($proof(()), bytes, from)
            }
            #[target_feature(enable = $features)]
            fn chars(bytes: &[u8]) -> u64 {
                $crate::runs::chars::<$lanes>($proof(()), bytes)
            }
            #[target_feature(enable = $features)]
            fn space(bytes: &[u8], from: usize) -> usize {
                $crate::runs::space::<$lanes>($proof(()), bytes, from)
            }
            #[target_feature(enable = $features)]
            fn compact(bytes: &[u8], out: &mut Vec<u8>) {
                $crate::compact::without_space::<$lanes>($proof(()), bytes, out)
            }
            $crate::backend::Kernels {
                // SAFETY: the table is handed out only after the features were detected.
                skip: |bytes, from, state| unsafe { skip(bytes, from, state) },
                // SAFETY: as above.
                tally: |bytes, from, state| unsafe { tally(bytes, from, state) },
                // SAFETY: as above.
                members: |bytes, from, state| unsafe { members(bytes, from, state) },
                // SAFETY: as above.
                seek: |bytes, from, state| unsafe { seek(bytes, from, state) },
                // SAFETY: as above.
                vet: |bytes, from, state| unsafe { vet(bytes, from, state) },
                // SAFETY: as above.
                index: |bytes, from, state, tape| unsafe { index(bytes, from, state, tape) },
                // SAFETY: as above.
                names: |bytes, from, state, tape| unsafe { names(bytes, from, state, tape) },
                // SAFETY: as above.
                plain: |bytes, from| unsafe { plain(bytes, from) },
                // SAFETY: as above.
                ascii: |bytes, from| unsafe { ascii(bytes, from) },
                // SAFETY: as above.
                chars: |bytes| unsafe { chars(bytes) },
                // SAFETY: as above.
                space: |bytes, from| unsafe { space(bytes, from) },
                // SAFETY: as above.
                compact: |bytes, out| unsafe { compact(bytes, out) },
            }
        };
    };
    ($lanes:ident, ()) => {
        pub(super) static KERNELS: $crate::backend::Kernels = $crate::backend::Kernels {
            skip: |bytes, from, state| $crate::skip::skip::<$lanes>((), bytes, from, state),
            tally: |bytes, from, state| $crate::tally::tally::<$lanes>((), bytes, from, state),
            members: |bytes, from, state| $crate::members::members::<$lanes>((), bytes, from, state),
            seek: |bytes, from, state| $crate::seek::seek::<$lanes>((), bytes, from, state),
            vet: |bytes, from, state| {
                $crate::vet::vet::<$lanes, _>((), bytes, from, state, &mut $crate::vet::Nowhere)
            },
            index: |bytes, from, state, tape| $crate::vet::vet::<$lanes, _>((), bytes, from, state, tape),
            names: |bytes, from, state, tape| {
                $crate::vet::vet::<$lanes, _>((), bytes, from, state, &mut $crate::vet::Names(tape))
            },
            plain: |bytes, from| $crate::runs::plain::<$lanes>((), bytes, from),
            ascii: |bytes, from| $crate::runs::ascii::<$lanes>((), bytes, from),
            chars: |bytes| $crate::runs::chars::<$lanes>((), bytes),
            space: |bytes, from| $crate::runs::space::<$lanes>((), bytes, from),
            compact: |bytes, out| $crate::compact::without_space::<$lanes>((), bytes, out),
        };
    };
}
pub(super) use instantiate;
