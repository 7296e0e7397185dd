//! Settings of storages: where sessions are by them, whose, and what is told of them.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::World;
use crate::common::{Run, trommel, words};

impl World {
    /// A machine by its home alone, where no folder is given.
    fn at_home(&self, line: &str) -> Command {
        let mut command = trommel(words(line));
        command.env("HOME", self.0.path("home")).env("TROMMEL_HOME", self.0.path("state"));
        for name in ["COSMOS_ENDPOINT", "AMPLIFIER_COSMOS_ENDPOINT", "TROMMEL_OBJECTS_URL"] {
            command.env_remove(name);
        }
        command
    }

    /// The settings of that home: where the storage is, and more. Neither a user nor a device.
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
fn the_folder_that_is_listed_is_the_one_that_is_sent() {
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
    // A folder that is given wins, for both.
    world.settings("two", &format!("  local: {{path: '{}'}}\n", local.display()));
    assert_eq!(world.json("two", "list --local")["sessions"][0]["session_id"], "77aa");
    let report = world.json("two", "sync --apply");
    assert_eq!((&report["synced"], &report["failed"]), (&1.into(), &0.into()), "{report}");
    // Without a storage, too.
    world.home_settings(&format!("  mode: local\n  local: {{path: '{}'}}\n", local.display()));
    let listed = run(world.at_home("sessions list")).json();
    assert_eq!((&listed["total"], &listed["connected"]), (&1.into(), &false.into()));
}

#[test]
fn local_opens_no_storage_and_cloud_names_the_mode_to_use() {
    let world = World::new("modes");
    world.write("one", "5d1c", &["hello"]);
    assert_eq!(world.json("one", "sync --apply")["synced"], 1);
    world.settings("two", "  mode: local\n");
    let listed = world.json("two", "list");
    assert_eq!((&listed["total"], &listed["connected"]), (&0.into(), &false.into()));
    assert!(world.run("two", "sync --apply").failed(2).contains("no storage is named"));
    world.settings("two", "  mode: cloud\n");
    assert!(world.run("two", "sync").failed(2).contains("set it to `hybrid`"));
    for mode in ["  mode: hybrid\n", ""] {
        world.settings("two", mode);
        let listed = world.json("two", "list");
        assert_eq!((&listed["total"], &listed["connected"]), (&1.into(), &true.into()));
    }
}

#[test]
fn a_filter_without_projects_is_refused() {
    let world = World::new("filter");
    world.write("one", "5d1c", &["hello"]);
    world.settings("one", "  sync: {policy: sync_filter}\n");
    let said = world.run("one", "sync --apply").failed(2);
    assert!(said.contains("session_storage.sync.projects"), "{said}");
    assert!(!world.0.path("storage/ada").exists(), "nothing was sent");
}

#[test]
fn misspelt_settings_are_told_by_every_sync() {
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
    // Where the misspelt one is what names the storage, nothing else would tell.
    let path = world.0.path("one").join("amplifier/settings.yaml");
    fs::write(path, "session_storage: {cosmos: {endpiont: x}}\n").unwrap();
    assert!(world.run("one", "list").err.contains("did you mean `endpoint`?"));
}

#[test]
fn an_empty_name_of_the_device_is_no_end() {
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
fn whoever_is_logged_in_may_be_called_anything() {
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
fn a_model_is_told_of_settings_that_cannot_be() {
    let world = World::new("told");
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
        assert!(problem.contains("this machine only") && problem.contains("`hybrid`"), "{answer}");
    }
}
