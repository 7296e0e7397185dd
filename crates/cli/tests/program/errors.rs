//! Error messages, word for word.

use std::fmt::Write;

use crate::common::{self, Folder, piped, run, snapshot, words};

/// Appends a command, its status, and its standard error to a transcript.
fn said(transcript: &mut String, line: &str) {
    said_of(transcript, line, &run(words(line)));
}

fn said_of(transcript: &mut String, line: &str, run: &common::Run) {
    let status = run.status.unwrap_or(-1);
    writeln!(transcript, "$ trommel {line}\n{}[{status}]\n", run.err).unwrap();
}

/// R45: each error has a code, a position, a cause, and the next step.
#[test]
fn r45_errors_teach() {
    let mut transcript = String::new();
    for line in [
        "check bad.json",
        "check damaged.jsonl",
        "check touching.json",
        "check damaged.json-seq",
        "check log.jsonl --input json",
        "extract skipped.json $.later",
        "check users.json --limit-depth 3",
        "stats missing.json",
        "stats .",
        "count users.json $.users[*] --as array_length",
        "count users.json $.a $.a",
        "count users.json users",
        "sample users.json $.meta -n 2 --seed 1",
        "sample users.json $.users -n 2 --stride 2",
        "sample users.json $.users -n 2 --strategy stratified",
        "extract users.json $.a --flatten",
        "extract users.json $.a --json --default N/A",
        "check users.json --spool-limit lots",
        "stats users.json --only everything",
        "frobnicate",
    ] {
        said(&mut transcript, line);
    }
    for (name, input) in [
        ("empty", ""),
        ("cut.json", "{\"a\": [1,\n"),
        ("open-string.json", "[\"abc"),
        ("comma.json", "[1, 2, ]"),
        ("name.json", "{a: 1}"),
        ("colon.json", "{\"a\" 1}"),
        ("bracket.json", "{\"a\": [1}"),
        ("number.json", "[+1]"),
        ("control.json", "[\"a\u{1b}[31mb\u{202e}c\"]"),
        ("escape.json", "[\"\\x\"]"),
        ("surrogate.json", "[\"\\ud800\"]"),
        ("utf16.json", "\u{0}[\u{0}1\u{0}]"),
        ("trailing.json", "[1] x"),
        ("long.json", &format!("[\"{0}\", tru, \"{0}\"]", "lorem ipsum ".repeat(100))),
    ] {
        let run = piped(["check", "-"], input.as_bytes());
        said_of(&mut transcript, &format!("check - < {name}"), &run);
    }
    said_of(&mut transcript, "check - < utf8.json", &piped(["check", "-"], b"[\"a\xff\xc3(\"]"));
    snapshot("errors.txt", &transcript);
}

/// R45: invalid queries are underlined, with the expected syntax and a suggestion.
#[test]
fn r45_queries_teach() {
    let mut transcript = String::new();
    for query in [
        "users",
        "$.users[",
        "$.users[*",
        "$.store.book-1",
        "$users",
        "$.users[?@.age=1]",
        "$.users[?@.age == 1 and @.id]",
        "$.users[?(@.name == \"Ada)]",
        "$[?length(@.a)]",
        "$[?count(@.a) > 1 && len(@.b) == 2]",
        "$[?@.*==1]",
        "$[9007199254740992]",
        "$.a['\\x']",
        "$.a[01]",
        "$[?match(@.a)]",
        "$..",
        "$ .a ",
        "$.users[?@.name=~/A.*/]",
        "$.\u{202e}[",
    ] {
        said_of(
            &mut transcript,
            &format!("extract users.json '{query}'"),
            &run(["extract", "users.json", query]),
        );
    }
    let long = format!("$.{}[", "abcdefghij".repeat(200));
    said_of(&mut transcript, "extract users.json '$.abcdefghij…['", &run(["extract", "users.json", &long]));
    let deep = "$[?".repeat(200);
    said_of(&mut transcript, "extract users.json '$[?$[?…'", &run(["extract", "users.json", &deep]));
    let filter = ["count", "users.json", "$", "--where", "@.a >"];
    said_of(&mut transcript, "count users.json '$' --where '@.a >'", &run(filter));
    let strata =
        ["sample", "users.json", "$", "-n", "1", "--strategy", "stratified", "--strata-path", "country"];
    said_of(&mut transcript, "sample users.json '$' … --strata-path 'country'", &run(strata));
    snapshot("queries.txt", &transcript);
}

/// R45: long names and texts are truncated.
#[test]
fn r45_long_names_are_truncated() {
    let folder = Folder::new("lengthy");
    let name = "n".repeat(240);
    let file = folder.file(&name, b"[1");
    let query = format!("$.{}", "q".repeat(50_000));
    for args in [
        &["check", &file][..],
        &["extract", "users.json", &format!("{query}[")],
        &["count", "users.json", &query, &query],
        &["sample", "users.json", &query, "-n", "1", "--stride", "1"],
        &["man", &query],
    ] {
        let run = run(args);
        assert!(matches!(run.status, Some(1 | 2)), "{args:?}");
        assert!(run.err.len() < 1500, "{} bytes: {}", run.err.len(), run.err);
    }
}
