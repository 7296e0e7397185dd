//! Queries the bodies of events that are only in the storage: page by page, or in a temporary copy.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::TempDir;
use trommel_base::files::{self, Op};
use trommel_session::{
    Aggregate, AggregateQuery, EventPage, EventQuery, Session, Sessions, Source, Watch, is_outlined,
};

use super::context::{Context, Local};
use super::paths::folder;
use crate::assemble::{Assembler, Depth, Lines};
use crate::block::Key;
use crate::error::{Error, ErrorKind, Result};
use crate::folder::Folder;
use crate::journal::Journal;
use crate::lines::Print;
use crate::replay::read_into;
use crate::rows::{Hidden, Kind, Row, visible};
use crate::storage::Selection;
use crate::sync::ConflictResolution;

/// The largest gap between two events that are read with one request, in blocks. Reading a few
/// unneeded blocks is cheaper than another request.
const MAX_GAP: u64 = 8;

/// Fetches bodies of events.
pub(super) struct Bodies<'a> {
    pub(super) context: &'a Context,
}

impl Bodies<'_> {
    /// Returns a page of a session's events, like [`Session::get_events`]. If the query needs more
    /// than the mirror has, the events of the page are fetched.
    pub(super) fn get_events(
        &self,
        session: &Session,
        query: &EventQuery,
        watch: &Watch<'_>,
    ) -> Result<EventPage> {
        if session.source() != Source::Cloud || query.fields.iter().all(|field| is_outlined(field)) {
            return Ok(session.get_events(query, watch)?);
        }
        // The mirror determines the page. Every outline has this field.
        let mut small = query.clone();
        small.fields = vec!["event".to_owned()];
        let known = session.get_events(&small, watch)?;
        let numbers = known.events.iter().map(|event| event.record).collect::<Vec<_>>();
        let Some(fetched) = self.fetched(session, &numbers, watch)? else {
            return Ok(self.copy(session, watch)?.session(session)?.get_events(query, watch)?);
        };
        let mut query = query.clone();
        // The copy has only the events of the page, so it is read from the start.
        let offset = std::mem::take(&mut query.offset);
        let mut page = fetched.session(session)?.get_events(&query, watch)?;
        for event in &mut page.events {
            // The copy has the records of the page, in their order.
            let at = usize::try_from(event.record).ok().and_then(|at| numbers.get(at));
            event.record = *at.ok_or_else(|| changed(session))?;
        }
        page.total_count = known.total_count;
        page.has_more = offset + (page.events.len() as u64) < page.total_count;
        page.damage = known.damage;
        Ok(page)
    }

    /// Aggregates a field, like [`Session::aggregate`]. If the mirror lacks the field, a copy of
    /// the session is downloaded.
    pub(super) fn aggregate(
        &self,
        session: &Session,
        query: &AggregateQuery,
        watch: &Watch<'_>,
    ) -> Result<Aggregate> {
        let mut fields = query.by.iter().chain([&query.field]);
        if session.source() != Source::Cloud || fields.all(|field| is_outlined(field)) {
            return Ok(session.aggregate(query, watch)?);
        }
        let copy = self.copy(session, watch)?;
        Ok(copy.session(session)?.aggregate(query, watch)?)
    }

    /// Downloads a session into a temporary folder.
    pub(super) fn copy(&self, session: &Session, watch: &Watch<'_>) -> Result<Copy> {
        let copy = Copy { home: self.context.paths.temporary()? };
        let key = self.context.key(session.id())?;
        let to = copy.folder(session);
        files::make_folder(&to)?;
        let journal = Journal::open(&copy.home.path().join("journal"))?;
        let local = Local { project: session.project(), folder: Folder::new(to), journal };
        self.context.side(&key, local, watch).sync(ConflictResolution::Manual)?;
        Ok(copy)
    }

    /// Fetches some events of a session into a temporary folder; `None` if some of them belong to
    /// the session that it was forked from.
    fn fetched(&self, session: &Session, numbers: &[u64], watch: &Watch<'_>) -> Result<Option<Copy>> {
        let copy = Copy { home: self.context.paths.temporary()? };
        let journal = Journal::open(&self.context.paths.mirror_journal(session.project(), session.id()))?;
        // Empty lines are not records.
        let blank = Print::of(b"\n");
        let events = visible(&journal.rows, Kind::Event).filter(|row| row.print != blank).collect::<Vec<_>>();
        let row = |number: &u64| usize::try_from(*number).ok().and_then(|at| events.get(at)).map(|row| **row);
        let rows = numbers.iter().filter_map(row).collect::<Vec<_>>();
        // The records of a fork's source have the fork's number, so their own blocks are unknown.
        let forks = journal.rows.iter().filter(|row| row.kind == Kind::Fork).map(|row| row.sequence);
        let forks = forks.collect::<BTreeSet<_>>();
        if rows.iter().any(|row| forks.contains(&row.sequence)) {
            return Ok(None);
        }
        let to = copy.folder(session);
        files::make_folder(&to)?;
        let mut lines = SelectedEvents::new(&to.join("events.jsonl"), &rows)?;
        for group in groups(&rows) {
            self.fetch(&self.context.key(session.id())?, group, &mut lines, watch)?;
        }
        if lines.finish()? == rows.len() {
            return Ok(Some(copy));
        }
        Err(changed(session))
    }

    fn fetch(&self, key: &Key, group: &[Row], lines: &mut SelectedEvents, watch: &Watch<'_>) -> Result<()> {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return Ok(()) };
        let none = Hidden::default();
        let mut assembler = Assembler::new(&none, Depth::Whole, self.context.payloads(), watch);
        let selection = Selection::range(first.sequence - 1, last.until);
        read_into(&*self.context.options.storage, key, &selection, &mut assembler, lines)?;
        assembler.finish(last.until, lines).map(drop)
    }
}

fn changed(session: &Session) -> Error {
    ErrorKind::ChangedSession { session: session.id().to_owned() }.into()
}

/// Groups rows that are read with one request.
fn groups(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|one, other| other.sequence.saturating_sub(one.until) <= MAX_GAP)
}

/// A session in a temporary folder.
pub(super) struct Copy {
    pub(super) home: TempDir,
}

impl Copy {
    fn folder(&self, session: &Session) -> std::path::PathBuf {
        folder(self.home.path(), session.project(), session.id())
    }

    pub(super) fn sessions(&self) -> Sessions {
        Sessions::new().amplifier(self.home.path())
    }

    /// The session, in its copy.
    pub(super) fn session(&self, session: &Session) -> Result<Session> {
        Ok(Session::open(self.folder(session))?)
    }
}

/// Writes the lines of selected events to a file, and drops all others.
struct SelectedEvents {
    out: BufWriter<File>,
    sequences: BTreeSet<u64>,
    /// The start of the line that is being written.
    open: Option<u64>,
    len: u64,
    count: usize,
    path: std::path::PathBuf,
}

impl SelectedEvents {
    fn new(path: &Path, rows: &[Row]) -> Result<Self> {
        let file = files::create(path)?;
        let sequences = rows.iter().map(|row| row.sequence).collect();
        Ok(Self { out: BufWriter::new(file), sequences, open: None, len: 0, count: 0, path: path.to_owned() })
    }

    /// Returns the number of written events.
    fn finish(mut self) -> Result<usize> {
        files::attempt(Op::Write, &self.path, || self.out.flush())?;
        Ok(self.count)
    }
}

impl Lines for SelectedEvents {
    fn begin(&mut self, kind: Kind) -> Result<()> {
        self.open = (kind == Kind::Event).then_some(self.len);
        Ok(())
    }

    fn add(&mut self, part: &[u8]) -> Result<()> {
        if self.open.is_some() {
            files::attempt(Op::Write, &self.path, || self.out.write_all(part))?;
            self.len += part.len() as u64;
        }
        Ok(())
    }

    fn end(&mut self, row: &Row) -> Result<()> {
        if !self.sequences.contains(&row.sequence) {
            return self.discard();
        }
        self.count += usize::from(self.open.take().is_some());
        Ok(())
    }

    fn discard(&mut self) -> Result<()> {
        let Some(start) = self.open.take() else { return Ok(()) };
        // Buffered bytes would otherwise be written after the truncation.
        files::attempt(Op::Write, &self.path, || self.out.flush())?;
        files::truncate(self.out.get_ref(), &self.path, start)?;
        files::attempt(Op::Write, &self.path, || self.out.seek(SeekFrom::Start(start)))?;
        self.len = start;
        Ok(())
    }
}
