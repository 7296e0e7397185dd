//! The paths of the files in a store's folder.
//!
//! ```text
//! payload/3f/<id>.json        a payload            pending/<id>          a marker
//! payload/3f/<id>.json.zst    a compressed one     pending/<id>.payload  a file being written
//! payload/3f/<id>.guide       its guide            pending/<id>.guide
//! payload/3f/<id>.meta.json   its description      pending/<id>.packed, pending/<id>.meta
//! index.sqlite                the index            lock, clock           locked for changes
//! history.sqlite              executions           history.lock
//! ```
//!
//! The folder of an ID is the first byte of its BLAKE3 hash, because IDs that are generated in
//! sequence have a common prefix.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use trommel_base::files;

use crate::error::{Error, ErrorKind, ForeignFault, Result};
use crate::id;

/// The paths of a store. All IDs must have been validated.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

/// The kind of a file, determined by its suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Plain,
    Packed,
    Meta,
    Guide,
}

impl Part {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Meta, ".meta.json"),
        (Self::Packed, ".json.zst"),
        (Self::Plain, ".json"),
        (Self::Guide, ".guide"),
    ];

    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::Plain => ".json",
            Self::Packed => ".json.zst",
            Self::Meta => ".meta.json",
            Self::Guide => ".guide",
        }
    }

    /// Splits the name of a file in a payload folder into the ID and the kind of file.
    pub(crate) fn parse(name: &str) -> Option<(&str, Self)> {
        let (part, id) =
            Self::ALL.iter().find_map(|(part, suffix)| Some((*part, name.strip_suffix(suffix)?)))?;
        id::is_valid(id).then_some((id, part))
    }
}

impl Layout {
    /// Opens the folder of a store, creating it if needed. Fails if other users own it or can write
    /// to it.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let is_new = files::make_folder(root)?;
        let root = root.canonicalize().map_err(|cause| Error::file(files::Op::Open, root, cause))?;
        if let (true, Some(parent)) = (is_new, root.parent()) {
            // The parent may belong to another user and may not be readable. The system then
            // persists the new name at its own time.
            let _ = files::sync_folder(parent);
        }
        check_ownership(&root)?;
        let layout = Self { root };
        for folder in [layout.payloads(), layout.pending()] {
            if files::make_folder(&folder)? {
                files::sync_folder(&layout.root)?;
            }
            check_ownership(&folder)?;
        }
        Ok(layout)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn payloads(&self) -> PathBuf {
        self.root.join("payload")
    }

    pub(crate) fn pending(&self) -> PathBuf {
        self.root.join("pending")
    }

    /// The path of a file directly in the root.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The folder of an output.
    pub(crate) fn folder(&self, id: &str) -> PathBuf {
        let first = blake3::hash(id.as_bytes()).as_bytes()[0];
        self.payloads().join(format!("{first:02x}"))
    }

    pub(crate) fn part(&self, id: &str, part: Part) -> PathBuf {
        self.folder(id).join(format!("{id}{}", part.suffix()))
    }

    pub(crate) fn meta(&self, id: &str) -> PathBuf {
        self.part(id, Part::Meta)
    }

    pub(crate) fn payload(&self, id: &str, packed: bool) -> PathBuf {
        self.part(id, if packed { Part::Packed } else { Part::Plain })
    }

    pub(crate) fn guide(&self, id: &str) -> PathBuf {
        self.part(id, Part::Guide)
    }

    /// The marker of an output, which is locked while the output is changed.
    pub(crate) fn marker(&self, id: &str) -> PathBuf {
        self.pending().join(id)
    }

    /// Creates the folder of an output if needed. A symbolic link is refused.
    pub(crate) fn make_folder(&self, id: &str) -> Result<PathBuf> {
        let folder = self.folder(id);
        if files::make_folder(&folder)? {
            files::sync_folder(&self.payloads())?;
        } else if !is_folder(&folder) {
            return Err(foreign(&folder, ForeignFault::Link));
        }
        Ok(folder)
    }

    /// A temporary file of an output.
    pub(crate) fn temporary(&self, id: &str, what: &str) -> PathBuf {
        self.pending().join(format!("{id}.{what}"))
    }

    /// The path relative to the root, for reports.
    pub(crate) fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }

    /// The folders of payloads. Symbolic links are skipped.
    pub(crate) fn folders(&self) -> Result<Vec<PathBuf>> {
        let payloads = self.payloads();
        let is_ours = |name: &String| name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let names = files::names(&payloads)?.into_iter().filter(is_ours);
        Ok(names.map(|name| payloads.join(name)).filter(|path| is_folder(path)).collect())
    }
}

fn is_folder(path: &Path) -> bool {
    files::inspect(path).is_ok_and(|found| found.is_some_and(|found| found.is_dir()))
}

/// Fails unless the folder belongs to this user and no other user can write to it.
fn check_ownership(path: &Path) -> Result<()> {
    let Some(metadata) = files::inspect(path)?.filter(std::fs::Metadata::is_dir) else {
        return Err(foreign(path, ForeignFault::NotFolder));
    };
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    if owner != user {
        return Err(foreign(path, ForeignFault::Owner { owner, user }));
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(foreign(path, ForeignFault::Writable { mode: metadata.mode() & 0o7777 }));
    }
    Ok(())
}

fn foreign(path: &Path, why: ForeignFault) -> Error {
    ErrorKind::Foreign { path: path.to_owned(), why }.into()
}
