//! Guides: stored bytes are read or refused, and a document has the same answers with its guide as
//! without. The input is a number that selects the query and options, and stored bytes or a
//! document.
#![no_main]

use std::io;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use trommel::path::{Order, Query};
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Document, Match};
use trommel_guide::{Guide, Index, IndexBuilder};

const QUERIES: [&str; 12] = [
    "$.a",
    "$[3]",
    "$[-1]",
    "$..a",
    "$[*]",
    "$.a[*].b",
    "$[1:9:2]",
    "$[-3:]",
    "$..a..b",
    "$['a','b']",
    "$[?@.a]",
    "$[*][*]",
];

fuzz_target!(|input: &[u8]| {
    let [choice, spacing, window, bytes @ ..] = input else { return };
    if let Ok(guide) = Guide::from_bytes(bytes) {
        assert_eq!(guide.to_bytes(), bytes);
    }
    let framing = if choice & 128 == 0 { Framing::Auto } else { Framing::Lines };
    let open = || {
        let document = match choice & 64 {
            0 => Document::from_bytes(bytes),
            _ => Document::from_seekable(io::Cursor::new(bytes)).unwrap(),
        };
        document.framing(framing)
    };
    let builder = IndexBuilder::new(u64::from(*spacing) + 1);
    let Ok(index) = Index::build(&open(), builder, Box::new(|_| Ok(()))) else { return };
    let query: Query = QUERIES[usize::from(choice & 15) % QUERIES.len()].parse().unwrap();
    let order = if choice & 16 == 0 { Order::Rfc } else { Order::Document };
    let validation = if choice & 32 == 0 { Validation::Strict } else { Validation::Structural };
    let analysis =
        Analysis::new().window(usize::from(*window) + 1).order(order).validation(validation).threads(1);
    let values = |document: &mut Document<'_>| {
        let mut found = Vec::new();
        let asked = analysis.clone().extract(query.clone());
        let ran = asked.run_with(document, &mut |one: &Match<'_>| {
            found.push((one.record, one.span, one.value.to_vec()));
            Ok(())
        });
        (ran.unwrap().coverage.bytes_read, found)
    };
    let count = |document: &mut Document<'_>| {
        analysis.clone().count(query.clone()).run(document).unwrap().answers[0].count()
    };
    let guide = Arc::new(index);
    let guided = || open().guided_by(Arc::clone(&guide) as _);
    assert_eq!(values(&mut guided()), values(&mut open()), "{query}");
    assert_eq!(count(&mut guided()), count(&mut open()), "{query}");
});
