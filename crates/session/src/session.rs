//! One session: where it is, and the logs it has.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Serialize;
use trommel_base::files::{self, Op};

use crate::detect;
use crate::error::{Change, Missing, Refusal, Result};
use crate::format::{EVENTS, Kept, PLAN, Place, Profile, TRANSCRIPT};
use crate::formats::Format;
use crate::layout::Layout;
use crate::message::Keep;
use crate::metadata::Facts;
use crate::records::{Flow, Log};
use crate::turns::messages;
use crate::watch::Watch;

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

/// The format of a folder: the first of which it has a file, or that may be changing it.
fn format_of_folder(folder: &Path) -> Result<Format> {
    let has = |name: &&str| folder.join(name).symlink_metadata().is_ok();
    let is_of = |format: &Format| {
        let profile = format.profile();
        profile.files.iter().any(has) || profile.is_changeable && has(&PLAN)
    };
    Format::ALL.iter().copied().find(is_of).ok_or_else(|| {
        let names = Format::ALL.iter().map(|format| format.profile().files);
        let names = names.into_iter().find(|names| !names.is_empty()).unwrap_or(&[]);
        Missing::Files { path: folder.to_owned(), names }.into()
    })
}

impl Session {
    /// A session's folder, or a file that is one session's log, wherever it lies. A folder without
    /// any file of a session is an error.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let metadata = path.metadata().map_err(|cause| files::Error::new(Op::Open, path, cause))?;
        // A path that ends in dots has no name.
        let name =
            |name: Option<&OsStr>| name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let (format, id) = if metadata.is_dir() {
            (format_of_folder(path)?, name(path.file_name()))
        } else {
            (detect::format(path)?, name(path.file_stem()))
        };
        let project = name(format.log().project(path).and_then(Path::file_name));
        Ok(Self { id, project, path: path.to_owned(), format, source: Source::Local })
    }

    /// The folder whose `projects` it lies in, where that is one of its program's.
    pub(crate) fn root(&self) -> Option<&Path> {
        // Hidden ones are not looked for.
        let is_hidden = self.id.starts_with('.') || self.project.starts_with('.');
        if is_hidden { None } else { self.format.log().root(&self.path) }
    }

    /// The session as its format sees it.
    pub(crate) fn place(&self) -> Place<'_> {
        Place { id: &self.id, path: &self.path }
    }

    pub(crate) fn profile(&self) -> &'static Profile {
        self.format.profile()
    }

    pub(crate) fn layout(&self) -> &'static Layout {
        self.profile().layout
    }

    /// What lists, searches, and counts need to know about it.
    pub(crate) fn facts(&self) -> Facts {
        self.format.log().facts(self.place())
    }

    /// How much of its messages is kept.
    pub(crate) fn keep(&self, keep: Keep) -> Keep {
        let format = self.format.log();
        keep.in_log(format.is_sub_agent(&self.id), format.look())
    }

    /// Counts its turns.
    pub(crate) fn count_turns(&self, watch: &Watch<'_>) -> Result<u64> {
        let mut turns = 0;
        messages(&self.transcript(watch)?, self.keep(Keep::least()), watch, |_, at| {
            turns = at.turn;
            Ok(Flow::On)
        })?;
        Ok(turns)
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
        self.format.log().is_top_level(&self.id)
    }

    /// True if it is a folder, whose files are its parts.
    fn is_folder(&self) -> bool {
        !self.profile().files.is_empty()
    }

    /// A file of its folder; the session's own where it is one.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        if self.is_folder() { self.path.join(name) } else { self.path.clone() }
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
        if self.profile().events == Kept::Nowhere {
            return Err(Refusal::NoEvents { session: self.id.clone() }.into());
        }
        self.log(EVENTS, "no events were kept of it; its transcript may be there", watch)
    }

    fn log(&self, name: &'static str, note: &'static str, watch: &Watch<'_>) -> Result<Log> {
        let path = self.file(name);
        if !self.is_folder() {
            return Log::open_any(&path, watch);
        }
        let log = Log::open_if_any(&path)?;
        log.ok_or_else(|| Missing::Part { session: self.id.clone(), name, note }.into())
    }

    /// An error unless its program's sessions may be changed.
    pub(crate) fn must_be_changeable(&self, change: Change) -> Result<()> {
        if self.profile().is_changeable {
            return Ok(());
        }
        let changeable = Format::ALL.iter().filter(|format| format.profile().is_changeable);
        let changeable = changeable.map(|format| format.name()).collect();
        let (session, program) = (self.id.clone(), self.profile().program);
        Err(Refusal::Unchangeable { session, change, program, changeable }.into())
    }
}
