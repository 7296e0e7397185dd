//! The mirror: a folder for each session in the storage, with the description, the transcript, and
//! outlines of events.

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

/// Mirrors that are updated concurrently.
const CONCURRENCY: usize = 4;

/// Attempts to fill a mirror while another process writes to it.
const ROUNDS: u32 = 3;

/// Maximum problems in a report.
const MAX_PROBLEMS: usize = 10;

/// The mirror of a storage.
pub(super) struct Mirror<'a> {
    pub(super) context: &'a Context,
}

impl Mirror<'_> {
    /// Updates the list of sessions to match the storage: a folder with a description for each
    /// session, and no folder for a removed one. Returns why some could not be read; those keep
    /// their last known state. Calls `note_first` when the storage starts to answer.
    pub(super) fn list(&self, note_first: &dyn Fn(), watch: &Watch<'_>) -> Result<Vec<String>> {
        let (mut seen, mut unreadable, mut problems) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        let options = &self.context.options;
        options.storage.sessions(&options.owner.user, watch, &mut |stored| {
            note_first();
            watch.check()?;
            if let Some(problem) = &stored.problem {
                unreadable.insert(stored.key.session().to_owned());
                problems.push(format!("session {} cannot be read: {problem}", stored.key.session()));
            } else if let Some(listed) = Listed::of(&stored) {
                seen.insert(self.describe(&listed)?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        // An empty list is an answer, too.
        note_first();
        // Only a complete list removes folders: a storage that fails midway returned above.
        for (folder, project, session) in self.listed()? {
            if !seen.contains(&folder) && !unreadable.contains(&session) {
                remove_all(&folder)?;
                files::remove(&self.context.paths.mirror_journal(&project, &session))?;
            }
        }
        problems.truncate(MAX_PROBLEMS);
        Ok(problems)
    }

    /// Every session of the mirror: its folder, project, and ID.
    fn listed(&self) -> Result<Vec<(PathBuf, String, String)>> {
        let mut all = Vec::new();
        for (project, folder) in folders(&self.context.paths.mirror().join("projects"))? {
            for (session, folder) in folders(&folder.join("sessions"))? {
                all.push((folder, project.clone(), session));
            }
        }
        Ok(all)
    }

    /// Writes the description of a session, unless the mirror is more recent. Returns the session's
    /// folder.
    fn describe(&self, listed: &Listed<'_>) -> Result<PathBuf> {
        let (project, session) = (&listed.project, listed.session);
        let folder = self.context.paths.mirrored(project, session);
        let path = folder.join("metadata.json");
        let journal = self.context.paths.mirror_journal(project, session);
        // A damaged journal is rebuilt when the session is queried.
        let known = Journal::open_read_only(&journal).map_or(0, |journal| journal.head);
        let is_newer = known < listed.last.sequence;
        let text = foreign::description(listed.last, &listed.description);
        if is_newer && fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            files::make_folder(&folder)?;
            replace(&path, text.as_bytes())?;
            touch(&path, &listed.last.timestamp);
        }
        Ok(folder)
    }

    /// True if more than the description of a session has been fetched.
    pub(super) fn is_filled(&self, session: &Session) -> bool {
        self.context.paths.mirror_journal(session.project(), session.id()).exists()
    }

    /// Updates the mirrors of all sessions that a search reads. Returns why some could not be
    /// updated.
    pub(super) fn fill_all(
        &self,
        sessions: &Sessions,
        query: &SearchQuery,
        watch: &Watch<'_>,
    ) -> Result<Vec<String>> {
        let mut list = ListQuery::default();
        (list.project, list.date_range) = (query.project.clone(), query.date_range.clone());
        (list.top_level_only, list.limit) = (false, trommel_session::MAX_ROWS);
        self.fill_rows(sessions.list(&list, watch)?.sessions, watch)
    }

    /// Updates the mirrors of a session's descendants. Returns why some could not be updated.
    pub(super) fn fill_family(
        &self,
        sessions: &Sessions,
        session: &Session,
        watch: &Watch<'_>,
    ) -> Result<Vec<String>> {
        self.fill_rows(family(sessions, session, watch)?, watch)
    }

    /// Updates the mirrors of those sessions that are only in the storage.
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
                    problems.push(format!("session {session} is shown in the last known state: {error}"));
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..CONCURRENCY {
                scope.spawn(work);
            }
        });
        // After a cancellation, the failures are not problems of their sessions.
        watch.check()?;
        let mut problems = problems.into_inner().unwrap_or_else(PoisonError::into_inner);
        problems.sort();
        problems.truncate(MAX_PROBLEMS);
        Ok(problems)
    }

    /// Updates the mirror of a session.
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
                // Another process wrote the description meanwhile.
                Err(error) if error.class() == ErrorClass::Busy => {}
                filled => return filled,
            }
        }
        filling.run(&path)
    }
}

/// The descendants of a session: the sessions that it spawned, and those that they spawned.
fn family(sessions: &Sessions, session: &Session, watch: &Watch<'_>) -> Result<Vec<SessionRow>> {
    let mut query = ListQuery::default();
    (query.project, query.top_level_only) = (Some(session.project().to_owned()), false);
    query.limit = trommel_session::MAX_ROWS;
    let mut others = sessions.list(&query, watch)?.sessions;
    let (mut family, mut parents) = (Vec::new(), vec![session.id().to_owned()]);
    while let Some(parent) = parents.pop() {
        let is_child = |row: &mut SessionRow| row.parent_id.as_deref() == Some(&parent);
        let children = others.extract_if(.., is_child).collect::<Vec<_>>();
        parents.extend(children.iter().map(|child| child.session_id.clone()));
        family.extend(children);
    }
    Ok(family)
}

/// True if a descendant of the session is only in the storage.
pub(super) fn is_any_in_cloud(sessions: &Sessions, session: &Session, watch: &Watch<'_>) -> Result<bool> {
    Ok(family(sessions, session, watch)?.iter().any(|row| row.source == Source::Cloud))
}

/// A session of the list.
struct Listed<'a> {
    /// Its ID in the storage; the ID in a block is not trusted.
    session: &'a str,
    project: String,
    description: Description,
    /// The last block that describes it.
    last: &'a Block,
}

impl<'a> Listed<'a> {
    /// Returns `None` for a session that was deleted or has no description.
    fn of(stored: &'a Stored) -> Option<Self> {
        let last = stored.described.last().filter(|last| last.block_type != BlockType::SessionDeleted)?;
        let description = stored.described.iter().filter_map(|block| block.data::<Description>().ok());
        let mut description = description.fold(Description::default(), Description::then);
        let first = stored.described.first()?;
        description.created.get_or_insert_with(|| first.timestamp.clone());
        description.updated.get_or_insert_with(|| last.timestamp.clone());
        let (session, project) = (stored.key.session(), description.project_folder().to_owned());
        Some(Self { session, project, description, last })
    }
}

/// Replaces the content of a file atomically.
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

/// The subfolders of a folder with their names; empty if the folder does not exist.
fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let named = files::names(folder)?.into_iter().map(|name| {
        let path = folder.join(&name);
        (name, path)
    });
    Ok(named.filter(|(_, path)| path.is_dir()).collect())
}
