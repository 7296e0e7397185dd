//! Sessions of this machine and of a storage in one view, and made the same on both.

mod bodies;
mod change;
mod exchange;
mod link;
mod mirror;
mod places;
mod policy;
mod status;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use trommel_session::{ListQuery, Listing, Scope, SearchQuery, Session, Sessions, Source, Watch};

use crate::error::{Error, ErrorKind, Result};
use crate::folder::Folder;
use crate::journal::Journal;
use crate::storage::{BlockStorage, Key, PayloadStorage};
use crate::sync::{Settlement, Side};
use link::{Asked, Link};
use mirror::Mirror;
use places::Places;

pub use change::Changeable;
pub use exchange::{Outcome, SessionOutcome, SyncReport};
pub use policy::{Filter, Policy};

/// How sessions of a machine and of a storage are brought together.
#[derive(Clone)]
#[non_exhaustive]
pub struct HybridOptions {
    /// Sessions of this machine, of whatever programs.
    pub sessions: Sessions,
    /// The folder of Amplifier, which is one of theirs: its sessions are those that are made the same.
    pub local: PathBuf,
    /// A folder for what is known of the storage: mirrors of its sessions, and journals of what is the same.
    pub state: PathBuf,
    /// Whose sessions.
    pub user: String,
    /// What this machine is called, which no other one is.
    pub device: String,
    /// Where blocks are kept.
    pub storage: Arc<dyn BlockStorage>,
    /// Where what is too large for a block is kept.
    pub payloads: Option<Arc<dyn PayloadStorage>>,
    /// Which sessions are sent.
    pub policy: Policy,
    /// How conflicts are settled where nothing else is said.
    pub settlement: Settlement,
    /// Whether a change that was made through here is sent at once.
    pub auto_sync: bool,
    /// How long it is tried to reach the storage before an answer does without it.
    pub connect_timeout: Duration,
    /// How long a storage that was reached may be silent: until the first session of its list, or its end.
    pub first_answer_timeout: Duration,
    /// How long it is waited for all of the list.
    pub answer_timeout: Duration,
    /// How long that list counts as new.
    pub freshness: Duration,
    /// How long a last line without an end is left alone: it may still be being written.
    pub rest: Duration,
}

impl HybridOptions {
    /// All that has to be said; the rest as is usual.
    pub fn new(
        sessions: Sessions,
        (local, state): (impl Into<PathBuf>, impl Into<PathBuf>),
        (user, device): (&str, &str),
        storage: Arc<dyn BlockStorage>,
    ) -> Self {
        Self {
            sessions,
            local: local.into(),
            state: state.into(),
            user: user.to_owned(),
            device: device.to_owned(),
            storage,
            payloads: None,
            policy: Policy::All,
            settlement: Settlement::Manual,
            auto_sync: false,
            connect_timeout: Duration::from_millis(150),
            first_answer_timeout: Duration::from_millis(1_500),
            answer_timeout: Duration::from_secs(5),
            freshness: Duration::from_secs(10),
            rest: Duration::from_secs(10),
        }
    }
}

impl HybridOptions {
    /// A session in a folder, and what the storage has of it.
    fn side<'s, 'w>(
        &'s self,
        (project, key): (&'s str, &'s Key),
        folder: Folder,
        journal: Journal,
        watch: &'s Watch<'w>,
    ) -> Side<'s, 'w> {
        let (storage, payloads) = (&*self.storage, self.payloads());
        let (device, rest) = (self.device.as_str(), self.rest);
        Side { storage, payloads, key, folder, journal, device, project, rest, watch }
    }

    fn payloads(&self) -> Option<&dyn PayloadStorage> {
        self.payloads.as_deref().map(|payloads| payloads as _)
    }
}

/// Sessions of this machine and of a storage.
///
/// What lies here is answered from here, without asking anybody. What lies in the storage only is answered from a mirror: descriptions,
/// transcripts, and of events what [`Outliner`](trommel_session::Outliner) keeps, brought up to date before it is asked; bodies of
/// events are fetched by the page. Where the storage cannot be reached, the answer is what was known last, and says so.
///
/// ```
/// use std::sync::Arc;
/// use trommel_blocks::{HybridBlockStorage, HybridOptions, LocalBlockStorage};
/// use trommel_session::{ListQuery, Sessions, Source, Watch};
///
/// # let home = tempfile::tempdir()?;
/// # let (local, shared) = (home.path().join(".amplifier"), home.path().join("shared"));
/// LocalBlockStorage::make(&shared)?;
/// let folder = local.join("projects/-home-u-app/sessions/5d1c");
/// std::fs::create_dir_all(&folder)?;
/// std::fs::write(folder.join("transcript.jsonl"), "{\"role\": \"user\", \"content\": \"Hello\"}\n")?;
/// let open = |local: &std::path::Path, device: &str| {
///     let sessions = Sessions::new().amplifier(local);
///     let places = (local, home.path().join(device));
///     let storage = Arc::new(LocalBlockStorage::new(&shared));
///     HybridBlockStorage::new(HybridOptions::new(sessions, places, ("ada", device), storage))
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
pub struct HybridBlockStorage {
    options: HybridOptions,
    places: Places,
    asked: Asked,
}

/// Sessions to ask, and what should be told beside the answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct View {
    /// The sessions of both sides.
    pub sessions: Sessions,
    /// What kept this from being all, or new.
    pub problems: Vec<String>,
}

impl HybridBlockStorage {
    /// Brings a machine and a storage together. Nothing is asked yet.
    ///
    /// An error for a user whose name cannot be one.
    pub fn new(options: HybridOptions) -> Result<Self> {
        Key::new(&options.user, "any")?;
        let places = Places::new(&options);
        Ok(Self { options, places, asked: Asked::default() })
    }

    /// What the storage is called: its kind and its place.
    pub fn name(&self) -> String {
        self.options.storage.name()
    }

    /// Makes the storage's folder, where it is one: see [`BlockStorage::make_place`].
    pub fn make_place(&self) -> Result<()> {
        self.forget_list();
        self.options.storage.make_place()
    }

    /// Sessions of both sides as they were known last. Nothing is asked.
    pub fn known(&self) -> Sessions {
        self.both(&self.known_link())
    }

    /// Sessions of both sides, as they are listed: of those that lie in the storage only there is the description.
    pub fn view(&self, watch: &Watch<'_>) -> Result<View> {
        let link = self.refresh(watch)?;
        Ok(View { sessions: self.both(&link), problems: link.said() })
    }

    /// The list of sessions of both sides, and what should be told beside it. While the storage is asked, what is known is listed, so that
    /// out of its reach the answer is there when it is given up.
    pub fn list(&self, query: &ListQuery, watch: &Watch<'_>) -> Result<(Listing, Vec<String>)> {
        if !query.include_cloud {
            return Ok((self.known().list(query, watch)?, Vec::new()));
        }
        let (known, link) = thread::scope(|scope| {
            let known = self.is_to_be_asked().then(|| scope.spawn(|| self.known().list(query, watch)));
            let link = self.refresh(watch);
            (known.and_then(|known| known.join().ok()), link)
        });
        let link = link?;
        let mut listing = match known {
            Some(known) if !link.is_connected() => known?,
            _ => self.both(&link).list(query, watch)?,
        };
        listing.connected = link.is_connected();
        Ok((listing, link.said()))
    }

    /// Sessions of both sides for a search: the mirrors of those that are searched are brought up to date.
    pub fn searchable(&self, query: &SearchQuery, watch: &Watch<'_>) -> Result<View> {
        if !query.include_cloud {
            return Ok(View { sessions: self.known(), problems: Vec::new() });
        }
        let link = self.refresh(watch)?;
        let mut view = View { sessions: self.both(&link), problems: link.said() };
        if link.is_connected() && query.scope != Scope::Metadata {
            let problems = self.mirror().fill_all(&view.sessions, query, watch)?;
            view.problems.extend(problems);
        }
        Ok(view)
    }

    /// The same for a question about a session and all that it spawned. Nothing is asked where all that is known of lies here.
    pub fn family(&self, session: &Session, watch: &Watch<'_>) -> Result<View> {
        if session.source() != Source::Cloud {
            let known = self.known();
            if !mirror::is_any_in_cloud(&known, session, watch)? {
                return Ok(View { sessions: known, problems: Vec::new() });
            }
        }
        let link = self.refresh(watch)?;
        let mut view = View { sessions: self.both(&link), problems: link.said() };
        if link.is_connected() {
            let problems = self.mirror().fill_family(&view.sessions, session, watch)?;
            view.problems.extend(problems);
        }
        Ok(view)
    }

    /// One session of either side, by its id or how it begins, and those that it lies among. One that lies here is found without asking
    /// the storage, unless another one that is known of begins the same way; the mirror of one in the storage is brought up to date.
    pub fn find(&self, id: &str, watch: &Watch<'_>) -> Result<(View, Session)> {
        let here = self.known();
        match here.find(id) {
            Ok(session) if session.source() != Source::Cloud => {
                return Ok((View { sessions: here, problems: Vec::new() }, session));
            }
            Err(error) if error.class() == trommel_session::ErrorClass::Ambiguous => return Err(error.into()),
            _ => {}
        }
        let link = self.refresh(watch)?;
        let view = View { sessions: self.both(&link), problems: link.said() };
        let session = view.sessions.find(id).map_err(|error| link.not_found(error))?;
        if session.source() != Source::Cloud {
            return Ok((view, session));
        }
        match &link.problem {
            None => self.mirror().fill(&session, watch)?,
            Some(problem) if !self.mirror().is_filled(&session) => {
                let message = format!("session {} lies in the cloud only: {problem}", session.id());
                return Err(Error::new(ErrorKind::Offline, message));
            }
            Some(_) => {}
        }
        Ok((view, session))
    }

    fn both(&self, link: &Link) -> Sessions {
        self.options.sessions.clone().cloud(self.places.mirror(), link.is_connected())
    }

    fn mirror(&self) -> Mirror<'_> {
        Mirror { options: &self.options, places: &self.places }
    }

    fn key(&self, session: &str) -> Result<Key> {
        Key::new(&self.options.user, session)
    }
}
