//! `trommel sessions`: every operation as JSON and on a terminal, over sessions written by the
//! tests.

mod finding;
mod totals;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::common::{Folder, Run, trommel, words};
use crate::terminal::{dangers, shown_plainly};
use serde_json::{Value, json};

const PROJECT: &str = "-home-u-app";

/// An Amplifier session.
const APP: &str = "5d1c0a9e-0000-4000-8000-000000000001";

/// A Claude Code session.
const WEB: &str = "c1a2b3c4-0000-4000-8000-000000000002";

/// Homes of two programs with sessions, and a home of this program that must stay empty.
struct Home(Folder);

impl Home {
    /// Writes one session of each program, and a sub-session.
    fn new(name: &str) -> Self {
        let home = Self::empty(name);
        let (transcript, events) = turns(3);
        home.write(
            APP,
            &metadata(APP, r#", "turn_count": 3, "name": "Disk trouble", "config": {"a": [1]}"#),
            &transcript,
            &events,
        );
        let child = "0000000000000000-00000000000000aa_explorer";
        let (transcript, events) = turns(1);
        // The sub-session has its own requests and calls.
        let events = events.replace("call_", "inner_").replace("T09:", "T10:");
        home.write(child, &metadata(child, &format!(r#", "parent_id": "{APP}""#)), &transcript, &events);
        let project = home.0.path("claude/projects/-home-u-web");
        fs::create_dir_all(&project).unwrap();
        fs::write(project.join(format!("{WEB}.jsonl")), claude_code()).unwrap();
        home
    }

    /// Writes no session.
    fn empty(name: &str) -> Self {
        Self(Folder::new(&format!("sessions-{name}")))
    }

    fn folder(&self, id: &str) -> PathBuf {
        self.0.path("amplifier/projects").join(PROJECT).join("sessions").join(id)
    }

    fn write(&self, id: &str, metadata: &str, transcript: &str, events: &str) {
        fs::create_dir_all(self.folder(id)).unwrap();
        for (name, text) in
            [("metadata.json", metadata), ("transcript.jsonl", transcript), ("events.jsonl", events)]
        {
            fs::write(self.folder(id).join(name), text).unwrap();
        }
    }

    /// Appends text to a file of a session.
    fn append(&self, id: &str, name: &str, text: &str) {
        let path = self.folder(id).join(name);
        let was = fs::read_to_string(&path).unwrap();
        fs::write(path, was + text).unwrap();
    }

    /// Reads a session's three files.
    fn bytes(&self, id: &str) -> [Vec<u8>; 3] {
        ["metadata.json", "transcript.jsonl", "events.jsonl"]
            .map(|name| fs::read(self.folder(id).join(name)).unwrap())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = trommel(args);
        command.env("AMPLIFIER_HOME", self.0.path("amplifier"));
        command.env("CLAUDE_CONFIG_DIR", self.0.path("claude"));
        command.env("HOME", self.0.path("user")).env("TROMMEL_HOME", self.0.path("trommel"));
        command
    }

    fn of(&self, line: &str) -> Command {
        let words = words(&format!("sessions {line}"));
        self.command(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn line(&self, line: &str) -> Run {
        Run::of(self.of(line).output().unwrap())
    }

    #[track_caller]
    fn json(&self, line: &str) -> Value {
        self.line(&format!("{line} --json")).json()
    }

    /// Returns the output on a terminal of 100 columns.
    fn shown(&self, line: &str) -> String {
        shown_plainly(self.of(line))
    }
}

fn metadata(id: &str, more: &str) -> String {
    let created = r#""created": "2026-03-01T09:01:00+00:00", "updated": "2026-03-01T09:30:00+00:00""#;
    format!(r#"{{"session_id": "{id}", {created}, "bundle": "foundation", "model": "small-1"{more}}}"#)
}

/// Returns a time in a turn. Turns are a minute apart.
fn time(turn: u64, milliseconds: u64) -> String {
    format!("2026-03-01T09:{turn:02}:{:02}.{:03}+00:00", milliseconds / 1000, milliseconds % 1000)
}

/// Returns a transcript with four messages per turn, and its eight events per turn. The tool fails
/// in the second turn, and each turn takes longer than the one before.
fn turns(count: u64) -> (String, String) {
    let (mut transcript, mut events) = (String::new(), String::new());
    for turn in 1..=count {
        let mut message = |at: u64, members: &str| {
            let time = time(turn, at);
            writeln!(transcript, r#"{{{members},"metadata":{{"timestamp":"{time}"}}}}"#).unwrap();
        };
        let second = 1000 * turn;
        message(5, &format!(r#""role":"user","content":"question {turn}\nis the Disk FULL?""#));
        let calls = format!(r#"[{{"id":"call_{turn}","tool":"grep","arguments":{{"pattern":"x"}}}}]"#);
        message(second, &format!(r#""role":"assistant","content":"","tool_calls":{calls}"#));
        let tool =
            format!(r#""role":"tool","name":"grep","tool_call_id":"call_{turn}","content":"found {turn}""#);
        message(second + 10, &tool);
        message(5 * second + 1, &format!(r#""role":"assistant","content":"answer {turn}""#));
        let mut event = |at: u64, name: &str, data: &str| {
            let (time, lvl) = (time(turn, at), if name.contains("error") { "ERROR" } else { "INFO" });
            writeln!(events, r#"{{"ts":"{time}","lvl":"{lvl}","event":"{name}","data":{{{data}}}}}"#)
                .unwrap();
        };
        let usage = r#""usage":{"input_tokens":1000,"output_tokens":10,"cache_read_tokens":50}"#;
        let response =
            format!(r#""provider":"p","model":"small-1","status":"ok","duration_ms":{turn}0,{usage}"#);
        let call = format!(r#""tool_name":"grep","tool_call_id":"call_{turn}""#);
        event(0, "prompt:submit", r#""prompt":"question""#);
        event(10, "llm:request", r#""provider":"p","model":"small-1""#);
        event(second, "llm:response", &response);
        event(second + 1, "content_block:end", usage);
        event(second + 2, "tool:pre", &call);
        if turn == 2 {
            event(second + 3, "tool:error", &format!(r#"{call},"error":{{"type":"io","msg":"disk full"}}"#));
        } else {
            event(second + 3, "tool:post", &format!(r#"{call},"result":{{"success":true}}"#));
        }
        event(5 * second, "llm:response", &response);
        event(5 * second + 2, "prompt:complete", r#""response":"answer""#);
    }
    (transcript, events)
}

/// Returns two responses to one prompt, in the format of Claude Code.
fn claude_code() -> String {
    let lines = [
        json!({"type": "user", "uuid": "u1", "sessionId": WEB, "timestamp": "2026-03-02T10:00:00.000Z",
            "message": {"role": "user", "content": "Make it blue"}}),
        json!({"type": "assistant", "uuid": "a1", "sessionId": WEB, "timestamp": "2026-03-02T10:00:04.000Z", "requestId": "r1",
            "message": {"id": "m1", "role": "assistant", "model": "large-2",
                "content": [{"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file": "a.css"}}],
                "usage": {"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 5}}}),
        json!({"type": "user", "uuid": "u2", "sessionId": WEB, "timestamp": "2026-03-02T10:00:05.000Z",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]}}),
        json!({"type": "assistant", "uuid": "a2", "sessionId": WEB, "timestamp": "2026-03-02T10:00:06.000Z", "requestId": "r2",
            "message": {"id": "m2", "role": "assistant", "model": "large-2", "content": [{"type": "text", "text": "It is blue"}],
                "usage": {"input_tokens": 9, "output_tokens": 4}}}),
    ];
    lines.map(|line| line.to_string()).join("\n") + "\n"
}

/// Returns one member of each row.
fn column(answer: &Value, rows: &str, name: &str) -> Vec<Value> {
    answer[rows].as_array().unwrap().iter().map(|row| row[name].clone()).collect()
}

/// Splits a text into lines and normalizes white space.
fn rows(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[track_caller]
fn has(text: &str, wanted: &[&str]) {
    let rows = rows(text);
    for line in wanted {
        assert!(rows.iter().any(|row| row == line), "no line {line:?} in\n{text}");
    }
}

#[test]
fn sessions_of_both_programs_are_listed() {
    let home = Home::new("list");
    let listed = home.json("list");
    assert_eq!(column(&listed, "sessions", "session_id"), [WEB, APP]);
    assert_eq!(column(&listed, "sessions", "format"), ["claude_code", "amplifier"]);
    assert_eq!((&listed["total"], &listed["has_more"]), (&json!(2), &json!(false)));
    assert_eq!(home.json("list --all")["total"], 3);
    let first = home.json("list --limit 1");
    assert_eq!(column(&first, "sessions", "session_id"), [WEB]);
    assert_eq!(first["truncated"], json!({"reason": "limit", "returned": 1, "next": 1}));
    assert_eq!(column(&home.json("list --limit 1 --offset 1"), "sessions", "session_id"), [APP]);
    assert_eq!(column(&home.json("list --project -home-u-app"), "sessions", "session_id"), [APP]);
    assert_eq!(home.json("list --date-range 2026-02-01:2026-02-28")["total"], 0);
    assert!(home.line("list --date-range someday").failed(2).contains("write today"));

    let shown = home.shown("list --project -home-u-app");
    has(
        &shown,
        &[
            "id project name turns model changed",
            "5d1c0a9e -home-u-app Disk trouble 3 small-1 2026-03-01 09:30",
        ],
    );
    let shown = home.shown("list --all --limit 2");
    assert!(rows(&shown)[1].starts_with("c1a2b3c4 -home-u-web Make it blue 1 large-2 2"), "{shown}");
    assert!(
        rows(&shown)[1].ends_with(" Claude") && shown.ends_with("note: 2 of 3; next page: --offset 2\n"),
        "{shown}"
    );
}

#[test]
fn ids_are_as_short_as_they_can_be() {
    let home = Home::empty("ids");
    for id in ["aaaaaaaaaa11", "aaaaaaaaaa12", "bbbb", "bbbbbbbbbbbb"] {
        home.write(id, &metadata(id, ""), "", "");
    }
    let shown = home.shown("list");
    let mut ids: Vec<_> =
        rows(&shown).iter().skip(1).filter_map(|row| Some(row.split(' ').next()?.to_owned())).collect();
    ids.sort();
    assert_eq!(ids, ["aaaaaaaaaa11", "aaaaaaaaaa12", "bbbb", "bbbbbbbb"]);
    for id in ids {
        home.line(&format!("get {id}")).json();
    }
}

#[test]
fn get_shows_metadata_and_transcript() {
    let home = Home::new("get");
    let details = home.json("get 5d1c");
    assert_eq!((&details["session_id"], &details["metadata"]["name"]), (&json!(APP), &json!("Disk trouble")));
    assert!(details.get("transcript").is_none() && details.get("events_summary").is_none(), "{details}");
    let details = home.json("get 5d1c --transcript --events-summary --limit 3 --offset 1 --max-text 5");
    assert_eq!(column(&details, "transcript", "role"), ["assistant", "tool", "assistant"]);
    assert_eq!(column(&details, "transcript", "content"), ["", "found…", "answe…"]);
    assert_eq!(
        (&details["transcript_page"]["total_count"], &details["events_summary"]["total_events"]),
        (&json!(12), &json!(24))
    );
    assert_eq!(details["truncated"]["next"], 4);
    assert_eq!(column(&home.json("get c1a2 --transcript"), "transcript", "turn"), [1, 1, 1, 1]);

    let shown = home.shown("get 5d1c --transcript --events-summary");
    has(
        &shown,
        &[
            APP,
            "created 2026-03-01 09:01:00",
            "name Disk trouble",
            "not shown config",
            "errors 1",
            "turn 1 user 2026-03-01 09:01:00",
            "question 1",
            "is the Disk FULL?",
            "turn 2 assistant 2026-03-01 09:02:02",
            "→ grep {\"pattern\":\"x\"}",
            "turn 3 tool grep 2026-03-01 09:03:03",
        ],
    );
    assert!(home.line("get 5d1c --limit 3").failed(2).contains("--transcript"));
}

/// Reads all rows, although the tool returns pages.
#[test]
fn all_pages_are_read() {
    let home = Home::empty("pages");
    let (mut events, mut messages, long) = (String::new(), String::new(), "x".repeat(900));
    for n in 0..2_500 {
        writeln!(events, r#"{{"ts":"2026-03-01T09:00:00Z","event":"e","data":{{"n":{n}}}}}"#).unwrap();
    }
    for n in 0..300 {
        writeln!(messages, r#"{{"role":"user","content":"{n} {long} tail"}}"#).unwrap();
    }
    home.write(APP, &metadata(APP, ""), &messages, &events);
    let all = home.json("events 5d1c --field data.n");
    let numbers: Vec<u64> =
        all["events"].as_array().unwrap().iter().map(|row| row["data"]["n"].as_u64().unwrap()).collect();
    assert!(numbers.into_iter().eq(0..2_500) && all.get("truncated").is_none());
    assert_eq!((&all["total_count"], &all["has_more"]), (&json!(2_500), &json!(false)));
    let some = home.json("events 5d1c --limit 1500 --offset 10");
    assert_eq!(some["events"].as_array().unwrap().len(), 1_500);
    assert_eq!(some["truncated"], json!({"reason": "limit", "returned": 1_500, "next": 1_510}));
    let said = home.json("get 5d1c --transcript");
    assert_eq!(
        (said["transcript"].as_array().unwrap().len(), &said["transcript_page"]["has_more"]),
        (300, &json!(false))
    );
    assert_eq!(home.json("search tail --context 0")["matches"].as_array().unwrap().len(), 300);
    assert_eq!(home.json("analyze 5d1c timeline")["turns"].as_array().map(Vec::len), Some(0));
}

#[test]
fn texts_are_found() {
    let home = Home::new("search");
    let found = home.json("search 'disk full' --scope transcript --project -home-u-app");
    assert_eq!(column(&found, "matches", "line_number"), [1, 1, 5, 9]);
    assert_eq!(home.json("search disk --scope metadata")["total_count"], 1);
    assert_eq!(home.json("search blue")["sessions_with_matches"], 1);
    assert_eq!(home.json("search 'disk full' --limit 2")["truncated"]["next"], 2);
    assert_eq!(home.json("search nowhere")["total_count"], 0);
    assert_eq!(home.line("search nowhere --exit-status").status, Some(1));
    assert_eq!(home.line("search blue --exit-status").status, Some(0));

    let shown = home.shown("search blue");
    has(
        &shown,
        &[
            &format!("{WEB} -home-u-web 2026-03-02 10:00"),
            "c1a2b3c4 line 1, turn 1, user, 2026-03-02 10:00:00: message.content",
            "Make it blue",
            "2 matches in 1 of 3 sessions",
        ],
    );
    has(
        &home.shown("search 'disk full' --context 0"),
        &["5d1c0a9e line 5, turn 2, user, 2026-03-01 09:02:00: content", "is the Disk FULL?"],
    );
    // Texts that occur only in events are found there.
    let found = home.json("search 'disk full' --scope events");
    assert_eq!(
        (column(&found, "matches", "event"), column(&found, "matches", "field")),
        (vec![json!("tool:error")], vec![json!("data.error.msg")])
    );
    assert!(home.shown("search nowhere").starts_with("note: no matches in 3 sessions"), "");
    // Matches are highlighted if colors are on.
    let mut command = home.of("search blue");
    command.env("TERM", "xterm-256color");
    let colored = crate::terminal::shown(command);
    assert!(
        colored.contains("Make it \u{1b}[1m\u{1b}[31mblue") || colored.contains("Make it \u{1b}[31m"),
        "{colored:?}"
    );
}

#[test]
fn events_show_requested_fields() {
    let home = Home::new("events");
    let all = home.json("events 5d1c");
    assert_eq!((&all["total_count"], all["events"].as_array().unwrap().len()), (&json!(24), 24));
    let some = home.json(
        "events 5d1c --type llm:response --type 'tool:*' --field data.model --field data.usage.input_tokens",
    );
    assert_eq!(some["events"][0]["data"], json!({"model": "small-1", "usage": {"input_tokens": 1000}}));
    assert_eq!(some["total_count"], 12);
    let whole = home.json("events 5d1c --field data --limit 1");
    assert_eq!(whole["events"][0]["omitted"], json!(["data"]));
    let errors = home.json("events 5d1c --errors");
    assert_eq!(column(&errors, "events", "event"), ["tool:error"]);
    assert_eq!(
        column(&home.json("events c1a2"), "events", "type"),
        ["user", "assistant", "user", "assistant"]
    );

    let shown = home.shown("events 5d1c --limit 3");
    has(
        &shown,
        &[
            "time event fields",
            "2026-03-01 09:01:00.000 prompt:submit",
            "2026-03-01 09:01:01.000 llm:response status=ok model=small-1 provider=p duration_ms=10",
            "note: 3 of 24; next page: --offset 3",
        ],
    );
    let shown = home.shown("events 5d1c --type llm:response --field model --field data --limit 1");
    has(&shown, &["time event model omitted", "2026-03-01 09:01:01.000 llm:response small-1 data"]);
    assert_eq!(home.shown("events 5d1c --type none"), "note: no rows\n");
}

#[test]
fn analyses_are_shown_as_tables() {
    let home = Home::new("analyze");
    let summary = home.json("analyze 5d1c");
    assert_eq!((&summary["total_events"], &summary["event_types"]["llm:response"]), (&json!(24), &json!(6)));
    let errors = home.json("analyze 5d1c errors");
    assert_eq!(errors["errors"][0]["message"], "io: disk full");
    let timeline = home.json("analyze 5d1c timeline");
    assert_eq!(column(&timeline, "turns", "duration_ms"), [5_002, 10_002, 15_002]);
    assert_eq!(column(&home.json("analyze 5d1c timeline --limit 1 --offset 1"), "turns", "turn_num"), [2]);
    let usage = home.json("analyze 5d1c usage");
    // Includes the sub-session.
    assert_eq!(
        (&usage["llm_requests"], &usage["total_input_tokens"], &usage["tool_calls"]),
        (&json!(8), &json!(7_600), &json!(4))
    );
    assert_eq!(column(&usage, "by_session", "tool_calls"), [3, 1]);
    let usage = home.json("analyze c1a2 usage");
    assert_eq!(
        usage["by_model"],
        json!([{"model": "large-2", "requests": 2, "input": 16, "output": 7, "cache_read": 20, "cache_write": 5, "total": 48}])
    );
    let aggregate =
        home.json("analyze 5d1c aggregate --field data.duration_ms --by data.model --type 'llm:*'");
    assert_eq!(
        (&aggregate["groups"][0]["group"], &aggregate["groups"][0]["sum"]),
        (&json!("small-1"), &json!(120))
    );

    has(
        &home.shown("analyze 5d1c"),
        &[
            "events 24",
            "errors 1",
            "duration 2 m 15 s",
            &format!("llm:response 6 {}", "█".repeat(30)),
            "tool:error 1 █████",
        ],
    );
    has(&home.shown("analyze 5d1c errors"), &["13 2026-03-01 09:02:02 tool:error grep io: disk full"]);
    has(
        &home.shown("analyze 5d1c usage"),
        &[
            "model provider requests input output cache read cache write total",
            "small-1 p 8 7,600 80 400 0 8,080",
            "total 8 7,600 80 400 0 8,080",
            "grep 4",
            "content_block:end 4 they repeat the usage of llm:response, which is counted",
        ],
    );
    has(
        &home.shown("analyze 5d1c aggregate --field duration_ms --by model"),
        &[
            "group count sum mean minimum maximum",
            "small-1 6 120 20 10 30",
            "24 events, 18 without the field",
        ],
    );
}

/// What only some programs write is named: thinking, notes, calls without results.
#[test]
fn other_programs_messages_are_shown() {
    let home = Home::new("others");
    let path = home.0.path("claude/projects/-home-u-web").join(format!("{WEB}.jsonl"));
    let message = |uuid: &str, role: &str, content: Value| {
        json!({"type": role, "uuid": uuid, "sessionId": WEB, "timestamp": "2026-03-02T10:01:00.000Z",
            "message": {"role": role, "content": content}})
        .to_string()
    };
    let calls: Vec<Value> = (0..200)
        .map(|number| json!({"type": "tool_use", "id": format!("t{number}-"), "name": "Read", "input": {}}))
        .collect();
    let lines = [
        message("u3", "user", json!("x".repeat(300_000))),
        message("a3", "assistant", json!([{"type": "thinking", "thinking": "hmm, red?", "signature": "s"}])),
        message("a4", "assistant", json!(calls)),
        message("u4", "user", json!("[Request interrupted by user]")),
        message("u5", "user", json!("<command-name>/clear</command-name>")),
    ];
    let text = fs::read_to_string(&path).unwrap() + &lines.join("\n") + "\n";
    fs::write(&path, text).unwrap();
    let shown = home.shown("get c1a2 --transcript");
    for part in
        ["(thinking: 9 characters)", "(interruption)", "(command)", "300,000 characters in all", "more"]
    {
        assert!(shown.contains(part), "{part}: {}", shown.chars().filter(|&c| c != 'x').collect::<String>());
    }
    assert_eq!(home.json("diagnose c1a2")["recommended_action"], "none");
    let shown = home.shown("diagnose c1a2");
    has(&shown, &["`repair` supports only Amplifier sessions. Fix the file with the program that wrote it."]);
}

/// The timeline shows one line per turn, with a bar proportional to its duration.
#[test]
fn timelines_show_one_line_per_turn() {
    let home = Home::new("timeline");
    let shown = home.shown("analyze 5d1c timeline");
    let length = |line: &str| line.chars().filter(|c| ('\u{2588}'..='\u{258f}').contains(c)).count();
    let bars: Vec<usize> = shown.lines().skip(3).map(length).collect();
    has(
        &shown,
        &[
            "3 turns, 30.0 s of work: 3 tool calls, 6 responses, 1 error",
            "turn started duration tools responses",
            "2026-03-01",
        ],
    );
    assert!(
        rows(&shown)[4].starts_with("2 09:02:00 10.0 s ███") && rows(&shown)[4].ends_with(" 1 2 ✗ 1 error"),
        "{shown}"
    );
    assert!(bars.is_sorted() && bars[0] > 10 && bars[2] > 2 * bars[0], "{bars:?} {shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    let mut elsewhere = home.of("analyze 5d1c timeline");
    elsewhere.env("TZ", "Europe/Berlin");
    assert!(shown_plainly(elsewhere).contains("     2  10:02:00"), "times are local");
    let mut utc = home.of("analyze 5d1c timeline --utc");
    utc.env("TZ", "Europe/Berlin");
    assert_eq!(shown_plainly(utc), shown);
}

#[test]
fn options_of_another_analysis_are_refused() {
    let home = Home::new("options");
    for (line, said) in [
        ("analyze 5d1c usage --limit 3", "--limit does not apply to usage"),
        ("analyze 5d1c --field data.n", "--field does not apply to summary"),
        ("analyze 5d1c aggregate", "aggregate needs a numeric field"),
        ("analyze 5d1c nothing", "invalid value"),
        ("rewind 5d1c", "--to-turn"),
        ("rewind 5d1c --to-turn 1 --to-message 2", "cannot be used"),
        ("rewind 5d1c --to-turn 0", "invalid value"),
        ("rewind 5d1c --before soon", "is not a time"),
        ("get 5d1c --transcrpt", "unexpected argument"),
        ("get --transcrpt", "unknown option"),
        ("get", "SESSION"),
        ("undo 5d1c", "no change to undo"),
        ("rewind c1a2 --to-turn 1", "a file of Claude Code"),
    ] {
        let run = home.line(line);
        let said_ = run.failed(2);
        assert!(said_.contains(said), "{line}: {said_}");
    }
}

/// Without `--apply` no byte changes; with it, `undo` restores every byte.
#[test]
fn rewinds_are_previewed_applied_and_undone() {
    let home = Home::new("rewind");
    let before = home.bytes(APP);
    let entries = || fs::read_dir(home.folder(APP)).unwrap().count();
    for target in ["--to-turn 2", "--to-message 7", "--before 2026-03-01T09:03:00Z"] {
        let answer = home.json(&format!("rewind 5d1c {target}"));
        assert_eq!(answer["would_remove"], json!({"messages": 4, "events": 8}), "{target}");
        assert_eq!((&answer["dry_run"], &answer["backup_created"]), (&json!(true), &json!(false)));
    }
    let shown = home.shown("rewind 5d1c --to-turn 2");
    let (gone, left) = ("4 messages and 8 events", "2 turns with 8 messages and 16 events");
    has(
        &shown,
        &[
            &format!("A rewind of {APP} would remove {gone}, and leave {left}."),
            "Nothing was changed. Pass --apply to make a backup and apply it.",
        ],
    );
    assert_eq!((home.bytes(APP), entries()), (before.clone(), 3));

    let shown = home.shown("rewind 5d1c --to-turn 2 --apply");
    has(
        &shown,
        &[
            &format!("Removed {gone} from {APP}, and left {left}."),
            "`trommel sessions undo 5d1c` restores them.",
        ],
    );
    assert_eq!(home.json("get 5d1c --transcript")["transcript_page"]["total_count"], 8);
    let undone = home.json("undo 5d1c");
    assert_eq!((&undone["undone"], &undone["changed_since"]), (&json!("rewind"), &json!(false)));
    assert_eq!(home.bytes(APP), before);

    let done = home.json("rewind 5d1c --to-turn 1 --apply");
    assert_eq!((&done["new_turn_count"], &done["backup_created"]), (&json!(1), &json!(true)));
    let shown = home.shown("undo 5d1c");
    assert!(shown.starts_with("Undid the rewind of 2") && shown.contains(": restored "), "{shown}");
    assert_eq!(home.bytes(APP), before);

    home.json("rewind 5d1c --to-turn 1 --apply");
    home.append(APP, "transcript.jsonl", "{\"role\":\"user\",\"content\":\"later\"}\n");
    let shown = home.shown("undo 5d1c");
    let since = "The session had changed since; its changed files are backed up in ";
    let names = shown.lines().find_map(|line| line.strip_prefix(since)).unwrap_or_else(|| panic!("{shown}"));
    let backup = home.folder(APP).join(names.split(',').next().unwrap());
    assert!(fs::read_to_string(&backup).unwrap().ends_with("\"later\"}\n"), "{}", backup.display());
    assert_eq!(home.bytes(APP), before);
}

#[test]
fn broken_sessions_are_diagnosed_and_repaired() {
    let home = Home::new("repair");
    assert_eq!(home.json("diagnose 5d1c --exit-status")["status"], "healthy");
    assert_eq!(
        home.shown("repair 5d1c"),
        format!("{APP} is healthy.\nNothing to repair; nothing was changed.\n")
    );
    let call = r#"{"role":"user","content":"more"}
{"role":"assistant","content":"","tool_calls":[{"id":"call_lost","tool":"grep","arguments":{}}]}
"#;
    home.append(APP, "transcript.jsonl", call);
    let before = home.bytes(APP);
    let diagnosis = home.json("diagnose 5d1c");
    assert_eq!(
        (&diagnosis["status"], &diagnosis["orphaned_tool_ids"]),
        (&json!("broken"), &json!(["call_lost"]))
    );
    assert_eq!(home.line("diagnose 5d1c --exit-status").status, Some(1));
    has(
        &home.shown("diagnose 5d1c"),
        &[
            &format!("{APP} is broken."),
            "1 tool call without a result: call_lost",
            "`trommel sessions repair 5d1c` previews the fix.",
        ],
    );
    assert_eq!(home.json("repair 5d1c")["results_added"], 1);
    assert!(home.shown("repair 5d1c").contains("A repair would make these changes: 1 result added"), "");
    assert_eq!(home.bytes(APP), before);
    assert!(home.shown("repair 5d1c --apply").starts_with(&format!("Repaired {APP}: 1 result added")), "");
    assert_eq!(home.json("diagnose 5d1c")["status"], "healthy");
    assert_eq!(home.json("undo 5d1c")["undone"], "repair");
    assert_eq!(home.bytes(APP), before);
}

#[test]
fn sync_without_a_storage_reports_local_sessions() {
    let home = Home::new("sync");
    assert_eq!(home.json("sync")["connected"], false);
    assert_eq!(home.json("sync 5d1c")["sessions"][0]["session_id"], APP);
    let shown = home.shown("sync 5d1c");
    assert_eq!(
        rows(&shown),
        ["No storage is connected; sessions are only on this machine.", &format!("{APP}: never pushed")]
    );
}

#[test]
fn damage_is_reported_and_hides_nothing() {
    let home = Home::new("damage");
    home.append(
        APP,
        "events.jsonl",
        "{\"event\": nonsense}\n{\"ts\":\"2026-03-01T09:40:00Z\",\"event\":\"late\"}\n{\"ts\":",
    );
    home.append(APP, "transcript.jsonl", "nonsense\n{\"role\":\"user\",\"content\":\"after it\"}\n");
    let run = home.line("events 5d1c --json");
    assert_eq!(run.status, Some(0));
    let answer: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&answer["total_count"], &answer["damage"]["count"]), (&json!(25), &json!(1)));
    assert!(
        run.err.contains("note: skipped 1 unreadable record: events.jsonl, line 25, byte "),
        "{}",
        run.err
    );
    assert!(
        run.err.contains(
            "the last line of events.jsonl, line 27, is incomplete; another program may be writing it"
        ),
        "{}",
        run.err
    );
    for line in ["get 5d1c --transcript", "search 'after it'"] {
        let run = home.line(line);
        assert!(run.status == Some(0) && run.out.contains("after it"), "{line}: {run:?}");
        assert!(run.err.contains("transcript.jsonl, line 13, byte "), "{line}: {}", run.err);
    }
    assert!(home.shown("get 5d1c --events-summary").contains("events.jsonl, line 25"), "");
    has(&home.shown("diagnose 5d1c"), &[&format!("{APP} is damaged."), "1 record unreadable"]);
    assert_eq!(home.line("diagnose 5d1c --exit-status").status, Some(1));
    fs::write(home.folder(APP).join("metadata.json"), "{\"name\":").unwrap();
    let run = home.line("list");
    let listed: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.status, &listed["total"]), (Some(0), &json!(2)));
    assert!(run.err.starts_with(&format!("warning: {APP}: ")), "{}", run.err);
}

/// Returns the message of a refused request.
#[track_caller]
fn refusal(home: &Home, line: &str) -> String {
    let error: Value = serde_json::from_str(&home.line(&format!("{line} --json")).failed(2)).unwrap();
    assert_eq!(error["kind"], "refused");
    error["message"].as_str().unwrap().to_owned()
}

#[test]
fn the_tool_reads_the_same_sessions() {
    let home = Home::new("call");
    let call = |arguments: Value| {
        Run::of(home.command(&["call", "session", &arguments.to_string()]).output().unwrap())
    };
    let listed = call(json!({"operation": "list"})).json();
    assert_eq!(column(&listed, "sessions", "session_id"), [WEB, APP]);
    let before = home.bytes(APP);
    let rewound = call(json!({"operation": "rewind", "session_id": "5d1c", "to_turn": 1})).json();
    assert_eq!((&rewound["dry_run"], home.bytes(APP)), (&json!(true), before));
}

/// Unsafe characters of a log never reach a terminal verbatim.
#[test]
fn r26_logs_are_safe_on_a_terminal() {
    let home = Home::empty("hostile");
    let nasty = "n\u{9b}\u{202e}\u{1b}[2J\u{e0041}\u{7}";
    let text = Value::from(nasty).to_string();
    let raw = text.trim_matches('"');
    let (mut transcript, mut events) = turns(2);
    writeln!(transcript, r#"{{"role":"user","content":{text},"timestamp":{text}}}"#).unwrap();
    let call = format!(r#"{{"id":{text},"tool":{text},"arguments":{{{text}:{text}}}}}"#);
    writeln!(transcript, r#"{{"role":"assistant","content":{text},"tool_calls":[{call}]}}"#).unwrap();
    writeln!(transcript, "{nasty}").unwrap();
    writeln!(events, r#"{{"ts":{text},"lvl":{text},"event":"{raw}error","error":{text},"data":{{"tool_name":{text},"model":{text},{text}:{text}}}}}"#).unwrap();
    writeln!(
        events,
        r#"{{"event":"llm:response","data":{{"model":{text},"n":1,"usage":{{"input_tokens":1}}}}}}"#
    )
    .unwrap();
    writeln!(events, r#"{{"event":"tool:pre","data":{{"tool_name":{text}}}}}"#).unwrap();
    let members = format!(r#", "name": {text}, "description": {text}, {text}: {text}, "parent_id": {text}"#);
    home.write(APP, &metadata(APP, &members).replace("small-1", raw), &transcript, &events);
    for line in [
        "list",
        "list --json",
        "get 5d1c --transcript --events-summary",
        "get 5d1c --transcript --json",
        "search n",
        "events 5d1c",
        "events 5d1c --field model --field data",
        "analyze 5d1c",
        "analyze 5d1c errors",
        "analyze 5d1c timeline",
        "analyze 5d1c usage",
        "analyze 5d1c aggregate --field n --by model",
        "diagnose 5d1c",
        "repair 5d1c",
        "rewind 5d1c --to-turn 1",
        &format!("get {nasty}"),
        &format!("get ./{nasty}"),
        &format!("search {nasty}"),
        &format!("analyze 5d1c aggregate --field {nasty} --by {nasty}"),
    ] {
        let text = home.shown(line);
        assert_eq!(dangers(&text), [], "{line}: {text:?}");
        assert!(text.chars().count() > 10, "{line}: {text:?}");
    }
}
