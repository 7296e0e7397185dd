//! Classifies JSON 64 bytes at a time as bit masks, and answers what masks can answer without
//! reading tokens.
//!
//! This is the lowest crate of [trommel](https://docs.rs/trommel), and holds its vector code. It is
//! public only because the reader is a separate crate: **depend on `trommel-reader` or `trommel`
//! instead**. Its interface may change with every version.
//!
//! # How it works
//!
//! A [`Backend`] compares 64 bytes at once into bit masks, one bit per byte. The [`Kernels`] are
//! written once on top of that, and compiled for each backend with its instructions:
//!
//! | kernel | does |
//! | --- | --- |
//! | [`skip`](Kernels::skip) | skips a container by counting brackets outside strings |
//! | [`tally`](Kernels::tally) | skips a container, and counts values by type |
//! | [`members`](Kernels::members) | finds the next member of an object with one of a few names |
//! | [`trail`](Kernels::trail) | follows paths of names and elements, and collects the values at their ends |
//! | [`seek`](Kernels::seek) | finds the next member with a name at any depth, or counts such members |
//! | [`validate`](Kernels::validate) | validates by every rule of RFC 8259 |
//! | [`index`](Kernels::index), [`names`](Kernels::names) | validate, and record the offsets of tokens, or of names and brackets |
//! | [`plain`](Kernels::plain), [`ascii`](Kernels::ascii), [`space`](Kernels::space) | find the end of a run of similar bytes |
//! | [`chars`](Kernels::chars), [`compact`](Kernels::compact) | count characters, drop white space |
//!
//! All accept any bytes, start at any byte, and can continue after any byte with a few words of
//! state. For malformed JSON every backend returns the same result; reporting errors is the
//! reader's task.
//!
//! # Backends and platforms
//!
//! On x86-64, AVX2 with carry-less multiplication if the CPU has both, else SSE2; elsewhere
//! portable code. Tests check that all agree on every input. Only [`Backend`]'s module contains
//! `unsafe`.

mod backend;
mod blocks;
mod compact;
mod escapes;
mod foreign;
mod hits;
mod members;
mod runs;
mod seek;
mod skip;
mod stack;
mod tally;
mod text;
mod trace;
mod trail;
mod validate;

pub use backend::{Backend, Kernels};
pub use blocks::is_space;
pub use compact::Compactor;
pub use escapes::{count_chars, decode_escape, eq_escaped, hex4, unescape};
pub use foreign::Foreign;
pub use hits::{Hit, Hits, PlainMembers};
pub use members::{MemberSearch, MemberStop, Names};
pub use runs::{MAX_PASSED, Plain};
pub use seek::{Carry, DescendantSearch, Needle, SearchStop};
pub use skip::{Skip, Skipped};
pub use stack::Stack;
pub use tally::{Counts, Tallier};
#[doc(hidden)]
pub use text::word;
pub use text::{Text, TextLength};
pub use trace::{PassedBrackets, Trace};
pub use trail::{
    Carry as TrailCarry, Leave, Masks as TrailMasks, Trail, TrailHit, TrailLevel, TrailNode, TrailStop,
};
pub use validate::{RawMasks, Recording, SingleBlocks, Tape, Validated, Validator};

/// Appends `value`, one JSON value, without its insignificant white space.
///
/// Does not validate: malformed bytes are copied as [`Compactor`] describes. Linear in the length.
pub fn compact(value: &[u8], out: &mut Vec<u8>) {
    Compactor::default().push(value, out);
}

#[cfg(test)]
mod tests;
