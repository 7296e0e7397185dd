//! Tests of lists and searches over both sides.

use trommel_blocks::{BlockStorage, Created, Key};
use trommel_session::{ErrorClass, GetQuery, ListQuery, Scope, SearchQuery, Source, TranscriptQuery};

use crate::blocks::block;
use crate::support::{Machine, Net, PROJECT, said, watch};

#[test]
fn sources_are_local_cloud_or_both() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("here", 1);
    one.turns("both", 2);
    two.turns("there", 3);
    one.sync("both");
    two.sync("there");
    let expected = [("both", Source::Both), ("here", Source::Local), ("there", Source::Cloud)];
    assert_eq!(one.listed(), expected.map(|(id, source)| (id.to_owned(), source)));
    let view = one.hybrid.view(&watch()).unwrap();
    assert!(view.problems.is_empty());
    let listed = view.sessions.list(&ListQuery::default(), &watch()).unwrap();
    let there = listed.sessions.iter().find(|row| row.session_id == "there").unwrap();
    assert!(listed.connected);
    assert_eq!((there.name.as_deref(), there.turn_count), (Some("The there"), Some(3)));
    assert_eq!((there.project.as_str(), there.created.as_deref()), (PROJECT, Some("2026-03-01T09:00:00Z")));
}

#[test]
fn remote_changes_are_visible() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    two.turns("there", 3);
    two.sync("there");
    let mut query = GetQuery::default();
    query.transcript = Some(TranscriptQuery::default());
    let turns = || {
        let (_, session) = one.hybrid.find("th", &watch()).unwrap();
        let details = session.get(&query, &watch()).unwrap();
        assert!(details.problems.is_empty(), "{:?}", details.problems);
        let name = details.metadata.unwrap().get(&["name"]).map(str::to_owned);
        (details.transcript.unwrap().turns, name.unwrap())
    };
    assert_eq!(turns(), (3, "\"The there\"".to_owned()));
    two.append("there", "transcript.jsonl", said(4));
    two.sync("there");
    assert_eq!(turns().0, 4);
    // Rewound, and continued.
    two.write("there", "transcript.jsonl", said(1) + &said(7));
    two.write("there", "metadata.json", "{\"name\": \"Another\"}");
    two.sync("there");
    assert_eq!(turns(), (2, "\"Another\"".to_owned()));
    // The mirror is only a copy: changes to its files are undone.
    let (_, session) = one.hybrid.find("there", &watch()).unwrap();
    std::fs::write(session.path().join("transcript.jsonl"), "spoilt\n").unwrap();
    assert_eq!(turns().0, 2);
}

#[test]
fn searches_cover_remote_sessions() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("here", 2);
    for (id, turns) in [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5), ("f", 6)] {
        two.turns(id, turns);
        two.sync(id);
    }
    let found = |change: &dyn Fn(&mut SearchQuery)| {
        let mut query = SearchQuery::new("QUESTION 2");
        change(&mut query);
        let view = one.hybrid.searchable(&query, &watch()).unwrap();
        assert!(view.problems.is_empty(), "{:?}", view.problems);
        let found = view.sessions.search(&query, &watch()).unwrap();
        assert!(found.problems.is_empty());
        let mut ids = found.matches.into_iter().map(|hit| hit.session_id).collect::<Vec<_>>();
        ids.sort();
        ids.join(" ")
    };
    assert_eq!(found(&|_| {}), "b c d e f here");
    assert_eq!(found(&|query| query.include_cloud = false), "here");
    assert_eq!(found(&|query| (query.query, query.scope) = ("the f".to_owned(), Scope::Metadata)), "f");
    assert_eq!(found(&|query| query.project = Some("other".to_owned())), "");
    two.append("a", "transcript.jsonl", said(2));
    two.sync("a");
    assert_eq!(found(&|query| query.scope = Scope::Transcript), "a b c d e f here");
}

#[test]
fn finds_local_sessions_offline() {
    let net = Net::new();
    let one = Machine::new("one", &net);
    one.turns("here", 1);
    let before = net.asked();
    assert_eq!(one.hybrid.find("here", &watch()).unwrap().1.source(), Source::Local);
    assert_eq!(one.hybrid.find(&format!("{PROJECT}/here"), &watch()).unwrap().1.id(), "here");
    assert_eq!(net.asked(), before);
    // A prefix is enough, until another session with that prefix is known.
    let two = Machine::new("two", &net);
    two.turns("heretoo", 1);
    two.sync("heretoo");
    let before = net.asked();
    assert_eq!(one.hybrid.find("her", &watch()).unwrap().1.id(), "here");
    assert_eq!(net.asked(), before);
    assert_eq!(one.listed().len(), 2);
    let error = one.hybrid.find("her", &watch()).unwrap_err();
    assert_eq!(error.class(), trommel_blocks::ErrorClass::Ambiguous);
    let error = one.hybrid.find("nowhere", &watch()).unwrap_err();
    assert_eq!(error.class(), trommel_blocks::ErrorClass::NotFound);
}

#[test]
fn mirrors_are_never_changed() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    two.turns("there", 3);
    two.sync("there");
    let (view, session) = one.hybrid.find("there", &watch()).unwrap();
    let error = view.sessions.repair(&session, false, &watch()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Unsupported);
}

#[test]
fn other_users_see_nothing() {
    let net = Net::new();
    let one = Machine::new("one", &net);
    one.turns("here", 1);
    one.sync("here");
    let other = Machine::with("other", &net, |options| options.owner.user = "eve".to_owned());
    assert_eq!(other.listed(), []);
    let wrong = Machine::with("two", &net, |_| {});
    assert_eq!(wrong.listed().len(), 1);
}

#[test]
fn forks_are_mirrored_with_their_source() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("s", 3);
    one.sync("s");
    // As another program forks it: after the second turn.
    let key = Key::new("ada", "f").unwrap();
    let told = [
        ("session_created", serde_json::json!({"project_slug": PROJECT, "name": "Forked"})),
        ("fork", serde_json::json!({"source_session_id": "s", "source_sequence": 5})),
        ("message", serde_json::json!({"role": "user", "content": "another way", "turn": 3})),
    ];
    for (sequence, (kind, data)) in (1..).zip(told) {
        let mut block = block(&key, sequence, kind, &data);
        block.version = 0;
        assert_eq!(net.create(&key, &block, &watch()).unwrap(), Created::New);
    }
    let (_, session) = two.hybrid.find("f", &watch()).unwrap();
    let page = session.messages(&TranscriptQuery::default(), &watch()).unwrap();
    assert_eq!((page.turns, page.total_count), (3, 5));
    // It is known now: only its last block is queried.
    let before = net.asked();
    two.hybrid.find("f", &watch()).unwrap();
    assert_eq!(net.asked() - before, 3);
}
