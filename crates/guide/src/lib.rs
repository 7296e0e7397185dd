//! Guides: what one pass over a JSON input has found, kept so that later questions read only what
//! they need.
//!
//! A [`Guide`] has two layers. Its [`Index`] knows where the long containers of the input end, how
//! many children they have, points between their children every 32 KiB, and which names may occur
//! between two of these. The shape has the statistics and the schema. A document that is
//! [guided](Guide::guide) passes what the index knows without reading it; [`Guide::report`]
//! answers what follows from the shape.
//!
//! # Correctness
//!
//! A guide never answers what the input does not say. It comes from a strict pass over all of the
//! input, and is bound to the content: to the BLAKE3 hash of a stored output, or to the inode, the
//! size, the times, and the hashes of both ends of a file. Every byte of it has a checksum. Each
//! point is checked against the bytes around it before it is used.
//!
//! # Limits
//!
//! A guide has at most 0.5 % of the bytes of its input and 4 KiB. It is read into memory, and the
//! names by block of one in a file when they are first asked for.
//! Compressed inputs have only answers: [`Guide::of_answer`] keeps that of a run which was made
//! anyway, without an index.

mod below;
mod build;
mod builder;
mod error;
mod filters;
mod folder;
mod format;
mod guide;
mod identity;
mod index;
mod names;
mod parts;
mod sample;
mod shape;
mod skips;
#[cfg(test)]
mod tests;

pub use below::Below;
pub use builder::{IndexBuilder, SPACING, TokenKind};
pub use error::{Error, Result};
pub use folder::{Guides, Location};
pub use guide::Guide;
pub use identity::{FileIdentity, Identity};
pub use index::Index;
pub use parts::Part;
pub use shape::Shape;
pub use skips::without_skipped;

/// The version of the stored form. Readers refuse newer ones.
pub const VERSION: u32 = 1;
