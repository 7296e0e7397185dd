//! Question JSON that is too big to load.
//!
//! Placeholder.

mod analysis;
mod control;
mod document;
mod error;
mod extract;
mod measure;
mod notes;
mod packed;
mod report;
mod run;
mod sample;
mod setup;
mod stats;

pub use analysis::{Analysis, OnBadRecord};
pub use control::{Cancel, Progress};
pub use document::Document;
pub use error::{Error, NotCountable};
pub use measure::{Count, CountAs, Extract, Measure, Sample, Stats, Strategy};
pub use report::{
    Answer, Coverage, Damage, Found, PathStats, Report, SampleAnswer, SampleItem, Sink, StatsAnswer, StratumAnswer,
};

/// Bytes to events.
pub use trommel_reader as reader;

/// Queries and matching.
pub use trommel_path as path;

/// Seeded selections.
pub use trommel_sampler as sampler;

/// Mergeable figures.
pub use trommel_stats as statistics;
