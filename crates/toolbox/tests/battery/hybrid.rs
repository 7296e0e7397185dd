//! `session` over sessions of two machines and of the storage between them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use trommel_blocks::{Folders, Owner, SyncedOptions, SyncedSessions};
use trommel_session::Sessions;
use trommel_storage::FolderStorage;
use trommel_tool::{Context, Executor, Output, Registry};
use trommel_toolbox::sessions::{self, Bounds};

/// The tool on one machine, over its sessions and those of the storage.
struct Machine {
    home: PathBuf,
    executor: Executor,
}

impl Machine {
    fn new(shared: &TempDir, name: &str) -> Self {
        let home = shared.path().join(name);
        let storage = Arc::new(FolderStorage::make(shared.path().join("storage")).unwrap());
        let folders = Folders::new(home.join("amplifier"), home.join("state"));
        let known = Sessions::new().amplifier(&folders.local);
        let mut options = SyncedOptions::new(known, folders, Owner::new("ada", name), storage);
        (options.freshness, options.rest) = (Duration::ZERO, Duration::ZERO);
        let registry = Registry::new();
        let hybrid = Arc::new(SyncedSessions::new(options).unwrap());
        sessions::register_hybrid(&registry, hybrid, Bounds::default()).unwrap();
        Self { home, executor: Executor::new(Arc::new(registry)) }
    }

    fn write(&self, id: &str, file: &str, text: &str) {
        let folder = self.home.join("amplifier/projects/-app/sessions").join(id);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), text).unwrap();
    }

    fn ask(&self, arguments: Value) -> Result<Value, String> {
        let result = self.executor.call("session", arguments, &Context::new(".")).result;
        match result.output {
            Some(Output::Json(answer)) => Ok(serde_json::from_str(answer.get()).unwrap()),
            _ => Err(result.error.unwrap().to_string()),
        }
    }

    fn ok(&self, arguments: Value) -> Value {
        self.ask(arguments).unwrap()
    }
}

fn said(turns: u64) -> String {
    let said = (1..=turns).map(|turn| format!("{{\"role\":\"user\",\"content\":\"question {turn}\"}}\n"));
    said.collect::<Vec<_>>().concat()
}

#[test]
fn syncs_a_session_between_machines_and_back() {
    let shared = tempfile::tempdir().unwrap();
    let (one, two) = (Machine::new(&shared, "one"), Machine::new(&shared, "two"));
    one.write("5d1c", "transcript.jsonl", &said(3));
    one.write(
        "5d1c",
        "events.jsonl",
        "{\"event\":\"tool:pre\",\"data\":{\"tool_name\":\"t\",\"tool_input\":{\"x\":1}}}\n",
    );
    let status = one.ok(json!({"operation": "sync_status", "session_id": "5d1c"}));
    assert_eq!((&status["connected"], &status["sessions"][0]["status"]), (&json!(true), &json!("ahead")));
    let report = one.ok(json!({"operation": "sync"}));
    assert_eq!((&report["synced"], &report["sessions"]), (&json!(1), &json!([])));
    // All operations work on the machine that has no copy.
    let listed = two.ok(json!({"operation": "list"}));
    assert_eq!((&listed["connected"], &listed["sessions"][0]["source"]), (&json!(true), &json!("cloud")));
    assert_eq!(two.ok(json!({"operation": "list", "include_cloud": false}))["total"], 0);
    let got = two.ok(json!({"operation": "get", "session_id": "5", "include_transcript": true}));
    assert_eq!(got["transcript"].as_array().unwrap().len(), 3);
    assert_eq!(two.ok(json!({"operation": "search", "query": "QUESTION 2"}))["total_count"], 1);
    let events =
        two.ok(json!({"operation": "get_events", "session_id": "5d1c", "fields": ["data.tool_input.x"]}));
    assert_eq!(events["events"][0]["data"]["tool_input"]["x"], 1);
    let figures = json!({"operation": "analyze_events", "session_id": "5d1c", "analysis_type": "aggregate", "field": "data.tool_input.x"});
    assert_eq!(two.ok(figures)["groups"][0]["sum"], 1.0);
    // Rewound on the other machine, and visible on this one.
    let rewind =
        |dry_run| json!({"operation": "rewind", "session_id": "5d1c", "to_turn": 1, "dry_run": dry_run});
    assert_eq!(two.ok(rewind(true))["would_remove"]["messages"], 2);
    assert_eq!(two.ok(json!({"operation": "list"}))["sessions"][0]["source"], "cloud");
    assert_eq!(two.ok(rewind(false))["backup_created"], true);
    assert_eq!(two.ok(json!({"operation": "list"}))["sessions"][0]["source"], "both");
    one.ok(json!({"operation": "sync", "session_id": "5d1c"}));
    let got = one.ok(json!({"operation": "get", "session_id": "5d1c", "include_transcript": true}));
    assert_eq!(got["transcript"].as_array().unwrap().len(), 1);
}

#[test]
fn conflicts_are_reported_and_resolved() {
    let shared = tempfile::tempdir().unwrap();
    let (one, two) = (Machine::new(&shared, "one"), Machine::new(&shared, "two"));
    one.write("5d1c", "transcript.jsonl", &said(1));
    one.ok(json!({"operation": "sync"}));
    two.ok(json!({"operation": "sync", "session_id": "5d1c"}));
    one.write("5d1c", "transcript.jsonl", &(said(1) + "{\"role\":\"user\",\"content\":\"another\"}\n"));
    two.write("5d1c", "transcript.jsonl", &said(3));
    one.ok(json!({"operation": "sync"}));
    let report = two.ok(json!({"operation": "sync", "session_id": "5d1c"}));
    assert_eq!((&report["conflicts"], &report["sessions"][0]["outcome"]), (&json!(1), &json!("conflict")));
    let status = two.ok(json!({"operation": "sync_status", "session_id": "5d1c"}));
    assert_eq!(status["sessions"][0]["status"], "conflict");
    let error = two.ask(json!({"operation": "sync", "session_id": "5d1c", "resolve": "coin"})).unwrap_err();
    assert!(error.contains("resolve"), "{error}");
    let report = two.ok(json!({"operation": "sync", "session_id": "5d1c", "resolve": "local"}));
    assert_eq!(report["synced"], 1);
    one.ok(json!({"operation": "sync"}));
    let got = one.ok(json!({"operation": "get", "session_id": "5d1c", "include_transcript": true}));
    assert_eq!(got["transcript"].as_array().unwrap().len(), 3);
}

#[test]
fn unreachable_storage_is_reported_as_a_problem() {
    let shared = tempfile::tempdir().unwrap();
    let one = Machine::new(&shared, "one");
    one.write("5d1c", "transcript.jsonl", &said(1));
    // A file takes the path of the storage's folder, so the storage is not usable.
    fs::remove_dir_all(shared.path().join("storage")).unwrap();
    fs::write(shared.path().join("storage"), "").unwrap();
    let listed = one.ok(json!({"operation": "list"}));
    assert_eq!((&listed["connected"], &listed["total"]), (&json!(false), &json!(1)));
    assert!(listed["problems"][0].as_str().unwrap().contains("last known state"), "{listed}");
    let found = one.ok(json!({"operation": "search", "query": "question"}));
    assert_eq!((&found["connected"], &found["total_count"]), (&json!(false), &json!(1)));
    assert!(one.ok(json!({"operation": "get", "session_id": "5d1c"})).get("problems").is_none());
    assert!(one.ask(json!({"operation": "sync"})).is_err());
}

#[test]
fn all_downloads_sessions_that_are_only_in_the_cloud() {
    let shared = tempfile::tempdir().unwrap();
    let (one, two) = (Machine::new(&shared, "one"), Machine::new(&shared, "two"));
    for id in ["5d1c", "77aa", "child"] {
        one.write(id, "transcript.jsonl", &said(2));
    }
    one.write("child", "metadata.json", r#"{"session_id": "child", "parent_id": "5d1c"}"#);
    assert_eq!(one.ok(json!({"operation": "sync"}))["synced"], 3);
    let report = two.ok(json!({"operation": "sync"}));
    assert_eq!((&report["synced"], &report["cloud_only"]), (&json!(0), &json!(3)));
    let would = two.ok(json!({"operation": "sync", "all": true, "dry_run": true}));
    assert_eq!((&would["connected"], &would["cloud_only"]), (&json!(true), &json!(3)));
    two.write("88bb", "transcript.jsonl", &said(1));
    let report = two.ok(json!({"operation": "sync", "all": true}));
    assert_eq!((&report["synced"], &report["sessions"]), (&json!(4), &json!([])));
    assert!(report.get("cloud_only").is_none(), "{report}");
    let listed = two.ok(json!({"operation": "list", "include_cloud": false, "top_level_only": false}));
    assert_eq!(listed["total"], 4);
    let error = two.ask(json!({"operation": "sync", "all": true, "session_id": "5d1c"})).unwrap_err();
    assert!(error.contains("omit either"), "{error}");
    assert!(two.ask(json!({"operation": "sync_status", "all": true})).is_err());
}

#[test]
fn dry_run_reports_the_sync_status_and_changes_nothing() {
    let shared = tempfile::tempdir().unwrap();
    let one = Machine::new(&shared, "one");
    one.write("5d1c", "transcript.jsonl", &said(2));
    let of_one = |dry_run| json!({"operation": "sync", "session_id": "5d1c", "dry_run": dry_run});
    let would = one.ok(of_one(true));
    assert_eq!(would, one.ok(json!({"operation": "sync_status", "session_id": "5d1c"})));
    assert_eq!(would["sessions"][0]["status"], "ahead");
    let would = one.ok(json!({"operation": "sync", "dry_run": true}));
    assert_eq!(would, one.ok(json!({"operation": "sync_status"})));
    assert!(!shared.path().join("storage/ada").exists(), "nothing was sent");
    assert_eq!(one.ok(of_one(false))["synced"], 1);
    assert_eq!(one.ok(of_one(true))["sessions"][0]["status"], "synced");
}
