//! The typed requests about buffers.

use trommel_route::{Scope, WriteMode};

/// A buffer by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// The name.
    pub name: &'a str,
    /// The scope to search; both if there is none.
    pub scope: Option<Scope>,
}

/// The part of a buffer to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Range {
    /// From one line to another, both included. Lines count from 1.
    Lines {
        /// The first line.
        first: u64,
        /// The last line.
        last: u64,
    },
    /// A number of characters from an offset on.
    Chars {
        /// The first character, from 0.
        offset: u64,
        /// The number of characters.
        length: u64,
    },
}

/// A request about buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request<'a> {
    /// List the buffers.
    List {
        /// The scope to list; both if there is none.
        scope: Option<Scope>,
        /// The number of buffers to skip.
        offset: u64,
    },
    /// Describe one buffer.
    Info(Named<'a>),
    /// Show a piece of a buffer.
    Peek {
        /// The buffer.
        buffer: Named<'a>,
        /// The first character, from 0.
        offset: u64,
        /// The largest number of characters.
        max_chars: u64,
    },
    /// Read a part of a buffer.
    Read {
        /// The buffer.
        buffer: Named<'a>,
        /// The part.
        range: Range,
    },
    /// Search a buffer.
    Search(Search<'a>),
    /// Write a buffer to a file.
    Export(Export<'a>),
}

/// A search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search<'a> {
    /// The buffer.
    pub buffer: Named<'a>,
    /// A regular expression, or with `plain` a text.
    pub pattern: &'a str,
    /// True if the pattern is a text.
    pub plain: bool,
    /// The number of lines to show before and after each hit.
    pub context: usize,
    /// The character to begin at.
    pub offset: u64,
}

/// An export to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Export<'a> {
    /// The buffer.
    pub buffer: Named<'a>,
    /// The path of the file, below the root.
    pub path: &'a str,
    /// How to write to an existing file. Without it, an existing file is an error.
    pub write_mode: Option<WriteMode>,
}
