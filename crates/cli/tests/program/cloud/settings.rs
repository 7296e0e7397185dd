//! Storage settings: the location of sessions, their user, and messages about settings.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::World;
use crate::common::{Run, trommel, words};

impl World {
    /// A machine with a home directory and no given folder.
    fn at_home(&self, line: &str) -> Command {
        let mut command = trommel(words(line));
        command.env("HOME", self.0.path("home")).env("TROMMEL_HOME", self.0.path("state"));
        for name in ["COSMOS_ENDPOINT", "AMPLIFIER_COSMOS_ENDPOINT", "TROMMEL_OBJECTS_URL"] {
            command.env_remove(name);
        }
        command
    }

    /// Writes the settings of that home, with neither a user nor a device.
    fn home_settings(&self, more: &str) {
        let storage = self.0.path("storage");
        let text = format!("session_storage:\n  objects:\n    url: file://{}\n{more}", storage.display());
        fs::create_dir_all(self.0.path("home").join(".amplifier")).unwrap();
        fs::write(self.0.path("home").join(".amplifier/settings.yaml"), text).unwrap();
    }
}

fn run(mut command: Command) -> Run {
    Run::of(command.output().unwrap())
}

#[test]
fn the_listed_folder_is_the_synced_folder() {
    let world = World::new("folder");
    for (machine, id) in [("one", "5d1c"), ("two", "77aa")] {
        world.write(machine, id, &["hello"]);
        fs::write(world.folder(machine, id).join("metadata.json"), "{}").unwrap();
    }
    let local = world.0.path("one").join("amplifier");
    world.home_settings(&format!("  local: {{path: '{}'}}\n", local.display()));
    let listed = run(world.at_home("sessions list")).json();
    assert_eq!((&listed["total"], &listed["sessions"][0]["session_id"]), (&1.into(), &"5d1c".into()));
    assert_eq!(run(world.at_home("sessions sync 5d1c --apply")).json()["synced"], 1);
    // A given folder takes precedence for listing and sync.
    world.settings("two", &format!("  local: {{path: '{}'}}\n", local.display()));
    assert_eq!(world.json("two", "list --local")["sessions"][0]["session_id"], "77aa");
    let report = world.json("two", "sync --apply");
    assert_eq!((&report["synced"], &report["failed"]), (&1.into(), &0.into()), "{report}");
    // The same without a storage.
    world.home_settings(&format!("  mode: local\n  local: {{path: '{}'}}\n", local.display()));
    let listed = run(world.at_home("sessions list")).json();
    assert_eq!((&listed["total"], &listed["connected"]), (&1.into(), &false.into()));
}

#[test]
fn local_mode_opens_no_storage_and_cloud_mode_is_refused() {
    let world = World::new("modes");
    world.write("one", "5d1c", &["hello"]);
    assert_eq!(world.json("one", "sync --apply")["synced"], 1);
    world.settings("two", "  mode: local\n");
    let listed = world.json("two", "list");
    assert_eq!((&listed["total"], &listed["connected"]), (&0.into(), &false.into()));
    assert!(world.run("two", "sync --apply").failed(2).contains("no storage is configured"));
    world.settings("two", "  mode: cloud\n");
    assert!(world.run("two", "sync").failed(2).contains("set it to `hybrid`"));
    for mode in ["  mode: hybrid\n", ""] {
        world.settings("two", mode);
        let listed = world.json("two", "list");
        assert_eq!((&listed["total"], &listed["connected"]), (&1.into(), &true.into()));
    }
}

#[test]
fn filters_without_projects_are_refused() {
    let world = World::new("filter");
    world.write("one", "5d1c", &["hello"]);
    world.settings("one", "  sync: {policy: sync_filter}\n");
    let said = world.run("one", "sync --apply").failed(2);
    assert!(said.contains("session_storage.sync.projects"), "{said}");
    assert!(!world.0.path("storage/ada").exists(), "nothing was sent");
}

#[test]
fn misspelled_settings_are_reported_by_every_sync() {
    let world = World::new("notes");
    world.write("one", "5d1c", &["hello"]);
    world.settings("one", "  snyc: {}\n");
    let there = world.0.path("there");
    let show = format!("sync 5d1c --show {}", there.display());
    for line in ["sync", "sync --apply", &show, "sync 5d1c --keep", "sync 5d1c --send", "list"] {
        let run = world.run("one", line);
        assert_eq!(run.status, Some(0), "{line}: {run:?}");
        assert_eq!(run.err.matches("did you mean `sync`?").count(), 1, "{line}: {}", run.err);
    }
    let mut command = world.of("one", "sync --watch");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(said.contains("did you mean `sync`?"), "{said}");
    // If the misspelled key names the storage, this warning is the only sign of it.
    let path = world.0.path("one").join("amplifier/settings.yaml");
    fs::write(path, "session_storage: {cosmos: {endpiont: x}}\n").unwrap();
    assert!(world.run("one", "list").err.contains("did you mean `endpoint`?"));
}

#[test]
fn empty_device_names_are_accepted() {
    let world = World::new("device");
    world.home_settings("");
    let device = world.0.path("state").join("cloud/device");
    fs::create_dir_all(device.parent().unwrap()).unwrap();
    File::create(&device).unwrap();
    assert_eq!(run(world.at_home("sessions list")).json()["connected"], true);
    let named = fs::read_to_string(&device).unwrap();
    assert!(!named.is_empty());
    run(world.at_home("sessions list")).ok();
    assert_eq!(fs::read_to_string(&device).unwrap(), named);
}

#[test]
fn user_names_may_be_any_text() {
    let world = World::new("user");
    let home = world.0.path("home/.amplifier/projects/-app/sessions/5d1c");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("transcript.jsonl"), "{\"role\": \"user\", \"content\": \"hello\"}\n").unwrap();
    world.home_settings("");
    let mut command = world.at_home("sessions sync --apply");
    command.env("USER", "DOMAIN\\Ada L");
    assert_eq!(run(command).json()["synced"], 1);
    assert!(world.0.path("storage").join("DOMAIN-Ada-L").exists());
    world.home_settings("  user_id: Ada L\n");
    assert!(run(world.at_home("sessions sync")).failed(2).contains("cannot be a user"));
}

#[test]
fn models_get_errors_about_invalid_settings() {
    let world = World::new("invalid");
    world.home_settings("  mode: cloud\n");
    let home = world.0.path("home/.amplifier/projects/-app/sessions/5d1c");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("transcript.jsonl"), "{\"role\": \"user\", \"content\": \"hello\"}\n").unwrap();
    for asked in [
        r#"{"operation":"list"}"#,
        r#"{"operation":"search","query":"hello"}"#,
        r#"{"operation":"get","session_id":"5d1c","include_transcript":true}"#,
        r#"{"operation":"sync_status"}"#,
        r#"{"operation":"rewind","session_id":"5d1c","to_turn":1}"#,
    ] {
        let answer: Value = run(world.at_home(&format!("call session '{asked}'"))).json();
        let problem = answer["problems"][0].as_str().unwrap_or_default();
        assert!(
            problem.contains("only sessions of this machine") && problem.contains("`hybrid`"),
            "{answer}"
        );
    }
}
