//! Events by type and fields, and the payloads that are never returned.

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
fn returns_small_known_fields_by_default() {
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
fn returns_fields_nested_and_verbatim() {
    let home = Home::new();
    let session = home.turns("s", 1);
    let page = events(&session, &query(&["llm:response"], &["data.usage.input_tokens", "model", "nowhere"]));
    let expected = concat!(
        r#"{"record":2,"ts":"2026-03-01T09:01:01.000+00:00","event":"llm:response","#,
        r#""data":{"usage":{"input_tokens":100},"model":"m"}}"#
    );
    assert_eq!(serde_json::to_string(&page.events[0]).unwrap(), expected);
}

/// R39: no query returns a whole payload.
#[test]
fn r39_never_returns_data() {
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
fn r39_omits_and_names_long_fields() {
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
fn finds_errors_in_every_field() {
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
    let mut request = query(&[], &[]);
    request.errors_only = true;
    let page = events(&session, &request);
    assert_eq!(page.total_count, 5);
    assert!(page.events.iter().all(|event| event.fields.get(&["has_error"]) == Some("true")));
    let errors = session.errors(trommel_session::Page::default(), &watch()).unwrap();
    let messages = errors.errors.iter().map(|row| &*row.message).collect::<Vec<_>>();
    assert_eq!(messages, ["no message", "no message", "T: m", "old", "no message"]);
}

#[test]
fn pages_have_totals_and_types_have_aliases() {
    let home = Home::new();
    let session = home.turns("s", 10);
    let mut request = query(&["tool:call", "tool:result"], &["tool_name"]);
    (request.offset, request.limit) = (15, 3);
    let page = events(&session, &request);
    assert_eq!((page.total_count, page.events.len(), page.has_more), (20, 3, true));
    assert_eq!(page.events[0].fields.get(&["event"]), Some("\"tool:post\""));
    request.offset = 18;
    assert!(!events(&session, &request).has_more);
    request.limit = 0;
    assert_eq!(session.get_events(&request, &watch()).unwrap_err().class(), ErrorClass::Request);
    assert_eq!(events(&session, &query(&["tool:*"], &[])).total_count, 20);
}

#[test]
fn finds_members_inside_and_outside_the_payload() {
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

/// R39: a first event is returned with the fields that fit, and the others are named. A page too
/// small for any event is refused.
#[test]
fn r39_first_event_of_a_page_is_truncated_to_fit() {
    let home = Home::new();
    let mut written = Written::default();
    for second in 0..3 {
        written.event(1, second, "x", &format!(r#""a":"{0}","b":"{0}","c":"{0}""#, "y".repeat(900)));
    }
    home.write("s", "events.jsonl", &written.events);
    let session = home.find("s");
    let mut request = query(&[], &["a", "b", "c"]);
    request.max_chars = 2_000;
    let page = events(&session, &request);
    assert_eq!((page.events.len(), page.total_count, page.has_more), (1, 3, true));
    assert_eq!(page.events[0].omitted, ["c"]);
    assert_eq!(page.events[0].fields.get(&["data", "b"]).map(str::len), Some(902));
    request.fields = vec!["z".repeat(5_000), "a".to_owned()];
    assert_eq!(events(&session, &request).events[0].omitted, [0; 0].map(|_: u8| ""));
    request.max_chars = 199;
    let error = session.get_events(&request, &watch()).unwrap_err();
    assert!(error.class() == ErrorClass::Request && error.to_string().contains("less than 200"), "{error}");
    let mut request = trommel_session::TranscriptQuery::default();
    request.max_chars = 0;
    assert_eq!(session.messages(&request, &watch()).unwrap_err().class(), ErrorClass::Request);
}
