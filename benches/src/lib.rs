//! What the benches measure: inputs, tasks, and trommel's way to do each of them.
//!
//! Nothing depends on this crate and it is never published. A *task* is a question about an *input*
//! with its right answer, and stands in `definitions/tasks.toml`. A *column* is one way to answer
//! it: trommel's are here, those of its peers lie beside the benches, since only these may depend
//! on the peers. The benches are
//!
//! | target | what it says |
//! | --- | --- |
//! | `speed` | bytes a second, for every task and column |
//! | `peak` | the most memory held at once, for some of them |
//! | program `processes` | the same questions put to whole programs, on a large file |
//! | program `goals` | whole runs of trommel beside the best peer and the machine's ceilings, on one core and on two |
//! | program `pipes` | whole runs at the end of a pipe, beside `cat` there and beside the same file opened |
//! | program `corpus` | nothing: it writes the large files |
//! | example `peer` | nothing: one peer's answer as a whole program |
//! | program `table` | what `speed` has measured, as tables |
//! | program `loops` | one column, for `cargo xtask instructions` |
//!
//! Every column's answer is compared with the task's each time it runs, so a bench that runs is a
//! test that passed. A column answers with one number: matches, records, or bytes of text, as the
//! task says.
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
//! Inputs are held in memory whole, 8 MB each: small enough that a run of everything takes minutes,
//! larger than the caches of the processors this runs on.

#![expect(
    clippy::exhaustive_enums,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "measurements, never published: a panic is how they say that an answer is wrong"
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

/// One way to answer a task.
pub struct Column<'a> {
    /// What it is called in tables.
    pub name: &'static str,
    /// The way.
    pub run: Run<'a>,
}

/// A program that gives a task's answer.
pub enum Run<'a> {
    /// It reads the bytes that it was made for.
    Reads(Box<dyn FnMut() -> u64 + 'a>),
    /// It uses up a copy of them, which is made for it and is not part of what is measured.
    Consumes(Box<Consume<'a>>),
}

/// A program that uses its input up.
type Consume<'a> = dyn FnMut(&mut [u8]) -> u64 + 'a;

impl<'a> Column<'a> {
    /// A column that reads its input.
    pub fn reads(name: &'static str, run: impl FnMut() -> u64 + 'a) -> Self {
        Self { name, run: Run::Reads(Box::new(run)) }
    }

    /// A column that uses its input up.
    pub fn consumes(name: &'static str, run: impl FnMut(&mut [u8]) -> u64 + 'a) -> Self {
        Self { name, run: Run::Consumes(Box::new(run)) }
    }
}
