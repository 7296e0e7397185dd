//! What users are promised about wrapped servers: the story of a large file, secrets, and the
//! state after a crash.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::client::{Client, VERSIONS, odd};
use crate::common::trommel;

fn wrapped() -> Client {
    Client::connected(&["--wrap", &format!("odd={}", odd(&[]))], VERSIONS[3])
}

/// Runs a command on the state of a client.
fn run(home: &Path, args: &[&str]) -> String {
    let output = trommel(args).env("TROMMEL_HOME", home).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// All files below a folder.
fn all_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { all_files(&path) } else { vec![path] }).collect()
}

/// A million records, of which a model sees less than 12,000 characters in six answers.
#[test]
fn five_questions_about_fifty_megabytes_have_short_answers() {
    let mut client = wrapped();
    let manifest = client.text("odd_big", json!({"shape": "text", "items": 1_000_000}));
    assert!(manifest.chars().count() < 2_000, "{manifest}");
    let id = manifest.split("as output ").nth(1).unwrap().split(':').next().unwrap().trim().to_owned();
    let mut chars = 0;
    let mut ask = |tool: &str, arguments: Value| {
        let mut arguments = arguments;
        arguments["id"] = id.as_str().into();
        let answer = client.call(tool, arguments);
        chars += answer["result"]["content"].to_string().chars().count();
        let structured = answer["result"]["structuredContent"].clone();
        assert!(structured.is_object(), "{answer}");
        structured
    };
    let counts = json!([{"name": "users", "path": "$.users"}, {"name": "high", "path": "$.users[?@.score > 999000]", "count_type": "matches"}]);
    let counted = ask("tool_outputs_count", json!({"counts": counts}));
    assert_eq!(
        (&counted["counts"]["users"], &counted["counts"]["high"]),
        (&1_000_000.into(), &1_000.into()),
        "{counted}"
    );
    let shape = ask("tool_outputs_stats", json!({}));
    assert_eq!(shape["arrays"][0], json!({"path": "$.users", "length": 1_000_000, "item_type": "object"}));
    let found = ask("tool_outputs_extract", json!({"paths": ["$.users[?@.id == 777777].name"]}));
    assert!(found.to_string().contains("user 777777 é"), "{found}");
    let grouped = ask("tool_outputs_aggregate", json!({"each": "$.users[?@.id < 4]", "by": ["$.score"]}));
    assert_eq!(grouped["total_groups"], 4, "{grouped}");
    let hits = ask("tool_outputs_search", json!({"pattern": "user 99999 "}));
    assert_eq!(hits["matches"].as_array().map(Vec::len), Some(1), "{hits}");
    assert!(chars < 10_000, "{chars} characters");
}

#[test]
fn r19_outputs_of_other_processes_are_visible_at_once() {
    let mut client = wrapped();
    let manifest = client.text("odd_big", json!({"shape": "text", "items": 2_000}));
    let listed = run(client.home.path(), &["list", "--json"]);
    assert!(listed.contains("odd_big") && manifest.contains("as output"), "{listed}");
    let folder = tempfile::tempdir().unwrap();
    let payload = folder.path().join("a.json");
    fs::write(&payload, r#"{"a":1}"#).unwrap();
    let id = run(client.home.path(), &["put", "--tool", "other", payload.to_str().unwrap()]);
    let start = Instant::now();
    let read = client.answer("tool_outputs_read", json!({"id": id.trim()}));
    assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
    assert!(read.to_string().contains(r#""a":1"#), "{read}");
}

#[test]
fn r25_secrets_are_in_no_file_and_no_message() {
    const CANARY: &str = "canary-5ecret-77";
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<String> = odd(&[]).split(' ').map(str::to_owned).collect();
    let servers = json!({
        "odd": {"command": words[0], "args": words[1..], "env": {"API_KEY": CANARY}},
        "web": {"url": format!("http://user:{CANARY}@127.0.0.1:9/mcp?key={CANARY}"), "headers": {"Authorization": format!("Bearer {CANARY}")}},
    });
    let file = folder.path().join("mcp.json");
    fs::write(&file, json!({ "mcpServers": servers }).to_string()).unwrap();
    let mut client = Client::connected(&["--config", file.to_str().unwrap()], VERSIONS[3]);
    let secret = json!({"password": CANARY, "items": 2_000, "shape": "text"});
    let manifest = client.text("odd_big", secret.clone());
    let refused = client.call("odd_refuse", secret.clone()).to_string();
    let missing = client.call("web_find", secret).to_string();
    for text in [&manifest, &refused, &missing] {
        assert!(!text.contains(CANARY), "{text}");
    }
    let (_, home) = client.close();
    assert!(run(home.path(), &["history", "--json"]).contains("odd_refuse"));
    for file in all_files(home.path()) {
        let bytes = fs::read(&file).unwrap();
        assert_eq!(memchr::memmem::find(&bytes, CANARY.as_bytes()), None, "{}", file.display());
    }
}

/// A client whose program is storing a result that does not end.
fn storing() -> Client {
    let mut client = wrapped();
    client.tools();
    client.start_request("tools/call", json!({"name": "odd_endless", "arguments": {}}));
    let start = Instant::now();
    while client.leftovers() == 0 {
        assert!(start.elapsed() < Duration::from_secs(10), "nothing is being stored");
        std::thread::sleep(Duration::from_millis(5));
    }
    client
}

/// A killed program leaves no output, and what it had written so far is removed as all leftovers.
#[test]
fn r48_killed_while_storing() {
    let mut client = storing();
    kill_process(Pid::from_raw(client.id().cast_signed()).unwrap(), Signal::KILL).unwrap();
    client.wait();
    let home = client.home.path();
    assert!(run(home, &["list", "--json"]).contains("\"total\":0"));
    for file in all_files(&home.join("outputs/pending")) {
        let file = File::options().write(true).open(file).unwrap();
        let written = file.metadata().unwrap().modified().unwrap();
        file.set_modified(written - Duration::from_hours(2)).unwrap();
    }
    run(home, &["gc"]);
    assert_eq!(client.leftovers(), 0);
    run(home, &["verify"]);
}

/// Signals end the program within five seconds, and nothing is left of a result that was arriving.
#[test]
fn r48_stopped_while_storing() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let mut client = storing();
        let start = Instant::now();
        kill_process(Pid::from_raw(client.id().cast_signed()).unwrap(), signal).unwrap();
        assert_eq!(client.wait(), Some(status));
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert_eq!(client.leftovers(), 0);
    }
}
