//! Compares the matcher with the evaluator of the test kit. The input is a query and a document,
//! separated by a zero byte, or a seed that generates both. Compares nodes and events of regions
//! for slices and streams, in every order, alone and with another query. For a malformed document,
//! the matcher finds the same error as a plain read, or finishes before it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_fuzz::matching::{MatchInput, Nodes, counts, outcome, run, spans, walk};
use trommel_path::{Duplicates, Order, Plan, PlanOptions, Query};
use trommel_reader::{Config, Cursor, Framing, Validation};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::evaluate::{self, evaluate, in_document_order};
use trommel_testkit::naive::{self, Document};

fuzz_target!(|input: &[u8]| {
    let Some(MatchInput { text, bytes, choice }) = MatchInput::read(input) else { return };
    let Ok(query) = text.parse::<Query>() else { return };
    // The oracle lists every derivation.
    if query.segments().iter().filter(|segment| segment.descendant).count() > 3 {
        return;
    }
    let Ok(tree) = naive::parse(&bytes) else { return check_bad(&query, &bytes) };
    if tree.ids().len() > 300 {
        return;
    }
    let duplicates = [Duplicates::All, Duplicates::First, Duplicates::Last][choice as usize % 3];
    let other: Query = ["$", "$..*", "$.*", "$..[0]"][choice as usize % 4].parse().unwrap();
    let expected = [&query, &other].map(|query| select(&tree, query, duplicates));
    check_any(&query, &expected[0], &bytes, duplicates);
    for order in [Order::Rfc, Order::Document] {
        let expected = expected.clone().map(|nodes| in_order(nodes, order));
        let alone =
            Plan::new(std::slice::from_ref(&query), PlanOptions::new().order(order).duplicates(duplicates));
        let stand: Vec<_> = expected[0].iter().map(|(_, start, end)| (*start, *end)).collect();
        let queries = [query.clone(), other.clone()];
        let plan = Plan::new(&queries, PlanOptions::new().order(order).duplicates(duplicates));
        for validation in [Validation::Strict, Validation::Structural] {
            let config = Config::new().validation(validation).window(32);
            let chunks = Chunks::new(&bytes[..], &[64, 3]);
            for cursor in
                [Cursor::new(&bytes, &config), Cursor::from_reader(chunks, Framing::Single, &config)]
            {
                assert_eq!(spans(&alone, cursor), stand, "{text}, {order:?}, {validation:?}, spans only");
            }
            let slice = run(&plan, Cursor::new(&bytes, &config), &bytes);
            assert_eq!(slice, expected, "{text}, {order:?}, {validation:?}");
            let chunks = Chunks::new(&bytes[..], &[1, 7, 64]);
            let stream = run(&plan, Cursor::from_reader(chunks, Framing::Single, &config), &bytes);
            assert_eq!(stream, expected, "{text}, {order:?}, {validation:?}, as a stream");
        }
    }
});

/// Returns the nodes in the order of the RFC.
fn select(tree: &Document, query: &Query, duplicates: Duplicates) -> Vec<evaluate::Node> {
    let policy = match duplicates {
        Duplicates::All => evaluate::Duplicates::All,
        Duplicates::Last => evaluate::Duplicates::Last,
        _ => evaluate::Duplicates::First,
    };
    evaluate(tree, query.segments(), policy)
}

fn in_order(nodes: Vec<evaluate::Node>, order: Order) -> Nodes {
    let nodes = if order == Order::Document { in_document_order(nodes) } else { nodes };
    nodes.into_iter().map(|node| (node.path, node.span.start, node.span.end)).collect()
}

/// Asserts that with `Order::Any` each node is reported once, with its multiplicity.
fn check_any(query: &Query, nodes: &[evaluate::Node], bytes: &[u8], duplicates: Duplicates) {
    let options = PlanOptions::new().order(Order::Any).duplicates(duplicates);
    let found = counts(&Plan::new(std::slice::from_ref(query), options), Cursor::new(bytes, &Config::new()));
    let mut different: Vec<_> = nodes.iter().map(|node| node.value).collect();
    different.sort_unstable();
    different.dedup();
    assert_eq!(found, (nodes.len() as u64, different.len()), "{query} in any order");
}

fn check_bad(query: &Query, bytes: &[u8]) {
    let plan = Plan::new(std::slice::from_ref(query), PlanOptions::new());
    let (error, reached) = outcome(&plan, Cursor::new(bytes, &Config::new()));
    let wanted = walk(bytes).expect("the oracle refuses it");
    match error {
        Some(error) => assert_eq!(error.to_string(), wanted.to_string(), "{query}"),
        None => assert!(reached <= wanted.offset(), "{query}: read to {reached}, {wanted}"),
    }
    // Values that masks skip may be malformed, so other validation may give another result, but
    // must not panic.
    outcome(&plan, Cursor::new(bytes, &Config::new().validation(Validation::Structural)));
}
