//! Tests of the whole facade, by subject. The oracles are those of the test kit.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_records;
mod changing;
mod control;
mod counts;
mod coverage;
mod divided;
mod each;
mod ends;
mod errors;
mod extracts;
mod filters;
mod group_oracle;
mod groups;
mod hostile;
mod limits;
mod mixes;
mod packed;
mod parallel;
mod partials;
mod programs;
mod ranges;
mod repeated;
mod samples;
mod sequences;
mod stats;
mod strict;
mod support;
mod unsized_files;
