//! The entry points of a backend, each compiled with the backend's instructions.
//!
//! [`each_kernel`] is the only list of them. A backend instantiates all with [`instantiate`].

/// Passes the list of kernels to the macro `$make`: for each its name, its parameters, its result,
/// and the function that it instantiates for a backend, which takes the backend's proof first.
macro_rules! each_kernel {
    ($make:ident ($($input:tt)*)) => {
        $crate::backend::table::$make! { ($($input)*)
            /// Past the bracket that brings [`Skip::depth`](crate::Skip::depth) to zero.
            skip(bytes: &[u8], from: usize, state: &mut $crate::Skip) -> $crate::Skipped = skip::skip;
            /// The same, counting what is passed.
            tally(bytes: &[u8], from: usize, state: &mut $crate::Tallying) -> $crate::Skipped
                = tally::tally;
            /// To the next member of an object with one of a few names, or to its end.
            members(bytes: &[u8], from: usize, state: &mut $crate::Naming<'_>) -> $crate::Named
                = members::members;
            /// To the next member of a name, or past a bracket.
            seek(bytes: &[u8], from: usize, state: &mut $crate::Seeking<'_>) -> $crate::Sought
                = seek::seek;
            /// As far as all is right, or past a bracket.
            vet(bytes: &[u8], from: usize, state: &mut $crate::Vetting<'_>) -> $crate::Vetted
                = vet::vet;
            /// The same, writing down where tokens are; of at most
            /// [`Tape::MOST`](crate::Tape::MOST) bytes, for which the tape has
            /// [begun](crate::Tape::begin).
            index(
                bytes: &[u8],
                from: usize,
                state: &mut $crate::Vetting<'_>,
                tape: &mut $crate::Tape
            ) -> $crate::Vetted = vet::index;
            /// The same for names and brackets alone.
            names(
                bytes: &[u8],
                from: usize,
                state: &mut $crate::Vetting<'_>,
                tape: &mut $crate::Tape
            ) -> $crate::Vetted = vet::names;
            /// To the end of the plain part of a string.
            plain(bytes: &[u8], from: usize) -> $crate::Plain = runs::plain;
            /// To the first byte that is special in a string, or is not ASCII.
            ascii(bytes: &[u8], from: usize) -> usize = runs::ascii;
            /// How many bytes begin a character.
            chars(bytes: &[u8]) -> u64 = runs::chars;
            /// To the first byte that is no white space.
            space(bytes: &[u8], from: usize) -> usize = runs::space;
            /// Appends all but insignificant white space.
            compact(bytes: &[u8], out: &mut Vec<u8>) -> () = compact::without_space;
        }
    };
}
pub(super) use each_kernel;

/// Declares the table of entry points.
macro_rules! declare {
    (() $(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $module:ident::$kernel:ident;
    )*) => {
        /// The entry points of a backend, chosen once. An index `from` is at most the number of
        /// bytes.
        #[derive(Debug)]
        pub struct Kernels {
            $(
                $(#[$doc])*
                pub $name: fn($($type),*) -> $result,
            )*
        }
    };
}
use declare;

each_kernel!(declare());

/// Fills the table for a backend, of which these are the `Lanes`; with the constructor of their
/// proof and their features, if not every CPU of the target has them.
macro_rules! fill {
    (($lanes:ident) $(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $module:ident::$kernel:ident;
    )*) => {
        pub(super) static KERNELS: $crate::backend::Kernels = $crate::backend::Kernels {
            $($name: |$($argument),*| $crate::$module::$kernel::<$lanes>((), $($argument),*),)*
        };
    };
    (($lanes:ident, $proof:ident, $features:literal) $(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $module:ident::$kernel:ident;
    )*) => {
        pub(super) static KERNELS: $crate::backend::Kernels = {
            $(
                #[target_feature(enable = $features)]
                fn $name($($argument: $type),*) -> $result {
                    $crate::$module::$kernel::<$lanes>($proof(()), $($argument),*)
                }
            )*
            $crate::backend::Kernels {
                $(
                    // SAFETY: the table is handed out only after the features were detected.
                    $name: |$($argument),*| unsafe { $name($($argument),*) },
                )*
            }
        };
    };
}
pub(super) use fill;

/// Makes `KERNELS`, the table of a backend: of its `Lanes`, and where these need a proof, of the
/// proof's constructor and the features that it proves.
macro_rules! instantiate {
    ($($backend:tt)*) => {
        $crate::backend::table::each_kernel!(fill($($backend)*));
    };
}
pub(super) use instantiate;
