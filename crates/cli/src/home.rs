//! The folder of all state with its store and buffers, and the folders where other programs keep
//! their sessions.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use etcetera::BaseStrategy;
use trommel::reader::MapPolicy;
use trommel_guide::Guides;
use trommel_route::{Buffers, Scope};
use trommel_session::{Format, Sessions};
use trommel_store::{Store, StoreOptions};

use crate::args::SessionFolders;
use crate::errors::Failure;
use crate::output::{Notes, escape};
use crate::progress::Progress;
use crate::sigbus;

/// The folder of the store, in the folder of all state.
const OUTPUTS_FOLDER: &str = "outputs";

/// The folder of guides, in the folder of all state.
const GUIDES_FOLDER: &str = "guides";

/// The folder of session buffers, in the folder of all state.
const BUFFERS_FOLDER: &str = "buffers";

/// Returns the folder of all state: `$TROMMEL_HOME`, or `trommel` in the platform's data directory.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    if let Some(home) = env::var_os("TROMMEL_HOME").filter(|home| !home.is_empty()) {
        return Ok(home.into());
    }
    match etcetera::choose_base_strategy() {
        Ok(folders) => Ok(folders.data_dir().join("trommel")),
        Err(_) => Err(Failure::NoDataDir),
    }
}

/// Returns the folder of stored outputs, or `None` if the platform has no data directory.
pub fn outputs_folder() -> Option<PathBuf> {
    folder().ok().map(|folder| folder.join(OUTPUTS_FOLDER))
}

/// Returns the folder of the guides of files, or `None` if the platform has no data directory.
pub fn guides_folder() -> Option<PathBuf> {
    folder().ok().map(|folder| folder.join(GUIDES_FOLDER))
}

/// Returns the guides of files.
pub(crate) fn guides() -> Result<Guides, Failure> {
    guides_folder().map(Guides::new).ok_or(Failure::NoDataDir)
}

/// Opens the store of outputs, and creates it if necessary. Tools map its payloads.
pub(crate) fn store() -> Result<Arc<Store>, Failure> {
    store_with(sigbus::map_files("a stored output"))
}

/// Opens the store with a policy that decides if payloads are mapped.
pub(crate) fn store_with(mapping: MapPolicy) -> Result<Arc<Store>, Failure> {
    let mut options = StoreOptions::default();
    options.mapping = mapping;
    let store = Store::open(folder()?.join(OUTPUTS_FOLDER), options)?;
    if let Some(error) = store.recovery_error() {
        let notes = Notes::new(OUTPUTS_FOLDER, Arc::new(Progress::hidden()));
        notes.warn(&format!(
            "the output index is outdated, so lists take longer: {}",
            escape::text(&error.to_string())
        ));
    }
    Ok(Arc::new(store))
}

/// Opens the buffers of a session and of this process. Writing creates their folder; the folder of
/// all state must exist.
pub(crate) fn buffers(session: &str, usual: Scope) -> Result<Buffers, Failure> {
    let home = folder()?;
    // Spools to the folder of all state: the system's temporary folder may be in memory.
    Ok(Buffers::new().session(home.join(BUFFERS_FOLDER), session)?.default_scope(usual).spool_to(home))
}

/// Opens the sessions of all supported programs, in the given folders or below the user's home.
/// Without a home directory, programs without a given folder have no sessions.
pub(crate) fn sessions(folders: &SessionFolders) -> Sessions {
    let roots = Format::ALL.iter().filter_map(|format| Some((*format, session_folder(*format, folders)?)));
    roots.fold(Sessions::new(), |sessions, (format, folder)| sessions.root(format, folder))
}

/// Returns the session folder of a program: the given one, or the usual one below the home
/// directory.
pub(crate) fn session_folder(format: Format, folders: &SessionFolders) -> Option<PathBuf> {
    let usual = format.home()?.folder;
    let given = folders.get(format).map(PathBuf::from);
    given.or_else(|| etcetera::home_dir().ok().map(|home| home.join(usual)))
}
