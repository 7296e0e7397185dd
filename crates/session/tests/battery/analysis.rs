//! Figures: each use is counted once, and what is not counted is said.

use trommel_session::{AggregateQuery, Page};

use crate::support::{Home, Written, watch};

#[test]
fn a_summary_of_all_events() {
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
fn types_are_counted_by_the_beginning_of_long_names() {
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
fn usage_is_counted_once() {
    let home = Home::new();
    let usage = home.turns("s", 3).usage(&watch()).unwrap();
    assert_eq!((usage.llm_requests, usage.tool_calls), (6, 3));
    assert_eq!(
        (usage.total_input_tokens, usage.total_output_tokens, usage.cache_read_tokens),
        (600, 60, 300)
    );
    assert_eq!((&*usage.by_model[0].model, usage.by_model[0].requests), ("m", 6));
    assert_eq!((&*usage.by_tool[0].tool, usage.by_tool[0].calls), ("grep", 3));
    let left_out = usage.left_out.iter().map(|row| (&*row.what, row.count)).collect::<Vec<_>>();
    assert_eq!(left_out, [("content_block:end", 3), ("tool:post", 3)]);
    assert!(usage.left_out[1].why.contains("counted at tool:pre"));
}

#[test]
fn parents_children_and_forks_are_counted_once() {
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
fn calls_of_one_id_are_one() {
    let home = Home::new();
    let mut written = Written::turns(1);
    written.event(1, 5000, "tool:pre", r#""tool_name":"grep","tool_call_id":"call_1""#);
    written.event(1, 5001, "tool:call", r#""tool_name":"ls","tool_call_id":"call_9""#);
    written.event(1, 5002, "llm:response", r#""model":"m","usage":{"input":7,"output":3}"#);
    written.event(1, 5003, "llm:response", r#""model":"n""#);
    home.write("s", "events.jsonl", &written.events);
    let usage = home.find("s").usage(&watch()).unwrap();
    assert_eq!((usage.tool_calls, usage.llm_requests, usage.total_input_tokens), (2, 4, 207));
    assert!(usage.left_out.iter().any(|row| row.why.contains("same id") && row.count == 1));
    assert!(usage.left_out.iter().any(|row| row.why.contains("say no usage") && row.count == 1));
}

#[test]
fn turns_in_time() {
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
fn figures_of_any_field_by_any_other() {
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
