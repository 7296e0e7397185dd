//! Every operation on files fails once, for every place where it may: what was is still there, or
//! what was to be is there, and never anything in between.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use trommel_base::faults::{Fails, Trial, exhaust};

use crate::{Buffers, Destinations, ErrorClass, Files, Now, Origin, Route, Scope, Target, WriteMode};

/// What is to be seen of a folder: files below the root, and buffers of the session.
type State = BTreeMap<String, Vec<u8>>;

fn places(folder: &Path) -> Destinations {
    fs::create_dir_all(folder.join("root")).unwrap();
    let buffers = Buffers::new().session(folder.join("sessions"), "s").unwrap();
    let files = Files::open(folder.join("root")).unwrap();
    let now = Now::at("2026-03-04T00:00[UTC]".parse().unwrap());
    Destinations::new(Arc::new(buffers)).files(Arc::new(files)).at(now)
}

fn state(folder: &Path) -> State {
    let places = places(folder);
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
    for info in places.buffers().list(Some(Scope::Session)).unwrap().buffers {
        let (info, content) = places.buffers().find(&info.name, Some(Scope::Session)).unwrap();
        let mut bytes = Vec::new();
        content.reader(0).read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, info.bytes);
        state.insert(format!("variable {}", info.name), bytes);
    }
    state
}

fn change(places: &Destinations, target: &str, mode: WriteMode, text: &[u8]) -> crate::Result<()> {
    let route = Route::to(Target::parse(target).unwrap()).write_mode(mode).scope(Scope::Session);
    let mut parcel = places.open(&route, Origin::of("test"))?;
    parcel.write_all(text).unwrap();
    parcel.finish().map(drop)
}

/// Something that is there already, where `is_there`.
fn prepare(folder: &Path, is_there: bool) -> Destinations {
    let places = places(folder);
    if is_there {
        for target in ["variable:v", "file:deep/f"] {
            change(&places, target, WriteMode::Replace, b"old").unwrap();
        }
    }
    places
}

/// What is written.
fn text() -> Vec<u8> {
    vec![b'x'; 100_000]
}

/// A content that goes somewhere.
#[derive(Clone, Copy)]
struct Change {
    target: &'static str,
    mode: WriteMode,
    is_there: bool,
}

impl Change {
    /// The state before it, and the one after it.
    fn states(&self) -> [State; 2] {
        let folder = tempfile::tempdir().unwrap();
        let places = prepare(folder.path(), self.is_there);
        let old = state(folder.path());
        change(&places, self.target, self.mode, &text()).unwrap();
        [old, state(folder.path())]
    }
}

/// Makes a change of which one operation fails, and checks what is left.
fn check(change_of: &Change, trial: &mut Trial, how: (Fails, Errno), states: &[State; 2]) {
    let Change { target, mode, is_there } = *change_of;
    let [old, new] = states;
    let text = text();
    let folder = tempfile::tempdir().unwrap();
    let places = prepare(folder.path(), is_there);
    let done = trial.run(|| change(&places, target, mode, &text));
    let context = format!("{target} {mode} {how:?} {:?} gives {done:?}", trial.failed());
    let found = state(folder.path());
    let torn = how.0 == Fails::FromThenOn && target.starts_with("file:") && mode != WriteMode::Replace;
    if torn && found != *old && found != *new {
        // A process that ends in the middle of appending to a file, or of making a numbered one,
        // leaves the beginning of what it wrote, after all that was there.
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
    // Whatever happened, the change can be made now.
    change(&places, target, mode, &text).unwrap_or_else(|error| panic!("{context}, then {error}"));
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

/// R16: whichever operation fails, there is the old state or the new one.
#[test]
fn r16_every_operation_may_fail() {
    every_operation_fails((Fails::Once, Errno::IO));
}

/// R16: whichever operation a process ends at, there is the old state or the new one; of what is
/// appended to a file, a part.
#[test]
fn r16_a_process_may_end_at_every_operation() {
    every_operation_fails((Fails::FromThenOn, Errno::IO));
}

/// R17: whichever operation there is no room for, the old state is there, and the error says what
/// to do.
#[test]
fn r17_every_operation_may_find_the_disk_full() {
    every_operation_fails((Fails::Once, Errno::NOSPC));
}
