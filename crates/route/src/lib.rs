//! Routing of contents: the results of tools, the inputs of documents, and the answers of models.
//!
//! ```
//! use std::io::Write;
//! use std::sync::Arc;
//!
//! use trommel_route::{Buffers, Destinations, Origin, Route, Target, notice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let destinations = Destinations::new(Arc::new(Buffers::new()));
//! let route = Route::to(Target::parse("variable:found")?);
//! let mut spooled = destinations.open(&route, Origin::of("web_search"))?;
//! spooled.write_all(b"a long page")?;
//! let manifest = spooled.finish()?;
//!
//! assert_eq!(notice(&manifest), "[output routed] web_search -> variable:found (total 11 chars)");
//! let (info, _) = destinations.buffers().find("found", None)?;
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
//! - [Guarantees](#guarantees)
//! - [Limits and cost](#limits-and-cost)
//! - [Errors](#errors)
//!
//! # Should I use this crate?
//!
//! Yes, to send tool results to a destination other than a model's context, by rules or by the
//! model's own choice. `trommel-workflow` runs documents whose steps do so. The crate contains no
//! store and no tools. `trommel-toolbox` has the tool `buffer_ops`, and a store that implements
//! [`OverflowStore`].
//!
//! # Terms
//!
//! A *content* is sent from a *source* to a *target*, along a [`Route`]. A [`Manifest`] replaces
//! it, formatted as a [`notice`], or as a [`plain_notice`] in the format of other programs. A
//! *variable* is the name of a *buffer*, in the *scope* of the run or the session.
//!
//! # Destinations
//!
//! | target | effect on the content |
//! | --- | --- |
//! | `inline` | not routed: it stays in the prompt, or is returned to the caller |
//! | `variable:NAME` | written to a buffer |
//! | `file:PATH` | written to a file below the root; a name without an extension gets `.md` |
//! | `discard` | discarded |
//!
//! The [`WriteMode`] determines the treatment of existing content. `append` (the default) adds to
//! it, and `replace` replaces it. `new` writes under a new name with the first free number,
//! starting at `_000`. In a buffer, appended content follows without a separator. In a file, it
//! starts on a new line, and its last line is terminated.
//!
//! Names may contain [patterns](Pattern) such as `{today}`. Any source can be sent to any
//! destination, including itself. Contents are streamed: up to 256 KiB are in memory, longer ones
//! in an unnamed file.
//!
//! # Results of tools
//!
//! [`Router`] implements the executor's `Delivery`. The first of these that applies decides:
//!
//! 1. The rule of a directive. It is strict, so `inline` means inline for any length.
//! 2. The caller's choice, for a tool wrapped in [`RoutableTool`].
//! 3. The length. A long result goes to the [`OverflowStore`], or to a new buffer.
//! 4. Inline.
//!
//! The caller and the events get the manifest, never the payload.
//!
//! # Buffers
//!
//! The module [`reading`] reads [`Buffers`]: peeks, ranges of lines or characters, and searches,
//! with lines of any length. Short buffers of a run are in memory. A buffer of a session consists
//! of three files in its folder: a description with the valid length, the content, and a lock. A
//! reader sees the content as of the start of reading.
//!
//! # Files
//!
//! The system resolves [`Files`] below the open root. Links that stay inside are followed. Links to
//! the outside, `..`, pipes, devices, and folders that are replaced concurrently cannot lead out.
//! New files have the mode 0600 and folders 0700. A replaced file keeps its mode.
//!
//! # Guarantees
//!
//! - A session's buffer, or a file that is replaced, is in its old or its new state, even if the
//!   process crashes.
//! - An append to a file is written while its folder is locked and undone on failure. A process
//!   that crashes during a long append leaves an incomplete one, after the previous contents.
//! - Writers of the same file or buffer wait for each other, up to a minute. No write is lost, and
//!   no number is assigned twice.
//!
//! # Limits and cost
//!
//! | item | limit | beyond |
//! |---|---|---|
//! | name of a variable; path | [128 characters](MAX_NAME_CHARS); 1,024 bytes | refused |
//! | files of one input; candidates for `{latest}` and `{pending}` | 100,000; unlimited | refused |
//! | peek; range; search | 2,000; 8,000 characters; 100 hits of 300 | refused, or continued |
//!
//! Routing takes about 1 MiB of memory for contents of any length. Reading takes time in proportion
//! to the offset, unless all characters have one byte and the position is given as an offset.
//!
//! # Errors
//!
//! [`Error`] has a kind for programs and a message for people. Unix; tested on Linux.

mod buffers;
mod destinations;
mod disk;
mod error;
mod files;
mod mode;
mod notice;
mod pattern;
pub mod reading;
mod router;
mod spool;
mod target;
#[cfg(test)]
mod tests;

pub use buffers::{BufferInfo, BufferList, Buffers, Content, PENDING, Reader};
pub use destinations::{Destinations, Origin, SpooledWrite};
pub use error::{Error, ErrorClass, ErrorKind, PatternFault, RangeFault, Result};
pub use files::{Files, MatchedFiles, changed, has_wildcard};
pub use mode::{Scope, WriteMode};
pub use notice::{INPUT, full_notice, notice, plain_notice};
pub use pattern::{Files as FilePattern, Now, Pattern};
pub use router::{NOT_ROUTED, OverflowStore, RoutableTool, Router, with_choice};
pub use target::{MAX_NAME_CHARS, ResolvedTarget, Route, Target, check_name, check_path, with_extension};

pub use trommel_tool::Manifest;
