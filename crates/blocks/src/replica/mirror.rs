//! What is known here of sessions that lie in a storage: a folder each, with the description, the
//! transcript, and outlines of events.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use trommel_base::files::{self, Op};
use trommel_session::{ListQuery, SearchQuery, Session, SessionRow, Sessions, Source, Watch};

use super::context::Context;
use super::fill::{Filling, touch};
use super::paths::make_parent;
use crate::block::{Block, BlockType};
use crate::data::Description;
use crate::error::{ErrorClass, Result};
use crate::folder::Folder;
use crate::foreign;
use crate::journal::Journal;
use crate::storage::Stored;

/// Sessions whose mirrors are brought up to date at once.
const AT_ONCE: usize = 4;

/// Times that a mirror is filled while somebody else writes into it.
const ROUNDS: u32 = 3;

/// Problems that are told at most.
const PROBLEMS: usize = 10;

/// The mirror of a storage.
pub(super) struct Mirror<'a> {
    pub(super) context: &'a Context,
}

impl Mirror<'_> {
    /// Makes the list of sessions what is stored: a folder with a description for each, and none
    /// for one that is no more. What kept some from being read, which stay as they were known last.
    /// `note_first` is told that the storage has begun to answer.
    pub(super) fn list(&self, note_first: &dyn Fn(), watch: &Watch<'_>) -> Result<Vec<String>> {
        let (mut seen, mut unreadable, mut problems) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        let options = &self.context.options;
        options.storage.sessions(&options.owner.user, watch, &mut |stored| {
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
                files::remove(&self.context.paths.mirror_journal(&project, &session))?;
            }
        }
        problems.truncate(PROBLEMS);
        Ok(problems)
    }

    /// Every session of the mirror: its folder, project and id.
    fn listed(&self) -> Result<Vec<(PathBuf, String, String)>> {
        let mut all = Vec::new();
        for (project, folder) in folders(&self.context.paths.mirror().join("projects"))? {
            for (session, folder) in folders(&folder.join("sessions"))? {
                all.push((folder, project.clone(), session));
            }
        }
        Ok(all)
    }

    /// Writes what is stored about a session, unless more is known already. The session's folder.
    fn describe(&self, listed: &Listed<'_>) -> Result<PathBuf> {
        let (project, session) = (&listed.project, listed.session);
        let folder = self.context.paths.mirrored(project, session);
        let path = folder.join("metadata.json");
        let journal = self.context.paths.mirror_journal(project, session);
        // One that was damaged is made anew when the session is asked for.
        let known = Journal::look(&journal).map_or(0, |journal| journal.head);
        let is_newer = known < listed.last.sequence;
        let text = foreign::description(listed.last, &listed.told);
        if is_newer && fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            files::make_folder(&folder)?;
            replace(&path, text.as_bytes())?;
            touch(&path, &listed.last.timestamp);
        }
        Ok(folder)
    }

    /// Whether more of a session than its description was ever fetched.
    pub(super) fn is_filled(&self, session: &Session) -> bool {
        self.context.paths.mirror_journal(session.project(), session.id()).exists()
    }

    /// Brings the mirrors of all sessions up to date that a search looks into. What kept some from
    /// it.
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

    /// Brings the mirrors of all sessions up to date that were spawned by one, or by one of those.
    /// What kept some from it.
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
        let key = self.context.key(session)?;
        let path = self.context.paths.mirror_journal(project, session);
        make_parent(&path)?;
        let filling = Filling {
            context: self.context,
            key: &key,
            project,
            folder: Folder::new(self.context.paths.mirrored(project, session)),
            watch,
        };
        files::make_folder(filling.folder.path())?;
        for _ in 1..ROUNDS {
            match filling.run(&path) {
                // Somebody else wrote the description meanwhile.
                Err(error) if error.class() == ErrorClass::Busy => {}
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
        let (session, project) = (stored.key.session(), told.project_folder().to_owned());
        Some(Self { session, project, told, last })
    }
}

/// Puts a text in the place of a file, whole or not at all.
fn replace(path: &Path, text: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut new = files::attempt(Op::Create, path, || tempfile::NamedTempFile::new_in(folder))?;
    files::write(&mut new, path, text)?;
    files::attempt(Op::Rename, path, || Ok(new.persist(path)?))?;
    Ok(())
}

fn remove_all(folder: &Path) -> Result<()> {
    match files::attempt(Op::Remove, folder, || fs::remove_dir_all(folder)) {
        Err(error) if error.cause().kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// The folders in a folder, and their names; none where there is no such folder.
fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let named = files::names(folder)?.into_iter().map(|name| {
        let path = folder.join(&name);
        (name, path)
    });
    Ok(named.filter(|(_, path)| path.is_dir()).collect())
}
