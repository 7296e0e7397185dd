//! Storages of blocks: folders, Azure Cosmos DB, Azure Blob, S3 and compatible services, and their
//! settings.
//!
//! # Should I use this crate?
//!
//! Yes, to keep agent sessions in a storage that several machines can reach. `trommel-blocks` has
//! the format and the traits that each storage implements; it does not depend on any service.
//!
//! # Contents
//!
//! - [`FolderStorage`]: blocks in a folder, for a disk that several machines share.
//! - `cosmos` (feature `cosmos`): blocks in Azure Cosmos DB.
//! - `objects` (feature `objects`): blocks and payloads in an object store.
//! - `settings` (feature `settings`): the storage that is configured by parameters, environment,
//!   and a settings file, and its combination with the sessions of a machine.
//! - [`Secret`]: a key or token that is never displayed.
//!
//! No feature is on by default.
//!
//! # Errors
//!
//! Each storage has a fault type of its own, which the [`Error`](trommel_blocks::Error) of a call
//! contains as [`ErrorKind::Storage`](trommel_blocks::ErrorKind::Storage). Messages contain no
//! secrets.

#[cfg(feature = "cosmos")]
pub mod cosmos;
mod folder;
#[cfg(feature = "objects")]
pub mod objects;
mod secret;
#[cfg(feature = "settings")]
pub mod settings;

pub use folder::{FolderFault, FolderStorage};
pub use secret::Secret;
