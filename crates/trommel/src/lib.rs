//! Question JSON that is too big to load: extract, count, sample and describe, in one pass, in
//! memory that follows the questions and never the document.
//!
//! ```
//! use trommel::{Analysis, Document, Found};
//!
//! # fn main() -> Result<(), trommel::Error> {
//! let events = r#"{"events": [{"id": 7, "ok": true}, {"id": 8, "ok": false}]}"#;
//! let mut log = Document::from_bytes(events);
//! let questions = Analysis::new()
//!     .extract("$.events[*].id".parse()?)
//!     .count("$.events[?@.ok == false]".parse()?)
//!     .stats();
//! let mut ids = Vec::new();
//! let report = questions.run_with(&mut log, &mut |found: &Found<'_>| {
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
//! - [Questions](#questions)
//! - [Filters on records](#filters-on-records)
//! - [Order, and what has to look back](#order-and-what-has-to-look-back)
//! - [Bad records](#bad-records)
//! - [Threads and parts](#threads-and-parts)
//! - [Validation and coverage](#validation-and-coverage)
//! - [Limits](#limits)
//! - [Features](#features)
//!
//! # Should I use this crate?
//!
//! Yes, to ask something of JSON that is large, or comes from a pipe, or from people you do not
//! know. To change JSON, or to turn all of a small document into Rust values, use `serde_json`. Who
//! needs only events, only queries, only samples or only statistics can take [`reader`],
//! [`path`](mod@path), [`sampler`] or [`statistics`] alone; they change more slowly than this
//! crate, which puts them together and adds nothing of its own but that.
//!
//! # Terms
//!
//! A *document* is an input, divided into *records* by its *framing*; each record is one JSON
//! value, and `$` in a query is each record in turn. A *measure* is one question. A *node* is a
//! value that a query selects. The *population* of a sample is what it is drawn from. *Coverage*
//! says what was read.
//!
//! # Inputs
//!
//! [`Document`] takes a file, bytes, or any reader. gzip and zstd are recognised by their first
//! bytes; offsets count bytes after decompression. A file is read through a window unless
//! [`MapPolicy::trusted`](reader::MapPolicy::trusted) lets it be mapped, which is faster and needs
//! the promise that nobody changes it meanwhile. A change is noticed at the end and makes the
//! answer an error.
//!
//! # Questions
//!
//! [`Extract`] hands values to a [`Sink`] as they are found: the bytes that stand in the input,
//! nothing rounded, reordered or dropped. [`Count`] counts nodes, elements or members. [`Sample`]
//! draws at random (seeded, uniform, the same on every platform and for every number of threads),
//! from the front, the end, evenly, or group by group. [`Stats`] describes sizes, structure, types,
//! arrays and objects by path, and on request a JSON Schema and figures of the values. Any number
//! of them goes into one [`Analysis`] and is answered in one pass.
//!
//! # Filters on records
//!
//! [`Analysis::filter`] keeps the records for which a filter holds, with `@` and `$` both the
//! record, so that `@.level == 'error'` selects lines of a log. Every measure then covers the kept
//! records only; record numbers, offsets, and locations remain those of the whole input. A filter
//! is evaluated over the record's bytes before the record is matched, and walks only to the nodes
//! it names. Dropped records are skipped under the run's validation and counted in [`Coverage`].
//!
//! # Order, and what has to look back
//!
//! Values of a query come in the order of RFC 9535, or with
//! [`Order::Document`](path::Order::Document) as they stand in the input. Where the two differ
//! (`..`, several selectors in a segment, reverse slices) matches are held as spans, a few bytes
//! each, until no earlier one can follow: 16 MiB in memory, then a temporary file without a name.
//! Counts, samples and statistics hold nothing. On a reader, a query that must look back (those, a
//! negative index, `$` in a filter) keeps the record in a temporary file up to
//! [`Limits::spool_bytes`](reader::Limits::spool_bytes); every other query runs within the window
//! and gives its first match before the input ends.
//!
//! # Bad records
//!
//! With [`OnBadRecord::Skip`] a record stream goes on after a record that is no JSON, where the
//! framing has a delimiter. Every record is then checked in full before it is questioned, so that a
//! bad one adds nothing to any answer; it is reported to [`Sink::damaged`].
//!
//! # Threads and parts
//!
//! A stream of lines in memory or mapped, and a long array of one document, is answered on several
//! threads (rayon's current pool, or [`Analysis::threads`]); the answers, the order of the values,
//! errors and coverage never depend on their number. [`Analysis::run_part`] answers part of an
//! input as a [`Partial`], which can be stored, sent and merged: counts and statistics come out
//! exactly as from one run. (Only where a description's paths take more memory than it may, which
//! of them share a row may depend on how the input was cut.)
//!
//! # Validation and coverage
//!
//! The bytes that a query visits are always validated in full. The bytes that it skips are
//! validated in full by default, or under
//! [`Validation::Structural`](reader::Validation::Structural) only for their brackets and strings,
//! several times faster.
//!
//! A run stops where no later byte can change an answer, and does not check the bytes after that
//! place. Under strict validation it stops only at the end of a record or document: a record that
//! is decided early is validated to its end, in every framing. Under structural validation a
//! decided record is left at once. [`Coverage`] reports all of this.
//!
//! # Limits
//!
//! Depth, token length and temporary files have [limits](reader::Limits), each named with its value
//! where it refuses. Queries are bounded when they are parsed. Nothing limits time, the number of
//! results, or their size: whoever serves strangers uses [`Cancel`], [`Extract::limit`] and a sink
//! that stops.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `compression` (default) | gzip and zstd |
//! | `parallel` (default) | several threads |
//! | `serde` (default) | [`Partial`], [`Found::decode`]; [`Coverage`] and [`Summary`](statistics::Summary) serialize |

mod alone;
mod analysis;
mod control;
#[cfg(feature = "parallel")]
mod divide;
mod document;
mod error;
mod extract;
#[cfg(feature = "parallel")]
mod kept;
mod measure;
mod notes;
mod packed;
#[cfg(feature = "parallel")]
mod parallel;
#[cfg(feature = "serde")]
mod partial;
mod repeated;
mod report;
mod run;
mod sample;
mod setup;
mod stats;
#[cfg(feature = "parallel")]
mod threads;

pub use analysis::{Analysis, OnBadRecord};
pub use document::{Document, framing_of};
pub use error::{Error, NotCountable};
pub use measure::{Count, CountAs, Extract, Measure, Sample, Stats, Strategy};
pub use packed::unpacked;
#[cfg(feature = "serde")]
pub use partial::Partial;
pub use repeated::RepeatedName;
pub use report::{
    Answer, Coverage, Damage, Found, PathStats, Report, SampleAnswer, SampleItem, Sink, StatsAnswer,
    StratumAnswer,
};
pub use trommel_base::{Cancel, Progress};

/// Bytes to events.
pub use trommel_reader as reader;

/// Queries and matching.
pub use trommel_path as path;

/// Seeded selections.
pub use trommel_sampler as sampler;

/// Mergeable figures.
pub use trommel_stats as statistics;
