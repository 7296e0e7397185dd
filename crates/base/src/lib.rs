//! The foundation of trommel's crates: file operations, cancellation and progress, safe text,
//! nearest names, and errors.
//!
//! # Should I use this crate?
//!
//! Only to extend trommel. The crate has no domain of its own: it holds code that several crates
//! need and that belongs to none of them. It does not know JSON, the engine, or agents.
//!
//! # Contents
//!
//! - [`files`]: file operations. Each succeeds or fails as a whole, and its error names the
//!   operation and the path.
//! - `faults` (feature `faults`): makes any of these operations fail, for tests.
//! - `commit` (feature `commit`): atomic changes of several files of a folder.
//! - [`Cancel`] and [`Progress`]: cancellation and progress of long work.
//! - [`Recorder`]: the first bytes of a reader, kept to be read again.
//! - [`text`]: safe text for terminals, clipping, and character counts.
//! - [`quote`]: names and strings as queries write them.
//! - [`nearest`]: suggestions for an unknown name.
//! - `threads` (feature `threads`): work in pieces on several threads, joined in order.
//! - [`decimal`]: exact comparison and canonical notation of decimal numbers.
//! - [`error`]: error types whose kinds carry data.
//!
//! # Limits
//!
//! The file operations need a Unix system. No allocation grows with the size of an input.

mod cancel;
#[cfg(feature = "commit")]
pub mod commit;
pub mod decimal;
pub mod error;
#[cfg(feature = "faults")]
pub mod faults;
pub mod files;
mod nearest;
mod op;
mod progress;
pub mod quote;
mod recorder;
pub mod text;
#[cfg(feature = "threads")]
pub mod threads;

pub use cancel::{Cancel, Reason};
pub use nearest::{nearest, nearest_one};
pub use progress::Progress;
pub use recorder::{Recorder, Recording};
