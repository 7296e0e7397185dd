//! Help, version, completions, and manual pages.

use crate::common::{line, run, snapshot};

const COMMANDS: [&str; 22] = [
    "extract",
    "count",
    "sample",
    "stats",
    "schema",
    "check",
    "put",
    "list",
    "read",
    "rm",
    "pin",
    "gc",
    "verify",
    "rebuild",
    "tools",
    "call",
    "history",
    "run",
    "buffers",
    "sessions",
    "completions",
    "man",
];

#[test]
fn help_fits_a_screen_and_shows_examples() {
    let mut transcript = line("--help").ok();
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
    snapshot("help.txt", &transcript);
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
