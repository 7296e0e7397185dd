//! Messages and turns, in every known shape.

use trommel_session::{ErrorClass, Session, TranscriptQuery};

use crate::support::{Home, watch};

#[test]
fn pages_messages_with_their_turns() {
    let home = Home::new();
    let session = home.turns("s", 5);
    let mut query = TranscriptQuery::default();
    (query.offset, query.limit) = (3, 3);
    let page = session.messages(&query, &watch()).unwrap();
    let rows =
        page.messages.iter().map(|row| (row.index, row.turn, &*row.role, &*row.content)).collect::<Vec<_>>();
    assert_eq!(
        rows,
        [(3, 1, "assistant", "answer 1"), (4, 2, "user", "question 2"), (5, 2, "assistant", "")]
    );
    assert_eq!((page.total_count, page.turns, page.has_more), (20, 5, true));
    let call = &page.messages[2].tool_calls[0];
    assert_eq!((&*call.id, &*call.tool, &*call.arguments), ("call_2", "grep", r#"{"pattern":"x2"}"#));
    assert_eq!(page.messages[1].ts.as_deref(), Some("2026-03-01T09:02:00.005Z"));
}

#[test]
fn reminders_and_results_start_no_turn() {
    let home = Home::new();
    home.write(
        "s",
        "transcript.jsonl",
        concat!(
            "{\"role\":\"user\",\"content\":\"one\"}\n",
            "{\"role\":\"user\",\"content\":\"<system-reminder>x</system-reminder>\"}\n",
            "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"r\"}]}\n",
            "\n",
            "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"two\"}]}\n",
        ),
    );
    let page = home.find("s").messages(&TranscriptQuery::default(), &watch()).unwrap();
    let rows = page.messages.iter().map(|row| (row.turn, row.line)).collect::<Vec<_>>();
    assert_eq!(rows, [(1, Some(1)), (1, Some(2)), (1, Some(3)), (2, Some(5))]);
}

#[test]
fn marks_truncated_messages() {
    let home = Home::new();
    let long = "é".repeat(3_000_000);
    home.write("s", "transcript.jsonl", format!("{{\"role\":\"tool\",\"content\":\"{long}\"}}\n"));
    let page = home.find("s").messages(&TranscriptQuery::default(), &watch()).unwrap();
    let row = &page.messages[0];
    assert_eq!(row.content_chars, Some(3_000_000));
    assert!(row.content.chars().count() <= 1_001 && row.content.ends_with("é…"));
    let mut query = TranscriptQuery::default();
    query.max_text = 5;
    let page = home.find("s").messages(&query, &watch()).unwrap();
    assert_eq!(page.messages[0].content, "ééééé…");
    // A page has a million characters, unless whole messages are requested.
    query.max_text = 10_000_000;
    let page = home.find("s").messages(&query, &watch()).unwrap();
    assert!(page.messages[0].content.chars().count() < 1_000_000);
    query.whole_messages = true;
    let page = home.find("s").messages(&query, &watch()).unwrap();
    assert!(page.messages[0].content == long && page.messages[0].content_chars.is_none());
}

#[test]
fn reports_a_missing_transcript() {
    let home = Home::new();
    home.metadata("s", "");
    let error = home.find("s").messages(&TranscriptQuery::default(), &watch()).unwrap_err();
    assert_eq!(error.to_string(), "session s has no transcript.jsonl: its messages were not recorded");
    let error = Session::open(home.root.path().join("nowhere")).unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotFound);
}
