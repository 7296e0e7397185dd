//! `..name` at the end of plain paths without locations, which moves from member to member by
//! masks.

use trommel_path::{Duplicates, Order, Plan, PlanOptions, Query, Scratch, Step, Wants};
use trommel_reader::{Config, Cursor, Framing, Result, Validation};
use trommel_testkit::chunks::{Chunks, SIZES};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Random, Shape, document};
use trommel_testkit::naive;

use super::support::{Nodes, expected, query, run_late, run_without_locations};

/// The spans of each query's nodes.
type NodeSpans = Vec<Vec<(u64, u64)>>;

fn spans_of(nodes: Vec<Nodes>) -> NodeSpans {
    nodes.into_iter().map(|nodes| nodes.into_iter().map(|(_, span)| span).collect()).collect()
}

fn found(plan: &Plan, mut cursor: Cursor<'_>) -> Result<NodeSpans> {
    run_without_locations(plan, &mut cursor).map(spans_of)
}

/// Counts the nodes of each query, as a consumer that needs nothing else.
fn counted(plan: &Plan, mut cursor: Cursor<'_>) -> Result<Vec<u64>> {
    let mut counts = vec![0; plan.ids().count()];
    let (none, all) = (vec![false; counts.len()], vec![true; counts.len()]);
    let (mut wants, mut scratch) = (Wants::default(), Scratch::new());
    (wants.leave, wants.only_count) = (none, all);
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    while matcher.next_record()? {
        while let Some(step) = matcher.advance()? {
            if let Step::Enter { query, times } = step {
                counts[query.index()] += times;
            }
        }
    }
    Ok(counts)
}

/// Compares with the evaluator, on a slice and on a stream. Returns the number of nodes.
fn compare(bytes: &[u8], queries: &[Query], options: PlanOptions, size: usize) -> usize {
    let tree = naive::parse(bytes).unwrap();
    let expected = spans_of(
        queries.iter().map(|query| expected(&tree, query, options.order, options.duplicates)).collect(),
    );
    let plan = Plan::new(queries, options);
    let note = || format!("{queries:?} {options:?} in {}", bytes.escape_ascii());
    for validation in [Validation::Structural, Validation::Strict] {
        let config = Config::new().validation(validation);
        assert_eq!(found(&plan, Cursor::new(bytes, &config)).unwrap(), expected, "{}", note());
        for together in [false, true] {
            let (nodes, _) = run_late(&plan, &mut Cursor::new(bytes, &config), together).unwrap();
            assert_eq!(spans_of(nodes), expected, "late, {together}: {}", note());
        }
        let numbers: Vec<_> = expected.iter().map(|nodes| nodes.len() as u64).collect();
        assert_eq!(counted(&plan, Cursor::new(bytes, &config)).unwrap(), numbers, "counted: {}", note());
        let reader = Chunks::new(bytes, &[size]);
        let cursor = Cursor::from_reader(reader, Framing::Single, &config.window(64));
        assert_eq!(found(&plan, cursor).unwrap(), expected, "reads of {size}: {}", note());
    }
    expected.iter().map(Vec::len).sum()
}

fn options() -> impl Iterator<Item = PlanOptions> {
    [Order::Rfc, Order::Document].into_iter().flat_map(|order| {
        [Duplicates::First, Duplicates::All]
            .map(|duplicates| PlanOptions::new().order(order).duplicates(duplicates))
    })
}

/// R4: random documents with repeated names; alone and with other queries.
#[test]
fn agrees_on_random_documents() {
    let mut nodes = 0;
    for seed in 0..cases(10_000, 200_000) {
        let mut random = Random::new(seed);
        let shape = Shape { duplicates: seed % 2 == 0, ..Shape::default() };
        let bytes = document(seed, &shape);
        let prefixes = ["$", "$.a", "$.*", "$[*]", "$[1]", "$.*[*]", "$[0:]"];
        let mut text = || {
            let name = ["a", "b", "c", "id", "key", "value"][random.below(6)];
            format!("{}..{name}", prefixes[random.below(prefixes.len())])
        };
        let mut queries = vec![query(&text())];
        match seed % 4 {
            0 => queries.push(query("$")),
            1 => queries.push(query(&text())),
            2 => queries.push(queries[0].clone()),
            _ => {}
        }
        let size = SIZES[seed as usize % SIZES.len()];
        for options in options() {
            nodes += compare(&bytes, &queries, options, size);
        }
    }
    assert!(nodes > 10_000, "{nodes}");
}

/// Nodes that a search has moved past are left together, also if they wait for others.
#[test]
fn nodes_are_left_together() {
    let text = format!("[{}]", vec![r#"{"a":1,"b":{"a":2}}"#; 1000].join(","));
    let config = Config::new().validation(Validation::Structural);
    for options in options() {
        let plan = Plan::new(&[query("$..a")], options);
        let one_by_one = run_late(&plan, &mut Cursor::new(text.as_bytes(), &config), false).unwrap();
        let (nodes, most) = run_late(&plan, &mut Cursor::new(text.as_bytes(), &config), true).unwrap();
        assert_eq!((nodes, 0), one_by_one);
        assert!(most > 0, "{options:?}");
    }
}

/// Members inside members, before and after them, repeated, and in arrays.
#[test]
fn orders_of_all_kinds() {
    for text in [
        r#"{"x":{"a":1},"a":2}"#,
        r#"{"x":{"a":{"a":{"y":[{"a":1}],"a":0}}},"a":{"a":2},"y":{"a":3}}"#,
        r#"[{"x":{"a":1},"a":2},{"a":3},[[{"y":{"a":4}},{"a":5}]],{"b":[{"a":6}],"a":7}]"#,
        r#"{"a":1,"x":{"a":2},"a":{"a":3},"a":4,"y":[{"a":5,"a":{"a":6}},{"a":7}]}"#,
        r#"[[[{"a":1}]],[[{"x":{"a":2},"a":3}]],{"a":[{"a":4},{"a":5}]}]"#,
        r#"{"a":[1,{"b":{"a":"a"}}],"b":["a",{"\u0061":[]},{"a ":1}],"":{"a":{}}}"#,
        r#""a""#,
        "{}",
    ] {
        for options in options() {
            for size in SIZES {
                for queries in [
                    &["$..a"][..],
                    &["$..a..a"],
                    &["$..a.a"],
                    &["$..a[*]"],
                    &["$..a", "$"],
                    &["$..a", "$..a"],
                    &["$.*..a", "$.*"],
                ] {
                    let queries: Vec<Query> = queries.iter().map(|text| query(text)).collect();
                    compare(text.as_bytes(), &queries, options, size);
                }
            }
        }
    }
}

/// The queries of one plan can have different orders.
#[test]
fn orders_of_their_own() {
    let bytes = br#"{"x":{"a":{"a":1}},"a":{"y":{"a":2},"a":3},"z":[{"a":4}]}"#;
    let tree = naive::parse(bytes).unwrap();
    let a = query("$..a");
    let orders = [Order::Document, Order::Rfc, Order::Document];
    let plan = Plan::with_orders(&orders.map(|order| (a.clone(), order)), PlanOptions::new());
    let config = Config::new().validation(Validation::Structural);
    let expected = orders.map(|order| expected(&tree, &a, order, Duplicates::First));
    assert_eq!(found(&plan, Cursor::new(bytes, &config)).unwrap(), spans_of(expected.to_vec()));
}
