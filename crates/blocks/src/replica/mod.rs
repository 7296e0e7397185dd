//! The sessions of this machine and of a storage in one view, and their sync.
//!
//! [`SyncedSessions`] is composed of these parts, each of which uses only those above it:
//!
//! - `options`, `policy`, `report`: the data: options, and the results of syncs.
//! - `paths`, `context`: the folders for the local state of a storage, and the two sides of one
//!   session.
//! - `fill`, `mirror`: local copies of sessions that are only in the storage, in the folder layout
//!   of Amplifier.
//! - `link`: the list of stored sessions, fetched within a timeout and cached for a while.
//! - `catalog`: lists, searches, and finds the sessions of both sides.
//! - `bodies`: fetches the bodies of events that are only in the storage.
//! - `exchange`, `status`: syncs both sides, and compares them.
//! - `change`: changes sessions that may be only in the storage.

mod bodies;
mod catalog;
mod change;
mod context;
mod exchange;
mod fill;
mod link;
mod mirror;
mod options;
mod paths;
mod policy;
mod report;
mod status;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use trommel_base::files::{self, Op};
use trommel_session::{
    Aggregate, AggregateQuery, EventPage, EventQuery, ListQuery, Listing, SearchQuery, Session, SessionRow,
    Sessions, SyncStatus, Watch,
};

use crate::error::{ErrorClass, Result};
use crate::sync::ConflictResolution;
use bodies::Bodies;
use catalog::Catalog;
use change::Changes;
use context::Context;
use exchange::Exchange;
use link::StorageList;
use paths::make_parent;
use status::Comparison;

pub use catalog::View;
pub use change::Changeable;
pub use options::{Folders, Owner, SyncedOptions};
pub use policy::{Filter, Policy};
pub use report::{Outcome, SessionOutcome, SyncReport};

/// The interval at which a wait between two syncs checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The sessions of this machine and of a storage.
///
/// Sessions of this machine are queried locally, without the storage. Sessions that are only in the
/// storage are queried in a mirror, which is updated before each query. It has their descriptions,
/// their transcripts, and the members of events that [`Outliner`](trommel_session::Outliner) keeps;
/// bodies of events are fetched page by page. If the storage cannot be reached, answers come from
/// the last known state and say so.
///
/// ```
/// use std::sync::Arc;
/// use trommel_blocks::{Folders, Owner, SyncedOptions, SyncedSessions};
/// use trommel_session::{ListQuery, Sessions, Source, Watch};
/// use trommel_storage::FolderStorage;
///
/// # let home = tempfile::tempdir()?;
/// # let (local, shared) = (home.path().join(".amplifier"), home.path().join("shared"));
/// FolderStorage::make(&shared)?;
/// let folder = local.join("projects/-home-u-app/sessions/5d1c");
/// std::fs::create_dir_all(&folder)?;
/// let said = "{\"role\": \"user\", \"content\": \"Hello\"}\n";
/// std::fs::write(folder.join("transcript.jsonl"), said)?;
/// let open = |local: &std::path::Path, device: &str| {
///     let sessions = Sessions::new().amplifier(local);
///     let folders = Folders::new(local, home.path().join(device));
///     let storage = Arc::new(FolderStorage::new(&shared));
///     let owner = Owner::new("ada", device);
///     SyncedSessions::new(SyncedOptions::new(sessions, folders, owner, storage))
/// };
/// let watch = Watch::new();
/// let one = open(&local, "one")?;
/// assert!(one.sync(Some("5d1c"), None, &watch)?.is_synced());
/// // Another machine, without sessions of its own.
/// let other = open(&home.path().join("other"), "two")?;
/// let listed = other.view(&watch)?.sessions.list(&ListQuery::default(), &watch)?;
/// assert_eq!((listed.connected, listed.sessions[0].source), (true, Source::Cloud));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SyncedSessions {
    context: Context,
    list: StorageList,
}

impl SyncedSessions {
    /// Combines a machine and a storage, without querying the storage. Fails for a user name that
    /// is not valid in a storage.
    pub fn new(options: SyncedOptions) -> Result<Self> {
        Ok(Self { context: Context::new(options)?, list: StorageList::default() })
    }

    fn catalog(&self) -> Catalog<'_> {
        Catalog { context: &self.context, list: &self.list }
    }

    fn exchange(&self) -> Exchange<'_> {
        Exchange { catalog: self.catalog() }
    }

    /// The name of the storage: its kind and location.
    pub fn name(&self) -> String {
        self.context.options.storage.name()
    }

    /// Creates the root folder of a storage that is a folder: see
    /// [`BlockStorage::create_root`](crate::BlockStorage::create_root).
    pub fn create_root(&self) -> Result<()> {
        self.list.forget();
        self.context.options.storage.create_root()
    }

    /// The sessions of both sides in the last known state. Does not query the storage.
    pub fn known(&self) -> Sessions {
        self.catalog().known()
    }

    /// The sessions of both sides, for lists: sessions that are only in the storage just have a
    /// description.
    pub fn view(&self, watch: &Watch<'_>) -> Result<View> {
        self.catalog().view(watch)
    }

    /// Lists the sessions of both sides, with problems to report. The known sessions are listed
    /// while the storage is queried, so that the answer is ready when the query times out.
    pub fn list(&self, query: &ListQuery, watch: &Watch<'_>) -> Result<(Listing, Vec<String>)> {
        self.catalog().list(query, watch)
    }

    /// The sessions of both sides, for a search. Updates the mirrors that the search reads.
    pub fn searchable(&self, query: &SearchQuery, watch: &Watch<'_>) -> Result<View> {
        self.catalog().searchable(query, watch)
    }

    /// The sessions of both sides, for a query about a session and its descendants. Does not query
    /// the storage if all known descendants are on this machine.
    pub fn family(&self, session: &Session, watch: &Watch<'_>) -> Result<View> {
        self.catalog().family(session, watch)
    }

    /// Finds one session of either side by its ID or a prefix of it. A session of this machine is
    /// found without the storage, unless another known session has the same prefix. The mirror of a
    /// session that is only in the storage is updated.
    pub fn find(&self, id: &str, watch: &Watch<'_>) -> Result<(View, Session)> {
        self.catalog().find(id, watch)
    }

    /// The sessions that are only in the storage. Returns all at once, because pulling one moves it
    /// in the list.
    pub fn cloud_only(&self, watch: &Watch<'_>) -> Result<Vec<SessionRow>> {
        self.catalog().cloud_only(watch)
    }

    /// Returns a page of a session's events, like [`Session::get_events`]. Fetches the bodies of
    /// events that are only in the storage, if the query needs more than the mirror has.
    pub fn get_events(&self, session: &Session, query: &EventQuery, watch: &Watch<'_>) -> Result<EventPage> {
        Bodies { context: &self.context }.get_events(session, query, watch)
    }

    /// Aggregates a field, like [`Session::aggregate`]. Downloads a session that is only in the
    /// storage, if the mirror lacks the field.
    pub fn aggregate(
        &self,
        session: &Session,
        query: &AggregateQuery,
        watch: &Watch<'_>,
    ) -> Result<Aggregate> {
        Bodies { context: &self.context }.aggregate(session, query, watch)
    }

    /// Syncs one session, or every session of this machine. A named session that is only in the
    /// storage is pulled. Conflicts are resolved by `resolution`, or else by the options.
    ///
    /// The report lists sessions that failed; they do not stop the others. Fails if the storage
    /// cannot be reached or the named session does not exist. An interrupted sync resumes where it
    /// stopped.
    pub fn sync(
        &self,
        id: Option<&str>,
        resolution: Option<ConflictResolution>,
        watch: &Watch<'_>,
    ) -> Result<SyncReport> {
        self.exchange().sync(id, resolution, watch)
    }

    /// Syncs every session of this machine, and then those that are only in the storage, except for
    /// those that the policy excludes.
    pub fn sync_all(&self, resolution: Option<ConflictResolution>, watch: &Watch<'_>) -> Result<SyncReport> {
        self.exchange().sync_all(resolution, watch)
    }

    /// Syncs repeatedly until cancelled, and reports each time.
    pub fn keep_synced(
        &self,
        interval: Duration,
        watch: &Watch<'_>,
        report: &mut dyn FnMut(Result<SyncReport>),
    ) -> Result<()> {
        loop {
            match self.sync(None, None, watch) {
                Err(error) if error.class() == ErrorClass::Cancelled => return Err(error),
                synced => report(synced),
            }
            let since = Instant::now();
            while since.elapsed() < interval {
                watch.check()?;
                thread::sleep(POLL_INTERVAL.min(interval));
            }
        }
    }

    /// Compares a session on both sides, or every session of this machine. `pending_uploads` counts
    /// records that the storage lacks, `pending_downloads` counts blocks that this machine lacks.
    /// If the storage cannot be reached, only uploads are known.
    ///
    /// Reads every byte of changed sessions, and queries the storage once per session.
    pub fn sync_status(&self, id: Option<&str>, watch: &Watch<'_>) -> Result<SyncStatus> {
        Comparison { catalog: self.catalog() }.status(id, watch)
    }

    /// Writes the stored version of a session into another folder, so that it can be compared with
    /// the local one.
    pub fn write_out(&self, id: &str, to: &Path, watch: &Watch<'_>) -> Result<()> {
        self.exchange().write_out(id, to, watch)
    }

    /// Prepares a session for a change. A session that is only in the storage is pulled; for a dry
    /// run, a temporary copy is downloaded. Pass the result to [`changed`](Self::changed).
    pub fn changeable(&self, id: &str, is_dry_run: bool, watch: &Watch<'_>) -> Result<Changeable> {
        Changes { exchange: self.exchange() }.begin(id, is_dry_run, watch)
    }

    /// Pushes a change, if the session was pulled for it or changes are synced automatically.
    /// Returns the reason if it was not pushed: the change is made locally, and is pushed by the
    /// next sync.
    pub fn changed(&self, changed: &Changeable, watch: &Watch<'_>) -> Result<Option<String>> {
        Changes { exchange: self.exchange() }.finish(changed, watch)
    }

    /// Marks a session as local only, or removes the mark. Blocks that were pushed before stay in
    /// the storage.
    pub fn keep_here(&self, id: &str, is_local_only: bool) -> Result<()> {
        let session = self.context.options.sessions.find(id)?;
        let path = self.context.paths.local_mark(session.project(), session.id());
        if is_local_only {
            make_parent(&path)?;
            return Ok(files::attempt(Op::Create, &path, || fs::write(&path, ""))?);
        }
        files::remove(&path)?;
        Ok(())
    }
}
