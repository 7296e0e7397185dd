//! Test support for trommel: oracles simple enough to be trusted, generators of documents, queries,
//! and damage, readers that misbehave, and a counting allocator.
//!
//! This crate is never published, and only tests and benches depend on it. Its code aims to be
//! obviously correct rather than fast: it processes one byte and one value at a time and keeps
//! every intermediate result.
//!
//! # Contents
//!
//! | module | purpose |
//! | --- | --- |
//! | [`naive`] | RFC 8259 and record streams: bytes to a tree with spans |
//! | [`evaluate`] | RFC 9535, implemented literally over that tree |
//! | [`statistics`] | exact figures about that tree |
//! | [`decimal`] | numbers by their exact value |
//! | [`generate`] | random documents, streams, queries, and damage from a seed |
//! | [`chunks`], [`repeat`] | readers with short reads and failures; documents of any size that are never stored |
//! | [`events`] | a large file for measurements |
//! | [`conformance`] | the third-party suites, typed |
//! | [`alloc`] | a counting allocator |
//! | [`effort`] | the number of random cases of a test |
//!
//! # Terms
//!
//! A *span* is a half-open range of absolute byte offsets. A *shape* bounds a random document,
//! *query options* a random query. The same seed gives the same bytes on every machine and with
//! every release of this crate's dependencies, because their source, the eight-round ChaCha, is
//! frozen. Changing a generator changes the output of its seeds.
//!
//! # Example
//!
//! Evaluates random queries over random documents, and parses each selected node again from its
//! span:
//!
//! ```
//! use trommel_query::Query;
//! use trommel_testkit::evaluate::{Duplicates, evaluate};
//! use trommel_testkit::generate::{Shape, QueryOptions, document, query};
//! use trommel_testkit::naive::{self, parse};
//!
//! for seed in 0..20 {
//!     let text = document(seed, &Shape::default());
//!     let tree = parse(&text)?;
//!     let query: Query = query(seed, &tree, &QueryOptions::default()).parse()?;
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
//! The tree takes about a hundred bytes per value. The evaluator's time is the product of the nodes
//! that the segments of a query visit, and of filters within filters. The reader returns an
//! [`Error`](naive::Error) for malformed input. Everything else panics on misuse or on a suite of
//! unexpected form, which is appropriate in a test.

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
