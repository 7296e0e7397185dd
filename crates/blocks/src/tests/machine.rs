//! Random operations on three devices with a failing storage: nothing is lost, and in the end all
//! devices are equal.

use std::collections::BTreeSet;

use trommel_base::faults::{Fails, failing};
use trommel_testkit::generate::Random;

use super::devices::Device;
use super::memory::{Fault, Memory};
use crate::block::Key;
use crate::sync::{ConflictResolution, State};

/// The number of cases, without and with `TROMMEL_DEEP`.
const CASES: [u64; 2] = [60, 3_000];

const FAULTS: [Fault; 5] = [Fault::Before, Fault::Midway, Fault::After, Fault::Behind, Fault::Hidden];

/// The devices, their storage, and the written lines.
struct World {
    random: Random,
    storage: Memory,
    devices: [Device; 3],
    is_cut: [bool; 3],
    names: u64,
    /// Names that were written, and not removed by their writer before they were sent.
    written: BTreeSet<String>,
    /// Every line that was ever in a file.
    lines: BTreeSet<Vec<u8>>,
    /// The names in each block, and the number of checked blocks: blocks never change.
    stored: (BTreeSet<String>, usize),
    /// The log of operations, for failure messages.
    done: Vec<String>,
}

/// The names in a text: `name17.`, where no name is part of another.
fn names(text: &[u8]) -> BTreeSet<String> {
    let name = |at: usize| {
        let rest = &text[at..];
        let end = rest.iter().position(|byte| *byte == b'.')?;
        let name = std::str::from_utf8(&rest[..=end]).ok()?;
        (end > 4 && name[4..end].bytes().all(|byte| byte.is_ascii_digit())).then(|| name.to_owned())
    };
    memchr::memmem::find_iter(text, "name").filter_map(name).collect()
}

const FILES: [&str; 2] = ["transcript.jsonl", "events.jsonl"];

impl World {
    fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            storage: Memory::new(),
            devices: ["one", "two", "three"].map(Device::new),
            is_cut: [false; 3],
            names: 0,
            written: BTreeSet::new(),
            lines: BTreeSet::new(),
            stored: (BTreeSet::new(), 0),
            done: vec![format!("seed {seed}")],
        }
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("name{}.", self.names)
    }

    fn step(&mut self) {
        let at = self.random.below(3);
        match self.random.below(20) {
            0..=5 => self.append(at),
            6 | 7 => self.describe(at),
            8 => self.remove(at),
            9 => self.is_cut[at] = !self.is_cut[at],
            10..=12 => self.sync_with_faults(at),
            13 => self.crash(at),
            _ => self.sync(at),
        }
        self.check();
    }

    /// Appends a line to a file; sometimes one that takes several blocks, or malformed JSON.
    fn append(&mut self, at: usize) {
        let (name, file) = (self.name(), FILES[self.random.below(2)]);
        let filler = match self.random.below(40) {
            0 => "z".repeat(60_000),
            1 => "é".repeat(330_000),
            _ => String::new(),
        };
        let line = match self.random.below(8) {
            0 => format!("{name} no json {filler}\n"),
            _ if file == "events.jsonl" => {
                format!("{{\"event\":\"tool:pre\",\"data\":{{\"n\":\"{name}\",\"f\":\"{filler}\"}}}}\n")
            }
            _ => format!("{{\"role\":\"user\",\"content\":\"{name}{filler}\"}}\n"),
        };
        self.done.push(format!("{at} appends {name} ({} bytes) to {file}", line.len()));
        self.devices[at].append(file, &line);
        self.written.insert(name);
        self.lines.insert(line.into_bytes());
    }

    fn describe(&mut self, at: usize) {
        let name = self.name();
        self.done.push(format!("{at} describes {name}"));
        let gone = self.devices[at].read("metadata.json");
        self.devices[at].write("metadata.json", format!("{{\"name\": \"{name}\"}}").as_bytes());
        self.drop_unsent(&gone);
        self.written.insert(name);
    }

    /// Removes a line from the middle or the end, as a user does.
    fn remove(&mut self, at: usize) {
        let file = FILES[self.random.below(2)];
        let text = self.devices[at].read(file);
        let mut lines = text.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>();
        if lines.is_empty() {
            return;
        }
        let from = self.random.below(lines.len());
        let to = if self.random.below(2) == 0 { from + 1 } else { lines.len() };
        self.done.push(format!("{at} removes lines {from} to {to} of {file}"));
        let gone = lines.drain(from..to).collect::<Vec<_>>().concat();
        let rest = lines.concat();
        self.devices[at].write(file, &rest);
        self.drop_unsent(&gone);
    }

    /// Forgets names that their writer removed before they were sent.
    fn drop_unsent(&mut self, gone: &[u8]) {
        let (gone, there) = (names(gone), self.there());
        self.written.retain(|name| !gone.contains(name) || there.contains(name));
    }

    fn resolution(&mut self) -> ConflictResolution {
        match self.random.below(8) {
            0 => ConflictResolution::Local,
            1 => ConflictResolution::Remote,
            2 => ConflictResolution::Merge,
            _ => ConflictResolution::Manual,
        }
    }

    fn sync(&mut self, at: usize) {
        let (resolution, is_cut) = (self.resolution(), self.is_cut[at]);
        self.storage.fail(move |_| is_cut.then_some(Fault::Before));
        let ended = self.devices[at].sync(&self.storage, resolution);
        self.done.push(format!("{at} syncs {resolution:?}, cut {is_cut}: {ended:?}"));
        assert_eq!(ended.is_err(), is_cut, "{:#?}", self.done);
    }

    fn sync_with_faults(&mut self, at: usize) {
        let (first, resolution) = (self.random.below(12) as u64, self.resolution());
        let fault = FAULTS[self.random.below(FAULTS.len())];
        let is_for_good = self.random.below(2) == 0;
        self.storage.fail(move |call| (call == first || is_for_good && call > first).then_some(fault));
        let ended = self.devices[at].sync(&self.storage, resolution);
        self.done.push(format!("{at} syncs {resolution:?}, {fault:?} at {first}: {ended:?}"));
        self.storage.fail(|_| None);
    }

    /// Ends the process at a random file operation.
    fn crash(&mut self, at: usize) {
        let (operation, resolution) = (self.random.below(16) as u64, self.resolution());
        self.storage.fail(|_| None);
        let device = &self.devices[at];
        let (ended, _) = failing(operation, Fails::FromThenOn, 5, || device.sync(&self.storage, resolution));
        self.done.push(format!("{at} syncs {resolution:?}, ends at operation {operation}: {ended:?}"));
    }

    /// The names in blocks and in files.
    fn there(&mut self) -> BTreeSet<String> {
        let blocks = self.storage.blocks(&Key::new("ada", "5d1c").unwrap());
        let (found, looked_at) = &mut self.stored;
        found.extend(blocks.iter().skip(*looked_at).flat_map(|block| names(block.data.get().as_bytes())));
        *looked_at = blocks.len();
        let files = self.devices.iter().flat_map(Device::all);
        files.flat_map(|text| names(&text)).chain(found.iter().cloned()).collect()
    }

    fn check(&mut self) {
        let there = self.there();
        for name in &self.written {
            assert!(there.contains(name), "{name} is lost: {:#?}", self.done);
        }
        for (device, file) in self.devices.iter().flat_map(|device| FILES.map(|file| (device, file))) {
            for line in device.read(file).split_inclusive(|byte| *byte == b'\n') {
                let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
                assert!(self.lines.contains(line), "half a line {shown:?}: {:#?}", self.done);
            }
        }
    }

    /// Restores all connections: after some rounds all devices are equal.
    fn heal(&mut self) {
        self.storage.fail(|_| None);
        for round in 0..6 {
            let ended =
                [0, 1, 2].map(|at| self.devices[at].sync(&self.storage, ConflictResolution::Merge).unwrap());
            self.done.push(format!("round {round}: {ended:?}"));
            self.check();
        }
        let all = self.devices.each_ref().map(Device::all);
        assert!(all[0] == all[1] && all[1] == all[2], "they differ: {:#?}", self.done);
        for device in &self.devices {
            assert_eq!(device.state(&self.storage), State::Synced);
        }
        let blocks = self.storage.blocks(&Key::new("ada", "5d1c").unwrap());
        for (at, block) in blocks.iter().enumerate() {
            assert_eq!(block.sequence, at as u64 + 1);
            block.verify().unwrap();
        }
        let fourth = Device::new("four");
        fourth.sync(&self.storage, ConflictResolution::Manual).unwrap();
        assert_eq!(fourth.all(), all[0], "{:#?}", self.done);
    }
}

/// R35: three devices with random operations, partitions, faults, and crashes.
#[test]
fn r35_random_devices() {
    let is_deep = std::env::var_os("TROMMEL_DEEP").is_some();
    let first = std::env::var_os("TROMMEL_SEED").and_then(|seed| seed.to_str()?.parse().ok());
    let cases = CASES[usize::from(is_deep)];
    let seeds = first.map_or(0..cases, |seed: u64| seed..seed + 1);
    for seed in seeds {
        let mut world = World::new(seed);
        for _ in 0..30 {
            world.step();
        }
        world.heal();
    }
}
