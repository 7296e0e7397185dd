//! Folders of blocks: numbers that differ from line numbers, faults, and secrets.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use trommel_blocks::{Block, BlockStorage, Error, ErrorClass, ErrorKind, Key, Selection};
use trommel_session::Watch;
use trommel_storage::{FolderFault, FolderStorage, Secret};

#[test]
fn reads_lines_of_other_programs_by_sequence_number() {
    for first in [1, 2, 5] {
        let shared = tempfile::tempdir().unwrap();
        let folder = shared.path().join("ada/-app/5d1c");
        fs::create_dir_all(&folder).unwrap();
        let line = |sequence: u64| {
            format!(
                r#"{{"block_id":"b{sequence}","session_id":"5d1c","user_id":"ada","sequence":{sequence},"timestamp":"t","device_id":"d","block_type":"message"}}"#
            ) + "\n"
        };
        fs::write(folder.join("blocks.jsonl"), (first..first + 3).map(line).collect::<String>()).unwrap();
        let (storage, key) = (FolderStorage::make(shared.path()).unwrap(), Key::new("ada", "5d1c").unwrap());
        for after in 0..9 {
            let mut sequences = Vec::new();
            let selection = {
                let mut selection = Selection::default();
                selection.after = after;
                selection
            };
            storage
                .read(&key, &selection, &Watch::new(), &mut |block| {
                    sequences.push(block.sequence);
                    Ok(ControlFlow::Continue(()))
                })
                .unwrap();
            let expected = (first..first + 3).filter(|sequence| *sequence > after).collect::<Vec<_>>();
            assert_eq!(sequences, expected, "from {first}, after {after}");
        }
    }
}

/// R45: no fault is without a message, and messages change only on purpose.
#[test]
fn r45_every_fault_of_a_folder_has_its_message() {
    let folder = || PathBuf::from("/shared");
    let path = || PathBuf::from("/shared/ada/-app/5d1c/blocks.jsonl");
    let faults = [
        FolderFault::Missing { folder: folder() },
        FolderFault::Unreachable { folder: folder(), cause: io::ErrorKind::PermissionDenied.into() },
        FolderFault::NotAFolder { path: folder() },
        FolderFault::Unmarked { folder: folder() },
        FolderFault::Gap { sequence: 7, session: "5d1c".into(), head: 3 },
        FolderFault::LongLine { path: path() },
        FolderFault::ForeignBlock { path: path(), sequence: 7 },
        FolderFault::Malformed { path: path(), cause: serde_json::from_str::<u8>("{").unwrap_err() },
    ];
    let mut list = String::new();
    for fault in faults {
        let error = Error::from(ErrorKind::Storage(Box::new(fault)));
        let _ = writeln!(list, "{}: {error}", error.code());
    }
    trommel_testkit::golden::assert_golden("tests/golden/folder.txt", &list);
}

fn block(session: &str, sequence: u64) -> Block {
    let text = format!(
        r#"{{"block_id":"b{sequence}","session_id":"{session}","user_id":"ada","sequence":{sequence},"timestamp":"t","device_id":"d","block_type":"message"}}"#
    );
    serde_json::from_str(&text).unwrap()
}

/// Blocks without a predecessor and blocks of another session are refused, and nothing is stored.
#[test]
fn refuses_gaps_and_blocks_of_other_sessions() {
    let shared = tempfile::tempdir().unwrap();
    let (storage, key) = (FolderStorage::make(shared.path()).unwrap(), Key::new("ada", "5d1c").unwrap());
    let watch = Watch::new();
    storage.create(&key, &block("5d1c", 1), &watch).unwrap();
    let gap = storage.create(&key, &block("5d1c", 3), &watch).unwrap_err();
    assert_eq!(gap.class(), ErrorClass::Request, "{gap}");
    assert_eq!(storage.head(&key, &watch).unwrap().unwrap().sequence, 1);

    let lines = fs::read_dir(shared.path().join("ada"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("5d1c/blocks.jsonl"))
        .find(|path| path.is_file())
        .unwrap();
    let foreign = serde_json::to_string(&block("other", 2)).unwrap() + "\n";
    fs::write(&lines, fs::read_to_string(&lines).unwrap() + &foreign).unwrap();
    let mut selection = Selection::default();
    selection.after = 0;
    let error = storage.read(&key, &selection, &watch, &mut |_| Ok(ControlFlow::Continue(()))).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Corrupt, "{error}");
}

#[test]
fn secrets_are_not_displayed() {
    let secret = Secret::new("SENTINEL");
    assert_eq!(format!("{secret} {secret:?}"), "(secret) (secret)");
    assert_eq!((secret.expose(), secret == Secret::new("SENTINEL")), ("SENTINEL", true));
}
