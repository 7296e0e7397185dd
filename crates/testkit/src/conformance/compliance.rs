//! The JSONPath Compliance Test Suite, and the suite of normalized paths.

use super::fields::{Fields, open};
use std::path::Path;

/// A test of the compliance suite.
#[derive(Clone, Debug)]
pub struct Compliance {
    /// Its name.
    pub name: String,
    /// The query.
    pub query: String,
    /// The document and the valid answers; `None` if the query must be rejected.
    pub expectation: Option<Expectation>,
}

/// A document and the valid answers.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The document.
    pub document: Vec<u8>,
    /// The valid answers, any of which is correct.
    pub answers: Vec<Answer>,
}

/// A node list.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The values, each with its bytes from the suite.
    pub nodes: Vec<Vec<u8>>,
    /// The normalized paths.
    pub paths: Vec<String>,
}

/// Loads the 703 tests of `cts/cts.json`.
pub fn compliance(root: &Path) -> Vec<Compliance> {
    open(&root.join("cts/cts.json"), |file| file.need("tests").list().into_iter().map(test).collect())
}

fn test(test: Fields<'_>) -> Compliance {
    let expectation =
        test.get("document").map(|document| Expectation { document: document.raw(), answers: answers(test) });
    assert!(
        expectation.is_some() || test.get("invalid_selector").is_some(),
        "a test has a document or an invalid selector"
    );
    Compliance { name: test.need("name").text(), query: test.need("selector").text(), expectation }
}

fn answers(test: Fields<'_>) -> Vec<Answer> {
    let answer =
        |(nodes, paths): (Fields<'_>, Fields<'_>)| Answer { nodes: nodes.raws(), paths: paths.texts() };
    if let Some(nodes) = test.get("result") {
        return vec![answer((nodes, test.need("result_paths")))];
    }
    let (nodes, paths) = (test.need("results").list(), test.need("results_paths").list());
    nodes.into_iter().zip(paths).map(answer).collect()
}

/// Loads the tests of `normalized-paths/normalized_paths.json`: query, document, normalized paths.
pub fn normalized_paths(root: &Path) -> Vec<(String, Vec<u8>, Vec<String>)> {
    open(&root.join("normalized-paths/normalized_paths.json"), |file| {
        let tests = file.need("tests").list().into_iter();
        tests
            .map(|test| (test.need("query").text(), test.need("document").raw(), test.need("paths").texts()))
            .collect()
    })
}

/// Loads the tests of `normalized-paths/canonical_paths.json`: a query, and the same query in
/// canonical form.
pub fn canonical_paths(root: &Path) -> Vec<(String, String)> {
    open(&root.join("normalized-paths/canonical_paths.json"), |file| {
        let tests = file.need("tests").list().into_iter();
        tests.map(|test| (test.need("query").text(), test.need("canonical").text())).collect()
    })
}
