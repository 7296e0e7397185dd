//! Buffers: named contents that tools, inputs and answers are written to, and that are looked at
//! piece by piece.
//!
//! A buffer of the run lives as long as the process: in memory while it is short, then in a file
//! without a name. One of the session lies in the session's folder, where other processes find it.
//! What is read is what was there when reading began, whatever is written meanwhile.

mod content;
mod info;
mod run;
mod session;

use std::path::{Path, PathBuf};

use trommel_base::nearest_one;

use crate::error::{Error, ErrorKind, Result};
use crate::files::free_number;
use crate::mode::{Scope, WriteMode};
use crate::spool::Spool;
use crate::target::check_name;

pub use content::{Content, Reader};
pub(crate) use info::Write;
use info::numbered;
pub use info::{BufferInfo, Listed, PENDING};
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

impl Buffers {
    /// Buffers of a run, without a session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the buffers of a session: in a folder that is made when the first one is written, under
    /// an id of letters, digits, `_` and `-`, 64 at most. An error tells that it is none.
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

    /// Sets the folder for what is too long for memory and has no place yet: that for temporary
    /// files unless set.
    #[must_use]
    pub fn spool_to(mut self, folder: impl Into<PathBuf>) -> Self {
        self.spool = Some(folder.into());
        self
    }

    /// The session, unless the scope is that of the run.
    fn session_in(&self, scope: Option<Scope>) -> Option<&Session> {
        if scope == Some(Scope::Run) { None } else { self.session.as_ref() }
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
        let mut found = match self.session_in(scope) {
            Some(session) => session.list()?,
            None => Listed::default(),
        };
        if scope != Some(Scope::Session) {
            found.buffers.splice(..0, self.run.list());
        }
        found.buffers.retain(|info| !info.remembers_files());
        Ok(found)
    }

    /// Finds a buffer: in this scope, else in that of the run and then of the session. An error
    /// names the nearest there is.
    pub fn find(&self, name: &str, scope: Option<Scope>) -> Result<(BufferInfo, Content)> {
        check_name(name)?;
        if scope != Some(Scope::Session)
            && let Some(found) = self.run.find(name)
        {
            return Ok(found);
        }
        if let Some(session) = self.session_in(scope)
            && let Some(found) = session.find(name)?
        {
            return Ok(found);
        }
        Err(self.not_found(name, scope))
    }

    fn not_found(&self, name: &str, scope: Option<Scope>) -> Error {
        let (near, known) = self.nearest(name, scope);
        ErrorKind::NoBuffer { name: name.to_owned(), scope: scope.map(Scope::name), near, known }.into()
    }

    /// The name of a buffer that resembles a name most, and the number of buffers: in this scope,
    /// or in both.
    pub fn nearest(&self, name: &str, scope: Option<Scope>) -> (Option<String>, usize) {
        // Where buffers cannot be listed, none is suggested: the caller reports that one is
        // missing.
        let known = self.list(scope).map_or_else(|_| Vec::new(), |listed| listed.buffers);
        let near = nearest_one(name, known.iter().map(|info| info.name.as_str()));
        (near.map(str::to_owned), known.len())
    }

    /// Writes to a buffer; the name it has, which with [`WriteMode::New`] has a number, and its
    /// scope.
    pub(crate) fn write(&self, write: &Write<'_>, content: &mut Spool) -> Result<(String, Scope)> {
        check_name(write.name)?;
        let scope = write.scope.unwrap_or(self.usual);
        let name = match (scope, &self.session) {
            (Scope::Run, _) => self.run.write(write, content, self.spool.as_deref())?,
            (Scope::Session, Some(session)) => session.write(write, content)?,
            (Scope::Session, None) => return Err(ErrorKind::NoSession(write.name.to_owned()).into()),
        };
        Ok((name, scope))
    }

    /// The name that a content would be written under.
    pub(crate) fn would_write(&self, name: &str, scope: Option<Scope>, mode: WriteMode) -> Result<String> {
        check_name(name)?;
        let scope = scope.unwrap_or(self.usual);
        if scope == Scope::Session && self.session.is_none() {
            return Err(ErrorKind::NoSession(name.to_owned()).into());
        }
        if mode != WriteMode::New {
            return Ok(name.to_owned());
        }
        let is_taken = |number| {
            let name = numbered(name, number);
            match (scope, &self.session) {
                // An error here occurs again when the buffer is written.
                (Scope::Session, Some(session)) => session.has(&name).unwrap_or(false),
                _ => self.run.has(&name),
            }
        };
        free_number(0, is_taken)
            .map(|number| numbered(name, number))
            .ok_or_else(|| ErrorKind::NoNumber(name.to_owned()).into())
    }

    /// An error, which names the nearest there is, unless there is a buffer of this name in this
    /// scope. A damaged one is there.
    pub fn check_there(&self, name: &str, scope: Scope) -> Result<()> {
        check_name(name)?;
        let there = match (scope, &self.session) {
            (Scope::Run, _) => self.run.has(name),
            (Scope::Session, Some(session)) => session.has(name)?,
            (Scope::Session, None) => false,
        };
        if there { Ok(()) } else { Err(self.not_found(name, Some(scope))) }
    }

    /// Removes a buffer: from this scope, else from that of the run and then of the session. An
    /// error names the nearest there is.
    pub fn remove(&self, name: &str, scope: Option<Scope>) -> Result<Scope> {
        check_name(name)?;
        if scope != Some(Scope::Session) && self.run.remove(name) {
            return Ok(Scope::Run);
        }
        if let Some(session) = self.session_in(scope)
            && session.remove(name)?
        {
            return Ok(Scope::Session);
        }
        Err(self.not_found(name, scope))
    }

    /// Removes all buffers of a scope, also damaged ones and those that `{pending}` remembers files
    /// in; how many there were.
    pub fn clear(&self, scope: Scope) -> Result<usize> {
        match (scope, &self.session) {
            (Scope::Run, _) => Ok(self.run.clear()),
            (Scope::Session, Some(session)) => session.clear(),
            (Scope::Session, None) => Ok(0),
        }
    }
}
