//! Random operations on three machines, also concurrent ones, with a storage that fails and lags.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

use trommel_blocks::{BlockStorage, ConflictResolution, ErrorClass, Key, Outcome, Selection, SyncReport};
use trommel_session::{EventQuery, ListQuery, RewindQuery, SearchQuery, Session, Watch};
use trommel_testkit::generate::Random;

use super::machine::{FILES, Machine};
use super::net::{Fault, Net};

const SESSIONS: [&str; 2] = ["5d1c", "7e2a"];

const FAULTS: [Fault; 3] = [Fault::Before, Fault::After, Fault::Behind];

/// The machines, their storage, and the written lines.
pub(crate) struct World {
    random: Random,
    storage: Arc<dyn BlockStorage>,
    machines: [Machine; 3],
    nets: [Arc<Net>; 3],
    is_cut: [bool; 3],
    names: u64,
    /// Names that were written, and not removed by their writer before they were sent.
    written: BTreeSet<String>,
    /// Every line that was ever in a file.
    lines: BTreeSet<Vec<u8>>,
    /// The names in each block, and the number of checked blocks per session: blocks never change.
    stored: BTreeSet<String>,
    looked_at: BTreeMap<&'static str, u64>,
    /// The number of unresolved conflicts.
    conflicts: u64,
    /// The log of operations, for failure messages.
    done: Vec<String>,
}

/// The names in a text: `name17.`, where no name is part of another.
fn names(text: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(text);
    let name = |part: &str| {
        let digits = part.split_once('.')?.0;
        let is_name = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_name.then(|| format!("name{digits}."))
    };
    text.split("name").skip(1).filter_map(name).collect()
}

/// Runs `cases` cases of `steps` steps, each with a storage of its own.
pub(crate) fn run(cases: u64, steps: usize, storage: &dyn Fn() -> Arc<dyn BlockStorage>) {
    let only = std::env::var_os("TROMMEL_SEED").and_then(|seed| seed.to_str()?.parse().ok());
    let mut conflicts = 0;
    for seed in only.map_or(0..cases, |seed: u64| seed..seed + 1) {
        let mut world = World::new(seed, storage());
        for _ in 0..steps {
            world.step();
        }
        world.heal();
        conflicts += world.conflicts;
    }
    assert!(conflicts > 0 || only.is_some(), "no conflict was there to be told");
}

impl World {
    fn new(seed: u64, storage: Arc<dyn BlockStorage>) -> Self {
        let nets = [(); 3].map(|()| Net::over(Arc::clone(&storage)));
        let [one, two, three] = &nets;
        let machines = [("one", one), ("two", two), ("three", three)];
        Self {
            random: Random::new(seed),
            machines: machines.map(|(name, net)| Machine::new(name, net)),
            storage,
            nets,
            is_cut: [false; 3],
            names: 0,
            written: BTreeSet::new(),
            lines: BTreeSet::new(),
            stored: BTreeSet::new(),
            looked_at: BTreeMap::new(),
            conflicts: 0,
            done: vec![format!("seed {seed}")],
        }
    }

    fn step(&mut self) {
        let (at, session) = (self.random.below(3), SESSIONS[self.random.below(2)]);
        match self.random.below(20) {
            0..=6 => self.append(at, session),
            7 => self.describe(at, session),
            8 => self.remove(at, session),
            9 => self.rewind(at, session),
            10 => self.is_cut[at] = !self.is_cut[at],
            11 | 12 => self.sync_with_faults(at),
            13 | 14 => self.sync_at_once(),
            15 => self.ask(at),
            16 => self.sync(at, Some(session)),
            _ => self.sync(at, None),
        }
        self.check();
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("name{}.", self.names)
    }

    /// Appends a line to a file; sometimes one that takes several blocks.
    fn append(&mut self, at: usize, session: &str) {
        let (name, file) = (self.name(), FILES[1 + self.random.below(2)]);
        let filler = if self.random.below(30) == 0 { "z".repeat(60_000) } else { String::new() };
        let line = if file == "events.jsonl" {
            format!("{{\"event\":\"tool:pre\",\"data\":{{\"n\":\"{name}\",\"f\":\"{filler}\"}}}}\n")
        } else {
            format!("{{\"role\":\"user\",\"content\":\"{name}{filler}\"}}\n")
        };
        self.done.push(format!("{at} appends {name} to {file} of {session}"));
        self.machines[at].append(session, file, &line);
        self.written.insert(name);
        self.lines.insert(line.into_bytes());
    }

    fn describe(&mut self, at: usize, session: &str) {
        let name = self.name();
        self.done.push(format!("{at} describes {session} as {name}"));
        let gone = self.files(at);
        let text = format!("{{\"name\": \"{name}\"}}");
        self.machines[at].write(session, "metadata.json", &text);
        self.lines.insert(text.into_bytes());
        self.written.insert(name);
        self.drop_unsent(&gone);
    }

    /// Removes lines from the end or the middle of a file, as a user does.
    fn remove(&mut self, at: usize, session: &str) {
        let file = 1 + self.random.below(2);
        let Some(text) = self.machines[at].files(session)[file].take() else { return };
        let lines = text.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>();
        if lines.is_empty() {
            return;
        }
        let from = self.random.below(lines.len());
        let to = if self.random.below(2) == 0 { from + 1 } else { lines.len() };
        let rest = [&lines[..from], &lines[to..]].concat().concat();
        self.done.push(format!("{at} removes lines {from} to {to} of {} of {session}", FILES[file]));
        self.machines[at].write(session, FILES[file], rest);
        self.drop_unsent(&names(&text));
    }

    /// Rewinds a session on either side with the library.
    fn rewind(&mut self, at: usize, session: &str) {
        let before = self.files(at);
        let (turn, machine, watch) = (self.random.below(4) as u64, &self.machines[at], Watch::new());
        let is_cut = self.is_cut[at];
        self.nets[at].fail(move |_| is_cut.then_some(Fault::Before));
        let mut query = RewindQuery::default();
        (query.to_turn, query.dry_run) = (Some(turn), false);
        let told = machine.hybrid.changeable(session, false, &watch).map(|changeable| {
            let rewound = changeable.sessions.rewind(&changeable.session, &query, &watch);
            (rewound.is_ok(), machine.hybrid.changed(&changeable, &watch))
        });
        self.done.push(format!("{at} cuts {session} to turn {turn}: {told:?}"));
        self.drop_unsent(&before);
    }

    /// The names in a machine's files.
    fn files(&self, at: usize) -> BTreeSet<String> {
        let files = SESSIONS.iter().flat_map(|session| self.machines[at].files(session));
        files.flatten().flat_map(|text| names(&text)).collect()
    }

    /// Forgets names that their writer removed before they were sent.
    fn drop_unsent(&mut self, gone: &BTreeSet<String>) {
        let there = self.there();
        self.written.retain(|name| !gone.contains(name) || there.contains(name));
    }

    fn resolution(&mut self) -> ConflictResolution {
        let all = [ConflictResolution::Local, ConflictResolution::Remote, ConflictResolution::Merge];
        all.get(self.random.below(8)).copied().unwrap_or_default()
    }

    fn sync(&mut self, at: usize, session: Option<&str>) {
        let (resolution, is_cut) = (self.resolution(), self.is_cut[at]);
        let machine = &self.machines[at];
        let before = SESSIONS.map(|session| machine.files(session));
        self.nets[at].fail(move |_| is_cut.then_some(Fault::Before));
        let ended = machine.hybrid.sync(session, Some(resolution), &Watch::new());
        self.done.push(format!("{at} syncs {session:?} {resolution:?}, cut {is_cut}: {ended:?}"));
        if let Ok(report) = &ended {
            self.assert_reported(at, resolution, report, &before);
        }
        if is_cut || session.is_none() {
            let is_failed = ended.as_ref().is_ok_and(|report| report.failed > 0);
            assert_eq!((ended.is_err(), is_failed), (is_cut, false), "{:#?}", self.done);
        }
    }

    /// An unresolved conflict is reported, changes nothing on this machine, and leaves both
    /// versions readable.
    fn assert_reported(
        &mut self,
        at: usize,
        resolution: ConflictResolution,
        report: &SyncReport,
        before: &[[Option<Vec<u8>>; 3]; 2],
    ) {
        let told = report.sessions.iter().filter(|one| one.outcome == Outcome::Conflict).collect::<Vec<_>>();
        assert_eq!(told.len() as u64, report.conflicts, "{:#?}", self.done);
        for conflict in told {
            assert_eq!(resolution, ConflictResolution::Manual, "{:#?}", self.done);
            let (machine, id) = (&self.machines[at], conflict.session_id.as_str());
            let place = SESSIONS.iter().position(|session| *session == id).unwrap();
            assert!(machine.files(id) == before[place], "{id} was touched: {:#?}", self.done);
            let status = machine.hybrid.sync_status(Some(id), &Watch::new()).unwrap();
            assert_eq!(
                (status.connected, status.sessions[0].status),
                (true, Some("conflict")),
                "{:#?}",
                self.done
            );
            let home = tempfile::tempdir().unwrap();
            machine.hybrid.write_out(id, &home.path().join("there"), &Watch::new()).unwrap();
            let there = FILES.map(|file| std::fs::read(home.path().join("there").join(file)).ok());
            self.assert_known(&there);
            self.conflicts += 1;
        }
    }

    /// Every line of a session's files was written by a machine, and is complete; so is its
    /// description.
    fn assert_known(&self, [metadata, transcript, events]: &[Option<Vec<u8>>; 3]) {
        let lines = [transcript, events].into_iter().flatten();
        let lines = lines.flat_map(|text| text.split_inclusive(|byte| *byte == b'\n'));
        let whole = metadata.as_deref().filter(|text| !text.is_empty());
        for line in lines.chain(whole) {
            let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
            assert!(self.lines.contains(line), "half a line {shown:?}: {:#?}", self.done);
        }
    }

    fn sync_with_faults(&mut self, at: usize) {
        let (first, resolution) = (self.random.below(24) as u64, self.resolution());
        let (fault, is_for_good) = (FAULTS[self.random.below(FAULTS.len())], self.random.below(2) == 0);
        let machine = &self.machines[at];
        self.nets[at].fail(move |call| (call == first || is_for_good && call > first).then_some(fault));
        let ended = machine.hybrid.sync(None, Some(resolution), &Watch::new());
        self.done.push(format!("{at} syncs {resolution:?}, {fault:?} at {first}: {ended:?}"));
    }

    /// All machines sync at once, some of them twice.
    fn sync_at_once(&mut self) {
        let settlements = [(); 4].map(|()| self.resolution());
        let twice = self.random.below(3);
        for (net, is_cut) in self.nets.iter().zip(self.is_cut) {
            net.fail(move |_| is_cut.then_some(Fault::Before));
        }
        let machines = self.machines.iter().chain([&self.machines[twice]]);
        let ended = thread::scope(|scope| {
            let started = machines.zip(settlements).map(|(machine, resolution)| {
                scope.spawn(move || machine.hybrid.sync(None, Some(resolution), &Watch::new()))
            });
            let started = started.collect::<Vec<_>>();
            started.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
        });
        self.done.push(format!("all sync {settlements:?}: {ended:?}"));
    }

    /// Queries never fail, even if the storage is unreachable.
    fn ask(&mut self, at: usize) {
        let (name, is_cut) = (format!("name{}.", self.names), self.is_cut[at]);
        let (machine, watch) = (&self.machines[at], Watch::new());
        self.nets[at].fail(move |_| is_cut.then_some(Fault::Before));
        let query = SearchQuery::new(&name);
        let view = machine.hybrid.searchable(&query, &watch).unwrap();
        view.sessions.search(&query, &watch).unwrap();
        let listed = view.sessions.list(&ListQuery::default(), &watch).unwrap();
        assert_eq!(listed.connected, !is_cut, "{:#?}", self.done);
    }

    /// The names in blocks and in files.
    fn there(&mut self) -> BTreeSet<String> {
        for session in SESSIONS {
            let (key, last) = (Key::new("ada", session).unwrap(), self.looked_at.entry(session).or_default());
            let mut selection = Selection::default();
            selection.after = *last;
            let stored = &mut self.stored;
            let mut take = |block: trommel_blocks::Block| {
                assert_eq!(block.sequence, *last + 1);
                block.verify()?;
                stored.extend(names(block.data.get().as_bytes()));
                *last = block.sequence;
                Ok(ControlFlow::Continue(()))
            };
            self.storage.read(&key, &selection, &Watch::new(), &mut take).unwrap();
        }
        let here = (0..3).flat_map(|at| self.files(at)).collect::<Vec<_>>();
        here.into_iter().chain(self.stored.iter().cloned()).collect()
    }

    fn check(&mut self) {
        let there = self.there();
        for name in &self.written {
            assert!(there.contains(name), "{name} is lost: {:#?}", self.done);
        }
        for (machine, session) in self.machines.iter().flat_map(|machine| SESSIONS.map(|id| (machine, id))) {
            self.assert_known(&machine.files(session));
        }
    }

    /// Restores all connections: after some rounds all machines are equal, and one without sessions
    /// of its own gives the same answers.
    fn heal(&mut self) {
        let watch = Watch::new();
        let any = |session: &&str| self.machines.iter().any(|machine| machine.folder(session).is_dir());
        let sessions = SESSIONS.into_iter().filter(any).collect::<Vec<_>>();
        for round in 0..6 {
            for (at, session) in (0..3).flat_map(|at| sessions.iter().map(move |session| (at, *session))) {
                let machine = &self.machines[at];
                self.nets[at].fail(|_| None);
                // A session that was never pushed is not on all machines.
                if round > 0 || machine.folder(session).is_dir() {
                    let ended = machine.hybrid.sync(Some(session), Some(ConflictResolution::Merge), &watch);
                    self.done.push(format!("round {round}, {at}, {session}: {ended:?}"));
                }
            }
            self.check();
        }
        for session in sessions {
            // An empty file counts as missing.
            let files = |machine: &Machine| machine.files(session).map(Option::unwrap_or_default);
            let all = self.machines.each_ref().map(files);
            assert!(all[0] == all[1] && all[1] == all[2], "{session} differs, {all:?}: {:#?}", self.done);
            for machine in &self.machines {
                let status = machine.hybrid.sync_status(Some(session), &watch).unwrap();
                assert_eq!(status.sessions[0].status, Some("synced"), "{:#?}", self.done);
            }
            self.assert_same_remotely(session);
        }
    }

    /// Searches and events give the same answers on a machine with the session and on one without.
    fn assert_same_remotely(&self, session: &str) {
        let (here, watch) = (&self.machines[0], Watch::new());
        let afar = Machine::new("afar", &Net::over(Arc::clone(&self.storage)));
        let [_, transcript, _] = here.files(session);
        if let Some(name) = names(&transcript.unwrap_or_default()).pop_last() {
            let query = SearchQuery::new(&name);
            let view = afar.hybrid.searchable(&query, &watch).unwrap();
            let found = view.sessions.search(&query, &watch).unwrap();
            assert!(found.matches.iter().any(|one| one.session_id == session), "{name}: {:#?}", self.done);
        }
        let mut query = EventQuery::default();
        query.fields = vec!["data.n".to_owned()];
        let events = |machine: &Machine| {
            let (_, session): (_, Session) = machine.hybrid.find(session, &watch).unwrap();
            match machine.hybrid.get_events(&session, &query, &watch) {
                // Only one of them has an empty file.
                Err(error) if error.class() == ErrorClass::NotFound => (0, Vec::new()),
                page => page.map(|page| (page.total_count, page.events)).unwrap(),
            }
        };
        let (one, other) = (events(here), events(&afar));
        assert_eq!(format!("{one:?}"), format!("{other:?}"), "{:#?}", self.done);
    }
}
