//! Lists, lookups and descriptions.

use std::fs;

use trommel_session::{
    AggregateQuery, ErrorClass, EventQuery, Format, GetQuery, ListQuery, Page, RewindQuery, SearchQuery,
    Session, Sessions, TranscriptQuery,
};

use crate::support::{Claude, Home, PROJECT, watch};

fn ids(home: &Home, change: impl FnOnce(&mut ListQuery)) -> Vec<String> {
    let mut query = ListQuery::default();
    change(&mut query);
    home.sessions.list(&query, &watch()).unwrap().sessions.into_iter().map(|row| row.session_id).collect()
}

fn dated(home: &Home, id: &str, created: &str, updated: &str) {
    home.metadata(id, &format!(", \"created\": \"{created}\", \"updated\": \"{updated}\", \"bundle\": \"bundle:x\", \"model\": \"m\""));
}

#[test]
fn lists_sessions_by_project_and_day() {
    let home = Home::new();
    dated(&home, "a", "2026-03-03T10:00:00Z", "2026-03-03T11:00:00Z");
    dated(&home, "b", "2026-02-25T10:00:00Z", "2026-02-25T11:00:00Z");
    dated(&home, "c", "2026-01-01T10:00:00Z", "2026-03-04T11:00:00Z");
    dated(&home, "0000-1111_agent", "2026-03-03T10:00:00Z", "2026-03-03T10:00:00Z");
    assert_eq!(ids(&home, |_| {}), ["c", "a", "b"]);
    assert_eq!(ids(&home, |query| query.top_level_only = false).len(), 4);
    let range = |text: &str| ids(&home, |query| query.date_range = Some(text.to_owned()));
    assert_eq!(range("today"), ["c"]);
    assert_eq!(range("last_week"), ["c", "a", "b"], "c lasted through it");
    assert_eq!(range("2026-02-25:2026-02-25"), ["c", "b"]);
    assert_eq!(range("2025-12-01:2025-12-31"), [""; 0]);
    assert_eq!(ids(&home, |query| query.project = Some("-other".to_owned())), [""; 0]);
    assert_eq!(ids(&home, |query| query.project = Some(PROJECT.to_owned())).len(), 3);
    let mut page = ListQuery::default();
    (page.limit, page.offset) = (2, 1);
    let listing = home.sessions.list(&page, &watch()).unwrap();
    assert_eq!(
        (listing.total, listing.has_more, listing.sessions.len(), listing.connected),
        (3, false, 2, false)
    );
    assert_eq!(listing.sessions[0].bundle.as_deref(), Some("bundle:x"));
}

#[test]
fn damaged_description_hides_no_session() {
    let home = Home::new();
    home.metadata("good", "").write("bad", "metadata.json", "{\"created\": \"20").write(
        "none",
        "transcript.jsonl",
        "",
    );
    let listing = home.sessions.list(&ListQuery::default(), &watch()).unwrap();
    assert_eq!(listing.total, 3);
    let problem =
        |id: &str| listing.sessions.iter().find(|row| row.session_id == id).unwrap().problem.clone();
    assert!(problem("bad").unwrap().contains("the input ends"));
    assert!(problem("none").unwrap().contains("cannot open"));
    assert_eq!(problem("good"), None);
}

#[test]
fn finds_sessions_by_id_prefix() {
    let home = Home::new();
    home.metadata("abc-1", "").metadata("abc-12", "").metadata("xyz", "");
    let find = |id: &str| home.sessions.find(id).map(|session| session.id().to_owned());
    assert_eq!(find("x").unwrap(), "xyz");
    assert_eq!(find("abc-1").unwrap(), "abc-1", "it is one itself");
    assert_eq!(find(&format!("{PROJECT}/x")).unwrap(), "xyz");
    let error = find("abc").unwrap_err();
    assert_eq!(error.class(), ErrorClass::Ambiguous);
    assert!(error.to_string().contains("-home-u-app/abc-1, -home-u-app/abc-12; pass a longer"), "{error}");
    for (id, kind) in [("q", ErrorClass::NotFound), ("", ErrorClass::Request), ("../x", ErrorClass::NotFound)]
    {
        assert_eq!(find(id).unwrap_err().class(), kind, "{id}");
    }
}

#[test]
fn get_returns_bounded_details() {
    let home = Home::new();
    home.turns("s", 3);
    let long = "x".repeat(5_000);
    home.metadata("s", &format!(", \"config\": \"{long}\", \"n\": 1.50, \"name\": \"N\""));
    let mut query = GetQuery::default();
    (query.transcript, query.events_summary) = (Some(TranscriptQuery::default()), true);
    let details = home.find("s").get(&query, &watch()).unwrap();
    let metadata = details.metadata.unwrap();
    assert_eq!((metadata.get(&["n"]), metadata.get(&["config"])), (Some("1.50"), None));
    assert_eq!(details.omitted, ["config"]);
    assert_eq!(details.transcript.unwrap().total_count, 12);
    assert_eq!(details.events_summary.unwrap().total_events, 24);
    assert_eq!(details.path.as_deref(), home.folder("s").to_str());
    fs::remove_file(home.folder("s").join("events.jsonl")).unwrap();
    let details = home.find("s").get(&query, &watch()).unwrap();
    assert!(details.events_summary.is_none() && details.transcript.is_some());
    assert!(details.problems[0].contains("has no events.jsonl"), "{:?}", details.problems);
}

/// R37: without a network, lists answer immediately and report that there is no connection.
#[test]
fn r37_lists_without_network() {
    let home = Home::new();
    home.metadata("s", "");
    let status = home.sessions.sync_status(Some("s")).unwrap();
    assert!(!status.connected && status.last_sync.is_none());
    let one = serde_json::to_value(&status.sessions[0]).unwrap();
    let expected = serde_json::json!({"session_id": "s", "local_sequence": null, "cloud_sequence": null, "status": null});
    assert_eq!(one, expected);
    assert!(home.sessions.sync_status(Some("t")).is_err());
}

#[test]
fn opens_a_session_folder_anywhere() {
    let home = Home::new();
    home.turns("s", 2);
    home.metadata("a_child", ", \"parent_id\": \"s\"");
    let (sessions, session) = Sessions::open(home.folder("s").join(".")).unwrap();
    assert_eq!((session.id(), session.project()), ("s", PROJECT));
    assert_eq!(sessions.children(&session).unwrap()[0].id(), "a_child");
    assert_eq!(sessions.find("a_c").unwrap().id(), "a_child");
    // A copy of the folder is alone.
    let copy = home.root.path().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(home.folder("s").join("transcript.jsonl"), copy.join("transcript.jsonl")).unwrap();
    let (sessions, session) = Sessions::open(&copy).unwrap();
    assert_eq!((sessions.find("copy").unwrap().path(), &*copy), (session.path(), session.path()));
    assert_eq!(sessions.list(&ListQuery::default(), &watch()).unwrap().total, 1);
    assert_eq!(sessions.find("s").unwrap_err().class(), ErrorClass::NotFound);
    assert_eq!(Sessions::open(home.root.path().join("nowhere")).unwrap_err().class(), ErrorClass::NotFound);
}

#[test]
fn opens_a_session_file_anywhere() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("projects/-p");
    fs::create_dir_all(&folder).unwrap();
    let line = r#"{"type":"user","sessionId":"x","message":{"role":"user","content":"hi"}}"#;
    for name in ["x.jsonl", "y.jsonl"] {
        fs::write(folder.join(name), line).unwrap();
    }
    let (sessions, session) = Sessions::open(folder.join("x.jsonl")).unwrap();
    assert_eq!(
        (session.format(), sessions.find("y").unwrap().format()),
        (Format::ClaudeCode, Format::ClaudeCode)
    );
    fs::write(folder.join("z.jsonl"), r#"{"role":"user","content":"hi"}"#).unwrap();
    let (sessions, session) = Sessions::open(folder.join("z.jsonl")).unwrap();
    assert_eq!((session.format(), sessions.find("y").is_err()), (Format::Chat, true));
}

#[test]
fn days_use_the_system_clock_by_default() {
    let home = Home::new();
    home.turns("s", 1);
    let mut query = ListQuery::default();
    query.date_range = Some("today".to_owned());
    let listed = |sessions: &Sessions| sessions.list(&query, &watch()).unwrap().total;
    // Files that were just written.
    assert_eq!(listed(&Sessions::new().amplifier(home.root.path())), 1);
    assert_eq!(listed(&home.sessions.clone().at("2020-01-01T00:00[UTC]".parse().unwrap())), 0);
}

/// A copied file has a later modification time than its records.
#[test]
fn claude_code_modified_is_the_last_records_time() {
    let claude = Claude::new();
    let user = |time: &str, content: &str| {
        format!(
            r#"{{"type":"user","cwd":"/home/u/app","gitBranch":"main","version":"2.1.0","sessionId":"s","timestamp":"{time}","message":{{"role":"user","content":"{content}"}}}}"#
        )
    };
    let model = r#"{"type":"assistant","timestamp":"2026-03-03T10:00:00Z","message":{"id":"A","role":"assistant","model":"m-1","content":"x"}}"#;
    let mut lines = vec![
        user("2026-03-03T09:00:00Z", "<command-name>/clear</command-name>"),
        user("2026-03-03T09:01:00Z", "Mend the test"),
        model.to_owned(),
    ];
    let row = || claude.sessions.list(&ListQuery::default(), &watch()).unwrap().sessions.remove(0);
    claude.write("s", &lines);
    let first = row();
    assert_eq!(first.name.as_deref(), Some("Mend the test"));
    assert_eq!(
        (first.created.as_deref(), first.modified.as_deref()),
        (Some("2026-03-03T09:00:00Z"), Some("2026-03-03T10:00:00Z"))
    );
    assert_eq!((first.turn_count, first.model.as_deref()), (Some(1), Some("m-1")));
    let mut query = ListQuery::default();
    for (range, count) in [("today", 0), ("yesterday", 1)] {
        query.date_range = Some(range.to_owned());
        assert_eq!(claude.sessions.list(&query, &watch()).unwrap().total, count, "{range}");
    }
    // Titles: the user's takes precedence over a model's, and that over a summary's, regardless of
    // their order.
    lines.insert(0, r#"{"type":"summary","summary":"Fix login test","leafUuid":"u"}"#.to_owned());
    claude.write("s", &lines);
    assert_eq!(row().name.as_deref(), Some("Fix login test"));
    lines.extend(
        (0..200).map(|number| user("2026-03-03T11:00:00Z", &format!("more {number} {}", "x".repeat(300)))),
    );
    lines.push(r#"{"type":"ai-title","aiTitle":"Tests of the login"}"#.to_owned());
    claude.write("s", &lines);
    assert_eq!((row().name.as_deref(), row().turn_count), (Some("Tests of the login"), Some(201)));
    lines.push(r#"{"type":"custom-title","customTitle":"Mine"}"#.to_owned());
    lines.push(format!(
        r#"{{"type":"attachment","text":"{}","timestamp":"2026-03-03T12:00:00Z"}}"#,
        "y".repeat(3 << 20)
    ));
    let session = claude.write("s", &lines);
    let last = row();
    assert_eq!(last.modified.as_deref(), Some("2026-03-03T12:00:00Z"), "however long the last record is");
    assert_eq!(last.turn_count, None, "the log is too large to be counted for a list");
    let metadata = session.get(&GetQuery::default(), &watch()).unwrap().metadata.unwrap();
    let member = |name: &str| metadata.get(&[name]).map(str::to_owned);
    assert_eq!(
        (member("turn_count").as_deref(), member("cwd").as_deref()),
        (Some("201"), Some("\"/home/u/app\""))
    );
    assert_eq!(
        (member("gitBranch").as_deref(), member("version").as_deref()),
        (Some("\"main\""), Some("\"2.1.0\""))
    );
}

#[test]
fn names_unsupported_formats() {
    let home = Home::new();
    let path = home.root.path().join("rollout.jsonl");
    for (content, kind, fragment) in [
        (
            r#"{"timestamp":"2026-03-01T09:00:00Z","type":"session_meta","payload":{"id":"x"}}"#,
            ErrorClass::Unsupported,
            "a log of Codex",
        ),
        (
            r#"{"sessionId":"x","messages":[{"id":"1","type":"user","content":"hi"},{"id":"2","type":"gemini","content":"ho"}]}"#,
            ErrorClass::Unsupported,
            "a log of Gemini CLI",
        ),
        (r#"{"level":"info"}"#, ErrorClass::Unsupported, "format not supported"),
        ("", ErrorClass::Unsupported, "it has no records"),
        ("hello\nworld\n", ErrorClass::Corrupt, "it has no JSON objects"),
    ] {
        fs::write(&path, content).unwrap();
        let error = Sessions::open(&path).unwrap_err();
        assert!(error.class() == kind && error.to_string().contains(fragment), "{error}");
    }
}

/// Creates three projects with a session each.
fn projects() -> (tempfile::TempDir, Sessions) {
    let home = tempfile::tempdir().unwrap();
    for (program, project) in [("a", "-home-ada-app"), ("a", "-home-ada-app-web"), ("c", "-home-ada-my-api")]
    {
        let folder = home.path().join(program).join("projects").join(project);
        if program == "a" {
            let session = folder.join("sessions").join(format!("of{project}"));
            fs::create_dir_all(&session).unwrap();
            fs::write(session.join("transcript.jsonl"), "{\"role\":\"user\",\"content\":\"hello\"}\n")
                .unwrap();
        } else {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(format!("of{project}.jsonl")), "").unwrap();
        }
    }
    let sessions = Sessions::new().amplifier(home.path().join("a")).claude_code(home.path().join("c"));
    (home, sessions)
}

#[test]
fn matches_projects_by_name_directory_and_part() {
    let (_home, sessions) = projects();
    let listed = |project: &str| {
        let mut query = ListQuery::default();
        query.project = Some(project.to_owned());
        let listing = sessions.list(&query, &watch()).unwrap();
        assert_eq!(listing.notes.is_empty(), listing.total > 0, "{project}: {:?}", listing.notes);
        let mut projects = listing.sessions.into_iter().map(|row| row.project).collect::<Vec<_>>();
        projects.sort();
        projects.join(" ")
    };
    for (requested, expected) in [
        ("-home-ada-app", "-home-ada-app"),
        ("/home/ada/app", "-home-ada-app"),
        ("/home/ada/app/", "-home-ada-app"),
        ("/home/ada/my.api", "-home-ada-my-api"),
        ("app", "-home-ada-app"),
        ("ada/app", "-home-ada-app"),
        ("APP", "-home-ada-app"),
        ("ap", "-home-ada-app -home-ada-app-web -home-ada-my-api"),
        ("web", "-home-ada-app-web"),
        ("app-w", "-home-ada-app-web"),
        ("/home/ada", ""),
        ("apple", ""),
    ] {
        assert_eq!(listed(requested), expected, "{requested}");
    }
    assert_eq!(sessions.projects().unwrap().len(), 3);
    assert_eq!(sessions.find("web/of").unwrap().id(), "of-home-ada-app-web");
    let error = sessions.find("apple/of").unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotFound);
    assert!(
        error.to_string().starts_with("no project matches apple: the nearest are -home-ada-app, "),
        "{error}"
    );
}

#[test]
fn empty_lists_have_a_reason() {
    let (home, sessions) = projects();
    let notes = |sessions: &Sessions, change: &dyn Fn(&mut ListQuery)| {
        let mut query = ListQuery::default();
        change(&mut query);
        sessions.list(&query, &watch()).unwrap().notes.join("|")
    };
    let text = notes(&sessions, &|query| query.project = Some("/home/ada/ap".to_owned()));
    assert!(text.starts_with("no project matches /home/ada/ap: the nearest are -home-ada-app,"), "{text}");
    let text = notes(&sessions, &|query| query.date_range = Some("2020-01-01".to_owned()));
    assert_eq!(text, "none of 3 sessions match");
    let (one, two) = (home.path().join("one"), home.path().join("two"));
    let none = Sessions::new().amplifier(&one).claude_code(&two);
    let text = format!("no sessions found in {} or {}", one.display(), two.display());
    assert_eq!(notes(&none, &|_| {}), text);
    assert_eq!(notes(&none, &|query| query.project = Some("app".to_owned())), text);
    let found = none.search(&SearchQuery::new("x"), &watch()).unwrap();
    assert_eq!(found.notes, [text]);
    assert!(sessions.search(&SearchQuery::new("x"), &watch()).unwrap().notes.is_empty());
    let mut query = ListQuery::default();
    query.project = Some(" ".to_owned());
    assert_eq!(sessions.list(&query, &watch()).unwrap_err().class(), ErrorClass::Request);
}

#[test]
fn refuses_folders_without_session_files() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("notes.txt"), "").unwrap();
    for error in [Session::open(home.path()).unwrap_err(), Sessions::open(home.path()).map(drop).unwrap_err()]
    {
        assert_eq!(error.class(), ErrorClass::NotFound);
        assert!(
            error.to_string().contains("without metadata.json, transcript.jsonl and events.jsonl"),
            "{error}"
        );
    }
    for name in ["metadata.json", "transcript.jsonl", "events.jsonl"] {
        fs::write(home.path().join(name), "").unwrap();
        assert!(Session::open(home.path()).is_ok(), "{name}");
        fs::remove_file(home.path().join(name)).unwrap();
    }
}

#[test]
fn refuses_to_change_copies_of_other_programs_files() {
    let home = tempfile::tempdir().unwrap();
    let copy = home.path().join("copy.jsonl");
    fs::write(
        &copy,
        "{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n",
    )
    .unwrap();
    let (sessions, session) = Sessions::open(&copy).unwrap();
    let error = sessions.repair(&session, false, &watch()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Unsupported);
    let text = error.to_string();
    assert!(text.contains("a file of Claude Code") && text.contains("copies as well"), "{text}");
    assert!(!text.contains("work on the copy"), "{text}");
}

/// No query or change waits for a writer at the other end of a pipe.
#[test]
fn refuses_irregular_files_without_blocking() {
    let names = ["metadata.json", "transcript.jsonl", "events.jsonl"];
    for name in names {
        for kind in ["pipe", "folder", "socket"] {
            let home = Home::new();
            home.turns("s", 2);
            let path = home.folder("s").join(name);
            fs::remove_file(&path).unwrap();
            let socket = match kind {
                "pipe" => {
                    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
                    None
                }
                "folder" => fs::create_dir(&path).map(|()| None).unwrap(),
                _ => Some(std::os::unix::net::UnixListener::bind(&path).unwrap()),
            };
            let (send, receive) = std::sync::mpsc::channel();
            let all = home.sessions.clone();
            std::thread::spawn(move || {
                let one = all.find("s").unwrap();
                let refused = results_of_all_operations(&all, &one);
                send.send(refused).unwrap();
            });
            let refused = receive.recv_timeout(std::time::Duration::from_secs(20));
            let refused = refused.unwrap_or_else(|_| panic!("{kind} as {name}: something waits"));
            assert!(
                refused.iter().any(|text| text.contains("regular file") || text.contains("a folder")),
                "{name}, {kind}: {refused:?}"
            );
            drop(socket);
        }
    }
}

/// Returns the result of every query and change of a session as text.
fn results_of_all_operations(all: &Sessions, one: &Session) -> Vec<String> {
    let watch = watch();
    let mut get = GetQuery::default();
    (get.transcript, get.events_summary) = (Some(TranscriptQuery::default()), true);
    let mut rewind = RewindQuery::default();
    (rewind.to_turn, rewind.dry_run) = (Some(1), false);
    let mut query = AggregateQuery::default();
    "duration_ms".clone_into(&mut query.field);
    let problems = |problem: Option<String>| problem.into_iter();
    let mut text = Vec::new();
    text.extend(problems(all.list(&ListQuery::default(), &watch).unwrap().sessions.remove(0).problem));
    text.extend(all.search(&SearchQuery::new("question"), &watch).unwrap().problems);
    text.extend(one.get(&get, &watch).unwrap().problems);
    let results = [
        one.get_events(&EventQuery::default(), &watch).map(drop),
        one.summary(&watch).map(drop),
        one.errors(Page::default(), &watch).map(drop),
        one.timeline(Page::default(), &watch).map(drop),
        one.aggregate(&query, &watch).map(drop),
        all.usage(one, &watch).map(drop),
        one.diagnose(&watch).map(drop),
        all.repair(one, false, &watch).map(drop),
        all.rewind(one, &rewind, &watch).map(drop),
        all.undo(one, &watch).map(drop),
    ];
    text.extend(results.into_iter().filter_map(|result| result.err().map(|error| error.to_string())));
    text
}
