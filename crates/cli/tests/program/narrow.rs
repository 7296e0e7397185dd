//! Tables on a terminal of 80 columns.

use std::process::Command;

use crate::common::{Home, data, fed, trommel, words};
use crate::terminal::shown_within;

/// Returns the lines that a command shows on 80 columns, without colors.
fn lines(mut command: Command) -> Vec<String> {
    command.envs([("NO_COLOR", "1"), ("TERM", "dumb")]);
    shown_within(80, command).lines().map(str::to_owned).collect()
}

/// Runs a command over the sessions of the tour.
fn sessions(line: &str) -> Command {
    let tour = data().join("../tour").canonicalize().unwrap();
    let mut command = trommel(words(line));
    command.env("AMPLIFIER_HOME", tour.join("agents")).env("CLAUDE_CONFIG_DIR", tour.join("claude"));
    command
}

#[test]
fn ids_of_outputs_are_not_broken() {
    let home = Home::new("narrow");
    let ids: Vec<String> = ["web.fetch", "a.tool.with.a.rather.long.name"]
        .into_iter()
        .map(|tool| {
            let payload = format!("{{\"text\": \"{}\"}}", "some words ".repeat(30));
            fed(home.trommel(["put", "--tool", tool]), payload.as_bytes()).ok().trim().to_owned()
        })
        .collect();
    for command in [&["list"][..], &["gc", "--dry-run", "--max-count", "0"]] {
        let lines = lines(home.trommel(command));
        for id in &ids {
            assert!(lines.iter().any(|line| line.starts_with(&format!(" {id} "))), "{id}: {lines:#?}");
        }
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
    }
}

#[test]
fn each_session_takes_one_line() {
    let lines = lines(sessions("sessions list --all"));
    for id in ["7c1e5a90", "b03d9e42", "e9a4c2b1", "4d3c9a61"] {
        assert!(lines.iter().any(|line| line.starts_with(&format!(" {id} "))), "{id}: {lines:#?}");
    }
    assert_eq!(lines.len(), 1 + 4, "{lines:#?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
}

#[test]
fn ids_and_numbers_of_usage_are_not_broken() {
    let lines = lines(sessions("sessions analyze 7c1e5a90 usage"));
    for id in ["7c1e5a90-4f2b-4d3c-9a61-2f8b0e6d1c35", "4d3c9a612f8b0e6d-a1b2c3d4e5f60718_explorer"] {
        assert!(lines.iter().any(|line| line.starts_with(&format!(" {id} "))), "{id}: {lines:#?}");
    }
    // A broken number would continue on a line of its own.
    let rows = lines.iter().take_while(|line| *line != "Not counted");
    assert_eq!(rows.filter(|line| line.starts_with("      ")).count(), 0, "{lines:#?}");
}

/// Sizes use binary units, and the size of selected values is not shown as that of the file.
#[test]
fn sizes_name_binary_units() {
    let home = Home::new("sizes");
    let file = home.folder().file("data.json", format!("[\"{}\",1]", "x".repeat(40_000)));
    let first = |args: &[&str]| lines(home.trommel(args))[0].clone();
    let whole = "data.json: 39.1 KiB (40,006 bytes, 40,006 characters)";
    let shown = first(&["stats", &file]);
    assert!(shown.ends_with(whole), "{shown}");
    let shown = lines(home.trommel(["stats", &file, "$[1]"]));
    assert!(shown[0].ends_with("data.json: 39.1 KiB (40,006 bytes)"), "{shown:?}");
    assert_eq!(shown[1], "selected by $[1]: 1 B (1 bytes, 1 characters)");
    fed(home.trommel(["put", "--tool", "x"]), b"[1,2,3]\n".repeat(1024).as_slice()).ok();
    let listed = lines(home.trommel(["list"])).join("\n");
    assert!(listed.contains("8 KiB"), "{listed}");
}
