//! The entry points of a backend, each compiled with the backend's instructions.
//!
//! [`each_kernel`] is the only list of kernels. A backend instantiates all of them with
//! [`instantiate`].

/// Passes the list of kernels to the macro `$make`: for each its name, parameters, and result, and
/// the function that it instantiates for a backend. That function takes the backend's proof as its
/// first parameter.
macro_rules! each_kernel {
    ($make:ident ($($input:tt)*)) => {
        $crate::backend::table::$make! { ($($input)*)
            /// Skips to the bracket that brings [`Skip::depth`](crate::Skip::depth) to zero.
            skip(bytes: &[u8], from: usize, state: &mut $crate::Skip) -> $crate::Skipped = skip::skip;
            /// Skips like `skip`, and counts values by type.
            tally(bytes: &[u8], from: usize, state: &mut $crate::Tallier) -> $crate::Skipped
                = tally::tally;
            /// Finds the next member of an object with one of a few names, or the object's end.
            members(bytes: &[u8], from: usize, state: &mut $crate::MemberSearch<'_>) -> $crate::MemberStop
                = members::members;
            /// Follows plain paths, and collects the values at their ends.
            trail(
                bytes: &[u8],
                from: usize,
                nodes: &[$crate::TrailNode],
                state: &mut $crate::Trail
            ) -> $crate::TrailStop = trail::trail;
            /// A part of `trail`: classifies a block.
            classify(
                block: &[u8; $crate::backend::BLOCK],
                address: usize,
                carry: &mut $crate::TrailCarry
            ) -> $crate::TrailMasks = trail::classify;
            /// A part of `trail`: leaves a container in whole blocks.
            leave(blocks: &[[u8; $crate::backend::BLOCK]], state: &mut $crate::Leave) -> Option<usize>
                = trail::leave;
            /// Finds the next member with a name, or stops at a bracket.
            seek(bytes: &[u8], from: usize, state: &mut $crate::DescendantSearch<'_>) -> $crate::SearchStop
                = seek::seek;
            /// Validates up to a bracket or an error.
            validate(bytes: &[u8], from: usize, state: &mut $crate::Validator<'_>) -> $crate::Validated
                = validate::validate;
            /// Validates, and records the offsets of tokens, for at most
            /// [`Tape::MAX_BYTES`](crate::Tape::MAX_BYTES) bytes.
            /// [`Tape::begin`](crate::Tape::begin) must be called first.
            index(
                bytes: &[u8],
                from: usize,
                state: &mut $crate::Validator<'_>,
                tape: &mut $crate::Tape
            ) -> $crate::Validated = validate::index;
            /// Validates, and records only names and brackets.
            names(
                bytes: &[u8],
                from: usize,
                state: &mut $crate::Validator<'_>,
                tape: &mut $crate::Tape
            ) -> $crate::Validated = validate::names;
            /// All of the three above.
            strict(
                bytes: &[u8],
                from: usize,
                state: &mut $crate::Validator<'_>,
                recording: $crate::Recording<'_>
            ) -> $crate::Validated = validate::strict;
            /// A part of the four above: finds the bytes of a group of blocks by value.
            raw_masks(group: &[[u8; $crate::backend::BLOCK]; $crate::backend::GROUP], raw: &mut $crate::RawMasks)
                -> () = validate::raw_masks;
            /// A part of the four above: validates what their groups of blocks leave.
            single_blocks(bytes: &[u8], from: usize, state: &mut $crate::SingleBlocks<'_, '_>) -> ()
                = validate::single_blocks;
            /// A part of `trail`: finds the end of a valid string.
            string(bytes: &[u8], start: usize) -> Option<usize> = runs::string;
            /// Finds the end of the plain part of a string.
            plain(bytes: &[u8], from: usize) -> $crate::Plain = runs::plain;
            /// Finds the first byte that is special in a string or not ASCII.
            ascii(bytes: &[u8], from: usize) -> usize = runs::ascii;
            /// Counts the bytes that start a character.
            chars(bytes: &[u8]) -> u64 = runs::chars;
            /// Finds the first byte that is not white space.
            space(bytes: &[u8], from: usize) -> usize = runs::space;
            /// Appends all bytes except insignificant white space.
            compact(bytes: &[u8], state: &mut $crate::Compactor, out: &mut Vec<u8>) -> () = compact::without_space;
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
        /// The entry points of a backend. An index `from` is at most the number of bytes.
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

/// Fills the table of a backend with the given `Lanes`. If not every CPU of the target has its
/// features, also takes the constructor of their proof, and their names.
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
                    // SAFETY: the table is returned only after the features were detected.
                    $name: |$($argument),*| unsafe { $name($($argument),*) },
                )*
            }
        };
    };
}
pub(super) use fill;

/// Defines `KERNELS`, the table of a backend, for its `Lanes`. If they need a proof, also takes the
/// proof's constructor and the features that it proves.
macro_rules! instantiate {
    ($($backend:tt)*) => {
        $crate::backend::table::each_kernel!(fill($($backend)*));
    };
}
pub(super) use instantiate;
