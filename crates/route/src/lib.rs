//! Where contents go: the results of tools, the inputs of documents, the answers of models.
//!
//! ```
//! use std::io::Write;
//! use std::sync::Arc;
//!
//! use trommel_route::{Buffers, Destinations, Origin, Route, Target, notice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let places = Destinations::new(Arc::new(Buffers::new()));
//! let route = Route::to(Target::parse("variable:found")?);
//! let mut parcel = places.open(&route, Origin::of("web_search"))?;
//! parcel.write_all(b"a long page")?;
//! let manifest = parcel.finish()?;
//!
//! assert_eq!(notice(&manifest), "[output routed] web_search -> variable:found (total 11 chars)");
//! let (info, _) = places.buffers().find("found", None)?;
//! assert_eq!((info.chars, info.source.as_str()), (11, "web_search"));
//! # Ok(())
//! # }
//! ```
//!
//! # Contents
//!
//! - [Should I use this crate?](#should-i-use-this-crate)
//! - [Terms](#terms)
//! - [Destinations](#destinations)
//! - [Results of tools](#results-of-tools)
//! - [Buffers](#buffers)
//! - [Files](#files)
//! - [What is promised when things go wrong](#what-is-promised-when-things-go-wrong)
//! - [Limits and cost](#limits-and-cost)
//! - [Errors](#errors)
//!
//! # Should I use this crate?
//!
//! Yes, to send what tools return somewhere else than into a model's context, by rules or by the
//! model's own choice. `trommel-workflow` runs documents whose steps do so. This crate knows no
//! store and no concrete tool: `trommel-toolbox` has the tool `buffer_ops`, and the store as a
//! [`Shelf`].
//!
//! # Terms
//!
//! A *content* goes from a *source* to a *target*, on a [`Route`]. A [`Manifest`] takes its place,
//! and in words a [`notice`]; [`plain_notice`] has the words of other programs. A *variable* is the
//! name of a *buffer*, in the *scope* of the run or of the session.
//!
//! # Destinations
//!
//! | target | what becomes of the content |
//! | --- | --- |
//! | `inline` | it goes where it would have gone anyway: into the prompt, or to the caller |
//! | `variable:NAME` | into a buffer |
//! | `file:PATH` | into a file below the root; a name without an extension gets that of Markdown |
//! | `discard` | nothing is kept of it |
//!
//! [`WriteMode`] says how: `append` (the default) adds it to the existing content, `replace`
//! replaces that, `new` writes under a new name with a free number, from `_000` on. In a buffer,
//! what is appended follows without a separator; in a file, it begins on a line of its own, and its
//! last line is ended. Names may hold [patterns](Pattern) such as `{today}`. Every source goes to
//! every destination, also to itself, as a stream: what is on its way is in memory up to 256 KiB,
//! and beyond that in a file without a name.
//!
//! # Results of tools
//!
//! [`Router`] is the executor's `Delivery`. In this order: the rule of a directive, which is hard,
//! so that `inline` is inline whatever the length; the caller's own choice, for tools that are
//! [`Choosing`]; the length, beyond which a result goes to the [`Shelf`] or to a new buffer;
//! inline. The caller and the events get the manifest and never the payload.
//!
//! # Buffers
//!
//! [`Buffers`] are looked at with [`look`]: peeks, ranges of lines or characters, searches, on a
//! line of any length. Those of a run are in memory while they are short. Those of a session lie in
//! its folder: a description, which says how much of the content counts, the content, and a lock.
//! What is read is what was there when reading began.
//!
//! # Files
//!
//! [`Files`] are resolved beneath the opened root by the system. Links that stay inside are
//! followed; links, `..`, pipes, devices and folders that are exchanged meanwhile lead nowhere
//! else. New files have the mode 0600 and folders 0700; what is replaced keeps its mode.
//!
//! # What is promised when things go wrong
//!
//! - A buffer of a session, and a file that is replaced, is there as it was before or as it is
//!   after, whenever the process ends.
//! - What is appended to a file is written in one piece while its folder is locked, and taken back
//!   when that fails. A process that is ended in the middle of a long piece leaves its beginning,
//!   behind all that was there.
//! - Writers of the same file or buffer wait for each other, up to a minute; nothing is lost, and
//!   no number is taken twice.
//!
//! # Limits and cost
//!
//! | what | how much | beyond |
//! |---|---|---|
//! | a variable's name; a path | [128 characters](NAME_CHARS); 1,024 bytes | refused |
//! | files of one input; to choose `{latest}` and `{pending}` from | 100,000; any number | refused |
//! | a peek, a reading, a search | 2,000; 8,000 characters; 100 hits of 300 | refused, or goes on |
//!
//! Routing takes about 1 MiB of memory whatever the length of a content. To look at a place takes
//! time in proportion to what is before it, unless all characters are of one byte and it is asked
//! for by offset.
//!
//! # Errors
//!
//! [`Error`] has a kind for programs and a sentence for people. Unix; Linux is tested.

mod buffers;
mod destinations;
mod disk;
mod error;
mod files;
pub mod look;
mod mode;
mod notice;
mod pattern;
mod router;
mod spool;
mod target;
#[cfg(test)]
mod tests;

pub use buffers::{BufferInfo, Buffers, Content, Listed, PENDING, Reader};
pub use destinations::{Destinations, Origin, Parcel};
pub use error::{Error, ErrorClass, ErrorKind, PatternFault, RangeFault, Result};
pub use files::{Files, Matched, changed, has_wildcard};
pub use mode::{Scope, WriteMode};
pub use notice::{INPUT, full_notice, notice, plain_notice};
pub use pattern::{Files as FilePattern, Now, Pattern};
pub use router::{Choosing, NOT_ROUTED, Router, Shelf};
pub use target::{NAME_CHARS, Place, Route, Target, check_name, check_path, with_extension};

pub use trommel_tool::Manifest;
