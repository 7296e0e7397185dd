//! Fault injection: every file operation fails, once or together with all later ones. Afterwards, a
//! session is in its old or its new state.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use trommel_base::faults::{Fails, exhaust, failing, refusing, watched};
use trommel_base::files::Op;

use crate::format::{EVENTS, METADATA, TRANSCRIPT};
use crate::{ErrorClass, Result, RewindQuery, Session, Sessions, Watch};

/// The disk is full.
const ENOSPC: i32 = 28;

/// The operation is not supported.
const EOPNOTSUPP: i32 = 95;

/// An input/output error.
const EIO: i32 = 5;

const ID: &str = "0c5e1a2b";

type State = [Vec<u8>; 3];

fn folder(root: &Path) -> PathBuf {
    root.join("projects/-p/sessions").join(ID)
}

/// Creates a session of three turns, the second of which has lost a result.
fn make(root: &Path) -> Sessions {
    let folder = folder(root);
    fs::create_dir_all(&folder).unwrap();
    let (mut transcript, mut events) = (String::new(), String::new());
    for turn in 1..=3 {
        let at = |second| format!("2026-03-01T09:0{turn}:{second:02}.000+00:00");
        let results = if turn == 2 { "" } else { r#"{"role":"tool","tool_call_id":"c","content":"done"}"# };
        let user = format!("{{\"role\":\"user\",\"content\":\"say {turn}\",\"timestamp\":\"{}\"}}", at(1));
        let call = format!(
            "{{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{{\"id\":\"c{turn}\",\"tool\":\"t\",\"arguments\":{{}}}}]}}"
        );
        let result = results.replace("\"c\"", &format!("\"c{turn}\""));
        let answer = format!("{{\"role\":\"assistant\",\"content\":\"said {turn}\"}}");
        let lines = [user, call, result, answer];
        transcript.extend(lines.into_iter().filter(|line| !line.is_empty()).map(|line| line + "\n"));
        for (second, event) in ["prompt:submit", "tool:pre", "tool:post", "llm:response"].iter().enumerate() {
            let ts = at(second + 1);
            let data = format!("{{\"tool_call_id\":\"c{turn}\"}}");
            let line = format!("{{\"ts\":\"{ts}\",\"event\":\"{event}\",\"data\":{data}}}\n");
            events.push_str(&line);
        }
    }
    fs::write(folder.join(TRANSCRIPT), transcript).unwrap();
    fs::write(folder.join(EVENTS), events).unwrap();
    fs::write(
        folder.join(METADATA),
        format!("{{\"session_id\": \"{ID}\", \"turn_count\": 3, \"updated\": \"x\"}}\n"),
    )
    .unwrap();
    Sessions::new().at("2026-03-04T12:00[UTC]".parse().unwrap()).amplifier(root)
}

fn state(root: &Path) -> State {
    [TRANSCRIPT, EVENTS, METADATA].map(|name| fs::read(folder(root).join(name)).unwrap())
}

/// A change of a session.
type Change = fn(&Sessions, &Session) -> Result<()>;

fn rewind(sessions: &Sessions, session: &Session) -> Result<()> {
    let query = RewindQuery { to_turn: Some(1), dry_run: false, ..RewindQuery::default() };
    sessions.rewind(session, &query, &Watch::new()).map(drop)
}

fn repair(sessions: &Sessions, session: &Session) -> Result<()> {
    sessions.repair(session, false, &Watch::new()).map(drop)
}

fn undo(sessions: &Sessions, session: &Session) -> Result<()> {
    sessions.undo(session, &Watch::new()).map(drop)
}

/// The preceding change, if any, and the change under test.
const CHANGES: [(&str, Option<Change>, Change); 4] = [
    ("rewind", None, rewind),
    ("repair", None, repair),
    ("undo of a rewind", Some(rewind), undo),
    ("undo of a repair", Some(repair), undo),
];

fn prepared(before: Option<Change>) -> (tempfile::TempDir, Sessions) {
    let root = tempfile::tempdir().unwrap();
    let sessions = make(root.path());
    if let Some(before) = before {
        before(&sessions, &sessions.find(ID).unwrap()).unwrap();
    }
    (root, sessions)
}

/// Lets each operation of each change fail, and checks the resulting state.
fn each_failure(fails: Fails, errno: i32) {
    for (name, before, change) in CHANGES {
        let (root, sessions) = prepared(before);
        let old = state(root.path());
        change(&sessions, &sessions.find(ID).unwrap()).unwrap();
        let new = state(root.path());
        assert_ne!(old, new, "{name}");
        let operations = exhaust(fails, errno, |trial| {
            let (root, sessions) = prepared(before);
            let session = sessions.find(ID).unwrap();
            let done = trial.run(|| change(&sessions, &session));
            let place = format!("{name}, {fails:?}, operation {} {:?}", trial.at(), trial.failed());
            // The next lookup completes a decided change.
            sessions.find(ID).unwrap();
            let now = state(root.path());
            match &done {
                Ok(()) => assert_eq!(now, new, "{place}"),
                Err(error) => {
                    assert!(now == old || now == new, "{place}");
                    let is_full = error.class() == ErrorClass::Full;
                    assert_eq!(is_full, errno == ENOSPC, "{place}: {error}");
                }
            }
            still_works(&sessions, now == new, before.is_some(), root.path(), &old);
        });
        assert!(operations > 15, "{name}");
    }
}

/// Checks that the last change can be undone, and that another change succeeds.
fn still_works(sessions: &Sessions, is_new: bool, was_undo: bool, root: &Path, old: &State) {
    let session = sessions.find(ID).unwrap();
    if is_new && !was_undo {
        undo(sessions, &session).unwrap();
        assert_eq!(state(root), *old);
    }
    rewind(sessions, &session).unwrap();
    let left =
        fs::read_dir(folder(root)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left = left
        .filter(|name| name.starts_with(".trommel-new") || name == ".trommel-change.json")
        .collect::<Vec<_>>();
    assert!(left.is_empty(), "{left:?}");
}

/// R16, R38: one operation fails.
#[test]
fn r16_each_operation_fails_once() {
    each_failure(Fails::Once, EIO);
}

/// R16, R17: the disk is full at one operation.
#[test]
fn r17_each_operation_finds_the_disk_full() {
    each_failure(Fails::Once, ENOSPC);
}

/// R16, R38: an operation and all later ones fail, as if the process had ended.
#[test]
fn r38_process_ends_at_each_operation() {
    each_failure(Fails::FromThenOn, EIO);
}

/// R47: a plan of a later release is refused.
#[test]
fn r47_refuses_plans_of_later_versions() {
    let (root, sessions) = prepared(None);
    let before = state(root.path());
    let plan = folder(root.path()).join(".trommel-change.json");
    fs::write(&plan, r#"{"version": 2, "steps": []}"#).unwrap();
    let error = sessions.find(ID).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Corrupt);
    assert!(error.to_string().contains("has version 2, and this release knows 1"), "{error}");
    assert!(plan.exists() && state(root.path()) == before);
}

/// Disks without hard links, without atomic exchange, and without both. A program with the file
/// open still writes to a backup, and undo restores its lines.
#[test]
fn r38_keeps_late_lines_on_limited_disks() {
    for unknown in [&[Op::Link][..], &[Op::Exchange], &[Op::Link, Op::Exchange]] {
        let (root, sessions) = prepared(None);
        let (old, path) = (state(root.path()), folder(root.path()).join(TRANSCRIPT));
        let mut writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
        let session = sessions.find(ID).unwrap();
        refusing(unknown, EOPNOTSUPP, || rewind(&sessions, &session)).unwrap();
        let new = state(root.path());
        assert!(new != old, "{unknown:?}");
        writer.write_all(b"late\n").unwrap();
        let undone = refusing(unknown, EOPNOTSUPP, || sessions.undo(&session, &Watch::new())).unwrap();
        assert_eq!(undone.late_lines, 1, "{unknown:?}");
        let [transcript, events, metadata] = state(root.path());
        assert!(transcript == [&old[0][..], b"late\n"].concat(), "{unknown:?}");
        assert!((events, metadata) == (old[1].clone(), old[2].clone()), "{unknown:?}");
        writer.write_all(b"later\n").unwrap();
        let files = fs::read_dir(folder(root.path())).unwrap().map(|entry| entry.unwrap().path());
        let texts = files.map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
        assert!(texts.iter().any(|text| text.ends_with(b"later\n")), "{unknown:?}");
        assert!(texts.contains(&new[0]), "{unknown:?}");
    }
}

/// A program replaces its file after the change was decided. Its version is kept, too.
#[test]
fn r38_keeps_a_file_replaced_meanwhile() {
    let (root, sessions) = prepared(None);
    let session = sessions.find(ID).unwrap();
    let (_, operations) = watched(|| rewind(&sessions, &session));
    let first = operations.iter().position(|(op, _)| *op == Op::Exchange).unwrap() as u64;
    drop(root);
    for at in first..first + 3 {
        let (root, sessions) = prepared(None);
        let session = sessions.find(ID).unwrap();
        let old = state(root.path());
        // As if the process had ended at this operation.
        failing(at, Fails::FromThenOn, EIO, || rewind(&sessions, &session)).0.unwrap_err();
        let other = folder(root.path()).join("other");
        fs::write(&other, "{\"session_id\": \"put there meanwhile\"}\n").unwrap();
        fs::rename(&other, folder(root.path()).join(METADATA)).unwrap();
        sessions.find(ID).unwrap();
        let now = state(root.path());
        assert!(now[0].len() < old[0].len(), "{at}: the change is made");
        let files = fs::read_dir(folder(root.path())).unwrap().map(|entry| entry.unwrap().path());
        let kept = files
            .map(|path| fs::read(path).unwrap())
            .filter(|text| text.starts_with(b"{\"session_id\": \"put"));
        assert_eq!(kept.count(), 1, "{at}");
        undo(&sessions, &session).unwrap();
        assert_eq!(state(root.path()), old, "{at}");
    }
}

/// A folder is copied to another disk during a change. The new files are identified by their
/// contents.
#[test]
fn r38_completes_a_change_in_a_copied_folder() {
    let (root, sessions) = prepared(None);
    let session = sessions.find(ID).unwrap();
    let ((), operations) = watched(|| rewind(&sessions, &session).unwrap());
    let new = state(root.path());
    for at in 0..operations.len() as u64 {
        let (root, sessions) = prepared(None);
        let old = state(root.path());
        let session = sessions.find(ID).unwrap();
        let _ = failing(at, Fails::FromThenOn, EIO, || rewind(&sessions, &session));
        let is_decided = folder(root.path()).join(".trommel-change.json").exists();
        let copied = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder(copied.path())).unwrap();
        // Copied in a different order, so that inode numbers differ.
        let mut files =
            fs::read_dir(folder(root.path())).unwrap().map(|entry| entry.unwrap()).collect::<Vec<_>>();
        files.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
        for file in files {
            fs::copy(file.path(), folder(copied.path()).join(file.file_name())).unwrap();
        }
        drop(root);
        let copy = Sessions::new().amplifier(copied.path());
        copy.find(ID).unwrap();
        let now = state(copied.path());
        assert!(if is_decided { now == new } else { now == old || now == new }, "{at}");
    }
}
