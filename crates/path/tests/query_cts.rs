//! The published conformance suites: what must parse, what must not, and the canonical spelling.
//!
//! They are looked for in the folder that `TROMMEL_CONFORMANCE` names, else beside the workspace; where they are
//! missing, the tests say so and pass.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trommel_path::{Query, QueryLimits};

/// A suite as JSON, if it is there.
#[expect(clippy::disallowed_methods, reason = "a test may be told where its data lies")]
fn suite(name: &str) -> Option<Value> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    let folder = std::env::var("TROMMEL_CONFORMANCE").map_or(beside, PathBuf::from);
    let Ok(text) = fs::read_to_string(folder.join(name)) else {
        println!("NOT RUN: {name} is not in {}; set TROMMEL_CONFORMANCE", folder.display());
        return None;
    };
    Some(serde_json::from_str(&text).expect("the suite is JSON"))
}

/// Runs every case of a suite, given the members with its query and whether it must be refused; returns how many
/// there were. One query is longer than the default limit.
fn check(cases: &[Value], query: &str, invalid: &str) -> usize {
    let mut limits = QueryLimits::default();
    limits.text = 1 << 20;
    for case in cases {
        let (name, text) = (&case["name"], case[query].as_str().expect("a query"));
        let refused = case[invalid] == Value::Bool(true);
        match Query::parse_with(text, &limits) {
            Ok(parsed) => {
                assert!(!refused, "{name} must be refused");
                let canonical = Query::parse_with(&parsed.to_string(), &limits);
                assert_eq!(canonical.as_ref(), Ok(&parsed), "{name} round-trips");
            }
            Err(error) => {
                assert!(refused, "{name}: {error}");
                assert!(text.get(error.span()).is_some(), "{name}: {:?}", error.span());
            }
        }
    }
    cases.len()
}

/// R3 (syntax): the JSONPath Compliance Test Suite.
#[test]
fn compliance_suite() {
    let Some(suite) = suite("cts/cts.json") else { return };
    assert!(check(suite["tests"].as_array().expect("tests"), "selector", "invalid_selector") >= 703);
}

#[test]
fn queries_of_other_implementations() {
    for (name, least) in [("jsonpath/cases.json", 558), ("jsonpath/real-documents.json", 69)] {
        let Some(suite) = suite(name) else { return };
        assert!(check(suite["cases"].as_array().expect("cases"), "query", "invalid") >= least);
    }
}

#[test]
fn canonical_spelling() {
    let Some(suite) = suite("normalized-paths/canonical_paths.json") else { return };
    let cases = suite["tests"].as_array().expect("tests");
    assert!(cases.len() >= 26);
    for case in cases {
        let query = case["query"].as_str().expect("a query").parse::<Query>().expect("valid");
        assert_eq!(query.to_string(), case["canonical"], "{}", case["name"]);
    }
}

/// A normalized path is a query that selects one node at most, and its own canonical spelling.
#[test]
fn normalized_paths_are_canonical() {
    let Some(suite) = suite("normalized-paths/normalized_paths.json") else { return };
    let mut paths = 0;
    for case in suite["tests"].as_array().expect("tests") {
        for path in case["paths"].as_array().expect("paths") {
            let text = path.as_str().expect("a path");
            let query = text.parse::<Query>().expect("valid");
            assert!(query.is_singular(), "{text}");
            assert_eq!(query.to_string(), text);
            paths += 1;
        }
    }
    assert!(paths > 0);
}
