//! The tours of the README and the documents: every command runs in order, in a temporary home for
//! each document, and prints the shown output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Home;
#[cfg(unix)]
use crate::terminal::shown_with_status;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Extracts commands and their output from the blocks marked `console`.
fn shown(document: &str) -> Vec<(String, String)> {
    let mut runs: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in document.lines() {
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

/// Runs the commands of a document, and compares what they print with what the document shows.
fn check(document: &Path) {
    let name = document.file_name().unwrap().to_string_lossy();
    let binary = Path::new(env!("CARGO_BIN_EXE_trommel")).parent().unwrap();
    let home = Home::new(&format!("tour-{name}"));
    for (command, expected) in shown(&fs::read_to_string(document).unwrap()) {
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; PATH=$0:$PATH; {command}"), &binary.display().to_string()])
            .current_dir(root())
            .env("TROMMEL_HOME", home.path())
            .output()
            .unwrap();
        // Lines of CSV end with CR and LF, which documents do not show.
        let printed = String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n");
        assert_eq!(timeless(&printed), timeless(&expected), "{name}: $ {command}");
    }
}

#[test]
fn the_readme_prints_the_shown_output() {
    let readme = root().join("README.md");
    assert!(!shown(&fs::read_to_string(&readme).unwrap()).is_empty(), "the README shows no output");
    check(&readme);
}

#[test]
fn the_documents_print_the_shown_output() {
    for document in documents() {
        check(&document);
    }
}

/// The documents beside the README.
fn documents() -> Vec<PathBuf> {
    let files = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Returns the command of a document in a shell.
#[cfg(unix)]
fn in_shell(command: &str, home: &Home) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_trommel")).parent().unwrap();
    let mut shell = Command::new("sh");
    // Warnings are sentences, which a terminal may wrap.
    shell.args(["-c", &format!("exec 2>/dev/null; PATH=$0:$PATH; {command}"), &binary.display().to_string()]);
    shell.current_dir(root()).env("TROMMEL_HOME", home.path()).env("NO_COLOR", "1").env("TERM", "dumb");
    shell
}

/// On terminals of both widths, every command of the documents ends as in a pipe. Tables fit, so
/// that no number and no ID is broken.
#[cfg(unix)]
#[test]
fn the_commands_of_documents_work_on_terminals() {
    const TABLES: [&str; 6] = ["stats", "count", "group", "list", "history", "tools"];
    let mut documents = documents();
    documents.push(root().join("README.md"));
    let mut tables = 0;
    for document in &documents {
        let name = document.file_name().unwrap().to_string_lossy();
        for columns in [80, 200] {
            let (piped, shown_home) =
                (Home::new(&format!("piped-{name}")), Home::new(&format!("seen-{name}")));
            for (command, _) in shown(&fs::read_to_string(document).unwrap()) {
                let status = in_shell(&command, &piped).output().unwrap().status;
                let (text, seen) = shown_with_status(columns, in_shell(&command, &shown_home));
                assert_eq!(seen.code(), status.code(), "{name}, {columns} columns: $ {command}\n{text}");
                let last = command.rsplit(" | ").next().unwrap_or_default();
                let mut words = last.split(' ').skip_while(|word| *word != "trommel");
                let is_table =
                    words.nth(1).is_some_and(|word| TABLES.contains(&word)) && !last.contains("--json");
                if is_table && !last.contains("--schema") {
                    tables += 1;
                    for line in text.lines() {
                        let width = line.chars().count();
                        assert!(
                            width <= usize::from(columns),
                            "{columns} columns, {width}: {line}\n$ {command}"
                        );
                    }
                }
            }
        }
    }
    assert!(tables > 20, "{tables} tables");
}

#[test]
fn the_page_for_agents_shows_every_query_of_an_output() {
    let runs = shown(&fs::read_to_string(root().join("docs/AGENTS.md")).unwrap());
    for command in ["put", "list", "stats", "extract", "count", "sample", "read", "call"] {
        let start = format!("trommel {command} ");
        let is_of_output =
            |run: &&(String, String)| run.0.starts_with(&start) && run.0.contains("shop-export");
        assert!(
            command == "list" || runs.iter().any(|run| is_of_output(&run)),
            "no {command} of an output is shown"
        );
    }
}
