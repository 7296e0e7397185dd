//! Common mistakes of users: the status, the message, and an empty standard output.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::common::{Folder, Home, Run, line, piped, run, trommel, words};

/// A command and its piped input, the expected status, and parts of the message.
type Mistake<'a> = (&'a str, &'a [u8], i32, &'a [&'a str]);

fn check(mistakes: &[Mistake<'_>]) {
    for &(command, input, status, parts) in mistakes {
        let err = piped(words(command), input).failed(status);
        for part in parts {
            assert!(err.contains(part), "{command}: no `{part}` in {err}");
        }
    }
}

#[test]
fn broken_inputs_are_located() {
    let deep = "[".repeat(100_000);
    check(&[
        (
            "stats missing.json",
            b"",
            1,
            &["cannot open missing.json", "help: name a file, or - for standard input"],
        ),
        ("stats .", b"", 1, &["cannot open .", "help: name a file in this folder"]),
        ("stats -", b"", 1, &["error[", "<stdin>"]),
        ("stats -", b" \n\t\n", 1, &["error[", "<stdin>"]),
        ("stats -", b"\x00[\x001\x00]", 1, &["<stdin>:1:1"]),
        ("stats -", b"[\"a\xff\"]", 1, &["<stdin>:1:4", "byte 3"]),
        ("stats -", b"[\"a\x01\"]", 1, &["<stdin>:1:4", "byte 3"]),
        ("stats -", b"[1, 2,\n]", 1, &["<stdin>:2:1", "byte 7"]),
        ("stats -", b"{'a': 1}", 1, &["<stdin>:1:2", "byte 1"]),
        ("stats -", b"[NaN]", 1, &["<stdin>:1:2", "byte 1"]),
        ("stats -", b"[01]", 1, &["<stdin>:1:"]),
        ("stats -", b"{\"a\": [1,\n", 1, &["<stdin>:", "byte 10"]),
        ("stats -", deep.as_bytes(), 1, &["--limit-depth", "byte 10000"]),
        ("count - $", b"{}{}", 1, &["--input concatenated"]),
        ("stats -", b"{\"a\": 1} x", 1, &["<stdin>:1:10"]),
        ("extract output:nope12 $", b"", 2, &["nope12", "trommel list"]),
        (
            "count - $.a --as array_length",
            b"{\"a\": 1}",
            1,
            &["$['a'] is of type number", "use --as matches"],
        ),
        (
            "count - n=$.a[*] --as object-keys",
            b"{\"a\": [{}, null]}",
            1,
            &["n: $['a'][1] is of type null, which has no members", "use --as matches", "`[?@ != null]`"],
        ),
    ]);
}

#[test]
fn unreadable_files_get_help() {
    let folder = Folder::new("unreadable");
    let file = folder.file("secret.json", "[1]");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read everything.
    if fs::File::open(&file).is_err() {
        let err = run(["stats", &file]).failed(1);
        assert!(err.contains("help: make the file readable for this user"), "{err}");
        assert!(!err.contains("standard input"), "{err}");
    } else {
        println!("not tried: this user may read every file");
    }
}

/// Queries in other languages get the corrected query, or the command to run instead.
#[test]
fn foreign_queries_are_corrected() {
    for (query, help) in [
        (".a[]", "write `$.a[*]`"),
        (".statuses[] | select(.lang==\"ja\") | .id", "write `$.statuses[?@.lang==\"ja\"].id`"),
        ("$.statuses[*][id,text]", "write `$.statuses[*]['id','text']`"),
        ("$.a[?@.lang==\"ja].id", "write `$.a[?@.lang==\"ja\"].id`"),
        (".foo[]?", "write `$.foo[*]`"),
        ("{a,b}", "write `$['a', 'b']`"),
        ("$[?startsWith(@.a, 'x')]", "write `$[?search(@.a, '^x')]`"),
        ("$[?@.a.contains('x')]", "write `$[?search(@.a, 'x')]`"),
        ("$[?@.a like 'x%']", "write `$[?match(@.a, 'x.*')]`"),
        ("$[?@.a ~ 'x']", "write `$[?search(@.a, 'x')]`"),
        ("$[?@.a in ['x', 'y']]", "write `$[?(@.a == 'x' || @.a == 'y')]`"),
        ("$[?@.a and @.b]", "write `$[?@.a && @.b]`"),
        ("$[?not @.a]", "write `$[?!@.a]`"),
        ("$[?@.a = 1]", "write `$[?@.a == 1]`"),
        ("$[?@.a =~ /x/]", "write `$[?search(@.a, 'x')]`"),
        ("$[?@.a contains 'x']", "write `$[?search(@.a, 'x')]`"),
        ("$.a.0", "write `$.a[0]`"),
        ("$[a]", "write `$['a']`"),
        ("$.a[(@.length-1)]", "write `$.a[-1]`"),
        ("$.a[@.b == 1]", "write `$.a[?@.b == 1]`"),
        ("$.a[?b == 1]", "write `$.a[?@.b == 1]`"),
        ("$.a[?@.b == x]", "write `$.a[?@.b == 'x']`"),
        ("select(.level==\"error\")", "keep records with --where '@.level==\"error\"'"),
        ("length($.x)", "--as array-length"),
        ("$.x | length", "--as array-length"),
        (".a | keys", "--output paths"),
        ("{a: .b}", "pass one query per field"),
        (".a + .b", "pipe them to jq"),
        ("0.Name", "write '$[0].Name' in single quotes"),
        ("", "quote queries with single quotes"),
    ] {
        for command in ["extract", "count", "sample"] {
            let args = [command, "users.json", query].into_iter();
            let size = if command == "sample" { &["-n", "1"][..] } else { &[] };
            let err = run(args.chain(size.iter().copied())).failed(2);
            assert!(err.contains(help), "{command} '{query}': {err}");
        }
    }
}

#[test]
fn invalid_arguments_get_help() {
    for (command, parts) in [
        ("stats users.json --threads 0", &["--threads <N>", "must be at least 1"][..]),
        ("list --limit 0", &["must be at least 1"]),
        ("sample users.json $ -n many", &["expected an integer of at least 1"]),
        ("list --tool-name web.fetch", &["'--tool-name'", "'--tool'"]),
        ("count users.json $ --as lengths", &["array-length"]),
        ("help nothing", &["unknown command nothing"]),
        ("help sessions nothing", &["unknown command nothing"]),
        ("man nothing", &["unknown command nothing"]),
        ("extract users.json $ -x", &["unexpected argument '-x'"]),
        ("extract users.json $ --raw", &["unexpected argument '--raw'"]),
        ("gc --max-size lots", &["expected a size"]),
        ("list --before 5 --after 9", &["--after (9) must be earlier than --before (5)"]),
    ] {
        let err = line(command).failed(2);
        for part in parts {
            assert!(err.contains(part), "{command}: no `{part}` in {err}");
        }
        // The text after `--` would be mistaken for a query or a file.
        assert!(!err.contains("as a value, use"), "{command}: {err}");
    }
}

/// `help COMMAND` prints the help, because users try it first.
#[test]
fn help_is_a_command() {
    assert_eq!(line("help").ok(), line("--help").ok());
    for command in ["extract", "count", "sessions", "help"] {
        assert_eq!(run(["help", command]).ok(), run([command, "--help"]).ok(), "{command}");
    }
    assert_eq!(line("help sessions list").ok(), line("sessions list --help").ok());
}

/// A thousand malformed records give ten warnings and a count.
#[test]
fn bad_records_are_summed_up() {
    let input = "{\"a\": tru}\n".repeat(1000) + "{\"a\": 1}\n";
    for command in
        ["extract - $.a", "extract - $.a --json", "count - $.a", "sample - $.a[*] -n 1 --seed 1", "stats -"]
    {
        let args = words(&format!("{command} --input jsonl --on-bad-record skip --strict"));
        let run = piped(args, input.as_bytes());
        assert_eq!(run.status, Some(0), "{command}: {}", run.err);
        assert_eq!(run.err.matches("warning: ").count(), 10, "{command}: {}", run.err);
        assert!(run.err.contains("skipped record 9"), "{command}: {}", run.err);
        let summary = "skipped 1,000 malformed records; only the first 10 are listed";
        assert!(run.err.contains(summary), "{command}: {}", run.err);
    }
    // The report of `check` is complete.
    let run = piped(words("check - --input jsonl --on-bad-record skip"), input.as_bytes());
    assert_eq!(run.out.lines().count(), 1000);
}

/// Returns the argument names of a tool. Users of the command line do not know them.
fn arguments(tool: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(&run(["tools", tool, "--schema", "openai"]).ok()).unwrap();
    let properties = schema["function"]["parameters"]["properties"].as_object().unwrap().clone();
    properties.into_iter().map(|(name, _)| name).collect()
}

/// Fails if a message names an argument: in backticks, or anywhere if it is not an English word.
fn assert_no_arguments(command: &str, err: &str, arguments: &[String]) {
    let words: Vec<&str> =
        err.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).collect();
    for name in arguments {
        assert!(!err.contains(&format!("`{name}`")), "{command}: the argument {name} in {err}");
        assert!(
            !name.contains('_') || !words.contains(&name.as_str()),
            "{command}: the argument {name} in {err}"
        );
    }
    assert!(!err.contains("Request Refused") && err.starts_with("error"), "{command}: {err}");
}

/// R45: messages about buffers name the options of the command line.
#[test]
fn r45_messages_about_buffers_name_options() {
    let home = Home::new("mistaken-buffers");
    let folder = home.folder();
    folder.file("app.jsonl", "{\"a\": 1}\n{\"a\": 2}\n");
    folder.file("there.md", "x");
    folder
        .file("run.md", "## A\n@input file: app.jsonl (output=variable:found, scope=session)\n@model none\n");
    let at = |args: &str| {
        let mut command = home.trommel(words(args));
        Run::of(command.current_dir(folder.path("")).output().unwrap())
    };
    at("run run.md --session default").ok();
    let arguments = arguments("buffer_ops");
    for (command, part) in [
        ("buffers read found", "--lines"),
        ("buffers read nothing", ""),
        ("buffers read nothing --lines 1:2", "no buffer `nothing`"),
        ("buffers read found --lines 2:1", ""),
        ("buffers read found --lines 0:1", ""),
        ("buffers read found --lines 90:99", ""),
        ("buffers read found --offset 9999 --length 1", ""),
        ("buffers read found --offset 0 --length 0", "--length"),
        ("buffers read found --offset 18446744073709551615 --length 9000", "exceeds the limit of 8,000"),
        ("buffers info nothing", "no buffer `nothing`"),
        ("buffers info ''", ""),
        ("buffers peek found --max-chars 9000", "--max-chars"),
        ("buffers peek found --max-chars 0", "--max-chars"),
        ("buffers peek found --offset 9999", ""),
        ("buffers search found (", "--plain"),
        ("buffers search found ''", ""),
        ("buffers search found a --context 11", "--context"),
        ("buffers search found a --offset 9999", ""),
        ("buffers export found there", "--write-mode"),
        ("buffers export found ../outside", ""),
        ("buffers export nothing x", "no buffer `nothing`"),
        ("buffers export found ''", ""),
        ("buffers list --session a/b", "--session"),
        ("buffers list --offset 99", ""),
    ] {
        let run = at(command);
        // Some of them succeed and need no message.
        if run.status == Some(0) {
            assert_eq!(part, "", "{command}: {run:?}");
            continue;
        }
        let err = run.failed(2);
        assert!(err.contains(part), "{command}: no `{part}` in {err}");
        assert_no_arguments(command, &err, &arguments);
    }
}

/// R45: messages about pages of stored outputs name options, too.
#[test]
fn r45_messages_about_stored_outputs_name_options() {
    let home = Home::new("mistaken-reads");
    let name = "x".repeat(300);
    home.put("long-name-1", format!("{{\"{name}\": 1}}"));
    home.put("some-text-1", "no JSON");
    let path = format!("$.{name}");
    let arguments = arguments("tool_outputs.read");
    for (args, part) in [
        (&["read", "output:long-name-1", "$", "--cursor", "nonsense"][..], "omit --cursor"),
        (&["read", "output:long-name-1", &path, "--max-chars", "200"], "pass --max-chars "),
        (&["read", "output:some-text-1", "$.a"], "omit QUERY"),
        (&["read", "output:long-name-1", "$.*"], "can select several values"),
    ] {
        let err = home.run(args).failed(2);
        assert!(err.contains(part), "{args:?}: no `{part}` in {err}");
        // Codes are stable, even those that equal the name of an argument.
        let err = err.replacen("error[max_chars]", "error", 1);
        assert_no_arguments(&args.join(" "), &err, &arguments);
        let json = home.run([args, &["--json"]].concat()).failed(2);
        let json: Value = serde_json::from_str(&json).unwrap();
        assert!(json["tool"] == "tool_outputs.read" && json["kind"] == "refused", "{json}");
        assert!(json["message"].as_str().unwrap().contains(part), "{json}");
    }
}

/// JSON errors have the members of a failed tool call.
#[test]
fn errors_in_json_name_options_too() {
    let home = Home::new("mistakes-in-json");
    for (command, tool, code, part) in [
        ("list --json --before 5 --after 9", "tool_outputs.list", "filter", "--after (9)"),
        ("buffers info nothing --json", "buffer_ops", "not_found", "no buffer `nothing`"),
        ("buffers read nothing --json", "buffer_ops", "range", "--lines FIRST:LAST"),
    ] {
        let json: Value = serde_json::from_str(&home.line(command).failed(2)).unwrap();
        let found = (&json["tool"], &json["kind"], &json["code"]);
        assert_eq!(found, (&tool.into(), &"refused".into(), &code.into()), "{command}");
        assert!(json["message"].as_str().unwrap().contains(part), "{command}: {json}");
    }
}

/// R45: messages about sessions name options, too.
#[test]
fn r45_messages_about_sessions_name_options() {
    let tour = crate::common::data().join("../tour/agents").canonicalize().unwrap();
    let arguments = arguments("session");
    let mut failed = 0;
    for (command, part) in [
        ("sessions get nothing", "trommel sessions list"),
        ("sessions get ''", ""),
        ("sessions get /nowhere/at/all", ""),
        ("sessions list --date-range never", "last_week"),
        ("sessions list --date-range 2026-03-02:2026-03-01", "2026-03-01:2026-03-02"),
        ("sessions list --project ../x", ""),
        ("sessions search ''", ""),
        ("sessions search x --date-range never", "last_week"),
        ("sessions events 7c1e5a90 --field a..b", "data.model"),
        ("sessions events 7c1e5a90 --type ''", ""),
        ("sessions events nothing", "trommel sessions list"),
        ("sessions analyze nothing", "trommel sessions list"),
        ("sessions analyze 7c1e5a90 aggregate", "--field"),
        ("sessions analyze 7c1e5a90 summary --by a", "--by"),
        ("sessions analyze 7c1e5a90 usage --limit 1", "--limit"),
        ("sessions analyze 7c1e5a90 aggregate --field a..b", ""),
        ("sessions rewind 7c1e5a90 --to-turn 99", "no turn 99"),
        ("sessions rewind 7c1e5a90 --to-message 999", "no message 999"),
        ("sessions rewind 7c1e5a90 --before soon", "2026-03-01T09:00:00Z"),
        ("sessions rewind 7c1e5a90 --before 1999-01-01", ""),
        ("sessions rewind nothing --to-turn 1", "trommel sessions list"),
        ("sessions undo 7c1e5a90", ""),
        ("sessions undo nothing", "trommel sessions list"),
        ("sessions diagnose nothing", "trommel sessions list"),
        ("sessions repair nothing", "trommel sessions list"),
        ("sessions sync nothing", ""),
    ] {
        let mut program = trommel(words(command));
        program.env("AMPLIFIER_HOME", &tour).env("CLAUDE_CONFIG_DIR", tour.join("none"));
        let run = Run::of(program.output().unwrap());
        if run.status == Some(0) {
            assert_eq!(part, "", "{command}: {run:?}");
            continue;
        }
        failed += 1;
        let err = run.failed(2);
        assert!(err.contains(part), "{command}: no `{part}` in {err}");
        assert_no_arguments(command, &err, &arguments);
    }
    assert!(failed > 20, "only {failed} of them fail");
}
