//! Buffers: named contents that tools, inputs and answers are written to, and that are looked at piece by piece.
//!
//! A buffer of the run lives as long as the process: in memory while it is short, then in a file without a name. One of the
//! session lies in the session's folder, where other processes find it. What is read is what was there when reading began,
//! whatever is written meanwhile.

mod content;
mod run;
mod session;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result, shown};
use crate::mode::{Scope, WriteMode};
use crate::near;
use crate::spool::{Size, Spool};
use crate::target::check_name;

pub use content::{Content, Reader};
use run::Run;
use session::Session;

/// The buffers of a run, and of its session where there is one. Shared by threads.
#[derive(Debug, Default)]
pub struct Buffers {
    run: Run,
    session: Option<Session>,
    usual: Scope,
    spool: Option<PathBuf>,
}

/// What is known of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BufferInfo {
    /// Its name.
    pub name: String,
    /// How long it lives.
    pub scope: Scope,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its length in characters: the bytes that begin one in UTF-8.
    pub chars: u64,
    /// How many lines it has; a last one that is not ended counts.
    pub lines: u64,
    /// The source of what was written to it last: a tool's name, `model`, or `input:` with the kind of input, as `input:file`.
    pub source: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was written to last.
    pub updated_at: Timestamp,
}

/// The buffers there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// Those that can be read: those of the run before those of the session, each by name.
    pub buffers: Vec<BufferInfo>,
    /// Why others cannot, a sentence each with what to do.
    pub unreadable: Vec<String>,
}

/// What is written to a buffer.
pub(crate) struct Write<'a> {
    pub(crate) name: &'a str,
    pub(crate) scope: Option<Scope>,
    pub(crate) mode: WriteMode,
    pub(crate) source: &'a str,
}

impl Buffers {
    /// Buffers of a run, without a session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the buffers of a session: in a folder that is made when the first one is written, under an id of letters, digits, `_`
    /// and `-`, 64 at most. An error tells that it is none.
    pub fn session(mut self, folder: impl AsRef<Path>, id: &str) -> Result<Self> {
        self.session = Some(Session::new(folder.as_ref(), id)?);
        Ok(self)
    }

    /// Sets where a variable lives when nothing is said: [`Scope::Run`] unless set.
    #[must_use]
    pub fn usual(mut self, scope: Scope) -> Self {
        self.usual = scope;
        self
    }

    /// Sets the folder for what is too long for memory and has no place yet: that for temporary files unless set.
    #[must_use]
    pub fn spool_to(mut self, folder: impl Into<PathBuf>) -> Self {
        self.spool = Some(folder.into());
        self
    }

    /// The folder for what is on its way.
    pub(crate) fn spool_folder(&self) -> PathBuf {
        self.spool.clone().unwrap_or_else(std::env::temp_dir)
    }

    pub(crate) fn spool(&self) -> Spool {
        Spool::new(self.spool.as_deref())
    }

    /// The buffers of a scope, or of both, without those that `{pending}` remembers files in.
    pub fn list(&self, scope: Option<Scope>) -> Result<Listed> {
        let session = self.session.as_ref().filter(|_| scope != Some(Scope::Run));
        let mut found = session.map_or_else(|| Ok(Listed::default()), Session::list)?;
        if scope != Some(Scope::Session) {
            found.buffers.splice(..0, self.run.list());
        }
        found.buffers.retain(|info| !info.remembers_files());
        Ok(found)
    }

    /// Finds a buffer: in this scope, else in that of the run and then of the session. An error names the nearest there is.
    pub fn find(&self, name: &str, scope: Option<Scope>) -> Result<(BufferInfo, Content)> {
        check_name(name)?;
        if scope != Some(Scope::Session)
            && let Some(found) = self.run.find(name)
        {
            return Ok(found);
        }
        if let Some(session) = self.session.as_ref().filter(|_| scope != Some(Scope::Run))
            && let Some(found) = session.find(name)?
        {
            return Ok(found);
        }
        Err(self.not_found(name, scope))
    }

    fn not_found(&self, name: &str, scope: Option<Scope>) -> Error {
        self.missing("buffer", name, scope, "")
    }

    /// The error that there is no such buffer, or variable, as a document names it, and what follows from that.
    pub(crate) fn missing(&self, what: &str, name: &str, scope: Option<Scope>, so: &str) -> Error {
        let known = self.list(scope).unwrap_or_default().buffers;
        let near = near::one(name, known.iter().map(|info| info.name.as_str()));
        let hint = match (near, known.len()) {
            (Some(near), _) => format!("did you mean `{}`?", shown(near)),
            (None, 0) => "there are none yet".to_owned(),
            (None, count) => format!("`list` shows the {count} there are"),
        };
        let within = scope.map_or(String::new(), |scope| format!(" in the scope {scope}"));
        Error::new(ErrorKind::NotFound, format!("there is no {what} `{}`{within}{so}: {hint}", shown(name)))
    }

    /// Writes to a buffer; the name it has, which with [`WriteMode::New`] has a number, and its scope.
    pub(crate) fn write(&self, write: &Write<'_>, content: &mut Spool) -> Result<(String, Scope)> {
        check_name(write.name)?;
        let scope = write.scope.unwrap_or(self.usual);
        let name = match (scope, &self.session) {
            (Scope::Run, _) => self.run.write(write, content, self.spool.as_deref())?,
            (Scope::Session, Some(session)) => session.write(write, content)?,
            (Scope::Session, None) => return Err(no_session(write.name)),
        };
        Ok((name, scope))
    }

    /// The name that a content would be written under.
    pub(crate) fn would_write(&self, name: &str, scope: Option<Scope>, mode: WriteMode) -> Result<String> {
        check_name(name)?;
        let scope = scope.unwrap_or(self.usual);
        if scope == Scope::Session && self.session.is_none() {
            return Err(no_session(name));
        }
        if mode != WriteMode::New {
            return Ok(name.to_owned());
        }
        let session = self.session.as_ref().filter(|_| scope == Scope::Session);
        // An error here comes again when it is written.
        let is_taken = |number| {
            let name = numbered(name, number);
            session.map_or_else(|| self.run.has(&name), |session| session.has(&name).unwrap_or(false))
        };
        let free = crate::files::free_number(0, is_taken).map(|number| numbered(name, number));
        free.ok_or_else(|| no_number(name))
    }

    /// An error, which names the nearest there is, unless there is a buffer of this name in this scope. A damaged one is there.
    pub fn check_there(&self, name: &str, scope: Scope) -> Result<()> {
        check_name(name)?;
        let there = match (scope, &self.session) {
            (Scope::Run, _) => self.run.has(name),
            (Scope::Session, Some(session)) => session.has(name)?,
            (Scope::Session, None) => false,
        };
        if there { Ok(()) } else { Err(self.not_found(name, Some(scope))) }
    }

    /// Removes a buffer: from this scope, else from that of the run and then of the session. An error names the nearest there is.
    pub fn remove(&self, name: &str, scope: Option<Scope>) -> Result<Scope> {
        check_name(name)?;
        if scope != Some(Scope::Session) && self.run.remove(name) {
            return Ok(Scope::Run);
        }
        if let Some(session) = self.session.as_ref().filter(|_| scope != Some(Scope::Run))
            && session.remove(name)?
        {
            return Ok(Scope::Session);
        }
        Err(self.not_found(name, scope))
    }

    /// Removes all buffers of a scope, also damaged ones and those that `{pending}` remembers files in; how many there were.
    pub fn clear(&self, scope: Scope) -> Result<usize> {
        match (scope, &self.session) {
            (Scope::Run, _) => Ok(self.run.clear()),
            (Scope::Session, Some(session)) => session.clear(),
            (Scope::Session, None) => Ok(0),
        }
    }
}

fn no_session(name: &str) -> Error {
    let message = format!(
        "the variable `{}` has `scope=session`, and there is no session: leave `scope` out, or name a session",
        shown(name)
    );
    Error::new(ErrorKind::Unsupported, message)
}

/// A name with a number behind it: `found_000`.
fn numbered(name: &str, number: u32) -> String {
    format!("{name}_{number:03}")
}

fn no_number(name: &str) -> Error {
    Error::new(ErrorKind::Exists, format!("all numbers of `{}` are taken: use another name", shown(name)))
}

/// The source of the buffers that `{pending}` remembers files in, and how their names begin.
pub(crate) const PENDING: &str = "pending";

impl BufferInfo {
    /// True for the bookkeeping of `{pending}`, which is not a variable of the user's.
    fn remembers_files(&self) -> bool {
        let rest = self.name.strip_prefix(PENDING).and_then(|rest| rest.strip_prefix('-'));
        self.source == PENDING
            && rest.is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }

    fn new(name: &str, scope: Scope, source: &str) -> Self {
        let now = Timestamp::now();
        Self {
            name: name.to_owned(),
            scope,
            bytes: 0,
            chars: 0,
            lines: 0,
            source: source.to_owned(),
            created_at: now,
            updated_at: now,
        }
    }

    /// The same with something written to it.
    fn written(mut self, size: Size, source: &str) -> Self {
        (self.bytes, self.chars, self.lines) = (size.bytes, size.chars, size.lines());
        source.clone_into(&mut self.source);
        self.updated_at = Timestamp::now().max(self.created_at);
        self
    }
}
