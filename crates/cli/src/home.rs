//! Where state lives, and the store and the buffers that lie there.

use std::path::PathBuf;
use std::sync::Arc;

use etcetera::BaseStrategy;
use trommel_route::{Buffers, Scope};
use trommel_store::{Store, StoreOptions};

use crate::errors::Failure;

/// The folder of the store, in the folder of all state.
const OUTPUTS: &str = "outputs";

/// The folder of sessions' buffers.
const BUFFERS: &str = "buffers";

/// The folder of all state: `$TROMMEL_HOME`, or a folder of ours among the user's data.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    if let Some(home) = std::env::var_os("TROMMEL_HOME").filter(|home| !home.is_empty()) {
        return Ok(home.into());
    }
    match etcetera::choose_base_strategy() {
        Ok(folders) => Ok(folders.data_dir().join("trommel")),
        Err(_) => Err(Failure::Homeless),
    }
}

/// The store of outputs, made if there is none yet.
pub(crate) fn store() -> Result<Arc<Store>, Failure> {
    let store = Store::open(folder()?.join(OUTPUTS), StoreOptions::default())?;
    Ok(Arc::new(store))
}

/// The buffers of a session, and those of this process. What is written makes their folder; that of all state is there.
pub(crate) fn buffers(session: &str, usual: Scope) -> Result<Buffers, Failure> {
    let home = folder()?;
    // What is on its way lies beside the store: the folder for temporary files may be memory.
    Ok(Buffers::new().session(home.join(BUFFERS), session)?.usual(usual).spool_to(home))
}
