//! Guides.

mod build;
mod builder;
mod index;
mod names;

pub use builder::{IndexBuilder, SPACING};
pub use index::Index;
