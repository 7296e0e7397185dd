//! Output on a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{self, Folder, Home, data, piped, read, run, snapshot, trommel, words};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Opens a terminal: the user's side and the program's side.
pub(crate) fn terminal(columns: u16) -> (File, File) {
    let shown = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&shown).unwrap();
    unlockpt(&shown).unwrap();
    let name = ptsname(&shown, Vec::new()).unwrap();
    let inside = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    tcsetwinsize(&inside, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    (File::from(shown), inside)
}

/// Reads everything that a terminal shows until the program has ended.
fn read_all(mut shown: File) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    // Reading from a terminal without a writer is an error.
    while let Ok(count @ 1..) = shown.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
    }
    String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
}

/// Returns the output of a command on a terminal of 100 columns.
pub(crate) fn shown(command: Command) -> String {
    shown_within(100, command)
}

/// Returns the output of a command on a terminal of `columns` columns.
pub(crate) fn shown_within(columns: u16, command: Command) -> String {
    shown_with_status(columns, command).0
}

/// Returns the output of a command on a terminal of `columns` columns, and its exit status.
pub(crate) fn shown_with_status(columns: u16, mut command: Command) -> (String, ExitStatus) {
    let (shown, inside) = terminal(columns);
    let mut child = command.stdout(inside.try_clone().unwrap()).stderr(inside).spawn().unwrap();
    drop(command);
    let text = read_all(shown);
    (text, child.wait().unwrap())
}

/// Returns the output without colors and without a bar, regardless of the speed of the machine.
pub(crate) fn shown_plainly(mut command: Command) -> String {
    command.envs([("NO_COLOR", "1"), ("TERM", "dumb")]);
    shown(command)
}

fn shown_of(line: &str) -> String {
    shown(trommel(words(line)))
}

/// Answers are tables and indented JSON, without colors if those are off.
#[test]
fn answers_are_tables_on_a_terminal() {
    let mut transcript = String::new();
    for line in [
        "count users.json users=$.users[*] $..tags[*]",
        "count users.json $.meta",
        "group log.jsonl $.level --sum $.ms --mean $.ms --min $.ms",
        "group log.jsonl $.tags $.id --top 2",
        "group log.jsonl $.id --max-groups 2 --approximate --json",
        "stats users.json",
        "stats log.jsonl --values",
        "stats users.json $.users $.meta --max-depth 3",
        "stats users.json --only structure",
        "stats users.json --only types",
        "stats log.jsonl --only structure,types --schema",
        "stats log.jsonl $.tags --bytes",
        "du users.json --top 6",
        "du log.jsonl --depth 2",
        "schema log.jsonl",
        "schema log.jsonl --json",
        "check damaged.jsonl --on-bad-record skip",
        "check bad.json",
        "extract users.json $.users[*].name $.meta",
        "extract users.json $.users[0].age --output located",
        "extract users.json $.users[0].age --json",
        "extract users.json $.users[*].name $.meta -r",
        "extract users.json $.meta --pretty",
        "extract users.json $.meta -o gron",
        "extract users.json $.meta -o keys",
        "extract users.json --each $.users[*] $.name $.age $.tags -o csv",
        "extract users.json --each $.users[*] $.name $.age $.tags -o tsv",
        "extract users.json --each $.users[*] $.name $.age $.tags -o objects",
        "extract users.json $.users[*].name -o tsv",
        "sample log.jsonl $.id -n 2 --strategy last --indices",
        "count log.jsonl $.id --json",
    ] {
        let text = shown_plainly(trommel(words(line)));
        assert!(!text.contains('\u{1b}'), "{line}: {text:?}");
        transcript.extend(["$ trommel ", line, "\n", &text, "\n"]);
    }
    snapshot("terminal.txt", &transcript);
}

/// Nobody has to type JSON: a terminal as standard input is a usage error.
#[test]
fn a_terminal_is_no_input() {
    for args in ["stats", "extract $.a", "count users.json -", "check -", "sample -n 1", "schema"] {
        let (_shown, inside) = terminal(80);
        let mut command = trommel(words(args));
        let err = common::Run::of(command.stdin(inside).output().unwrap()).failed(2);
        let help = format!("pipe JSON into the command: … | trommel {}", words(args)[0]);
        assert!(err.contains("standard input is a terminal") && err.contains(&help), "{args}: {err}");
    }
    let (_shown, inside) = terminal(80);
    let mut command = trommel(["count", "users.json"]);
    assert_eq!(common::Run::of(command.stdin(inside).output().unwrap()).status, Some(0));
}

#[test]
fn colors_appear_only_on_a_terminal() {
    for line in ["stats users.json", "schema log.jsonl", "check bad.json", "extract users.json $.", "--help"]
    {
        assert!(shown_of(line).contains("\u{1b}["), "{line}");
        let run = run(words(line));
        assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "{line}");
    }
    let mut dumb = trommel(["stats", "users.json"]);
    dumb.env("TERM", "dumb");
    assert!(!shown(dumb).contains('\u{1b}'));
}

/// Values have colors on a terminal, and each is still one line.
#[test]
fn values_have_colors_on_a_terminal() {
    let value = "{\u{1b}[36m\"n\"\u{1b}[0m:\u{1b}[33m3\u{1b}[0m,\u{1b}[36m\"n\"\u{1b}[0m:\u{1b}[33m4\u{1b}[0m,\
                 \u{1b}[36m\"it's\"\u{1b}[0m:\u{1b}[33mtrue\u{1b}[0m}\n";
    assert_eq!(shown_of("extract users.json $.meta"), value);
    assert_eq!(shown_of("sample users.json $..meta -n 1 --strategy first"), value);
    assert_eq!(shown_of("extract users.json $.users[0].name -r"), "Ada\n");
    let object = "{\u{1b}[36m\"id\"\u{1b}[0m:\u{1b}[33m1\u{1b}[0m}\n";
    assert_eq!(shown_of("extract log.jsonl $.id -o objects -n 1"), object);
    assert_eq!(shown_of("extract log.jsonl $.id -o csv -n 1"), "id\n1\n");
    assert_eq!(shown_of("extract users.json $.users[0].name"), "\u{1b}[32m\"Ada\"\u{1b}[0m\n");
    assert_eq!(shown_of("extract users.json $.meta.n -o gron"), "json.meta.n = \u{1b}[33m3\u{1b}[0m;\n");
    for line in ["extract users.json $ --color never", "extract users.json $ --json --color=never"] {
        assert!(!shown_of(line).contains('\u{1b}'), "{line}");
    }
    let mut forced = trommel(words("extract users.json $.users[0].name"));
    let forced = forced.env("CLICOLOR_FORCE", "1").output().unwrap();
    assert_eq!(forced.stdout, b"\x1b[32m\"Ada\"\x1b[0m\n");
    let mut refused = trommel(words("extract users.json $.users[0].name --color always"));
    refused.env("NO_COLOR", "1");
    // The option takes precedence over the environment.
    assert!(shown(refused).contains('\u{1b}'));
}

/// Characters that control a terminal: C0 except line feed and tab, C1, bidirectional overrides,
/// and tags.
pub(crate) fn dangers(text: &str) -> Vec<char> {
    let is_danger = |c: &char| {
        matches!(*c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    text.chars().filter(is_danger).collect()
}

/// R26: unsafe characters of a document never reach a terminal verbatim; a pipe gets the document's
/// bytes.
#[test]
fn r26_terminals_are_safe() {
    for line in [
        "extract hostile.json $",
        "extract hostile.json $ --output verbatim",
        "extract hostile.json $..* -r",
        "extract hostile.json $ --pretty",
        "extract hostile.json $..* -o keys",
        "extract hostile.json $ -o keys -r",
        "extract hostile.json $ -o gron",
        "extract hostile.json --each $..* $ list=$[*] -o csv",
        "extract hostile.json --each $..* $ list=$[*] -o tsv",
        "extract hostile.json --each $..* $ list=$[*] -o objects",
        "extract hostile.json $..* --output paths",
        "extract hostile.json $..* --output located",
        "extract hostile.json $ $.* --json",
        "extract hostile.json $.* --json --flatten --include-paths",
        "sample hostile.json $.* -n 2 --seed 1",
        "sample hostile.json $.* -n 2 --seed 1 -o gron",
        "sample hostile.json $..* -n 9 --seed 1 -r",
        "sample hostile.json $.* -n 2 --seed 1 --json",
        "stats hostile.json --values --schema",
        "stats hostile.json --values --schema --json",
        "stats hostile.json $.* $..*",
        "schema hostile.json",
        "schema hostile.json --json",
        "group hostile.json $ --distinct $..*",
        "group hostile.json $ $.* --json",
        "count hostile.json $.*",
    ] {
        let text = shown_plainly(trommel(words(line)));
        assert_eq!(dangers(&text), [], "{line}: {text:?}");
        assert!(!text.is_empty() && !text.contains("error"), "{line}: {text}");
    }
    let name = "n\u{9b}\u{202e}a";
    let safe = shown_plainly(trommel(words("extract hostile.json $")));
    let plain = common::line("extract hostile.json $").ok();
    assert!(plain.contains(name) && !safe.contains(name));
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(parse(&safe), parse(&plain));
}

/// R26: neither do those of stored texts: payloads, metadata, and messages about invalid requests.
#[test]
fn r26_stored_texts_are_safe() {
    let nasty = "n\u{9b}\u{202e}\u{1b}[2J\u{e0041}\u{7}";
    let home = Home::new("hostile");
    let parameters = serde_json::json!({nasty: nasty}).to_string();
    let text = [nasty.as_bytes(), b"\n\x9b\xff\0"].concat();
    for (id, payload) in [("hostile-1", &read(data().join("hostile.json"))), ("hostile-2", &text)] {
        let put = [
            "put",
            "--id",
            id,
            "--tool",
            nasty,
            "--conversation",
            nasty,
            "--message",
            nasty,
            "--param",
            &parameters,
        ];
        home.fed(put, payload).ok();
    }
    let extract = r#"{"id": "hostile-1", "paths": ["$", "$..*"]}"#;
    let read = r#"{"id": "hostile-2"}"#;
    let wrong = serde_json::json!({"id": "hostile-1", "paths": [nasty], nasty: nasty}).to_string();
    let query = serde_json::json!({"id": "hostile-1", "paths": [nasty]}).to_string();
    home.folder().file("nasty.md", &text);
    let document = format!(
        "## a{nasty}\n@input file:nasty.md (output=variable:v, scope=session)\n@input file:nasty.md\n@model none\n@output context\n"
    );
    let hostile = home.folder().file("hostile.md", document);
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["read", "output:hostile-1"],
        &["read", "output:hostile-2"],
        &["read", "output:hostile-2", "--json"],
        &["extract", "output:hostile-1", "$"],
        &["stats", "output:hostile-1", "--values"],
        &["check", "output:hostile-2"],
        &["call", "tool_outputs.list"],
        &["call", "tool_outputs.list", "--panel"],
        &["call", "tool_outputs.extract", extract],
        &["call", "tool_outputs.extract", extract, "--panel", "--log", "debug", "--show-context"],
        &["call", "tool_outputs.read", read, "--json"],
        &["call", "tool_outputs.read", read, "--panel"],
        &["call", "tool_outputs.extract", &wrong],
        &["call", "tool_outputs.extract", &wrong, "--json"],
        &["call", "tool_outputs.extract", &query],
        &["call", nasty],
        &["tools", nasty],
        &["history"],
        &["history", "--json"],
        &["rm", nasty],
        &["gc", "--dry-run", "--max-count", "0"],
        &["verify"],
        &["run", hostile.as_str()],
        &["buffers", "list"],
        &["buffers", "info", "v"],
        &["buffers", "peek", "v"],
        &["buffers", "read", "v", "--lines", "1:3"],
        &["buffers", "search", "v", "n", "--context", "2"],
        &["buffers", "peek", nasty],
        &["buffers", "search", "v", nasty],
    ] {
        let text = shown_plainly(home.trommel(args));
        assert_eq!(dangers(&text), [], "{args:?}: {text:?}");
        assert!(text.chars().count() > 10, "{args:?}: {text:?}");
    }
}

/// R26: neither do those of random inputs, in answers, errors, and damage reports.
#[test]
fn r26_random_inputs_are_safe() {
    let folder = Folder::new("fuzz");
    // A deterministic generator: the same bytes each time.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let pieces: [&[u8]; 14] = [
        b"\x1b[2J",
        b"\x9b",
        "\u{9b}31m".as_bytes(),
        "\u{202e}".as_bytes(),
        "\u{2066}".as_bytes(),
        "\u{e0041}".as_bytes(),
        b"\x07",
        b"\0",
        b"\xff",
        b"\\u001b",
        b"\\",
        b"\"",
        b"x",
        b"\r",
    ];
    for case in 0..60 {
        let mut string = Vec::new();
        for _ in 0..next(12) {
            string.extend_from_slice(pieces[next(pieces.len() as u64) as usize]);
        }
        let bytes = [b"{\"", &string[..], b"\": [\"", &string[..], b"\", 1]}\n"].concat();
        let file = folder.file(&format!("case-{case}.jsonl"), bytes);
        for args in [
            &["extract", &file, "$..*", "--output", "located"][..],
            &["extract", &file, "$..*", "-r"],
            &["extract", &file, "$", "-o", "gron"],
            &["extract", &file, "$", "-o", "keys", "-r"],
            &["extract", &file, "all=$..*", "$", "-o", "csv"],
            &["extract", &file, "all=$..*", "$", "-o", "tsv"],
            &["extract", &file, "all=$..*", "$", "-o", "objects", "--pretty"],
            &["check", &file, "--on-bad-record", "skip"],
            &["stats", &file, "--values"],
        ] {
            let text = shown_plainly(trommel(args));
            assert_eq!(dangers(&text), [], "{args:?}: {text:?}");
        }
    }
}

/// R32: work that takes longer than half a second shows its progress, only on a terminal, and
/// clears it.
#[test]
fn r32_long_work_shows_a_bar() {
    let record = b"{\"id\": 1}\n".repeat(6_000);
    let slow = |command: &mut Command| {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let out = child.stdout.take().unwrap();
        let reading = thread::spawn(move || {
            let (mut out, mut text) = (out, String::new());
            out.read_to_string(&mut text).map(|_| text)
        });
        for _ in 0..10 {
            stdin.write_all(&record).unwrap();
            thread::sleep(Duration::from_millis(120));
        }
        drop(stdin);
        let status = child.wait().unwrap();
        (status.code(), reading.join().unwrap().unwrap())
    };
    let (seen, inside) = terminal(100);
    let mut command = trommel(["count", "-", "$.id", "--progress", "always"]);
    command.stderr(inside);
    let watching = thread::spawn(move || read_all(seen));
    let (status, out) = slow(&mut command);
    drop(command);
    let bar = watching.join().unwrap();
    assert_eq!((status, out.as_str()), (Some(0), "{\"counts\":{\"$.id\":60000},\"total\":60000}\n"));
    assert!(bar.contains("KiB"), "{bar:?}");
    // The bar appears late; earlier bytes do not inflate the rate.
    assert!(bar.contains("KiB/s") && !bar.contains("GiB/s") && !bar.contains("TiB/s"), "{bar:?}");
    assert!(bar.ends_with("\r\u{1b}[2K") || bar.ends_with("\u{1b}[2K\r"), "{bar:?}");
    // The number of bytes never decreases.
    let amounts = bar.split(" KiB ").filter_map(|before| before.rsplit(' ').next()?.parse::<f64>().ok());
    assert!(amounts.collect::<Vec<_>>().is_sorted(), "{bar:?}");

    // A terminal that cannot clear a line shows nothing, and neither does one beside a pipe, which
    // may lead to a pager.
    for terminal_type in ["dumb", "xterm"] {
        let (seen, inside) = terminal(100);
        let mut command = trommel(["count", "-", "$.id"]);
        command.stderr(inside).env("TERM", terminal_type);
        let watching = thread::spawn(move || read_all(seen));
        assert_eq!(slow(&mut command).0, Some(0));
        drop(command);
        assert_eq!(watching.join().unwrap(), "");
    }
    // A file or another process gets lines, on request.
    let mut command = trommel(["count", "-", "$.id", "--progress", "always"]);
    let folder = Folder::new("progress");
    command.stderr(File::create(folder.path("err")).unwrap());
    assert_eq!(slow(&mut command).0, Some(0));
    let lines = std::fs::read_to_string(folder.path("err")).unwrap();
    assert!(lines.starts_with("progress: ") && lines.lines().count() <= 2, "{lines:?}");
    // Short work shows nothing.
    let (seen, inside) = terminal(100);
    let mut command = trommel(["count", "users.json", "$..*"]);
    let mut child = command.stdout(Stdio::null()).stderr(inside).spawn().unwrap();
    drop(command);
    assert_eq!(read_all(seen), "");
    child.wait().unwrap();
    assert_eq!(piped(["count", "-", "$.id"], &record).err, "");
}

/// R32: work over all outputs shows its progress in outputs.
#[test]
fn r32_upkeep_shows_a_bar() {
    let home = Home::new("upkeep");
    for id in ["output-1", "output-2", "output-3"] {
        home.put(id, "[1]");
    }
    let (seen, inside) = terminal(100);
    let mut command = home.trommel(["rebuild"]);
    // It waits while another process has the index locked.
    let lock = File::open(home.path().join("outputs/lock")).unwrap();
    lock.lock().unwrap();
    let mut child = command.stdout(Stdio::null()).stderr(inside).spawn().unwrap();
    drop(command);
    thread::sleep(Duration::from_millis(1_500));
    lock.unlock().unwrap();
    let bar = read_all(seen);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(bar.contains("of 3 outputs") && bar.ends_with("\u{1b}[2K"), "{bar:?}");
}
