//! Sessions of this machine and of a storage in one view, and made the same on both.

mod bodies;
mod change;
mod exchange;
mod mirror;
mod places;
mod policy;
mod status;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use trommel_session::{Scope, SearchQuery, Session, Sessions, Source, Watch};

use crate::error::{Error, ErrorKind, Result};
use crate::folder::Folder;
use crate::journal::Journal;
use crate::storage::{BlockStorage, Key, PayloadStorage};
use crate::sync::{Settlement, Side};
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
    /// How long the list of what is stored counts as new.
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
    /// What was found when the storage was asked last, and when that was.
    link: Mutex<Option<(Instant, Link)>>,
}

/// Whether the storage could be reached, and if not, why.
#[derive(Clone, Debug)]
struct Link {
    problem: Option<Arc<Error>>,
}

impl Link {
    fn is_connected(&self) -> bool {
        self.problem.is_none()
    }

    /// No such session is another thing where half of the sessions are out of reach.
    fn not_found(&self, error: trommel_session::Error) -> Error {
        match &self.problem {
            Some(problem) if error.kind() == trommel_session::ErrorKind::NotFound => Error::new(
                ErrorKind::NotFound,
                format!("{error}. In the cloud it could not be looked for: {problem}"),
            ),
            _ => error.into(),
        }
    }

    fn said(&self) -> Vec<String> {
        self.problem
            .iter()
            .map(|problem| format!("what lies in the cloud is as it was known last: {problem}"))
            .collect()
    }
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
        Ok(Self { options, places, link: Mutex::new(None) })
    }

    /// What the storage is called: its kind and its place.
    pub fn name(&self) -> String {
        self.options.storage.name()
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

    /// The same for a question about a session and all that it spawned.
    pub fn family(&self, session: &Session, watch: &Watch<'_>) -> Result<View> {
        let link = self.refresh(watch)?;
        let mut view = View { sessions: self.both(&link), problems: link.said() };
        if link.is_connected() {
            let problems = self.mirror().fill_family(&view.sessions, session, watch)?;
            view.problems.extend(problems);
        }
        Ok(view)
    }

    /// One session of either side, by its id or how it begins, and those that it lies among. One that lies here by just this id is found
    /// without asking the storage; the mirror of one that does not is brought up to date.
    pub fn find(&self, id: &str, watch: &Watch<'_>) -> Result<(View, Session)> {
        let here = self.known();
        if let Ok(session) = here.find(id)
            && session.source() != Source::Cloud
            && id.rsplit('/').next() == Some(session.id())
        {
            return Ok((View { sessions: here, problems: Vec::new() }, session));
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

    /// What was found last; when nothing was asked yet, that the storage is out of reach.
    fn known_link(&self) -> Link {
        let known = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        let unasked = || {
            let problem = Error::new(ErrorKind::Offline, "it was not asked");
            Link { problem: Some(Arc::new(problem)) }
        };
        known.as_ref().map_or_else(unasked, |(_, link)| link.clone())
    }

    /// Brings the list of what is stored up to date, unless that was done a moment ago.
    fn refresh(&self, watch: &Watch<'_>) -> Result<Link> {
        // Whoever asks meanwhile waits for the same answer.
        let mut known = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, link)) = &*known
            && when.elapsed() < self.options.freshness
        {
            return Ok(link.clone());
        }
        let asked =
            self.options.storage.reach(self.options.connect_timeout).and_then(|()| self.mirror().list(watch));
        let problem = match asked {
            Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
            asked => asked.err().map(Arc::new),
        };
        let link = Link { problem };
        *known = Some((Instant::now(), link.clone()));
        Ok(link)
    }

    /// The list of what is stored is not what it was.
    fn forget_list(&self) {
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn key(&self, session: &str) -> Result<Key> {
        Key::new(&self.options.user, session)
    }
}
