//! Reports about JSON: where the bytes are and what the values are, on one page.
//!
//! A [`Report`] consists of the statistics of an input, with facts about how they were obtained.
//! [`Report::page`] formats it as one HTML page without references to anything outside: a treemap
//! of the bytes by path, a table of all paths, the figures of each path, the schema, and sampled
//! records. [`Comparison`] formats two inputs side by side, and [`Sections`] other tables.
//!
//! # Safety of pages
//! Names and values are data of others. They enter a page as text and as JSON in a script element
//! that browsers do not run, both with their special characters escaped. The page's content
//! security policy allows the program's own scripts and style only, by their hashes, and no
//! requests. [`Report::redact`] removes secrets first.
//!
//! # Cost
//! Linear in the paths that are drawn: at most [`MAX_PATHS`], and fewer if the page would exceed
//! its limit of bytes. The page is in memory as a whole.

mod assets;
mod chart;
mod compare;
mod details;
mod html;
mod page;
mod record;
mod redact;
mod rows;
mod sections;

pub use compare::Comparison;
pub use page::{Example, Report, ReportInput, SampledRows};
pub use record::readable;
pub use sections::{Cell, Sections, Table};

/// The maximum number of paths on a page. The bytes of the others are counted with the path that
/// contains them.
pub const MAX_PATHS: usize = 2_000;

/// The maximum number of bytes of a page, unless the caller sets another. Browsers open it within a
/// second.
pub const MAX_PAGE_BYTES: usize = 2_000_000;
