//! Machines with sessions, and a storage that may be out of reach.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use trommel_blocks::{
    Block, BlockStorage, Created, Error, ErrorKind, HybridBlockStorage, HybridOptions, Key,
    LocalBlockStorage, Result, Selection, Stored,
};
use trommel_session::{ListQuery, Sessions, Source, Watch};

pub(crate) const PROJECT: &str = "-home-ada-app";

pub(crate) fn watch() -> Watch<'static> {
    Watch::new()
}

/// A storage that several machines reach, unless it is cut off.
pub(crate) struct Net {
    inner: LocalBlockStorage,
    pub(crate) is_cut: AtomicBool,
    /// Questions that reached it.
    pub(crate) asked: AtomicU64,
    _home: TempDir,
}

impl Net {
    pub(crate) fn new() -> Arc<Self> {
        let home = tempfile::tempdir().unwrap();
        let inner = LocalBlockStorage::new(home.path());
        Arc::new(Self { inner, is_cut: AtomicBool::new(false), asked: AtomicU64::new(0), _home: home })
    }

    pub(crate) fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }

    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    fn pass(&self) -> Result<&LocalBlockStorage> {
        if self.is_cut.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Offline, "the net is cut; wait for it"));
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(&self.inner)
    }
}

impl BlockStorage for Net {
    fn name(&self) -> String {
        "the net".to_owned()
    }

    /// What swallows everything is known to be out of reach only after the time is over.
    fn reach(&self, patience: Duration) -> Result<()> {
        if self.is_cut.load(Ordering::SeqCst) {
            thread::sleep(patience);
        }
        self.pass()?.reach(patience)
    }

    fn create(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        self.pass()?.create(key, block, watch)
    }

    fn create_all(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<usize> {
        self.pass()?.create_all(key, blocks, watch)
    }

    fn read(
        &self,
        key: &Key,
        selection: &Selection,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.pass()?.read(key, selection, watch, take)
    }

    fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>> {
        self.pass()?.head(key, watch)
    }

    fn sessions(
        &self,
        user: &str,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.pass()?.sessions(user, watch, take)
    }
}

/// A machine of ada's.
pub(crate) struct Machine {
    home: TempDir,
    pub(crate) hybrid: HybridBlockStorage,
}

impl Machine {
    pub(crate) fn new(name: &str, net: &Arc<Net>) -> Self {
        Self::with(name, net, |_| {})
    }

    pub(crate) fn with(name: &str, net: &Arc<Net>, change: impl FnOnce(&mut HybridOptions)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (local, state) = (home.path().join("amplifier"), home.path().join("state"));
        let sessions = Sessions::new().at("2026-03-04T12:00[UTC]".parse().unwrap()).amplifier(&local);
        let storage: Arc<dyn BlockStorage> = Arc::<Net>::clone(net);
        let mut options = HybridOptions::new(sessions, (local, state), ("ada", name), storage);
        (options.freshness, options.rest) = (Duration::ZERO, Duration::ZERO);
        change(&mut options);
        Self { home, hybrid: HybridBlockStorage::new(options).unwrap() }
    }

    pub(crate) fn folder(&self, id: &str) -> PathBuf {
        self.home.path().join("amplifier/projects").join(PROJECT).join("sessions").join(id)
    }

    pub(crate) fn write(&self, id: &str, file: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.folder(id)).unwrap();
        fs::write(self.folder(id).join(file), text).unwrap();
    }

    pub(crate) fn append(&self, id: &str, file: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.folder(id)).unwrap();
        let path = self.folder(id).join(file);
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_ref()).unwrap();
    }

    /// A session of so many turns.
    pub(crate) fn turns(&self, id: &str, turns: u64) {
        let metadata = format!(
            "{{\n  \"session_id\": \"{id}\",\n  \"name\": \"The {id}\",\n  \"created\": \"2026-03-01T09:00:00Z\",\n  \"turn_count\": {turns}\n}}"
        );
        self.write(id, "metadata.json", metadata);
        self.write(id, "transcript.jsonl", (1..=turns).map(said).collect::<String>());
        self.write(id, "events.jsonl", (1..=turns).map(happened).collect::<String>());
    }

    pub(crate) fn files(&self, id: &str) -> [Option<Vec<u8>>; 3] {
        ["metadata.json", "transcript.jsonl", "events.jsonl"]
            .map(|file| fs::read(self.folder(id).join(file)).ok())
    }

    pub(crate) fn sync(&self, id: &str) {
        let report = self.hybrid.sync(Some(id), None, &watch()).unwrap();
        assert!(report.is_synced(), "{report:?}");
    }

    /// Ids and where they lie.
    pub(crate) fn listed(&self) -> Vec<(String, Source)> {
        let sessions = self.hybrid.view(&watch()).unwrap().sessions;
        let listed = sessions.list(&ListQuery::default(), &watch()).unwrap().sessions;
        let mut rows = listed.into_iter().map(|row| (row.session_id, row.source)).collect::<Vec<_>>();
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        rows
    }
}

/// Messages of a turn.
pub(crate) fn said(turn: u64) -> String {
    format!(
        "{{\"role\":\"user\",\"content\":\"question {turn}\",\"timestamp\":\"2026-03-01T09:{:02}:00Z\"}}\n{{\"role\":\"assistant\",\"content\":\"answer {turn}\"}}\n",
        turn % 60
    )
}

/// Events of a turn: a prompt, a request that is long, an answer, a call of a tool, and now and then an error.
pub(crate) fn happened(turn: u64) -> String {
    let ts = format!("2026-03-01T09:{:02}", turn % 60);
    let long = "all that was said, ".repeat(10 + 400 * usize::try_from(turn % 30).unwrap());
    let mut text = format!(
        r#"{{"ts":"{ts}:00Z","lvl":"INFO","event":"prompt:submit","data":{{"prompt":"question {turn}"}}}}
{{"ts":"{ts}:01Z","lvl":"INFO","event":"llm:request","data":{{"model":"m","messages":["{long}"]}}}}
{{"ts":"{ts}:02Z","lvl":"INFO","event":"llm:response","data":{{"model":"m","provider":"p","duration_ms":{turn}0,"usage":{{"input_tokens":{turn}00,"output_tokens":10}}}}}}
{{"ts":"{ts}:03Z","lvl":"INFO","event":"tool:pre","data":{{"tool_name":"grep","tool_call_id":"c{turn}","tool_input":{{"pattern":"x{turn}","depth":{turn}}}}}}}
"#
    );
    if turn.is_multiple_of(3) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{{\"ts\":\"{ts}:04Z\",\"lvl\":\"ERROR\",\"event\":\"tool:error\",\"data\":{{\"tool_name\":\"grep\",\"tool_call_id\":\"c{turn}\"}},\"error\":{{\"type\":\"timeout\",\"msg\":\"late\"}}}}"
        );
    }
    if turn.is_multiple_of(5) {
        text.push_str("no json at all\n\n");
    }
    text
}
