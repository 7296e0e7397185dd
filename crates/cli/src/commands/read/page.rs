//! A page of a file: the same as that of `tool_outputs.read`, with a cursor of its own.

use trommel::path::Query;
use trommel_toolbox::outputs::{Content, Head, Position, TooSmall, ValuePage};

use super::cursor;

/// What is asked.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) path: &'a str,
    pub(super) query: &'a Query,
    /// Characters of the page at most.
    pub(super) most: usize,
    /// Children, or bytes of a string, that earlier pages had.
    pub(super) start: u64,
    /// Ties that to the value.
    pub(super) tag: Option<u32>,
}

/// A value, and the parts of it that may be on the page.
pub(super) struct Value {
    pub(super) kind: &'static str,
    pub(super) bytes: u64,
    pub(super) items: Option<u64>,
    pub(super) content: Content,
}

/// Why there is no page.
pub(super) enum NoPage {
    /// The cursor is of another value.
    Foreign,
    /// Not even the first child fits.
    TooSmall(TooSmall),
}

impl Asked<'_> {
    /// The page.
    pub(super) fn page(&self, value: Value) -> Result<String, NoPage> {
        let Value { kind, bytes, items, content } = value;
        // A cursor is tied to the query and the value.
        let tie = (self.query.to_string(), bytes, items);
        if self.tag.is_some_and(|tag| tag != cursor::tag(self.start, &tie)) {
            return Err(NoPage::Foreign);
        }
        let head = Head { path: self.path, kind, bytes, items };
        // A string continues at a byte, a container at a child.
        let is_string = matches!(content, Content::Characters(..));
        let start = if is_string {
            Position { index: 0, at: self.start }
        } else {
            Position { index: self.start, at: 0 }
        };
        let write = |position: Position| {
            let position = if is_string { position.at } else { position.index };
            cursor::write(position, &tie)
        };
        ValuePage::new(&head, content, start, &write).fit(self.most).map_err(NoPage::TooSmall)
    }
}
