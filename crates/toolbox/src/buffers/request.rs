//! The typed requests about buffers.

use trommel_route::{Scope, WriteMode};

/// A reference to a buffer by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferRef<'a> {
    /// The name.
    pub name: &'a str,
    /// The scope to search. `None` searches both.
    pub scope: Option<Scope>,
}

/// The part of a buffer to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Range {
    /// Lines from `first` to `last`, inclusive. Lines count from 1.
    Lines {
        /// The first line.
        first: u64,
        /// The last line.
        last: u64,
    },
    /// `length` characters from `offset` on.
    Chars {
        /// The index of the first character, from 0.
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
        /// The scope to list. `None` lists both.
        scope: Option<Scope>,
        /// The number of buffers to skip.
        offset: u64,
    },
    /// Describe one buffer.
    Info(BufferRef<'a>),
    /// Show an excerpt of a buffer.
    Peek {
        /// The buffer.
        buffer: BufferRef<'a>,
        /// The index of the first character, from 0.
        offset: u64,
        /// The maximum number of characters.
        max_chars: u64,
    },
    /// Read a part of a buffer.
    Read {
        /// The buffer.
        buffer: BufferRef<'a>,
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
    pub buffer: BufferRef<'a>,
    /// A regular expression, or a literal text if `plain` is true.
    pub pattern: &'a str,
    /// True if the pattern is a literal text.
    pub plain: bool,
    /// The number of lines to show before and after each hit.
    pub context: usize,
    /// The index of the character to start at.
    pub offset: u64,
}

/// An export to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Export<'a> {
    /// The buffer.
    pub buffer: BufferRef<'a>,
    /// The path of the file, below the root.
    pub path: &'a str,
    /// The mode for an existing file. Without it, an existing file is an error.
    pub write_mode: Option<WriteMode>,
}
