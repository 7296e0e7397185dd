//! RFC 9535 JSONPath on a pull parser: many queries in one pass, in bounded memory, over slices and
//! streams.
//!
//! # When to use this crate
//!
//! To get answers, use the facade `trommel`. Use this crate to drive a
//! [`Cursor`](trommel_reader::Cursor) yourself and learn where nodes begin and end. It neither
//! builds nor copies values: a match is a span, a location, and on request the events inside. The
//! syntax of queries is that of `trommel-query`, which this crate re-exports.
//!
//! # Terms
//!
//! A [`Plan`] is a set of queries compiled into one automaton. It is immutable and can be shared
//! between threads. Each query has a [`QueryId`]. A [`Scratch`] is the memory that matching needs.
//! Use one per thread; any plan can reuse it.
//!
//! A [`Matcher`] is pulled by its consumer: each [`Step`] reports that a node begins (`Enter`) or
//! ends (`Leave`), or passes on an event of the cursor. The events between the two are the node's
//! *region*. A *record* is one document of the input, and `$` is each record in turn. The path of a
//! node is its [`Location`].
//!
//! # Example
//!
//! Two queries over a stream, one of them in RFC order. Spans that must wait for others are stored
//! in [`HeldRows`].
//!
//! ```
//! use trommel_path::{HeldRows, Plan, PlanOptions, Query, Scratch, Step, Wants};
//! use trommel_reader::{Config, Cursor, Framing, Span};
//!
//! let json = r#"{"shelf":{"title":"B","books":[{"title":"C","price":8},{"price":30}]},
//!     "title":"A"}"#;
//! let queries: [Query; 2] = ["$..title".parse()?, "$.shelf.books[?@.price > 10]".parse()?];
//! let plan = Plan::new(&queries, PlanOptions::new());
//!
//! let mut wants = Wants::default();
//! wants.location = true;
//! let mut scratch = Scratch::new();
//! let mut cursor = Cursor::from_reader(json.as_bytes(), Framing::Auto, &Config::new());
//! let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
//! let (mut held, mut titles, mut dear) = (HeldRows::new(16 << 20), Vec::new(), Vec::new());
//! while matcher.next_record()? {
//!     while let Some(step) = matcher.advance()? {
//!         match step {
//!             // An outer object may still have a title, which belongs before this one.
//!             Step::Leave { query, span, .. } if query.index() == 0 => {
//!                 held.push(matcher.key(), span, 0)?;
//!             }
//!             Step::Leave { .. } => dear.push(matcher.location().to_string()),
//!             Step::Settled(_) => held.drain(|row| std::io::Result::Ok(titles.push(row.span)))?,
//!             Step::Enter { .. } | Step::Event(_) => {}
//!         }
//!     }
//!     // At the end of the record, the order of all matches is final.
//!     held.drain(|row| std::io::Result::Ok(titles.push(row.span)))?;
//! }
//! let text = |span: &Span| &json[span.start as usize..span.end as usize];
//! let titles: Vec<&str> = titles.iter().map(text).collect();
//! assert_eq!(titles, ["\"A\"", "\"B\"", "\"C\""]);
//! assert_eq!(dear, ["$['shelf']['books'][1]"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Orders and their costs
//!
//! | [`Order`] | order of nodes | held by the consumer |
//! | --- | --- | --- |
//! | `Rfc` | that of the RFC's node list, with a node once for each time it is selected | rows in [`HeldRows`] |
//! | `Document` | by their start in the input | matches inside a match, until it ends |
//! | `Any` | unspecified; a node once, with its number of occurrences | nothing |
//!
//! In RFC order, matches have to be held only for descendant segments, selector lists that are not
//! ascending, and reverse slices. [`Step::Settled`] reports when the order of the held matches is
//! final.
//!
//! Matches settle as early as possible: with each element to which a descendant segment is applied,
//! with the last name of a list, and with each record. In RFC order, a node can be selected many
//! times (`$..*..*..*`). Each of its derivations is reported on its own, but they are not stored
//! one by one. Memory depends on the depth and the queries, and time on the length of the answer.
//!
//! # Repeated names
//!
//! RFC 9535 does not define which member a name selects in an object that repeats the name.
//!
//! - [`Duplicates::First`]: the first member, in filters too. The matcher does not search for a
//!   second one.
//! - [`Duplicates::Last`]: the last member. An object in which a name is selected is first read to
//!   its end.
//! - [`Duplicates::All`]: every member of that name.
//!
//! Under any of them, wildcards, descendants, filter selectors, and `length` see all members, and a
//! comparison uses the first node. Comparing objects uses the first member of each name, or the
//! last one under `Last`.
//!
//! # Skipped input
//!
//! Values in which no query can select anything are skipped. A record is *decided* once nothing in
//! the rest of it can matter, and the matcher stops there: `$.a` ends with the first `a`, and
//! `$[0]` with the first element.
//!
//! The cursor's [`Validation`](trommel_reader::Validation) defines how skipped values are
//! validated, and how the next record is found: strict validation reads the rest of a decided
//! record, and structural validation does not. Values that queries or filters visit or compare are
//! always validated in full.
//!
//! A consumer that needs only the first nodes of a query sets a [bound](Matcher::bound) for their
//! keys. The matcher then skips everything that cannot be among them.
//!
//! # Passes
//!
//! [`Plan::pass`] reports how a plan reads its source. `Single`: each byte is read once.
//! `Lookahead`: filters read their candidates first and rewind. `Rescan`: a `$` in a filter, a
//! negative index, or a reverse slice reads ahead, or matches are reported out of input order. All
//! of them work on streams: bytes that are needed again are held in memory, and then in an unlinked
//! temporary file, within [`Limits`](trommel_reader::Limits).
//!
//! # Matching the elements of one array in parallel
//!
//! Where plain paths lead into all elements of an array, several matchers can share the elements.
//! [`Matcher::pause_between_elements`] lets the first matcher pause in such an array. Each of the
//! others starts from its [`Matcher::checkpoint`] with [`Matcher::resume_at`], after an element at
//! which the previous one has [paused](Matcher::paused). The first matcher continues with
//! [`Matcher::resume_after`] where the last one has stopped.
//!
//! # Filters on whole records
//!
//! A [`RecordFilter`] decides whether a record is matched at all. [`Matcher::keeps_record`]
//! evaluates it over the bytes of the record, with both `@` and `$` as the record.
//!
//! # Nodes as records
//!
//! [`Matcher::on_node`] runs another plan on a node that was just entered, on the same cursor, with
//! the node as `$`. If nothing [within](Matcher::selects_within) the node can be selected, the
//! consumer moves the cursor to the end of the node and calls [`Matcher::skip_entered`], so that
//! every byte is read once. Otherwise the cursor must return to the start of the node.
//!
//! # Limits, errors, cost
//!
//! - Nothing recurses with the depth of the input. Filters recurse up to [`QueryLimits::nesting`],
//!   with about 2 KiB of stack per level.
//! - A scratch takes a few hundred bytes for each open container and each state of a query there.
//!   Once it has grown, matching allocates nothing, except for filters that decode escapes, compare
//!   containers, or encounter a new pattern in the data.
//! - A step costs the bytes read and the live states. A filter costs what it reads, for each
//!   candidate. A filter that searches descendants, below a descendant segment, takes time in the
//!   product of length and depth, however deep filters nest (up to 16,384 open containers). So does
//!   a negative index below a descendant segment.
//! - Comparing containers takes time in the product of their length and the depth of objects in
//!   them.
//! - Numbers compare by their exact value. Counts saturate at `u64::MAX`.
//! - Errors are those of the reader, with the absolute offset. After an error, every step returns
//!   it again until the next record.

mod compile;
mod eval;
mod location;
mod matcher;
mod options;
mod order;
mod plan;
mod program;
mod repeated;
mod spool;

pub use location::{Location, LocationStep};
pub use matcher::{ArrayCheckpoint, Matcher, RecordFilter, Scratch, Step, Wants};
pub use options::{Duplicates, Order, Pass, PlanOptions, QueryId};
pub use order::{HeldMatch, HeldRows, ShortValue};
pub use plan::Plan;
pub use repeated::{RepeatedName, RepeatedNames};
pub use spool::TextSpool;
pub use trommel_query::{
    Argument, Comparable, Comparison, FilterQuery, Function, FunctionCall, FunctionResult, Literal, Logical,
    Parameter, ParseError, ParseErrorKind, Pattern, PatternError, Query, QueryLimits, RegexCache, Segment,
    Segments, Selector, Signature, Slice, Suggestion, compare_numbers, compare_strings,
};
