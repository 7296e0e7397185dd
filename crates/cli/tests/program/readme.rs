//! The README's tours: every command runs in order, in a temporary home, and prints the shown
//! output.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Home;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Extracts commands and their output from the blocks marked `console`.
fn shown(readme: &str) -> Vec<(String, String)> {
    let mut runs: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => {
                if let Some(command) = line.strip_prefix("$ ") {
                    runs.push((command.to_owned(), String::new()));
                } else {
                    let (_, output) = runs.last_mut().unwrap();
                    output.push_str(line);
                    output.push('\n');
                }
            }
        }
    }
    runs
}

/// Masks the times of storing, which are the only difference between runs.
fn timeless(text: &str) -> String {
    const MARK: &str = "\"created_at\":";
    let mut parts = text.split(MARK);
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + MARK + "0" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

#[test]
fn the_tours_print_the_shown_output() {
    let root = root();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let runs = shown(&readme);
    for command in ["put", "list", "stats", "extract", "count", "sample", "read", "call"] {
        let start = format!("trommel {command} ");
        let is_of_output =
            |run: &&(String, String)| run.0.starts_with(&start) && run.0.contains("shop-export");
        assert!(
            command == "list" || runs.iter().any(|run| is_of_output(&run)),
            "no {command} of an output is shown"
        );
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_trommel")).parent().unwrap();
    let home = Home::new("readme");
    for (command, expected) in runs {
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; PATH=$0:$PATH; {command}"), &binary.display().to_string()])
            .current_dir(&root)
            .env("TROMMEL_HOME", home.path())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(timeless(&printed), timeless(&expected), "$ {command}");
    }
}
