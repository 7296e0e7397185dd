//! The table of `docs/FROM-JSONPATH-LIB.md`.

use std::panic::catch_unwind;

use serde_json::Value;
use trommel::path::Query;
use trommel::{Analysis, Document, Match};

/// A query, and what the page says that both answer.
struct Row {
    query: String,
    theirs: String,
    ours: String,
}

/// The document and the rows of the page.
fn page() -> (String, Vec<Row>) {
    let page = include_str!("../../../docs/FROM-JSONPATH-LIB.md");
    let document = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let cell = |text: &str| text.trim().trim_matches('`').replace("\\|", "|");
    let rows = page.lines().filter(|line| line.starts_with("| `$")).map(|line| {
        // A cell ends at a bar that is not escaped.
        let cells: Vec<&str> = line.trim_start_matches("| ").split(" | ").collect();
        Row { query: cell(cells[0]), theirs: cell(cells[1]), ours: cell(cells[2]) }
    });
    (document.to_owned(), rows.collect())
}

fn theirs(document: &Value, query: &str) -> String {
    match catch_unwind(|| {
        jsonpath_lib::select(document, query).map(|found| found.into_iter().cloned().collect())
    }) {
        Ok(Ok(found)) if found == vec![document.clone()] => "the whole document".to_owned(),
        Ok(Ok(found)) => Value::Array(found).to_string(),
        Ok(Err(_)) => "error".to_owned(),
        Err(_) => "panic".to_owned(),
    }
}

fn ours(document: &str, query: &str) -> String {
    let Ok(query) = query.parse::<Query>() else { return "error".to_owned() };
    let mut found: Vec<Value> = Vec::new();
    let mut document = Document::from_bytes(document.as_bytes());
    let mut take = |one: &Match<'_>| {
        found.push(serde_json::from_slice(one.value).unwrap());
        Ok(())
    };
    Analysis::new().extract(query).run_with(&mut document, &mut take).unwrap();
    Value::Array(found).to_string()
}

#[test]
fn every_row_of_the_table_holds() {
    let (text, rows) = page();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert!(rows.len() >= 15, "{} rows", rows.len());
    for Row { query, theirs: stated, ours: also } in rows {
        assert_eq!(theirs(&document, &query), stated, "jsonpath_lib, {query}");
        assert_eq!(ours(&text, &query), also, "trommel, {query}");
        assert_ne!(stated, also, "no difference, {query}");
    }
}

/// The kinds of queries that the page says have the same answers.
#[test]
fn usual_queries_have_the_same_answers() {
    let (text, _) = page();
    let document: Value = serde_json::from_str(&text).unwrap();
    for query in [
        "$",
        "$.shop.books[*].title",
        "$['shop']['bicycle']",
        "$.shop.books[0]['title','price']",
        "$.shop.*.color",
        "$..price",
        "$..*",
        "$..tags[0]",
        "$..books[0,2].title",
        "$.n[1:3]",
        "$.n[-2:]",
        "$.n[::2]",
        "$.n[-1]",
        "$..books[?(@.isbn)].title",
        "$..books[?(@.price == 12.50)].title",
        "$..books[?(@.price != 8)].title",
        "$..books[?(@.price >= 12.5 && @.price < 20)].title",
        "$..books[?(@.price <= 8)].title",
        "$..books[?(@.title == 'C')].price",
        "$.shop.bicycle.absent",
    ] {
        assert_eq!(theirs(&document, query), ours_or_whole(&text, query), "{query}");
    }
}

fn ours_or_whole(document: &str, query: &str) -> String {
    if query == "$" { "the whole document".to_owned() } else { ours(document, query) }
}
