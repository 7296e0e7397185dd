//! The places that contents go to, and what is on its way there.

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
use crate::target::{Place, Route};

/// The places that contents go to: buffers, and files where the host allows a root. Clones share
/// them.
#[derive(Clone, Debug, Default)]
pub struct Destinations {
    buffers: Arc<Buffers>,
    files: Option<Arc<Files>>,
    now: Option<Now>,
}

/// Whose content it is that goes somewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// A tool's name, `input` or `model`.
    pub source: String,
    /// What it was made of: `file`, `variable`, `url`, `query`; what it is, for a tool's result.
    pub kind: String,
    /// How many of them.
    pub items: Option<u64>,
    /// Which files.
    pub paths: Vec<String>,
    /// What stands above it in a file.
    pub header: Option<String>,
}

impl Origin {
    /// Of this source, and nothing else is known.
    pub fn of(source: impl Into<String>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }
}

impl Destinations {
    /// Buffers, and no files.
    pub fn new(buffers: Arc<Buffers>) -> Self {
        Self { buffers, files: None, now: None }
    }

    /// Adds the files below a root.
    #[must_use]
    pub fn files(mut self, files: Arc<Files>) -> Self {
        self.files = Some(files);
        self
    }

    /// Sets the time that patterns are about; the moment at which a content arrives unless it is
    /// set.
    #[must_use]
    pub fn at(mut self, now: Now) -> Self {
        self.now = Some(now);
        self
    }

    /// The buffers.
    pub fn buffers(&self) -> &Arc<Buffers> {
        &self.buffers
    }

    /// The files. An error tells that there are none.
    pub fn root(&self) -> Result<&Arc<Files>> {
        self.files.as_ref().ok_or_else(|| ErrorKind::NoRoot.into())
    }

    /// The time that patterns are about.
    pub fn now(&self) -> Now {
        self.now.clone().unwrap_or_else(Now::local)
    }

    /// Opens a place for one content. Nothing is there before [`Parcel::finish`], and nothing when
    /// that is not called.
    pub fn open(&self, route: &Route, origin: Origin) -> Result<Parcel<'_>> {
        let place = route.resolve(&self.now())?;
        let spool = match &place {
            Place::Nowhere => None,
            Place::Variable(name) => {
                self.buffers.would_write(name, route.scope, route.mode())?;
                Some(self.buffers.spool())
            }
            Place::File(path) => {
                self.root()?.would_write(path, route.mode())?;
                Some(self.buffers.spool())
            }
        };
        let header = matches!(place, Place::File(_)).then(|| origin.header.clone()).flatten();
        Ok(Parcel {
            destinations: self,
            route: route.clone(),
            place,
            origin,
            header,
            spool,
            size: Size::default(),
        })
    }

    /// Where a content would go: `variable:foo_000`, `file:reports/2026-01-01.md`.
    pub fn would_go(&self, route: &Route) -> Result<String> {
        Ok(match route.resolve(&self.now())? {
            Place::Nowhere => route.target.to_string(),
            Place::Variable(name) => {
                format!("variable:{}", self.buffers.would_write(&name, route.scope, route.mode())?)
            }
            Place::File(path) => format!("file:{}", self.root()?.would_write(&path, route.mode())?),
        })
    }
}

/// A content on its way. Dropped, nothing of it remains.
#[derive(Debug)]
pub struct Parcel<'a> {
    destinations: &'a Destinations,
    route: Route,
    place: Place,
    origin: Origin,
    header: Option<String>,
    spool: Option<Spool>,
    size: Size,
}

impl Parcel<'_> {
    /// Changes what is known of it.
    pub fn origin(&mut self) -> &mut Origin {
        &mut self.origin
    }

    /// How many characters have passed.
    pub fn chars(&self) -> u64 {
        self.size.chars
    }

    /// Brings it to its place, and says where that is.
    pub fn finish(self) -> Result<Manifest> {
        let bytes = self.size.bytes;
        self.deliver().map_err(|error| error.needs(bytes))
    }

    fn deliver(mut self) -> Result<Manifest> {
        let Origin { source, kind, items, paths, .. } = std::mem::take(&mut self.origin);
        let named =
            if kind.is_empty() || items.is_none() { source.clone() } else { format!("{source}:{kind}") };
        let named = Redaction::new().text(&named).into_owned();
        let mut next = Vec::new();
        let (id, destination) = match (&self.place, &mut self.spool) {
            (Place::Variable(name), Some(spool)) => {
                let (mode, scope) = (self.route.mode(), self.route.scope);
                let write = buffers::Write { name, scope, mode, source: &named };
                let (name, scope) = self.destinations.buffers.write(&write, spool)?;
                next.push(peek(&name, scope));
                (name.clone(), format!("variable:{name}"))
            }
            (Place::File(path), Some(spool)) => {
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

/// The call that shows how a buffer begins.
fn peek(name: &str, scope: Scope) -> String {
    let arguments = serde_json::json!({"operation": "peek", "target": name, "scope": scope});
    format!("buffer_ops {arguments}")
}

impl Write for Parcel<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(spool) = &mut self.spool {
            spool.write_all(bytes).map_err(|cause| {
                // The destination, and the folder whose disk refuses it meanwhile.
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
