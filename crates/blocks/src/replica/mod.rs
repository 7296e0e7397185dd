//! Sessions of this machine and of a storage in one view, and kept the same on both.
//!
//! [`SyncedSessions`] is composed of these parts, each of which uses only those above it:
//!
//! - `options`, `policy`, `report`: the data; how both sides are brought together, and what became
//!   of it.
//! - `paths`, `context`: the folders for what is known of a storage, and both sides of one session.
//! - `fill`, `mirror`: what is known here of sessions that are stored only, in folders as Amplifier
//!   lays them out.
//! - `link`: the list of what is stored, fetched within a time and kept for a while.
//! - `catalog`: the sessions of both sides, listed, searched, and found.
//! - `bodies`: the bodies of events that are stored only.
//! - `exchange`, `status`: both sides made the same, and compared.
//! - `change`: changes of a session that may be stored only.

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
use crate::sync::Settlement;
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

/// How often a wait between two syncs checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Sessions of this machine and of a storage.
///
/// Sessions of this machine are queried on this machine, without the storage. Those that are stored
/// only are queried in a mirror: descriptions, transcripts, and of events what
/// [`Outliner`](trommel_session::Outliner) keeps, brought up to date before it is queried; bodies
/// of events are fetched by the page. If the storage cannot be reached, the answer is what was
/// known last, and says so.
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
/// // Another machine, which has none of its own yet.
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
    /// Brings a machine and a storage together. Asks the storage nothing yet.
    ///
    /// An error for a user whose name cannot be one in a storage.
    pub fn new(options: SyncedOptions) -> Result<Self> {
        Ok(Self { context: Context::new(options)?, list: StorageList::default() })
    }

    fn catalog(&self) -> Catalog<'_> {
        Catalog { context: &self.context, list: &self.list }
    }

    fn exchange(&self) -> Exchange<'_> {
        Exchange { catalog: self.catalog() }
    }

    /// The name of the storage: its kind and its place.
    pub fn name(&self) -> String {
        self.context.options.storage.name()
    }

    /// Creates the storage's folder, if it is one: see
    /// [`BlockStorage::make_place`](crate::BlockStorage::make_place).
    pub fn make_place(&self) -> Result<()> {
        self.list.forget();
        self.context.options.storage.make_place()
    }

    /// Sessions of both sides as they were known last. Asks no storage.
    pub fn known(&self) -> Sessions {
        self.catalog().known()
    }

    /// Sessions of both sides, for lists: those that are stored only have a description.
    pub fn view(&self, watch: &Watch<'_>) -> Result<View> {
        self.catalog().view(watch)
    }

    /// The list of sessions of both sides, and what to report beside it. What is known is listed
    /// while the storage is asked, so that the answer is ready when the storage is given up.
    pub fn list(&self, query: &ListQuery, watch: &Watch<'_>) -> Result<(Listing, Vec<String>)> {
        self.catalog().list(query, watch)
    }

    /// Sessions of both sides for a search: the mirrors of those that are searched are brought up
    /// to date.
    pub fn searchable(&self, query: &SearchQuery, watch: &Watch<'_>) -> Result<View> {
        self.catalog().searchable(query, watch)
    }

    /// Sessions of both sides for a query about a session and all that it spawned. Asks no storage
    /// if all of them that are known are on this machine.
    pub fn family(&self, session: &Session, watch: &Watch<'_>) -> Result<View> {
        self.catalog().family(session, watch)
    }

    /// One session of either side, by its id or a prefix of it. One that is on this machine is
    /// found without the storage, unless another known one has the same prefix; the mirror of one
    /// that is stored only is brought up to date.
    pub fn find(&self, id: &str, watch: &Watch<'_>) -> Result<(View, Session)> {
        self.catalog().find(id, watch)
    }

    /// The sessions that are stored only. All at once: fetching one moves it in the list.
    pub fn cloud_only(&self, watch: &Watch<'_>) -> Result<Vec<SessionRow>> {
        self.catalog().cloud_only(watch)
    }

    /// A page of a session's events, as [`Session::get_events`] has it. Bodies of events that are
    /// stored only are fetched for the page, if the query needs more than the mirror has.
    pub fn get_events(&self, session: &Session, query: &EventQuery, watch: &Watch<'_>) -> Result<EventPage> {
        Bodies { context: &self.context }.get_events(session, query, watch)
    }

    /// Figures of a field, as [`Session::aggregate`] has them. A session that is stored only is
    /// copied for it, if the mirror does not have the field.
    pub fn aggregate(
        &self,
        session: &Session,
        query: &AggregateQuery,
        watch: &Watch<'_>,
    ) -> Result<Aggregate> {
        Bodies { context: &self.context }.aggregate(session, query, watch)
    }

    /// Makes one session the same on both sides, or every one of this machine. One that is stored
    /// only is fetched if it is named. Conflicts are settled as `settlement` says, or else as the
    /// options say.
    ///
    /// The report says what could not be done for one session, which keeps no other one back. It is
    /// an error if the storage cannot be reached, or if there is no such session. An interrupted
    /// sync resumes where it stopped.
    pub fn sync(
        &self,
        id: Option<&str>,
        settlement: Option<Settlement>,
        watch: &Watch<'_>,
    ) -> Result<SyncReport> {
        self.exchange().sync(id, settlement, watch)
    }

    /// The same for every session of this machine, and then for those that are stored only, except
    /// for what the policy keeps apart.
    pub fn sync_all(&self, settlement: Option<Settlement>, watch: &Watch<'_>) -> Result<SyncReport> {
        self.exchange().sync_all(settlement, watch)
    }

    /// Syncs again and again until it is cancelled, and reports each time.
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

    /// How far a session is the same on both sides, or every one of this machine.
    /// `pending_uploads` are records that the storage does not have, `pending_downloads` blocks
    /// that this machine does not have. If the storage cannot be reached, only what is to be sent
    /// is known.
    ///
    /// Reads every byte of sessions that were changed, and asks the storage once for each session.
    pub fn sync_status(&self, id: Option<&str>, watch: &Watch<'_>) -> Result<SyncStatus> {
        Comparison { catalog: self.catalog() }.status(id, watch)
    }

    /// Writes what the storage has of a session into another folder, so that it can be compared
    /// with this machine's.
    pub fn write_out(&self, id: &str, to: &Path, watch: &Watch<'_>) -> Result<()> {
        self.exchange().write_out(id, to, watch)
    }

    /// A session that may be changed. One that is stored only is fetched; for a dry run it is
    /// copied, and the copy is removed afterwards. Pass the result to [`changed`](Self::changed).
    pub fn changeable(&self, id: &str, is_dry_run: bool, watch: &Watch<'_>) -> Result<Changeable> {
        Changes { exchange: self.exchange() }.begin(id, is_dry_run, watch)
    }

    /// Sends a change, if the session was fetched for it or everything is sent at once. Returns why
    /// it was not sent: the change itself was made, and goes with the next sync.
    pub fn changed(&self, changed: &Changeable, watch: &Watch<'_>) -> Result<Option<String>> {
        Changes { exchange: self.exchange() }.finish(changed, watch)
    }

    /// Marks a session as one that stays on this machine, or removes the mark. What was sent before
    /// stays in the storage.
    pub fn keep_here(&self, id: &str, is_kept: bool) -> Result<()> {
        let session = self.context.options.sessions.find(id)?;
        let path = self.context.paths.local_mark(session.project(), session.id());
        if is_kept {
            make_parent(&path)?;
            return Ok(files::attempt(Op::Create, &path, || fs::write(&path, ""))?);
        }
        files::remove(&path)?;
        Ok(())
    }
}
