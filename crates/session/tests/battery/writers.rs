//! Changes of sessions while a program writes to them: afterwards, every line it wrote is in the
//! session or in a backup.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use trommel_session::{ErrorClass, RewindQuery, Session};

use crate::support::{Home, read, watch};

fn back_to(turn: u64) -> RewindQuery {
    let mut query = RewindQuery::default();
    (query.to_turn, query.dry_run) = (Some(turn), false);
    query
}

fn appended(path: &Path) -> File {
    OpenOptions::new().append(true).open(path).unwrap()
}

fn line(number: usize) -> String {
    format!("{{\"role\":\"user\",\"content\":\"line {number} of a writer\"}}\n")
}

/// Returns the numbers of the lines found in any file of a session's folder.
fn found(folder: &Path) -> BTreeSet<usize> {
    let number = |line: &str| line.split_once("line ")?.1.split_once(" of a writer")?.0.parse().ok();
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = files.map(|path| String::from_utf8(read(&path)).unwrap());
    texts.flat_map(|text| text.lines().filter_map(number).collect::<Vec<_>>()).collect()
}

/// The way a program writes to its session.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Writer {
    /// Keeps the file open.
    Keeps,
    /// Opens the file for each line.
    Opens,
}

/// Writes lines until told to stop, with occasional pauses. Returns their number.
fn write(path: &Path, writer: Writer, is_over: &AtomicBool) -> usize {
    let (mut kept, mut count) = (appended(path), 0);
    while !is_over.load(Ordering::SeqCst) {
        if writer == Writer::Opens || count % 20 == 0 {
            kept = appended(path);
        }
        // A file opened before a pause is written to after it.
        thread::sleep(Duration::from_millis(if count % 4 == 0 { 60 } else { 1 }));
        kept.write_all(line(count).as_bytes()).unwrap();
        count += 1;
    }
    count
}

/// Changes a session while a program writes to it.
fn change(home: &Home, session: &Session, is_undo: bool) -> trommel_session::Result<()> {
    if is_undo {
        home.sessions.undo(session, &watch()).map(drop)
    } else {
        home.sessions.rewind(session, &back_to(2), &watch()).map(drop)
    }
}

/// R38: a few changes in CI, many in `cargo xtask deep`.
#[test]
fn r38_loses_no_line_of_a_writer() {
    let changes = if std::env::var_os("TROMMEL_DEEP").is_some() { 1_000 } else { 15 };
    for writer in [Writer::Keeps, Writer::Opens] {
        let home = Home::new();
        let session = home.turns("s", 3);
        let (folder, is_over) = (home.folder("s"), AtomicBool::new(false));
        let (mut made, path) = (0, folder.join("transcript.jsonl"));
        let count = thread::scope(|scope| {
            let writing = scope.spawn(|| write(&path, writer, &is_over));
            for round in 0.. {
                match change(&home, &session, round % 3 == 2) {
                    Ok(()) => made += 1,
                    Err(error) => assert!(
                        matches!(error.class(), ErrorClass::Busy | ErrorClass::NotFound),
                        "{writer:?}: {error}"
                    ),
                }
                if made >= changes || round > 200 * changes {
                    break;
                }
                thread::sleep(Duration::from_millis(1));
            }
            is_over.store(true, Ordering::SeqCst);
            writing.join().unwrap()
        });
        let all = (0..count).collect::<BTreeSet<_>>();
        let lost = all.difference(&found(&folder)).count();
        assert_eq!(lost, 0, "{writer:?}: of {count} lines, over {made} changes");
        assert!(made >= changes, "{writer:?}: {count} lines, {made} changes");
    }
}

#[test]
fn backup_is_the_replaced_file_itself() {
    let home = Home::new();
    let session = home.turns("s", 3);
    let mut writer = appended(&home.folder("s").join("transcript.jsonl"));
    let rewound = home.sessions.rewind(&session, &back_to(1), &watch()).unwrap();
    assert!(rewound.warnings.is_empty(), "{:?}", rewound.warnings);
    writer.write_all(line(0).as_bytes()).unwrap();
    let backup = String::from_utf8(read(&home.folder("s").join(&rewound.backups[0]))).unwrap();
    assert!(backup.ends_with(&line(0)));
    assert!(!String::from_utf8(home.bytes("s").swap_remove(1)).unwrap().contains("of a writer"));
}

#[test]
fn undo_restores_lines_appended_to_backups() {
    let home = Home::new();
    let session = home.turns("s", 3);
    let before = home.bytes("s");
    let path = home.folder("s").join("transcript.jsonl");
    let mut writer = appended(&path);
    home.sessions.rewind(&session, &back_to(1), &watch()).unwrap();
    writer.write_all((line(0) + &line(1)).as_bytes()).unwrap();
    // Another program continues in the truncated session.
    let mut other = appended(&path);
    other.write_all(line(2).as_bytes()).unwrap();
    let undone = home.sessions.undo(&session, &watch()).unwrap();
    assert_eq!((undone.late_lines, undone.changed_since), (2, true));
    writer.write_all(line(3).as_bytes()).unwrap();
    other.write_all(line(4).as_bytes()).unwrap();
    let expected = [before[1].clone(), [0, 1, 3].map(line).concat().into_bytes()].concat();
    assert!(read(&path) == expected, "the writer is back in its session");
    let kept = read(&home.folder("s").join(&undone.backups[0]));
    assert!(String::from_utf8(kept).unwrap().ends_with(&[2, 4].map(line).concat()));
    assert_eq!((&home.bytes("s")[0], &home.bytes("s")[2]), (&before[0], &before[2]));
}

#[test]
fn undo_omits_zero_late_lines() {
    let home = Home::new();
    let session = home.turns("s", 3);
    home.sessions.rewind(&session, &back_to(1), &watch()).unwrap();
    let undone = home.sessions.undo(&session, &watch()).unwrap();
    assert_eq!(undone.late_lines, 0);
    assert!(!serde_json::to_string(&undone).unwrap().contains("late_lines"));
}

#[test]
fn repair_keeps_lines_of_an_open_writer() {
    let home = Home::new();
    let session = home.turns("s", 2);
    let path = home.folder("s").join("transcript.jsonl");
    let text = String::from_utf8(read(&path)).unwrap();
    let kept = text.lines().filter(|line| !line.contains("found 1")).map(|line| line.to_owned() + "\n");
    fs::write(&path, kept.collect::<String>()).unwrap();
    let mut writer = appended(&path);
    let repaired = home.sessions.repair(&session, false, &watch()).unwrap();
    assert!(repaired.backup_created && repaired.note.unwrap().contains("restart it"));
    writer.write_all(line(0).as_bytes()).unwrap();
    assert_eq!(found(&home.folder("s")), BTreeSet::from([0]));
}

#[test]
fn dry_run_advises_to_stop_the_writer() {
    let home = Home::new();
    let session = home.turns("s", 3);
    let mut query = RewindQuery::default();
    query.to_turn = Some(1);
    let rewound = home.sessions.rewind(&session, &query, &watch()).unwrap();
    assert!(rewound.note.unwrap().starts_with("stop the program that runs this session first"));
    query.to_turn = Some(3);
    assert_eq!(home.sessions.rewind(&session, &query, &watch()).unwrap().note, None, "nothing to change");
}
