//! What the tests of trommel are measured against: oracles that are plain enough to be believed,
//! generators of documents, queries and damage, readers that misbehave, and an allocator that
//! counts.
//!
//! This crate is never published and nothing but tests and benches depends on it. Everything in it
//! is written to be obviously right rather than fast: one byte after another, one value after
//! another, every intermediate result kept.
//!
//! # Contents
//!
//! | module | what it is for |
//! | --- | --- |
//! | [`naive`] | RFC 8259 and record streams: bytes to a tree with spans |
//! | [`evaluate`] | RFC 9535, word by word, over that tree |
//! | [`statistics`] | exact figures about that tree |
//! | [`decimal`] | numbers by their exact value |
//! | [`generate`] | random documents, streams, queries and damage from a seed |
//! | [`chunks`], [`repeat`] | readers with short reads and failures; documents of any size that are never stored |
//! | [`events`] | a large file for measurements |
//! | [`conformance`] | the third-party suites, typed |
//! | [`alloc`] | counts of what is asked of the allocator |
//! | [`effort`] | how many random cases a test tries |
//!
//! # Terms
//!
//! A *span* is a half-open range of absolute byte offsets. A *shape* bounds a random document,
//! *wishes* a random query. The same seed gives the same bytes on every machine and release of this
//! crate's dependencies, since their source, the eight-round ChaCha, is frozen; a change to a
//! generator changes what its seeds stand for.
//!
//! # Example
//!
//! A random query over a random document, answered by the evaluator, each node read back from where
//! it stands:
//!
//! ```
//! use trommel_query::Query;
//! use trommel_testkit::evaluate::{Duplicates, evaluate};
//! use trommel_testkit::generate::{Shape, Wishes, document, query};
//! use trommel_testkit::naive::{self, parse};
//!
//! for seed in 0..20 {
//!     let text = document(seed, &Shape::default());
//!     let tree = parse(&text)?;
//!     let query: Query = query(seed, &tree, &Wishes::default()).parse()?;
//!     for node in evaluate(&tree, query.segments(), Duplicates::First) {
//!         let part = parse(&text[node.span.range()])?;
//!         assert!(naive::equal((&tree, node.value), (&part, part.root())), "{}", node.path);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits, errors and cost
//!
//! The tree takes some hundred bytes a value; the evaluator's time is the product of what the
//! segments of a query visit, and of filters within filters. The reader answers bad input with an
//! [`Error`](naive::Error); everything else panics when it is misused or a suite is not as
//! expected, which in a test is the right thing to do.

#![expect(
    clippy::exhaustive_enums,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "test support, never published: a panic is how it reports misuse, and its enums may grow"
)]

pub mod alloc;
pub mod chunks;
pub mod conformance;
pub mod decimal;
pub mod effort;
pub mod evaluate;
pub mod events;
pub mod generate;
pub mod golden;
pub mod naive;
pub mod repeat;
pub mod statistics;
