//! `session`, with the calls of the specification and with invalid ones.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;
use trommel_session::Sessions;
use trommel_tool::dialect::Dialect;
use trommel_tool::{Context, ErrorKind, Executor, Metadata, Registry, ToolResult};
use trommel_toolbox::sessions;

use crate::rules::faults;

/// The tool over sessions on disk.
struct Bench {
    home: TempDir,
    executor: Executor,
    results: Validator,
}

const ID: &str = "5d1c7f0a-0000-4000-8000-000000000001";

impl Bench {
    /// Creates one session of `turns` turns, each of which calls a tool.
    fn new(turns: usize) -> Self {
        Self::with(turns, |sessions, _| sessions)
    }

    /// Like `new`, with further sources of sessions.
    fn with(turns: usize, more: impl FnOnce(Sessions, &Path) -> Sessions) -> Self {
        let home = tempfile::tempdir().unwrap();
        let registry = Registry::new();
        let now = "2026-03-04T12:00[UTC]".parse().unwrap();
        let known = more(Sessions::new().at(now).amplifier(home.path()), home.path());
        sessions::register(&registry, &known).unwrap();
        let results = registry.get("session").unwrap().metadata().result_schema.clone();
        let results = jsonschema::validator_for(&results).unwrap();
        let bench = Self { home, executor: Executor::new(Arc::new(registry)), results };
        bench.write(turns);
        bench
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("projects/-home-u-app/sessions").join(ID)
    }

    fn write(&self, turns: usize) {
        fs::create_dir_all(self.folder()).unwrap();
        let (mut transcript, mut events) = (String::new(), String::new());
        for turn in 1..=turns {
            let at = |second: usize| {
                format!("2026-03-03T{:02}:{:02}:{second:02}.000+00:00", 9 + turn / 60, turn % 60)
            };
            // Writing to a string cannot fail.
            let _ = writeln!(
                transcript,
                r#"{{"role":"user","content":"question {turn}","timestamp":"{asked}"}}
{{"role":"assistant","content":"","tool_calls":[{{"id":"c{turn}","tool":"grep","arguments":{{"pattern":"p{turn}"}}}}],"timestamp":"{called}"}}
{{"role":"tool","name":"grep","tool_call_id":"c{turn}","content":"found","timestamp":"{called}"}}
{{"role":"assistant","content":"answer {turn}","timestamp":"{answered}"}}"#,
                asked = at(1),
                called = at(2),
                answered = at(4)
            );
            let _ = writeln!(
                events,
                r#"{{"ts":"{asked}","lvl":"INFO","event":"prompt:submit","data":{{"prompt":"question {turn}"}}}}
{{"ts":"{called}","lvl":"INFO","event":"tool:pre","data":{{"tool_name":"grep","tool_call_id":"c{turn}","tool_input":{{"secret":"payload"}}}}}}
{{"ts":"{called}","lvl":"INFO","event":"tool:post","data":{{"tool_name":"grep","tool_call_id":"c{turn}","result":{{"success":true}}}}}}
{{"ts":"{answered}","lvl":"INFO","event":"llm:response","duration_ms":1{turn},"data":{{"model":"m-1","provider":"p","big":0.1000000000000000000001,"usage":{{"input_tokens":100,"output_tokens":10}}}}}}"#,
                asked = at(1),
                called = at(2),
                answered = at(4)
            );
        }
        fs::write(self.folder().join("transcript.jsonl"), transcript).unwrap();
        fs::write(self.folder().join("events.jsonl"), events).unwrap();
        let metadata = json!({
            "session_id": ID, "created": "2026-03-03T09:00:00+00:00", "bundle": "bundle:dev", "model": "m-1", "turn_count": turns,
            "name": "The session"
        });
        fs::write(self.folder().join("metadata.json"), metadata.to_string()).unwrap();
    }

    fn call(&self, arguments: Value) -> ToolResult {
        self.executor.call("session", arguments, &Context::new(".")).result
    }

    fn text(&self, arguments: Value) -> String {
        let result = self.call(arguments);
        result.output.unwrap_or_else(|| panic!("{:?}", result.error)).as_str().to_owned()
    }

    fn ok(&self, arguments: Value) -> Value {
        let answer: Value = serde_json::from_str(&self.text(arguments)).unwrap();
        assert!(self.results.is_valid(&answer), "{answer}");
        answer
    }

    /// Returns the message and the code of a refused request.
    fn refused(&self, arguments: Value) -> (String, String) {
        let result = self.call(arguments);
        assert_eq!(result.error_kind(), Some(ErrorKind::Refused), "{:?}", result.output);
        (result.error.unwrap().message, result.metadata["code"].as_str().unwrap().to_owned())
    }
}

#[test]
fn lists_gets_and_searches_sessions() {
    let bench = Bench::new(3);
    let listed = bench.ok(json!({"operation": "list"}));
    let row = &listed["sessions"][0];
    assert_eq!(
        (&row["session_id"], &row["turn_count"], &row["source"]),
        (&json!(ID), &json!(3), &json!("local"))
    );
    assert_eq!(
        (&row["bundle"], &row["model"], &row["name"]),
        (&json!("bundle:dev"), &json!("m-1"), &json!("The session"))
    );
    assert_eq!((&listed["connected"], &listed["total"]), (&json!(false), &json!(1)));
    assert_eq!(bench.ok(json!({"operation": "list", "date_range": "2020-01-01"}))["total"], 0);

    let got = bench.ok(json!({
        "operation": "get", "session_id": "5d1c", "include_transcript": true, "include_events_summary": true, "limit": 5
    }));
    assert_eq!(got["metadata"]["name"], "The session");
    assert_eq!(got["transcript"].as_array().unwrap().len(), 5);
    assert_eq!(
        (&got["transcript"][0]["content"], &got["transcript"][4]["turn"]),
        (&json!("question 1"), &json!(2))
    );
    assert_eq!(got["transcript_page"], json!({"total_count": 12, "turns": 3, "has_more": true}));
    assert_eq!(got["truncated"], json!({"reason": "limit", "returned": 5, "next": 5}));
    assert_eq!(got["events_summary"]["total_events"], 12);

    let found = bench.ok(json!({"operation": "search", "query": "QUESTION 2", "scope": "transcript"}));
    let hit = &found["matches"][0];
    assert_eq!(
        (&hit["line_number"], &hit["excerpt"], &found["total_count"]),
        (&json!(5), &json!("question 2"), &json!(1))
    );
}

#[test]
fn r39_events_return_requested_fields_only() {
    let bench = Bench::new(3);
    let events = bench.ok(json!({"operation": "get_events", "session_id": ID, "event_types": ["tool:pre"]}));
    assert_eq!(events["total_count"], 3);
    let first = json!({
        "record": 1, "ts": "2026-03-03T09:01:02.000+00:00", "event": "tool:pre", "lvl": "INFO", "data": {"tool_name": "grep"}
    });
    assert_eq!(events["events"][0], first);
    let text = bench.text(json!({
        "operation": "get_events", "session_id": ID, "event_types": ["llm:response"], "fields": ["data", "data.big"], "limit": 1
    }));
    assert!(text.contains(r#""data":{"big":0.1000000000000000000001},"omitted":["data"]"#), "{text}");
    assert!(text.contains(r#""truncated":{"reason":"limit","returned":1,"next":1}"#), "{text}");
    for fields in [json!(["data"]), json!(["data", "ts"]), json!(["data.tool_input.nothing"])] {
        let text = bench.text(json!({"operation": "get_events", "session_id": ID, "fields": fields}));
        assert!(!text.contains("payload"), "{text}");
    }
}

#[test]
fn events_are_analyzed() {
    let bench = Bench::new(3);
    let analyze = |analysis: &str| {
        bench.ok(json!({"operation": "analyze_events", "session_id": ID, "analysis_type": analysis}))
    };
    let summary = analyze("summary");
    assert_eq!((&summary["total_events"], &summary["event_types"]["tool:pre"]), (&json!(12), &json!(3)));
    assert_eq!(summary["duration_ms"], 123_000);
    assert_eq!(analyze("errors")["total_count"], 0);
    let timeline = analyze("timeline");
    assert_eq!(
        (&timeline["turns"][2]["turn_num"], &timeline["turns"][2]["tool_calls"]),
        (&json!(3), &json!(1))
    );
    let usage = analyze("usage");
    let totals =
        ["llm_requests", "total_input_tokens", "total_output_tokens", "tool_calls"].map(|name| &usage[name]);
    assert_eq!(totals, [&json!(3), &json!(300), &json!(30), &json!(3)]);
    let figures = bench.ok(json!({
        "operation": "analyze_events", "session_id": ID, "analysis_type": "aggregate", "field": "duration_ms", "by": "model"
    }));
    let group = &figures["groups"][0];
    assert_eq!((&group["group"], &group["min"], &group["max"]), (&json!("m-1"), &json!(11), &json!(13)));
    assert_eq!((&figures["events"], &figures["missing"]), (&json!(12), &json!(9)));
}

#[test]
fn r38_sessions_are_rewound_and_restored() {
    let bench = Bench::new(3);
    let files = ["transcript.jsonl", "events.jsonl", "metadata.json"].map(|name| bench.folder().join(name));
    let state = || files.iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>();
    let before = state();
    let shown = bench.ok(json!({"operation": "rewind", "session_id": ID, "to_turn": 1}));
    assert_eq!(shown["would_remove"], json!({"messages": 8, "events": 8}));
    assert_eq!((&shown["dry_run"], &shown["backup_created"]), (&json!(true), &json!(false)));
    assert!(state() == before, "nothing is changed unless that is asked for");
    let done = bench.ok(json!({"operation": "rewind", "session_id": ID, "to_turn": 1, "dry_run": false}));
    assert_eq!((&done["new_turn_count"], &done["backup_created"]), (&json!(1), &json!(true)));
    assert!(state() != before);
    assert_eq!(bench.ok(json!({"operation": "diagnose", "session_id": ID}))["status"], "healthy");
    assert_eq!(bench.ok(json!({"operation": "undo", "session_id": ID}))["undone"], "rewind");
    assert!(state() == before);
    let repaired = bench.ok(json!({"operation": "repair", "session_id": ID, "dry_run": false}));
    assert_eq!(
        (&repaired["diagnosis"]["status"], &repaired["backup_created"]),
        (&json!("healthy"), &json!(false))
    );
}

#[test]
fn r37_local_sessions_need_no_connection() {
    let bench = Bench::new(1);
    let all = bench.ok(json!({"operation": "sync_status"}));
    assert_eq!(
        (&all["connected"], &all["last_sync"], &all["pending_uploads"]),
        (&json!(false), &Value::Null, &json!(0))
    );
    let one = bench.ok(json!({"operation": "sync_status", "session_id": "5d1c7f"}));
    assert_eq!(
        (&one["sessions"][0]["session_id"], &one["sessions"][0]["status"]),
        (&json!(ID), &Value::Null)
    );
}

/// R37: cloud sessions that are cached are listed offline, once if they are also local, or omitted
/// on request.
#[test]
fn r37_sessions_of_the_cloud() {
    let there = "77aa0000-0000-4000-8000-000000000001";
    let bench = Bench::with(2, |sessions, home| {
        for id in [ID, there] {
            let folder = home.join("mirror/projects/-home-u-app/sessions").join(id);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("transcript.jsonl"), "{\"role\":\"user\",\"content\":\"question 1\"}\n")
                .unwrap();
        }
        sessions.cloud(home.join("mirror"), true)
    });
    let sources = |answer: &Value| {
        let rows = answer["sessions"].as_array().unwrap().iter();
        let mut rows = rows.map(|row| (row["session_id"].clone(), row["source"].clone())).collect::<Vec<_>>();
        rows.sort_by_key(|(id, _)| id.to_string());
        rows
    };
    let listed = bench.ok(json!({"operation": "list"}));
    assert_eq!(sources(&listed), [(json!(ID), json!("both")), (json!(there), json!("cloud"))]);
    assert_eq!(listed["connected"], true);
    let listed = bench.ok(json!({"operation": "list", "include_cloud": false}));
    assert_eq!(sources(&listed), [(json!(ID), json!("both"))]);
    let found = bench.ok(json!({"operation": "search", "query": "question 1"}));
    assert_eq!((&found["total_count"], &found["connected"]), (&json!(2), &json!(true)));
    let found = bench.ok(json!({"operation": "search", "query": "question 1", "include_cloud": false}));
    assert_eq!((&found["total_count"], &found["matches"][0]["session_id"]), (&json!(1), &json!(ID)));
    let got = bench.ok(json!({"operation": "get", "session_id": "77"}));
    assert_eq!((&got["source"], got.get("path")), (&json!("cloud"), None));
    let (error, code) = bench.refused(json!({"operation": "rewind", "session_id": "77", "to_turn": 1}));
    assert!(error.contains("pull it first (`sync`)") && code == "unsupported", "{error}");
}

/// Answers never exceed their limit, and all pages together have each row once.
#[test]
fn answers_are_bounded_and_continue() {
    let bench = Bench::new(200);
    for (arguments, rows) in [
        (json!({"operation": "get_events", "session_id": ID}), "events"),
        (json!({"operation": "get", "session_id": ID, "include_transcript": true}), "transcript"),
        (json!({"operation": "search", "query": "question"}), "matches"),
        (json!({"operation": "analyze_events", "session_id": ID, "analysis_type": "timeline"}), "turns"),
        (
            json!({"operation": "analyze_events", "session_id": ID, "analysis_type": "aggregate", "field": "data.usage.input_tokens", "by": "ts"}),
            "groups",
        ),
    ] {
        let mut joined = Vec::new();
        loop {
            let mut page = arguments.clone();
            (page["max_chars"], page["offset"]) = (json!(2_000), json!(joined.len()));
            if rows != "groups" {
                page["limit"] = json!(1_000);
            }
            let text = bench.text(page);
            assert!(text.chars().count() <= 2_000, "{text}");
            let mut answer: Value = serde_json::from_str(&text).unwrap();
            let Value::Array(more) = answer[rows].take() else { panic!("{text}") };
            assert!(answer.get("truncated").is_none_or(|cut| cut["next"] == joined.len() + more.len()));
            joined.extend(more);
            if answer.get("truncated").is_none() {
                break;
            }
        }
        let expected = match rows {
            "events" | "transcript" => 800,
            _ => 200,
        };
        assert_eq!(joined.len(), expected, "{rows}");
        joined.dedup();
        assert_eq!(joined.len(), expected, "{rows}");
    }
}

#[test]
fn r45_invalid_requests_are_explained() {
    let bench = Bench::new(2);
    for (arguments, code, message) in [
        (
            json!({"operation": "get"}),
            "request",
            "session get: pass the session's ID, or a prefix of it, as `session_id`; `list` shows the IDs",
        ),
        (
            json!({"operation": "get", "session_id": "zz"}),
            "not_found",
            "session get: no session zz; list all sessions",
        ),
        (json!({"operation": "get", "session_id": ID, "limit": 3}), "request", "pass `include_transcript`"),
        (json!({"operation": "search"}), "request", "session search: pass the text to search for as `query`"),
        (
            json!({"operation": "analyze_events", "session_id": ID}),
            "request",
            "as `analysis_type`: summary, errors, timeline",
        ),
        (
            json!({"operation": "analyze_events", "session_id": ID, "analysis_type": "aggregate"}),
            "request",
            "pass the field with the numbers as `field`",
        ),
        (json!({"operation": "rewind", "session_id": ID}), "request", "session rewind:"),
        (
            json!({"operation": "rewind", "session_id": ID, "to_turn": 1, "to_message": 1}),
            "request",
            "session rewind:",
        ),
        (
            json!({"operation": "rewind", "session_id": ID, "to_turn": 9}),
            "not_found",
            "no turn 9: the session has 2 turns",
        ),
        (
            json!({"operation": "list", "session_id": ID}),
            "request",
            "session list: unknown argument `session_id`",
        ),
        (json!({"operation": "undo", "session_id": ID}), "not_found", "session undo:"),
    ] {
        let (text, actual) = bench.refused(arguments);
        assert!(text.contains(message), "{text}");
        assert_eq!(actual, code, "{text}");
    }
}

#[test]
fn cancelled_calls_stop() {
    let bench = Bench::new(50);
    let context = Context::new(".");
    context.cancel.cancel();
    let result =
        bench.executor.call("session", json!({"operation": "search", "query": "x"}), &context).result;
    assert_eq!(result.error_kind(), Some(ErrorKind::Cancelled));
}

#[test]
fn dry_run_of_a_call_changes_nothing() {
    let bench = Bench::new(2);
    let before = fs::read(bench.folder().join("events.jsonl")).unwrap();
    let context = Context::new(".").dry_run(true);
    let arguments = json!({"operation": "rewind", "session_id": ID, "to_turn": 1, "dry_run": false});
    let result = bench.executor.call("session", arguments, &context).result;
    let text = result.output.unwrap();
    assert!(text.as_str().contains("Would rewind the session 5d1c"), "{}", text.as_str());
    assert_eq!(fs::read(bench.folder().join("events.jsonl")).unwrap(), before);
}

#[test]
fn r28_every_provider_accepts_it() {
    let bench = Bench::new(1);
    let tools: Vec<Metadata> =
        bench.executor.registry().tools().iter().map(|tool| tool.metadata().clone()).collect();
    for dialect in Dialect::ALL {
        let export = dialect.export(&tools.iter().collect::<Vec<_>>());
        assert_eq!(faults(&export), Vec::<String>::new(), "{dialect}");
        assert_eq!(export.tools.len(), 1, "{dialect}");
    }
}

#[test]
fn every_answer_reports_a_storage_problem() {
    let bench = Bench::new(2);
    let registry = Registry::new();
    let known = Sessions::new().amplifier(bench.home.path());
    sessions::register_with_problem(&registry, &known, "the storage cannot be had").unwrap();
    let executor = Executor::new(Arc::new(registry));
    for asked in [
        json!({"operation": "list"}),
        json!({"operation": "get", "session_id": ID}),
        json!({"operation": "get", "session_id": ID, "include_transcript": true}),
        json!({"operation": "search", "query": "question"}),
        json!({"operation": "get_events", "session_id": ID}),
        json!({"operation": "analyze_events", "session_id": ID, "analysis_type": "summary"}),
        json!({"operation": "analyze_events", "session_id": ID, "analysis_type": "usage"}),
        json!({"operation": "rewind", "session_id": ID, "to_turn": 1}),
        json!({"operation": "diagnose", "session_id": ID}),
        json!({"operation": "repair", "session_id": ID}),
        json!({"operation": "sync_status"}),
    ] {
        let result = executor.call("session", asked.clone(), &Context::new(".")).result;
        let Some(trommel_tool::Output::Json(answer)) = result.output else { panic!("{asked}: {result:?}") };
        let answer: Value = serde_json::from_str(answer.get()).unwrap();
        assert_eq!(answer["problems"], json!(["the storage cannot be had"]), "{asked}");
        assert!(bench.results.is_valid(&answer), "{asked}");
    }
}
