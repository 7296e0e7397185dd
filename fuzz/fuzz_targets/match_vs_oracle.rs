//! The matcher against the evaluator of the test kit: on a document of its own and a query of its own when the input holds
//! both (parted by a zero byte), else on those that the input is the seed of; as a slice, as a stream, in both orders.
#![no_main]

use std::io;

use libfuzzer_sys::fuzz_target;
use trommel_path::{Held, Order, Plan, PlanOptions, Query, Scratch, Step, Wants};
use trommel_reader::{Config, Cursor, Framing, Validation};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::evaluate::{Duplicates, evaluate, in_document_order};
use trommel_testkit::generate::{Shape, Wishes, document, query};
use trommel_testkit::naive;

fuzz_target!(|input: &[u8]| {
    let Some((text, bytes)) = question(input) else { return };
    let (Ok(query), Ok(tree)) = (text.parse::<Query>(), naive::parse(&bytes)) else { return };
    if tree.ids().len() > 300 || query.segments().iter().filter(|segment| segment.descendant).count() > 3 {
        return;
    }
    for order in [Order::Rfc, Order::Document] {
        let mut nodes = evaluate(&tree, query.segments(), Duplicates::First);
        if order == Order::Document {
            nodes = in_document_order(nodes);
        }
        let expected: Vec<_> =
            nodes.into_iter().map(|node| (node.path, node.span.start as u64, node.span.end as u64)).collect();
        let plan = Plan::new(std::slice::from_ref(&query), PlanOptions::new().order(order));
        for validation in [Validation::Strict, Validation::Structural] {
            let config = Config::new().validation(validation).window(32);
            assert_eq!(run(&plan, Cursor::new(&bytes, &config)), expected, "{text} {order:?}");
            let chunks = Chunks::new(&bytes[..], &[1, 7, 64]);
            let stream = Cursor::from_reader(chunks, Framing::Single, &config);
            assert_eq!(run(&plan, stream), expected, "{text} {order:?} stream");
        }
    }
});

fn question(input: &[u8]) -> Option<(String, Vec<u8>)> {
    if let Some(at) = input.iter().position(|&byte| byte == 0) {
        let (text, bytes) = input.split_at(at);
        return Some((String::from_utf8(text.to_vec()).ok()?, bytes[1..].to_vec()));
    }
    let seed = u64::from_le_bytes(*input.first_chunk::<8>()?);
    let bytes = document(seed, &Shape { duplicates: seed % 2 == 0, ..Shape::default() });
    let text = query(seed, &naive::parse(&bytes).ok()?, &Wishes::default());
    Some((text, bytes))
}

fn run(plan: &Plan, mut cursor: Cursor<'_>) -> Vec<(String, u64, u64)> {
    let mut wants = Wants::default();
    wants.bytes = vec![true];
    wants.location = true;
    let mut scratch = Scratch::new();
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    let mut held = Held::new(1 << 20);
    let (mut paths, mut nodes) = (Vec::new(), Vec::new());
    assert!(matcher.next_record().unwrap());
    while let Some(step) = matcher.advance().unwrap() {
        match step {
            Step::Leave { times, span, .. } => {
                for _ in 0..times {
                    held.push(matcher.key(), span, paths.len() as u64).unwrap();
                    paths.push(matcher.location().to_string());
                }
            }
            Step::Settled(_) => settle(&mut held, &paths, &mut nodes),
            Step::Enter { .. } | Step::Event(_) => {}
        }
    }
    settle(&mut held, &paths, &mut nodes);
    nodes
}

fn settle(held: &mut Held, paths: &[String], nodes: &mut Vec<(String, u64, u64)>) {
    held.drain(|row| {
        nodes.push((paths[row.tag as usize].clone(), row.span.start, row.span.end));
        io::Result::Ok(())
    })
    .unwrap();
}
