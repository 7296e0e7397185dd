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
    /// What to ask, and the right answers; none when the query must be refused.
    pub question: Option<Question>,
}

/// A document and the answers that are right.
#[derive(Clone, Debug)]
pub struct Question {
    /// The document.
    pub document: Vec<u8>,
    /// The answers any one of which is right.
    pub answers: Vec<Answer>,
}

/// A node list.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The values, each as it stands in the suite.
    pub nodes: Vec<Vec<u8>>,
    /// The normalized paths.
    pub paths: Vec<String>,
}

/// The 703 tests of `cts/cts.json`.
pub fn compliance(root: &Path) -> Vec<Compliance> {
    open(&root.join("cts/cts.json"), |file| file.need("tests").list().into_iter().map(test).collect())
}

fn test(test: Fields<'_>) -> Compliance {
    let question =
        test.get("document").map(|document| Question { document: document.raw(), answers: answers(test) });
    assert!(question.is_some() || test.get("invalid_selector").is_some(), "a test expects something");
    Compliance { name: test.need("name").text(), query: test.need("selector").text(), question }
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

/// The tests of `normalized-paths/normalized_paths.json`: query, document, normalized paths.
pub fn normalized_paths(root: &Path) -> Vec<(String, Vec<u8>, Vec<String>)> {
    open(&root.join("normalized-paths/normalized_paths.json"), |file| {
        let tests = file.need("tests").list().into_iter();
        tests
            .map(|test| (test.need("query").text(), test.need("document").raw(), test.need("paths").texts()))
            .collect()
    })
}

/// The tests of `normalized-paths/canonical_paths.json`: query, and the same query in canonical
/// spelling.
pub fn canonical_paths(root: &Path) -> Vec<(String, String)> {
    open(&root.join("normalized-paths/canonical_paths.json"), |file| {
        let tests = file.need("tests").list().into_iter();
        tests.map(|test| (test.need("query").text(), test.need("canonical").text())).collect()
    })
}
