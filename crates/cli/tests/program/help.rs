//! Help, version, completions, and manual pages.

use crate::common::{Folder, line, run, snapshot};

const COMMANDS: [&str; 28] = [
    "extract",
    "count",
    "group",
    "sample",
    "stats",
    "du",
    "report",
    "schema",
    "check",
    "guide",
    "put",
    "list",
    "read",
    "search",
    "rm",
    "pin",
    "gc",
    "verify",
    "rebuild",
    "tools",
    "call",
    "history",
    "run",
    "mcp",
    "buffers",
    "sessions",
    "completions",
    "man",
];

#[test]
fn help_fits_a_screen_and_shows_examples() {
    let all = line("--help").ok();
    // The explorer needs a feature.
    let is_featured = |line: &&str| line.trim_start().starts_with("explore ");
    assert_eq!(all.lines().any(|line| is_featured(&line)), cfg!(feature = "explore"), "{all}");
    let mut transcript: String = all.split_inclusive('\n').filter(|line| !is_featured(line)).collect();
    for command in COMMANDS {
        let help = run([command, "--help"]).ok();
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        if !["completions", "man"].contains(&command) {
            assert!(help.contains("Examples:\n  trommel "), "{help}");
        }
        let short = run([command, "-h"]).ok();
        assert!(short.lines().count() <= 50, "{short}");
        transcript.extend(["\n$ trommel ", command, " -h\n", &short]);
    }
    // With tables, the help of `extract` lists more forms.
    if !cfg!(feature = "table") {
        snapshot("help.txt", &transcript);
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = format!("trommel {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(line("-V").ok(), version);
    assert_eq!(line("--version").ok(), version);
}

#[test]
fn every_shell_completes_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(["completions", shell]).ok();
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let page = line("man").ok();
    assert!(page.contains(".TH trommel 1") && page.contains("SUBCOMMANDS"), "{page}");
    for command in COMMANDS {
        let page = run(["man", command]).ok();
        assert!(
            page.contains(&format!(".TH trommel\\-{command} 1"))
                || page.contains(&format!(".TH trommel-{command} 1")),
            "{page}"
        );
    }
}

#[test]
fn all_manual_pages_are_written_to_a_folder() {
    let folder = Folder::new("man");
    let pages = folder.path("pages/of/trommel");
    assert_eq!(run(["man", "--all", pages.to_str().unwrap()]).ok(), "");
    let mut names: Vec<String> = std::fs::read_dir(&pages)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for command in COMMANDS {
        assert!(names.contains(&format!("trommel-{command}.1")), "{names:?}");
    }
    assert!(names.contains(&"trommel.1".into()) && names.contains(&"trommel-sessions-list.1".into()));
    let page = std::fs::read_to_string(pages.join("trommel-extract.1")).unwrap();
    for section in ["SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"] {
        assert!(page.contains(&format!(".SH {section}")), "{section}: {page}");
    }
    let program = std::fs::read_to_string(pages.join("trommel.1")).unwrap();
    assert!(program.contains(".SH \"EXIT STATUS\""), "{program}");
    let refused = run(["man", "extract", "--all", "x"]);
    assert_eq!(refused.status, Some(2));
}

#[test]
fn topics_explain_what_the_commands_share() {
    for (topic, term) in
        [("input", "--on-bad-record"), ("queries", "@"), ("output", "--order"), ("limits", "--limit-depth")]
    {
        let text = run(["help", topic]).ok();
        assert!(text.contains(term), "{topic}: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{topic}: {text}");
    }
    let unknown = run(["help", "inputs"]);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.err.contains("topics are input, queries, output, limits"), "{}", unknown.err);
}

#[test]
fn quiet_omits_notes_and_keeps_warnings() {
    let folder = Folder::new("quiet");
    let log = folder.file("log.jsonl", "{\"a\":1}\n{\"a\":tru}\n");
    let log = log.as_str();
    let args = ["extract", log, "$.b", "--on-bad-record", "skip"];
    let loud = run(args);
    assert!(loud.err.contains("note: ") && loud.err.contains("warning: "), "{}", loud.err);
    for quiet in ["-q", "--quiet"] {
        let run = run(args.into_iter().chain([quiet]));
        assert!(!run.err.contains("note: ") && run.err.contains("warning: "), "{}", run.err);
        assert_eq!((run.status, run.out), (loud.status, loud.out.clone()));
    }
}
