//! Searches: all occurrences are found, with bounded excerpts.

use trommel_session::{ErrorClass, Matches, Scope, SearchQuery};

use crate::support::{Claude, Home, Written, watch};

fn search(home: &Home, text: &str, change: impl FnOnce(&mut SearchQuery)) -> Matches {
    let mut query = SearchQuery::new(text);
    change(&mut query);
    home.sessions.search(&query, &watch()).unwrap()
}

#[test]
fn finds_all_occurrences_in_any_case() {
    let home = Home::new();
    home.turns("s", 3);
    home.turns("t", 1);
    home.metadata("s", ", \"name\": \"Questions of note\", \"updated\": \"2026-03-02T00:00:00Z\"");
    let found = search(&home, "QUESTION", |_| {});
    assert_eq!(
        (found.total_count, found.total_hits, found.sessions_with_matches, found.has_more),
        (5, 5, 2, false)
    );
    let rows = found
        .matches
        .iter()
        .map(|row| (&*row.session_id, row.match_type, row.line_number))
        .collect::<Vec<_>>();
    let s = [
        ("s", "metadata", None),
        ("s", "transcript", Some(1)),
        ("s", "transcript", Some(5)),
        ("s", "transcript", Some(9)),
    ];
    assert!(s.iter().all(|row| rows.contains(row)), "{rows:?}");
    assert_eq!(search(&home, "question", |query| query.scope = Scope::Metadata).total_count, 1);
    assert_eq!(search(&home, "question", |query| query.scope = Scope::Transcript).total_count, 4);
    assert_eq!(search(&home, "question", |query| query.project = Some("-x".to_owned())).sessions_searched, 0);
    assert_eq!(
        search(&home, "question", |query| query.date_range = Some("2020-01-01".to_owned())).sessions_searched,
        0
    );
    assert_eq!(search(&home, "x2", |_| {}).matches[0].field, "tool_calls.arguments.pattern");
}

#[test]
fn pages_matches_and_bounds_excerpts() {
    let home = Home::new();
    let text = (0..50)
        .flat_map(|line| [format!("line {line} has a needle\\n"), "hay\\n".repeat(30)])
        .collect::<String>();
    home.write("s", "transcript.jsonl", format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n{{\"role\":\"user\",\"content\":\"needle needle\"}}\n"));
    let found =
        search(&home, "needle", |query| (query.limit, query.offset, query.context_lines) = (3, 49, 1));
    assert_eq!(
        (found.total_count, found.total_hits, found.matches.len(), found.has_more),
        (51, 52, 2, false)
    );
    assert_eq!(found.matches[0].excerpt, "hay\nline 49 has a needle\nhay");
    assert_eq!((found.matches[1].hits, found.matches[1].line_number), (2, Some(2)));
    let found = search(&home, "needle", |query| query.context_lines = 20);
    assert!(found.matches.iter().all(|row| row.excerpt.chars().count() <= 400));
    assert!(found.has_more);
}

#[test]
fn searches_a_huge_line_to_its_end() {
    let home = Home::new();
    let hay = "h\\u00e4y ".repeat(2_500_000);
    home.write(
        "s",
        "transcript.jsonl",
        format!("{{\"role\":\"tool\",\"content\":\"{hay}Nädle{hay}n\\u00e4dle\"}}\n"),
    );
    let found = search(&home, "nädle", |_| {});
    assert_eq!(found.total_hits, 2);
    assert!(found.matches[1].excerpt.ends_with("häy nädle"));
}

#[test]
fn damage_hides_no_match() {
    let home = Home::new();
    home.write(
        "s",
        "transcript.jsonl",
        "{\"role\":\"user\",\"content\":\"needle\nxx\n{\"role\":\"user\",\"content\":\"needle\"}\n",
    );
    home.write("s", "metadata.json", "{\"name\": \"needle");
    home.turns("t", 1);
    let found = search(&home, "needle", |_| {});
    assert_eq!(
        (found.total_count, found.damage.count, found.problems.len(), found.sessions_searched),
        (1, 2, 1, 2)
    );
    assert_eq!(found.matches[0].line_number, Some(3));
}

#[test]
fn r45_explains_invalid_searches() {
    let home = Home::new();
    let long = "x".repeat(501);
    for (text, fragment) in [("  ", "pass a word to search for"), (&*long, "search for a part")] {
        let error = home.sessions.search(&SearchQuery::new(text), &watch()).unwrap_err();
        assert!(error.class() == ErrorClass::Request && error.to_string().contains(fragment), "{error}");
    }
    assert_eq!(Scope::parse("events").unwrap(), Scope::Events);
    let error = Scope::parse("titles").unwrap_err().to_string();
    assert!(error.contains("metadata, transcript, events, or all"), "{error}");
}

#[test]
fn finds_a_tool_result_of_claude_code_once() {
    let claude = Claude::new();
    let user = r#"{"type":"user","cwd":"/home/u/needle","sessionId":"s","timestamp":"2026-03-01T09:00:00Z","message":{"role":"user","content":"hi"}}"#;
    let result = |content: &str| {
        format!(
            r#"{{"type":"user","cwd":"/home/u/needle","timestamp":"2026-03-01T09:00:02Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"{content}"}}]}},"toolUseResult":{{"stdout":"a needle"}}}}"#
        )
    };
    let progress = r#"{"type":"progress","data":{"output":"a needle"}}"#.to_owned();
    claude.write("s", &[user.to_owned(), result("a needle"), progress, result("cut")]);
    claude.write("s/subagents/agent-1", &[user.replace("hi", "my needle").replace("9:00:00", "8:00:00")]);
    let mut query = SearchQuery::new("needle");
    query.scope = Scope::Transcript;
    let found = claude.sessions.search(&query, &watch()).unwrap();
    let rows = found
        .matches
        .iter()
        .map(|row| (&*row.session_id, row.line_number, &*row.field, row.role.as_deref(), row.turn));
    let expected = [
        ("s", Some(2), "message.content.content", Some("tool"), Some(1)),
        ("s", Some(4), "toolUseResult.stdout", Some("tool"), Some(1)),
        ("agent-1", Some(1), "message.content", Some("user"), Some(1)),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    assert_eq!(found.matches[0].ts.as_deref(), Some("2026-03-01T09:00:02Z"));
    query.scope = Scope::Metadata;
    let found = claude.sessions.search(&query, &watch()).unwrap();
    let fields = found.matches.iter().map(|row| (&*row.session_id, &*row.field)).collect::<Vec<_>>();
    assert_eq!(fields, [("s", "cwd"), ("agent-1", "cwd")]);
}

#[test]
fn searches_events() {
    let home = Home::new();
    let mut written = Written::turns(1);
    written.event(1, 9_000, "tool:error", r#""error":{"type":"E","msg":"Boom: no 3"}"#);
    home.write("s", "transcript.jsonl", &written.transcript).write("s", "events.jsonl", &written.events);
    home.metadata("s", "");
    for scope in [Scope::All, Scope::Events] {
        let found = search(&home, "boom: no 3", |query| query.scope = scope);
        let row = &found.matches[0];
        assert_eq!((found.total_count, row.match_type, &*row.field), (1, "event", "data.error.msg"));
        assert_eq!((row.event.as_deref(), row.line_number), (Some("tool:error"), Some(9)));
        assert_eq!(row.ts.as_deref(), Some("2026-03-01T09:01:09Z"));
    }
    assert_eq!(search(&home, "boom", |query| query.scope = Scope::Transcript).total_count, 0);
    // A match in a message hides those in events that repeat it, unless events are searched
    // explicitly.
    let types = |found: Matches| found.matches.iter().map(|row| row.match_type).collect::<Vec<_>>();
    assert_eq!(types(search(&home, "question 1", |_| {})), ["transcript"]);
    assert_eq!(types(search(&home, "question 1", |query| query.scope = Scope::Events)), ["event"]);
}
