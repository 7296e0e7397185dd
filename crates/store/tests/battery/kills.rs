//! Processes that are ended while they store.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use trommel_store::{Limits, Origin, Page, Store, StoreOptions};

use crate::support::{age, all, bytes_of, cases, child, childs_root, files, options};

/// What a child stores as its n-th output: short ones, long ones, and packed ones.
fn payload(number: u64) -> Vec<u8> {
    match number % 4 {
        0 => vec![b' '; 700_000],
        1 => format!("[{}{number}]", "{\"a\": [1, 2, 3]},\n".repeat(30_000)).into_bytes(),
        _ => format!("{{\"number\": {number}, \"text\": \"{}\"}}", "ü".repeat(number as usize % 5000))
            .into_bytes(),
    }
}

fn opened(root: &Path) -> Store {
    Store::open(root, options(|options| options.pack_over = Some(400_000))).unwrap()
}

/// Stores, pins, deletes and evicts until it is killed, and says what is done once it is done.
#[test]
fn childs_work() {
    let Some(root) = childs_root() else { return };
    let store = opened(&root);
    let mut limits = Limits::default();
    limits.count = Some(40);
    let mut sweep = trommel_store::GcOptions::default();
    sweep.limits = Some(limits);
    let mut out = std::io::stdout();
    // The name of the test stands before it.
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

/// What a child has said before it was killed.
#[derive(Debug, Default)]
struct Said {
    /// Numbers of outputs by id.
    stored: BTreeMap<String, u64>,
    /// Outputs that may be gone, and outputs that are.
    going: Vec<String>,
    gone: Vec<String>,
    evicting: bool,
}

impl Said {
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

fn start(root: &Path) -> (Child, thread::JoinHandle<Said>) {
    let mut child =
        child("kills::childs_work", root).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    let reader = thread::spawn(move || {
        let mut said = Said::default();
        // A last line without an end was not said to its end.
        let mut lines = lines;
        let mut line = String::new();
        while lines.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
            said.hear(line.trim_end());
            line.clear();
        }
        said
    });
    (child, reader)
}

/// Numbers that look random and are the same each time.
fn pause(round: u64) -> Duration {
    let spread = round.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    Duration::from_micros(15_000 + spread % 90_000)
}

/// A store whose processes are killed, and what must be in it.
struct Victim<'a> {
    root: &'a Path,
    /// Numbers of outputs that must be there, by id; nothing is known once outputs were evicted.
    stored: BTreeMap<String, u64>,
    evicted: bool,
    /// Outputs whose payloads were read.
    read: BTreeSet<String>,
}

impl Victim<'_> {
    /// Kills a process, and looks at what it has left.
    fn kill(&mut self, round: u64) {
        let (mut child, reader) = start(self.root);
        thread::sleep(pause(round));
        child.kill().unwrap();
        child.wait().unwrap();
        let said = reader.join().unwrap();
        self.evicted |= said.evicting;
        let store = opened(self.root);
        // An output may be gone once that was begun, and is gone once that was done.
        for id in &said.gone {
            assert!(store.get(id).is_err(), "round {round}: {id} was deleted");
        }
        self.stored.extend(said.stored);
        self.stored.retain(|id, _| !said.going.contains(id));
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
        assert_eq!(
            store.list(&all()).unwrap(),
            page,
            "round {round}: the index did not say what the files say"
        );
        if self.evicted {
            self.begin_anew(&store, &page);
        }
    }

    /// Takes all outputs away, so that it is known what must be there.
    fn begin_anew(&mut self, store: &Store, page: &Page) {
        for row in &page.rows {
            // Its process may have ended before it was let go.
            store.pin(&row.id, false).unwrap();
            store.delete(&row.id).unwrap();
        }
        self.stored.clear();
        self.evicted = false;
    }

    /// Ages all files, so that what the killed have left is swept out, and nothing else is; how
    /// many files that were.
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
        let outputs = store.list(&all()).unwrap().total as usize;
        store.gc(&trommel_store::GcOptions::default()).unwrap();
        assert_eq!(files().count(), 2 * outputs);
        assert!(store.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
        left - 2 * outputs
    }
}

/// Kills so many processes; how many files they have left.
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

/// R15: processes are killed while they store, delete and evict. Nothing that is seen is torn,
/// nothing is listed without its payload, nothing that was said to be stored is lost, and what they
/// have left is swept out.
#[test]
fn r15_kill_9_loses_nothing() {
    let kills = cases(100, 1_000);
    // Two at a time, as each waits for the disk more than not.
    let left = thread::scope(|scope| {
        let halves = [0..kills / 2, kills / 2..kills].map(|rounds| scope.spawn(move || kill(rounds)));
        halves.map(|half| half.join().unwrap())
    });
    println!(
        "{kills} kills: 0 torn, 0 lost, 0 rows without a payload; {} files left, and swept out",
        left.iter().sum::<usize>()
    );
}
