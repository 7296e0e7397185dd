//! Bytes to validated pull events, with absolute offsets, over JSON of any size.
//!
//! A [`Cursor`] stands at a place in the input and is moved forward: event by event, or by moves
//! that pass over what does not matter at the speed of masks. The input is a slice, a mapped file,
//! or any [`Read`](std::io::Read) behind a window of fixed size; what comes out is the same, byte
//! for byte and error for error. Nothing is built: an event is two bytes, and text stays as it is
//! spelt until somebody wants it.
//!
//! # Contents
//!
//! - [Should I use this crate?](#should-i-use-this-crate)
//! - [Terms](#terms)
//! - [Events](#events), [moves](#moves), [streams](#streams), [records](#records), [looking
//!   back](#looking-back)
//! - [What is accepted](#what-is-accepted)
//! - [Validation](#validation)
//! - [Errors](#errors)
//! - [Limits](#limits)
//! - [Cost](#cost)
//! - [Backends and platforms](#backends-and-platforms)
//!
//! # Should I use this crate?
//!
//! Depend on it to write something of your own that walks JSON too large to load: a converter, an
//! index, a measure that nobody has thought of. It is small and changes slowly, and has no notion
//! of a query. To ask questions (paths, counts, samples, statistics), take the facade `trommel`,
//! which re-exports this crate as `trommel::reader`; to match JSONPath while pulling,
//! `trommel-path`. To turn a document that fits in memory into Rust values, take `serde_json`.
//!
//! # Terms
//!
//! | term | meaning |
//! | --- | --- |
//! | offset, [span](Span) | an absolute byte position in the input, and a half-open range of them; 64 bits everywhere |
//! | token, lexeme | a bracket, name, string, number or word; its bytes as written |
//! | [event](Event) | what a cursor yields: a container begins or ends, a member's name, a scalar |
//! | [payload](Payload) | what the current event carries, borrowed until the cursor moves |
//! | record, [framing](Framing) | one value of a stream, and how records are told apart |
//! | window | the bytes of a stream that are in memory |
//! | hold, [mark](Mark) | a promise to keep bytes readable, and the place to come back to |
//! | to skip, to leave | to pass over the value that comes next; to go behind the end of the container around |
//! | [backend](Backend) | one way to classify bytes; they differ in speed only |
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
//! Who knows what to look for says so. Here every value but one is passed over, and the document is
//! left as soon as the answer is known:
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
//!             // A value that was not looked at is passed over by the next move.
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
//! [`Cursor::seek_name`] goes to the next member of one name at any depth, at the cost of masks.
//! [`Cursor::between`] and [`Cursor::from_between`] are for who reads the elements of one long
//! array at several places at once.
//!
//! # Streams
//!
//! A reader needs no more than its window, however long the input and whatever is in it; the code
//! is the same. Spans count from the first byte that was read:
//!
//! ```
//! use std::io::Read;
//! use trommel_reader::{Config, Cursor, Framing};
//!
//! // Something that yields a few bytes at a time and never ends by itself.
//! let endless = std::io::repeat(b' ').take(100_000_000).chain(&br#"[[1, 2], "here", {"#[..]);
//! let mut cursor = Cursor::from_reader(endless, Framing::Single, &Config::new());
//! cursor.begin_value()?;
//! assert!(cursor.next_element()? && cursor.next_element()?);
//! assert_eq!(cursor.skip_value()?.start, 100_000_009);
//! let error = cursor.next_element().and_then(|_| cursor.skip_value()).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "the input ends inside a value at byte 100000018 (line 1, column 100000019); \
//!      it may have been cut off"
//! );
//! # Ok::<(), trommel_reader::Error>(())
//! ```
//!
//! [`Cursor::monitored`] is for progress and for an end before the end.
//!
//! # Records
//!
//! [`Cursor::next_record`] goes from record to record, and behind a bad one where the [`Framing`]
//! has something to go by:
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
//! | framing | a record | between records | an empty input | after a bad record |
//! | --- | --- | --- | --- | --- |
//! | [`Single`](Framing::Single) | all of the input | nothing | an error | the end |
//! | [`Lines`](Framing::Lines) | a line that is not blank | LF or CR LF | no record | the next line |
//! | [`JsonSeq`](Framing::JsonSeq) | what follows a byte 0x1E, unless it is blank | 0x1E (RFC 7464) | no record | the next 0x1E |
//! | [`Concatenated`](Framing::Concatenated) | a value | white space, or nothing | no record | the end |
//! | [`Auto`](Framing::Auto) | a value; with a first byte 0x1E as `JsonSeq` | white space with a line break | an error | the end |
//!
//! # Looking back
//!
//! [`Cursor::hold`] keeps everything from the current token on, [`Cursor::rewind`] goes back. On a
//! slice both are free; on a stream what does not fit in memory goes to a temporary file without a
//! name, and comes back by itself:
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
//! # What is accepted
//!
//! RFC 8259, all of it and nothing more: no comments, no trailing commas, no `NaN`, no lone
//! surrogates. Where the RFC leaves a choice:
//!
//! - A UTF-8 byte order mark at the very start is passed over, and is no column; anywhere else it
//!   is an error. UTF-16 and UTF-32 are refused by name, with or without a mark.
//! - Numbers of any size and precision are taken, and kept as they are spelt; [`Number::as_f64`]
//!   rounds once, correctly.
//! - Repeated names are all reported. Which of them counts is for the caller to say.
//! - Bytes in strings that are not UTF-8, and escapes that are half of a surrogate pair, are
//!   refused: there is no text that they could stand for.
//!
//! # Validation
//!
//! What a cursor *visits* is always checked in full, and what is returned once is right: a name, a
//! scalar, a bracket. For what it *skips* ([`skip_value`](Cursor::skip_value),
//! [`leave`](Cursor::leave), values that no move looked at, and what
//! [`next_named`](Cursor::next_named) and [`seek_name`](Cursor::seek_name) do not look for),
//! [`Config::validation`] chooses:
//!
//! | found in what is skipped | [`Strict`](Validation::Strict) | [`Structural`](Validation::Structural) |
//! | --- | --- | --- |
//! | the input ends too early, also inside a string | yes | yes |
//! | more or fewer `{` than `}`, or `[` than `]` | yes | yes |
//! | deeper than the limit | yes | yes |
//! | brackets that interleave, `[{]}` | yes | no |
//! | wrong words, numbers, commas, colons, names | yes | no |
//! | wrong escapes, control characters, UTF-8 | yes | no |
//! | cost | that of many masks | that of few |
//!
//! A record that is left for the next counts as skipped. Strict validation reads it to its end in
//! every framing; [`Cursor::validate_rest`] does so for a caller that stops there. Structural
//! validation goes to the delimiter where the framing has one, and does not check the bytes
//! between.
//!
//! # Errors
//!
//! [`Error`] has a [kind](ErrorKind) for programs, the byte [offset](Error::offset), line and
//! column, the bytes around, and a sentence that says what to do next. It is the first thing wrong
//! from left to right, the same for every source, window and backend, with two exceptions that
//! follow from validation: a strict skip finds what a structural one does not look for, and reports
//! a bracket that does not fit where it stands, while a structural one knows only at the end that
//! they do not balance (a search for a name goes from bracket to bracket, and finds it where it
//! stands). An error is final for its record. The kinds of [`Syntax`] are one a rule;
//! `ErrorKind::Io` passes on what a reader failed with.
//!
//! # Limits
//!
//! | limit | default | reached | |
//! | --- | --- | --- | --- |
//! | [`Limits::depth`] | 10,000, at most 1,048,576 | error | containers open at once |
//! | [`Limits::token_bytes`] | 16 MiB | error | bytes of a name or a number |
//! | | | [cut](Text::is_cut) | bytes of a string on a stream that nobody holds |
//! | [`Limits::held_bytes`] | 16 MiB | temporary file | bytes held for looking back on a stream |
//! | [`Limits::spool_bytes`] | 8 GiB | error | bytes of that file |
//!
//! Offsets have 64 bits; nothing happens at 4 GiB. Nothing here recurses, on any input.
//!
//! # Cost
//!
//! Time is linear in the bytes that are read, and a rewind pays for what is read again. A cursor
//! takes a bit for each level of nesting, and on a stream its [window](Config::window) (64 KiB),
//! which grows for a token or for what is held up to the limits above, and shrinks again; where
//! many events are asked for, the places of tokens within 8 KiB are known ahead, in 33 KiB at most.
//! Nothing is allocated for a token or a record. Pages of a mapped file are given back some 2 MiB
//! behind the cursor, so that resident memory stays flat on a file larger than memory. The line and
//! column of an error are counted when there is one on a slice, and as the window moves on a
//! stream.
//!
//! # Backends and platforms
//!
//! On x86-64 masks are made with AVX2 and carry-less multiplication where the CPU has both, else
//! with SSE2; elsewhere by portable code. All are tested to agree on every input. The choice is
//! made at run time, once; [`Config::backend`] and, for tests, the environment variable
//! `TROMMEL_BACKEND` override it. Linux on x86-64 is tested; other Unix systems and Windows are
//! expected to build with the same behaviour, with maps and temporary files as they have them.

mod config;
mod cursor;
mod error;
mod event;
mod foreign;
mod framing;
mod grammar;
mod input;
#[expect(unsafe_code, reason = "mapping files")]
mod map;
mod meter;
mod number;
mod seek;
mod source;
mod span;
mod spool;
mod stream;
mod tally;
mod text;

pub use config::{Config, Limits, Validation};
pub use cursor::{Alike, Between, Cursor, Mark};
pub use error::{Error, ErrorKind, Excerpt, Limit, Place, Result, Syntax};
pub use event::{Event, Kind, Listener, Payload, Scalar};
pub use framing::Framing;
pub use input::{Input, View};
pub use map::MapPolicy;
pub use number::Number;
pub use seek::{Seek, SeekStep};
pub use source::Monitor;
pub use span::Span;
pub use tally::Tally;
pub use text::Text;
pub use trommel_scan::{Backend, Hit, Names, Taken, compact};
