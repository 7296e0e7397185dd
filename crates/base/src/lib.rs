//! The foundation of trommel's crates: file operations, cancellation and progress, safe text,
//! nearest names, and errors.
//!
//! # Should I use this crate?
//!
//! Only to extend trommel. It has no subject of its own: it holds the code that several crates need
//! and none is about. It knows nothing of JSON, of the engine, or of agents.
//!
//! # Contents
//!
//! - [`files`]: operations on files. Each succeeds or fails as a whole, and reports what it did to
//!   which path.
//! - `faults` (feature `faults`): makes any of these operations fail, for tests.
//! - `commit` (feature `commit`): several files of a folder changed as one.
//! - [`Cancel`] and [`Progress`]: what accompanies long work.
//! - [`text`]: text that is safe to show on a terminal, clipping, and character counts.
//! - [`nearest`]: the known names that resemble an unknown one.
//! - [`decimal`]: exact comparison and canonical spelling of decimal numbers.
//! - [`error`]: error types whose kinds carry data.
//!
//! # Limits
//!
//! The file operations need a Unix system. Nothing here allocates by the size of an input.

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
pub mod text;

pub use cancel::{Cancel, Reason};
pub use nearest::{nearest, nearest_one};
pub use progress::Progress;
