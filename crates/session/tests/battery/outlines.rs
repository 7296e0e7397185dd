//! A log of outlines gives the same answers as its original, and message outlines the same turns as
//! a transcript.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use trommel_session::{
    ErrorClass, EventQuery, MessageKind, Outliner, Page, Session, TranscriptQuery, Watch, message_outline,
    outline_fields,
};
use trommel_testkit::conformance;
use trommel_testkit::effort::cases;

use crate::support::{Home, PROJECT, Written, time, watch};

/// Returns the outlines of a log, line by line. Lines without an event stay unchanged.
fn outlined(log: &[u8]) -> Vec<u8> {
    let mut outliner = Outliner::new();
    let outline = |line: &[u8]| match outliner.event(line) {
        Ok(Some(outline)) if !outline.contains('\n') => outline.into_bytes(),
        _ => line.to_vec(),
    };
    log.split(|byte| *byte == b'\n').map(outline).collect::<Vec<_>>().join(&b'\n')
}

/// Returns the answers of all outlined queries, without sizes in bytes.
fn answers(session: &Session) -> Vec<Value> {
    fn without_bytes(answer: &impl serde::Serialize) -> Value {
        let mut answer = serde_json::to_value(answer).unwrap();
        for name in ["bytes", "largest"] {
            answer.as_object_mut().unwrap().shift_remove(name);
        }
        if let Some(damage) = answer.get_mut("damage") {
            let listed = damage.get("first").and_then(Value::as_array).into_iter().flatten();
            let listed =
                listed.map(|one| json!([one["record"], one["line"], one["kind"]])).collect::<Vec<_>>();
            *damage =
                json!([damage["count"], listed, damage.get("unfinished").map(|one| one["line"].clone())]);
        }
        answer
    }
    let events = |errors_only: bool, types: &[&str]| {
        let mut query = EventQuery::default();
        (query.errors_only, query.limit) = (errors_only, 1_000);
        query.event_types = types.iter().map(|name| (*name).to_owned()).collect();
        without_bytes(&session.get_events(&query, &Watch::new()).unwrap())
    };
    let page = Page::new(0, 1_000);
    vec![
        without_bytes(&session.summary(&watch()).unwrap()),
        without_bytes(&session.errors(page, &watch()).unwrap()),
        without_bytes(&session.timeline(page, &watch()).unwrap()),
        without_bytes(&session.usage(&watch()).unwrap()),
        events(false, &[]),
        events(true, &[]),
        events(false, &["tool:*", "llm:response"]),
    ]
}

/// Returns the answers of a log and of its outlines.
fn both(log: &[u8]) -> [Vec<Value>; 2] {
    let (home, mirror) = (Home::new(), Home::new());
    home.metadata("s", "").write("s", "events.jsonl", log);
    mirror.metadata("s", "").write("s", "events.jsonl", outlined(log));
    let sessions = trommel_session::Sessions::new().cloud(mirror.root.path(), true);
    [answers(&home.find("s")), answers(&sessions.find("s").unwrap())]
}

/// Values of any kind, some close to the maximum length.
fn value() -> impl Strategy<Value = Value> {
    let text = |part: &'static str| {
        (1_900_usize..2_100).prop_map(move |length| Value::from(part.repeat(length / part.chars().count())))
    };
    let leaf = prop_oneof![
        3 => Just(Value::Null),
        3 => any::<bool>().prop_map(Into::into),
        3 => (0_u32..5_000).prop_map(Into::into),
        3 => prop::sample::select(vec!["error", "ok", "m", "ERROR", "s", "2026-03-01T09:00:00Z"]).prop_map(Into::into),
        2 => ".{0,40}".prop_map(Into::into),
        3 => text("x"),
        3 => text("é\""),
        3 => text("a\u{1f600}"),
        3 => text("\n"),
    ];
    let nested = leaf.clone().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            (repeats(), inner.clone()).prop_map(|(times, one)| vec![one; times].into()),
            prop::collection::vec((name(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    prop_oneof![2 => leaf, 1 => nested]
}

/// Repetition counts, some of which make a value too long.
fn repeats() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 1_usize..3, 1 => 400_usize..1_200]
}

/// Names that an event may have, and others.
fn name() -> impl Strategy<Value = String> {
    let known = outline_fields().iter().flat_map(|(path, _)| path.split('.')).map(str::to_owned);
    let more = ["input_tokens", "output", "type", "msg", "code", "x.y"].map(str::to_owned);
    prop_oneof![6 => prop::sample::select(known.chain(more).collect::<Vec<_>>()), 1 => ".{0,3}"]
}

/// Events in their known form, with additional members.
fn event() -> impl Strategy<Value = Value> {
    let types = [
        "prompt:submit",
        "execution:start",
        "llm:response",
        "provider:response",
        "tool:pre",
        "tool:call",
        "tool:post",
        "tool:error",
        "prompt:complete",
        "content_block:end",
    ];
    let members = |most| prop::collection::vec((name(), value()), 0..most);
    (prop::sample::select(types.to_vec()), 0_u64..5, members(4), members(6), any::<u32>()).prop_map(
        |(event, turn, members, data, tokens)| {
            let mut written = json!({"ts": time(turn, 1_000), "lvl": "INFO", "event": event, "data": {
                "tool_name": "grep", "tool_call_id": format!("call_{turn}"), "model": "m", "usage": {"input": tokens},
                "messages": ["all of it"],
            }});
            let top = written.as_object_mut().unwrap();
            top["data"].as_object_mut().unwrap().extend(data);
            top.extend(members);
            written
        },
    )
}

/// Returns an event's line: unchanged, with every non-ASCII character escaped, or with white space
/// and a repeated member.
fn encode(event: &Value, how: u8) -> String {
    let json = event.to_string();
    match how {
        0 => json,
        1 => {
            let mut escaped = String::new();
            for unit in json.encode_utf16() {
                match u8::try_from(unit) {
                    Ok(byte) if byte.is_ascii() => escaped.push(byte.into()),
                    _ => write!(escaped, "\\u{unit:04x}").unwrap(),
                }
            }
            escaped
        }
        _ => format!(" {{ \"\\u0074s\" : null,{} ", json.trim_start_matches('{')),
    }
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => (event(), 0_u8..3).prop_map(|(event, how)| encode(&event, how)),
        2 => value().prop_map(|value| value.to_string()),
        1 => Just(String::new()),
        1 => Just("{\"ts\": {\"event\"".to_owned()),
        1 => Just("{\"event\":\"tool:pre\"} x".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(48, 2_000) as u32, ..ProptestConfig::default() })]

    /// For any log, its outlines give the same answers, with the same lines.
    #[test]
    fn outlines_give_the_answers_of_their_log(lines in prop::collection::vec(line(), 0..12), ends in any::<bool>()) {
        let mut log = lines.join("\n");
        if ends {
            log.push('\n');
        }
        let [full, outlines] = both(log.as_bytes());
        prop_assert_eq!(full, outlines);
    }

    /// Any bytes give an outline, none, or an error.
    #[test]
    fn r13_outlines_any_bytes_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), text in ".{0,60}") {
        for record in [&bytes[..], text.as_bytes(), format!("{{{text}").as_bytes()] {
            let _ = (Outliner::new().event(record), message_outline(record));
        }
    }
}

/// Tests each field with values of any kind close to the maximum length, which queries return,
/// truncate, or omit.
#[test]
fn outlines_values_close_to_the_maximum_length() {
    for (path, cap) in outline_fields() {
        let mut log = String::new();
        for chars in cap - 4..cap + 4 {
            // The repetitions and their surroundings take about `chars` characters of JSON.
            for value in [
                format!("\"{}\"", "x".repeat(chars - 2)),
                format!("\"x{}\"", r"\ud83d\ude00".repeat(chars / 12)),
                format!("\"{}{}\"", "x".repeat(chars % 6), r"\ud83d\ude00".repeat(chars / 6)),
                format!("1.{}", "0".repeat(chars - 2)),
                format!("[\"{}\"]", "x".repeat(chars - 4)),
                format!("{{\"a\":1.{}}}", "0".repeat(chars - 8)),
                format!("{{\"input\":3,\"msg\":\"{}\"}}", "x".repeat(chars - 19)),
            ] {
                for event in ["llm:response", "tool:pre", "tool:error"] {
                    let nested =
                        path.rsplit('.').fold(value.clone(), |inner, name| format!("{{\"{name}\":{inner}}}"));
                    let members = nested.strip_prefix('{').unwrap();
                    let name = if *path == "event" { "other" } else { "event" };
                    writeln!(log, "{{\"{name}\":\"{event}\",{members}").unwrap();
                }
            }
        }
        let [full, outlines] = both(log.as_bytes());
        assert!(full == outlines, "{path}");
    }
}

#[test]
fn outlines_realistic_logs() {
    let mut written = Written::turns(4);
    written.event(
        4,
        4_000,
        "provider:error",
        r#""error":{"type":"overloaded","msg":"try later"},"message":"m""#,
    );
    written.event(
        4,
        4_001,
        "tool:post",
        r#""tool_name":"grep","result":{"success":false,"error":"no file"}"#,
    );
    let [full, outlines] = both(written.events.as_bytes());
    assert_eq!(full, outlines);
    let Some(root) = conformance::root() else { return };
    let mut logs = Vec::new();
    find(&root.join("agent-logs"), &mut logs);
    find(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata")), &mut logs);
    assert!(!logs.is_empty());
    for log in logs {
        let [full, outlines] = both(&fs::read(&log).unwrap());
        assert_eq!(full, outlines, "{}", log.display());
    }
}

/// Collects the event logs below a folder.
fn find(folder: &Path, logs: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, logs);
        } else if path.ends_with("events.jsonl") {
            logs.push(path);
        }
    }
}

#[test]
fn refuses_malformed_events() {
    let mut outliner = Outliner::new();
    for record in ["", "{\"ts\":1", "{} x", "{\"ts\":\"\\ud800\"}", "{\"data\":{\"usage\":[}}"] {
        let error = outliner.event(record.as_bytes()).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Corrupt, "{record}: {error}");
        assert!(error.to_string().starts_with("a record cannot be read"), "{error}");
    }
    for record in ["[1, 2]", "null", "\"ts\"", " 7 "] {
        assert_eq!(outliner.event(record.as_bytes()).unwrap(), None, "{record}");
    }
    assert_eq!(outliner.event(&b" {} \n"[..]).unwrap().as_deref(), Some("{}"));
    assert_eq!(outliner.event(&b"{\"data\":[1]}"[..]).unwrap().as_deref(), Some("{}"));
}

#[test]
fn message_outlines_start_the_turns_of_a_transcript() {
    let home = Home::new();
    let written = Written::turns(3);
    let transcript = written.transcript
        + "{\"role\":\"user\",\"content\":\"<system-reminder>x\"}\n"
        + "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\"}],\"timestamp\":\"2026-03-01T10:00:00Z\"}\n"
        + "{\"note\":true}\n";
    home.metadata("s", "").write("s", "transcript.jsonl", &transcript);
    let rows = home.find("s").messages(&TranscriptQuery::default(), &watch()).unwrap();
    let outlines = transcript.lines().filter_map(|line| message_outline(line.as_bytes()).unwrap());
    let (mut turn, mut count) = (0, 0);
    for (row, outline) in rows.messages.iter().zip(outlines) {
        turn += u64::from(outline.is_user_prompt);
        count += 1;
        assert_eq!((row.turn, row.answers.first()), (turn, outline.tool_call_id.as_ref()));
        // A result counts as a tool's, even if its role in the file is `user`.
        let is_result = row.kind == Some(MessageKind::ToolResult);
        assert!(row.role == outline.role || is_result && outline.role == "user");
        assert_eq!(row.ts.is_some(), outline.timestamp.is_some());
    }
    assert_eq!((turn, count), (3, 14));
    assert_eq!(message_outline(&b"{\"role\""[..]).unwrap_err().class(), ErrorClass::Corrupt);
    assert_eq!(home.find("s").project(), PROJECT);
}
