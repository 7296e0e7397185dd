//! Seeded, mergeable samples of streams of unknown length.
//!
//! For programs that sample any stream of their own. To sample JSON, use the facade crate
//! `trommel`, which drives this one. This crate does not parse JSON, read a clock, or get
//! randomness from the operating system. The selection depends on the seed and the stream alone.
//!
//! # Contents
//!
//! | selection | selects | memory, in stored values |
//! |---|---|---|
//! | [`Reservoir`] | a uniform random sample | its capacity |
//! | [`Strata`] | a random sample in proportion to groups | its size per group |
//! | [`Systematic`] | candidates at even distances | its size |
//! | [`First`], [`Last`] | the ends of the stream | their size |
//! | [`winners`], [`winners_within`], [`systematic_indices`], [`allot`] | the same choices by arithmetic, once the totals are known | indices only |
//!
//! # Terms
//!
//! - *candidate*: an element of the stream. Candidates count from 0; the number of a candidate is
//!   its *index*.
//! - *seen*: the number of candidates offered or skipped, which is the size of the *population*.
//! - *gap*: the number of candidates to skip before the next wanted one (`to_skip`).
//! - *reservoir*: the slots that hold a sample while the stream continues.
//! - *stratum*: the candidates that share a key.
//! - *part*: a section of a stream with its own selection, to be merged with its neighbors.
//!
//! # How a selection is used
//!
//! All selections have the same shape. `offer_with` takes a closure and calls it only if the
//! candidate is wanted. `to_skip` returns the number of candidates that are not wanted, so that a
//! source can skip them cheaply and report that with `skip`. `merge` combines two parts;
//! `into_sample` ends the selection. A selection is `Send` and `Clone` if its values are.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use trommel_sampler::{Reservoir, Seed, winners};
//!
//! let capacity = NonZeroUsize::MIN.saturating_add(4);
//! let seed = Seed::new(42);
//!
//! // A stream that can skip: only wanted candidates are ever touched.
//! let mut stream = 0..1_000_000_u64;
//! let mut reservoir = Reservoir::new(capacity, seed);
//! while let Some(candidate) = stream.nth(reservoir.to_skip() as usize) {
//!     reservoir.skip(reservoir.to_skip());
//!     reservoir.offer_with(|| candidate);
//! }
//! reservoir.skip(1_000_000 - reservoir.seen());
//! let sample = reservoir.into_sample();
//! assert_eq!(sample.seen, 1_000_000);
//!
//! // The same by arithmetic, for a run that knows the total.
//! assert!(sample.indices().eq(winners(seed, capacity, 1_000_000)));
//!
//! // Two parts with seeds of their own, merged: as uniform, though not the same sample.
//! let part = |number: u64, range: std::ops::Range<u64>| {
//!     let mut part = Reservoir::new(capacity, seed.for_stream(number));
//!     range.for_each(|candidate| {
//!         part.offer_with(|| candidate);
//!     });
//!     part
//! };
//! let merged = part(0, 0..400_000).merge(part(1, 400_000..1_000_000)).into_sample();
//! assert_eq!(merged.seen, 1_000_000);
//! assert!(merged.items.iter().all(|item| item.index == item.value));
//! ```
//!
//! # Guarantees
//!
//! - **Uniform.** Each subset of the sample's size is equally likely, also for parts merged in any
//!   way, within the resolution of 53 bits. For populations up to 2⁵³ the deviation is far below
//!   anything a test could detect.
//! - **Reproducible.** A seed gives the same sample on every platform and in every release; the
//!   [`derivation`] is frozen. (The platform must implement IEEE 754 arithmetic: 32-bit x86 without
//!   SSE2 does not.)
//! - **Independent of the execution.** Without merges, the sample does not depend on chunks,
//!   threads, or skips. A merge depends on where the stream was split. For a result that does not
//!   depend on the number of threads, split at fixed positions, or count first and select the
//!   [`winners`].
//! - **No panic**, regardless of candidates, keys, counts, and stored states.
//!
//! The draws are not secret and a seed is short. Anyone who knows the seed and controls the stream
//! can influence the sample.
//!
//! # Limits
//!
//! Counts saturate at 2⁶⁴ − 1. A [`Strata`] has at most [`MAX_STRATA`] strata by default; bounding
//! the length of keys is up to the caller. Memory is otherwise bounded only by the requested sizes,
//! and nothing is allocated in advance.
//!
//! # Errors
//!
//! [`Error`] reports too many strata, systematic parts that do not fit together, and damaged stored
//! states. No other operation fails.
//!
//! # Features
//!
//! - `serde`: all selections, unfinished ones included, can be stored and continued or merged
//!   elsewhere. The stored form consists of the fields and carries no version; add one for
//!   long-term storage.

mod draw;
mod draws;
mod ends;
mod error;
mod map;
mod reservoir;
mod sample;
mod schedule;
mod seed;
mod strata;
mod systematic;

#[doc = include_str!("../DERIVATION.md")]
pub mod derivation {}

pub use draw::Draw;
pub use ends::{First, Last};
pub use error::Error;
pub use reservoir::{Reservoir, winners, winners_within};
pub use sample::{Item, Sample};
pub use seed::Seed;
pub use strata::{MAX_STRATA, Strata, StratifiedSample, Stratum, allot};
pub use systematic::{Systematic, systematic_indices};
