//! Tests of changes to sessions that are only in the storage, or on both sides.

use trommel_session::{RewindQuery, Source};

use crate::support::{Machine, Net, watch};

fn rewind(to_turn: u64, dry_run: bool) -> RewindQuery {
    let mut query = RewindQuery::default();
    (query.to_turn, query.dry_run) = (Some(to_turn), dry_run);
    query
}

#[test]
fn rewinds_of_remote_sessions_are_synced() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("s", 6);
    one.sync("s");
    let blocks = net.asked();
    // A dry run reports the changes, and leaves nothing on this machine.
    let changeable = two.hybrid.changeable("s", true, &watch()).unwrap();
    let told = changeable.sessions.rewind(&changeable.session, &rewind(2, true), &watch()).unwrap();
    assert_eq!(told.would_remove.messages, 8);
    assert_eq!(two.hybrid.changed(&changeable, &watch()).unwrap(), None);
    drop(changeable);
    assert_eq!(two.files("s"), [None, None, None]);
    assert!(net.asked() > blocks);
    // The rewind itself.
    let changeable = two.hybrid.changeable("s", false, &watch()).unwrap();
    assert_eq!(changeable.session.source(), Source::Both);
    changeable.sessions.rewind(&changeable.session, &rewind(2, false), &watch()).unwrap();
    assert_eq!(two.hybrid.changed(&changeable, &watch()).unwrap(), None);
    assert_eq!(two.listed(), [("s".to_owned(), Source::Both)]);
    one.sync("s");
    assert_eq!(one.files("s")[1..], two.files("s")[1..]);
    assert_eq!(String::from_utf8(one.files("s")[1].clone().unwrap()).unwrap().lines().count(), 4);
    // Undo restores everything on both machines.
    let changeable = two.hybrid.changeable("s", false, &watch()).unwrap();
    changeable.sessions.undo(&changeable.session, &watch()).unwrap();
    two.sync("s");
    one.sync("s");
    assert_eq!(one.files("s"), two.files("s"));
    assert_eq!(String::from_utf8(one.files("s")[1].clone().unwrap()).unwrap().lines().count(), 12);
}

#[test]
fn changes_that_cannot_be_pushed_are_made_locally() {
    let net = Net::new();
    let one = Machine::with("one", &net, |options| options.auto_sync = true);
    one.turns("s", 4);
    one.sync("s");
    let changeable = one.hybrid.changeable("s", false, &watch()).unwrap();
    net.cut(true);
    changeable.sessions.rewind(&changeable.session, &rewind(1, false), &watch()).unwrap();
    let problem = one.hybrid.changed(&changeable, &watch()).unwrap().unwrap();
    assert!(problem.contains("not pushed"), "{problem}");
    net.cut(false);
    let status = one.hybrid.sync_status(Some("s"), &watch()).unwrap();
    assert_eq!(status.sessions[0].status, Some("ahead"));
}
