//! Questions about what events carry, where the events lie in the storage: by the page, or in a
//! copy that is gone afterwards.

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
use crate::sync::Settlement;

/// Blocks between two events that are read with them rather than asked for apart.
const NEAR: u64 = 8;

/// Fetches bodies of events.
pub(super) struct Bodies<'a> {
    pub(super) context: &'a Context,
}

impl Bodies<'_> {
    /// A page of a session's events, as [`Session::get_events`] has it. Of events that lie in the
    /// storage only, those of the page are fetched when more is asked for than the mirror knows.
    pub(super) fn get_events(
        &self,
        session: &Session,
        query: &EventQuery,
        watch: &Watch<'_>,
    ) -> Result<EventPage> {
        if session.source() != Source::Cloud || query.fields.iter().all(|field| is_outlined(field)) {
            return Ok(session.get_events(query, watch)?);
        }
        let mut small = query.clone();
        small.fields = vec!["event".to_owned()];
        let known = session.get_events(&small, watch)?;
        let numbers = known.events.iter().map(|event| event.record).collect::<Vec<_>>();
        let Some(fetched) = self.fetched(session, &numbers, watch)? else {
            return Ok(self.copy(session, watch)?.session(session)?.get_events(query, watch)?);
        };
        let mut query = query.clone();
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

    /// Figures of a field, as [`Session::aggregate`] has them. Of a session that lies in the
    /// storage only, a copy is fetched when the mirror does not know the field.
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

    /// All of a session that lies in the storage, in a folder that is gone afterwards.
    pub(super) fn copy(&self, session: &Session, watch: &Watch<'_>) -> Result<Copy> {
        let copy = Copy { home: self.context.paths.temporary()? };
        let key = self.context.key(session.id())?;
        let to = copy.folder(session);
        files::make_folder(&to)?;
        let journal = Journal::open(&copy.home.path().join("journal"))?;
        let local = Local { project: session.project(), folder: Folder::new(to), journal };
        self.context.side(&key, local, watch).sync(Settlement::Manual)?;
        Ok(copy)
    }

    /// Some events of a session, in a folder that is gone afterwards; nothing where some are those
    /// of another one it was forked from.
    fn fetched(&self, session: &Session, numbers: &[u64], watch: &Watch<'_>) -> Result<Option<Copy>> {
        let copy = Copy { home: self.context.paths.temporary()? };
        let journal = Journal::open(&self.context.paths.mirror_journal(session.project(), session.id()))?;
        // Lines without anything are no records.
        let blank = Print::of(b"\n");
        let events = visible(&journal.rows, Kind::Event).filter(|row| row.print != blank).collect::<Vec<_>>();
        let row = |number: &u64| usize::try_from(*number).ok().and_then(|at| events.get(at)).map(|row| **row);
        let rows = numbers.iter().filter_map(row).collect::<Vec<_>>();
        let forks = journal.rows.iter().filter(|row| row.kind == Kind::Fork).map(|row| row.sequence);
        let forks = forks.collect::<BTreeSet<_>>();
        if rows.iter().any(|row| forks.contains(&row.sequence)) {
            return Ok(None);
        }
        let to = copy.folder(session);
        files::make_folder(&to)?;
        let mut lines = Wanted::new(&to.join("events.jsonl"), &rows)?;
        for near in groups(&rows) {
            self.fetch(&self.context.key(session.id())?, near, &mut lines, watch)?;
        }
        if lines.finish()? == rows.len() {
            return Ok(Some(copy));
        }
        Err(changed(session))
    }

    fn fetch(&self, key: &Key, near: &[Row], lines: &mut Wanted, watch: &Watch<'_>) -> Result<()> {
        let (Some(first), Some(last)) = (near.first(), near.last()) else { return Ok(()) };
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

/// Rows that are read together.
fn groups(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|one, other| other.sequence.saturating_sub(one.until) <= NEAR)
}

/// A session in a folder that is gone afterwards.
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

/// Lines of events that are wanted, on their way to a file; all others are let go.
struct Wanted {
    out: BufWriter<File>,
    sequences: BTreeSet<u64>,
    /// Where the line began that is written.
    open: Option<u64>,
    len: u64,
    count: usize,
    path: std::path::PathBuf,
}

impl Wanted {
    fn new(path: &Path, rows: &[Row]) -> Result<Self> {
        let file = files::create(path)?;
        let sequences = rows.iter().map(|row| row.sequence).collect();
        Ok(Self { out: BufWriter::new(file), sequences, open: None, len: 0, count: 0, path: path.to_owned() })
    }

    /// How many there were.
    fn finish(mut self) -> Result<usize> {
        files::attempt(Op::Write, &self.path, || self.out.flush())?;
        Ok(self.count)
    }
}

impl Lines for Wanted {
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
            return self.take_back();
        }
        self.count += usize::from(self.open.take().is_some());
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        let Some(begun) = self.open.take() else { return Ok(()) };
        files::attempt(Op::Write, &self.path, || self.out.flush())?;
        files::truncate(self.out.get_ref(), &self.path, begun)?;
        files::attempt(Op::Write, &self.path, || self.out.seek(SeekFrom::Start(begun)))?;
        self.len = begun;
        Ok(())
    }
}
