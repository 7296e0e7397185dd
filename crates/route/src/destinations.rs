//! Destinations of contents, and contents that are being written to one.

use std::io::{self, Write};
use std::sync::Arc;

use trommel_base::files::Op;
use trommel_tool::{Manifest, Reason, Redaction};

use crate::buffers::{self, Buffers};
use crate::error::{Error, ErrorKind, Result};
use crate::files::Files;
use crate::mode::Scope;
use crate::pattern::Now;
use crate::spool::{Size, Spool};
use crate::target::{ResolvedTarget, Route};

/// The destinations of contents: buffers, and files if the host allows a root. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Destinations {
    buffers: Arc<Buffers>,
    files: Option<Arc<Files>>,
    now: Option<Now>,
}

/// The origin of a content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The name of a tool, `input`, or `model`.
    pub source: String,
    /// The kind of items the content consists of: `file`, `variable`, `url`, or `query`; for a
    /// tool, the kind of its result.
    pub kind: String,
    /// The number of items.
    pub items: Option<u64>,
    /// The paths of the files.
    pub paths: Vec<String>,
    /// The heading above the content in a file.
    pub header: Option<String>,
}

impl Origin {
    /// An origin of which only the source is known.
    pub fn of(source: impl Into<String>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }
}

impl Destinations {
    /// Creates destinations with buffers only.
    pub fn new(buffers: Arc<Buffers>) -> Self {
        Self { buffers, files: None, now: None }
    }

    /// Adds the files below a root.
    #[must_use]
    pub fn files(mut self, files: Arc<Files>) -> Self {
        self.files = Some(files);
        self
    }

    /// Sets the time that patterns are resolved at. By default, patterns are resolved at the time
    /// of each write.
    #[must_use]
    pub fn at(mut self, now: Now) -> Self {
        self.now = Some(now);
        self
    }

    /// The buffers.
    pub fn buffers(&self) -> &Arc<Buffers> {
        &self.buffers
    }

    /// The files. Fails without a root.
    pub fn root(&self) -> Result<&Arc<Files>> {
        self.files.as_ref().ok_or_else(|| ErrorKind::NoRoot.into())
    }

    /// The time that patterns are resolved at.
    pub fn now(&self) -> Now {
        self.now.clone().unwrap_or_else(Now::local)
    }

    /// Opens a destination for one content. The content arrives with [`SpooledWrite::finish`];
    /// without it, nothing is written.
    pub fn open(&self, route: &Route, origin: Origin) -> Result<SpooledWrite<'_>> {
        let target = route.resolve(&self.now())?;
        // Check the destination now, so that an invalid one fails before anything is spooled.
        let spool = match &target {
            ResolvedTarget::Nowhere => None,
            ResolvedTarget::Variable(name) => {
                self.buffers.planned_name(name, route.scope, route.mode())?;
                Some(self.buffers.spool())
            }
            ResolvedTarget::File(path) => {
                self.root()?.planned_name(path, route.mode())?;
                Some(self.buffers.spool())
            }
        };
        let header = matches!(target, ResolvedTarget::File(_)).then(|| origin.header.clone()).flatten();
        Ok(SpooledWrite {
            destinations: self,
            route: route.clone(),
            target,
            origin,
            header,
            spool,
            size: Size::default(),
        })
    }

    /// The destination that a content would have: `variable:foo_000`, `file:reports/2026-01-01.md`.
    pub fn preview(&self, route: &Route) -> Result<String> {
        Ok(match route.resolve(&self.now())? {
            ResolvedTarget::Nowhere => route.target.to_string(),
            ResolvedTarget::Variable(name) => {
                format!("variable:{}", self.buffers.planned_name(&name, route.scope, route.mode())?)
            }
            ResolvedTarget::File(path) => format!("file:{}", self.root()?.planned_name(&path, route.mode())?),
        })
    }
}

/// A content that is being spooled. Dropping it discards the content.
#[derive(Debug)]
pub struct SpooledWrite<'a> {
    destinations: &'a Destinations,
    route: Route,
    target: ResolvedTarget,
    origin: Origin,
    header: Option<String>,
    spool: Option<Spool>,
    size: Size,
}

impl SpooledWrite<'_> {
    /// The origin, which can still be changed.
    pub fn origin(&mut self) -> &mut Origin {
        &mut self.origin
    }

    /// The number of characters written so far.
    pub fn chars(&self) -> u64 {
        self.size.chars
    }

    /// Writes the content to its destination and returns the manifest.
    pub fn finish(self) -> Result<Manifest> {
        let bytes = self.size.bytes;
        self.write_to_target().map_err(|error| error.needs(bytes))
    }

    fn write_to_target(mut self) -> Result<Manifest> {
        let Origin { source, kind, items, paths, .. } = std::mem::take(&mut self.origin);
        let label =
            if kind.is_empty() || items.is_none() { source.clone() } else { format!("{source}:{kind}") };
        let label = Redaction::new().text(&label).into_owned();
        let mut next = Vec::new();
        let (id, destination) = match (&self.target, &mut self.spool) {
            (ResolvedTarget::Variable(name), Some(spool)) => {
                let (mode, scope) = (self.route.mode(), self.route.scope);
                let write = buffers::Write { name, scope, mode, source: &label };
                let (name, scope) = self.destinations.buffers.write(&write, spool)?;
                next.push(peek_call(&name, scope));
                (name.clone(), format!("variable:{name}"))
            }
            (ResolvedTarget::File(path), Some(spool)) => {
                let content = spool.content().map_err(|cause| Error::file(Op::Read, path, cause))?;
                let path = self.destinations.root()?.write(
                    path,
                    self.route.mode(),
                    self.header.as_deref(),
                    content,
                )?;
                (path.clone(), format!("file:{path}"))
            }
            _ => (String::new(), self.route.target.to_string()),
        };
        let mut manifest = Manifest::new(id, destination);
        (manifest.source, manifest.kind, manifest.items, manifest.paths) = (source, kind, items, paths);
        (manifest.size_chars, manifest.size_bytes) = (self.size.chars, self.size.bytes);
        manifest.next_calls = next;
        manifest.reason = Reason::Routed;
        Ok(manifest)
    }
}

/// The call that peeks at a buffer.
fn peek_call(name: &str, scope: Scope) -> String {
    let arguments = serde_json::json!({"operation": "peek", "target": name, "scope": scope});
    format!("buffer_ops {arguments}")
}

impl Write for SpooledWrite<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(spool) = &mut self.spool {
            spool.write_all(bytes).map_err(|cause| {
                // Name both the destination and the spool folder, because it is the folder's disk
                // that is full.
                let folder = self.destinations.buffers.spool_folder();
                let name = format!("{} (in {})", self.route.target, folder.display());
                Error::file(Op::Write, &name, cause).needs(self.size.bytes + bytes.len() as u64)
            })?;
        }
        self.size.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
