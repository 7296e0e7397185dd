//! Machines that have sessions, with Cosmos DB between them.

use std::fs;
#[cfg(feature = "cosmos-emulator")]
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use trommel_blocks::cosmos::CosmosBlockStorage;
#[cfg(feature = "cosmos-emulator")]
use trommel_blocks::{Block, Created, Key, Result, Selection, Stored};
use trommel_blocks::{BlockStorage, HybridBlockStorage, HybridOptions};
use trommel_session::{ListQuery, SearchQuery, Sessions, Watch};

/// A storage that is in reach without a port to knock at: the emulator in this process.
#[cfg(feature = "cosmos-emulator")]
pub(crate) struct Inside(pub(crate) CosmosBlockStorage);

#[cfg(feature = "cosmos-emulator")]
impl BlockStorage for Inside {
    fn name(&self) -> String {
        self.0.name()
    }

    fn reach(&self, _: Duration) -> Result<()> {
        Ok(())
    }

    fn create(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        self.0.create(key, block, watch)
    }

    fn create_all(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<usize> {
        self.0.create_all(key, blocks, watch)
    }

    fn read(
        &self,
        key: &Key,
        selection: &Selection,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.0.read(key, selection, watch, take)
    }

    fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>> {
        self.0.head(key, watch)
    }

    fn sessions(
        &self,
        user: &str,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.0.sessions(user, watch, take)
    }
}

/// A machine of ada's.
pub(crate) struct Machine {
    home: TempDir,
    pub(crate) hybrid: HybridBlockStorage,
}

impl Machine {
    pub(crate) fn new(name: &str, storage: Arc<dyn BlockStorage>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (local, state) = (home.path().join("amplifier"), home.path().join("state"));
        let sessions = Sessions::new().amplifier(&local);
        let mut options = HybridOptions::new(sessions, (local, state), ("ada", name), storage);
        (options.freshness, options.rest) = (Duration::ZERO, Duration::ZERO);
        Self { home, hybrid: HybridBlockStorage::new(options).unwrap() }
    }

    fn folder(&self, id: &str) -> PathBuf {
        self.home.path().join("amplifier/projects/-app/sessions").join(id)
    }

    pub(crate) fn write(&self, id: &str, file: &str, text: &str) {
        fs::create_dir_all(self.folder(id)).unwrap();
        fs::write(self.folder(id).join(file), text).unwrap();
    }

    #[cfg(feature = "cosmos-emulator")]
    pub(crate) fn files(&self, id: &str) -> [Option<Vec<u8>>; 3] {
        ["metadata.json", "transcript.jsonl", "events.jsonl"]
            .map(|file| fs::read(self.folder(id).join(file)).ok())
    }

    /// Syncs until it is done; whatever failed is tried again.
    #[cfg(feature = "cosmos-emulator")]
    pub(crate) fn sync(&self, id: &str) {
        let mut last = String::new();
        for _ in 0..12 {
            match self.hybrid.sync(Some(id), None, &Watch::new()) {
                Ok(report) if report.is_synced() => return,
                other => last = format!("{other:?}"),
            }
        }
        panic!("it does not go on: {last}");
    }
}

/// R37: where nothing answers, lists and searches of what is here take no longer than a connection is tried.
#[test]
fn r37_a_port_that_swallows_everything_keeps_nothing_back() {
    use std::net::{TcpListener, TcpStream};
    use std::time::Instant;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Nobody accepts: once its queue is full, whoever connects hears nothing.
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
        waiting.push(stream);
    }
    let storage = CosmosBlockStorage::new(crate::support::options(&format!("http://{address}/"))).unwrap();
    let machine = Machine::new("one", Arc::new(storage));
    for at in 0..50 {
        machine.write(
            &format!("s{at}"),
            "transcript.jsonl",
            "{\"role\":\"user\",\"content\":\"question\"}\n",
        );
    }
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let since = Instant::now();
        let view = machine.hybrid.view(&Watch::new()).unwrap();
        let listed = view.sessions.list(&ListQuery::default(), &Watch::new()).unwrap();
        let listing = since.elapsed();
        assert_eq!((listed.total, listed.connected, view.problems.len()), (50, false, 1));
        let (since, query) = (Instant::now(), SearchQuery::new("question"));
        let view = machine.hybrid.searchable(&query, &Watch::new()).unwrap();
        let found = view.sessions.search(&query, &Watch::new()).unwrap();
        assert_eq!((found.total_count, found.connected), (50, Some(false)));
        least = least.min(listing.max(since.elapsed()));
    }
    assert!(least < Duration::from_millis(200), "{least:?}");
}
