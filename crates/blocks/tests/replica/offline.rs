//! Tests without a connection to the storage.

use std::time::{Duration, Instant};

use trommel_blocks::ErrorClass;
use trommel_session::{EventQuery, GetQuery, ListQuery, SearchQuery, Source};

use crate::support::{Machine, Net, said, watch};

/// The promise holds with the default timeout for connections and a silent storage.
#[test]
fn r37_lists_and_searches_answer_at_local_speed() {
    let net = Net::new();
    let one = Machine::new("one", &net);
    for at in 0..50 {
        one.turns(&format!("s{at}"), 3);
    }
    net.cut(true);
    let least = |ask: &dyn Fn()| {
        let times = (0..3).map(|_| {
            let since = Instant::now();
            ask();
            since.elapsed()
        });
        times.min().unwrap()
    };
    let listing = least(&|| {
        let view = one.hybrid.view(&watch()).unwrap();
        assert_eq!(view.problems.len(), 1);
        let listed = view.sessions.list(&ListQuery::default(), &watch()).unwrap();
        assert_eq!((listed.total, listed.connected), (50, false));
    });
    let searching = least(&|| {
        let query = SearchQuery::new("question 2");
        let view = one.hybrid.searchable(&query, &watch()).unwrap();
        let found = view.sessions.search(&query, &watch()).unwrap();
        assert_eq!((found.total_count, found.connected), (50, Some(false)));
    });
    assert!(listing < Duration::from_millis(200), "{listing:?}");
    assert!(searching < Duration::from_millis(200), "{searching:?}");
}

/// R37: the storage is probed while local sessions are listed, so a list takes no longer than the
/// slower of both.
#[test]
fn r37_sessions_are_listed_while_the_storage_is_probed() {
    let is_deep = std::env::var_os("TROMMEL_DEEP").is_some();
    let (count, times) = if is_deep { (2_000, 100) } else { (200, 5) };
    let net = Net::new();
    let one = Machine::new("one", &net);
    for at in 0..count {
        one.turns(&format!("s{at}"), 1);
    }
    net.cut(true);
    let mut all = (0..times)
        .map(|_| {
            let since = Instant::now();
            let (listed, problems) = one.hybrid.list(&ListQuery::default(), &watch()).unwrap();
            assert_eq!((listed.total, listed.connected, problems.len()), (count, false, 1));
            since.elapsed()
        })
        .collect::<Vec<_>>();
    all.sort();
    let slowest = all[all.len() * 99 / 100];
    println!("measured: {count} sessions, median {:?}, 99th percentile {slowest:?}", all[all.len() / 2]);
    // In an unoptimized build next to other tests, the machine is the bottleneck.
    assert!(!is_deep || cfg!(debug_assertions) || slowest < Duration::from_millis(200), "{slowest:?}");
}

#[test]
fn answers_use_the_last_known_state() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    two.turns("looked", 3);
    two.turns("listed", 3);
    two.sync("looked");
    two.sync("listed");
    assert_eq!(one.listed().len(), 2);
    one.hybrid.find("looked", &watch()).unwrap();
    net.cut(true);
    assert_eq!(one.listed().len(), 2);
    let (view, session) = one.hybrid.find("looked", &watch()).unwrap();
    assert!(view.problems[0].contains("the net is cut"));
    assert_eq!(session.source(), Source::Cloud);
    assert!(session.get(&GetQuery::default(), &watch()).unwrap().metadata.is_some());
    let mut query = EventQuery::default();
    assert_eq!(one.hybrid.get_events(&session, &query, &watch()).unwrap().total_count, 13);
    query.fields = vec!["data.prompt".to_owned()];
    let error = one.hybrid.get_events(&session, &query, &watch()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Offline);
    let error = one.hybrid.find("listed", &watch()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Offline);
    let error = one.hybrid.find("nothing", &watch()).unwrap_err();
    assert!(
        error.class() == ErrorClass::NotFound
            && error.to_string().contains("the cloud could not be searched")
    );
}

#[test]
fn offline_changes_are_pushed_later() {
    let net = Net::new();
    let one = Machine::new("one", &net);
    one.turns("s", 2);
    one.sync("s");
    net.cut(true);
    one.append("s", "transcript.jsonl", said(3));
    let status = one.hybrid.sync_status(Some("s"), &watch()).unwrap();
    assert!(!status.connected);
    assert_eq!((status.pending_uploads, status.sessions[0].status), (2, Some("ahead")));
    assert_eq!(status.sessions[0].cloud_sequence, None);
    let error = one.hybrid.sync(None, None, &watch()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Offline);
    net.cut(false);
    one.sync("s");
    let two = Machine::new("two", &net);
    two.sync("s");
    assert_eq!(two.files("s"), one.files("s"));
}
