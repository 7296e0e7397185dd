//! Bytes to masks: what can be told of JSON 64 bytes at a time, without reading it token by token.
//!
//! This is the lowest crate of [trommel](https://docs.rs/trommel), and holds its vector code. It is
//! public because the reader is a crate of its own, not because it is meant to be used: **depend on
//! `trommel-reader` or `trommel` instead**. What is here may change with every version.
//!
//! # How it works
//!
//! A [`Backend`] compares 64 bytes at once into bit masks, one bit a byte. On top of that, written
//! once and compiled for each backend with its instructions, stand the [`Kernels`]:
//!
//! | kernel | does |
//! | --- | --- |
//! | [`skip`](Kernels::skip) | goes past a container, counting brackets outside of strings |
//! | [`tally`](Kernels::tally) | the same, counting what is passed by type |
//! | [`members`](Kernels::members) | goes to the next member of an object that has one of a few names |
//! | [`seek`](Kernels::seek) | goes to the next member of a name, at any depth, or counts them |
//! | [`vet`](Kernels::vet) | goes as far as all is right by every rule of RFC 8259 |
//! | [`index`](Kernels::index), [`names`](Kernels::names) | the same, and say where tokens are, or names and brackets |
//! | [`plain`](Kernels::plain), [`ascii`](Kernels::ascii), [`space`](Kernels::space) | go to the end of what is all alike |
//! | [`chars`](Kernels::chars), [`compact`](Kernels::compact) | count characters, drop white space |
//!
//! All take any bytes, JSON or not, start at any byte, and can go on after any byte with a few
//! words of state. What is no JSON gives some answer, the same from every backend; to judge it is
//! the reader's work.
//!
//! # Backends and platforms
//!
//! On x86-64 AVX2 with carry-less multiplication where the CPU has both, else SSE2; elsewhere
//! portable code. All are tested to agree on every input. `unsafe` stands in [`Backend`]'s module
//! alone.

mod backend;
mod blocks;
mod compact;
mod escapes;
mod hits;
mod members;
mod runs;
mod seek;
mod skip;
mod stack;
mod tally;
mod trace;
mod vet;

pub use backend::{Backend, Kernels};
pub use blocks::is_space;
pub use escapes::{count_chars, decode_escape, eq_escaped, hex4};
pub use hits::{Hit, Hits, Taken};
pub use members::{Named, Names, Naming};
pub use runs::Plain;
pub use seek::{Carry, Needle, Seeking, Sought};
pub use skip::{Skip, Skipped};
pub use stack::Stack;
pub use tally::{Counts, Tallying};
pub use trace::{Passed, Trace};
pub use vet::{Tape, Vetted, Vetting};

/// Appends `value`, one JSON value, without its insignificant white space.
///
/// The bytes are taken as valid; what is not is copied verbatim. Linear in the length.
pub fn compact(value: &[u8], out: &mut Vec<u8>) {
    (Backend::detect().kernels().compact)(value, out);
}

#[cfg(test)]
mod tests;
