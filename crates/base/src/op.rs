//! Names of the operations on files.

/// An operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// Create a file.
    Create,
    /// Open an existing file.
    Open,
    /// Read bytes.
    Read,
    /// Write bytes.
    Write,
    /// Flush a file's bytes to the disk.
    Sync,
    /// Flush the names in a folder to the disk.
    SyncFolder,
    /// Create a hard link.
    Link,
    /// Exchange the names of two files.
    Exchange,
    /// Rename a file.
    Rename,
    /// Remove a file.
    Remove,
    /// Truncate a file.
    Truncate,
    /// Change permissions.
    SetMode,
    /// Create a folder.
    MakeFolder,
    /// Read metadata.
    Inspect,
    /// List a folder.
    List,
    /// Lock a file or folder.
    Lock,
    /// Change a database.
    Database,
    /// Write the seal of a database.
    Seal,
}

impl Op {
    /// The operation as a verb: `cannot VERB PATH`.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "save",
            Self::SyncFolder => "save the names in",
            Self::Link => "link",
            Self::Exchange | Self::Rename => "rename",
            Self::Remove => "remove",
            Self::Truncate => "truncate",
            Self::SetMode => "set the permissions of",
            Self::MakeFolder => "create the folder",
            Self::Inspect => "inspect",
            Self::List => "list the folder",
            Self::Lock => "lock",
            Self::Database | Self::Seal => "update",
        }
    }
}
