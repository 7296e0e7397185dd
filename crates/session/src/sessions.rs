//! All sessions of a machine: the folders they lie in, and one of them by its id.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Zoned;

use crate::change;
use crate::error::{Error, ErrorKind, Result};
use crate::session::{AGENT, Format, SUBAGENTS, Session, Source};
use crate::text::shown;

/// Where sessions lie. Nothing is opened before something is asked.
///
/// ```
/// use trommel_session::{ListQuery, Sessions, Watch};
///
/// # let home = tempfile::tempdir()?;
/// let sessions = Sessions::new().amplifier(home.path().join(".amplifier"));
/// let listed = sessions.list(&ListQuery::default(), &Watch::new())?;
/// assert_eq!(listed.total, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    roots: Vec<(Format, PathBuf)>,
    /// One that lies where no others are looked for.
    alone: Option<Session>,
    cloud: Option<Cloud>,
    now: Option<Zoned>,
}

/// Sessions in the cloud, as far as they are known here.
#[derive(Clone, Debug)]
struct Cloud {
    mirror: PathBuf,
    connected: bool,
}

/// Candidates that an error names.
const CANDIDATES: usize = 10;

impl Sessions {
    /// None yet. The time and the zone that days are told by are the system's, and looked up whenever they are needed.
    pub fn new() -> Self {
        Self::default()
    }

    /// A session's folder, or the file of one, wherever it lies; and those that it lies among, so that what it spawned is found.
    ///
    /// They are those of [`amplifier`](Self::amplifier) for a folder in `projects/<slug>/sessions/`, and those of
    /// [`claude_code`](Self::claude_code) for a file of Claude Code in `projects/<slug>/`; else it is alone. As with
    /// [`find`](Self::find), a change that was cut off is brought to its end first.
    ///
    /// ```
    /// use trommel_session::{Sessions, Watch};
    ///
    /// # let home = tempfile::tempdir()?;
    /// # let path = home.path().join("talk.jsonl");
    /// std::fs::write(&path, r#"{"role": "user", "content": "Hello"}"#)?;
    /// let (sessions, session) = Sessions::open(&path)?;
    /// assert_eq!(sessions.find("talk")?.path(), session.path());
    /// assert_eq!(session.diagnose(&Watch::new())?.status, "healthy");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<(Self, Session)> {
        let path = path.as_ref();
        // A path that ends in dots has no name.
        let whole = if path.file_name().is_some() { std::path::absolute(path) } else { path.canonicalize() };
        let session = Session::open(whole.map_err(|cause| Error::io("open", path, cause))?)?;
        change::recover(&session)?;
        let sessions = match session.root() {
            Some(root) => Self { roots: vec![(session.format, root.to_owned())], ..Self::default() },
            None => Self { alone: Some(session.clone()), ..Self::default() },
        };
        Ok((sessions, session))
    }

    /// Takes it that it is always this time, in this zone.
    #[must_use]
    pub fn at(mut self, now: Zoned) -> Self {
        self.now = Some(now);
        self
    }

    pub(crate) fn now(&self) -> Zoned {
        self.now.clone().unwrap_or_else(Zoned::now)
    }

    /// And those in `projects/<slug>/sessions/<id>/` below a folder, which is usually `~/.amplifier`.
    #[must_use]
    pub fn amplifier(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push((Format::Amplifier, root.into()));
        self
    }

    /// And those in `projects/<slug>/<id>.jsonl` below a folder, which is usually `~/.claude`, with their sub-agents in
    /// `projects/<slug>/<id>/subagents/`.
    #[must_use]
    pub fn claude_code(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push((Format::ClaudeCode, root.into()));
        self
    }

    /// And those in the cloud, of which a mirror is kept in `projects/<slug>/sessions/<id>/` below a folder; `connected` tells whether
    /// the cloud could be reached when that was asked.
    ///
    /// Of each there are the description and the transcript, and of its events at least what [`Outliner`](crate::Outliner) keeps.
    /// Nothing is ever written there. One of the same project and id below a folder of [`amplifier`](Self::amplifier) is the same
    /// session, of which the files that lie there count.
    ///
    /// ```
    /// use trommel_session::{ListQuery, Sessions, Source, Watch};
    ///
    /// # let home = tempfile::tempdir()?;
    /// # let (local, mirror) = (home.path().join("local"), home.path().join("mirror"));
    /// for (root, id) in [(&local, "here"), (&mirror, "here"), (&mirror, "there")] {
    ///     std::fs::create_dir_all(root.join("projects/-home-u-app/sessions").join(id))?;
    /// }
    /// let sessions = Sessions::new().amplifier(&local).cloud(&mirror, true);
    /// assert_eq!(sessions.find("here")?.source(), Source::Both);
    /// assert_eq!(sessions.find("there")?.source(), Source::Cloud);
    /// let listed = sessions.list(&ListQuery::default(), &Watch::new())?;
    /// assert_eq!((listed.total, listed.connected), (2, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cloud(mut self, mirror: impl Into<PathBuf>, connected: bool) -> Self {
        self.cloud = Some(Cloud { mirror: mirror.into(), connected });
        self
    }

    /// Whether the cloud could be reached; nothing where there is none.
    pub(crate) fn connected(&self) -> Option<bool> {
        self.cloud.as_ref().map(|cloud| cloud.connected)
    }

    /// The session of this id, or the only one whose id begins so. `project/id` says which project is meant, by its name, its directory
    /// or a part of one.
    ///
    /// A change of the session that was cut off is brought to its end first.
    pub fn find(&self, id: &str) -> Result<Session> {
        let (project, begins) = match id.rsplit_once('/') {
            Some((project, begins)) => (Some(project), begins),
            None => (None, id),
        };
        if begins.is_empty() {
            return Err(Error::request("the session's id must not be empty: list sessions to see their ids"));
        }
        if let Some(asked) = project
            && self.matching(asked)?.is_empty()
        {
            return Err(Error::new(ErrorKind::NotFound, self.nothing_found(project)?.join("; ")));
        }
        let mut found = Vec::new();
        self.each_of_projects(project, &mut |session| {
            if session.id.starts_with(begins) {
                found.push(session);
            }
            Ok(())
        })?;
        let session = choose(found, begins).map_err(|found| lost(id, &found))?;
        change::recover(&session)?;
        Ok(session)
    }

    /// An error unless a session's files may be changed.
    pub(crate) fn must_be_changeable(&self, session: &Session, what: &str) -> Result<()> {
        let mirrored = |cloud: &Cloud| session.path.starts_with(&cloud.mirror);
        if session.source == Source::Cloud || self.cloud.as_ref().is_some_and(mirrored) {
            let message = format!(
                "session {} cannot be {what}: it lies in the cloud only; bring it here first (`sync`)",
                session.shown()
            );
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        session.must_be_a_folder(what)
    }

    /// Every session of the projects that are meant, or of all.
    pub(crate) fn each_of_projects(
        &self,
        asked: Option<&str>,
        take: &mut dyn FnMut(Session) -> Result<()>,
    ) -> Result<()> {
        let Some(asked) = asked else { return self.each(None, take) };
        for project in self.matching(asked)? {
            self.each(Some(&project), take)?;
        }
        Ok(())
    }

    /// The name of every project; one may come several times.
    pub(crate) fn each_project(&self, take: &mut dyn FnMut(String)) -> Result<()> {
        self.alone.iter().for_each(|session| take(session.project.clone()));
        let mirror = self.cloud.iter().map(|cloud| cloud.mirror.as_path());
        for place in self.roots().chain(mirror) {
            folders(&place.join("projects"))?.into_iter().for_each(|(name, _)| take(name));
        }
        Ok(())
    }

    /// The folders on this machine that sessions are looked for in.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|(_, root)| root.as_path())
    }

    /// Every session, of one project or of all, in the order of roots, projects and ids; those that lie in the cloud only come last.
    pub(crate) fn each(
        &self,
        project: Option<&str>,
        take: &mut dyn FnMut(Session) -> Result<()>,
    ) -> Result<()> {
        if let Some(session) = self.alone.iter().find(|one| project.is_none_or(|slug| slug == one.project)) {
            take(self.placed(session.clone()))?;
        }
        for (format, root) in &self.roots {
            each_below(*format, root, project, &mut |session| take(self.placed(session)))?;
        }
        let Some(cloud) = &self.cloud else { return Ok(()) };
        each_below(Format::Amplifier, &cloud.mirror, project, &mut |session| {
            if self.is_here(&session) { Ok(()) } else { take(Session { source: Source::Cloud, ..session }) }
        })
    }

    /// A session of this machine, with where else it lies.
    fn placed(&self, session: Session) -> Session {
        let mirrored = |cloud: &Cloud| folder_of(&cloud.mirror, &session).is_dir();
        let both = session.format == Format::Amplifier && self.cloud.as_ref().is_some_and(mirrored);
        Session { source: if both { Source::Both } else { Source::Local }, ..session }
    }

    /// Whether a session of the mirror lies on this machine as well.
    fn is_here(&self, session: &Session) -> bool {
        let same = |other: &Session| {
            other.format == Format::Amplifier
                && (&other.project, &other.id) == (&session.project, &session.id)
        };
        let mut roots = self.roots.iter().filter(|(format, _)| *format == Format::Amplifier);
        self.alone.as_ref().is_some_and(same) || roots.any(|(_, root)| folder_of(root, session).is_dir())
    }
}

/// Where a session of its project and id has its folder below a root.
fn folder_of(root: &Path, session: &Session) -> PathBuf {
    root.join("projects").join(&session.project).join("sessions").join(&session.id)
}

fn each_below(
    format: Format,
    root: &Path,
    project: Option<&str>,
    take: &mut dyn FnMut(Session) -> Result<()>,
) -> Result<()> {
    for (slug, folder) in folders(&root.join("projects"))? {
        if project.is_none_or(|project| project == slug) {
            each_of(format, &slug, &folder, take)?;
        }
    }
    Ok(())
}

fn each_of(
    format: Format,
    slug: &str,
    folder: &Path,
    take: &mut dyn FnMut(Session) -> Result<()>,
) -> Result<()> {
    let session =
        |id: String, path| Session { id, project: slug.to_owned(), path, format, source: Source::Local };
    if format == Format::Amplifier {
        for (id, path) in folders(&folder.join("sessions"))? {
            take(session(id, path))?;
        }
        return Ok(());
    }
    for (name, path) in entries(folder)? {
        if let Some(id) = name.strip_suffix(".jsonl") {
            if path.is_file() {
                take(session(id.to_owned(), path))?;
            }
        } else {
            each_agent(&path.join(SUBAGENTS), AGENT_FOLDERS, &mut |id, path| take(session(id, path)))?;
        }
    }
    Ok(())
}

/// Folders one inside the other that the logs of sub-agents are looked for in: workflows have folders of their own.
const AGENT_FOLDERS: u32 = 3;

/// The logs of sub-agents in a folder.
fn each_agent(folder: &Path, depth: u32, take: &mut dyn FnMut(String, PathBuf) -> Result<()>) -> Result<()> {
    for (name, path) in entries(folder)? {
        match name.strip_suffix(".jsonl") {
            Some(id) if id.starts_with(AGENT) && path.is_file() => take(id.to_owned(), path)?,
            None if depth > 1 && !name.contains('.') => each_agent(&path, depth - 1, take)?,
            _ => {}
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
        let message =
            format!("there is no session {asked}: list all sessions, with sub-sessions, to see their ids");
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
