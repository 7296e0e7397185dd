//! Standard streams that are full, closed, or a terminal that needs escapes.

use std::fs::File;
use std::process::Command;

use crate::common::{self, Home, Run, trommel};

/// Commands that print something, and their input.
const ANSWERS: &[&str] = &[
    "--help",
    "-h",
    "--version",
    "extract --help",
    "help",
    "help extract",
    "help sessions list",
    "completions bash",
    "man",
    "man extract",
    "extract users.json $..*",
    "extract users.json $..* --json",
    "count users.json $..*",
    "sample users.json $.users -n 2 --seed 1",
    "stats users.json",
    "schema users.json",
    "check damaged.jsonl --on-bad-record skip",
    "read users.json",
    "list",
    "gc",
    "verify",
    "rebuild",
    "tools",
    "tools tool_outputs.list",
    "tools --schema anthropic",
    "call tool_outputs.list",
    "history",
    "buffers list",
    "sessions list",
];

/// R48: no output is lost with status 0; even help fails on a full disk.
#[test]
fn r48_full_standard_output_is_an_error() {
    let home = Home::new("full");
    for args in ANSWERS {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let run = Run::of(home.trommel(common::words(args)).stdout(full).output().unwrap());
        assert_eq!(run.status, Some(1), "{args}: {}", run.err);
        assert!(run.err.contains("cannot write the output: No space left"), "{args}: {}", run.err);
    }
}

/// Runs a command line in a shell, which can close streams.
fn shell(line: &str, home: &Home) -> Run {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec \"$0\" {line}"), env!("CARGO_BIN_EXE_trommel")]);
    shell.current_dir(common::data()).env("TROMMEL_HOME", home.path());
    Run::of(shell.output().unwrap())
}

/// R48: the runtime opens /dev/null in place of a closed standard output; the answer must not go
/// there.
#[test]
fn r48_closed_standard_output_is_an_error() {
    let home = Home::new("closed");
    for args in ANSWERS {
        let run = shell(&format!("{} >&-", args.replace('$', "\\$").replace('*', "\\*")), &home);
        assert_eq!(run.status, Some(1), "{args}: {}", run.err);
        let message = "cannot write the output: standard output is closed";
        assert!(run.err.contains(message), "{args}: {}", run.err);
    }
    // A command without output loses nothing.
    let valid = home.folder().file("valid.json", "[1]");
    assert_eq!(shell(&format!("check {valid} >&-"), &home).ok(), "");
    // Redirecting to /dev/null on purpose is valid, opened for reading as well or not.
    assert_eq!(shell("count users.json '$' >/dev/null", &home).ok(), "");
    assert_eq!(shell("count users.json '$' 1<>/dev/null", &home).ok(), "");
}

/// With all streams closed, no file that the program opens receives the answer by getting the
/// number of standard output.
#[test]
fn answers_do_not_reach_files_opened_by_accident() {
    let home = Home::new("accident");
    let file = home.folder().file("data.json", "{\"a\": [1, 2, 3]}");
    for streams in [">&-", "<&- >&-", "<&- >&- 2>&-"] {
        let run = shell(&format!("extract {file} '$.a[*]' {streams}"), &home);
        assert_eq!((run.status, run.out.as_str()), (Some(1), ""), "{streams}: {}", run.err);
        assert_eq!(common::read(&file), b"{\"a\": [1, 2, 3]}", "{streams}");
    }
}

/// A closed standard input differs from an empty one.
#[test]
fn closed_standard_input_is_an_error() {
    let home = Home::new("no-input");
    for args in ["stats -", "put - --tool x", "call tool_outputs.list -"] {
        let run = shell(&format!("{args} <&-"), &home);
        assert!(matches!(run.status, Some(1 | 2)), "{args}: {run:?}");
        assert!(run.out.is_empty() && run.err.contains("standard input is closed"), "{args}: {}", run.err);
    }
}

/// R26: arguments in usage errors cannot reorder text or control a terminal, and the rest of the
/// message stays.
#[test]
fn r26_usage_errors_escape_arguments() {
    for args in [
        &["list", "--after", "\u{202e}evil"][..],
        &["list", "--after=\u{1b}[31mred\u{7}"],
        &["\u{2066}list"],
        &["list", "--\u{202e}"],
        &["completions", "\u{9b}31m"],
        &["help", "\u{202e}"],
        &["count", "users.json", "$.[\u{202e}"],
        &["count", "users.json", "[\u{202e}"],
    ] {
        let run = Run::of(trommel(args).env("CLICOLOR_FORCE", "1").output().unwrap());
        let err = run.failed(2);
        let hostile = |c: char| matches!(c, '\u{202e}' | '\u{2066}' | '\u{9b}' | '\u{7}');
        assert!(!err.contains(hostile) && !err.contains("[31mred"), "{err:?}");
        assert!(err.contains("error"), "{err:?}");
    }
    let log = Run::of(trommel(["call", "x"]).env("TROMMEL_LOG", "\u{202e}").output().unwrap()).failed(2);
    assert!(log.contains("invalid value '\\u202e'"), "{log}");
    let run = common::run(["list", "--after", "\u{202e}evil"]);
    assert!(run.failed(2).contains("invalid value '\\u202eevil' for '--after <TIME>'"));
}
