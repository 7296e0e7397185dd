//! Search of lines of text and string values of JSON, for inputs of any size.
//!
//! ```
//! use std::ops::ControlFlow;
//! use trommel_search::{MatchSite, PatternSearch, SearchContent, SearchPattern, SearchPosition};
//! use trommel::reader::Framing;
//!
//! let json = br#"{"log": [{"level": "info"}, {"text": "disk \u0065rror on /dev/sda"}]}"#;
//! let search = PatternSearch::new(SearchPattern::text("error", false)?);
//! let mut paths = Vec::new();
//! let content = SearchContent::Json(Framing::Single);
//! search.run(&&json[..], content, SearchPosition::default(), &mut |found| {
//!     if let MatchSite::Value { path, .. } = found.site {
//!         paths.push((path, found.text));
//!     }
//!     Ok(ControlFlow::Continue(()))
//! })?;
//! assert_eq!(paths, [("$['log'][1]['text']".to_owned(), "disk error on /dev/sda".to_owned())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Contents
//!
//! - [Should I use this crate?](#should-i-use-this-crate)
//! - [Terms](#terms)
//! - [Inputs](#inputs)
//! - [Matches](#matches)
//! - [Long lines and strings](#long-lines-and-strings)
//! - [Validation](#validation)
//! - [Limits](#limits)
//! - [Cost](#cost)
//!
//! # Should I use this crate?
//!
//! Yes, to find a word or a regular expression in a log or in JSON of any size, with the path of
//! each string. To select values by their path, or by a filter, use `trommel`: JSONPath has the
//! function `search`. To search agent sessions with roles and turns, use `trommel-session`.
//!
//! [`pass_lines`] and [`tail_start`] find lines of a text by number, and from its end.
//!
//! # Terms
//!
//! A [pattern](SearchPattern) is a text or a regular expression. It is applied to *units*: the
//! lines of a text, or the decoded string values of JSON. Names of members and other values are not
//! searched. A [match](PatternMatch) is a unit that contains the pattern, or a part of a long one.
//!
//! # Inputs
//!
//! An input is [text or JSON](SearchContent). A stored output is what its description says.
//! [`PatternSearch::run_file`] and [`PatternSearch::run_reader`] decide it as the store does: an
//! input is JSON if all of it is valid JSON. A declared framing decides it without validation.
//!
//! In JSON Lines, a line that is not valid JSON is searched as text. In other framings, malformed
//! JSON is an error.
//!
//! Lines end with LF or CR LF, which are not part of them. Bytes that are not UTF-8 are searched
//! like any other; they are replaced by U+FFFD in the text of a match.
//!
//! # Matches
//!
//! A unit that is short enough is shown whole, and is one match. The text of a longer one is cut to
//! [a number of characters](PatternSearch::max_chars) around the first occurrence. The next match
//! is the first occurrence after the part that was shown. Matches are reported in the order of the
//! input, and a search can [continue](SearchPosition) after any of them.
//!
//! [Context](PatternSearch::context) counts lines of a text, each of which is shown once, and
//! characters of a string.
//!
//! # Long lines and strings
//!
//! A unit of up to 1,088 KiB is searched as a whole. A longer one is searched in pieces of 1 MiB,
//! each together with the 64 KiB after it. An occurrence in it is found if it is not longer than 64
//! KiB.
//!
//! # Validation
//!  In JSON, the strings with a match and the names and brackets on the way to them are validated.
//! In other bytes, only brackets and strings are. A search ends at the last string that may have a
//! match, and does not read the rest of the structure.
//!
//! # Limits
//!
//! | item | limit | beyond |
//! | --- | --- | --- |
//! | compiled expression | 10 MiB | refused |
//! | text of a match, context | 4,000 characters | cut |
//! | highlights of a match | 100 | left out |
//! | record of JSON Lines in a pipe | 1,088 KiB | an error |
//! | other JSON in a pipe | [`spool_bytes`](trommel::reader::Limits::spool_bytes) | an error |
//!
//! # Cost
//!
//! Text is searched in blocks of 256 KiB by the crate `regex-automata`, and lines are separated
//! only where they match. JSON is first searched for candidates, at the same speed: occurrences
//! that need no decoding, and escapes that may hide one. Containers without a candidate are skipped
//! by bit masks, and strings without one are not decoded. Memory is a few MiB for any input, and up
//! to twice [`token_bytes`](trommel::reader::Limits::token_bytes) if JSON has strings of that
//! length.

mod buffer;
mod control;
mod detect;
mod document;
mod error;
mod excerpt;
mod found;
mod lines;
mod pattern;
mod prefilter;
mod records;
mod rewrite;
mod run;
mod search;
mod source;
mod targets;
mod text;
mod unescape;
mod unit;
mod walk;

pub use detect::Prefix;
pub use found::{MatchSink, MatchSite, PatternMatch, SearchPosition};
pub use lines::{OnBytes, PassedLines, pass_lines, tail_start};
pub use pattern::{PatternFault, SearchPattern};
pub use search::{PatternSearch, SearchContent, SearchReport};
pub use source::{FileSource, SearchSource};
