//! One session: where it lies, and what kind of log it is.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::change::PLAN;
use crate::error::{Error, ErrorKind, Result, shown_path};
use crate::records::Log;
use crate::text::shown;
use crate::watch::Watch;

/// What wrote a session's logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// A folder with `metadata.json`, `transcript.jsonl` and `events.jsonl`.
    Amplifier,
    /// Claude Code: one file of lines, or one document with a list of them.
    ClaudeCode,
    /// Messages with a role and contents, as lines or as a list in a document.
    Chat,
}

/// Where a session lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Source {
    /// On this machine.
    #[default]
    Local,
    /// In the cloud only: what is known of it here is a mirror.
    Cloud,
    /// In both places. What is asked is answered from this machine's files.
    Both,
}

/// A session that was found. Nothing of it is held but where it lies.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) id: String,
    pub(crate) project: String,
    /// The folder, or the file of a session that is one.
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) source: Source,
}

/// The files of a session's folder.
pub(crate) const METADATA: &str = "metadata.json";
pub(crate) const TRANSCRIPT: &str = "transcript.jsonl";
pub(crate) const EVENTS: &str = "events.jsonl";

/// The beginning of the file names of sub-agents of Claude Code.
pub(crate) const AGENT: &str = "agent-";

/// The folder in that of a session of Claude Code that holds the logs of its sub-agents, also in folders of its own.
pub(crate) const SUBAGENTS: &str = "subagents";

/// The folder of sub-agents that a path is in.
fn of_subagents(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).take(4).find(|folder| folder.file_name().is_some_and(|name| name == SUBAGENTS))
}

/// True if a folder has a file of a session, or is being changed.
fn holds_session(folder: &Path) -> bool {
    let names = [METADATA, TRANSCRIPT, EVENTS, PLAN];
    names.iter().any(|name| folder.join(name).symlink_metadata().is_ok())
}

impl Session {
    /// A session's folder, or a file that is one session's log, wherever it lies. A folder without any file of a session is an error.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let metadata = path.metadata().map_err(|cause| Error::io("open", path, cause))?;
        if metadata.is_dir() && !holds_session(path) {
            let message = format!(
                "{} is not a session: it is a folder without {METADATA}, {TRANSCRIPT} and {EVENTS}; give a session's folder or file",
                shown_path(path)
            );
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        let name = |name: Option<&std::ffi::OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
        let format = if metadata.is_dir() { Format::Amplifier } else { crate::sniff::format(path)? };
        let id = if metadata.is_dir() { name(path.file_name()) } else { name(path.file_stem()) };
        let above = path.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "sessions"));
        let above = above.or_else(|| of_subagents(path).and_then(Path::parent));
        let project = above.and_then(Path::parent).or_else(|| path.parent()).and_then(Path::file_name);
        Ok(Self { id, project: name(project), path: path.to_owned(), format, source: Source::Local })
    }

    /// The folder whose `projects` it lies in, where that is one of its program's.
    pub(crate) fn root(&self) -> Option<&Path> {
        let slug = match self.format {
            Format::Amplifier => self
                .path
                .parent()
                .filter(|parent| parent.file_name().is_some_and(|name| name == "sessions"))?
                .parent()?,
            Format::ClaudeCode if self.path.extension().is_some_and(|ending| ending == "jsonl") => {
                match of_subagents(&self.path) {
                    Some(folder) => folder.parent()?.parent()?,
                    None => self.path.parent()?,
                }
            }
            Format::ClaudeCode | Format::Chat => return None,
        };
        let projects =
            slug.parent().filter(|projects| projects.file_name().is_some_and(|name| name == "projects"))?;
        // Hidden ones are not looked for.
        let is_hidden = self.id.starts_with('.') || self.project.starts_with('.');
        projects.parent().filter(|_| !is_hidden)
    }

    /// Bytes of its messages or of its events, or none where there are none.
    pub(crate) fn bytes(&self, name: &str) -> u64 {
        self.file(name).metadata().map_or(0, |found| found.len())
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The project it belongs to.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// Its folder, or its file; of one that lies in the cloud only the folder of its mirror.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What wrote it.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Where it lies.
    pub fn source(&self) -> Source {
        self.source
    }

    /// True if no other session spawned it.
    pub fn is_top_level(&self) -> bool {
        match self.format {
            Format::Amplifier => !self.id.contains('_'),
            Format::ClaudeCode => !self.is_agent(),
            Format::Chat => true,
        }
    }

    /// True for a sub-agent of Claude Code.
    pub(crate) fn is_agent(&self) -> bool {
        self.format == Format::ClaudeCode && self.id.starts_with(AGENT)
    }

    /// The session that spawned a sub-agent, where the path names it: `<session>/subagents/agent-….jsonl`.
    pub(crate) fn parent_in_path(&self) -> Option<&str> {
        of_subagents(&self.path).filter(|_| self.is_agent())?.parent()?.file_name()?.to_str()
    }

    /// A file of its folder; the session's own where it is one.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        if self.format == Format::Amplifier { self.path.join(name) } else { self.path.clone() }
    }

    /// Its messages.
    pub(crate) fn transcript(&self, watch: &Watch<'_>) -> Result<Log> {
        self.log(TRANSCRIPT, "no messages were kept of it", watch)
    }

    /// Its events, of which lines are known where something is damaged, and nowhere else.
    pub(crate) fn events(&self, watch: &Watch<'_>) -> Result<Log> {
        self.log_of_events(watch).map(Log::without_lines)
    }

    /// Its events.
    pub(crate) fn log_of_events(&self, watch: &Watch<'_>) -> Result<Log> {
        if self.format == Format::Chat {
            let message =
                format!("session {} is a chat, which has no events: ask for its transcript", self.shown());
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        self.log(EVENTS, "no events were kept of it; its transcript may be there", watch)
    }

    fn log(&self, name: &str, without: &str, watch: &Watch<'_>) -> Result<Log> {
        let path = self.file(name);
        if self.format != Format::Amplifier {
            return Log::open_any(&path, watch);
        }
        match Log::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let message = format!("session {} has no {name}: {without}", self.shown());
                Err(Error::new(ErrorKind::NotFound, message))
            }
            log => log,
        }
    }

    pub(crate) fn shown(&self) -> String {
        shown(&self.id, 100)
    }

    /// An error unless it is a folder whose files may be changed.
    pub(crate) fn must_be_a_folder(&self, what: &str) -> Result<()> {
        if self.format == Format::Amplifier {
            return Ok(());
        }
        let program = if self.format == Format::ClaudeCode { "Claude Code" } else { "another program" };
        let message = format!(
            "session {} cannot be {what}: it is a file of {program}, and only sessions of Amplifier, which are folders, can be changed; \
             this is so for copies as well: use the program that wrote it",
            self.shown()
        );
        Err(Error::new(ErrorKind::Unsupported, message))
    }
}
