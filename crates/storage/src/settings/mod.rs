//! Settings of the session storage: parameters, environment, and settings file.
//!
//! **Precedence:** parameters win over the environment, the environment wins over the settings
//! file, and that over the defaults. Each setting is looked up separately. Of two names of a
//! variable, the one that starts with `AMPLIFIER_` wins, with a warning if they differ. In the
//! file, the section `cosmos` may also be called `cloud`.
//!
//! **Secrets** are keys, connection strings, signatures, and the secrets of applications. They come
//! from the environment, from a secret file (`key_file` and the like), or from the settings file,
//! which must be private then. They cannot be parameters, because those end up in shell histories
//! and process lists. Errors and warnings never repeat a value, because it may be a misplaced
//! secret.
//!
//! **Unknown names** are reported as warnings with the nearest known name, because other programs
//! write this file, too. Values of another type and unknown words are errors.
//!
//! **Modes:** `local` opens no storage, even if one is configured. `hybrid` combines the sessions
//! of this machine with those of the storage, and is the default if a storage is configured.
//! `cloud`, a mode of other programs, is an error that suggests `hybrid`: sessions are changed on a
//! machine and pushed from there, so none is in the storage alone.
//!
//! The result is plain data. Nothing connects to a service; [`CloudSettings::open`] creates the
//! configured storages.

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
