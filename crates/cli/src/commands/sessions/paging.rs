//! Reads rows page by page, so that an answer may exceed the size of a page.

use std::io::{self, Write};

use serde::Serialize;
use trommel_session::{
    ErrorRow, Errors, EventPage, EventRow, Listing, Match, Matches, MessageRow, SessionRow, Timeline, Turn,
};

use super::answer::{Reply, SessionDetails, Truncated};
use crate::errors::Failure;
use crate::output::escape;

/// A page of rows.
pub(super) trait Page {
    type Row: Serialize;

    /// The name of the rows in the answer.
    const NAME: &'static str;

    fn rows(&mut self) -> &mut Vec<Self::Row>;

    fn has_more(&self) -> bool;
}

macro_rules! pages {
    ($($page:ident.$rows:ident: $row:ident),*) => {$(
        impl Page for $page {
            type Row = $row;

            const NAME: &'static str = stringify!($rows);

            fn rows(&mut self) -> &mut Vec<$row> {
                &mut self.$rows
            }

            fn has_more(&self) -> bool {
                self.has_more
            }
        }
    )*};
}

pages!(Listing.sessions: SessionRow, Matches.matches: Match, EventPage.events: EventRow, Errors.errors: ErrorRow, Timeline.turns: Turn);

impl Page for SessionDetails {
    type Row = MessageRow;

    const NAME: &'static str = "transcript";

    fn rows(&mut self) -> &mut Vec<MessageRow> {
        &mut self.messages
    }

    fn has_more(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.has_more)
    }
}

/// The range of rows to read, and the size of a page.
#[derive(Clone, Copy)]
pub(super) struct Paging {
    pub(super) offset: u64,
    pub(super) limit: u64,
    pub(super) at_once: usize,
}

/// Reads all pages. If a document is given, writes rows to it as they arrive and returns a page
/// without rows.
pub(super) fn all<P: Page>(
    paging: Paging,
    mut out: Option<&mut Document<'_>>,
    mut read: impl FnMut(u64, usize) -> Result<P, Failure>,
) -> Result<(P, Option<Truncated>), Failure> {
    let Paging { mut offset, limit, at_once } = paging;
    let (mut returned, mut kept) = (0, Vec::new());
    loop {
        let wanted = usize::try_from(limit - returned).map_or(at_once, |left| left.min(at_once));
        let mut page = read(offset, wanted)?;
        let rows = std::mem::take(page.rows());
        let count = rows.len() as u64;
        (returned, offset) = (returned + count, offset + count);
        match &mut out {
            Some(out) => out.rows(P::NAME, &rows)?,
            None => kept.extend(rows),
        }
        let has_more = page.has_more();
        if has_more && count > 0 && returned < limit {
            continue;
        }
        *page.rows() = kept;
        return Ok((page, has_more.then_some(Truncated { reason: "limit", returned, next: offset })));
    }
}

/// The JSON document of an answer. Its rows may be written before the rest is known.
pub(super) struct Document<'o> {
    out: &'o mut dyn Write,
    /// The start of the document, if rows were written.
    head: Option<String>,
    is_first: bool,
    buffer: Vec<u8>,
}

impl<'o> Document<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Self { out, head: None, is_first: true, buffer: Vec::new() }
    }

    /// Writes rows, which must be the first member of the answer.
    fn rows(&mut self, name: &str, rows: &[impl Serialize]) -> io::Result<()> {
        if self.head.is_none() {
            let head = format!("{{\"{name}\":[");
            self.out.write_all(head.as_bytes())?;
            self.head = Some(head);
        }
        for row in rows {
            self.buffer.clear();
            if !std::mem::take(&mut self.is_first) {
                self.buffer.push(b',');
            }
            escape::json(&serde_json::to_vec(row)?, &mut self.buffer);
            self.out.write_all(&self.buffer)?;
        }
        Ok(())
    }

    /// Writes the answer, or the part after the rows.
    pub(super) fn finish(self, reply: &Reply) -> io::Result<()> {
        let json = reply.json()?;
        #[expect(clippy::expect_used, reason = "only pages whose rows come first are written row by row")]
        let rest =
            self.head.as_deref().map_or(&*json, |head| json.strip_prefix(head).expect("rows come first"));
        let mut buffer = self.buffer;
        buffer.clear();
        escape::json(rest.as_bytes(), &mut buffer);
        buffer.push(b'\n');
        self.out.write_all(&buffer)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::Answer;
    use super::*;

    /// Returns a page of a log with ten errors, at most three at a time.
    fn page(offset: u64, limit: usize) -> Errors {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("projects/-p/sessions/5d1c");
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("metadata.json"), "{}").unwrap();
        std::fs::write(path.join("events.jsonl"), "{\"event\":\"x:error\"}\n".repeat(10)).unwrap();
        let session = trommel_session::Sessions::new().amplifier(home.path()).find("5d1c").unwrap();
        let page = trommel_session::Page::new(offset, limit.min(3));
        session.errors(page, &trommel_session::Watch::new()).unwrap()
    }

    /// Returns the document and the number of pages that were read.
    fn read(offset: u64, limit: u64, is_written: bool) -> (String, usize) {
        let (mut written, mut pages) = (Vec::new(), 0);
        let mut document = Document::new(&mut written);
        let paging = Paging { offset, limit, at_once: 100 };
        let (errors, truncated) = all(paging, is_written.then_some(&mut document), |offset, limit| {
            pages += 1;
            Ok(page(offset, limit))
        })
        .unwrap();
        assert!(!is_written || errors.errors.is_empty(), "written rows are not kept");
        document.finish(&Reply { truncated, ..Reply::complete(Answer::Errors(errors)) }).unwrap();
        (String::from_utf8(written).unwrap(), pages)
    }

    #[test]
    fn pages_are_joined_whether_rows_are_written_or_kept() {
        for (offset, limit, expected) in [
            (0, u64::MAX, (0..10, None, 4)),
            (0, 10, (0..10, None, 4)),
            (2, 4, (2..6, Some((4, 6)), 2)),
            (20, 1, (0..0, None, 1)),
        ] {
            let (rows, truncated, pages) = expected;
            let row =
                |n: u64| format!(r#"{{"record":{n},"ts":null,"event":"x:error","message":"no message"}}"#);
            let rows = rows.map(row).collect::<Vec<_>>().join(",");
            let has_more = truncated.is_some();
            let truncated = truncated.map_or(String::new(), |(returned, next)| {
                format!(r#","truncated":{{"reason":"limit","returned":{returned},"next":{next}}}"#)
            });
            let json =
                format!("{{\"errors\":[{rows}],\"total_count\":10,\"has_more\":{has_more}{truncated}}}\n");
            assert_eq!(read(offset, limit, false), (json.clone(), pages), "{offset} {limit}");
            assert_eq!(read(offset, limit, true), (json, pages), "{offset} {limit}");
        }
    }
}
