//! The peers' columns.
//!
//! | module | peers |
//! | --- | --- |
//! | `typed` | programs over types that serde fills: `serde_json`, simd-json, sonic-rs |
//! | `walk` | visitors of everything, for the same three |
//! | `dom` | programs over trees in memory: `serde_json`, simd-json, sonic-rs |
//! | `raw` | spans without decoding: `serde_json`'s `RawValue`, sonic-rs's lazy values |
//! | `query` | engines that take a query: rsonpath, `serde_json_path`, jaq |
//! | `pull` | struson |
//!
//! A peer has columns only for the tasks that it supports, or that a user would write in a few
//! lines. All start from bytes and end with an answer; queries are compiled beforehand.

mod dom;
mod pull;
mod query;
mod raw;
mod typed;
mod walk;

use trommel_benches::{Column, Task};

/// All peers' columns for a task about these bytes.
pub(crate) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    let parts = [typed::columns, dom::columns, raw::columns, query::columns, pull::columns];
    parts.iter().flat_map(|columns| columns(task, bytes)).collect()
}

/// The lines of a text that is not empty, without the last line's end.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|&byte| byte == b'\n')
}

/// Returns the final figure of a program's types.
trait Answer {
    fn answer(&self) -> u64;
}
