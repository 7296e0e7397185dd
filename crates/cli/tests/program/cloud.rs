//! `trommel sessions` on two machines that share a storage folder (feature `cloud`).

mod settings;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::common::{Folder, Run, trommel, words};
use crate::terminal::shown_plainly;

/// Two machines and their storage.
struct World(Folder);

impl World {
    /// Creates the storage.
    fn new(name: &str) -> Self {
        let world = Self::without_storage(name);
        fs::create_dir(world.0.path("storage")).unwrap();
        fs::write(world.0.path("storage/.trommel-storage"), "").unwrap();
        world
    }

    /// Names a storage that does not exist.
    fn without_storage(name: &str) -> Self {
        let world = Self(Folder::new(&format!("cloud-{name}")));
        for machine in ["one", "two"] {
            world.settings(machine, "");
        }
        world
    }

    /// Writes the settings of a machine: the location of the storage, and `more`.
    fn settings(&self, machine: &str, more: &str) {
        let storage = self.0.path("storage");
        let text = format!(
            "theme: dark\nsession_storage:\n  user_id: ada\n  device_id: {machine}\n  objects:\n    url: file://{}\n{more}",
            storage.display()
        );
        fs::create_dir_all(self.0.path(machine).join("amplifier")).unwrap();
        fs::write(self.0.path(machine).join("amplifier/settings.yaml"), text).unwrap();
    }

    fn folder(&self, machine: &str, id: &str) -> PathBuf {
        self.0.path(machine).join("amplifier/projects/-app/sessions").join(id)
    }

    fn write(&self, machine: &str, id: &str, said: &[&str]) {
        fs::create_dir_all(self.folder(machine, id)).unwrap();
        let line = |text: &&str| format!("{{\"role\": \"user\", \"content\": \"{text}\"}}\n");
        fs::write(
            self.folder(machine, id).join("transcript.jsonl"),
            said.iter().map(line).collect::<String>(),
        )
        .unwrap();
    }

    fn said(&self, machine: &str, id: &str) -> String {
        fs::read_to_string(self.folder(machine, id).join("transcript.jsonl")).unwrap()
    }

    fn of(&self, machine: &str, line: &str) -> Command {
        let mut command = trommel(words(&format!("sessions {line}")));
        command.env("AMPLIFIER_HOME", self.0.path(machine).join("amplifier"));
        command.env("CLAUDE_CONFIG_DIR", self.0.path(machine).join("claude"));
        command.env("TROMMEL_HOME", self.0.path(machine).join("home"));
        for name in ["COSMOS_ENDPOINT", "AMPLIFIER_COSMOS_ENDPOINT", "TROMMEL_OBJECTS_URL"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, machine: &str, line: &str) -> Run {
        Run::of(self.of(machine, line).output().unwrap())
    }

    fn json(&self, machine: &str, line: &str) -> Value {
        self.run(machine, &format!("{line} --json")).json()
    }
}

#[test]
fn sessions_are_synced_between_machines() {
    let world = World::new("go");
    world.write("one", "5d1c", &["hello", "how are you"]);
    assert_eq!(world.json("one", "sync 5d1c")["sessions"][0]["status"], "ahead");
    assert!(!world.0.path("storage/ada").exists(), "nothing is sent unless it is asked for");
    let shown = shown_plainly(world.of("one", "sync --apply"));
    assert_eq!(shown.trim(), "1 synced.");
    let listed = world.json("two", "list");
    assert_eq!((&listed["connected"], &listed["sessions"][0]["source"]), (&true.into(), &"cloud".into()));
    assert_eq!(world.json("two", "search how")["total_count"], 1);
    assert_eq!(world.json("two", "list --local")["total"], 0);
    assert_eq!(world.json("two", "rewind 5d1c --to-turn 1")["would_remove"]["messages"], 1);
    assert_eq!(world.json("two", "rewind 5d1c --to-turn 1 --apply")["backup_created"], true);
    assert_eq!(world.json("one", "sync --apply")["synced"], 1);
    assert_eq!(world.said("one", "5d1c").lines().count(), 1);
}

#[test]
fn conflicts_are_reported_shown_and_resolved() {
    let world = World::new("conflict");
    world.write("one", "5d1c", &["hello"]);
    world.json("one", "sync --apply");
    world.json("two", "sync 5d1c --apply");
    world.write("one", "5d1c", &["hello", "from one"]);
    world.write("two", "5d1c", &["hello", "from two"]);
    world.json("one", "sync --apply");
    let run = world.run("two", "sync 5d1c --apply");
    assert_eq!(run.status, Some(1));
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["conflicts"], &report["sessions"][0]["outcome"]), (&1.into(), &"conflict".into()));
    let there = world.0.path("there");
    world.run("two", &format!("sync 5d1c --show {}", there.display())).ok();
    assert!(fs::read_to_string(there.join("transcript.jsonl")).unwrap().contains("from one"));
    assert_eq!(world.json("two", "sync 5d1c --apply --resolve merge")["synced"], 1);
    world.json("one", "sync --apply");
    assert_eq!(world.said("one", "5d1c"), world.said("two", "5d1c"));
    assert_eq!(world.said("one", "5d1c").lines().count(), 3);
}

#[test]
fn kept_sessions_are_not_pushed() {
    let world = World::new("kept");
    world.write("one", "5d1c", &["hello"]);
    world.run("one", "sync 5d1c --keep").ok();
    assert_eq!(world.json("one", "sync --apply")["kept"], 1);
    world.run("one", "sync 5d1c --send").ok();
    world.settings("one", "  sync: {policy: none}\n");
    assert_eq!(world.json("one", "sync --apply")["kept"], 1);
    world.settings("one", "  sync: {projects: ['-app']}\n");
    assert_eq!(world.json("one", "sync --apply")["synced"], 1);
}

#[test]
fn r37_unreachable_storages_are_reported_and_block_nothing() {
    let world = World::without_storage("offline");
    world.write("one", "5d1c", &["hello"]);
    // Puts a file in place of the storage.
    fs::write(world.0.path("storage"), "").unwrap();
    let run = world.run("one", "list --json");
    assert!(run.err.contains("last known state"), "{}", run.err);
    let listed: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&listed["connected"], &listed["total"]), (&false.into(), &1.into()));
    assert!(world.run("one", "sync --apply").failed(1).contains("not a"));
    let shown = shown_plainly(world.of("one", "sync"));
    assert!(shown.starts_with("The cloud is unreachable: ") && shown.contains("1 to push."), "{shown}");
}

#[test]
fn invalid_settings_are_refused_without_secrets() {
    let world = World::new("settings");
    let path = world.0.path("one").join("amplifier/settings.yaml");
    let text =
        "session_storage:\n  cosmos:\n    endpoint: https://x.documents.azure.com\n    key: opensesame\n";
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let said = world.run("one", "sync").failed(2);
    assert!(said.contains("chmod 600") && !said.contains("opensesame"), "{said}");
    fs::write(&path, "session_storage: {mode: hybrid}\n").unwrap();
    let said = world.run("one", "sync --apply").failed(2);
    assert!(said.contains("session_storage.cosmos.endpoint"), "{said}");
    fs::remove_file(&path).unwrap();
    let said = world.run("one", "sync --apply").failed(2);
    assert!(said.contains("no storage is configured"), "{said}");
}

#[test]
fn all_downloads_cloud_only_sessions() {
    let world = World::new("all");
    world.write("one", "5d1c", &["hello"]);
    world.write("one", "77aa", &["hello", "again"]);
    assert_eq!(world.json("one", "sync --apply")["synced"], 2);
    let shown = shown_plainly(world.of("two", "sync --apply"));
    assert!(shown.contains("2 sessions only in the cloud") && shown.contains("--all"), "{shown}");
    assert_eq!(world.json("two", "sync --apply")["cloud_only"], 2);
    let said = world.run("two", "sync --all").failed(2);
    assert!(said.contains("--apply"), "{said}");
    let report = world.json("two", "sync --apply --all");
    assert_eq!((&report["synced"], &report["sessions"]), (&2.into(), &Value::Array(Vec::new())));
    assert_eq!(world.said("two", "77aa"), world.said("one", "77aa"));
    let report = world.json("two", "sync --apply --all");
    assert_eq!((&report["synced"], report.get("cloud_only")), (&2.into(), None));
}

#[test]
fn only_sessions_given_by_id_are_synced() {
    let world = World::new("path");
    world.write("one", "5d1c", &["hello"]);
    let folder = world.folder("one", "5d1c");
    for option in ["--apply", "--keep", "--send"] {
        let said = world.run("one", &format!("sync {} {option}", folder.display())).failed(2);
        assert!(said.contains("pass its ID") && !said.contains("no storage"), "{said}");
    }
    let run = world.run("one", &format!("sync {}", folder.display()));
    assert!(run.status == Some(0) && run.err.contains("pass its ID"), "{run:?}");
    assert_eq!(world.json("one", "sync 5d1c --apply")["synced"], 1);
}

/// Invalid storage settings do not prevent local answers, which report them.
#[test]
fn invalid_settings_do_not_block_local_answers() {
    let world = World::without_storage("wrong");
    world.write("one", "5d1c", &["hello", "again"]);
    let path = world.0.path("one").join("amplifier/settings.yaml");
    for text in [
        "session_storage: {cosmos: {endpoint: 'https://x.documents.azure.com', auth_method: connection_string}}",
        "session_storage: {mode: hybrid}",
        "session_storage: {mode: cloud}",
        "session_storage: {objects: {url: 'ftp://x'}}",
        "session_storage: {connect_timeout_ms: soon}",
        "session_storage: [",
    ] {
        fs::write(&path, text).unwrap();
        for line in
            ["list", "search hello", "get 5d1c --transcript", "diagnose 5d1c", "rewind 5d1c --to-turn 1"]
        {
            let run = world.run("one", &format!("{line} --json"));
            assert_eq!(run.status, Some(0), "{text}: {line}: {run:?}");
            assert_eq!(
                run.err.matches("only sessions of this machine").count(),
                1,
                "{text}: {line}: {}",
                run.err
            );
        }
        assert_eq!(serde_json::from_str::<Value>(&world.run("one", "list --json").out).unwrap()["total"], 1);
        for line in ["sync", "sync --apply", "sync 5d1c"] {
            world.run("one", line).failed(2);
        }
    }
    // The folder of sessions is a separate setting and remains valid.
    let text = format!(
        "session_storage:\n  objects: {{url: 'ftp://x'}}\n  local: {{path: '{}'}}\n",
        world.0.path("one").join("amplifier").display()
    );
    let home = world.0.path("user");
    fs::create_dir_all(home.join(".amplifier")).unwrap();
    fs::write(home.join(".amplifier/settings.yaml"), text).unwrap();
    let mut command = trommel(words("sessions list --json"));
    command.env("HOME", home).env("TROMMEL_HOME", world.0.path("state")).env_remove("TROMMEL_OBJECTS_URL");
    let run = Run::of(command.output().unwrap());
    assert_eq!(serde_json::from_str::<Value>(&run.out).unwrap()["total"], 1, "{run:?}");
}

/// A missing folder is unreachable, and created only on request.
#[test]
fn storages_are_created_only_on_request() {
    let world = World::without_storage("create");
    world.write("one", "5d1c", &["hello"]);
    let run = world.run("one", "list --json");
    assert!(run.err.contains("does not exist") && run.err.contains("--create"), "{}", run.err);
    let listed: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&listed["connected"], &listed["total"]), (&false.into(), &1.into()));
    let shown = shown_plainly(world.of("one", "sync"));
    assert!(shown.contains("does not exist"), "{shown}");
    assert!(world.run("one", "sync --apply").failed(1).contains("--create"));
    assert!(world.run("one", "sync --create").failed(2).contains("--apply"));
    assert!(!world.0.path("storage").exists());
    assert_eq!(world.json("one", "sync --apply --create")["synced"], 1);
    assert_eq!(world.json("two", "list")["total"], 1);
    assert_eq!(world.json("one", "sync --apply --create")["synced"], 1, "one that is there stays");
}

/// A warning from several steps of a call is reported once.
#[test]
fn warnings_are_reported_once() {
    let world = World::without_storage("once");
    world.write("one", "5d1c", &["hello"]);
    world.json("one", "sync --apply --create");
    world.json("two", "list");
    fs::remove_dir_all(world.0.path("storage")).unwrap();
    for line in ["list", "search hello", "get 5d1c", "analyze 5d1c usage"] {
        let run = world.run("two", &format!("{line} --json"));
        assert!(run.err.matches("is not there").count() <= 1, "{line}: {}", run.err);
    }
}
