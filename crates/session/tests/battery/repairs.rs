//! Detection and repair of the three kinds of broken transcripts.

use trommel_session::{Diagnosis, ErrorClass, Session};

use crate::support::{Claude, Home, read, watch};

const USER: &str = r#"{"role":"user","content":"u"}"#;
const CALL: &str = r#"{"role":"assistant","content":"","tool_calls":[{"id":"a","tool":"ls","arguments":{}},{"id":"b","tool":"cat","arguments":{}}]}"#;
const A: &str = r#"{"role":"tool","tool_call_id":"a","content":"ra"}"#;
const B: &str = r#"{"role":"tool","tool_call_id":"b","content":"rb"}"#;
const ANSWER: &str = r#"{"role":"assistant","content":"done"}"#;

fn session(home: &Home, lines: &[&str]) -> Session {
    home.metadata("s", "").write("s", "transcript.jsonl", lines.join("\n") + "\n");
    home.find("s")
}

fn diagnose(home: &Home, lines: &[&str]) -> Diagnosis {
    session(home, lines).diagnose(&watch()).unwrap()
}

/// Returns the transcript after a repair, with a label for each line.
fn repaired(home: &Home, lines: &[&str]) -> Vec<String> {
    let session = session(home, lines);
    let before = home.bytes("s");
    let shown = home.sessions.repair(&session, true, &watch()).unwrap();
    assert!(home.bytes("s") == before && !shown.backup_created);
    let done = home.sessions.repair(&session, false, &watch()).unwrap();
    assert!(done.backup_created, "{done:?}");
    let after = String::from_utf8(read(&home.folder("s").join("transcript.jsonl"))).unwrap();
    assert_eq!(session.diagnose(&watch()).unwrap().status, "healthy", "{after}");
    home.sessions.undo(&session, &watch()).unwrap();
    assert!(home.bytes("s") == before);
    after.lines().map(name).collect()
}

fn name(line: &str) -> String {
    let known = [(USER, "user"), (CALL, "call"), (A, "a"), (B, "b"), (ANSWER, "answer")];
    if let Some((_, name)) = known.iter().find(|(known, _)| *known == line) {
        return (*name).to_owned();
    }
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["metadata"]["synthetic"], true, "{line}");
    match line["tool_call_id"].as_str() {
        Some(id) => {
            assert!(line["content"].as_str().unwrap().contains("unknown_error"));
            format!("made up {id}")
        }
        None => "closed".to_owned(),
    }
}

#[test]
fn keeps_a_result_shared_by_several_messages() {
    const FIRST: &str =
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"x","tool":"ls","arguments":{}}]}"#;
    const SHARED: &str = r#"{"role":"tool","tool_call_id":"b","tool_call_id":"x","content":"r"}"#;
    let home = Home::new();
    // In place for one message and late for another, or late for two.
    for lines in [&[USER, FIRST, USER, CALL, A, SHARED][..], &[USER, FIRST, USER, CALL, A, USER, SHARED]] {
        let session = session(&home, lines);
        assert_eq!(session.diagnose(&watch()).unwrap().status, "broken");
        assert!(home.sessions.repair(&session, false, &watch()).unwrap().backup_created);
        let after = session.diagnose(&watch()).unwrap();
        assert_eq!(after.status, "healthy", "{after:?}");
        home.sessions.undo(&session, &watch()).unwrap();
    }
}

#[test]
fn complete_transcript_is_healthy() {
    let home = Home::new();
    let found = diagnose(&home, &[USER, CALL, A, B, ANSWER, USER, ANSWER]);
    assert_eq!((found.status, found.recommended_action, found.failure_modes.len()), ("healthy", "none", 0));
    let done = home.sessions.repair(&home.find("s"), false, &watch()).unwrap();
    assert!(!done.backup_created);
}

#[test]
fn adds_placeholders_for_missing_results() {
    let home = Home::new();
    let lines = [USER, CALL, A, ANSWER];
    let found = diagnose(&home, &lines);
    assert_eq!(
        (found.status, &*found.failure_modes, &*found.orphaned_tool_ids),
        ("broken", &["missing_tool_results"][..], &["b".to_owned()][..])
    );
    assert_eq!(repaired(&home, &lines), ["user", "call", "made up b", "a", "answer"]);
}

#[test]
fn moves_misplaced_results() {
    let home = Home::new();
    let lines = [USER, CALL, A, ANSWER, USER, B, ANSWER];
    let found = diagnose(&home, &lines);
    assert_eq!(
        (&*found.failure_modes, &*found.misplaced_tool_ids),
        (&["ordering_violation"][..], &["b".to_owned()][..])
    );
    assert_eq!(repaired(&home, &lines), ["user", "call", "b", "a", "answer", "user", "answer"]);
    let before = [USER, B, CALL, A, ANSWER];
    assert_eq!(repaired(&home, &before), ["user", "call", "b", "a", "answer"]);
}

#[test]
fn completes_interrupted_turns() {
    let home = Home::new();
    let lines = [USER, CALL, A, B, USER, ANSWER];
    let found = diagnose(&home, &lines);
    assert_eq!(found.failure_modes, ["incomplete_assistant_turn"]);
    let turn = &found.incomplete_turns[0];
    assert_eq!((turn.after_line, turn.after_index, turn.missing), (Some(4), 3, "assistant_response"));
    assert_eq!(repaired(&home, &lines), ["user", "call", "a", "b", "closed", "user", "answer"]);
    assert_eq!(repaired(&home, &[USER, CALL, A, B]), ["user", "call", "a", "b", "closed"]);
    assert_eq!(repaired(&home, &[USER, CALL]), ["user", "call", "made up a", "made up b", "closed"]);
}

#[test]
fn repairs_all_faults_at_once() {
    let home = Home::new();
    let lines = [USER, CALL, USER, B, ANSWER];
    assert_eq!(diagnose(&home, &lines).failure_modes.len(), 3);
    assert_eq!(repaired(&home, &lines), ["user", "call", "b", "made up a", "closed", "user", "answer"]);
}

#[test]
fn adds_a_missing_final_line_end() {
    let home = Home::new();
    home.metadata("s", "").write("s", "transcript.jsonl", [USER, CALL].join("\n"));
    home.sessions.repair(&home.find("s"), false, &watch()).unwrap();
    let found = home.find("s").diagnose(&watch()).unwrap();
    assert!(found.status == "healthy" && found.damage.is_none());
}

#[test]
fn refuses_to_repair_files_of_other_programs() {
    let home = Home::new();
    let path = home.root.path().join("chat.jsonl");
    std::fs::write(&path, [USER, CALL].join("\n")).unwrap();
    let session = Session::open(&path).unwrap();
    assert_eq!(session.diagnose(&watch()).unwrap().status, "broken");
    let error = home.sessions.repair(&session, false, &watch()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Unsupported);
}

/// Reused IDs, as after a restart: each call has its own result.
#[test]
fn accepts_reused_ids() {
    let home = Home::new();
    let lines = [USER, CALL, ANSWER, USER, CALL, ANSWER];
    assert_eq!(diagnose(&home, &lines).orphaned_tool_ids, ["a", "b", "a", "b"]);
    let names = ["user", "call", "made up a", "made up b", "answer"];
    assert_eq!(repaired(&home, &lines), [names, names].concat());
    // A result of a lost call does not belong to a call that has its own result.
    assert_eq!(diagnose(&home, &[A, USER, CALL, A, B, ANSWER]).status, "healthy");
}

/// Claude Code writes a record for each part of a response: parallel calls precede the result of
/// the first.
#[test]
fn parallel_calls_of_one_response_are_healthy() {
    let claude = Claude::new();
    let user = r#"{"type":"user","message":{"role":"user","content":"u"}}"#;
    let call = |message: &str, id: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{message}","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}]}}}}"#
        )
    };
    let result = |id: &str| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"r"}}]}}}}"#
        )
    };
    let answer = r#"{"type":"assistant","message":{"id":"m9","role":"assistant","content":[{"type":"text","text":"x"}]}}"#;
    let mut lines = vec![
        user.to_owned(),
        call("m1", "t2"),
        call("m1", "t3"),
        result("t2"),
        result("t3"),
        answer.to_owned(),
    ];
    let found = claude.write("s", &lines).diagnose(&watch()).unwrap();
    assert_eq!((found.status, found.recommended_action), ("healthy", "none"), "{found:?}");
    // A part may be written twice, and a user may end a turn.
    lines.insert(2, call("m1", "t2"));
    assert_eq!(claude.write("s", &lines).diagnose(&watch()).unwrap().status, "healthy");
    lines.remove(2);
    let ended = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":"r"},{"type":"text","text":"[Request interrupted by user for tool use]"}]}}"#;
    let interrupted = [&lines[..4], &[ended.to_owned(), user.to_owned(), answer.to_owned()]].concat();
    assert_eq!(claude.write("s", &interrupted).diagnose(&watch()).unwrap().status, "healthy");
    // A different response closes the calls of the previous one.
    lines[2] = call("m2", "t3");
    let found = claude.write("s", &lines).diagnose(&watch()).unwrap();
    assert_eq!((found.status, found.recommended_action), ("broken", "none"), "repair changes no such file");
    assert_eq!(found.misplaced_tool_ids, ["t2"]);
}

#[test]
fn status_reflects_unreadable_records() {
    let home = Home::new();
    let found = diagnose(&home, &[USER, "{\"role\": ", ANSWER]);
    assert_eq!((found.status, &*found.failure_modes), ("damaged", &["unreadable_records"][..]));
    assert_eq!((found.recommended_action, found.damage.count), ("restore", 1));
    let found = diagnose(&home, &[USER, "x", CALL, A, B]);
    assert_eq!((found.status, found.recommended_action), ("broken", "repair"));
    assert_eq!(found.failure_modes, ["incomplete_assistant_turn", "unreadable_records"]);
}
