//! Searches: every hit, in bounds.

use trommel_session::{ErrorKind, Matches, Scope, SearchQuery};

use crate::support::{Home, watch};

fn search(home: &Home, text: &str, change: impl FnOnce(&mut SearchQuery)) -> Matches {
    let mut query = SearchQuery::new(text);
    change(&mut query);
    home.sessions.search(&query, &watch()).unwrap()
}

#[test]
fn every_hit_is_found_in_either_case() {
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
fn hits_come_in_pages_and_excerpts_in_bounds() {
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
fn a_line_of_tens_of_megabytes_is_searched_to_its_end() {
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
fn what_is_damaged_hides_nothing() {
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
fn r45_wrong_searches_are_explained() {
    let home = Home::new();
    let long = "x".repeat(501);
    for (text, says) in [("  ", "say what to search for"), (&*long, "search for a part")] {
        let error = home.sessions.search(&SearchQuery::new(text), &watch()).unwrap_err();
        assert!(error.kind() == ErrorKind::Request && error.to_string().contains(says), "{error}");
    }
    assert!(Scope::parse("events").unwrap_err().to_string().contains("metadata, transcript or all"));
}
