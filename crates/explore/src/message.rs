//! Messages to the thread that draws.

use ratatui::crossterm::event::Event;

use crate::list::Page;
use crate::locate::Step;
use crate::source::{Holder, Node};
use crate::task::{Hit, Listed};
use crate::tree::Need;

/// What holds the first rows, and the only document with its preview.
pub(crate) type Root = (Holder, Option<(Node, String)>);

/// What happened.
#[derive(Debug)]
pub(crate) enum Message {
    /// A key, the mouse, or another size.
    Terminal(Event),
    /// The process was asked to end.
    Signal(i32),
    /// The root is the only document, or a stream.
    Root(Result<Root, String>),
    /// Rows of a page that is still being read.
    Rows(Holder, u64, Page),
    /// A need was met.
    Met(Need, Met),
    /// Results of the task with this number.
    Hits(u64, Vec<Hit>),
    /// The task with this number has ended.
    Done(u64, Outcome),
    /// The pass in the background has ended.
    Guide(Result<(), String>),
}

/// The answer to a need.
#[derive(Debug)]
pub(crate) enum Met {
    Page(Page),
    Count(u64),
}

/// The result of a task.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// An offset and the steps to its value; `None` if it was not found.
    Found(Result<Option<(u64, Vec<Step>)>, String>),
    /// A query has ended.
    Listed(Result<Listed, String>),
    /// Lines of text.
    Text(Result<Vec<String>, String>),
    /// Indices in order, and the number of elements that were left out.
    Sorted(Result<(Vec<u32>, u64), String>),
    /// Bytes written.
    Written(Result<u64, String>),
}
