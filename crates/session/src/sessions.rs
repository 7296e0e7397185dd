//! All sessions of a machine: the folders they lie in, and one of them by its id.

use std::path::{Path, PathBuf};

use jiff::Zoned;
use trommel_base::files::{self, Op};

use crate::change;
use crate::error::{Change, Error, ErrorKind, Missing, Refusal, RequestFault, Result};
use crate::formats::Format;
use crate::session::{Session, Source};

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
    /// None yet. The time and the zone that days are told by are the system's, and looked up
    /// whenever they are needed.
    pub fn new() -> Self {
        Self::default()
    }

    /// A session's folder, or the file of one, wherever it lies; and those that it lies among, so
    /// that what it spawned is found.
    ///
    /// They are those of [`amplifier`](Self::amplifier) for a folder in
    /// `projects/<slug>/sessions/`, and those of [`claude_code`](Self::claude_code) for a file of
    /// Claude Code in `projects/<slug>/`; else it is alone. As with [`find`](Self::find), a change
    /// that was cut off is brought to its end first.
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
        let session = Session::open(whole.map_err(|cause| files::Error::new(Op::Open, path, cause))?)?;
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

    /// And those of a format below a folder where its program keeps them, which is usually that of
    /// [`Format::home`].
    #[must_use]
    pub fn root(mut self, format: Format, root: impl Into<PathBuf>) -> Self {
        self.roots.push((format, root.into()));
        self
    }

    /// And those in `projects/<slug>/sessions/<id>/` below a folder, which is usually
    /// `~/.amplifier`.
    #[must_use]
    pub fn amplifier(self, root: impl Into<PathBuf>) -> Self {
        self.root(Format::Amplifier, root)
    }

    /// And those in `projects/<slug>/<id>.jsonl` below a folder, which is usually `~/.claude`, with
    /// their sub-agents in `projects/<slug>/<id>/subagents/`.
    #[must_use]
    pub fn claude_code(self, root: impl Into<PathBuf>) -> Self {
        self.root(Format::ClaudeCode, root)
    }

    /// And those in the cloud, of which a mirror is kept in `projects/<slug>/sessions/<id>/` below
    /// a folder; `connected` tells whether the cloud could be reached when that was asked.
    ///
    /// Of each there are the description and the transcript, and of its events at least what
    /// [`Outliner`](crate::Outliner) keeps. Nothing is ever written there. One of the same project
    /// and id below a folder of [`amplifier`](Self::amplifier) is the same session, of which the
    /// files that lie there count.
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

    /// The session of this id, or the only one whose id begins so. `project/id` says which project
    /// is meant, by its name, its directory or a part of one.
    ///
    /// A change of the session that was cut off is brought to its end first.
    pub fn find(&self, id: &str) -> Result<Session> {
        let (project, begins) = match id.rsplit_once('/') {
            Some((project, begins)) => (Some(project), begins),
            None => (None, id),
        };
        if begins.is_empty() {
            return Err(RequestFault::EmptyId.into());
        }
        if let Some(asked) = project
            && self.matching(asked)?.is_empty()
        {
            return Err(Missing::Project { notes: self.nothing_found(project)? }.into());
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
    pub(crate) fn must_be_changeable(&self, session: &Session, change: Change) -> Result<()> {
        let mirrored = |cloud: &Cloud| session.path.starts_with(&cloud.mirror);
        if session.source == Source::Cloud || self.cloud.as_ref().is_some_and(mirrored) {
            return Err(Refusal::Remote { session: session.id.clone(), change }.into());
        }
        session.must_be_changeable(change)
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
        let roots = self.roots.iter().map(|(format, root)| (*format, root));
        let mirror = self.cloud.iter().map(|cloud| (Format::MIRRORED, &cloud.mirror));
        for (format, root) in roots.chain(mirror) {
            format.log().projects(root)?.into_iter().for_each(|(name, _)| take(name));
        }
        Ok(())
    }

    /// The folders on this machine that sessions are looked for in.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|(_, root)| root.as_path())
    }

    /// Every session, of one project or of all, in the order of roots, projects and ids; those that
    /// lie in the cloud only come last.
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
        each_below(Format::MIRRORED, &cloud.mirror, project, &mut |session| {
            if self.is_here(&session) { Ok(()) } else { take(Session { source: Source::Cloud, ..session }) }
        })
    }

    /// A session of this machine, with where else it lies.
    fn placed(&self, session: Session) -> Session {
        let mirrored = |cloud: &Cloud| is_below(&cloud.mirror, &session);
        let both = session.format.is_mirrored() && self.cloud.as_ref().is_some_and(mirrored);
        Session { source: if both { Source::Both } else { Source::Local }, ..session }
    }

    /// Whether a session of the mirror lies on this machine as well.
    fn is_here(&self, session: &Session) -> bool {
        let same = |other: &Session| {
            other.format.is_mirrored() && (&other.project, &other.id) == (&session.project, &session.id)
        };
        let mut roots = self.roots.iter().filter(|(format, _)| format.is_mirrored());
        self.alone.as_ref().is_some_and(same) || roots.any(|(_, root)| is_below(root, session))
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
    take: &mut dyn FnMut(Session) -> Result<()>,
) -> Result<()> {
    for (slug, folder) in format.log().projects(root)? {
        if project.is_none_or(|project| project == slug) {
            format.log().each_session(&folder, &mut |id, path| {
                take(Session { id, project: slug.clone(), path, format, source: Source::Local })
            })?;
        }
    }
    Ok(())
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
    if found.is_empty() {
        return Missing::Session { id: id.to_owned() }.into();
    }
    let candidates = found.iter().take(CANDIDATES);
    let candidates = candidates.map(|session| format!("{}/{}", session.project, session.id)).collect();
    ErrorKind::Ambiguous { id: id.to_owned(), candidates, count: found.len() }.into()
}
