//! Logs of other programs, with their figures as recorded here.

use std::path::PathBuf;

use trommel_session::{EventQuery, Format, Page, Session, TranscriptQuery};
use trommel_testkit::conformance;

use crate::support::watch;

/// Opens a sample's session, if samples are available.
fn sample(path: &str) -> Option<Session> {
    let path: PathBuf = conformance::root()?.join("agent-logs").join(path);
    Some(Session::open(path).unwrap())
}

/// The numbers of messages, turns, tool calls, requests, and tokens sent and received.
fn figures(session: &Session) -> [u64; 6] {
    let page = session.messages(&TranscriptQuery::default(), &watch()).unwrap();
    let usage = session.usage(&watch()).unwrap();
    let timeline = session.timeline(Page::default(), &watch()).unwrap();
    assert_eq!(timeline.total_count, page.turns);
    [
        page.total_count,
        page.turns,
        usage.tool_calls,
        usage.llm_requests,
        usage.total_input_tokens,
        usage.total_output_tokens,
    ]
}

#[test]
fn reads_a_session_of_amplifier() {
    let Some(session) = sample("amplifier-synthetic") else { return };
    assert_eq!(session.format(), Format::Amplifier);
    let summary = session.summary(&watch()).unwrap();
    assert_eq!((summary.total_events, summary.errors, summary.damage.count), (248, 8, 0));
    assert_eq!(summary.event_types["llm:request:raw"], 37);
    assert_eq!(summary.first_event.as_deref(), Some("2026-03-01T09:00:02.562Z"));
    let timeline = session.timeline(Page::default(), &watch()).unwrap();
    assert_eq!(
        (timeline.total_count, timeline.turns.iter().map(|turn| turn.tool_calls).sum::<u64>()),
        (12, 37)
    );
    let page = session.messages(&TranscriptQuery::default(), &watch()).unwrap();
    assert_eq!((page.total_count, page.turns), (86, 12));
    let mut query = EventQuery::default();
    query.errors_only = true;
    assert_eq!(session.get_events(&query, &watch()).unwrap().total_count, 8);
    assert_eq!(session.diagnose(&watch()).unwrap().orphaned_tool_ids.len(), 0);
}

#[test]
fn counts_usage_of_a_session_of_amplifier() {
    let Some(session) = sample("amplifier-synthetic") else { return };
    let usage = session.usage(&watch()).unwrap();
    assert_eq!((usage.llm_requests, usage.tool_calls), (37, 37));
    assert_eq!(
        (usage.total_input_tokens, usage.total_output_tokens, usage.cache_read_tokens),
        (2_516_109, 62_993, 932_515)
    );
    let left_out = usage.left_out.iter().map(|row| (&*row.what, row.count)).collect::<Vec<_>>();
    assert_eq!(left_out, [("tool:error", 8), ("tool:post", 29)]);
}

#[test]
fn reads_sessions_of_claude_code() {
    for (name, expected, damaged) in [
        // Three of its records are a string, a number, and an array.
        ("claude-code-log_edge_cases.jsonl", [13, 3, 3, 4, 488, 435], 3),
        ("claude-code-log_representative_messages.jsonl", [11, 4, 2, 5, 218, 445], 0),
        ("claude-code-log_session_b.jsonl", [3, 2, 0, 1, 20, 35], 0),
        ("claude-code-log_todowrite_examples.jsonl", [11, 2, 3, 6, 883, 328], 0),
        ("claude-code-transcripts_sample_session.json", [33, 5, 12, 15, 0, 0], 0),
        ("claude-code-transcripts_sample_session.jsonl", [7, 2, 2, 3, 0, 0], 0),
    ] {
        let Some(session) = sample(&format!("claude-code/{name}")) else { return };
        assert_eq!(session.format(), Format::ClaudeCode, "{name}");
        assert_eq!(figures(&session), expected, "{name}");
        let page = session.messages(&TranscriptQuery::default(), &watch()).unwrap();
        assert_eq!(page.damage.count, damaged, "{name}");
        let events = session.get_events(&EventQuery::default(), &watch()).unwrap();
        assert!(
            events.events.iter().all(|event| event.fields.get(&["message", "content"]).is_none()),
            "{name}"
        );
    }
}

#[test]
fn reads_plain_chats() {
    for (name, expected) in [
        ("ctf-crypto-katy.traj.json", [37, 18, 0, 18, 0, 0]),
        ("ctf-web-i_got_id.traj.json", [43, 21, 0, 21, 0, 0]),
        ("function_calling_simple.traj.json", [12, 1, 5, 5, 0, 0]),
        ("marshmallow-1867-function-calling-from-source.traj.json", [28, 1, 13, 13, 0, 0]),
        ("marshmallow-1867-xml.traj.json", [23, 11, 0, 11, 0, 0]),
        ("test-repo-i1.traj.json", [12, 6, 0, 5, 0, 0]),
    ] {
        let Some(session) = sample(&format!("swe-agent/{name}")) else { return };
        assert_eq!(session.format(), Format::Chat, "{name}");
        assert_eq!(figures(&session), expected, "{name}");
    }
}
