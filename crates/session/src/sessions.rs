//! All sessions of a machine: the folders they lie in, and one of them by its id.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Zoned;

use crate::change;
use crate::error::{Error, ErrorKind, Result};
use crate::session::{Format, Session};
use crate::text::shown;

/// Where sessions lie. Nothing is opened before something is asked.
///
/// ```
/// use trommel_session::{Cancel, ListQuery, Sessions};
///
/// # let home = tempfile::tempdir()?;
/// # let now = "2026-03-04T12:00[UTC]".parse()?;
/// let sessions = Sessions::new(now).amplifier(home.path().join(".amplifier"));
/// let listed = sessions.list(&ListQuery::default(), &Cancel::new())?;
/// assert_eq!(listed.total, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sessions {
    roots: Vec<(Format, PathBuf)>,
    pub(crate) now: Zoned,
}

/// Candidates that an error names.
const CANDIDATES: usize = 10;

impl Sessions {
    /// None yet. Days are told by the time and the zone of `now`.
    pub fn new(now: Zoned) -> Self {
        Self { roots: Vec::new(), now }
    }

    /// And those in `projects/<slug>/sessions/<id>/` below a folder, which is usually `~/.amplifier`.
    #[must_use]
    pub fn amplifier(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push((Format::Amplifier, root.into()));
        self
    }

    /// And those in `projects/<slug>/<id>.jsonl` below a folder, which is usually `~/.claude`.
    #[must_use]
    pub fn claude_code(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push((Format::ClaudeCode, root.into()));
        self
    }

    /// The session of this id, or the only one whose id begins so. `project/id` says which project is meant.
    ///
    /// A change of the session that was cut off is brought to its end first.
    pub fn find(&self, id: &str) -> Result<Session> {
        let (project, begins) = match id.rsplit_once('/') {
            Some((project, begins)) => (Some(project), begins),
            None => (None, id),
        };
        if begins.is_empty() {
            return Err(Error::request("which session? Give its id, or how it begins; `list` shows them"));
        }
        let mut found = Vec::new();
        self.each(project, &mut |session| {
            if session.id.starts_with(begins) {
                found.push(session);
            }
            Ok(())
        })?;
        let session = choose(found, begins).map_err(|found| lost(id, &found))?;
        change::recover(&session)?;
        Ok(session)
    }

    /// Every session, of one project or of all, in the order of roots, projects and ids.
    pub(crate) fn each(
        &self,
        project: Option<&str>,
        take: &mut dyn FnMut(Session) -> Result<()>,
    ) -> Result<()> {
        for (format, root) in &self.roots {
            for (slug, folder) in folders(&root.join("projects"))? {
                if project.is_none_or(|project| project == slug) {
                    each_of(*format, &slug, &folder, take)?;
                }
            }
        }
        Ok(())
    }
}

fn each_of(
    format: Format,
    slug: &str,
    folder: &Path,
    take: &mut dyn FnMut(Session) -> Result<()>,
) -> Result<()> {
    let session = |id: String, path| Session { id, project: slug.to_owned(), path, format };
    if format == Format::Amplifier {
        for (id, path) in folders(&folder.join("sessions"))? {
            take(session(id, path))?;
        }
        return Ok(());
    }
    for (name, path) in entries(folder)? {
        if let Some(id) = name.strip_suffix(".jsonl")
            && path.is_file()
        {
            take(session(id.to_owned(), path))?;
        }
    }
    Ok(())
}

fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = entries(folder)?;
    found.retain(|(_, path)| path.is_dir());
    Ok(found)
}

/// What lies in a folder, by name; nothing where there is none. Hidden files, and names that are no text, are none of ours.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let failed = |cause| Error::io("look into", folder, cause);
    let listed = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        listed => listed.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in listed {
        let entry = entry.map_err(failed)?;
        if let Ok(name) = entry.file_name().into_string()
            && !name.starts_with('.')
        {
            found.push((name, entry.path()));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The one that is meant by an id or its beginning; else all that could be.
fn choose(mut found: Vec<Session>, begins: &str) -> std::result::Result<Session, Vec<Session>> {
    let exact = found.iter().filter(|session| session.id == begins).count();
    if exact > 0 {
        found.retain(|session| session.id == begins);
    }
    if found.len() == 1 { found.pop().ok_or_else(Vec::new) } else { Err(found) }
}

fn lost(id: &str, found: &[Session]) -> Error {
    let asked = shown(id, 100);
    if found.is_empty() {
        let message = format!(
            "there is no session {asked}: `list` shows those there are, sub-sessions with top_level_only false"
        );
        return Error::new(ErrorKind::NotFound, message);
    }
    let named = found
        .iter()
        .take(CANDIDATES)
        .map(|session| shown(&format!("{}/{}", session.project, session.id), 160));
    let more = found.len().saturating_sub(CANDIDATES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = named.collect::<Vec<_>>().join(", ");
    let message =
        format!("{asked} may be any of {} sessions: {named}{more}; give more of the id", found.len());
    Error::new(ErrorKind::Ambiguous, message)
}
