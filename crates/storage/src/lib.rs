//! Storages of blocks: folders, Azure Cosmos DB, Azure Blob, S3 and compatible services, and their
//! settings.
//!
//! # Should I use this crate?
//!
//! To keep sessions of agents in a storage that several machines reach. `trommel-blocks` has the
//! format, and the traits that each storage here implements; it does not depend on any service.
//!
//! # Contents
//!
//! - [`FolderStorage`]: blocks in a folder, for a disk that several machines share.
//! - `cosmos` (feature `cosmos`): blocks in Azure Cosmos DB.
//! - `objects` (feature `objects`): blocks and payloads in an object store.
//! - `settings` (feature `settings`): the storage that parameters, the environment, and a settings
//!   file name, and the sessions of a machine together with it.
//! - [`Secret`]: a key or a token that never shows itself.
//!
//! No feature is on by default.
//!
//! # Errors
//!
//! Each storage has a type of its faults, which is inside of the [`Error`](trommel_blocks::Error)
//! of its calls as [`ErrorKind::Storage`](trommel_blocks::ErrorKind::Storage). No message has a
//! secret.

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
