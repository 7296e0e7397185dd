//! RFC 9535 JSONPath, matched while pulling: many queries in one pass, in bounded memory, over
//! slices and streams.
//!
//! # Should I use this crate?
//!
//! To get answers, use the facade `trommel`. Use this crate to drive a
//! [`Cursor`](trommel_reader::Cursor) and learn where nodes begin and end. It builds and copies no
//! value: a match is a span, a location, and on request the events inside. The syntax of queries is
//! that of `trommel-query`, which is re-exported here.
//!
//! # Terms
//!
//! A [`Plan`] is queries compiled into one automaton, immutable and shared between threads; each
//! query has a [`QueryId`]. A [`Scratch`] is the memory of matching, one per thread, reused for any
//! plan. A [`Matcher`] pulls: each [`Step`] reports that a node begins (`Enter`) or ends (`Leave`),
//! or passes an event of the cursor. Between the two is the node's *region*. A *record* is one
//! document of the input; `$` is each record in turn. A node's path is its [`Location`].
//!
//! # Example
//!
//! Two queries over a stream, one in the order of the RFC. Spans that must wait for others are
//! [`Held`].
//!
//! ```
//! use trommel_path::{Held, Plan, PlanOptions, Query, Scratch, Step, Wants};
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
//! let (mut held, mut titles, mut dear) = (Held::new(16 << 20), Vec::new(), Vec::new());
//! while matcher.next_record()? {
//!     while let Some(step) = matcher.advance()? {
//!         match step {
//!             // A title further out may still come, and belongs before this one.
//!             Step::Leave { query, span, .. } if query.index() == 0 => {
//!                 held.push(matcher.key(), span, 0)?;
//!             }
//!             Step::Leave { .. } => dear.push(matcher.location().to_string()),
//!             Step::Settled(_) => held.drain(|row| std::io::Result::Ok(titles.push(row.span)))?,
//!             Step::Enter { .. } | Step::Event(_) => {}
//!         }
//!     }
//!     // The end of the record settles everything.
//!     held.drain(|row| std::io::Result::Ok(titles.push(row.span)))?;
//! }
//! let text = |span: &Span| &json[span.start as usize..span.end as usize];
//! let titles: Vec<&str> = titles.iter().map(text).collect();
//! assert_eq!(titles, ["\"A\"", "\"B\"", "\"C\""]);
//! assert_eq!(dear, ["$['shelf']['books'][1]"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Orders, and what each costs
//!
//! | [`Order`] | nodes | kept by the consumer |
//! | --- | --- | --- |
//! | `Rfc` | as in the RFC's node list, once for each way a node is selected | rows in [`Held`] |
//! | `Document` | as they start in the input | matches inside of a match, until it ends |
//! | `Any` | as they come; a node once, with its number of times | nothing |
//!
//! In RFC order a match is kept in [`Held`], until `Settled`, only for a descendant segment, a list
//! of selectors that is not ascending, or a reverse slice.
//!
//! Matches settle as early as that can be known: with each element that a descendant segment is
//! applied to, with the last name of a list, with each record. In RFC order the ways to a node that
//! is selected many times over (`$..*..*..*`) are reported one by one, but never kept one by
//! one: memory follows the depth and the queries, time the length of the answer.
//!
//! # Repeated names
//!
//! RFC 9535 leaves open what a name selects in an object that repeats it. With
//! [`Duplicates::First`] it is the first member, and nothing looks for a second, in filters too;
//! with [`Duplicates::Last`] it is the last member, for which an object in which a name is selected
//! is read ahead to its end; with [`Duplicates::All`] it is every such member. Under any of them,
//! wildcards, descendants, filter selectors and `length` see all members, a comparison takes the
//! first node, and objects are compared by the first member of each name, under `Last` by the last.
//!
//! # What is left unread
//!
//! Where no query can select anything, values are skipped; a record in which nothing more can
//! matter is *decided*, and the matcher is done with it. So `$.a` ends with the first `a`, `$[0]`
//! with the first element. The next record is then sought as the cursor's
//! [`Validation`](trommel_reader::Validation) says: strict validation reads the rest of a decided
//! record, structural validation does not. It also says how skipped values are validated. What is
//! visited, by queries or by filters, is validated in full, and what is compared too.
//!
//! A consumer that wants only the first nodes of a query [bounds](Matcher::bound) their keys.
//! Whatever cannot be among them is skipped.
//!
//! # Passes
//!
//! [`Plan::pass`] returns what a plan needs from its source. `Single`: each byte is read once.
//! `Lookahead`: filters read their candidates first, and go back. `Rescan`: `$` in a filter, a
//! negative index or a reverse slice read ahead, or matches are reported in an order that is not
//! the input's. All of it works on streams: what must be read again is held, in memory and then in
//! an unlinked temporary file, within [`Limits`](trommel_reader::Limits).
//!
//! # Elements of one array, by several matchers
//!
//! Where plain paths lead into all elements of an array, several matchers can match its elements at
//! once. [`Matcher::pause_between_elements`] lets the first one pause in such an array. Each of the
//! others begins at its [`Matcher::checkpoint`] by [`Matcher::resume_at`], after an element where
//! the one before it has [paused](Matcher::paused). The first continues with
//! [`Matcher::resume_after`] where the last has stopped.
//!
//! # Filters on whole records
//!
//! A [`RecordFilter`] keeps or drops a record before it is matched: [`Matcher::keeps_record`]
//! evaluates it over the record's bytes, with `@` and `$` both the record.
//!
//! # Limits, errors, cost
//!
//! - Nothing recurses with the input. Filters nest as deep as [`QueryLimits::nesting`] lets them,
//!   at some 2 KiB of stack a level.
//! - A scratch takes some hundred bytes for each open container and state of the queries there. It
//!   allocates nothing once it has grown, with the exception of filters that decode escapes,
//!   compare containers, or meet a new pattern in the data.
//! - A step costs the bytes passed and the states alive. A filter costs what it looks at, for each
//!   candidate: a filter that searches descendants, below a descendant segment, takes time in the
//!   product of length and depth, and no more however filters nest (up to 16,384 open containers).
//!   So does a negative index below a descendant segment.
//! - Containers compare in the product of their length and the depth of objects in them.
//! - Numbers compare by their exact value; counts end at `u64::MAX`.
//! - Errors are the reader's, with the absolute offset; after one, every step returns it until the
//!   next record.

mod compile;
mod eval;
mod location;
mod matcher;
mod options;
mod order;
mod plan;
mod program;

pub use location::{Location, LocationStep};
pub use matcher::{ArrayCheckpoint, Matcher, RecordFilter, Scratch, Step, Wants};
pub use options::{Duplicates, Order, Pass, PlanOptions, QueryId};
pub use order::{Held, HeldMatch};
pub use plan::Plan;
pub use trommel_query::{
    Argument, Comparable, Comparison, FilterQuery, Function, FunctionCall, FunctionResult, Literal, Logical,
    Parameter, ParseError, ParseErrorKind, Pattern, PatternError, Query, QueryLimits, RegexCache, Segment,
    Segments, Selector, Signature, Slice, Suggestion, compare_numbers, compare_strings,
};
