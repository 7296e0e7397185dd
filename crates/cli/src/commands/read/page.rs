//! A page of a file: identical to a page of `tool_outputs.read`, except for its cursor.

use trommel::path::Query;
use trommel_toolbox::outputs::{Content, Head, PageTooSmall, Position, ValuePage};

use super::cursor;

/// The request for a page.
#[derive(Clone, Copy)]
pub(super) struct PageRequest<'a> {
    pub(super) path: &'a str,
    pub(super) query: &'a Query,
    /// The maximum number of characters of the page.
    pub(super) max_chars: usize,
    /// The number of children, or of bytes of a string, on earlier pages.
    pub(super) start: u64,
    /// The tag of the cursor, which ties `start` to the value.
    pub(super) tag: Option<u32>,
}

/// A value, with the parts of it that may fit on the page.
pub(super) struct Value {
    pub(super) kind: &'static str,
    pub(super) bytes: u64,
    pub(super) items: Option<u64>,
    pub(super) content: Content,
}

/// The reason why there is no page.
pub(super) enum NoPage {
    /// The cursor belongs to another value.
    ForeignCursor,
    /// Not even the first child fits.
    PageTooSmall(PageTooSmall),
}

impl PageRequest<'_> {
    /// Renders the page.
    pub(super) fn page(&self, value: Value) -> Result<String, NoPage> {
        let Value { kind, bytes, items, content } = value;
        // The cursor is tied to the query and to the size of the value.
        let tie = (self.query.to_string(), bytes, items);
        if self.tag.is_some_and(|tag| tag != cursor::tag(self.start, &tie)) {
            return Err(NoPage::ForeignCursor);
        }
        let head = Head { path: self.path, kind, bytes, items, start_line: None };
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
        ValuePage::new(&head, content, start, &write).fit(self.max_chars).map_err(NoPage::PageTooSmall)
    }
}
