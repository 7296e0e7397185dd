//! The README's tour: every command shown is run, and must print what is shown.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Commands and what they print, from the blocks marked `console`.
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

#[test]
fn the_tour_prints_what_it_shows() {
    let root = root();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let runs = shown(&readme);
    assert!(runs.len() >= 8, "the tour has only {} commands", runs.len());
    let binary = Path::new(env!("CARGO_BIN_EXE_trommel")).parent().unwrap();
    for (command, expected) in runs {
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; PATH=$0:$PATH; {command}"), &binary.display().to_string()])
            .current_dir(&root)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "$ {command}");
    }
}
