//! Analyses: each use counts once, and records that are not counted are reported.

use trommel_session::{AggregateQuery, EventQuery, ListQuery, Page, Session, Sessions, TranscriptQuery};

use crate::support::{Claude, Home, PROJECT, Written, watch};

const PROMPT: &str = r#"{"type":"user","timestamp":"2026-03-01T09:00:00Z","sessionId":"s","message":{"role":"user","content":"hi"}}"#;

#[test]
fn summarizes_all_events() {
    let home = Home::new();
    let summary = home.turns("s", 3).summary(&watch()).unwrap();
    assert_eq!((summary.total_events, summary.errors), (24, 0));
    assert_eq!(summary.event_types["llm:response"], 6);
    assert_eq!(summary.event_types.values().sum::<u64>(), 24);
    assert_eq!(summary.duration_ms, Some(2 * 60_000 + 3_002));
    assert_eq!(summary.first_event.as_deref(), Some("2026-03-01T09:01:00Z"));
    assert_eq!(summary.levels["INFO"], 24);
}

#[test]
fn counts_types_by_truncated_names() {
    let home = Home::new();
    let long = "x".repeat(150);
    let line = format!("{{\"event\":\"{long}\"}}\n");
    let others = (0..300).map(|number| format!("{{\"event\":\"e{number}\"}}\n"));
    home.write(
        "s",
        "events.jsonl",
        [line.clone(), line.clone()].into_iter().chain(others).chain([line]).collect::<String>(),
    );
    let summary = home.find("s").summary(&watch()).unwrap();
    assert_eq!(summary.event_types[&(long[..99].to_owned() + "…")], 3);
    assert_eq!((summary.event_types.len(), summary.other_types, summary.total_events), (200, 101, 303));
}

#[test]
fn counts_usage_once() {
    let home = Home::new();
    let usage = home.turns("s", 3).usage(&watch()).unwrap();
    assert_eq!((usage.llm_requests, usage.tool_calls), (6, 3));
    assert_eq!(
        (usage.total_input_tokens, usage.total_output_tokens, usage.cache_read_tokens),
        (300, 60, 300)
    );
    assert_eq!((&*usage.by_model[0].model, usage.by_model[0].requests), ("m", 6));
    assert_eq!((&*usage.by_tool[0].tool, usage.by_tool[0].calls), ("grep", 3));
    let left_out = usage.left_out.iter().map(|row| (&*row.what, row.count)).collect::<Vec<_>>();
    assert_eq!(left_out, [("tool:post", 3), ("content_block:end", 3)]);
    assert!(usage.left_out[0].why.contains("counted once, at tool:pre"));
}

#[test]
fn counts_parents_children_and_forks_once() {
    let home = Home::new();
    let parent = home.turns("parent", 2);
    let child =
        Written::turns(1).events.replace("call_1", "child_call").replace("2026-03-01T09", "2026-03-01T10");
    home.metadata("x-y_agent", ", \"parent_id\": \"parent\"").write("x-y_agent", "events.jsonl", &child);
    // The parent's log repeats events of the child.
    let repeated = child.replace("\"event\":", "\"session_id\":\"x-y_agent\",\"event\":");
    home.write("parent", "events.jsonl", Written::turns(2).events + &repeated);
    home.metadata(
        "fork",
        ", \"parent_id\": \"parent\", \"forked_from_turn\": 2, \"forked_at\": \"2026-03-01T09:30:00Z\"",
    );
    home.write("fork", "events.jsonl", Written::turns(2).events + &child.replace("child_call", "fork_call"));
    let own = parent.usage(&watch()).unwrap();
    assert_eq!((own.llm_requests, own.tool_calls), (4, 2));
    assert!(
        own.left_out
            .iter()
            .any(|row| row.what == "llm:response" && row.count == 2 && row.why.contains("another session"))
    );
    let all = home.sessions.usage(&parent, &watch()).unwrap();
    assert_eq!((all.llm_requests, all.tool_calls, all.total_output_tokens), (6, 3, 60));
    let sessions = all.by_session.iter().map(|row| (&*row.session_id, row.requests)).collect::<Vec<_>>();
    assert_eq!(sessions, [("parent", 4), ("x-y_agent", 2)]);
    let fork = home.find("fork").usage(&watch()).unwrap();
    assert_eq!((fork.llm_requests, fork.tool_calls), (2, 1));
    assert!(
        fork.left_out
            .iter()
            .any(|row| row.what == "llm:response" && row.count == 4 && row.why.contains("fork"))
    );
}

#[test]
fn counts_calls_with_the_same_id_once() {
    let home = Home::new();
    let mut written = Written::turns(1);
    written.event(1, 5000, "tool:pre", r#""tool_name":"grep","tool_call_id":"call_1""#);
    written.event(1, 5001, "tool:call", r#""tool_name":"ls","tool_call_id":"call_9""#);
    written.event(1, 5002, "llm:response", r#""model":"m","usage":{"input":7,"output":3}"#);
    written.event(1, 5003, "llm:response", r#""model":"n""#);
    home.write("s", "events.jsonl", &written.events);
    let usage = home.find("s").usage(&watch()).unwrap();
    assert_eq!((usage.tool_calls, usage.llm_requests, usage.total_input_tokens), (2, 4, 107));
    assert!(usage.left_out.iter().any(|row| row.why.contains("same id") && row.count == 1));
    assert!(usage.left_out.iter().any(|row| row.why.contains("have no usage") && row.count == 1));
}

#[test]
fn timeline_has_times_of_turns() {
    let home = Home::new();
    let timeline = home.turns("s", 3).timeline(Page::new(1, 1), &watch()).unwrap();
    assert_eq!((timeline.total_count, timeline.has_more, timeline.from), (3, true, "events"));
    let turn = &timeline.turns[0];
    assert_eq!(
        (turn.turn_num, turn.tool_calls, turn.llm_responses, turn.duration_ms),
        (2, 1, 2, Some(3_002))
    );
    assert_eq!(turn.user_ts.as_deref(), Some("2026-03-01T09:02:00Z"));
    std::fs::remove_file(home.folder("s").join("events.jsonl")).unwrap();
    let timeline = home.find("s").timeline(Page::default(), &watch()).unwrap();
    assert_eq!(
        (timeline.total_count, timeline.from, timeline.turns[2].duration_ms),
        (3, "transcript", Some(2_996))
    );
}

#[test]
fn aggregates_any_field_by_any_other() {
    let home = Home::new();
    let session = home.turns("s", 4);
    let mut query = AggregateQuery::default();
    query.field = "data.duration_ms".to_owned();
    query.by = Some("event".to_owned());
    let found = session.aggregate(&query, &watch()).unwrap();
    assert_eq!((found.events, found.missing, found.groups.len()), (32, 24, 1));
    let figures = &found.groups[0].figures;
    assert_eq!(found.groups[0].group.as_deref(), Some("llm:response"));
    assert_eq!((figures.count, figures.mean), (8, Some(25.0)));
    let text = |exact: &Option<trommel::statistics::Exact>| exact.as_ref().unwrap().as_str().to_owned();
    assert_eq!(
        (text(&figures.sum), text(&figures.min), text(&figures.max)),
        ("200".into(), "10".into(), "40".into())
    );
    query.field = "model".to_owned();
    query.by = None;
    query.event_types = vec!["llm:response".to_owned()];
    let found = session.aggregate(&query, &watch()).unwrap();
    assert_eq!((found.events, found.not_numbers, found.groups.len()), (8, 8, 0));
}

/// Interleaved parts: each response counts once, with its largest figures.
#[test]
fn counts_interleaved_parts_of_a_message_once() {
    let claude = Claude::new();
    let part = |id: &str, output: u64| {
        format!(
            r#"{{"type":"assistant","timestamp":"2026-03-01T09:00:01Z","message":{{"id":"{id}","role":"assistant","model":"m","content":[{{"type":"text","text":"x"}}],"usage":{{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":{output}}}}}}}"#
        )
    };
    let session = claude.write("s", &[PROMPT.to_owned(), part("A", 1), part("B", 5), part("A", 300)]);
    let usage = session.usage(&watch()).unwrap();
    assert_eq!((usage.total_output_tokens, usage.llm_requests, usage.total_input_tokens), (305, 2, 6));
    assert_eq!((usage.cache_read_tokens, usage.total_tokens, usage.approximate), (14, 325, false));
    assert!(usage.left_out.iter().any(|row| row.why.contains("further parts") && row.count == 1));
    let timeline = session.timeline(Page::default(), &watch()).unwrap();
    assert_eq!(timeline.turns[0].llm_responses, 2, "as many as in the usage");
    let mut query = AggregateQuery::default();
    (query.field, query.by) = ("message.usage.output_tokens".to_owned(), Some("model".to_owned()));
    for field in ["message.usage.output_tokens", "usage.output_tokens"] {
        query.field = field.to_owned();
        let found = session.aggregate(&query, &watch()).unwrap();
        let sum = found.groups[0].figures.sum.as_ref().unwrap().as_str().to_owned();
        assert_eq!((&*sum, found.groups[0].figures.count, found.repeated), ("305", 2, 1), "{field}");
    }
}

#[test]
fn counts_sub_agents_of_claude_code_once() {
    let claude = Claude::new();
    let answer = |id: &str, output: u64| {
        format!(
            r#"{{"type":"assistant","isSidechain":true,"sessionId":"s","message":{{"id":"{id}","role":"assistant","model":"m","content":[{{"type":"tool_use","id":"toolu_{id}","name":"Bash","input":{{}}}}],"usage":{{"input_tokens":1,"output_tokens":{output}}}}}}}"#
        )
    };
    let session = claude.write("s", &[PROMPT.to_owned(), answer("A", 342)]);
    claude.write("s/subagents/agent-1", &[answer("B", 30)]);
    claude.write("s/subagents/workflows/wf/agent-2", &[answer("C", 4), answer("A", 342)]);
    claude.write("agent-3", &[answer("D", 1)]);
    claude.write("agent-4", &[answer("E", 1_000).replace("\"sessionId\":\"s\"", "\"sessionId\":\"other\"")]);
    let children = claude.sessions.children(&session).unwrap();
    assert_eq!(children.iter().map(Session::id).collect::<Vec<_>>(), ["agent-1", "agent-2", "agent-3"]);
    let usage = claude.sessions.usage(&session, &watch()).unwrap();
    assert_eq!((usage.total_output_tokens, usage.llm_requests, usage.tool_calls), (377, 4, 4));
    let sessions =
        usage.by_session.iter().map(|row| (&*row.session_id, row.usage.output)).collect::<Vec<_>>();
    assert_eq!(sessions, [("s", 342), ("agent-1", 30), ("agent-2", 4), ("agent-3", 1)]);
    assert!(usage.left_out.iter().any(|row| row.why.contains("another session's log")));
    assert_eq!(session.usage(&watch()).unwrap().total_output_tokens, 342);
    let mut query = ListQuery::default();
    let listed = |query: &ListQuery| claude.sessions.list(query, &watch()).unwrap().sessions;
    assert_eq!(listed(&query).len(), 1);
    query.top_level_only = false;
    let parents = listed(&query).into_iter().map(|row| (row.session_id, row.parent_id));
    let parents = parents.collect::<std::collections::BTreeMap<_, _>>();
    assert_eq!(parents.len(), 5);
    assert_eq!((parents["agent-1"].as_deref(), parents["agent-3"].as_deref()), (Some("s"), Some("s")));
    assert_eq!(parents["agent-4"].as_deref(), Some("other"));
    let agent = claude.sessions.find("agent-2").unwrap();
    assert_eq!((agent.project(), agent.is_top_level()), (PROJECT, false));
    // The same result through a path.
    let (sessions, opened) = Sessions::open(agent.path()).unwrap();
    assert_eq!((opened.id(), opened.project()), ("agent-2", PROJECT));
    assert_eq!(sessions.find("s").unwrap().id(), "s");
}

#[test]
fn all_queries_agree_on_errors() {
    let claude = Claude::new();
    let lines = [
        PROMPT,
        r#"{"type":"assistant","message":{"id":"A","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t0","content":"fine","is_error":false},{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"exit 1"}],"is_error":true}]}}"#,
        r#"{"type":"assistant","message":{"id":"B","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error: 529"}]},"isApiErrorMessage":true}"#,
        r#"{"type":"system","subtype":"api_error","level":"error","content":"overloaded"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]}}"#,
    ];
    let session = claude.write("s", &lines.map(str::to_owned));
    let home = Home::new();
    let mut written = Written::turns(1);
    written.event(
        1,
        5_000,
        "tool:post",
        r#""tool_name":"cat","result":{"success":false,"error":{"message":"no such file"}}"#,
    );
    written.event(
        1,
        5_001,
        "tool:result",
        r#""tool_name":"cat","tool_result":{"success":false,"error":"none"}"#,
    );
    written.event(1, 5_002, "provider:retry", r#""result":{"success":false}"#);
    home.write("s", "events.jsonl", &written.events);
    for (session, expected) in [
        (session, vec![(Some("Bash"), "exit 1"), (None, "API Error: 529"), (None, "overloaded")]),
        (home.find("s"), vec![(Some("cat"), "no such file"), (Some("cat"), "none")]),
    ] {
        let errors = session.errors(Page::default(), &watch()).unwrap();
        let found = errors.errors.iter().map(|row| (row.tool_name.as_deref(), &*row.message));
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let count = expected.len() as u64;
        assert_eq!(session.summary(&watch()).unwrap().errors, count);
        assert_eq!(session.timeline(Page::default(), &watch()).unwrap().turns[0].errors, count);
        let mut query = EventQuery::default();
        query.errors_only = true;
        assert_eq!(session.get_events(&query, &watch()).unwrap().total_count, count);
    }
}

#[test]
fn commands_and_notes_start_no_turn() {
    let claude = Claude::new();
    let user = |content: &str, more: &str| {
        format!(
            r#"{{"type":"user",{more}"timestamp":"2026-03-01T09:00:00Z","message":{{"role":"user","content":"{content}"}}}}"#
        )
    };
    let lines = [
        user("hi", ""),
        user("<command-name>/clear</command-name>", ""),
        user("<local-command-stdout></local-command-stdout>", ""),
        user("<bash-input>ls</bash-input>", ""),
        user("<bash-stdout>a</bash-stdout>", ""),
        user("[Request interrupted by user]", ""),
        user("a note", r#""isMeta":true,"#),
        user("a summary", r#""isCompactSummary":true,"#),
        r#"{"type":"assistant","timestamp":"2026-03-01T09:00:05Z","message":{"id":"A","role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"}]}}"#.to_owned(),
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}}"#.to_owned(),
        user("and now?", ""),
        r#"{"type":"assistant","timestamp":"2026-03-01T08:59:00Z","message":{"id":"B","role":"assistant","content":"late"}}"#.to_owned(),
    ];
    let session = claude.write("s", &lines);
    let page = session.messages(&TranscriptQuery::default(), &watch()).unwrap();
    assert_eq!(page.turns, 2);
    let kinds = page.messages.iter().map(|row| serde_json::to_value(row.kind).unwrap());
    let kinds = kinds.map(|kind| kind.as_str().unwrap_or("-").to_owned()).collect::<Vec<_>>();
    let expected = [
        "-",
        "command",
        "command_output",
        "command",
        "command_output",
        "interruption",
        "note",
        "compaction",
        "thinking",
        "tool_result",
        "-",
        "-",
    ];
    assert_eq!((kinds, &*page.messages[9].role), (expected.map(str::to_owned).to_vec(), "tool"));
    let turns = session.timeline(Page::default(), &watch()).unwrap().turns;
    assert_eq!((turns[0].duration_ms, turns[0].clock_skew), (Some(5_000), false));
    assert_eq!((turns[1].duration_ms, turns[1].clock_skew), (None, true));
}

#[test]
fn response_without_model_and_usage_has_no_row() {
    let home = Home::new();
    let path = home.root.path().join("chat.jsonl");
    std::fs::write(
        &path,
        "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":\"ho\"}\n",
    )
    .unwrap();
    let usage = Session::open(&path).unwrap().usage(&watch()).unwrap();
    assert_eq!((usage.llm_requests, usage.by_model.len()), (1, 0));
    assert!(usage.left_out.iter().any(|row| row.why.contains("have no usage")));
}
