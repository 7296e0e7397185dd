//! Queries narrowed by a condition on their nodes.

use trommel_path::{Duplicates, Order, Plan, PlanOptions, Query};
use trommel_reader::{Config, Cursor};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{self, Wishes};
use trommel_testkit::naive;

use crate::random::document;
use crate::support::{Found, Nodes, expected, plan, query, run, texts};

/// The nodes that pass the filter, by asking `$[?…]` of an array that holds the node alone.
fn passing(nodes: &Nodes, document: &[u8], filter: &str) -> Nodes {
    let alone = query(&format!("$[?{filter}]"));
    let passes = |(_, (start, end)): &Found| {
        let array = [b"[", &document[*start as usize..*end as usize], b"]"].concat();
        !expected(&naive::parse(&array).unwrap(), &alone, Order::Rfc, Duplicates::First).is_empty()
    };
    nodes.iter().filter(|node| passes(node)).cloned().collect()
}

/// R4: a condition keeps exactly the nodes for which the filter holds.
#[test]
fn keep_what_the_filter_keeps() {
    let mut kept = 0;
    for seed in 0..cases(3_000, 100_000) {
        let (document, tree) = document(seed);
        let wishes = Wishes { filters: 0, ..Wishes::default() };
        let (text, filter) = (generate::query(seed, &tree, &wishes), filter(seed, &tree));
        let conditions = [Query::parse_filter(&filter).unwrap_or_else(|error| panic!("{filter}: {error}"))];
        let query = query(&text);
        let order = if seed.is_multiple_of(2) { Order::Rfc } else { Order::Document };
        // The same query without the condition beside it, before and behind.
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

/// A random filter without `$`, which would mean the document that a node is taken from.
fn filter(seed: u64, tree: &naive::Document) -> String {
    let wishes = Wishes { segments: 2, descendants: false, filters: 1, lists: false, ..Wishes::default() };
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
fn a_condition_on_no_query_of_the_plan_changes_nothing() {
    let stranger = plan(&["$", "$", "$.b"]).ids().nth(2).unwrap();
    let plan = plan(&["$.a"]).only_where(stranger, &Query::parse_filter("@ == 9").unwrap());
    let nodes = run(&plan, &mut Cursor::new(br#"{"a":1,"b":2}"#, &Config::new())).unwrap();
    assert_eq!(nodes[0].len(), 1);
}

#[test]
fn what_fails_the_condition_is_walked_for_others() {
    // The node is no match for the first query, but the way to one of the second.
    let document = br#"{"a":{"b":{"b":1}}}"#;
    let plan = plan(&["$.a", "$..b"]);
    let ids: Vec<_> = plan.ids().collect();
    let plan = plan.only_where(ids[0], &Query::parse_filter("@.c").unwrap());
    let nodes = run(&plan, &mut Cursor::new(document, &Config::new())).unwrap();
    assert_eq!(nodes[0].len(), 0);
    assert_eq!(texts(&nodes[1], document), [r#"{"b":1}"#, "1"]);
}
