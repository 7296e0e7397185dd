//! trommel's columns.
//!
//! | module | stage |
//! | --- | --- |
//! | `reader` | a cursor alone: events, skips, text, numbers, and the backends against each other |
//! | `path` | plans and a matcher over a cursor |
//! | `stats` | a profile of a cursor's events |
//! | `store` | an output that is stored |
//! | `facade` | whole analyses, over bytes, over a stream, on one thread and on two; also of what the last two answer |

mod facade;
mod path;
mod reader;
mod stats;
mod store;

use crate::{Column, Task};

/// The strict default; in tables the column that peers which validate are compared with.
pub const STRICT: &str = "trommel";

/// Structural validation of what is skipped; the column that peers which do not validate are
/// compared with.
pub const STRUCTURAL: &str = "trommel structural";

/// A whole analysis as the command line runs it, structural where it may be, on one thread: what a
/// user gets.
pub const ANALYSIS: &str = "trommel analysis";

/// trommel's columns for a task about these bytes.
pub fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    match task.stage() {
        "reader" | "backends" => reader::columns(task, bytes),
        "path" => path::columns(task, bytes).into_iter().chain(facade::analyses(task, bytes)).collect(),
        "stats" => stats::columns(task, bytes).into_iter().chain(facade::analyses(task, bytes)).collect(),
        "facade" | "lines" => facade::columns(task, bytes),
        "store" => store::columns(task, bytes),
        stage => panic!("no stage is called {stage}"),
    }
}
