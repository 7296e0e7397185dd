//! Queries that are narrowed by a condition on their nodes.

use trommel_path::{Duplicates, Order, Plan, PlanOptions, Query};
use trommel_reader::{Config, Cursor};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{self, QueryOptions};
use trommel_testkit::naive;

use crate::random::document;
use crate::support::{Nodes, PathNode, expected, plan, query, run, texts};

/// Returns the nodes that pass the filter, as `$[?…]` on an array with only the node selects them.
fn passing(nodes: &Nodes, document: &[u8], filter: &str) -> Nodes {
    let alone = query(&format!("$[?{filter}]"));
    let passes = |(_, (start, end)): &PathNode| {
        let array = [b"[", &document[*start as usize..*end as usize], b"]"].concat();
        !expected(&naive::parse(&array).unwrap(), &alone, Order::Rfc, Duplicates::First).is_empty()
    };
    nodes.iter().filter(|node| passes(node)).cloned().collect()
}

/// R4: a condition keeps exactly the nodes for which the filter holds.
#[test]
fn conditions_keep_the_nodes_that_pass() {
    let mut kept = 0;
    for seed in 0..cases(3_000, 100_000) {
        let (document, tree) = document(seed);
        let wishes = QueryOptions { filters: 0, ..QueryOptions::default() };
        let (text, filter) = (generate::query(seed, &tree, &wishes), filter(seed, &tree));
        let conditions = [Query::parse_filter(&filter).unwrap_or_else(|error| panic!("{filter}: {error}"))];
        let query = query(&text);
        let order = if seed.is_multiple_of(2) { Order::Rfc } else { Order::Document };
        // The query with the condition, between two copies without it.
        let queries = [query.clone(), query.clone(), query.clone()];
        let plan = Plan::new(&queries, PlanOptions::new().order(order));
        let id = plan.ids().nth(1).unwrap();
        let plan = plan.only_where(id, &conditions[0]);
        let found = run(&plan, &mut Cursor::new(&document, &Config::new())).unwrap();
        let all = expected(&tree, &query, order, Duplicates::First);
        assert_eq!(found[1], passing(&all, &document, &filter), "seed {seed}: {text} where {filter}");
        assert!(found[0] == all && found[2] == all, "seed {seed}: {text} beside {filter}");
        kept += found[1].len();
    }
    assert!(kept > 500, "{kept} nodes pass");
}

/// Returns a random filter without `$`, which would refer to the document of the node.
fn filter(seed: u64, tree: &naive::Document) -> String {
    let wishes =
        QueryOptions { segments: 2, descendants: false, filters: 1, lists: false, ..QueryOptions::default() };
    for salt in 0.. {
        let text = generate::query(seed << 8 | salt, tree, &wishes);
        if let Some((_, filter)) = text.split_once("[?")
            && !filter.contains(['$', '[', ']'])
        {
            break;
        }
        if let Some(filter) = text.strip_prefix("$[?").and_then(|rest| rest.strip_suffix(']'))
            && !filter.contains('$')
            && Query::parse_filter(filter).is_ok()
        {
            return filter.to_owned();
        }
        if salt > 100 {
            break;
        }
    }
    ["@", "@ > 1", "@.a", "@.*", "length(@) > 1", "@[0] == 1 || @ == 'a'"][seed as usize % 6].to_owned()
}

#[test]
fn the_root_can_be_narrowed() {
    let narrowed = |filter: &str| {
        let plan = plan(&["$"]);
        let id = plan.ids().next().unwrap();
        let plan = plan.only_where(id, &Query::parse_filter(filter).unwrap());
        run(&plan, &mut Cursor::new(br#"{"a":[1,2]}"#, &Config::new())).unwrap()[0].len()
    };
    assert_eq!([narrowed("@.a"), narrowed("@.b"), narrowed("length(@.a) == 2")], [1, 0, 1]);
    assert_eq!([narrowed("$.a[1] == @.a[1]"), narrowed("$.a[1] == @.a[0]")], [1, 0]);
}

#[test]
fn all_of_several_conditions_must_hold() {
    let document = b"[1,2,3,4,5]";
    let plan = plan(&["$[*]", "$[1:]"]);
    let ids: Vec<_> = plan.ids().collect();
    let plan = plan
        .only_where(ids[0], &Query::parse_filter("@ > 1").unwrap())
        .only_where(ids[1], &Query::parse_filter("@ != 3").unwrap())
        .only_where(ids[0], &Query::parse_filter("@ < 5").unwrap());
    let nodes = run(&plan, &mut Cursor::new(document, &Config::new())).unwrap();
    assert_eq!(texts(&nodes[0], document), ["2", "3", "4"]);
    assert_eq!(texts(&nodes[1], document), ["2", "4", "5"]);
}

#[test]
fn ignores_conditions_on_unknown_queries() {
    let stranger = plan(&["$", "$", "$.b"]).ids().nth(2).unwrap();
    let plan = plan(&["$.a"]).only_where(stranger, &Query::parse_filter("@ == 9").unwrap());
    let nodes = run(&plan, &mut Cursor::new(br#"{"a":1,"b":2}"#, &Config::new())).unwrap();
    assert_eq!(nodes[0].len(), 1);
}

#[test]
fn nodes_that_fail_are_walked_for_other_queries() {
    // The node is not a match of the first query, but on the path to a match of the second.
    let document = br#"{"a":{"b":{"b":1}}}"#;
    let plan = plan(&["$.a", "$..b"]);
    let ids: Vec<_> = plan.ids().collect();
    let plan = plan.only_where(ids[0], &Query::parse_filter("@.c").unwrap());
    let nodes = run(&plan, &mut Cursor::new(document, &Config::new())).unwrap();
    assert_eq!(nodes[0].len(), 0);
    assert_eq!(texts(&nodes[1], document), [r#"{"b":1}"#, "1"]);
}
