//! What parameters, the environment and the settings file say of where sessions are kept.
//!
//! **Precedence:** a parameter wins over the environment, the environment over the settings file,
//! that over the default. Each setting is looked up by itself. Of two spellings of a variable the
//! one that begins with `AMPLIFIER_` wins, and a note tells when they differ. In the file a section
//! may be called `cosmos` or `cloud`.
//!
//! **Secrets** are keys, connection strings, signatures and the secrets of applications. They come
//! from the environment, from a file named in the settings (`key_file` and the like), or stand in
//! the settings file; a file with one must be closed to everybody but its owner. They are no
//! parameters, as those end up in histories and in lists of processes. No error and no note repeats
//! a value: what stands at the wrong place may be a secret.
//!
//! **Names that are not known** are told as notes, with the nearest known name: other programs
//! write this file, too. Values of a wrong type, and words that are none of those allowed, are
//! errors.
//!
//! **Modes:** `local` opens no storage, even where one is named; `hybrid` brings sessions of this
//! machine and of the storage together, and is the mode where none is set and a storage is named.
//! `cloud`, which other programs know, is an error that names `hybrid`: a session is changed on
//! this machine and sent from here, so that none lies in the storage alone.
//!
//! What comes out is plain data. Nothing here connects to anything; [`CloudSettings::open`] makes
//! the storages that are named.

mod access;
mod cloud;
mod cosmos;
mod data;
mod fault;
mod file;
mod identity;
mod layers;
mod objects;
mod parse;
mod sessions;
mod table;

pub use cloud::{CloudSettings, Storages};
pub use cosmos::{CONTAINER, CosmosSettings, DATABASE};
pub use data::{Auth, Mode, Parameters, SyncSettings};
pub use fault::{SecretProblem, SettingFault};
pub use objects::ObjectSettings;
pub use sessions::LocalSessions;
