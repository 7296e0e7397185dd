//! Compares the naive evaluator with the suites and with an independent implementation.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use trommel_query::{Query, QueryLimits};
use trommel_testkit::conformance::{self, Input, PathCase, Selection};
use trommel_testkit::effort;
use trommel_testkit::evaluate::{Duplicates, Node, evaluate, in_document_order};
use trommel_testkit::generate::{Names, Numbers, QueryOptions, Shape, document, query};
use trommel_testkit::naive::{Document, Span, equal, parse};

fn select(document: &Document, query: &str) -> Vec<Node> {
    let mut limits = QueryLimits::default();
    limits.text = 1 << 20;
    let query = Query::parse_with(query, &limits).unwrap_or_else(|error| panic!("{error}: {query}"));
    evaluate(document, query.segments(), Duplicates::First)
}

fn paths(nodes: &[Node]) -> Vec<String> {
    nodes.iter().map(|node| node.path.clone()).collect()
}

/// Returns true if the nodes have these values, in this order.
fn have_values(document: &Document, nodes: &[Node], values: &[Vec<u8>]) -> bool {
    let same = |(node, value): (&Node, &Vec<u8>)| {
        let value = parse(value).unwrap();
        equal((document, node.value), (&value, value.root()))
    };
    nodes.len() == values.len() && nodes.iter().zip(values).all(same)
}

/// R3: nodes and normalized paths of the whole compliance suite.
#[test]
fn compliance_suite() {
    let Some(root) = conformance::root() else { return };
    let tests = conformance::compliance(&root);
    assert_eq!(tests.len(), 703);
    for test in tests {
        let Some(expectation) = test.expectation else {
            assert!(test.query.parse::<Query>().is_err(), "{}: {}", test.name, test.query);
            continue;
        };
        let document = parse(&expectation.document).unwrap();
        let nodes = select(&document, &test.query);
        let found = paths(&nodes);
        let right = expectation
            .answers
            .iter()
            .any(|answer| answer.paths == found && have_values(&document, &nodes, &answer.nodes));
        assert!(right, "{}: {} gives {found:?}", test.name, test.query);
    }
}

#[test]
fn normalized_paths() {
    let Some(root) = conformance::root() else { return };
    let tests = conformance::normalized_paths(&root);
    assert_eq!(tests.len(), 15);
    for (query, document, expected) in tests {
        assert_eq!(paths(&select(&parse(&document).unwrap(), &query)), expected, "{query}");
    }
}

/// R3: the queries of other implementations' tests, with paths, values, spans, and both orders.
#[test]
fn cases_of_other_implementations() {
    let Some(root) = conformance::root() else { return };
    let cases = conformance::path_cases(&root);
    assert_eq!(cases.len(), 558);
    run(&cases);
}

/// R3: queries over real documents.
#[test]
fn real_documents() {
    let Some(root) = conformance::root() else { return };
    let cases = conformance::real_documents(&root);
    assert_eq!(cases.len(), 69);
    run(&cases);
}

fn run(cases: &[PathCase]) {
    let mut files: BTreeMap<_, Document> = BTreeMap::new();
    for case in cases {
        match &case.selection {
            None => assert!(case.query.parse::<Query>().is_err(), "{}: {}", case.name, case.query),
            Some(selection) => match &selection.document {
                Input::Text(text) => check(case, selection, &parse(text).unwrap()),
                Input::File(path) => {
                    let document =
                        files.entry(path).or_insert_with(|| parse(&selection.document.bytes()).unwrap());
                    check(case, selection, document);
                }
            },
        }
    }
}

fn check(case: &PathCase, selection: &Selection, document: &Document) {
    let name = format!("{}: {}", case.name, case.query);
    let nodes = select(document, &case.query);
    assert_eq!(nodes.len() as u64, selection.count, "{name}");
    assert!(selection.paths.agrees(&paths(&nodes)), "{name}: {:?}", paths(&nodes));
    assert!(selection.nodes.as_ref().is_none_or(|values| have_values(document, &nodes, values)), "{name}");
    let ordered = in_document_order(nodes);
    assert!(selection.paths_document_order.agrees(&paths(&ordered)), "{name}: {:?}", paths(&ordered));
    let mut spans: Vec<(u64, u64)> =
        ordered.iter().map(|Node { span: Span { start, end }, .. }| (*start, *end)).collect();
    spans.dedup();
    assert_eq!(spans.len() as u64, selection.distinct_count, "{name}");
    assert!(selection.spans.agrees(&spans), "{name}: {spans:?}");
}

/// Returns the node list of `serde_json_path` as our normalized paths, because that library leaves
/// quotes unescaped.
fn theirs(json: &serde_json::Value, query: &str) -> Vec<String> {
    use serde_json_path::PathElement;
    let query = serde_json_path::JsonPath::parse(query).unwrap_or_else(|error| panic!("{error}: {query}"));
    let element = |element: &PathElement<'_>| match element {
        PathElement::Name(name) => format!("[{}]", trommel_testkit::naive::normalized_name(name)),
        PathElement::Index(index) => format!("[{index}]"),
    };
    let path = |node: serde_json_path::LocatedNode<'_>| {
        format!("${}", node.location().iter().map(element).collect::<String>())
    };
    query.query_located(json).into_iter().map(path).collect()
}

/// R4: random queries over random documents select the same nodes as `serde_json_path`, in the same
/// order. `serde_json` writes the documents first, which sorts members, so that both evaluators see
/// the same order. Our evaluator gets the query verbatim, the other one a variant that avoids that
/// library's bugs. No difference remains.
#[test]
fn agrees_with_an_independent_evaluator() {
    let shape = Shape { names: Names::Odd, numbers: Numbers::Plain, ..Shape::default() };
    let options = QueryOptions { patterns: false, ..QueryOptions::default() };
    let mut hits = 0;
    let pairs = effort::cases(10_000, 1_000_000);
    for seed in 0..pairs {
        let shape = if seed % 3 == 0 { shape } else { Shape::plain() };
        let json: serde_json::Value = serde_json::from_slice(&document(seed, &shape)).unwrap();
        let tree = parse(&serde_json::to_vec(&json).unwrap()).unwrap();
        let text = query(seed, &tree, &options);
        let found = paths(&select(&tree, &text));
        let detour = query(seed, &tree, &QueryOptions { detour: true, ..options });
        assert_eq!(found, theirs(&json, &detour), "{text} over {json}");
        hits += u64::from(!found.is_empty());
    }
    assert!(hits * 3 > pairs, "{hits} queries select something");
}

#[test]
fn repeated_names() {
    let document = parse(br#"{"a":1,"b":{"a":2,"a":[3]},"a":4,"c":[{"k":1,"k":2},{"k":2,"k":1}]}"#).unwrap();
    let both = |query: &str| {
        let query: Query = query.parse().unwrap();
        [Duplicates::First, Duplicates::All].map(|policy| {
            let nodes = evaluate(&document, query.segments(), policy);
            nodes.iter().map(|node| node.span.start).collect::<Vec<_>>()
        })
    };
    assert_eq!(both("$.a"), [vec![5], vec![5, 31]]);
    assert_eq!(both("$..a"), [vec![5, 16], vec![5, 31, 16, 22]]);
    assert_eq!(both("$['a','a']"), [vec![5, 5], vec![5, 31, 5, 31]]);
    assert_eq!(both("$.b.*"), [vec![16, 22], vec![16, 22]]);
    assert_eq!(both("$.b[?@==2]"), [vec![16], vec![16]]);
    assert_eq!(both("$.c[?@.k==2]"), [vec![52], vec![52]]);
    assert_eq!(both("$.c[?count(@.k)==2]"), [vec![], vec![38, 52]]);
    assert_eq!(both("$.c[?length(@)==2]"), [vec![38, 52], vec![38, 52]]);
    assert_eq!(both("$.c[?value(@.k)==1]"), [vec![38], vec![]]);
}

#[test]
fn numbers_are_compared_exactly() {
    let document =
        parse(b"[9007199254740992,9007199254740993,9007199254740993.0,1e400,1E+400,10e399,1,1.0]").unwrap();
    let count = |query: &str| select(&document, query).len();
    assert_eq!(count("$[?@==9007199254740993]"), 2);
    assert_eq!(count("$[?@<9007199254740993]"), 3);
    assert_eq!(count("$[?@==1e400]"), 3);
    assert_eq!(count("$[?@==$[6]]"), 2);
}
