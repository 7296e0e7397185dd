//! Validated pull events with absolute offsets, over JSON of any size.
//!
//! A [`Cursor`] is a position in the input that moves forward: event by event, or by moves that
//! skip everything else with bit masks, 64 bytes at a time. The input is a slice, a mapped file, or
//! any [`Read`](std::io::Read), which is read through a window of fixed size. The results are the
//! same, byte for byte and error for error. No tree is built: an event is two bytes, and text is
//! decoded on request.
//!
//! # Contents
//!
//! - [Should I use this crate?](#should-i-use-this-crate)
//! - [Terms](#terms)
//! - [Events](#events), [moves](#moves), [streams](#streams), [records](#records), [looking
//!   back](#looking-back)
//! - [Accepted input](#accepted-input)
//! - [Validation](#validation)
//! - [Errors](#errors)
//! - [Limits](#limits)
//! - [Cost](#cost)
//! - [Backends and platforms](#backends-and-platforms)
//!
//! # Should I use this crate?
//!
//! Depend on it to write code of your own that walks JSON too large to load: a converter, an index,
//! a new kind of measure. It is small and changes slowly, and knows nothing about queries. For
//! queries, counts, samples, and statistics, use the facade `trommel`, which re-exports this crate
//! as `trommel::reader`; to match JSONPath during a read, use `trommel-path`. To load a document
//! that fits in memory into Rust values, use `serde_json`.
//!
//! # Terms
//!
//! | term | meaning |
//! | --- | --- |
//! | offset, [span](Span) | an absolute byte position in the input; a half-open range of offsets; 64 bits everywhere |
//! | token, lexeme | a bracket, name, string, number, or literal; its bytes as written |
//! | [event](Event) | one step of a cursor: the start or end of a container, a member's name, a scalar |
//! | [payload](Payload) | the text or value of the current event, borrowed until the cursor moves |
//! | record, [framing](Framing) | one value of a stream; the rule that separates records |
//! | window | the bytes of a stream that are in memory |
//! | hold, [mark](Mark) | a request to keep bytes readable; a position to return to |
//! | to skip, to leave | to move past the next value; to move past the end of the current container |
//! | [backend](Backend) | an implementation that classifies bytes; backends differ only in speed |
//!
//! # Events
//!
//! ```
//! use trommel_reader::{Config, Cursor, Event, Kind, Payload, Scalar};
//!
//! # fn main() -> Result<(), trommel_reader::Error> {
//! let mut cursor = Cursor::new(br#"{"name": "J\u00fcrgen", "ids": [7, 8.50]}"#, &Config::new());
//! let mut seen = Vec::new();
//! while let Some(event) = cursor.advance()? {
//!     seen.push(match (event, cursor.payload()) {
//!         (Event::Name, Payload::Name(name)) => format!("{}:", name.decode()),
//!         (_, Payload::Scalar(Scalar::String(text))) => text.decode().into_owned(),
//!         (_, Payload::Scalar(Scalar::Number(number))) => number.lexeme().to_owned(),
//!         (Event::Begin(kind), _) => format!("<{}>", kind.name()),
//!         (Event::End(kind), _) => format!("</{}>", kind.name()),
//!         (other, _) => format!("{other:?}"),
//!     });
//! }
//! assert_eq!(seen.join(" "), "<object> name: Jürgen ids: <array> 7 8.50 </array> </object>");
//! # Ok(())
//! # }
//! ```
//!
//! # Moves
//!
//! A caller that knows what it needs uses moves. Here every value but one is skipped, and reading
//! stops as soon as the answer is known:
//!
//! ```
//! use trommel_reader::{Config, Cursor, Payload, Scalar, Validation};
//!
//! /// `limits.rate` of a settings file, if it has one.
//! fn rate(settings: &[u8]) -> Result<Option<f64>, trommel_reader::Error> {
//!     let config = Config::new().validation(Validation::Structural);
//!     let mut cursor = Cursor::new(settings, &config);
//!     for wanted in ["limits", "rate"] {
//!         cursor.begin_value()?;
//!         loop {
//!             // The next move skips a value that was not read.
//!             if !cursor.next_member()? {
//!                 return Ok(None);
//!             }
//!             if cursor.name().is_some_and(|name| name.eq_str(wanted)) {
//!                 break;
//!             }
//!         }
//!     }
//!     cursor.begin_value()?;
//!     Ok(match cursor.payload() {
//!         Payload::Scalar(Scalar::Number(number)) => Some(number.as_f64()),
//!         _ => None,
//!     })
//! }
//!
//! let settings = br#"{"servers": [{"a": [1, 2, 3]}, {}],
//!     "limits": {"burst": 9, "rate": 2.5}, "more": []}"#;
//! assert_eq!(rate(settings)?, Some(2.5));
//! # Ok::<(), trommel_reader::Error>(())
//! ```
//!
//! [`Cursor::seek_name`] finds the next member with a name at any depth, without reading the tokens
//! before it. [`Cursor::between`] and [`Cursor::from_between`] let several cursors read the
//! elements of one long array at once.
//!
//! # Streams
//!
//! A cursor over a reader keeps only its window in memory, however long the input is. It is used
//! like any other cursor. Spans count from the first byte that was read:
//!
//! ```
//! use std::io::Read;
//! use trommel_reader::{Config, Cursor, Framing};
//!
//! // A reader that returns a few bytes at a time.
//! let endless = std::io::repeat(b' ').take(100_000_000).chain(&br#"[[1, 2], "here", {"#[..]);
//! let mut cursor = Cursor::from_reader(endless, Framing::Single, &Config::new());
//! cursor.begin_value()?;
//! assert!(cursor.next_element()? && cursor.next_element()?);
//! assert_eq!(cursor.skip_value()?.start, 100_000_009);
//! let error = cursor.next_element().and_then(|_| cursor.skip_value()).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "the input ends inside a value at byte 100000018 (line 1, column 100000019); \
//!      the input may be truncated"
//! );
//! # Ok::<(), trommel_reader::Error>(())
//! ```
//!
//! [`Cursor::monitored`] adds progress and cancellation.
//!
//! # Records
//!
//! [`Cursor::next_record`] moves from record to record, and recovers after a malformed one if the
//! [`Framing`] has a delimiter:
//!
//! ```
//! use trommel_reader::{Config, Cursor, Framing, View};
//!
//! let log = b"{\"ok\": 1}\n{\"cut\": [\n\n[2]\r\n";
//! let mut cursor = Cursor::from_view(View::new(log), Framing::Lines, &Config::new());
//! let (mut good, mut bad) = (Vec::new(), Vec::new());
//! while cursor.next_record()? {
//!     match cursor.skip_value() {
//!         Ok(span) => good.push((cursor.record(), span.start)),
//!         Err(error) if error.is_syntax() => bad.push((cursor.record(), error.offset())),
//!         Err(error) => return Err(error),
//!     }
//! }
//! assert_eq!((good, bad), (vec![(0, 0), (2, 21)], vec![(1, 19)]));
//! # Ok::<(), trommel_reader::Error>(())
//! ```
//!
//! | framing | a record | between records | an empty input | after a malformed record |
//! | --- | --- | --- | --- | --- |
//! | [`Single`](Framing::Single) | the whole input | nothing | an error | the end |
//! | [`Lines`](Framing::Lines) | a line that is not blank | LF or CR LF | no record | the next line |
//! | [`JsonSeq`](Framing::JsonSeq) | the text after a byte 0x1E, unless it is blank | 0x1E (RFC 7464) | no record | the next 0x1E |
//! | [`Concatenated`](Framing::Concatenated) | a value | white space, or nothing | no record | the end |
//! | [`Auto`](Framing::Auto) | a value; with a first byte 0x1E as `JsonSeq` | white space with a line break | an error | the end |
//!
//! # Looking back
//!
//! [`Cursor::hold`] keeps everything from the current token on, and [`Cursor::rewind`] goes back.
//! Both are free on a slice. On a stream, held bytes that do not fit in memory go to an unlinked
//! temporary file, and are read back automatically:
//!
//! ```
//! use trommel_reader::{Config, Cursor, Framing};
//!
//! let stream = &br#"[1, 2, 3] "tail""#[..];
//! let mut cursor = Cursor::from_reader(stream, Framing::Concatenated, &Config::new());
//! cursor.begin_value()?;
//! let start = cursor.hold();
//! let mut length = 0;
//! while cursor.next_element()? {
//!     length += 1;
//! }
//! cursor.rewind(&start);
//! cursor.release();
//! assert!(length == 3 && cursor.next_element()? && cursor.skip_value()?.start == 1);
//! # Ok::<(), trommel_reader::Error>(())
//! ```
//!
//! # Accepted input
//!
//! RFC 8259, all of it and nothing more: no comments, no trailing commas, no `NaN`, no lone
//! surrogates. Where the RFC leaves a choice:
//!
//! - A UTF-8 byte order mark at the very start is skipped, and does not count as a column; anywhere
//!   else it is an error. UTF-16 and UTF-32 have an error of their own, with or without a mark.
//! - Numbers of any size and precision are accepted, and kept as written; [`Number::as_f64`] rounds
//!   once, correctly.
//! - Repeated names are all reported. The caller decides which of them counts.
//! - Bytes in strings that are not UTF-8, and escapes of lone surrogates, are refused, because they
//!   represent no text.
//!
//! # Validation
//!
//! Everything that a cursor *visits* is always checked in full, so every returned name, scalar, and
//! bracket is valid; a letter or digit right after a number or a literal makes it invalid.
//! [`Config::validation`] chooses the checks of everything that it *skips*: by
//! [`skip_value`](Cursor::skip_value) and [`leave`](Cursor::leave), by a move that passes an unread
//! value, and by [`next_named`](Cursor::next_named) on its way to a member. One move ignores the
//! setting: [`seek_name`](Cursor::seek_name) skips structurally even under strict validation.
//!
//! | detected in skipped bytes | [`Strict`](Validation::Strict) | [`Structural`](Validation::Structural) |
//! | --- | --- | --- |
//! | truncated input, also inside a string | yes | yes |
//! | unequal numbers of `{` and `}`, or of `[` and `]` | yes | yes |
//! | deeper than the limit | yes | yes |
//! | brackets that interleave, `[{]}` | yes | no |
//! | invalid literals, numbers, commas, colons, names | yes | no |
//! | invalid escapes, control characters, UTF-8 | yes | no |
//! | cost | many masks | few masks |
//!
//! Leaving a record for the next one counts as skipping its rest. Strict validation reads every
//! record to its end in every framing; [`Cursor::validate_rest`] does so for a caller that stops
//! there. Structural validation moves to the delimiter if the framing has one, without checking the
//! bytes before it.
//!
//! # Errors
//!
//! [`Error`] has a [kind](ErrorKind) for programs, the byte [offset](Error::offset), line and
//! column, the bytes around the error, and a sentence of advice. It is the first error from left to
//! right, the same for every source, window, and backend, with two exceptions that follow from
//! validation. A strict skip finds errors that a structural one does not check. A strict skip also
//! reports a mismatched bracket at the bracket itself. A structural skip only compares the numbers
//! of brackets, and reports a difference at the end of the skipped value or container. An error is
//! final for its record. Each kind of [`Syntax`] is one rule; `ErrorKind::Io` wraps the error of a
//! reader.
//!
//! # Limits
//!
//! | limit | default | beyond it | |
//! | --- | --- | --- | --- |
//! | [`Limits::depth`] | 10,000, at most 1,048,576 | error | containers open at once |
//! | [`Limits::token_bytes`] | 16 MiB | error | bytes of a name or a number |
//! | | | [cut](Text::is_cut) | bytes of a string on a stream that is not held |
//! | [`Limits::held_bytes`] | 16 MiB | temporary file | bytes of a stream held in memory |
//! | [`Limits::spool_bytes`] | 8 GiB | error | bytes of that file |
//!
//! Offsets have 64 bits; nothing changes at 4 GiB. No code recurses on any input.
//!
//! # Cost
//!
//! Time is linear in the bytes that are read; a rewind pays for the bytes that are read again. A
//! cursor takes one bit per level of nesting. On a stream it also takes its
//! [window](Config::window) (64 KiB), which grows for long tokens and held bytes up to the limits
//! above, and shrinks again. If many events are requested, the offsets of tokens within 8 KiB are
//! known ahead, in at most 33 KiB. Nothing is allocated per token or record. Pages of a mapped file
//! are released once the cursor is about 2 MiB past them, so resident memory stays flat on a file
//! larger than memory. The line and column of an error are counted when it occurs on a slice, and
//! while the window moves on a stream.
//!
//! # Backends and platforms
//!
//! On x86-64, masks use AVX2 and carry-less multiplication if the CPU has both, else SSE2;
//! elsewhere portable code. Tests check that all agree on every input. The choice is made once at
//! run time; [`Config::backend`] and, for tests, the environment variable `TROMMEL_BACKEND`
//! override it. Linux on x86-64 is tested; other Unix systems and Windows are expected to build
//! with the same behavior, with their own maps and temporary files.

mod config;
mod cursor;
mod error;
mod event;
mod framing;
mod grammar;
mod guide;
mod input;
#[expect(unsafe_code, reason = "mapping files")]
mod map;
mod meter;
mod number;
mod pages;
mod seek;
mod source;
mod span;
mod spool;
mod stream;
mod tally;

pub use config::{Config, Limits, Validation};
pub use cursor::{
    Between, Cursor, ElementFinder, LongSkip, Mark, SkipHelper, SkippedStretch, StretchReader, TextPieces,
    TrailStep,
};
pub use error::{Error, ErrorKind, Excerpt, Limit, LineColumn, Result, Syntax};
pub use event::{Event, Kind, Listener, NameTokens, Payload, Scalar, Tokens};
pub use framing::Framing;
pub use guide::{ContainerEnd, Guide, NameOrder, NameRange, Waypoint};
pub use input::{Input, View};
pub use map::MapPolicy;
pub use number::{Number, Scaled};
pub use pages::PassedPages;
pub use seek::{Seek, SeekStep};
pub use source::Monitor;
pub use span::Span;
pub use tally::Tally;
#[doc(hidden)]
pub use trommel_scan::word;
pub use trommel_scan::{
    Backend, Compactor, Hit, Names, PlainMembers, Text, Trail, TrailHit, TrailLevel, TrailNode, compact,
};
