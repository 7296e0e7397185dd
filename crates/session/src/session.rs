//! One session: its location, format, and logs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Serialize;
use trommel_base::files::{self, Op};

use crate::detect;
use crate::error::{Change, Missing, Refusal, Result};
use crate::format::{EVENTS, PLAN, PartLocation, Profile, SessionRef, TRANSCRIPT};
use crate::formats::Format;
use crate::layout::Layout;
use crate::message::MessageLimits;
use crate::metadata::SessionFacts;
use crate::records::{Flow, Log};
use crate::turns::messages;
use crate::watch::Watch;

/// The location of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Source {
    /// On this machine.
    #[default]
    Local,
    /// In the cloud only. Locally, there is a mirror.
    Cloud,
    /// In both. Queries read the local files.
    Both,
}

/// A session that was found. It holds only its location.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) id: String,
    pub(crate) project: String,
    /// The session's folder, or its file.
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) source: Source,
}

/// Returns the format of a folder: the first format with a file in it, or with a change in
/// progress.
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
    /// Opens a session by its folder or file, at any location. Fails for a folder without any file
    /// of a session.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let metadata = path.metadata().map_err(|cause| files::Error::new(Op::Open, path, cause))?;
        // A path that ends in `..` has no file name.
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

    /// Returns the folder that contains its `projects`, if the session is in its program's usual
    /// location.
    pub(crate) fn root(&self) -> Option<&Path> {
        // Listings skip hidden names, so a hidden session would not be found there.
        let is_hidden = self.id.starts_with('.') || self.project.starts_with('.');
        if is_hidden { None } else { self.format.log().root(&self.path) }
    }

    /// The session's ID and path.
    pub(crate) fn session_ref(&self) -> SessionRef<'_> {
        SessionRef { id: &self.id, path: &self.path }
    }

    pub(crate) fn profile(&self) -> &'static Profile {
        self.format.profile()
    }

    pub(crate) fn layout(&self) -> &'static Layout {
        self.profile().layout
    }

    /// Reads the properties that lists, searches, and counts need.
    pub(crate) fn facts(&self) -> SessionFacts {
        self.format.log().facts(self.session_ref())
    }

    /// Adapts limits on messages to the session's log.
    pub(crate) fn message_limits(&self, limits: MessageLimits) -> MessageLimits {
        let format = self.format.log();
        limits.in_log(format.is_sub_agent(&self.id), format.message_reader())
    }

    /// Counts the turns.
    pub(crate) fn count_turns(&self, watch: &Watch<'_>) -> Result<u64> {
        let mut turns = 0;
        messages(&self.transcript(watch)?, self.message_limits(MessageLimits::least()), watch, |_, at| {
            turns = at.turn;
            Ok(Flow::Continue)
        })?;
        Ok(turns)
    }

    /// Returns the size of a file in bytes, or 0 if it does not exist.
    pub(crate) fn bytes(&self, name: &str) -> u64 {
        self.file(name).metadata().map_or(0, |found| found.len())
    }

    /// The session's ID.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The session's project.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// The session's folder or file. For a session that is only in the cloud, the folder of its
    /// mirror.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The session's format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The session's location.
    pub fn source(&self) -> Source {
        self.source
    }

    /// True if no other session spawned it.
    pub fn is_top_level(&self) -> bool {
        self.format.log().is_top_level(&self.id)
    }

    /// True if it is a folder with a file for each part.
    fn is_folder(&self) -> bool {
        !self.profile().files.is_empty()
    }

    /// Returns the path of a file in the session's folder, or the session's only file.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        if self.is_folder() { self.path.join(name) } else { self.path.clone() }
    }

    /// Opens the messages.
    pub(crate) fn transcript(&self, watch: &Watch<'_>) -> Result<Log> {
        self.log(TRANSCRIPT, "its messages were not recorded", watch)
    }

    /// Opens the events. Only the lines of damaged records are numbered.
    pub(crate) fn events(&self, watch: &Watch<'_>) -> Result<Log> {
        self.events_with_lines(watch).map(Log::without_lines)
    }

    /// Opens the events, with line numbers.
    pub(crate) fn events_with_lines(&self, watch: &Watch<'_>) -> Result<Log> {
        if self.profile().events == PartLocation::Nowhere {
            return Err(Refusal::NoEvents { session: self.id.clone() }.into());
        }
        self.log(EVENTS, "its events were not recorded; it may still have a transcript", watch)
    }

    fn log(&self, name: &'static str, note: &'static str, watch: &Watch<'_>) -> Result<Log> {
        let path = self.file(name);
        if !self.is_folder() {
            return Log::open_any(&path, watch);
        }
        let log = Log::open_if_any(&path)?;
        log.ok_or_else(|| Missing::Part { session: self.id.clone(), name, note }.into())
    }

    /// Fails if sessions of its format cannot be changed.
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
