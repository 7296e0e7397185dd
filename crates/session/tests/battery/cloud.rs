//! Sessions that are in the cloud, also or only. Their mirror is an ordinary folder that is never
//! changed.

use std::fs;
use std::path::{Path, PathBuf};

use trommel_session::{
    Error, ErrorClass, EventQuery, GetQuery, ListQuery, Page, RewindQuery, SearchQuery, Sessions, Source,
    TranscriptQuery,
};

use crate::support::{Home, PROJECT, Written, watch};

/// A home folder, and a mirror beside it.
struct Clouded {
    home: Home,
    mirror: tempfile::TempDir,
}

impl Clouded {
    fn new() -> Self {
        Self { home: Home::new(), mirror: tempfile::tempdir().unwrap() }
    }

    fn sessions(&self) -> Sessions {
        self.home.sessions.clone().cloud(self.mirror.path(), true)
    }

    fn mirrored(&self, project: &str, id: &str) -> PathBuf {
        self.mirror.path().join("projects").join(project).join("sessions").join(id)
    }

    /// Writes a session with `turns` turns to the mirror.
    fn mirror(&self, id: &str, turns: u64, members: &str) -> &Self {
        let (folder, written) = (self.mirrored(PROJECT, id), Written::turns(turns));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("metadata.json"), format!("{{\"session_id\": \"{id}\"{members}}}")).unwrap();
        fs::write(folder.join("transcript.jsonl"), written.transcript).unwrap();
        fs::write(folder.join("events.jsonl"), written.events).unwrap();
        self
    }

    fn listed(&self, change: impl FnOnce(&mut ListQuery)) -> Vec<(String, Source)> {
        let mut query = ListQuery::default();
        change(&mut query);
        let listing = self.sessions().list(&query, &watch()).unwrap();
        assert_eq!(listing.total, listing.sessions.len() as u64);
        let mut rows =
            listing.sessions.into_iter().map(|row| (row.session_id, row.source)).collect::<Vec<_>>();
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        rows
    }
}

/// Returns all files below a folder, with their contents.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn mirrored_local_session_is_listed_once() {
    let clouded = Clouded::new();
    clouded.home.turns("both", 2);
    clouded.home.turns("here", 1);
    clouded.mirror("both", 9, "").mirror("there", 3, "");
    let expected = [("both", Source::Both), ("here", Source::Local), ("there", Source::Cloud)]
        .map(|(id, source)| (id.to_owned(), source));
    assert_eq!(clouded.listed(|_| {}), expected);
    assert_eq!(clouded.listed(|query| query.include_cloud = false), expected[..2]);
    assert_eq!(clouded.listed(|query| query.project = Some(PROJECT.to_owned())), expected);
    let sessions = clouded.sessions();
    for (id, source) in [("b", Source::Both), ("h", Source::Local), ("t", Source::Cloud)] {
        assert_eq!(sessions.find(id).unwrap().source(), source);
    }
    let both = sessions.find(&format!("{PROJECT}/both")).unwrap();
    assert_eq!(both.path(), clouded.home.folder("both"));
    assert_eq!(both.messages(&TranscriptQuery::default(), &watch()).unwrap().turns, 2, "what is here counts");
    assert_eq!(serde_json::to_value(Source::Both).unwrap(), "both");
}

#[test]
fn same_id_in_other_projects_is_distinct() {
    let clouded = Clouded::new();
    clouded.home.turns("s", 1);
    fs::create_dir_all(clouded.mirrored("-other", "s")).unwrap();
    let sources = clouded.listed(|_| {}).into_iter().map(|(_, source)| source).collect::<Vec<_>>();
    assert_eq!(sources.len(), 2);
    assert!(sources.contains(&Source::Local) && sources.contains(&Source::Cloud));
    let sessions = clouded.sessions();
    assert_eq!(sessions.find("s").unwrap_err().class(), ErrorClass::Ambiguous);
    assert_eq!(sessions.find("-other/s").unwrap().source(), Source::Cloud);
}

#[test]
fn cloud_session_has_no_path() {
    let clouded = Clouded::new();
    clouded.mirror("s", 3, ", \"name\": \"N\"");
    let session = clouded.sessions().find("s").unwrap();
    let mut query = GetQuery::default();
    (query.transcript, query.events_summary) = (Some(TranscriptQuery::default()), true);
    let details = session.get(&query, &watch()).unwrap();
    assert_eq!((details.source, details.path.as_deref()), (Source::Cloud, None));
    assert_eq!(details.metadata.as_ref().unwrap().get(&["name"]), Some("\"N\""));
    assert_eq!(details.transcript.as_ref().unwrap().turns, 3);
    let json = serde_json::to_value(&details).unwrap();
    assert_eq!((&json["source"], json.get("path")), (&"cloud".into(), None));
    assert_eq!(session.summary(&watch()).unwrap().total_events, 24);
    assert_eq!(session.timeline(Page::default(), &watch()).unwrap().total_count, 3);
    assert_eq!(session.get_events(&EventQuery::default(), &watch()).unwrap().total_count, 24);
    assert_eq!(session.diagnose(&watch()).unwrap().status, "healthy");
}

#[test]
fn searches_a_mirrored_session_once() {
    let clouded = Clouded::new();
    clouded.home.turns("both", 1);
    clouded.mirror("both", 1, "").mirror("there", 1, "");
    let mut query = SearchQuery::new("question 1");
    let found = clouded.sessions().search(&query, &watch()).unwrap();
    assert_eq!((found.sessions_searched, found.total_count, found.connected), (2, 2, Some(true)));
    query.include_cloud = false;
    let found = clouded.sessions().search(&query, &watch()).unwrap();
    assert_eq!((found.sessions_searched, found.total_count), (1, 1));
    assert_eq!(found.matches[0].session_id, "both");
}

#[test]
fn counts_usage_of_cloud_children_once() {
    let clouded = Clouded::new();
    clouded.home.turns("s", 1);
    clouded.home.turns("s_both", 1);
    clouded.home.metadata("s_both", ", \"parent_id\": \"s\"");
    clouded.mirror("s", 5, "").mirror("s_both", 5, ", \"parent_id\": \"s\"");
    clouded.mirror("s_there", 1, ", \"parent_id\": \"s\"");
    let sessions = clouded.sessions();
    let session = sessions.find("s").unwrap();
    let children = sessions.children(&session).unwrap();
    let children = children.iter().map(|child| (child.id(), child.source())).collect::<Vec<_>>();
    assert_eq!(children, [("s_both", Source::Both), ("s_there", Source::Cloud)]);
    let usage = sessions.usage(&session, &watch()).unwrap();
    assert_eq!(usage.by_session.len(), 3);
    assert_eq!(clouded.listed(|query| query.top_level_only = false).len(), 3);
}

#[test]
fn refuses_to_change_a_mirror() {
    let clouded = Clouded::new();
    clouded.mirror("s", 3, "");
    // A change that another machine would have to resume.
    fs::write(clouded.mirrored(PROJECT, "s").join(".trommel-change.json"), "{}").unwrap();
    let before = contents(clouded.mirror.path());
    let sessions = clouded.sessions();
    let session = sessions.find("s").unwrap();
    let refused = |error: &Error, what: &str| {
        assert_eq!(error.class(), ErrorClass::Unsupported);
        let expected = format!("session s cannot be {what}: it is only in the cloud; pull it first (`sync`)");
        assert_eq!(error.to_string(), expected);
    };
    for dry_run in [true, false] {
        let mut query = RewindQuery::default();
        (query.to_turn, query.dry_run) = (Some(1), dry_run);
        refused(&sessions.rewind(&session, &query, &watch()).unwrap_err(), "rewound");
        refused(&sessions.repair(&session, dry_run, &watch()).unwrap_err(), "repaired");
    }
    refused(&sessions.undo(&session, &watch()).unwrap_err(), "undone");
    // The same applies to a mirrored session opened by its path.
    fs::remove_file(clouded.mirrored(PROJECT, "s").join(".trommel-change.json")).unwrap();
    let opened = trommel_session::Session::open(clouded.mirrored(PROJECT, "s")).unwrap();
    refused(&sessions.undo(&opened, &watch()).unwrap_err(), "undone");
    let after = contents(clouded.mirror.path());
    assert!(before.iter().filter(|(path, _)| !path.ends_with(".trommel-change.json")).eq(&after));
}

#[test]
fn changes_only_the_local_copy() {
    let clouded = Clouded::new();
    clouded.home.turns("s", 3);
    clouded.mirror("s", 3, "");
    let before = contents(clouded.mirror.path());
    let sessions = clouded.sessions();
    let session = sessions.find("s").unwrap();
    let mut query = RewindQuery::default();
    (query.to_turn, query.dry_run) = (Some(1), false);
    assert_eq!(sessions.rewind(&session, &query, &watch()).unwrap().new_turn_count, 1);
    assert_eq!(sessions.undo(&session, &watch()).unwrap().undone, "rewind");
    assert_eq!(contents(clouded.mirror.path()), before);
}

#[test]
fn ignores_other_files_in_a_mirror() {
    let clouded = Clouded::new();
    clouded.mirror("s", 1, "");
    let projects = clouded.mirror.path().join("projects");
    let sessions = projects.join(PROJECT).join("sessions");
    for folder in
        [projects.join(".new/sessions/x"), sessions.join(".new"), clouded.mirror.path().join(".lock")]
    {
        fs::create_dir_all(folder).unwrap();
    }
    for file in [projects.join(".state"), sessions.join(".state"), sessions.join("s/.state.json")] {
        fs::write(file, "{\"question 1\": ").unwrap();
    }
    assert_eq!(clouded.listed(|query| query.top_level_only = false), [("s".to_owned(), Source::Cloud)]);
    let found = clouded.sessions().search(&SearchQuery::new("question 1"), &watch()).unwrap();
    assert_eq!((found.total_count, found.damage.is_none(), found.problems.len()), (1, true, 0));
}

/// R37: sessions in the cloud are listed and searched offline, and the answer reports the missing
/// connection.
#[test]
fn r37_reports_a_missing_connection() {
    let clouded = Clouded::new();
    clouded.mirror("s", 1, "");
    let offline = clouded.home.sessions.clone().cloud(clouded.mirror.path(), false);
    let listing = offline.list(&ListQuery::default(), &watch()).unwrap();
    assert_eq!((listing.total, listing.connected), (1, false));
    let found = offline.search(&SearchQuery::new("question"), &watch()).unwrap();
    assert_eq!((found.total_count, found.connected), (1, Some(false)));
    assert!(!offline.sync_status(None).unwrap().connected);
    assert!(clouded.sessions().list(&ListQuery::default(), &watch()).unwrap().connected);
    assert!(clouded.sessions().sync_status(Some("s")).unwrap().connected);
    // Without a cloud, only lists mention a connection. An empty mirror has no sessions.
    let found = clouded.home.sessions.search(&SearchQuery::new("question"), &watch()).unwrap();
    assert!(serde_json::to_value(&found).unwrap().get("connected").is_none());
    let empty = Sessions::new().cloud(clouded.mirror.path().join("none"), true);
    assert_eq!(empty.list(&ListQuery::default(), &watch()).unwrap().total, 0);
}
