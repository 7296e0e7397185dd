//! Rewinds and undos.

use std::fs;

use trommel_session::{ErrorClass, RewindQuery, RewindReport, Session};

use crate::support::{Home, Written, read, time, watch};

fn query(change: impl FnOnce(&mut RewindQuery)) -> RewindQuery {
    let mut query = RewindQuery::default();
    change(&mut query);
    query
}

fn rewind(home: &Home, session: &Session, query: &RewindQuery) -> RewindReport {
    home.sessions.rewind(session, query, &watch()).unwrap()
}

fn really(mut query: RewindQuery) -> RewindQuery {
    query.dry_run = false;
    query
}

/// R38: a rewind changes nothing unless requested.
#[test]
fn r38_dry_run_changes_nothing() {
    let home = Home::new();
    let session = home.turns("s", 5);
    let before = home.bytes("s");
    let rewound = rewind(&home, &session, &query(|query| query.to_turn = Some(2)));
    assert!(rewound.dry_run && !rewound.backup_created && rewound.backups.is_empty());
    assert_eq!((rewound.would_remove.messages, rewound.would_remove.events), (12, 24));
    assert_eq!((rewound.new_turn_count, rewound.messages_left, rewound.events_left), (2, 8, 16));
    assert_eq!(home.bytes("s"), before);
    assert_eq!(fs::read_dir(home.folder("s")).unwrap().count(), 3);
}

/// R38: a rewind keeps the earlier part byte for byte, creates backups, and is undone by one call.
#[test]
fn r38_rewind_cuts_exactly_and_is_undone() {
    let home = Home::new();
    let session = home.turns("s", 5);
    let before = home.bytes("s");
    let two = Written::turns(2);
    let rewound = rewind(&home, &session, &really(query(|query| query.to_turn = Some(2))));
    assert!(rewound.backup_created && rewound.backups.len() == 3);
    assert_eq!(rewound.backups[0], "transcript.jsonl.bak-pre-rewind-20260304120000");
    assert_eq!(read(&home.folder("s").join(&rewound.backups[0])), before[1]);
    let after = home.bytes("s");
    assert_eq!(after[1], two.transcript.as_bytes());
    assert_eq!(after[2], two.events.as_bytes());
    assert_eq!(after[0], b"{\"session_id\": \"s\", \"turn_count\": 2, \"message_count\": 8}\n");
    let undone = home.sessions.undo(&session, &watch()).unwrap();
    assert_eq!((&*undone.undone, &*undone.made, undone.changed_since), ("rewind", "20260304120000", false));
    assert_eq!(home.bytes("s"), before);
    assert_eq!(home.sessions.undo(&session, &watch()).unwrap_err().class(), ErrorClass::NotFound);
}

#[test]
fn undoes_rewinds_one_after_the_other() {
    let home = Home::new();
    let session = home.turns("s", 5);
    let mut states = vec![home.bytes("s")];
    for turn in [4, 2, 1] {
        rewind(&home, &session, &really(query(|query| query.to_turn = Some(turn))));
        states.push(home.bytes("s"));
    }
    states.pop();
    while let Some(state) = states.pop() {
        home.sessions.undo(&session, &watch()).unwrap();
        assert!(home.bytes("s") == state);
    }
}

#[test]
fn undo_backs_up_later_messages() {
    let home = Home::new();
    let session = home.turns("s", 2);
    rewind(&home, &session, &really(query(|query| query.to_turn = Some(1))));
    let path = home.folder("s").join("transcript.jsonl");
    let more = [read(&path), b"{\"role\":\"user\",\"content\":\"new\"}\n".to_vec()].concat();
    fs::write(&path, &more).unwrap();
    let undone = home.sessions.undo(&session, &watch()).unwrap();
    assert!(undone.changed_since);
    assert!(undone.backups.iter().any(|name| read(&home.folder("s").join(name)) == more));
}

#[test]
fn rewinds_to_messages_and_times() {
    let home = Home::new();
    let session = home.turns("s", 3);
    let rewound = rewind(&home, &session, &query(|query| query.to_message = Some(6)));
    assert_eq!((rewound.messages_left, rewound.new_turn_count), (7, 2));
    assert_eq!(rewound.events_left, 15, "the end of the turn goes");
    let rewound = rewind(&home, &session, &query(|query| query.to_message = Some(5)));
    assert!(rewound.warnings[0].contains("a tool call is left without its result"), "{:?}", rewound.warnings);
    for (at, messages, events) in [
        (time(2, 0), 4, 8),
        (time(2, 5), 4, 9),
        (time(2, 6), 5, 9),
        (time(3, 3002), 12, 23),
        (time(9, 0), 12, 24),
        (time(0, 0), 0, 0),
    ] {
        let rewound = rewind(&home, &session, &query(|query| query.before_timestamp = Some(at.clone())));
        assert_eq!((rewound.messages_left, rewound.events_left), (messages, events), "{at}");
    }
}

#[test]
fn rewinds_to_turns_without_times() {
    let home = Home::new();
    home.turns("s", 4);
    let written = Written::turns(4);
    let untimed = written.transcript.lines().map(|line| {
        let end = line.find(",\"metadata\"").unwrap();
        format!("{}}}\n", &line[..end])
    });
    home.write("s", "transcript.jsonl", untimed.collect::<String>());
    let rewound = rewind(&home, &home.find("s"), &query(|query| query.to_turn = Some(3)));
    assert_eq!((rewound.messages_left, rewound.events_left), (12, 24));
    let error = home.sessions.rewind(
        &home.find("s"),
        &query(|query| query.before_timestamp = Some(time(2, 0))),
        &watch(),
    );
    assert!(error.unwrap_err().to_string().contains("use to_turn or to_message"));
}

/// Events of a tool call are removed if and only if the call is, regardless of their position.
#[test]
fn removes_events_of_removed_calls() {
    let home = Home::new();
    let mut written = Written::turns(2);
    written.event(3, 0, "tool:post", r#""tool_call_id":"call_1","result":{"output":"late"}"#);
    let early = written.events.find("\"prompt:submit\"").unwrap();
    assert!(early > 0);
    let mut lines = written.events.lines().map(str::to_owned).collect::<Vec<_>>();
    let pre = lines.iter().position(|line| line.contains("tool:pre") && line.contains("call_2")).unwrap();
    let moved = lines.remove(pre);
    lines.insert(1, moved);
    home.metadata("s", "").write("s", "transcript.jsonl", &written.transcript);
    home.write("s", "events.jsonl", lines.join("\n") + "\n");
    let rewound = rewind(&home, &home.find("s"), &really(query(|query| query.to_turn = Some(1))));
    assert_eq!((rewound.events_left, rewound.would_remove.events), (9, 8));
    let left = String::from_utf8(read(&home.folder("s").join("events.jsonl"))).unwrap();
    assert!(!left.contains("call_2") && left.contains("late"));
}

#[test]
fn keeps_damage_before_the_cut() {
    let home = Home::new();
    let two = Written::turns(2);
    let transcript = format!("{{\"bad\n{}", two.transcript);
    home.metadata("s", "").write("s", "transcript.jsonl", &transcript).write(
        "s",
        "events.jsonl",
        format!("{{\"bad\n{}", two.events),
    );
    let rewound = rewind(&home, &home.find("s"), &really(query(|query| query.to_turn = Some(1))));
    assert_eq!(rewound.damage.count, 2);
    let one = Written::turns(1);
    assert_eq!(home.bytes("s")[1], format!("{{\"bad\n{}", one.transcript).as_bytes());
    assert_eq!(home.bytes("s")[2], format!("{{\"bad\n{}", one.events).as_bytes());
}

#[test]
fn r45_explains_invalid_rewinds() {
    let home = Home::new();
    let session = home.turns("s", 3);
    let error =
        |query: RewindQuery| home.sessions.rewind(&session, &query, &watch()).unwrap_err().to_string();
    assert_eq!(
        error(query(|_| {})),
        "the target of the rewind is missing; pass one of to_turn, to_message, and before_timestamp"
    );
    let both = query(|query| (query.to_turn, query.to_message) = (Some(1), Some(1)));
    assert_eq!(
        error(both),
        "to_turn, to_message, and before_timestamp exclude each other; pass only one of them"
    );
    assert_eq!(error(query(|query| query.to_turn = Some(4))), "no turn 4: the session has 3 turns");
    assert_eq!(
        error(query(|query| query.to_turn = Some(0))),
        "turns count from 1; to_turn 1 keeps the first turn"
    );
    assert!(
        error(query(|query| query.to_message = Some(12))).starts_with("no message 12: the session has 12")
    );
    assert!(error(query(|query| query.before_timestamp = Some("soon".to_owned()))).contains("is not a time"));
}

#[test]
fn rewind_to_the_end_changes_nothing() {
    let home = Home::new();
    let session = home.turns("s", 3);
    let before = home.bytes("s");
    let rewound = rewind(&home, &session, &really(query(|query| query.to_turn = Some(3))));
    assert!(!rewound.backup_created && home.bytes("s") == before);
}

#[test]
fn refuses_to_restore_a_modified_backup() {
    let home = Home::new();
    let session = home.turns("s", 3);
    let rewound = rewind(&home, &session, &really(query(|query| query.to_turn = Some(1))));
    let after = home.bytes("s");
    fs::write(home.folder("s").join(&rewound.backups[1]), b"x").unwrap();
    let error = home.sessions.undo(&session, &watch()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Corrupt);
    assert_eq!(home.bytes("s"), after);
}

/// Backups and new files have the permissions of the old files.
#[test]
fn keeps_file_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let session = home.turns("s", 2);
    let path = home.folder("s").join("events.jsonl");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let rewound = rewind(&home, &session, &really(query(|query| query.to_turn = Some(1))));
    for name in ["events.jsonl", &rewound.backups[1]] {
        let mode = fs::metadata(home.folder("s").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{name}");
    }
}
