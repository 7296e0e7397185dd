//! Sessions found by project and path, and the messages if there is none or something else is in
//! its place.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{APP, Home, PROJECT, WEB, metadata, refusal, turns};
use crate::common::Run;

/// Runs a command that must end without further input.
fn ended(mut command: Command) -> Option<Run> {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(20) {
        if child.try_wait().unwrap().is_some() {
            return Some(Run::of(child.wait_with_output().unwrap()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

#[test]
fn no_command_blocks_on_a_pipe_in_place_of_a_file() {
    let commands = [
        "list",
        "search question",
        "get 5d1c --transcript --events-summary",
        "events 5d1c",
        "analyze 5d1c summary",
        "analyze 5d1c errors",
        "analyze 5d1c timeline",
        "analyze 5d1c usage",
        "analyze 5d1c aggregate --field data.duration_ms",
        "diagnose 5d1c",
        "sync 5d1c",
        "repair 5d1c",
        "repair 5d1c --apply",
        "rewind 5d1c --to-turn 1",
        "rewind 5d1c --to-turn 1 --apply",
        "undo 5d1c",
    ];
    for (number, name) in
        ["metadata.json", "transcript.jsonl", "events.jsonl", ".trommel-change.json"].iter().enumerate()
    {
        let home = Home::new(&format!("pipe-{number}"));
        let path = home.folder(APP).join(name);
        let _ = fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        for command in commands {
            let run = ended(home.of(command)).unwrap_or_else(|| panic!("{name}: {command} waits"));
            assert!(matches!(run.status, Some(0..=2)), "{name}: {command}: {run:?}");
        }
        let run = ended(home.of(&format!("get {}", home.folder(APP).display())));
        assert!(run.is_some(), "{name}: get by its path waits");
    }
    let home = Home::empty("pipe");
    let path = home.0.path("claude/projects/-home-u-web");
    fs::create_dir_all(&path).unwrap();
    let pipe = path.join("c1a2.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for command in ["list --all", "search x", "get c1a2", &format!("get {}", pipe.display())] {
        assert!(ended(home.of(command)).is_some(), "{command} waits");
    }
}

#[test]
fn a_folder_without_session_files_is_a_usage_error() {
    let home = Home::empty("folder");
    for folder in ["/etc", "/"] {
        let said = home.line(&format!("get {folder}")).failed(2);
        assert!(said.contains("is not a session: it is a folder without metadata.json"), "{said}");
        assert!(home.line(&format!("analyze {folder} usage")).status == Some(2));
    }
}

#[test]
fn projects_are_found_by_name_directory_or_part() {
    let home = Home::new("projects");
    for project in [PROJECT, "/home/u/app", "/home/u/app/", "app", "u/app", "APP"] {
        let listed = home.json(&format!("list --project {project}"));
        assert_eq!(listed["total"], 1, "{project}");
        assert_eq!(listed["sessions"][0]["project"], PROJECT, "{project}");
        let found = home.json(&format!("search question --project {project}"));
        assert!(found["total_count"].as_u64().unwrap() > 0, "{project}");
    }
    assert_eq!(home.json("list --project home-u")["total"], 2, "several may be meant");
    let listed = home.json("list --project appp");
    let note = "no project matches appp: the nearest are -home-u-app, -home-u-web";
    assert_eq!((&listed["total"], &listed["notes"]), (&json!(0), &json!([note])));
    assert_eq!(home.shown("list --project appp").trim(), format!("note: {note}"));
    assert!(home.shown("search question --project appp").contains(note));
}

#[test]
fn lists_without_sessions_name_the_folders_that_were_searched() {
    let home = Home::empty("searched");
    let said = format!(
        "note: no sessions found in {} or {}",
        home.0.path("amplifier").display(),
        home.0.path("claude").display()
    );
    let plain = |shown: String| shown.split_whitespace().collect::<String>();
    let expected = plain(said);
    assert_eq!(plain(home.shown("list")), expected);
    assert_eq!(plain(home.shown("search hello")), expected);
    let home = Home::new("matched");
    assert_eq!(home.shown("list --date-range 2020-01-01").trim(), "note: none of 3 sessions match");
    assert_eq!(home.shown("search 'never said'").trim(), "note: no matches in 3 sessions");
}

/// The limits of the tool do not bind the command line.
#[test]
fn long_messages_are_shown_whole() {
    let home = Home::new("long");
    // Longer than the part of a string that is held by default.
    let text = format!("{}\u{e9}end", "0123456789".repeat(60_000));
    let line = json!({"role": "user", "content": text});
    home.append(
        APP,
        "transcript.jsonl",
        &format!("{line}\n{}\n", json!({"role": "user", "content": "short"})),
    );
    let details = home.json("get 5d1c --transcript --offset 12 --max-text 1000000");
    let rows = details["transcript"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows[0]["content"] == *text && rows[0].get("content_chars").is_none());
    assert_eq!(rows[1]["content"], "short");
    let details = home.json("get 5d1c --transcript --offset 12 --limit 1 --max-text 300000");
    let content = details["transcript"][0]["content"].as_str().unwrap();
    assert!(content.trim_end_matches('…') == &text[..300_000]);
    assert_eq!(details["transcript"][0]["content_chars"], text.chars().count());
    assert!(home.shown("get 5d1c --transcript --offset 12 --max-text 1000000").contains("éend"));
}

/// The size of a page does not either.
#[test]
fn a_message_longer_than_a_page_is_shown_whole() {
    let home = Home::new("longest");
    let text = "0123456789".repeat(900_000);
    for _ in 0..2 {
        home.append(APP, "transcript.jsonl", &format!("{}\n", json!({"role": "user", "content": text})));
    }
    let details: Value = home.json("get 5d1c --transcript --max-text 100000000");
    let rows = details["transcript"].as_array().unwrap();
    assert_eq!(rows.len(), 14);
    assert!(rows[12]["content"] == *text && rows[13]["content"] == *text);
}

#[test]
fn copies_of_other_programs_files_are_refused_with_advice() {
    let home = Home::new("copied");
    let copy = home.0.path("copy.jsonl");
    fs::write(&copy, super::claude_code()).unwrap();
    for command in ["rewind", "repair"] {
        let target = if command == "rewind" { " --to-turn 1" } else { "" };
        let said = home.line(&format!("{command} {}{target} --json", copy.display())).failed(2);
        assert!(said.contains("only sessions of Amplifier") && said.contains("copies as well"), "{said}");
        assert!(!said.contains("work on the copy"), "{said}");
    }
}

#[test]
fn changes_warn_about_open_writers() {
    let home = Home::new("writers");
    let shown = home.shown("rewind 5d1c --to-turn 1");
    assert!(shown.contains("stop the program that runs this session first"), "{shown}");
    let path = home.folder(APP).join("transcript.jsonl");
    let mut writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let shown = home.shown("rewind 5d1c --to-turn 1 --apply");
    assert!(shown.contains("now writes to the backups"), "{shown}");
    std::io::Write::write_all(&mut writer, b"{\"role\":\"user\",\"content\":\"late\"}\n").unwrap();
    let shown = home.shown("undo 5d1c");
    assert!(shown.contains("Also restored 1 line that a program wrote to the backups since."), "{shown}");
    assert!(fs::read_to_string(&path).unwrap().ends_with("\"late\"}\n"));
}

#[test]
fn sessions_are_found_by_prefix_and_path() {
    let home = Home::new("which");
    for name in ["5d1c0a9f", "5d1c0aaa"] {
        home.write(name, &metadata(name, ""), "", "");
    }
    assert_eq!(home.json(&format!("get {PROJECT}/5d1c0a9e"))["session_id"], APP);
    let said = refusal(&home, "get 5d1c");
    assert!(
        said.contains("matches 3 sessions") && said.contains("5d1c0a9f") && said.contains("5d1c0aaa"),
        "{said}"
    );
    assert!(refusal(&home, "get nothing").contains("no session nothing"));
    assert!(home.line("get nothing").failed(2).contains("no session nothing"));

    // By its folder or its file, in any location.
    let folder = home.folder(APP);
    let details = home.json(&format!("get {}", folder.display()));
    assert_eq!((&details["session_id"], &details["project"]), (&json!(APP), &json!(PROJECT)));
    let file = home.0.path(&format!("claude/projects/-home-u-web/{WEB}.jsonl"));
    assert_eq!(home.json(&format!("analyze {} usage", file.display()))["llm_requests"], 2);
    let inside = |given: &str| {
        let mut command = home.command(&["sessions", "analyze", given, "timeline"]);
        command.env_remove("AMPLIFIER_HOME").env_remove("CLAUDE_CONFIG_DIR").current_dir(&folder);
        Run::of(command.output().unwrap())
    };
    for given in [".", "./", "../5d1c0a9e-0000-4000-8000-000000000001"] {
        assert_eq!(inside(given).json()["total_count"], 3, "{given}");
    }
    // A chat log of any program.
    let chat = home.0.file(
        "chat.jsonl",
        "{\"role\":\"user\",\"content\":\"hello\"}\n{\"role\":\"assistant\",\"content\":\"yes\"}\n",
    );
    let details = home.json(&format!("get {chat} --transcript"));
    assert_eq!((&details["format"], &details["transcript"][1]["content"]), (&json!("chat"), &json!("yes")));
    // A rewind accepts a path like an ID.
    let before = home.bytes(APP);
    assert_eq!(home.json(&format!("rewind {} --to-turn 1 --apply", folder.display()))["new_turn_count"], 1);
    home.json(&format!("undo {}", folder.display()));
    assert_eq!(home.bytes(APP), before);

    // Another project may have a session with the same ID.
    let other = home.0.path("amplifier/projects/-home-u-other/sessions").join(APP);
    fs::create_dir_all(&other).unwrap();
    assert!(refusal(&home, &format!("get {APP}")).contains("matches 2 sessions"));
    assert_eq!(home.json(&format!("analyze {} timeline", folder.display()))["total_count"], 3);

    assert!(home.line("get ./nothing").failed(2).contains("nothing"));
    let other = home.0.file("other.json", "{\"a\": 1}");
    assert!(home.line(&format!("get {other}")).failed(2).contains("format not supported"));
}

#[test]
fn machines_without_sessions_list_none() {
    let home = Home::empty("none");
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        command.env_remove("AMPLIFIER_HOME").env("CLAUDE_CONFIG_DIR", "");
        Run::of(command.output().unwrap())
    };
    let listed = run(&["sessions", "list"]).json();
    assert_eq!(
        (&listed["sessions"], &listed["total"], &listed["connected"]),
        (&json!([]), &0.into(), &false.into())
    );
    assert!(listed["notes"][0].as_str().unwrap().starts_with("no sessions found in "), "{listed}");
    assert_eq!(run(&["sessions", "search", "x"]).json()["total_count"], 0);
    run(&["sessions", "get", "x"]).failed(2);
    assert!(home.shown("list").starts_with("note: no sessions found in "), "");
    // Checks the usual folders and the given ones.
    let (transcript, events) = turns(1);
    home.write(APP, &metadata(APP, ""), &transcript, &events);
    let amplifier = home.0.path("amplifier");
    assert_eq!(run(&["sessions", "list", "--amplifier", amplifier.to_str().unwrap()]).json()["total"], 1);
    let mut usual = home.command(&["sessions", "list"]);
    usual.env_remove("AMPLIFIER_HOME").env("HOME", home.0.path("moved"));
    fs::create_dir_all(home.0.path("moved")).unwrap();
    fs::rename(amplifier, home.0.path("moved/.amplifier")).unwrap();
    assert_eq!(Run::of(usual.output().unwrap()).json()["total"], 1);
    assert!(!home.0.path("trommel").exists(), "nothing is made");
}
