//! Buffers: scopes, write modes, snapshots, and damage.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;

use trommel_route::{Buffers, ErrorClass, Scope, WriteMode};

use crate::support::{Bench, destinations, put, route, variable};

#[test]
fn buffers_know_their_size_source_and_times() {
    let bench = Bench::new();
    bench.put("variable:v", WriteMode::Append, "äö\nü");
    let (first, _) = bench.destinations.buffers().find("v", None).unwrap();
    assert_eq!((first.bytes, first.chars, first.lines), (7, 4, 2));
    assert_eq!((first.source.as_str(), first.scope), ("test", Scope::Run));
    bench.put("variable:v", WriteMode::Append, "\n");
    let (second, _) = bench.destinations.buffers().find("v", None).unwrap();
    assert_eq!((second.bytes, second.lines, second.created_at), (8, 2, first.created_at));
    assert!(second.updated_at >= first.updated_at);
    bench.put("variable:empty", WriteMode::New, "");
    let names: Vec<_> =
        bench.destinations.buffers().list(None).unwrap().buffers.into_iter().map(|info| info.name).collect();
    assert_eq!(names, ["empty_000", "v"]);
}

#[test]
fn readers_see_a_snapshot() {
    let bench = Bench::new();
    let long = "long ".repeat(100_000);
    for scope in Scope::ALL {
        for text in ["short", &long] {
            let to = |mode| route("variable:v").write_mode(mode).scope(scope);
            put(&bench.destinations, &to(WriteMode::Replace), text).unwrap();
            let (_, before) = bench.destinations.buffers().find("v", Some(scope)).unwrap();
            put(&bench.destinations, &to(WriteMode::Append), &long).unwrap();
            let (_, appended) = bench.destinations.buffers().find("v", Some(scope)).unwrap();
            put(&bench.destinations, &to(WriteMode::Replace), "new").unwrap();
            let read = |content: &trommel_route::Content| {
                let mut text = String::new();
                content.reader(0).read_to_string(&mut text).unwrap();
                text
            };
            assert_eq!(read(&before), text);
            assert_eq!(read(&appended), format!("{text}{long}"));
            assert_eq!(variable(&bench.destinations, "v", Some(scope)).as_deref(), Some("new"));
        }
    }
    // Replaced contents leave no files.
    let files = fs::read_dir(bench.folder.path().join("sessions/test")).unwrap();
    assert_eq!(files.count(), 3);
}

#[test]
fn session_buffers_survive_the_process() {
    let bench = Bench::new();
    bench.put("variable:run", WriteMode::Append, "r");
    put(&bench.destinations, &route("variable:kept").scope(Scope::Session), "s").unwrap();
    let again = destinations(bench.folder.path());
    assert_eq!(variable(&again, "kept", None).as_deref(), Some("s"));
    assert_eq!(variable(&again, "run", None), None);
    put(&again, &route("variable:kept").scope(Scope::Session), "t").unwrap();
    assert_eq!(variable(&bench.destinations, "kept", None).as_deref(), Some("st"));
    // A variable of the run shadows one of the session.
    bench.put("variable:kept", WriteMode::Append, "mine");
    assert_eq!(bench.variable("kept").as_deref(), Some("mine"));
}

#[test]
fn files_are_private() {
    let bench = Bench::new();
    put(&bench.destinations, &route("variable:kept").scope(Scope::Session), "s").unwrap();
    let folder = bench.folder.path().join("sessions");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("test"))), (0o700, 0o700));
    for entry in fs::read_dir(folder.join("test")).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

/// R45: the error for a missing name suggests existing ones.
#[test]
fn r45_missing_names_suggest_existing_ones() {
    let bench = Bench::new();
    let error = |name: &str, scope| bench.destinations.buffers().find(name, scope).unwrap_err().to_string();
    assert_eq!(error("x", None), "no buffer `x`; there are no buffers yet");
    bench.put("variable:search_results", WriteMode::Append, "x");
    assert!(error("search_result", None).ends_with("did you mean `search_results`?"));
    assert!(error("other", None).ends_with("`list` shows the 1 existing ones"));
    assert!(error("search_results", Some(Scope::Session)).contains("in the scope session"));
    let alone = Buffers::new();
    let destinations = trommel_route::Destinations::new(alone.into());
    let error = put(&destinations, &route("variable:v").scope(Scope::Session), "x").unwrap_err();
    assert_eq!(error.class(), ErrorClass::Unsupported);
    assert_eq!(put(&destinations, &route("file:x"), "x").unwrap_err().class(), ErrorClass::Unsupported);
    for id in ["", "a/b", "..", &"x".repeat(65)] {
        assert_eq!(Buffers::new().session("x", id).unwrap_err().class(), ErrorClass::Name, "{id}");
    }
}

/// R47: descriptions have a version. One with a newer version is refused and hides no other.
#[test]
fn r47_descriptions_have_a_version() {
    let bench = Bench::new();
    for name in ["a", "b", "c"] {
        put(&bench.destinations, &route(&format!("variable:{name}")).scope(Scope::Session), name).unwrap();
    }
    let folder = bench.folder.path().join("sessions/test");
    let meta = |name: &str| folder.join(format!("{}.json", &blake3::hash(name.as_bytes()).to_hex()[..32]));
    let text = fs::read_to_string(meta("a")).unwrap();
    assert!(text.starts_with(
        r#"{"version":1,"data":0,"newlines":0,"is_ended":false,"name":"a","scope":"session","bytes":1,"#
    ));
    fs::write(meta("a"), text.replace("\"version\":1", "\"version\":2,\"more\":[]")).unwrap();
    fs::write(meta("b"), "{").unwrap();
    let kind = |name: &str| bench.destinations.buffers().find(name, None).unwrap_err().class();
    assert_eq!((kind("a"), kind("b")), (ErrorClass::Version, ErrorClass::Corrupt));
    let listed = bench.destinations.buffers().list(None).unwrap();
    let names: Vec<_> = listed.buffers.into_iter().map(|info| info.name).collect();
    assert_eq!((names, listed.unreadable.len()), (vec!["c".to_owned()], 2));
    for (name, why) in [("a", "written by a newer version"), ("b", "is damaged")] {
        let file = meta(name).file_name().unwrap().to_str().unwrap().to_owned();
        let is_reported =
            listed.unreadable.iter().any(|message| message.contains(&file) && message.contains(why));
        assert!(is_reported, "{:?}", listed.unreadable);
    }
    let error = put(&bench.destinations, &route("variable:a").scope(Scope::Session), "x").unwrap_err();
    assert_eq!(error.class(), ErrorClass::Version);
    // Members added by a newer version are ignored.
    fs::write(meta("a"), text.replace("\"version\":1", "\"version\":1,\"more\":[]")).unwrap();
    assert_eq!(bench.variable("a").as_deref(), Some("a"));
}

#[test]
fn leftovers_of_crashed_writers_are_ignored() {
    let bench = Bench::new();
    let kept = route("variable:kept").scope(Scope::Session);
    put(&bench.destinations, &kept, "one ").unwrap();
    let folder = bench.folder.path().join("sessions/test");
    let data = folder.join(format!("{}-0.data", &blake3::hash(b"kept").to_hex()[..32]));
    fs::write(&data, "one and an unfinished write").unwrap();
    assert_eq!(bench.variable("kept").as_deref(), Some("one "));
    put(&bench.destinations, &kept, "two").unwrap();
    assert_eq!(bench.variable("kept").as_deref(), Some("one two"));
    fs::write(&data, "on").unwrap();
    assert_eq!(bench.destinations.buffers().find("kept", None).unwrap_err().class(), ErrorClass::Corrupt);
    fs::remove_file(&data).unwrap();
    assert_eq!(bench.destinations.buffers().find("kept", None).unwrap_err().class(), ErrorClass::Corrupt);
    put(&bench.destinations, &kept.clone().write_mode(WriteMode::Replace), "new").unwrap();
    assert_eq!(bench.variable("kept").as_deref(), Some("new"));
}
