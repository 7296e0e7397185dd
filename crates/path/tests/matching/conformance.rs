//! Conformance suites and other implementations' tests: the nodes, their locations, and their
//! order.

use std::collections::BTreeMap;

use trommel_path::{Order, Plan, PlanOptions, Query, QueryLimits};
use trommel_reader::{Config, Cursor, Validation};
use trommel_testkit::conformance::{self, Answer, Input, PathCase, Selection};
use trommel_testkit::naive;

use crate::support::{Nodes, PathNode, feedings, paths, query, run};

/// Returns the query alone, and in the middle of other queries.
fn batches(query: &Query) -> [Vec<Query>; 2] {
    let other = crate::support::query("$..*");
    [vec![query.clone()], vec![other.clone(), query.clone(), other]]
}

fn nodes_of(batch: &[Query], plan: &Plan, cursor: &mut Cursor<'_>) -> Nodes {
    let mut found = run(plan, cursor).unwrap_or_else(|error| panic!("{error}: {batch:?}"));
    found.swap_remove(batch.len() / 2)
}

/// True if the nodes have the expected values.
fn have_values(nodes: &Nodes, document: &[u8], values: &[Vec<u8>]) -> bool {
    let same = |((_, (start, end)), value): (&PathNode, &Vec<u8>)| {
        let found = naive::parse(&document[*start as usize..*end as usize]).unwrap();
        let value = naive::parse(value).unwrap();
        naive::equal((&found, found.root()), (&value, value.root()))
    };
    nodes.len() == values.len() && nodes.iter().zip(values).all(same)
}

/// R3: nodes and locations of the compliance suite. Each query runs alone and among others.
#[test]
fn compliance_suite() {
    let Some(root) = conformance::root() else { return };
    let tests = conformance::compliance(&root);
    assert_eq!(tests.len(), 703);
    for test in tests {
        let name = format!("{}: {}", test.name, test.query);
        let Some(question) = test.expectation else {
            assert!(test.query.parse::<Query>().is_err(), "{name} must be rejected");
            continue;
        };
        let is_answer = |nodes: &Nodes, answer: &Answer| {
            paths(nodes) == answer.paths && have_values(nodes, &question.document, &answer.nodes)
        };
        for batch in batches(&query(&test.query)) {
            let plan = Plan::new(&batch, PlanOptions::new());
            feedings(&question.document, Validation::Strict, |how, cursor| {
                let nodes = nodes_of(&batch, &plan, cursor);
                let right = question.answers.iter().any(|answer| is_answer(&nodes, answer));
                assert!(right, "{name}, {how}: {nodes:?}");
            });
        }
    }
}

/// R3: normalized paths, including escapes and quotes.
#[test]
fn normalized_paths() {
    let Some(root) = conformance::root() else { return };
    let tests = conformance::normalized_paths(&root);
    assert!(!tests.is_empty());
    for (text, document, expected) in tests {
        for batch in batches(&query(&text)) {
            let plan = Plan::new(&batch, PlanOptions::new());
            feedings(&document, Validation::Strict, |how, cursor| {
                assert_eq!(paths(&nodes_of(&batch, &plan, cursor)), expected, "{text}, {how}");
            });
        }
    }
}

/// R3: the tests of other implementations, with paths, values, spans, and both orders.
#[test]
fn cases_of_other_implementations() {
    let Some(root) = conformance::root() else { return };
    let cases = conformance::path_cases(&root);
    assert_eq!(cases.len(), 558);
    let mut limits = QueryLimits::default();
    limits.text = 1 << 20;
    for case in &cases {
        let Some(selection) = &case.selection else {
            assert!(Query::parse_with(&case.query, &limits).is_err(), "{}: {}", case.name, case.query);
            continue;
        };
        let document = selection.document.bytes();
        for batch in batches(&query(&case.query)) {
            for order in [Order::Rfc, Order::Document] {
                let plan = Plan::new(&batch, PlanOptions::new().order(order));
                feedings(&document, Validation::Strict, |how, cursor| {
                    check(case, selection, order, &nodes_of(&batch, &plan, cursor), how);
                });
            }
        }
        if let Some(values) = &selection.nodes {
            let batch = [query(&case.query)];
            let mut cursor = Cursor::new(&document, &Config::new());
            let nodes = nodes_of(&batch, &Plan::new(&batch, PlanOptions::new()), &mut cursor);
            assert!(have_values(&nodes, &document, values), "{}: {}", case.name, case.query);
        }
    }
}

fn check(case: &PathCase, selection: &Selection, order: Order, nodes: &Nodes, how: &str) {
    let name = format!("{}: {}, {order:?}, {how}", case.name, case.query);
    assert_eq!(nodes.len() as u64, selection.count, "{name}");
    let in_order = if order == Order::Rfc { &selection.paths } else { &selection.paths_document_order };
    let found: Vec<String> = nodes.iter().map(|(path, _)| path.clone()).collect();
    assert!(in_order.agrees(&found), "{name}: {found:?}");
    let mut spans: Vec<(u64, u64)> = nodes.iter().map(|(_, span)| *span).collect();
    spans.sort_unstable();
    spans.dedup();
    assert_eq!(spans.len() as u64, selection.distinct_count, "{name}");
    assert!(selection.spans.agrees(&spans), "{name}: {spans:?}");
}

/// R3: queries over real documents, each alone, and all of a document in one pass.
#[test]
fn real_documents() {
    let Some(root) = conformance::root() else { return };
    let cases = conformance::real_documents(&root);
    assert_eq!(cases.len(), 69);
    let mut files: BTreeMap<_, Vec<&PathCase>> = BTreeMap::new();
    for case in &cases {
        let Some(Selection { document: Input::File(path), .. }) = &case.selection else { panic!("a file") };
        files.entry(path).or_default().push(case);
    }
    for (path, cases) in files {
        let document = Input::File(path.clone()).bytes();
        let alone = cases.iter().map(|case| vec![*case]);
        for batch in alone.chain([cases.clone()]) {
            let queries: Vec<Query> = batch.iter().map(|case| query(&case.query)).collect();
            for (order, validation) in
                [(Order::Rfc, Validation::Strict), (Order::Document, Validation::Structural)]
            {
                let plan = Plan::new(&queries, PlanOptions::new().order(order));
                feedings(&document, validation, |how, cursor| {
                    let found = run(&plan, cursor).unwrap_or_else(|error| panic!("{how}: {error}"));
                    for (case, nodes) in batch.iter().zip(&found) {
                        check(case, case.selection.as_ref().unwrap(), order, nodes, how);
                    }
                });
            }
        }
    }
}
