//! The published conformance suites: valid queries, invalid queries, and the canonical form.

use trommel_query::{Query, QueryLimits};
use trommel_testkit::conformance;

/// Checks that an invalid query is rejected, and that a valid one survives its canonical form. One
/// query of the suites exceeds the default length limit.
fn check(name: &str, text: &str, valid: bool) {
    let mut limits = QueryLimits::default();
    limits.text = 1 << 20;
    match Query::parse_with(text, &limits) {
        Ok(parsed) => {
            assert!(valid, "{name} must be rejected");
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
        check(&test.name, &test.query, test.expectation.is_some());
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
fn canonical_form() {
    let Some(root) = conformance::root() else { return };
    let cases = conformance::canonical_paths(&root);
    assert_eq!(cases.len(), 26);
    for (text, canonical) in cases {
        let query = text.parse::<Query>().unwrap();
        assert_eq!(query.to_string(), canonical, "{text}");
    }
}

/// A normalized path is a query that selects at most one node, and is its own canonical form.
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
