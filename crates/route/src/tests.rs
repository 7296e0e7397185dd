//! Lets every file operation fail once, at every position. The result must be the old or the new
//! state, never in between.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use trommel_base::faults::{Fails, Trial, exhaust};

use crate::{Buffers, Destinations, ErrorClass, Files, Now, Origin, Route, Scope, Target, WriteMode};

/// The observable state of a folder: files below the root, and buffers of the session.
type State = BTreeMap<String, Vec<u8>>;

fn destinations(folder: &Path) -> Destinations {
    fs::create_dir_all(folder.join("root")).unwrap();
    let buffers = Buffers::new().session(folder.join("sessions"), "s").unwrap();
    let files = Files::open(folder.join("root")).unwrap();
    let now = Now::at("2026-03-04T00:00[UTC]".parse().unwrap());
    Destinations::new(Arc::new(buffers)).files(Arc::new(files)).at(now)
}

fn state(folder: &Path) -> State {
    let destinations = destinations(folder);
    let mut state = State::new();
    let mut folders = vec![folder.join("root")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                state.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap());
            }
        }
    }
    for info in destinations.buffers().list(Some(Scope::Session)).unwrap().buffers {
        let (info, content) = destinations.buffers().find(&info.name, Some(Scope::Session)).unwrap();
        let mut bytes = Vec::new();
        content.reader(0).read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, info.bytes);
        state.insert(format!("variable {}", info.name), bytes);
    }
    state
}

fn change(destinations: &Destinations, target: &str, mode: WriteMode, text: &[u8]) -> crate::Result<()> {
    let route = Route::to(Target::parse(target).unwrap()).write_mode(mode).scope(Scope::Session);
    let mut write = destinations.open(&route, Origin::of("test"))?;
    write.write_all(text).unwrap();
    write.finish().map(drop)
}

/// Creates existing contents, if `is_there`.
fn prepare(folder: &Path, is_there: bool) -> Destinations {
    let destinations = destinations(folder);
    if is_there {
        for target in ["variable:v", "file:deep/f"] {
            change(&destinations, target, WriteMode::Replace, b"old").unwrap();
        }
    }
    destinations
}

/// The content that is written.
fn text() -> Vec<u8> {
    vec![b'x'; 100_000]
}

/// A write to a destination.
#[derive(Clone, Copy)]
struct Change {
    target: &'static str,
    mode: WriteMode,
    is_there: bool,
}

impl Change {
    /// The states before and after the write.
    fn states(&self) -> [State; 2] {
        let folder = tempfile::tempdir().unwrap();
        let destinations = prepare(folder.path(), self.is_there);
        let old = state(folder.path());
        change(&destinations, self.target, self.mode, &text()).unwrap();
        [old, state(folder.path())]
    }
}

/// Writes while one operation fails, and checks the resulting state.
fn check(change_of: &Change, trial: &mut Trial, how: (Fails, Errno), states: &[State; 2]) {
    let Change { target, mode, is_there } = *change_of;
    let [old, new] = states;
    let text = text();
    let folder = tempfile::tempdir().unwrap();
    let destinations = prepare(folder.path(), is_there);
    let done = trial.run(|| change(&destinations, target, mode, &text));
    let context = format!("{target} {mode} {how:?} {:?} gives {done:?}", trial.failed());
    let found = state(folder.path());
    let torn = how.0 == Fails::FromThenOn && target.starts_with("file:") && mode != WriteMode::Replace;
    if torn && found != *old && found != *new {
        // A process that crashes while it appends to a file, or writes a numbered one, may leave an
        // incomplete write after the previous contents.
        for (name, bytes) in old {
            assert!(found[name].starts_with(bytes), "{context}");
        }
    } else {
        assert!(found == *old || found == *new, "{context}: {:?}", found.keys());
    }
    match done {
        Ok(()) => assert_eq!(found, *new, "{context}"),
        Err(error) if how.1 == Errno::NOSPC => {
            assert!(
                error.class() == ErrorClass::Full && error.to_string().contains("free some space"),
                "{context}"
            );
        }
        Err(_) => assert!(trial.failed().is_some(), "{context}"),
    }
    // In every case the write must be possible now.
    change(&destinations, target, mode, &text).unwrap_or_else(|error| panic!("{context}, then {error}"));
}

fn every_operation_fails(how: (Fails, Errno)) {
    for target in ["variable:v", "file:deep/f"] {
        for mode in WriteMode::ALL {
            for is_there in [false, true] {
                let change = Change { target, mode, is_there };
                let states = change.states();
                let count = exhaust(how.0, how.1.raw_os_error(), |trial| check(&change, trial, how, &states));
                assert!(count >= 4, "{target} {mode}: {count}");
            }
        }
    }
}

/// R16: a failure of any operation leaves the old or the new state.
#[test]
fn r16_failed_operations_leave_old_or_new_state() {
    every_operation_fails((Fails::Once, Errno::IO));
}

/// R16: a crash at any operation leaves the old or the new state. An append to a file may be
/// incomplete.
#[test]
fn r16_crashes_leave_old_or_new_state() {
    every_operation_fails((Fails::FromThenOn, Errno::IO));
}

/// R17: if any operation finds the disk full, the old state remains, and the error has advice.
#[test]
fn r17_full_disk_leaves_old_state() {
    every_operation_fails((Fails::Once, Errno::NOSPC));
}
