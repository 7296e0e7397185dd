//! Seeded, mergeable samples of streams of unknown length.
//!
//! For programs that select from any stream of their own. Whoever wants a sample of JSON takes the
//! facade crate `trommel` instead, which drives this one. It knows nothing of JSON, reads no clock
//! and asks no operating system for randomness: what is selected follows from the seed and the
//! stream alone.
//!
//! # Contents
//!
//! | selection | what it takes | memory, in values kept |
//! |---|---|---|
//! | [`Reservoir`] | a uniform random sample | its capacity |
//! | [`Strata`] | a random sample in proportion to groups | its size per group |
//! | [`Systematic`] | candidates at even distances | its size |
//! | [`First`], [`Last`] | the ends of the stream | their size |
//! | [`winners`], [`winners_within`], [`systematic_indices`], [`allot`] | the same choices by arithmetic, once the totals are known | indices only |
//!
//! # Terms
//!
//! - *candidate*: what the stream consists of; candidates count from 0, and their number is the
//!   *index*.
//! - *seen*: how many candidates went by, offered or passed over; the size of the *population*.
//! - *gap*: how many candidates to pass over before the next wanted one (`to_skip`).
//! - *reservoir*: the slots a sample is kept in while the stream goes on.
//! - *stratum*: the candidates that share a key.
//! - *part*: a stretch of a stream with a selection of its own, to be merged with its neighbours.
//!
//! # How a selection is used
//!
//! All selections have the same shape. `offer_with` takes a closure and calls it only if the
//! candidate is wanted; `to_skip` tells how many are not, so that a source which can skip cheaply
//! does, and reports with `pass_over`; `merge` puts two parts together; `into_sample` ends it. A
//! selection is `Send` and `Clone` where its values are.
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
//!     reservoir.pass_over(reservoir.to_skip());
//!     reservoir.offer_with(|| candidate);
//! }
//! reservoir.pass_over(1_000_000 - reservoir.seen());
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
//! # What is promised
//!
//! - **Uniform.** Each subset of the sample's size is equally likely, for parts merged in any way
//!   too, up to what 53 bits resolve: for populations up to 2⁵³ the deviation is far below anything
//!   a test could show.
//! - **The same everywhere.** A seed means the same sample on every platform and in every release;
//!   the [`derivation`] is frozen. (The platform must do IEEE 754 arithmetic: 32-bit x86 without
//!   SSE2 does not.)
//! - **The same however it is run.** Without merges the sample does not depend on chunks, threads
//!   or skips. A merge depends on where the stream was cut, so a run whose answer must not depend
//!   on the number of threads cuts at places that do not, or counts first and takes the
//!   [`winners`].
//! - **No panic**, whatever the candidates, keys, counts and stored states are.
//!
//! The draws are no secret and a seed is short: a sample is not safe from someone who shapes the
//! stream knowing it.
//!
//! # Limits
//!
//! Counts saturate at 2⁶⁴ − 1. A [`Strata`] has at most [`MAX_STRATA`] strata unless set otherwise;
//! the length of keys is the caller's to bound. Nothing else is limited but by the sizes asked for,
//! and nothing is allocated beforehand.
//!
//! # Errors
//!
//! One type, [`Error`], for a stratum too many and for systematic parts that do not fit together.
//! Everything else cannot fail.
//!
//! # Features
//!
//! - `serde`: all selections, unfinished ones included, can be stored and continued or merged
//!   elsewhere. The form is that of the fields and carries no version; who stores it for long adds
//!   one.

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
