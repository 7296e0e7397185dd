//! Plain paths that are followed by masks select what moves from child to child select, also where
//! the ends of values are marked. The input is a number that selects the paths and options, and a
//! document or lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_fuzz::matching::{LineNodes, late, line_nodes};
use trommel_path::{Duplicates, Order, Plan, PlanOptions, Query};
use trommel_reader::{Backend, Config, Cursor, Framing, Validation, View};
use trommel_testkit::chunks::Chunks;

const PATHS: [&[&str]; 8] = [
    &["$.a", "$.b", "$.ab.a"],
    &["$[:].a", "$[:].b[:]", "$[:].ab.b"],
    &["$[:]"],
    &["$.a[:].b", "$.a[:].a", "$.b[2]", "$.b[0]"],
    &["$[:][:][:]"],
    &["$['']", "$['\u{fc}'].a", "$['a b']"],
    &["$", "$.a"],
    &["$.a", "$.a", "$[1].b", "$[3]"],
];

fuzz_target!(|input: &[u8]| {
    let [choice, size, bytes @ ..] = input else { return };
    let mut queries: Vec<Query> =
        PATHS[usize::from(choice % 8)].iter().map(|path| path.parse().unwrap()).collect();
    let duplicates = if choice & 8 == 0 { Duplicates::First } else { Duplicates::All };
    let order = if choice & 16 == 0 { Order::Rfc } else { Order::Document };
    let framing = if choice & 32 == 0 { Framing::Single } else { Framing::Lines };
    // The values of the last query may only mark where they end.
    let marker = (choice & 64 != 0).then_some(queries.len());
    queries.extend(marker.map(|_| if choice & 128 == 0 { Query::root() } else { "$[:]".parse().unwrap() }));
    let plan = || Plan::new(&queries, PlanOptions::new().duplicates(duplicates).order(order));
    let last = plan().ids().last().filter(|_| marker.is_some());
    let marking = last.and_then(|last| plan().marking_ends(last)).unwrap_or_else(plan);
    let plan = plan();
    let late = |is_late| {
        let mut wants = late(&plan, is_late);
        marker.into_iter().for_each(|marker| wants.bytes[marker] = false);
        wants
    };
    let config = Config::new().validation(Validation::Structural).window(16 + usize::from(*size));
    let find = |plan: &Plan, wants: &_, config: &Config| -> LineNodes {
        line_nodes(plan, wants, &mut Cursor::from_view(View::new(bytes), framing, config))
    };
    let expected = find(&plan, &late(false), &config);
    for backend in Backend::available() {
        let found = find(&marking, &late(true), &config.backend(backend));
        assert_eq!(found, expected, "{backend:?} {queries:?}");
    }
    let stream = |plan: &Plan, wants: &_| {
        let reader = Chunks::new(bytes, &[usize::from(*size).max(1)]);
        line_nodes(plan, wants, &mut Cursor::from_reader(reader, framing, &config))
    };
    assert_eq!(stream(&marking, &late(true)), stream(&plan, &late(false)), "{queries:?} as a stream");
});
