//! The sessions of a machine: their folders, and lookup by ID.

use std::path::{Path, PathBuf};

use jiff::Zoned;
use trommel_base::files::{self, Op};

use crate::change;
use crate::error::{Change, Error, ErrorKind, Missing, Refusal, RequestFault, Result};
use crate::formats::Format;
use crate::session::{Session, Source};

/// The locations of sessions. Nothing is opened before the first query.
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
    /// A session at a location without others.
    single: Option<Session>,
    cloud: Option<Cloud>,
    now: Option<Zoned>,
}

/// The mirror of sessions in the cloud.
#[derive(Clone, Debug)]
struct Cloud {
    mirror: PathBuf,
    connected: bool,
}

/// The maximum number of candidates named by an error.
const MAX_CANDIDATES: usize = 10;

impl Sessions {
    /// Creates a set without locations. The current time and time zone are those of the system,
    /// read when they are needed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a session by its folder or file, at any location, together with the sessions around
    /// it, so that its sub-sessions are found.
    ///
    /// For a folder in `projects/<slug>/sessions/`, these are the sessions of
    /// [`amplifier`](Self::amplifier). For a file of Claude Code in `projects/<slug>/`, they are
    /// those of [`claude_code`](Self::claude_code). Otherwise, the session is alone. Like
    /// [`find`](Self::find), this completes an interrupted change first.
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
        // A path that ends in `..` has no file name.
        let whole = if path.file_name().is_some() { std::path::absolute(path) } else { path.canonicalize() };
        let session = Session::open(whole.map_err(|cause| files::Error::new(Op::Open, path, cause))?)?;
        change::recover(&session)?;
        let sessions = match session.root() {
            Some(root) => Self { roots: vec![(session.format, root.to_owned())], ..Self::default() },
            None => Self { single: Some(session.clone()), ..Self::default() },
        };
        Ok((sessions, session))
    }

    /// Sets a fixed time and time zone, in place of the system's.
    #[must_use]
    pub fn at(mut self, now: Zoned) -> Self {
        self.now = Some(now);
        self
    }

    pub(crate) fn now(&self) -> Zoned {
        self.now.clone().unwrap_or_else(Zoned::now)
    }

    /// Adds the sessions of a format below its program's folder, which is usually that of
    /// [`Format::home`].
    #[must_use]
    pub fn root(mut self, format: Format, root: impl Into<PathBuf>) -> Self {
        self.roots.push((format, root.into()));
        self
    }

    /// Adds the sessions in `projects/<slug>/sessions/<id>/` below a folder, usually
    /// `~/.amplifier`.
    #[must_use]
    pub fn amplifier(self, root: impl Into<PathBuf>) -> Self {
        self.root(Format::Amplifier, root)
    }

    /// Adds the sessions in `projects/<slug>/<id>.jsonl` below a folder, usually `~/.claude`, and
    /// their sub-agents in `projects/<slug>/<id>/subagents/`.
    #[must_use]
    pub fn claude_code(self, root: impl Into<PathBuf>) -> Self {
        self.root(Format::ClaudeCode, root)
    }

    /// Adds the sessions in the cloud, of which `mirror` has copies in
    /// `projects/<slug>/sessions/<id>/`. `connected` is true if the cloud could be reached.
    ///
    /// Each copy has the description and the transcript, and of events at least what
    /// [`Outliner`](crate::Outliner) keeps. Nothing is ever written to the mirror. A copy with the
    /// same project and ID as a session of [`amplifier`](Self::amplifier) is the same session,
    /// whose local files take precedence.
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

    /// True if the cloud could be reached. None if none is configured.
    pub(crate) fn connected(&self) -> Option<bool> {
        self.cloud.as_ref().map(|cloud| cloud.connected)
    }

    /// Finds the session with this ID, or the only one with this ID prefix. `project/id` restricts
    /// the lookup to a project, given by its name, its directory, or a part of either.
    ///
    /// An interrupted change of the session is completed first.
    pub fn find(&self, id: &str) -> Result<Session> {
        let (project, prefix) = match id.rsplit_once('/') {
            Some((project, prefix)) => (Some(project), prefix),
            None => (None, id),
        };
        if prefix.is_empty() {
            return Err(RequestFault::EmptyId.into());
        }
        if let Some(requested) = project
            && self.matching(requested)?.is_empty()
        {
            return Err(Missing::Project { notes: self.no_session_notes(project)? }.into());
        }
        let mut found = Vec::new();
        self.each_of_projects(project, &mut |session| {
            if session.id.starts_with(prefix) {
                found.push(session);
            }
            Ok(())
        })?;
        let session = choose(found, prefix).map_err(|found| lookup_error(id, &found))?;
        change::recover(&session)?;
        Ok(session)
    }

    /// Fails if a session's files cannot be changed.
    pub(crate) fn must_be_changeable(&self, session: &Session, change: Change) -> Result<()> {
        let mirrored = |cloud: &Cloud| session.path.starts_with(&cloud.mirror);
        if session.source == Source::Cloud || self.cloud.as_ref().is_some_and(mirrored) {
            return Err(Refusal::Remote { session: session.id.clone(), change }.into());
        }
        session.must_be_changeable(change)
    }

    /// Passes each session of the matching projects, or of all, to a callback.
    pub(crate) fn each_of_projects(
        &self,
        requested: Option<&str>,
        visit: &mut dyn FnMut(Session) -> Result<()>,
    ) -> Result<()> {
        let Some(requested) = requested else { return self.each(None, visit) };
        for project in self.matching(requested)? {
            self.each(Some(&project), visit)?;
        }
        Ok(())
    }

    /// Passes the name of each project to a callback, possibly several times.
    pub(crate) fn each_project(&self, visit: &mut dyn FnMut(String)) -> Result<()> {
        self.single.iter().for_each(|session| visit(session.project.clone()));
        let roots = self.roots.iter().map(|(format, root)| (*format, root));
        let mirror = self.cloud.iter().map(|cloud| (Format::MIRRORED, &cloud.mirror));
        for (format, root) in roots.chain(mirror) {
            format.log().projects(root)?.into_iter().for_each(|(name, _)| visit(name));
        }
        Ok(())
    }

    /// The local folders that are searched for sessions.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|(_, root)| root.as_path())
    }

    /// Passes each session of one project, or of all, to a callback, in the order of roots,
    /// projects, and IDs. Sessions that are only in the cloud come last.
    pub(crate) fn each(
        &self,
        project: Option<&str>,
        visit: &mut dyn FnMut(Session) -> Result<()>,
    ) -> Result<()> {
        if let Some(session) = self.single.iter().find(|one| project.is_none_or(|slug| slug == one.project)) {
            visit(self.with_source(session.clone()))?;
        }
        for (format, root) in &self.roots {
            each_below(*format, root, project, &mut |session| visit(self.with_source(session)))?;
        }
        let Some(cloud) = &self.cloud else { return Ok(()) };
        each_below(Format::MIRRORED, &cloud.mirror, project, &mut |session| {
            if self.is_local(&session) { Ok(()) } else { visit(Session { source: Source::Cloud, ..session }) }
        })
    }

    /// Sets the source of a local session, depending on whether the mirror has it, too.
    fn with_source(&self, session: Session) -> Session {
        let mirrored = |cloud: &Cloud| is_below(&cloud.mirror, &session);
        let both = session.format.is_mirrored() && self.cloud.as_ref().is_some_and(mirrored);
        Session { source: if both { Source::Both } else { Source::Local }, ..session }
    }

    /// True if a mirrored session is also on this machine.
    fn is_local(&self, session: &Session) -> bool {
        let same = |other: &Session| {
            other.format.is_mirrored() && (&other.project, &other.id) == (&session.project, &session.id)
        };
        let mut roots = self.roots.iter().filter(|(format, _)| format.is_mirrored());
        self.single.as_ref().is_some_and(same) || roots.any(|(_, root)| is_below(root, session))
    }
}

/// True if a mirrored session of the same project and ID is below a root.
fn is_below(root: &Path, session: &Session) -> bool {
    let path = Format::MIRRORED.log().path_of(root, &session.project, &session.id);
    path.is_some_and(|path| path.is_dir())
}

fn each_below(
    format: Format,
    root: &Path,
    project: Option<&str>,
    visit: &mut dyn FnMut(Session) -> Result<()>,
) -> Result<()> {
    for (slug, folder) in format.log().projects(root)? {
        if project.is_none_or(|project| project == slug) {
            format.log().each_session(&folder, &mut |id, path| {
                visit(Session { id, project: slug.clone(), path, format, source: Source::Local })
            })?;
        }
    }
    Ok(())
}

/// Returns the session with this ID, or the only one with this ID prefix. If there is none or
/// several, returns those.
fn choose(mut found: Vec<Session>, prefix: &str) -> std::result::Result<Session, Vec<Session>> {
    let exact = found.iter().filter(|session| session.id == prefix).count();
    if exact > 0 {
        found.retain(|session| session.id == prefix);
    }
    if found.len() == 1 { found.pop().ok_or_else(Vec::new) } else { Err(found) }
}

fn lookup_error(id: &str, found: &[Session]) -> Error {
    if found.is_empty() {
        return Missing::Session { id: id.to_owned() }.into();
    }
    let candidates = found.iter().take(MAX_CANDIDATES);
    let candidates = candidates.map(|session| format!("{}/{}", session.project, session.id)).collect();
    ErrorKind::Ambiguous { id: id.to_owned(), candidates, count: found.len() }.into()
}
