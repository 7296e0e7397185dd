//! An index with damaged bytes. Every command must terminate, must not delete the wrong outputs,
//! and must leave a valid index.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use trommel::Analysis;
use trommel_store::{DamageKind, GcOptions, Limits, Row, Store, StoreOptions};

use crate::support::{all, cases, named, put_as};

/// Maximum duration of a command, on a machine that is also doing other work.
const LIMIT: Duration = Duration::from_mins(1);

fn open(root: &Path) -> Store {
    Store::open(root, StoreOptions::default()).unwrap()
}

fn count_limit(count: u64) -> GcOptions {
    let mut limits = Limits::default();
    limits.count = Some(count);
    let mut options = GcOptions::default();
    options.limits = Some(limits);
    options
}

/// Deterministic pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)) % bound
    }
}

/// Visibility of damage in the times of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visibility {
    /// A program has written to the file.
    InTimes,
    /// The disk has changed the bytes but not the times.
    Nowhere,
}

/// Overwrites bytes of a file in place.
fn overwrite(path: &Path, at: u64, bytes: &[u8], shows: Visibility) {
    let file = File::options().write(true).open(path).unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    file.write_all_at(bytes, at).unwrap();
    if shows == Visibility::Nowhere {
        file.set_modified(modified).unwrap();
    }
}

/// A command that runs with a damaged index.
#[derive(Clone, Copy, Debug)]
enum Command {
    List,
    Put,
    Delete,
    Pin,
    Collect,
    CollectAll,
    Verify,
    Extract,
    Rebuild,
}

const COMMANDS: [Command; 9] = [
    Command::List,
    Command::Put,
    Command::Delete,
    Command::Pin,
    Command::Collect,
    Command::CollectAll,
    Command::Verify,
    Command::Extract,
    Command::Rebuild,
];

/// A store with known contents.
struct KnownStore {
    folder: TempDir,
    /// The rows, by ID.
    rows: BTreeMap<String, Row>,
    next: u64,
}

impl KnownStore {
    fn new(count: u64) -> Self {
        let mut known = Self { folder: tempfile::tempdir().unwrap(), rows: BTreeMap::new(), next: 0 };
        let store = open(&known.root());
        (0..count).for_each(|_| known.put(&store));
        known
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn put(&mut self, store: &Store) {
        let number = self.next;
        self.next += 1;
        let mut origin = named(&format!("out-{number}-{}", "abcdefgh".repeat(number as usize % 4)));
        origin.created_at = Some(1_000 + number as i64 / 2);
        origin.tool_name = format!("tool-{}", number % 3);
        origin.conversation_id = (!number.is_multiple_of(4)).then(|| format!("conv-{}", number % 5));
        put_as(store, origin, format!("[{number}]"));
        let ids = |rows: &[Row]| rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>();
        let rows = store.list(&all()).unwrap().rows;
        let new = ids(&rows).into_iter().find(|id| id.starts_with(&format!("out-{number}-"))).unwrap();
        let row = rows.into_iter().find(|row| row.id == new).unwrap();
        self.rows.insert(new, row);
    }

    /// The rows in the order of a list.
    fn expected(&self) -> Vec<Row> {
        let mut rows = self.rows.values().cloned().collect::<Vec<_>>();
        rows.sort_by(|a, b| b.created_at.cmp(&a.created_at).then(a.id.cmp(&b.id)));
        rows
    }

    /// The oldest output that is not pinned.
    fn oldest(&self) -> Option<String> {
        let unpinned = self.rows.values().filter(|row| !row.pinned);
        unpinned.min_by_key(|row| (row.created_at, row.id.clone())).map(|row| row.id.clone())
    }

    /// Runs a command as a separate process and checks its answer. After silent damage a list may
    /// lack rows until the index is rebuilt, because nothing indicates the missing ones. The rows
    /// it has must be correct.
    fn run(&mut self, command: Command, shows: Visibility, random: &mut Random) {
        let store = open(&self.root());
        let chosen = self.rows.keys().nth(random.below(self.rows.len() as u64) as usize).unwrap().clone();
        match command {
            Command::List => {}
            Command::Put => {
                let number = self.next;
                self.next += 1;
                let id = format!("out-{number}-new");
                put_as(&store, named(&id), "[]");
                store.delete(&id).unwrap();
            }
            Command::Delete => {
                store.pin(&chosen, false).unwrap();
                assert_eq!(store.delete(&chosen).unwrap(), chosen);
                self.rows.remove(&chosen);
            }
            Command::Pin => {
                let pinned = random.below(2) == 0;
                assert_eq!(store.pin(&chosen, pinned).unwrap().pinned, pinned);
                self.rows.get_mut(&chosen).unwrap().pinned = pinned;
            }
            Command::Collect => {
                let swept = store.gc(&count_limit(self.rows.len() as u64 + 2)).unwrap();
                assert_eq!(swept.evicted, []);
            }
            Command::CollectAll => {
                let oldest = self.oldest();
                let swept = store.gc(&count_limit(self.rows.len() as u64 - 1)).unwrap();
                let gone = swept.evicted.iter().map(|evicted| evicted.id.clone()).collect::<Vec<_>>();
                if shows == Visibility::InTimes {
                    assert_eq!(gone, oldest.iter().cloned().collect::<Vec<_>>());
                }
                assert!(gone.is_empty() || Some(&gone) == oldest.map(|id| vec![id]).as_ref(), "{gone:?}");
                self.rows.retain(|id, _| !gone.contains(id));
            }
            Command::Verify => {
                let verified =
                    store.verify(&mut |damage| assert_eq!(damage.kind, DamageKind::Index)).unwrap();
                assert_eq!(verified.outputs, self.rows.len() as u64);
                if verified.is_whole() {
                    assert_eq!(store.list(&all()).unwrap().rows, self.expected(), "the damage was not found");
                }
            }
            Command::Extract => {
                let mut document = store.document(&store.get(&chosen).unwrap()).unwrap();
                let report = Analysis::new().count("$[*]".parse().unwrap()).run(&mut document).unwrap();
                assert_eq!(report.answers[0].count(), Some(1));
            }
            Command::Rebuild => assert_eq!(store.rebuild().unwrap().outputs, self.rows.len() as u64),
        }
        drop(store);
        self.check(shows);
    }

    fn check(&self, shows: Visibility) {
        let store = open(&self.root());
        let page = store.list(&all()).unwrap();
        if shows == Visibility::Nowhere {
            let mut rows = self.expected();
            rows.retain(|row| page.rows.contains(row));
            assert_eq!(page.rows, rows);
            store.rebuild().unwrap();
        }
        let page = store.list(&all()).unwrap();
        assert_eq!(page.rows, self.expected());
        assert_eq!(page.total, self.rows.len() as u64);
        assert!(store.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
    }

    /// Damages a byte, a bit, several bytes, or a page of one of the files of the index.
    fn damage(&self, shows: Visibility, random: &mut Random) -> String {
        if shows == Visibility::InTimes && random.below(4) == 0 {
            restart(&self.root());
        }
        let log = self.root().join("index.sqlite-wal");
        let has_log = fs::metadata(&log).is_ok_and(|found| found.len() > 0);
        // A log has its own checksums. Silent damage to it undoes changes, which no command can
        // detect.
        let in_log = has_log && shows == Visibility::InTimes && random.below(3) == 0;
        let path = if in_log { log } else { self.root().join("index.sqlite") };
        let bytes = fs::read(&path).unwrap();
        let length = bytes.len() as u64;
        let at = random.below(length);
        let found = bytes[at as usize];
        let page = at - at % 4096;
        let (at, noise) = match random.below(8) {
            0..3 => (at, vec![found ^ (1 << random.below(8))]),
            3..5 => (at, vec![random.below(256) as u8]),
            5 => (at, (0..=random.below(40)).map(|_| random.below(256) as u8).collect()),
            6 => (page, vec![0; 4096]),
            _ => (page, (0..4096).map(|_| random.below(256) as u8).collect()),
        };
        let noise = &noise[..noise.len().min((length - at) as usize)];
        overwrite(&path, at, noise, shows);
        format!("{} bytes at {at} of {}", noise.len(), path.display())
    }
}

/// Makes the index look as if the system was rebooted since its comparison with the files.
fn restart(root: &Path) {
    let index = rusqlite::Connection::open(root.join("index.sqlite")).unwrap();
    index.execute("UPDATE fact SET value = 'another' WHERE name = 'boot'", []).unwrap();
}

/// Runs `work` on a thread and fails if it does not finish in time.
fn in_time(what: &str, work: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        work();
        let _ = sender.send(());
    });
    match receiver.recv_timeout(LIMIT) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what} did not end within {LIMIT:?}"),
        _ => thread.join().unwrap_or_else(|_| panic!("{what}")),
    }
}

/// R20: whichever bytes of the index are damaged, no command deletes the wrong output or runs
/// forever.
#[expect(clippy::print_stdout, reason = "the last case before a failure is the one that failed")]
fn r20_damages(shows: Visibility, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        in_time(&format!("seed {seed}, {shows:?}"), move || {
            let mut random = Random(seed);
            let count = 8 + random.below(43);
            let mut known = KnownStore::new(count);
            for _ in 0..20 {
                let store = open(&known.root());
                while (known.rows.len() as u64) < count {
                    known.put(&store);
                }
                drop(store);
                let command = COMMANDS[random.below(COMMANDS.len() as u64) as usize];
                let damage = known.damage(shows, &mut random);
                println!("seed {seed}: {command:?} after {damage}");
                known.run(command, shows, &mut random);
            }
        });
    }
}

#[test]
fn r20_damage_to_the_index_deletes_nothing() {
    r20_damages(Visibility::InTimes, 0..cases(10, 300));
}

#[test]
fn r20_silent_damage_to_the_index_deletes_nothing() {
    r20_damages(Visibility::Nowhere, 1_000..1_000 + cases(6, 200));
}

/// Eight outputs, and an index in which one ID is changed where outputs are looked up by ID.
fn with_a_damaged_id(shows: Visibility) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = open(&root);
    (0..8).for_each(|number| drop(put_as(&store, named(&format!("out-{number}")), format!("[{number}]"))));
    store.rebuild().unwrap();
    drop(store);
    damage_key(&root, "sqlite_autoindex_output_1", shows);
    folder
}

/// Changes `out-3` to `out}3` in the first page of an index of the database.
fn damage_key(root: &Path, index: &str, shows: Visibility) {
    let path = root.join("index.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    let page: u64 = connection
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [index], |row| row.get::<_, i64>(0))
        .unwrap() as u64;
    // SQLite would checkpoint the log and remove it.
    std::mem::forget(connection);
    let bytes = fs::read(&path).unwrap();
    let start = (page as usize - 1) * 4096;
    let found = bytes[start..start + 4096].windows(5).position(|bytes| bytes == b"out-3").unwrap();
    overwrite(&path, (start + found + 3) as u64, b"}", shows);
}

/// Paging through IDs that are out of order would never end.
#[test]
fn verify_terminates_with_unordered_ids() {
    for shows in [Visibility::InTimes, Visibility::Nowhere] {
        let folder = with_a_damaged_id(shows);
        let root = folder.path().join("store");
        in_time("verify", move || {
            let mut damages = Vec::new();
            let verified = open(&root).verify(&mut |damage| damages.push(damage.clone())).unwrap();
            assert_eq!(verified.outputs, 8);
            assert!(!damages.is_empty() && damages.iter().all(|damage| damage.kind == DamageKind::Index));
            assert!(damages[0].message.contains("rebuild the index"), "{damages:?}");
            open(&root).rebuild().unwrap();
            assert!(open(&root).verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
        });
    }
}

/// The totals of the index are not trusted after a reboot: no output is evicted while no limit is
/// reached.
#[test]
fn gc_after_a_reboot_trusts_descriptions() {
    for (limit, evicted) in [(10, 0), (8, 0), (7, 1)] {
        let folder = with_a_damaged_id(Visibility::InTimes);
        let root = folder.path().join("store");
        restart(&root);
        assert_eq!(open(&root).list(&all()).unwrap().total, 8);
        let swept = open(&root).gc(&count_limit(limit)).unwrap();
        assert_eq!((swept.evicted.len() as u64, swept.left_count), (evicted, 8 - evicted));
        assert_eq!(open(&root).list(&all()).unwrap().total, 8 - evicted);
    }
}

/// The same if only the total is wrong and nothing else reveals it.
#[test]
fn gc_does_not_trust_totals() {
    let home = crate::support::Home::new();
    (0..8).for_each(|number| drop(put_as(&home, named(&format!("out-{number}")), "[1]")));
    home.rebuild().unwrap();
    let path = home.root().join("index.sqlite");
    let times = [&path, &path.with_extension("sqlite-wal")]
        .map(|path| fs::metadata(path).unwrap().modified().unwrap());
    let index = rusqlite::Connection::open(&path).unwrap();
    index.execute("UPDATE total SET count = 40, disk = 4000", []).unwrap();
    index.pragma_update_and_check(None, "wal_checkpoint", "truncate", |_| Ok(())).unwrap();
    drop(index);
    for (path, time) in [&path, &path.with_extension("sqlite-wal")].iter().zip(times) {
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }
    let again = home.again();
    assert_eq!(again.gc(&count_limit(10)).unwrap().evicted, []);
    assert_eq!(again.list(&all()).unwrap().total, 8);
}

/// Each index of the database is inspected and rebuilt, whether or not the damage is visible in its
/// times.
#[test]
fn verify_finds_damage_in_every_index() {
    let indexes = [
        "by_created_desc",
        "by_created_asc",
        "by_size_desc",
        "by_size_asc",
        "by_tool_desc",
        "by_tool_asc",
        "by_conversation",
        "sqlite_autoindex_output_1",
    ];
    let home = crate::support::Home::new();
    (0..8).for_each(|number| drop(put_as(&home, named(&format!("out-{number}")), "[1]")));
    for index in indexes {
        home.rebuild().unwrap();
        damage_key(home.root(), index, Visibility::Nowhere);
        let again = home.again();
        let verified = again.verify(&mut |damage| assert_eq!(damage.kind, DamageKind::Index)).unwrap();
        assert!(!verified.is_whole(), "{index}");
        again.rebuild().unwrap();
        assert!(again.verify(&mut |damage| panic!("{index}: {damage:?}")).unwrap().is_whole());
        assert_eq!(again.list(&all()).unwrap().total, 8);
    }
}

/// A row with a wrong checksum is never listed. The index is rebuilt, and the list is correct.
#[test]
fn rows_are_checked_as_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = open(&root);
    let mut origin = named("output-1");
    origin.message_id = Some("MESSAGE".into());
    put_as(&store, origin, "\"TEXT\"");
    let page = store.list(&all()).unwrap();
    store.rebuild().unwrap();
    drop(store);
    for text in ["MESSAGE", "TEXT"] {
        let path = root.join("index.sqlite");
        let bytes = fs::read(&path).unwrap();
        let Some(at) = bytes.windows(text.len()).position(|bytes| bytes == text.as_bytes()) else { continue };
        overwrite(&path, at as u64, b"X", Visibility::Nowhere);
        assert_eq!(open(&root).list(&all()).unwrap(), page, "{text}");
    }
}

/// An index whose last writer crashed is compared with the files.
#[test]
fn restores_changes_lost_with_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = open(&root);
    put_as(&store, named("output-1"), "[1]");
    store.rebuild().unwrap();
    put_as(&store, named("output-2"), "[2]");
    store.delete("output-1").unwrap();
    let page = store.list(&all()).unwrap();
    drop(store);
    File::options().write(true).open(root.join("index.sqlite-wal")).unwrap().set_len(0).unwrap();
    let again = open(&root);
    assert_eq!(again.list(&all()).unwrap(), page);
    assert!(again.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
}
