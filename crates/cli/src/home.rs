//! Where state lives, the store and the buffers that lie there, and where other programs keep their
//! sessions.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use etcetera::BaseStrategy;
use trommel::reader::MapPolicy;
use trommel_route::{Buffers, Scope};
use trommel_session::{Format, Sessions};
use trommel_store::{Store, StoreOptions};

use crate::args::Places;
use crate::errors::Failure;
use crate::output::{Notes, escape};
use crate::progress::Progress;
use crate::sigbus;

/// The folder of the store, in the folder of all state.
const OUTPUTS: &str = "outputs";

/// The folder of sessions' buffers.
const BUFFERS: &str = "buffers";

/// The folder of all state: `$TROMMEL_HOME`, or a folder of ours among the user's data.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    if let Some(home) = env::var_os("TROMMEL_HOME").filter(|home| !home.is_empty()) {
        return Ok(home.into());
    }
    match etcetera::choose_base_strategy() {
        Ok(folders) => Ok(folders.data_dir().join("trommel")),
        Err(_) => Err(Failure::Homeless),
    }
}

/// The store of outputs, created if there is none yet. Its payloads are mapped by the tools.
pub(crate) fn store() -> Result<Arc<Store>, Failure> {
    store_with(sigbus::map_files("a stored output"))
}

/// The same, with the policy that decides if payloads are mapped.
pub(crate) fn store_with(mapping: MapPolicy) -> Result<Arc<Store>, Failure> {
    let mut options = StoreOptions::default();
    options.mapping = mapping;
    let store = Store::open(folder()?.join(OUTPUTS), options)?;
    if let Some(error) = store.recovery_error() {
        let notes = Notes::new(OUTPUTS, Arc::new(Progress::hidden()));
        notes.warn(&format!(
            "the index of outputs is not up to date, and lists take longer: {}",
            escape::text(&error.to_string())
        ));
    }
    Ok(Arc::new(store))
}

/// The buffers of a session, and those of this process. What is written makes their folder; that of
/// all state is there.
pub(crate) fn buffers(session: &str, usual: Scope) -> Result<Buffers, Failure> {
    let home = folder()?;
    // What is on its way lies beside the store: the folder for temporary files may be memory.
    Ok(Buffers::new().session(home.join(BUFFERS), session)?.usual(usual).spool_to(home))
}

/// The sessions of the programs that keep any: in folders that were given, else in those of the
/// user's home. Without a home there are none.
pub(crate) fn sessions(places: &Places) -> Sessions {
    let roots = Format::ALL.iter().filter_map(|format| Some((*format, place(*format, places)?)));
    roots.fold(Sessions::new(), |sessions, (format, folder)| sessions.root(format, folder))
}

/// The folder of a program: one that was given, else one of the user's home, if there is a home.
pub(crate) fn place(format: Format, places: &Places) -> Option<PathBuf> {
    let usual = format.home()?.folder;
    let given = places.get(format).map(PathBuf::from);
    given.or_else(|| etcetera::home_dir().ok().map(|home| home.join(usual)))
}
