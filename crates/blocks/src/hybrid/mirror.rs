//! What is known here of sessions that lie in a storage: a folder each, with the description, the transcript, and outlines of events.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::SystemTime;

use jiff::Timestamp;
use trommel_session::{ListQuery, SearchQuery, Session, SessionRow, Sessions, Source, Watch};

use crate::assemble::{Assembler, Depth, Found};
use crate::block::{Block, BlockType};
use crate::data::Description;
use crate::disk::make;
use crate::error::{Error, ErrorKind, Result};
use crate::folder::Folder;
use crate::foreign;
use crate::hybrid::HybridOptions;
use crate::hybrid::places::{Places, make_above};
use crate::journal::Journal;
use crate::landing::{self, Landing};
use crate::local::is_name;
use crate::replay::{late, read_into};
use crate::rows::{FILES, Hidden, Kind, Row, visible};
use crate::storage::{Key, Selection, Stored, Want};
use crate::sync::Side;

/// Sessions whose mirrors are brought up to date at once.
const AT_ONCE: usize = 4;

/// Times that a mirror is filled while somebody else writes into it.
const ROUNDS: u32 = 3;

/// Problems that are told at most.
const PROBLEMS: usize = 10;

/// The mirror of a storage.
pub(super) struct Mirror<'a> {
    pub(super) options: &'a HybridOptions,
    pub(super) places: &'a Places,
}

impl Mirror<'_> {
    /// Makes the list of sessions what is stored: a folder with a description for each, and none for one that is no more. What kept some
    /// from being read, which stay as they were known last. `note_first` is told that the storage has begun to answer.
    pub(super) fn list(&self, note_first: &dyn Fn(), watch: &Watch<'_>) -> Result<Vec<String>> {
        let (mut seen, mut unreadable, mut problems) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        self.options.storage.sessions(&self.options.user, watch, &mut |stored| {
            note_first();
            watch.check()?;
            if let Some(problem) = &stored.problem {
                unreadable.insert(stored.key.session().to_owned());
                problems.push(format!("session {} cannot be read: {problem}", stored.key.session()));
            } else if let Some(described) = Listed::of(&stored) {
                seen.insert(self.describe(&described)?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        note_first();
        for (folder, project, session) in self.listed()? {
            if !seen.contains(&folder) && !unreadable.contains(&session) {
                remove_all(&folder)?;
                remove(&self.places.mirror_journal(&project, &session))?;
            }
        }
        problems.truncate(PROBLEMS);
        Ok(problems)
    }

    /// Every session of the mirror: its folder, project and id.
    fn listed(&self) -> Result<Vec<(PathBuf, String, String)>> {
        let mut all = Vec::new();
        for (project, folder) in names(&self.places.mirror().join("projects"))? {
            for (session, folder) in names(&folder.join("sessions"))? {
                all.push((folder, project.clone(), session));
            }
        }
        Ok(all)
    }

    /// Writes what is stored about a session, unless more is known already. The session's folder.
    fn describe(&self, listed: &Listed<'_>) -> Result<PathBuf> {
        let (project, session) = (&listed.project, listed.session);
        let folder = self.places.mirrored(project, session);
        let path = folder.join("metadata.json");
        let journal = self.places.mirror_journal(project, session);
        // One that was damaged is made anew when the session is asked for.
        let known = Journal::look(&journal).map_or(0, |journal| journal.head);
        let is_newer = known < listed.last.sequence;
        let text = foreign::description(listed.last, &listed.told);
        if is_newer && fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            make(&folder)?;
            replace(&path, text.as_bytes())?;
            touch(&path, &listed.last.timestamp);
        }
        Ok(folder)
    }

    /// Whether more of a session than its description was ever fetched.
    pub(super) fn is_filled(&self, session: &Session) -> bool {
        self.places.mirror_journal(session.project(), session.id()).exists()
    }

    /// Brings the mirrors of all sessions up to date that a search looks into. What kept some from it.
    pub(super) fn fill_all(
        &self,
        sessions: &Sessions,
        query: &SearchQuery,
        watch: &Watch<'_>,
    ) -> Result<Vec<String>> {
        let mut which = ListQuery::default();
        (which.project, which.date_range) = (query.project.clone(), query.date_range.clone());
        (which.top_level_only, which.limit) = (false, trommel_session::MOST_ROWS);
        self.fill_rows(sessions.list(&which, watch)?.sessions, watch)
    }

    /// Brings the mirrors of all sessions up to date that were spawned by one, or by one of those. What kept some from it.
    pub(super) fn fill_family(
        &self,
        sessions: &Sessions,
        session: &Session,
        watch: &Watch<'_>,
    ) -> Result<Vec<String>> {
        self.fill_rows(family(sessions, session, watch)?, watch)
    }

    /// Brings the mirrors of those of some sessions up to date that lie in the storage only.
    fn fill_rows(&self, rows: Vec<SessionRow>, watch: &Watch<'_>) -> Result<Vec<String>> {
        let ids = rows.into_iter().filter(|row| row.source == Source::Cloud);
        let waiting = Mutex::new(ids.map(|row| (row.project, row.session_id)).collect::<Vec<_>>());
        let problems = Mutex::new(Vec::new());
        let work = || {
            loop {
                let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let Some((project, session)) = next else { return };
                if let Err(error) = self.fill_one(&project, &session, watch) {
                    let mut problems = problems.lock().unwrap_or_else(PoisonError::into_inner);
                    problems.push(format!("session {session} is taken as it was known last: {error}"));
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(work);
            }
        });
        watch.check()?;
        let mut problems = problems.into_inner().unwrap_or_else(PoisonError::into_inner);
        problems.sort();
        problems.truncate(PROBLEMS);
        Ok(problems)
    }

    /// Brings the mirror of a session up to date.
    pub(super) fn fill(&self, session: &Session, watch: &Watch<'_>) -> Result<()> {
        self.fill_one(session.project(), session.id(), watch)
    }

    fn fill_one(&self, project: &str, session: &str, watch: &Watch<'_>) -> Result<()> {
        let key = Key::new(&self.options.user, session)?;
        let path = self.places.mirror_journal(project, session);
        make_above(&path)?;
        let filling = Filling {
            options: self.options,
            key: &key,
            project,
            folder: Folder::new(self.places.mirrored(project, session)),
            watch,
        };
        make(filling.folder.path())?;
        for _ in 1..ROUNDS {
            match filling.run(&path) {
                // Somebody else wrote the description meanwhile.
                Err(error) if error.kind() == ErrorKind::Busy => {}
                filled => return filled,
            }
        }
        filling.run(&path)
    }
}

/// All sessions that were spawned by one, or by one of those.
fn family(sessions: &Sessions, session: &Session, watch: &Watch<'_>) -> Result<Vec<SessionRow>> {
    let mut which = ListQuery::default();
    (which.project, which.top_level_only) = (Some(session.project().to_owned()), false);
    which.limit = trommel_session::MOST_ROWS;
    let mut others = sessions.list(&which, watch)?.sessions;
    let (mut family, mut parents) = (Vec::new(), vec![session.id().to_owned()]);
    while let Some(parent) = parents.pop() {
        let is_child = |row: &mut SessionRow| row.parent_id.as_deref() == Some(&parent);
        let children = others.extract_if(.., is_child).collect::<Vec<_>>();
        parents.extend(children.iter().map(|child| child.session_id.clone()));
        family.extend(children);
    }
    Ok(family)
}

/// True if a session that was spawned by this one, or by one of those, lies in the storage only.
pub(super) fn is_any_in_cloud(sessions: &Sessions, session: &Session, watch: &Watch<'_>) -> Result<bool> {
    Ok(family(sessions, session, watch)?.iter().any(|row| row.source == Source::Cloud))
}

/// A session as it is listed.
struct Listed<'a> {
    /// As the storage names it; what a block says may be anything.
    session: &'a str,
    project: String,
    told: Description,
    /// The last block that says something of it.
    last: &'a Block,
}

impl<'a> Listed<'a> {
    /// Nothing for a session that was deleted, or of which no block tells.
    fn of(stored: &'a Stored) -> Option<Self> {
        let last = stored.described.last().filter(|last| last.block_type != BlockType::SessionDeleted)?;
        let told = stored.described.iter().filter_map(|block| block.data::<Description>().ok());
        let mut told = told.fold(Description::default(), Description::then);
        let first = stored.described.first()?;
        told.created.get_or_insert_with(|| first.timestamp.clone());
        told.updated.get_or_insert_with(|| last.timestamp.clone());
        let project = told.project_slug.clone().filter(|slug| is_name(slug));
        let session = stored.key.session();
        Some(Self { session, project: project.unwrap_or_else(|| "default".to_owned()), told, last })
    }
}

/// One mirror that is brought up to date.
struct Filling<'a, 'w> {
    options: &'a HybridOptions,
    key: &'a Key,
    project: &'a str,
    folder: Folder,
    watch: &'a Watch<'w>,
}

/// Blocks of messages and of what is said of a session; those of events come by themselves, without their bodies.
const TOLD: [BlockType; 6] = [
    BlockType::SessionCreated,
    BlockType::SessionUpdated,
    BlockType::SessionDeleted,
    BlockType::Message,
    BlockType::Rewind,
    BlockType::Fork,
];

impl<'w> Filling<'_, 'w> {
    fn run(&self, path: &Path) -> Result<()> {
        let _lock = lock(path, self.watch)?;
        let Some(head) = self.options.storage.head(self.key, self.watch)? else { return Ok(()) };
        if !self.options.storage.is_writable() {
            // Kept in another layout, in which numbers shift when something is added.
            remove(path)?;
        }
        let mut journal = self.known(path)?;
        if journal.head == head.sequence {
            return Ok(());
        }
        let mut found = self.side(journal.clone()).rows_behind(journal.head, head.sequence)?;
        let is_cut = found.rows.iter().any(|row| matches!(row.kind, Kind::Rewind { .. }));
        if head.sequence < journal.head || is_cut && journal.head > 0 {
            remove(path)?;
            journal = Journal::open(path)?;
            found = self.side(journal.clone()).rows_behind(0, head.sequence)?;
        }
        self.land(&journal, found)?;
        for kind in FILES {
            touch(&self.folder.file(kind), &head.timestamp);
        }
        Ok(())
    }

    /// What is known of the mirror; nothing where its files are not what it says.
    fn known(&self, path: &Path) -> Result<Journal> {
        landing::recover(path, self.watch)?;
        let known = match Journal::open(path) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                remove(path)?;
                Journal::open(path)?
            }
            known => known?,
        };
        let is_whole = [Kind::Message, Kind::Event].into_iter().all(|kind| {
            let told = visible(&known.rows, kind).map(|row| row.print.bytes).sum::<u64>();
            fs::metadata(self.folder.file(kind)).map_or(0, |found| found.len()) == told
        });
        if is_whole {
            return Ok(known);
        }
        remove(path)?;
        Journal::open(path)
    }

    fn side(&self, journal: Journal) -> Side<'_, 'w> {
        self.options.side((self.project, self.key), self.folder.clone(), journal, self.watch)
    }

    /// Writes what is new behind what is there.
    fn land(&self, journal: &Journal, found: Found) -> Result<()> {
        let mut rows = journal.rows.clone();
        rows.extend_from_slice(&found.rows);
        let hidden = Hidden::by(&rows).and_nothing(&rows);
        let keep = [Kind::Message, Kind::Event]
            .map(|kind| visible(&journal.rows, kind).map(|row| row.print.bytes).sum::<u64>());
        let mut landing = Landing::new(&self.folder, keep, self.watch)?;
        let was = self.folder.mark();
        for (kind, keep) in [Kind::Message, Kind::Event].into_iter().zip(keep) {
            if keep < fs::metadata(self.folder.file(kind)).map_or(0, |found| found.len()) {
                landing.cut(kind)?;
            }
        }
        let (mut prints, mut sources) = (BTreeMap::new(), Vec::new());
        for (types, want) in [(TOLD.to_vec(), Want::Whole), (vec![BlockType::Event], Want::Outline)] {
            let selection = Selection { after: journal.head, until: Some(found.through), types, want };
            let mut assembler = Assembler::new(&hidden, Depth::Outline, self.options.payloads(), self.watch);
            read_into(&*self.options.storage, self.key, &selection, &mut assembler, &mut landing)?;
            let told = assembler.finish(found.through, &mut landing)?;
            let forks = found.rows.iter().filter(|row| row.kind == Kind::Fork);
            let forks = forks.map(|row| row.sequence).collect::<BTreeSet<_>>();
            let (of_sources, own) =
                told.rows.into_iter().partition::<Vec<_>, _>(|row| forks.contains(&row.sequence));
            prints.extend(own.iter().map(|row| (row.sequence, row.print)));
            sources
                .extend(of_sources.into_iter().filter(|row| matches!(row.kind, Kind::Message | Kind::Event)));
        }
        let mut journal = journal.clone();
        let is_told =
            |row: &&Row| matches!(row.kind, Kind::Message | Kind::Event) && !hidden.hides(row.sequence);
        if found.rows.iter().filter(is_told).any(|row| !prints.contains_key(&row.sequence)) {
            landing.forget();
            return Err(late(&*self.options.storage, self.key));
        }
        for row in found.rows {
            let print = prints.get(&row.sequence).copied().unwrap_or(row.print);
            journal.rows.push(Row { print, ..row });
            // What a session was forked from has the fork's number.
            journal.rows.extend(sources.iter().filter(|source| source.sequence == row.sequence));
        }
        (journal.head, journal.description) = (found.through, found.description);
        landing.commit(&journal, &was, self.watch)
    }
}

/// Waits for whoever else fills this mirror.
fn lock(path: &Path, watch: &Watch<'_>) -> Result<File> {
    let path = path.with_extension("lock");
    let made = File::options().create(true).append(true).open(&path);
    made.map_err(|cause| Error::io("open", &path, cause))?;
    landing::lock(&path, watch)
}

/// Files say when a session was changed where its description does not.
fn touch(path: &Path, when: &str) {
    let Ok(when) = when.parse::<Timestamp>() else { return };
    let told =
        File::options().write(true).open(path).and_then(|file| file.set_modified(SystemTime::from(when)));
    // It is only what a list shows that is somewhat later then.
    drop(told);
}

/// Puts a text in the place of a file, whole or not at all.
fn replace(path: &Path, text: &[u8]) -> Result<()> {
    let failed = |cause| Error::io("write", path, cause);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    new.write_all(text).map_err(failed)?;
    new.persist(path).map_err(|error| failed(error.error)).map(drop)
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, cause)),
        _ => Ok(()),
    }
}

fn remove_all(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", folder, cause)),
        _ => Ok(()),
    }
}

/// Folders in a folder, and their names; none where there is no such folder.
fn names(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let failed = |cause| Error::io("look into", folder, cause);
    let listed = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in listed {
        let entry = entry.map_err(failed)?;
        if let Ok(name) = entry.file_name().into_string()
            && entry.path().is_dir()
        {
            found.push((name, entry.path()));
        }
    }
    Ok(found)
}
