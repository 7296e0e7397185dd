//! Tests of syncs: the selected sessions, their status, and failures.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::sync::Arc;

use trommel_blocks::{ConflictResolution, Outcome, Policy};
use trommel_session::{Cancel, RewindQuery, SyncStatus, Watch};

use crate::support::{Machine, Net, said, watch};

fn status(machine: &Machine, id: &str) -> (Option<u64>, Option<u64>, Option<&'static str>) {
    let status = machine.hybrid.sync_status(Some(id), &watch()).unwrap();
    assert!(status.connected);
    let session = status.sessions.into_iter().next().unwrap();
    assert_eq!(session.session_id, id);
    (session.local_sequence, session.cloud_sequence, session.status)
}

fn all(machine: &Machine) -> SyncStatus {
    machine.hybrid.sync_status(None, &watch()).unwrap()
}

#[test]
fn status_counts_differences() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("s", 1);
    assert_eq!(status(&one, "s"), (Some(7), Some(0), Some("ahead")));
    one.sync("s");
    assert_eq!(status(&one, "s"), (Some(7), Some(7), Some("synced")));
    assert_eq!(status(&two, "s"), (Some(0), Some(7), Some("behind")));
    two.sync("s");
    two.append("s", "transcript.jsonl", said(2));
    two.sync("s");
    assert_eq!(status(&one, "s"), (Some(7), Some(9), Some("behind")));
    one.append("s", "transcript.jsonl", said(3));
    assert_eq!(status(&one, "s"), (Some(9), Some(9), Some("conflict")));
    let told = all(&one);
    assert_eq!((told.pending_uploads, told.pending_downloads, told.sessions.len()), (2, 2, 1));
    assert_eq!(told.last_sync, None);
    let report = one.hybrid.sync(None, None, &watch()).unwrap();
    assert_eq!((report.conflicts, report.is_synced()), (1, false));
    assert_eq!(report.sessions[0].outcome, Outcome::Conflict);
    let report = one.hybrid.sync(None, Some(ConflictResolution::Merge), &watch()).unwrap();
    assert_eq!((report.synced, report.is_synced(), report.sessions.len()), (1, true, 0));
    let told = all(&one);
    assert_eq!((told.pending_uploads, told.pending_downloads, told.sessions.len()), (0, 0, 0));
    assert!(told.last_sync.is_some());
}

#[test]
fn conflicts_can_be_resolved_by_hand() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("s", 1);
    one.sync("s");
    two.sync("s");
    one.append("s", "transcript.jsonl", said(2));
    one.sync("s");
    two.append("s", "transcript.jsonl", said(3));
    let home = tempfile::tempdir().unwrap();
    let there = home.path().join("there");
    two.hybrid.write_out("s", &there, &watch()).unwrap();
    assert_eq!(fs::read(there.join("transcript.jsonl")).ok(), one.files("s")[1]);
    assert_eq!(fs::read(there.join("metadata.json")).ok(), one.files("s")[0]);
    assert!(two.hybrid.write_out("s", &there, &watch()).is_err(), "what lies there is not written over");
    // A user compares both, and writes the correct version.
    two.write("s", "transcript.jsonl", said(1) + &said(3) + &said(2));
    let report = two.hybrid.sync(Some("s"), Some(ConflictResolution::Local), &watch()).unwrap();
    assert!(report.is_synced());
    one.sync("s");
    assert_eq!(one.files("s"), two.files("s"));
    assert_eq!(one.files("s")[1], Some((said(1) + &said(3) + &said(2)).into_bytes()));
}

#[test]
fn excluded_sessions_are_not_synced() {
    let net = Net::new();
    let kept = |policy: Policy| {
        let one = Machine::with("one", &net, |options| options.policy = policy);
        one.turns("s", 1);
        let report = one.hybrid.sync(None, None, &watch()).unwrap();
        assert_eq!(report.kept, 1, "{report:?}");
        assert_eq!(all(&one).pending_uploads, 0);
        report.sessions[0].reason.clone().unwrap()
    };
    assert!(kept(Policy::None).contains("the sync policy excludes it"));
    assert!(kept(Policy::Filter(Arc::new(|_| Ok(false)))).contains("the sync policy excludes it"));
    let why = kept(Policy::Filter(Arc::new(|_| Err("the list is gone".to_owned()))));
    assert!(why.contains("the list is gone"), "{why}");
    let one = Machine::with("one", &net, |options| {
        options.policy = Policy::Filter(Arc::new(|row| Ok(row.session_id != "secret")));
    });
    one.turns("s", 1);
    one.turns("t", 1);
    one.turns("secret", 1);
    one.hybrid.keep_here("t", true).unwrap();
    let report = one.hybrid.sync(None, None, &watch()).unwrap();
    assert_eq!((report.synced, report.kept), (1, 2));
    one.hybrid.keep_here("t", false).unwrap();
    one.hybrid.keep_here("t", false).unwrap();
    let report = one.hybrid.sync(Some("t"), None, &watch()).unwrap();
    assert_eq!(report.sessions[0].outcome, Outcome::Synced);
    assert_eq!(Machine::new("two", &net).listed().len(), 2);
    // Sessions that the policy excludes are not pulled either, unless named.
    let three = Machine::with("three", &net, |options| {
        options.policy = Policy::Filter(Arc::new(|row| Ok(row.session_id == "s")));
    });
    let report = three.hybrid.sync_all(None, &watch()).unwrap();
    assert_eq!((report.synced, report.kept, three.files("t")[1].clone()), (1, 1, None));
    assert_eq!(three.files("s"), one.files("s"));
    three.sync("t");
    assert_eq!(three.files("t"), one.files("t"));
}

/// A session that is removed from one machine stays on the others, and comes back on request.
#[test]
fn removing_a_session_locally_keeps_it_elsewhere() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("s", 3);
    one.sync("s");
    two.sync("s");
    let before = two.files("s");
    fs::remove_dir_all(one.folder("s")).unwrap();
    assert_eq!(status(&one, "s"), (Some(0), Some(20), Some("behind")));
    one.sync("s");
    two.sync("s");
    assert_eq!((one.files("s"), two.files("s")), (before.clone(), before));
}

/// The journal of one folder says nothing about another one.
#[test]
fn older_copies_of_sessions_rewind_nothing() {
    let net = Net::new();
    let mut state = std::path::PathBuf::new();
    let one = Machine::with("one", &net, |options| state.clone_from(&options.folders.state));
    one.turns("s", 1);
    one.sync("s");
    let (copy, old) = (tempfile::tempdir().unwrap(), one.files("s"));
    one.turns("s", 3);
    one.sync("s");
    let folder = copy.path().join("projects").join(crate::support::PROJECT).join("sessions/s");
    fs::create_dir_all(&folder).unwrap();
    for (file, text) in ["metadata.json", "transcript.jsonl", "events.jsonl"].iter().zip(&old) {
        fs::write(folder.join(file), text.as_ref().unwrap()).unwrap();
    }
    let before = one.files("s");
    let other = Machine::with("one", &net, |options| {
        options.sessions = trommel_session::Sessions::new().amplifier(copy.path());
        options.folders.local = copy.path().to_owned();
        options.folders.state = state;
    });
    let report = other.hybrid.sync(Some("s"), None, &watch()).unwrap();
    one.sync("s");
    assert_eq!(one.files("s"), before, "{report:?}");
}

#[test]
fn a_failure_does_not_stop_other_sessions() {
    let net = Net::new();
    let one = Machine::new("one", &net);
    one.turns("good", 1);
    one.turns("no name", 1);
    let report = one.hybrid.sync(None, None, &watch()).unwrap();
    assert_eq!((report.synced, report.failed), (1, 1));
    assert!(report.sessions[0].reason.as_ref().unwrap().contains("cannot be a session"));
}

/// The warning of a sync of the session "s".
fn warning(machine: &Machine) -> Option<String> {
    let report = machine.hybrid.sync(Some("s"), None, &watch()).unwrap();
    assert!(report.is_synced() && report.sessions.len() == 1, "{report:?}");
    report.sessions[0].warning.clone()
}

#[test]
fn descriptions_that_cannot_be_parsed_are_reported_and_keep_their_bytes() {
    let deep = format!("{{\"name\": {}{}}}", "[".repeat(200), "]".repeat(200));
    let broken = [&b"{\"name\": \"cut"[..], b"", b"[1]\n", b"{\"name\": \"\xff\"}", deep.as_bytes()];
    for text in broken {
        let net = Net::new();
        let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
        one.turns("s", 1);
        one.write("s", "metadata.json", text);
        let why = warning(&one).unwrap();
        assert!(why.starts_with("metadata.json cannot be parsed as a JSON object"), "{why}");
        // The other machine gets the same bytes, and reports them as well.
        assert_eq!(warning(&two).as_ref(), Some(&why));
        assert_eq!(two.files("s")[0].as_deref(), Some(text));
        // A sync of all sessions lists those with a warning, each time.
        let report = one.hybrid.sync(None, None, &watch()).unwrap();
        let listed = report.sessions.iter().map(|row| (row.outcome, row.warning.as_ref()));
        assert_eq!(listed.collect::<Vec<_>>(), [(Outcome::Synced, Some(&why))]);
        two.turns("s", 1);
        assert_eq!((warning(&two), warning(&one)), (None, None));
        assert_eq!(one.files("s"), two.files("s"));
    }
}

#[test]
fn sessions_without_description_or_with_a_long_one_have_no_warning() {
    let net = Net::new();
    let one = Machine::new("one", &net);
    one.turns("s", 1);
    assert_eq!(warning(&one), None);
    fs::remove_file(one.folder("s").join("metadata.json")).unwrap();
    assert_eq!(warning(&one), None);
    one.write("s", "metadata.json", "x".repeat(60_000));
    assert_eq!(warning(&one), None);
}

#[test]
fn syncs_repeatedly_until_cancelled() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("s", 1);
    two.turns("t", 1);
    let cancel = Cancel::new();
    let cancelled = Watch::new().cancel_with(&cancel);
    let mut times = 0;
    let interval = std::time::Duration::from_millis(1);
    let ended = one.hybrid.keep_synced(interval, &cancelled, &mut |report| {
        assert!(report.unwrap().is_synced());
        times += 1;
        match times {
            1 | 3 => two.sync("s"),
            2 => two.append("s", "transcript.jsonl", said(2)),
            _ => cancel.cancel(),
        }
    });
    assert_eq!(ended.unwrap_err().class(), trommel_blocks::ErrorClass::Cancelled);
    assert_eq!(one.files("s"), two.files("s"));
}

/// A program that keeps open a log which a sync replaces continues in a backup.
#[test]
fn lines_of_a_writer_of_a_replaced_log_are_in_a_backup() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("s", 3);
    one.sync("s");
    two.sync("s");
    let names = ["transcript.jsonl", "events.jsonl"];
    let mut writers =
        names.map(|name| OpenOptions::new().append(true).open(one.folder("s").join(name)).unwrap());
    let before = one.files("s");
    let mut query = RewindQuery::default();
    (query.to_turn, query.dry_run) = (Some(1), false);
    let (view, session) = two.hybrid.find("s", &watch()).unwrap();
    view.sessions.rewind(&session, &query, &watch()).unwrap();
    two.sync("s");
    one.sync("s");
    assert_eq!(one.files("s"), two.files("s"));
    for (at, name) in names.into_iter().enumerate() {
        writers[at].write_all(b"late\n").unwrap();
        let entries = fs::read_dir(one.folder("s")).unwrap().map(|entry| entry.unwrap());
        let backups = entries.filter(|entry| {
            entry.file_name().into_string().unwrap().starts_with(&format!("{name}.bak-pre-sync-"))
        });
        let backups = backups.map(|entry| fs::read(entry.path()).unwrap()).collect::<Vec<_>>();
        let expected = [before[at + 1].clone().unwrap(), b"late\n".to_vec()].concat();
        assert!(backups == [expected], "{name}");
    }
    // Neither mirrors nor pulled sessions have backups.
    let three = Machine::new("three", &net);
    three.sync("s");
    assert!(fs::read_dir(three.folder("s")).unwrap().count() <= 3);
}
