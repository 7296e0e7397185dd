//! Compares with the evaluator of the test kit and with another library, on random documents and
//! queries.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use trommel_path::{Duplicates, Order, Plan, PlanOptions, Query, Scratch, Step, Wants};
use trommel_reader::{Config, Cursor, Framing, Validation};
use trommel_testkit::chunks::{Chunks, SIZES};
use trommel_testkit::effort::cases;
use trommel_testkit::evaluate::{Duplicates as Policy, evaluate};
use trommel_testkit::generate::{self, Names, Numbers, QueryOptions, Shape};
use trommel_testkit::naive;

use crate::support::{PathNode, expected, paths, query, run, run_without_locations};

/// Returns a random document with its tree.
pub(crate) fn document(seed: u64) -> (Vec<u8>, naive::Document) {
    let shape = match seed % 16 {
        14 => Shape::deep(60),
        15 => Shape::wide(40),
        _ => Shape { duplicates: seed.is_multiple_of(3), ..Shape::default() },
    };
    let document = generate::document(seed, &shape);
    let tree = naive::parse(&document).unwrap();
    (document, tree)
}

/// Returns all combinations of options in turn.
pub(crate) fn options(seed: u64) -> (PlanOptions, Validation) {
    let order = if seed.is_multiple_of(2) { Order::Rfc } else { Order::Document };
    let duplicates = match seed % 10 {
        0 | 5 => Duplicates::All,
        2 | 7 => Duplicates::Last,
        _ => Duplicates::First,
    };
    let validation = if seed % 7 < 3 { Validation::Strict } else { Validation::Structural };
    (PlanOptions::new().order(order).duplicates(duplicates), validation)
}

/// R4: random documents and queries, compared with the evaluator: nodes, locations, and order, on
/// slices and streams, under every policy and validation.
#[test]
fn pairs() {
    let (pairs, hits) = (cases(10_000, 1_000_000), AtomicU64::new(0));
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Relaxed)).filter(|seed| *seed < pairs) {
                    hits.fetch_add(u64::from(pair(seed)), Relaxed);
                }
            });
        }
    });
    let hits = hits.into_inner();
    assert!(hits * 3 > pairs, "{hits} of {pairs} queries select something");
}

/// Compares one pair. Returns true if the query selects a node.
fn pair(seed: u64) -> bool {
    let (document, tree) = document(seed);
    let text = generate::query(seed, &tree, &QueryOptions::default());
    let (options, validation) = options(seed);
    let query = query(&text);
    // The evaluator lists every derivation of every node.
    let descendants = query.segments().iter().filter(|segment| segment.descendant).count();
    if descendants > 3 || descendants > 2 && tree.ids().len() > 200 {
        return false;
    }
    let wanted = expected(&tree, &query, options.order, options.duplicates);
    let plan = Plan::new(&[query], options);
    let config = Config::new().validation(validation);
    let note = || format!("seed {seed}: {text} on {}", String::from_utf8_lossy(&document));
    let slice = run(&plan, &mut Cursor::new(&document, &config)).unwrap();
    assert_eq!(slice[0], wanted, "{}", note());
    let run_without_locations = run_without_locations(&plan, &mut Cursor::new(&document, &config)).unwrap();
    let place = |(_, place): &PathNode| *place;
    assert!(run_without_locations[0].iter().map(place).eq(wanted.iter().map(place)), "{}", note());
    let size = SIZES[seed as usize % SIZES.len()];
    let reader = Chunks::new(&document[..], &[size]);
    let stream = run(&plan, &mut Cursor::from_reader(reader, Framing::Single, &config.window(64)));
    assert_eq!(stream.unwrap()[0], wanted, "reads of {size}: {}", note());
    !wanted.is_empty()
}

/// R4: several queries in one pass find the same nodes as each alone.
#[test]
fn batches() {
    for seed in 0..cases(2_000, 100_000) {
        let (document, tree) = document(seed);
        let (options, validation) = options(seed);
        let text = |number: u64| generate::query(seed * 7 + number, &tree, &QueryOptions::default());
        let texts: Vec<String> = (0..=seed % 6).map(text).collect();
        let queries: Vec<Query> = texts.iter().map(|text| query(text)).collect();
        let plan = Plan::new(&queries, options);
        let reader = Chunks::new(&document[..], &[SIZES[seed as usize % SIZES.len()]]);
        let config = Config::new().validation(validation).window(64);
        let found = run(&plan, &mut Cursor::from_reader(reader, Framing::Single, &config)).unwrap();
        for (number, query) in queries.iter().enumerate() {
            let wanted = expected(&tree, query, options.order, options.duplicates);
            assert_eq!(found[number], wanted, "seed {seed}: query {number} of {texts:?}");
        }
    }
}

/// The queries of one plan can have different orders.
#[test]
fn orders_of_their_own() {
    for seed in 0..cases(1_000, 50_000) {
        let (document, tree) = document(seed);
        let query = query(&generate::query(seed, &tree, &QueryOptions::default()));
        let both = [(query.clone(), Order::Document), (query.clone(), Order::Rfc)];
        let plan = Plan::with_orders(&both, PlanOptions::new());
        let found = run(&plan, &mut Cursor::new(&document, &Config::new())).unwrap();
        for (number, (_, order)) in both.iter().enumerate() {
            assert_eq!(found[number], expected(&tree, &query, *order, Duplicates::First), "{seed}: {query}");
        }
    }
}

/// Returns for each query of a plan the number of its nodes, and the number of nodes that were
/// entered.
pub(crate) fn counts(plan: &Plan, cursor: &mut Cursor<'_>) -> Vec<(u64, usize)> {
    let (mut scratch, wants) = (Scratch::new(), Wants::default());
    let mut matcher = plan.matcher(&mut scratch, cursor, &wants);
    assert!(matcher.next_record().unwrap());
    let mut counts = vec![(0, 0); plan.ids().len()];
    while let Some(step) = matcher.advance().unwrap() {
        if let Step::Enter { query, times } = step {
            let count: &mut u64 = &mut counts[query.index()].0;
            *count = count.saturating_add(times);
            counts[query.index()].1 += 1;
        }
    }
    counts
}

/// R4: in any order, a node is entered once, with its number of occurrences.
#[test]
fn any_order_counts() {
    for seed in 0..cases(5_000, 200_000) {
        let (document, tree) = document(seed);
        let texts = [1, 2].map(|salt| generate::query(seed * 2 + salt, &tree, &QueryOptions::default()));
        let queries = [query(&texts[0]), query(&texts[1])];
        let plan = Plan::new(&queries, PlanOptions::new().order(Order::Any));
        let wanted = queries.each_ref().map(|query| {
            let mut nodes = evaluate(&tree, query.segments(), Policy::First);
            let count = nodes.len() as u64;
            nodes.sort_by_key(|node| node.value);
            nodes.dedup_by_key(|node| node.value);
            (count, nodes.len())
        });
        let found = counts(&plan, &mut Cursor::new(&document, &Config::new()));
        assert_eq!(found, wanted, "seed {seed}: {texts:?}");
    }
}

/// R4: compares nodes and locations with `serde_json_path`. `serde_json` writes the documents
/// first, which sorts members, so that both see the same order. That library gets each query in a
/// form that avoids its bugs.
#[test]
fn agrees_with_another_library() {
    let shape = Shape { names: Names::Odd, numbers: Numbers::Plain, ..Shape::default() };
    let wishes = QueryOptions { patterns: false, ..QueryOptions::default() };
    for seed in 0..cases(3_000, 300_000) {
        let shape = if seed.is_multiple_of(3) { shape } else { Shape::plain() };
        let json: serde_json::Value = serde_json::from_slice(&generate::document(seed, &shape)).unwrap();
        let document = serde_json::to_vec(&json).unwrap();
        let tree = naive::parse(&document).unwrap();
        let text = generate::query(seed, &tree, &wishes);
        let plan = crate::support::plan(&[&text]);
        let found = run(&plan, &mut Cursor::new(&document, &Config::new())).unwrap();
        let detour = generate::query(seed, &tree, &QueryOptions { detour: true, ..wishes });
        assert_eq!(paths(&found[0]), theirs(&json, &detour), "seed {seed}: {text} over {json}");
    }
}

/// Returns the node list of `serde_json_path` as normalized paths. Its own paths leave quotes
/// unescaped.
fn theirs(json: &serde_json::Value, query: &str) -> Vec<String> {
    use serde_json_path::PathElement;
    let query = serde_json_path::JsonPath::parse(query).unwrap_or_else(|error| panic!("{error}: {query}"));
    let element = |element: &PathElement<'_>| match element {
        PathElement::Name(name) => format!("[{}]", naive::normalized_name(name)),
        PathElement::Index(index) => format!("[{index}]"),
    };
    let path = |node: serde_json_path::LocatedNode<'_>| {
        format!("${}", node.location().iter().map(element).collect::<String>())
    };
    query.query_located(json).into_iter().map(path).collect()
}
