//! Query, count, sample, and profile JSON that is too big to load. An [`Analysis`] answers all its
//! queries in one pass. Memory depends on the queries, never on the length of the document.
//!
//! ```
//! use trommel::{Analysis, Document, Match};
//!
//! # fn main() -> Result<(), trommel::Error> {
//! let events = r#"{"events": [{"id": 7, "ok": true}, {"id": 8, "ok": false}]}"#;
//! let mut log = Document::from_bytes(events);
//! let analysis = Analysis::new()
//!     .extract("$.events[*].id".parse()?)
//!     .count("$.events[?@.ok == false]".parse()?)
//!     .stats();
//! let mut ids = Vec::new();
//! let report = analysis.run_with(&mut log, &mut |found: &Match<'_>| {
//!     ids.push(String::from_utf8_lossy(found.value).into_owned());
//!     Ok(())
//! })?;
//! assert_eq!(ids, ["7", "8"]);
//! assert_eq!(report.answers[1].count(), Some(1));
//! # Ok(())
//! # }
//! ```
//!
//! # Contents
//!
//! - [Should I use this crate?](#should-i-use-this-crate)
//! - [Terms](#terms)
//! - [Inputs](#inputs)
//! - [Measures](#measures)
//! - [Filters on records](#filters-on-records)
//! - [Order and held matches](#order-and-held-matches)
//! - [Malformed records](#malformed-records)
//! - [Threads and parts](#threads-and-parts)
//! - [Validation and coverage](#validation-and-coverage)
//! - [Limits](#limits)
//! - [Features](#features)
//!
//! # Should I use this crate?
//!
//! Yes, to query JSON that is large, comes from a pipe, or comes from a source you do not trust. To
//! change JSON, or to deserialize a small document, use `serde_json`. If you need only events,
//! queries, samples, or statistics, use [`reader`], [`path`](mod@path), [`sampler`], or
//! [`statistics`] alone. This crate combines the four; their APIs change less often than its own.
//!
//! # Terms
//!
//! A *document* is an input. Its *framing* divides it into *records*. Each record is one JSON
//! value; a query is evaluated on each, with the record as `$`. A *measure* is one request of an
//! analysis: an extraction, a count, a sample, statistics, or groups. A *node* is a value that a
//! query selects. The *population* of a sample is the set of values that it is drawn from.
//! *Coverage* reports which parts of the input were read.
//!
//! # Inputs
//!
//! [`Document`] takes a file, bytes, or any reader. gzip, zstd, bzip2, and xz are recognized by
//! their first bytes; offsets count bytes after decompression. A file is read through a window
//! unless [`MapPolicy::trusted`](reader::MapPolicy::trusted) allows mapping it. Mapping is faster,
//! but the caller must promise that nothing changes the file while it is mapped. If a file has
//! changed by the end of a run, the run returns an error.
//!
//! # Measures
//!
//! [`Extract`] passes values to a [`Sink`] as they are found: the verbatim bytes of the input, with
//! nothing rounded, reordered, or dropped. The crate `trommel-values` returns them in batches
//! instead, for callers that pull. [`Count`] counts nodes, elements, or members. [`Sample`]
//! draws items at random, from the start, from the end, evenly spaced, or from each group. Random
//! samples are seeded and uniform, and the same on every platform and for every number of threads.
//! [`Sample::origins`] adds the path, span, and record of each item.
//! [`Stats`] computes the size, structure, and types of the input, and describes the arrays and
//! objects of each path. On request it infers a JSON Schema and computes statistics of the values.
//! [`Group`] groups records by the values of queries, with counts and figures for each group
//! ([`groups`]). Beyond its limits, groups are an error, or only the most frequent ones remain.
//! An [`Analysis`] takes any number of measures and answers them in one pass. There is one
//! exception: an evenly spaced sample without a stride first counts its population.
//!
//! # Filters on records
//!
//! [`Analysis::filter`] keeps the records for which a filter holds. Both `@` and `$` are the
//! record, so `@.level == 'error'` selects lines of a log. Every measure then covers the kept
//! records only; record numbers, offsets, and locations remain those of the whole input. A filter
//! is evaluated before its record is matched, and visits only the nodes that it names. A dropped
//! record is validated like other skipped bytes. [`Coverage`] counts the dropped records.
//!
//! # Records within documents
//!
//! [`Analysis::each`] makes every node of a query a record: `$.data.records[*]` treats an array of
//! one document as a stream. In all measures and filters, `$` is then that node. Locations and
//! offsets remain those of the whole document.
//!
//! # Order and held matches
//!
//! The values of a query are emitted in the order of RFC 9535 or, with
//! [`Order::Document`](path::Order::Document), in the order of the input. The two orders differ for
//! `..`, several selectors in a segment, and reverse slices. For these, a match is held until all
//! matches that precede it in the order are known. A held match is a span of a few bytes. The spans
//! take up to 16 MiB of memory; more go to an unnamed temporary file. Counts, samples, and
//! statistics hold no matches.
//!
//! If the input is a reader, some queries must rewind it: those that hold matches, and those with a
//! negative index or with `$` in a filter. For them, the record is spooled to a temporary file, up
//! to [`Limits::spool_bytes`](reader::Limits::spool_bytes). Every other query runs within the
//! window and emits each match without waiting for the end of the input.
//!
//! # Malformed records
//!
//! With [`OnBadRecord::Skip`], a run over a record stream continues after a malformed record, if
//! the framing has a delimiter. Every record is then validated in full before it is matched, so a
//! malformed record adds nothing to any answer. [`Sink::damaged`] receives its number and error.
//!
//! # Threads and parts
//!
//! If the input is in memory or mapped, a stream of lines or a long array of one document is
//! processed on several threads: those of rayon's current pool, or [`Analysis::threads`]. Answers,
//! the order of values, errors, and coverage never depend on the number of threads.
//!
//! [`Analysis::sequence`] runs over several documents in order, as one sequence of records.
//!
//! [`Document::part`] and [`Document::range`] restrict a document of lines to the records that
//! start in a range of bytes, for several processes or machines. [`Analysis::run_part`] processes
//! part of an input and returns a [`Partial`], which can be stored, sent, and merged. Merged
//! counts, statistics, and groups equal those of one run. There are two exceptions. When the paths
//! of a profile exceed its memory, several paths share a row, and which ones do may depend on the
//! division into parts. So may the groups that remain beyond
//! their limits.
//!
//! # Validation and coverage
//!
//! The bytes that a query visits are always validated in full. By default, so are the bytes that it
//! skips. Under [`Validation::Structural`](reader::Validation::Structural), only the brackets and
//! strings in skipped bytes are validated, which is several times faster.
//!
//! A run stops when no later byte can change an answer, and does not validate the remaining bytes.
//! Under strict validation, it stops only at the end of a record or document, so each record that
//! it starts is validated to its end. Under structural validation, it leaves each record as soon as
//! the remaining bytes of the record cannot change an answer. [`Coverage`] reports how much was
//! read, and if all of it was validated.
//!
//! # Limits
//!
//! Depth, token length, and temporary files have [limits](reader::Limits); an error names the limit
//! and its value. The parser limits the size of queries. Time, the number of results, and their
//! size have no limit: services for untrusted users need [`Cancel`], [`Extract::limit`], and a sink
//! that returns an error when it has received enough.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `compression` (default) | gzip, zstd, bzip2, and xz |
//! | `parallel` (default) | several threads |
//! | `serde` (default) | [`Partial`], [`Match::decode`]; serialization of [`Coverage`] and [`Summary`](statistics::Summary) |

mod analysis;
#[cfg(feature = "parallel")]
mod buffered;
mod control;
#[cfg(feature = "parallel")]
mod divide;
mod document;
mod elements;
mod error;
mod extract;
#[cfg(feature = "parallel")]
mod long;
mod measure;
#[cfg(feature = "parallel")]
mod parallel;
#[cfg(feature = "serde")]
mod partial;
mod repeated;
mod report;
mod run;
mod sample;
mod sequence;
mod sequential;
mod setup;
mod stats;

pub use analysis::{Analysis, OnBadRecord};
pub use document::{Document, ElementPart, framing_of};
pub use error::{Error, NotCountable, PartError};
pub use measure::{Count, CountAs, Extract, Measure, Sample, Stats, Strategy};
#[cfg(feature = "serde")]
pub use partial::Partial;
pub use report::{
    Answer, Coverage, Damage, ItemOrigin, Match, PathStats, Report, SampleAnswer, SampleItem, Sink,
    StatsAnswer, StratumAnswer,
};
pub use sequence::Sequence;
pub use trommel_base::{Cancel, Progress};
pub use trommel_group::{Group, Groups};
pub use trommel_packed::{is_packed, unpacked};
pub use trommel_path::RepeatedName;

/// Cursors and events over JSON bytes.
pub use trommel_reader as reader;

/// Query parsing and matching.
pub use trommel_path as path;

/// Groups of records.
pub use trommel_group as groups;

/// Seeded sampling.
pub use trommel_sampler as sampler;

/// Mergeable statistics.
pub use trommel_stats as statistics;

/// The programs of the page for embedders compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/EMBEDDING.md")]
struct EmbeddingPage;
