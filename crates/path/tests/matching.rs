//! Matching against the evaluator of the test kit, in every way an input can be fed.

use std::io;

use trommel_path::{Duplicates, Held, Order, Plan, PlanOptions, Query, Scratch, Step, Wants};
use trommel_reader::{Backend, Config, Cursor, Framing, Span, Validation};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::conformance;
use trommel_testkit::effort::cases;
use trommel_testkit::evaluate::{self, evaluate, in_document_order};
use trommel_testkit::generate::{self, Shape, Wishes};
use trommel_testkit::naive;

/// What a query selects: normalized paths and spans.
type Nodes = Vec<(String, (u64, u64))>;

/// Runs queries over one document and returns the nodes of each.
fn run(plan: &Plan, cursor: &mut Cursor<'_>) -> trommel_reader::Result<Vec<Nodes>> {
    let count = plan.ids().len();
    let mut wants = Wants::default();
    wants.bytes = vec![true; count];
    wants.location = true;
    let mut scratch = Scratch::new();
    let mut matcher = plan.matcher(&mut scratch, cursor, &wants);
    let mut nodes = vec![Nodes::new(); count];
    let mut held: Vec<Held> = (0..count).map(|_| Held::new(1 << 20)).collect();
    let mut paths = Vec::new();
    assert!(matcher.next_record()?);
    while let Some(step) = matcher.advance()? {
        match step {
            Step::Leave { query, times, span } => {
                assert!(matcher.cursor().bytes(span).is_some(), "the bytes of {span} are held");
                for _ in 0..times {
                    paths.push(matcher.location().to_string());
                    held[query.index()].push(matcher.key(), span, paths.len() as u64 - 1).unwrap();
                }
                if matcher.is_settled(query) && matcher.key().is_empty() {
                    settle(&mut held[query.index()], &paths, &mut nodes[query.index()]);
                }
            }
            Step::Settled(query) => settle(&mut held[query.index()], &paths, &mut nodes[query.index()]),
            Step::Enter { .. } | Step::Event(_) => {}
        }
    }
    for (held, nodes) in held.iter_mut().zip(&mut nodes) {
        settle(held, &paths, nodes);
    }
    Ok(nodes)
}

fn settle(held: &mut Held, paths: &[String], nodes: &mut Nodes) {
    held.drain(|row| {
        nodes.push((paths[row.tag as usize].clone(), (row.span.start, row.span.end)));
        io::Result::Ok(())
    })
    .unwrap();
}

/// Every way of feeding a document, described.
fn feedings(document: &[u8], validation: Validation, mut check: impl FnMut(&str, &mut Cursor<'_>)) {
    for backend in Backend::available() {
        let config = Config::new().backend(backend).validation(validation);
        check(&format!("slice {backend:?}"), &mut Cursor::new(document, &config));
        for size in [1, 7, 63, 64, 65, 4096] {
            let reader = Chunks::new(document, &[size]);
            check(
                &format!("stream of {size} {backend:?}"),
                &mut Cursor::from_reader(reader, Framing::Single, &config.window(64)),
            );
        }
    }
}

fn expected(document: &naive::Document, query: &Query, order: Order, duplicates: Duplicates) -> Nodes {
    let duplicates = match duplicates {
        Duplicates::All => evaluate::Duplicates::All,
        _ => evaluate::Duplicates::First,
    };
    let mut nodes = evaluate(document, query.segments(), duplicates);
    if order == Order::Document {
        nodes = in_document_order(nodes);
    }
    nodes.into_iter().map(|node| (node.path, (node.span.start as u64, node.span.end as u64))).collect()
}

/// R3: the compliance suite, nodes and locations; alone and among other queries.
#[test]
fn compliance_suite() {
    let Some(root) = conformance::root() else { return };
    let tests = conformance::compliance(&root);
    assert_eq!(tests.len(), 703);
    let other: Query = "$..*".parse().unwrap();
    for test in tests {
        let query = test.query.parse::<Query>();
        let Some(question) = test.question else {
            assert!(query.is_err(), "{}: {} must be refused", test.name, test.query);
            continue;
        };
        let query = query.unwrap_or_else(|error| panic!("{}: {error}", test.name));
        for batch in [vec![query.clone()], vec![other.clone(), query.clone(), other.clone()]] {
            let plan = Plan::new(&batch, PlanOptions::new());
            feedings(&question.document, Validation::Strict, |how, cursor| {
                let found =
                    run(&plan, cursor).unwrap_or_else(|error| panic!("{}, {how}: {error}", test.name));
                let nodes = &found[batch.len() / 2];
                let agrees = question.answers.iter().any(|answer| {
                    let paths = nodes.iter().map(|(path, _)| path).eq(&answer.paths);
                    let values =
                        nodes.iter().map(|(_, span)| &question.document[span.0 as usize..span.1 as usize]);
                    paths && values.len() == answer.nodes.len()
                });
                assert!(agrees, "{} ({}), {how}: {nodes:?}", test.name, test.query);
            });
        }
    }
}

/// R4: random documents and queries against the evaluator.
#[test]
fn random_pairs() {
    for seed in 0..cases(10_000, 1_000_000) {
        let shape = Shape { duplicates: seed % 3 == 0, ..Shape::default() };
        let document = generate::document(seed, &shape);
        let tree = naive::parse(&document).unwrap();
        let text = generate::query(seed, &tree, &Wishes::default());
        let query: Query = text.parse().unwrap_or_else(|error| panic!("seed {seed}: {text}: {error}"));
        let order = if seed % 2 == 0 { Order::Rfc } else { Order::Document };
        let duplicates = if seed % 5 == 0 { Duplicates::All } else { Duplicates::First };
        let validation = if seed % 7 < 3 { Validation::Strict } else { Validation::Structural };
        let wanted = expected(&tree, &query, order, duplicates);
        let plan = Plan::new(&[query], PlanOptions::new().order(order).duplicates(duplicates));
        let config = Config::new().validation(validation);
        let slice = run(&plan, &mut Cursor::new(&document, &config));
        assert_eq!(
            slice.unwrap()[0],
            wanted,
            "seed {seed}: {text} on {}",
            String::from_utf8_lossy(&document)
        );
        let size = [1, 7, 63, 64, 65, 4096][seed as usize % 6];
        let reader = Chunks::new(&document[..], &[size]);
        let stream = run(&plan, &mut Cursor::from_reader(reader, Framing::Single, &config.window(64)));
        assert_eq!(stream.unwrap()[0], wanted, "seed {seed}, stream of {size}: {text}");
    }
}
#[test]
fn spans_are_spans() {
    assert_eq!(Span::new(1, 3).len(), 2);
}
