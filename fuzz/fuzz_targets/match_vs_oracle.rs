//! The matcher against the evaluator of the test kit: on a document of its own and a query of its
//! own when the input holds both (parted by a zero byte), else on those that the input is the seed
//! of; as a slice, as a stream, in every order, alone and beside another query, with the events of
//! its regions. On a document that is none, it finds the error that reading finds, or is done
//! before.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_fuzz::matching::{Nodes, Question, counts, outcome, places, run, walk};
use trommel_path::{Duplicates, Order, Plan, PlanOptions, Query};
use trommel_reader::{Config, Cursor, Framing, Validation};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::evaluate::{self, evaluate, in_document_order};
use trommel_testkit::naive::{self, Document};

fuzz_target!(|input: &[u8]| {
    let Some(Question { text, bytes, choice }) = Question::read(input) else { return };
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
                assert_eq!(places(&alone, cursor), stand, "{text}, {order:?}, {validation:?}, places alone");
            }
            let slice = run(&plan, Cursor::new(&bytes, &config), &bytes);
            assert_eq!(slice, expected, "{text}, {order:?}, {validation:?}");
            let chunks = Chunks::new(&bytes[..], &[1, 7, 64]);
            let stream = run(&plan, Cursor::from_reader(chunks, Framing::Single, &config), &bytes);
            assert_eq!(stream, expected, "{text}, {order:?}, {validation:?}, as a stream");
        }
    }
});

/// The nodes in the order of the RFC.
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

/// In any order, each node comes once, with its number of times.
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
    // What is skipped by masks may be bad; nothing else may happen.
    outcome(&plan, Cursor::new(bytes, &Config::new().validation(Validation::Structural)));
}
