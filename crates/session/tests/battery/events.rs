//! Events by type and fields, and what is never returned.

use trommel_session::{ErrorClass, EventPage, EventQuery, Session};

use crate::support::{Home, Written, watch};

fn query(types: &[&str], fields: &[&str]) -> EventQuery {
    let mut query = EventQuery::default();
    query.event_types = types.iter().map(|name| (*name).to_owned()).collect();
    query.fields = fields.iter().map(|name| (*name).to_owned()).collect();
    query
}

fn events(session: &Session, query: &EventQuery) -> EventPage {
    session.get_events(query, &watch()).unwrap()
}

fn json(page: &EventPage) -> String {
    serde_json::to_string(&page.events).unwrap()
}

#[test]
fn small_known_fields_come_unasked() {
    let home = Home::new();
    let session = home.turns("s", 2);
    let page = events(&session, &query(&["llm:response"], &[]));
    assert_eq!((page.total_count, page.has_more), (4, false));
    let first = serde_json::to_string(&page.events[0]).unwrap();
    let expected = concat!(
        r#"{"record":2,"ts":"2026-03-01T09:01:01.000+00:00","event":"llm:response","lvl":"INFO","#,
        r#""data":{"status":"ok","model":"m","provider":"p","duration_ms":10}}"#
    );
    assert_eq!(first, expected);
}

#[test]
fn fields_come_nested_as_they_stand() {
    let home = Home::new();
    let session = home.turns("s", 1);
    let page = events(&session, &query(&["llm:response"], &["data.usage.input_tokens", "model", "nowhere"]));
    let expected = concat!(
        r#"{"record":2,"ts":"2026-03-01T09:01:01.000+00:00","event":"llm:response","#,
        r#""data":{"usage":{"input_tokens":100},"model":"m"}}"#
    );
    assert_eq!(serde_json::to_string(&page.events[0]).unwrap(), expected);
}

/// R39: whatever is asked, all that an event carries is never returned.
#[test]
fn r39_data_is_never_returned() {
    let home = Home::new();
    let session = home.turns("s", 2);
    for field in ["data", "$.data", "$['data']", "['data']", "[\"data\"]"] {
        let page = events(&session, &query(&[], &[field]));
        assert_eq!(page.total_count, 16);
        for event in &page.events {
            assert!(event.omitted == ["data"] && event.fields.get(&["data"]).is_none(), "{field}");
        }
        assert!(!json(&page).contains("question"), "{field}");
    }
    for field in ["$", "*", "$..*", "data[*]", "data.*"] {
        let error = session.get_events(&query(&[], &[field]), &watch()).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Request, "{field}");
    }
}

#[test]
fn r39_long_fields_are_left_out_and_named() {
    let home = Home::new();
    let mut written = Written::default();
    let long = "x".repeat(30_000_000);
    written.event(
        1,
        0,
        "llm:request",
        &format!(r#""messages":["{long}"],"model":"m","short":"{}""#, "y".repeat(1_998)),
    );
    written.event(1, 1, "llm:request", &format!(r#""messages":[1,2],"model":"{}""#, "y".repeat(1_999)));
    home.write("s", "events.jsonl", &written.events);
    let page = events(&home.find("s"), &query(&[], &["data.messages", "model", "short"]));
    assert_eq!(page.events[0].omitted, ["data.messages"]);
    assert_eq!(page.events[0].fields.get(&["data", "model"]), Some("\"m\""));
    assert_eq!(page.events[0].fields.get(&["data", "short"]).map(str::len), Some(2_000));
    assert_eq!(page.events[1].omitted, ["model"]);
    assert_eq!(page.events[1].fields.get(&["data", "messages"]), Some("[1,2]"));
}

#[test]
fn errors_are_told_wherever_they_are_said() {
    let home = Home::new();
    let lines = [
        r#"{"ts":"2026-03-01T09:00:00Z","lvl":"ERROR","event":"a"}"#,
        r#"{"ts":"2026-03-01T09:00:00Z","lvl":"INFO","event":"b","status":"error"}"#,
        r#"{"ts":"2026-03-01T09:00:00Z","event":"c","error":{"type":"T","msg":"m"}}"#,
        r#"{"ts":"2026-03-01T09:00:00Z","event":"d","data":{"error":"old"}}"#,
        r#"{"ts":"2026-03-01T09:00:00Z","lvl":"DEBUG","event":"tool:error"}"#,
        r#"{"ts":"2026-03-01T09:00:00Z","event":"e","error":null,"status":"ok"}"#,
    ];
    home.write("s", "events.jsonl", lines.join("\n") + "\n");
    let session = home.find("s");
    let mut asked = query(&[], &[]);
    asked.errors_only = true;
    let page = events(&session, &asked);
    assert_eq!(page.total_count, 5);
    assert!(page.events.iter().all(|event| event.fields.get(&["has_error"]) == Some("true")));
    let errors = session.errors(trommel_session::Page::default(), &watch()).unwrap();
    let says = errors.errors.iter().map(|row| &*row.message).collect::<Vec<_>>();
    assert_eq!(says, ["no message", "no message", "T: m", "old", "no message"]);
}

#[test]
fn pages_have_totals_and_names_have_aliases() {
    let home = Home::new();
    let session = home.turns("s", 10);
    let mut asked = query(&["tool:call", "tool:result"], &["tool_name"]);
    (asked.offset, asked.limit) = (15, 3);
    let page = events(&session, &asked);
    assert_eq!((page.total_count, page.events.len(), page.has_more), (20, 3, true));
    assert_eq!(page.events[0].fields.get(&["event"]), Some("\"tool:post\""));
    asked.offset = 18;
    assert!(!events(&session, &asked).has_more);
    asked.limit = 0;
    assert_eq!(session.get_events(&asked, &watch()).unwrap_err().class(), ErrorClass::Request);
    assert_eq!(events(&session, &query(&["tool:*"], &[])).total_count, 20);
}

#[test]
fn members_that_moved_are_found_in_either_place() {
    let home = Home::new();
    let lines =
        [r#"{"ts":"t","event":"a","duration_ms":5}"#, r#"{"ts":"t","event":"a","data":{"duration_ms":6}}"#];
    home.write("s", "events.jsonl", lines.join("\n"));
    for field in ["duration_ms", "data.duration_ms"] {
        let page = events(&home.find("s"), &query(&[], &[field]));
        assert_eq!(page.events[0].fields.get(&["duration_ms"]), Some("5"), "{field}");
        assert_eq!(page.events[1].fields.get(&["data", "duration_ms"]), Some("6"), "{field}");
    }
}

/// R39: of a first event what fits is there, and what does not is named; a page that may hold
/// nothing is refused.
#[test]
fn r39_a_first_event_always_stands() {
    let home = Home::new();
    let mut written = Written::default();
    for second in 0..3 {
        written.event(1, second, "x", &format!(r#""a":"{0}","b":"{0}","c":"{0}""#, "y".repeat(900)));
    }
    home.write("s", "events.jsonl", &written.events);
    let session = home.find("s");
    let mut asked = query(&[], &["a", "b", "c"]);
    asked.max_chars = 2_000;
    let page = events(&session, &asked);
    assert_eq!((page.events.len(), page.total_count, page.has_more), (1, 3, true));
    assert_eq!(page.events[0].omitted, ["c"]);
    assert_eq!(page.events[0].fields.get(&["data", "b"]).map(str::len), Some(902));
    asked.fields = vec!["z".repeat(5_000), "a".to_owned()];
    assert_eq!(events(&session, &asked).events[0].omitted, [0; 0].map(|_: u8| ""));
    asked.max_chars = 199;
    let error = session.get_events(&asked, &watch()).unwrap_err();
    assert!(error.class() == ErrorClass::Request && error.to_string().contains("less than 200"), "{error}");
    let mut asked = trommel_session::TranscriptQuery::default();
    asked.max_chars = 0;
    assert_eq!(session.messages(&asked, &watch()).unwrap_err().class(), ErrorClass::Request);
}
