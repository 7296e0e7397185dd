//! Inputs, tasks, and trommel's implementations of them, for the benchmarks.
//!
//! No crate depends on this one, and it is never published. A *task* is a query on an *input* with
//! its correct answer, defined in `definitions/tasks.toml`. A *column* is one implementation of a
//! task. trommel's columns are in this crate. Those of its peers are beside the benchmarks, because
//! only these may depend on the peers. The benchmarks are:
//!
//! | target | result |
//! | --- | --- |
//! | `speed` | bytes per second, for every task and column |
//! | `peak` | peak heap, for some of them |
//! | program `processes` | whole programs on the same tasks, over a large file |
//! | program `goals` | whole runs of trommel, the best peer, and the machine's ceilings, on one core and on two |
//! | program `pipes` | whole runs over a pipe, `cat`, and the same file |
//! | program `corpus` | none: it writes the large files |
//! | example `peer` | one peer's answer, as a whole program |
//! | program `table` | the results of `speed`, as tables |
//! | program `loops` | one column, for `cargo xtask instructions` |
//!
//! Each run of a column compares its answer with the task's, so a benchmark is also a test. An
//! answer is one number, which depends on the task: matches, records, or bytes of text.
//!
//! ```no_run
//! use trommel_benches::{Input, Run, Task, engine};
//!
//! let task = Task::all().iter().find(|task| task.name == "path/one").unwrap();
//! let bytes = Input::Document.bytes();
//! for column in engine::columns(task, bytes) {
//!     let Run::Reads(mut run) = column.run else { continue };
//!     assert_eq!(run(), task.answer, "{}", column.name);
//! }
//! ```
//!
//! Inputs are held in memory, 8 MB each: small enough for a full run in minutes, and larger than
//! processor caches.

#![expect(
    clippy::exhaustive_enums,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "unpublished measurements panic if an answer is incorrect"
)]

pub mod ceilings;
pub mod corpus;
pub mod engine;
pub mod goals;
mod inputs;
pub mod programs;
pub mod speeds;
mod tasks;

pub use inputs::{BYTES, Input};
pub use tasks::Task;

/// One implementation of a task.
pub struct Column<'a> {
    /// The name in tables.
    pub name: &'static str,
    /// The program.
    pub run: Run<'a>,
}

/// A program that gives a task's answer.
pub enum Run<'a> {
    /// Reads the bytes for which it was created.
    Reads(Box<dyn FnMut() -> u64 + 'a>),
    /// Modifies a copy of the bytes. Copying is not measured.
    Consumes(Box<Consume<'a>>),
}

/// A program that modifies its input.
type Consume<'a> = dyn FnMut(&mut [u8]) -> u64 + 'a;

impl<'a> Column<'a> {
    /// Creates a column that reads its input.
    pub fn reads(name: &'static str, run: impl FnMut() -> u64 + 'a) -> Self {
        Self { name, run: Run::Reads(Box::new(run)) }
    }

    /// Creates a column that modifies its input.
    pub fn consumes(name: &'static str, run: impl FnMut(&mut [u8]) -> u64 + 'a) -> Self {
        Self { name, run: Run::Consumes(Box::new(run)) }
    }
}
