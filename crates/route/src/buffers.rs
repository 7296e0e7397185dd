//! Buffers: named contents that tools, inputs, and answers are written to, and that can be read in
//! parts.
//!
//! A buffer of the run exists as long as the process. A short one is in memory, a long one in an
//! unnamed file. A buffer of the session is in the session's folder and shared between processes. A
//! reader always sees the content as of the start of reading, regardless of concurrent writes.

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
pub use info::{BufferInfo, BufferList, PENDING};
use run::RunBuffers;
use session::SessionBuffers;

/// The buffers of a run, and of a session if exists is one. Can be shared between threads.
#[derive(Debug, Default)]
pub struct Buffers {
    run: RunBuffers,
    session: Option<SessionBuffers>,
    default_scope: Scope,
    spool: Option<PathBuf>,
}

impl Buffers {
    /// Creates the buffers of a run, without a session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the buffers of a session. Its folder is a subfolder of `folder` and is created with the
    /// first buffer. The ID must have 1 to 64 letters, digits, `_` or `-`.
    pub fn session(mut self, folder: impl AsRef<Path>, id: &str) -> Result<Self> {
        self.session = Some(SessionBuffers::new(folder.as_ref(), id)?);
        Ok(self)
    }

    /// Sets the scope of variables without an explicit one. The default is [`Scope::Run`].
    #[must_use]
    pub fn default_scope(mut self, scope: Scope) -> Self {
        self.default_scope = scope;
        self
    }

    /// Sets the folder for contents that are too long for memory and not at their destination yet.
    /// The default is the system's temporary folder.
    #[must_use]
    pub fn spool_to(mut self, folder: impl Into<PathBuf>) -> Self {
        self.spool = Some(folder.into());
        self
    }

    /// The session, unless `scope` selects the run.
    fn session_in(&self, scope: Option<Scope>) -> Option<&SessionBuffers> {
        if scope == Some(Scope::Run) { None } else { self.session.as_ref() }
    }

    /// The folder for spooled contents.
    pub(crate) fn spool_folder(&self) -> PathBuf {
        self.spool.clone().unwrap_or_else(std::env::temp_dir)
    }

    pub(crate) fn spool(&self) -> Spool {
        Spool::new(self.spool.as_deref())
    }

    /// Lists the buffers of one or both scopes, except the internal ones of `{pending}`.
    pub fn list(&self, scope: Option<Scope>) -> Result<BufferList> {
        let mut found = match self.session_in(scope) {
            Some(session) => session.list()?,
            None => BufferList::default(),
        };
        if scope != Some(Scope::Session) {
            found.buffers.splice(..0, self.run.list());
        }
        found.buffers.retain(|info| !info.remembers_files());
        Ok(found)
    }

    /// Finds a buffer in the given scope, or first in the run and then in the session. The error
    /// for a missing buffer suggests the most similar name.
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

    /// Returns the most similar buffer name and the number of buffers, in one or both scopes.
    pub fn nearest(&self, name: &str, scope: Option<Scope>) -> (Option<String>, usize) {
        // If listing fails, suggest nothing. The caller reports that the buffer is missing, which
        // is the actual error.
        let known = self.list(scope).map_or_else(|_| Vec::new(), |listed| listed.buffers);
        let near = nearest_one(name, known.iter().map(|info| info.name.as_str()));
        (near.map(str::to_owned), known.len())
    }

    /// Writes to a buffer. Returns its name, which has a number appended under [`WriteMode::New`],
    /// and its scope.
    pub(crate) fn write(&self, write: &Write<'_>, content: &mut Spool) -> Result<(String, Scope)> {
        check_name(write.name)?;
        let scope = write.scope.unwrap_or(self.default_scope);
        let name = match (scope, &self.session) {
            (Scope::Run, _) => self.run.write(write, content, self.spool.as_deref())?,
            (Scope::Session, Some(session)) => session.write(write, content)?,
            (Scope::Session, None) => return Err(ErrorKind::NoSession(write.name.to_owned()).into()),
        };
        Ok((name, scope))
    }

    /// The name that a content would be written under.
    pub(crate) fn planned_name(&self, name: &str, scope: Option<Scope>, mode: WriteMode) -> Result<String> {
        check_name(name)?;
        let scope = scope.unwrap_or(self.default_scope);
        if scope == Scope::Session && self.session.is_none() {
            return Err(ErrorKind::NoSession(name.to_owned()).into());
        }
        if mode != WriteMode::New {
            return Ok(name.to_owned());
        }
        let is_taken = |number| {
            let name = numbered(name, number);
            match (scope, &self.session) {
                // The same error occurs when the buffer is written.
                (Scope::Session, Some(session)) => session.has(&name).unwrap_or(false),
                _ => self.run.has(&name),
            }
        };
        free_number(0, is_taken)
            .map(|number| numbered(name, number))
            .ok_or_else(|| ErrorKind::NoNumber(name.to_owned()).into())
    }

    /// Fails with a suggestion unless this scope has a buffer of this name. A damaged buffer counts
    /// as existing.
    pub fn check_exists(&self, name: &str, scope: Scope) -> Result<()> {
        check_name(name)?;
        let exists = match (scope, &self.session) {
            (Scope::Run, _) => self.run.has(name),
            (Scope::Session, Some(session)) => session.has(name)?,
            (Scope::Session, None) => false,
        };
        if exists { Ok(()) } else { Err(self.not_found(name, Some(scope))) }
    }

    /// Removes a buffer from the given scope, or else from the run or the session, in this order.
    /// The error for a missing buffer suggests the most similar name.
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

    /// Removes all buffers of a scope, including damaged ones and the internal ones of `{pending}`.
    /// Returns their number.
    pub fn clear(&self, scope: Scope) -> Result<usize> {
        match (scope, &self.session) {
            (Scope::Run, _) => Ok(self.run.clear()),
            (Scope::Session, Some(session)) => session.clear(),
            (Scope::Session, None) => Ok(0),
        }
    }
}
