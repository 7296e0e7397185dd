//! Processes that are killed while they store.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use trommel_store::{Limits, Origin, Page, Store, StoreOptions};

use crate::support::{age, all, bytes_of, cases, child, childs_root, files, options};

/// The payload of the n-th output of a child: short, long, compressible, or with a guide.
fn payload(number: u64) -> Vec<u8> {
    let records = |count| format!("[{}{number}]", "{\"a\": [1, 2, 3]},\n".repeat(count)).into_bytes();
    match number % 4 {
        0 => vec![b' '; 700_000],
        1 => records(30_000),
        2 => records(8_000),
        _ => format!("{{\"number\": {number}, \"text\": \"{}\"}}", "ü".repeat(number as usize % 5000))
            .into_bytes(),
    }
}

fn opened(root: &Path) -> Store {
    Store::open(root, options(|options| options.pack_over = Some(400_000))).unwrap()
}

/// Stores, pins, deletes, and evicts until it is killed. Prints each operation once it has
/// completed.
#[test]
fn childs_work() {
    let Some(root) = childs_root() else { return };
    let store = opened(&root);
    let mut limits = Limits::default();
    limits.count = Some(40);
    let mut sweep = trommel_store::GcOptions::default();
    sweep.limits = Some(limits);
    let mut out = std::io::stdout();
    // The test harness prints the name of the test first, without a line break.
    writeln!(out).unwrap();
    for number in 0.. {
        let mut origin = Origin::of("tool");
        origin.parameters = number.into();
        let mut put = store.put(origin).unwrap();
        payload(number).chunks(50_000).for_each(|chunk| put.write_all(chunk).unwrap());
        let stored = put.finish().unwrap();
        writeln!(out, "stored {} {number}", stored.id).unwrap();
        if number % 5 == 1 {
            writeln!(out, "going {}", stored.id).unwrap();
            store.delete(&stored.id).unwrap();
            writeln!(out, "gone {}", stored.id).unwrap();
        } else if number % 5 == 2 {
            store.pin(&stored.id, true).unwrap();
            store.pin(&stored.id, false).unwrap();
        } else if number % 10 == 9 {
            writeln!(out, "evicting").unwrap();
            store.gc(&sweep).unwrap();
        }
    }
}

/// The output of a child before it was killed.
#[derive(Debug, Default)]
struct ChildReport {
    /// Numbers of outputs by id.
    stored: BTreeMap<String, u64>,
    /// Outputs whose deletion was started, and outputs that were deleted.
    going: Vec<String>,
    gone: Vec<String>,
    evicting: bool,
}

impl ChildReport {
    fn hear(&mut self, line: &str) {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["stored", id, number] => {
                self.stored.insert((*id).into(), number.parse().unwrap());
            }
            ["going", id] => self.going.push((*id).into()),
            ["gone", id] => self.gone.push((*id).into()),
            ["evicting"] => self.evicting = true,
            _ => {}
        }
    }
}

fn start(root: &Path) -> (Child, thread::JoinHandle<ChildReport>) {
    let mut child =
        child("kills::childs_work", root).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    let reader = thread::spawn(move || {
        let mut reported = ChildReport::default();
        // An incomplete last line does not count.
        let mut lines = lines;
        let mut line = String::new();
        while lines.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
            reported.hear(line.trim_end());
            line.clear();
        }
        reported
    });
    (child, reader)
}

/// Deterministic pseudo-random numbers.
fn pause(round: u64) -> Duration {
    let spread = round.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    Duration::from_micros(15_000 + spread % 90_000)
}

/// A store whose processes are killed, and its expected contents.
struct Victim<'a> {
    root: &'a Path,
    /// Numbers of the outputs that must exist, by ID. Unknown once outputs were evicted.
    stored: BTreeMap<String, u64>,
    evicted: bool,
    /// Number of payloads that were read.
    read: BTreeSet<String>,
}

impl Victim<'_> {
    /// Kills a process and checks the state of the store.
    fn kill(&mut self, round: u64) {
        let (mut child, reader) = start(self.root);
        thread::sleep(pause(round));
        child.kill().unwrap();
        child.wait().unwrap();
        let reported = reader.join().unwrap();
        self.evicted |= reported.evicting;
        let store = opened(self.root);
        // An output may be gone once its deletion was started, and must be gone once it was
        // completed.
        for id in &reported.gone {
            assert!(store.get(id).is_err(), "round {round}: {id} was deleted");
        }
        self.stored.extend(reported.stored);
        self.stored.retain(|id, _| !reported.going.contains(id));
        let page = store.list(&all()).unwrap();
        for row in &page.rows {
            assert!(!row.corrupted, "round {round}: {row:?}");
            let found = store.get(&row.id).unwrap();
            let number = found.parameters.as_u64().unwrap();
            assert!(
                self.stored.get(&row.id).is_none_or(|stored| *stored == number),
                "round {round}: {row:?}"
            );
            if self.read.insert(row.id.clone()) {
                assert!(bytes_of(&store, &found) == payload(number), "round {round}: {} is torn", row.id);
            }
        }
        if !self.evicted {
            let listed = page.rows.iter().map(|row| &row.id).collect::<BTreeSet<_>>();
            let lost = self.stored.keys().find(|id| !listed.contains(id));
            assert_eq!(lost, None, "round {round}: an output is lost");
        }
        let rebuilt = store.rebuild().unwrap();
        assert_eq!((rebuilt.outputs, rebuilt.corrupted), (page.total, 0), "round {round}");
        assert_eq!(store.list(&all()).unwrap(), page, "round {round}: the index differed from the files");
        if self.evicted {
            self.restart(&store, &page);
        }
    }

    /// Deletes all outputs, so that the expected contents are known.
    fn restart(&mut self, store: &Store, page: &Page) {
        for row in &page.rows {
            // The process that locked it may have been killed only now.
            store.pin(&row.id, false).unwrap();
            store.delete(&row.id).unwrap();
        }
        self.stored.clear();
        self.evicted = false;
    }

    /// Ages all files, so that exactly the leftovers of killed processes are removed. Returns their
    /// number.
    fn sweep(&self) -> usize {
        let files = || {
            files(self.root)
                .into_iter()
                .filter(|path| path.starts_with("payload") || path.starts_with("pending"))
        };
        for path in files() {
            age(&self.root.join(path), 1.2);
        }
        let left = files().count();
        let store = Store::open(self.root, StoreOptions::default()).unwrap();
        let outputs = store.list(&all()).unwrap().rows;
        store.gc(&trommel_store::GcOptions::default()).unwrap();
        let guides = outputs.iter().filter(|row| store.get(&row.id).unwrap().guide.is_some()).count();
        let kept = 2 * outputs.len() + guides;
        assert_eq!(files().count(), kept);
        assert!(store.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
        left - kept
    }
}

/// Kills `kills` processes. Returns the number of files they left.
fn kill(rounds: Range<u64>) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    drop(opened(&root));
    let mut victim = Victim { root: &root, stored: BTreeMap::new(), evicted: false, read: BTreeSet::new() };
    for round in rounds {
        victim.kill(round);
    }
    victim.sweep()
}

/// R15: processes are killed while they store, delete, and evict. No visible output is incomplete,
/// no row lacks its payload, no acknowledged output is lost, and leftovers are removed.
#[test]
fn r15_kill_9_loses_nothing() {
    let kills = cases(100, 1_000);
    // Two at a time, because each waits for the disk most of the time.
    let left = thread::scope(|scope| {
        let halves = [0..kills / 2, kills / 2..kills].map(|rounds| scope.spawn(move || kill(rounds)));
        halves.map(|half| half.join().unwrap())
    });
    println!(
        "{kills} kills: 0 torn, 0 lost, 0 rows without a payload; {} files left and removed",
        left.iter().sum::<usize>()
    );
}
