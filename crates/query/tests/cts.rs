//! The published conformance suites: what must parse, what must not, and the canonical spelling.

use trommel_query::{Query, QueryLimits};
use trommel_testkit::conformance;

/// Checks that a query is refused or parses and survives its canonical spelling. One query of the
/// suites is longer than the default limit.
fn check(name: &str, text: &str, valid: bool) {
    let mut limits = QueryLimits::default();
    limits.text = 1 << 20;
    match Query::parse_with(text, &limits) {
        Ok(parsed) => {
            assert!(valid, "{name} must be refused");
            let canonical = Query::parse_with(&parsed.to_string(), &limits);
            assert_eq!(canonical.as_ref(), Ok(&parsed), "{name} round-trips");
        }
        Err(error) => {
            assert!(!valid, "{name}: {error}");
            assert!(text.get(error.span()).is_some(), "{name}: {:?}", error.span());
        }
    }
}

/// R3 (syntax): the JSONPath Compliance Test Suite.
#[test]
fn compliance_suite() {
    let Some(root) = conformance::root() else { return };
    let tests = conformance::compliance(&root);
    assert_eq!(tests.len(), 703);
    for test in tests {
        check(&test.name, &test.query, test.question.is_some());
    }
}

#[test]
fn queries_of_other_implementations() {
    let Some(root) = conformance::root() else { return };
    let cases = [conformance::path_cases(&root), conformance::real_documents(&root)].concat();
    assert_eq!(cases.len(), 558 + 69);
    for case in cases {
        check(&case.name, &case.query, case.selection.is_some());
    }
}

#[test]
fn canonical_spelling() {
    let Some(root) = conformance::root() else { return };
    let cases = conformance::canonical_paths(&root);
    assert_eq!(cases.len(), 26);
    for (text, canonical) in cases {
        let query = text.parse::<Query>().unwrap();
        assert_eq!(query.to_string(), canonical, "{text}");
    }
}

/// A normalized path is a query that selects one node at most, and its own canonical spelling.
#[test]
fn normalized_paths_are_canonical() {
    let Some(root) = conformance::root() else { return };
    let cases = conformance::normalized_paths(&root);
    assert_eq!(cases.len(), 15);
    for path in cases.into_iter().flat_map(|(_, _, paths)| paths) {
        let query = path.parse::<Query>().unwrap();
        assert!(query.is_singular(), "{path}");
        assert_eq!(query.to_string(), path);
    }
}
