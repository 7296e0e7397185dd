//! Matches are reported as soon as no later match can come before them, and no later.

use std::sync::atomic::{AtomicUsize, Ordering};

use trommel_path::{Duplicates, Order, Pass, PlanOptions, Scratch, Step};
use trommel_reader::{Config, Cursor, Framing, Validation};

use crate::support::{
    Fence, NodeCollector, plan, plan_with, run, select, select_with, stream, texts, wants_all,
};

/// Feeds a stream piece by piece. Asserts that after each piece exactly these matches were
/// reported, before any byte of the next piece was read.
fn assert_reported(query: &str, options: PlanOptions, framing: Framing, pieces: &[(&str, &[&str])]) {
    let whole: String = pieces.iter().map(|(text, _)| *text).collect();
    let allowed = AtomicUsize::new(0);
    let plan = plan_with(&[query], options);
    let (mut scratch, wants) = (Scratch::new(), wants_all(&plan));
    // Single documents may end where they are decided.
    let single = framing == Framing::Single;
    let validation = if single { Validation::Structural } else { Validation::Strict };
    let mut cursor = stream(Fence::new(whole.as_bytes(), &allowed), framing, validation);
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    let (mut collector, mut piece, mut given) = (NodeCollector::default(), 0, 0);
    // Allows the next piece once all matches of this one are reported.
    let mut open = |collector: &NodeCollector| {
        while let Some((text, expected)) = pieces.get(piece) {
            if allowed.load(Ordering::Relaxed) == 0 || collector.nodes.len() == given + expected.len() {
                if allowed.load(Ordering::Relaxed) > 0 {
                    assert_eq!(texts(&collector.nodes, whole.as_bytes())[given..], **expected, "{query}");
                    given += expected.len();
                    piece += 1;
                }
                let next = pieces.get(piece).map_or(0, |(text, _)| text.len());
                allowed.fetch_add(next, Ordering::Relaxed);
                if next == 0 && piece == pieces.len() {
                    return;
                }
                if pieces.get(piece).is_some_and(|(_, expected)| !expected.is_empty()) {
                    return;
                }
            } else {
                assert!(collector.nodes.len() < given + expected.len(), "{query}: too many after {text}");
                return;
            }
        }
    };
    open(&collector);
    while matcher.next_record().unwrap() {
        while let Some(step) = matcher.advance().unwrap_or_else(|error| panic!("{query}: {error}")) {
            match step {
                Step::Leave { query, times, span } => {
                    let node = (matcher.location().to_string(), (span.start, span.end));
                    collector.push(&node, times, query, &matcher);
                }
                Step::Settled(_) => collector.flush(),
                Step::Enter { .. } | Step::Event(_) => {}
            }
            open(&collector);
        }
        collector.flush();
        open(&collector);
    }
    let all: usize = pieces.iter().map(|(_, expected)| expected.len()).sum();
    assert_eq!(collector.nodes.len(), all, "{query}: {:?}", texts(&collector.nodes, whole.as_bytes()));
}

fn in_rfc_order(query: &str, pieces: &[(&str, &[&str])]) {
    assert_reported(query, PlanOptions::new(), Framing::Single, pieces);
}

fn in_document_order(query: &str, pieces: &[(&str, &[&str])]) {
    assert_reported(query, PlanOptions::new().order(Order::Document), Framing::Single, pieces);
}

/// A query whose order is that of the input reports each node as it ends.
#[test]
fn single_pass_queries_hold_nothing() {
    in_rfc_order("$[*]", &[("[1,", &["1"]), ("[2]", &["[2]"]), (",{}", &["{}"]), ("]", &[])]);
    in_rfc_order(
        "$.a[1:].b",
        &[(r#"{"a":[{"b":0},{"b":1,"#, &["1"]), (r#""c":0},{"b":{}"#, &["{}"]), ("}]}", &[])],
    );
    in_rfc_order("$[?@>1]", &[("[1,2,", &["2"]), ("3,", &["3"]), ("0]", &[])]);
}

/// Selectors that go forward through an array do not hold nodes either.
#[test]
fn ascending_lists_hold_nothing() {
    in_rfc_order(
        "$[0,2,4:]",
        &[("[1,", &["1"]), ("2,3,", &["3"]), ("4,5,", &["5"]), ("6,", &["6"]), ("7]", &["7"])],
    );
    for (query, pass) in [
        ("$[0,1]", Pass::Single),
        ("$[0,1:3,3,7::2]", Pass::Single),
        ("$[:2,2:]", Pass::Single),
        ("$[0,0]", Pass::Rescan),
        ("$[1,0]", Pass::Rescan),
        ("$[1:,5]", Pass::Rescan),
        ("$[0,-1]", Pass::Rescan),
        ("$[0:-1,7]", Pass::Rescan),
        ("$[::0,0]", Pass::Rescan),
        ("$['a','b']", Pass::Rescan),
        ("$[0,*]", Pass::Rescan),
    ] {
        assert_eq!(plan(&[query]).pass(), pass, "{query}");
    }
}

/// The way in which plans read their source.
#[test]
fn plans_report_their_pass() {
    for (query, rfc, document) in [
        ("$.a[1].*", Pass::Single, Pass::Single),
        ("$.a[?@.b == 1]", Pass::Lookahead, Pass::Lookahead),
        ("$..a", Pass::Rescan, Pass::Single),
        ("$['b','a']", Pass::Rescan, Pass::Single),
        ("$[-1]", Pass::Rescan, Pass::Rescan),
        ("$[::-1]", Pass::Rescan, Pass::Rescan),
        ("$[?@.a == $.b]", Pass::Rescan, Pass::Rescan),
        ("$..[?@.a]", Pass::Rescan, Pass::Lookahead),
    ] {
        assert_eq!(plan(&[query]).pass(), rfc, "{query}");
        let options = PlanOptions::new().order(Order::Document);
        assert_eq!(plan_with(&[query], options).pass(), document, "{query} in document order");
    }
}

/// A descendant segment settles with each element to which it is applied.
#[test]
fn descendants_settle_with_each_element() {
    in_rfc_order(
        "$.records[*]..name",
        &[
            (r#"{"records":[{"x":{"name":1},"name":2}"#, &["2", "1"]),
            (r#",{"name":3,"y":[{"name":4}]}"#, &["3", "4"]),
            (r#",[[{"name":5}]]"#, &["5"]),
            (r#"],"name":6}"#, &[]),
        ],
    );
}

/// An array has no names to select, so matches below it settle with the element they are in.
#[test]
fn descendants_in_a_root_array_settle_with_each_element() {
    in_rfc_order(
        "$..login",
        &[
            (r#"[{"user":{"login":"a"},"login":"b"}"#, &["\"b\"", "\"a\""]),
            (r#",{"login":"c","org":{"login":"d"}"#, &["\"c\"", "\"d\""]),
            (r#"},{"x":[{"login":"e"}]"#, &[]),
            ("}", &["\"e\""]),
            ("]", &[]),
        ],
    );
}

/// A name that was found is not searched again, so matches inside and after its value settle at
/// once.
/// once.
#[test]
fn a_found_name_settles_matches_below() {
    let pieces: &[(&str, &[&str])] =
        &[(r#"{"a":{"b":1,"#, &[]), (r#""a":{"b":2}},"#, &["1", "2"]), (r#""b":3}"#, &[])];
    in_rfc_order("$..a.b", pieces);
}

#[test]
fn lists_settle_when_all_were_found() {
    in_rfc_order("$['b','a']", &[(r#"{"a":1,"c":[],"#, &[]), (r#""b":2,"#, &["2", "1"])]);
    in_rfc_order(
        "$[*]['b','a']",
        &[(r#"[{"a":1,"b":[]"#, &["[]", "1"]), (r#","c":2},{"a":3}"#, &["3"]), ("]", &[])],
    );
    in_rfc_order("$[2,0]", &[("[1,2,[]", &["[]", "1"])]);
    in_rfc_order("$[*][?@.a,?@.b]", &[(r#"[[{"b":1},{"a":2}]"#, &[r#"{"a":2}"#, r#"{"b":1}"#]), ("]", &[])]);
}

/// In document order, a node waits only for the nodes around it.
#[test]
fn document_order_waits_for_the_outermost_node() {
    in_document_order(
        "$..a",
        &[
            (r#"{"a":{"x":1,"a":[2]},"#, &[r#"{"x":1,"a":[2]}"#, "[2]"]),
            (r#""b":{"a":3,"#, &["3"]),
            (r#""c":0}}"#, &[]),
        ],
    );
    in_document_order("$[1,0]", &[("[1,", &["1"]), ("2,", &["2"])]);
    in_document_order("$..*", &[("[[1,2]", &["[1,2]", "1", "2"]), (",3]", &["3"])]);
}

/// A stream of records settles with each record, for any query.
#[test]
fn records_settle() {
    for query in ["$..a", "$..*", "$['x','a'].b"] {
        for order in [Order::Rfc, Order::Document] {
            let plan = plan_with(&[query], PlanOptions::new().order(order));
            let lines = b"{\"a\":{\"b\":1}}\n{\"a\":{\"b\":2}}\n";
            let allowed = AtomicUsize::new(14);
            let (mut scratch, wants) = (Scratch::new(), wants_all(&plan));
            let mut cursor = stream(Fence::new(lines, &allowed), Framing::Lines, Validation::Strict);
            let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
            assert!(matcher.next_record().unwrap());
            while matcher.advance().unwrap().is_some() {}
            allowed.store(lines.len(), Ordering::Relaxed);
            assert!(
                matcher.next_record().unwrap(),
                "{query}: the first record was read to its end and no further"
            );
        }
    }
    let records: &[(&str, &[&str])] =
        &[("{\"b\":{\"a\":1},\"a\":2}\n", &["2", "1"]), ("[{\"a\":3}]\n", &["3"]), ("4\n", &[])];
    assert_reported("$..a", PlanOptions::new(), Framing::Lines, records);
    assert_reported("$..a", PlanOptions::new(), Framing::Concatenated, records);
    assert_reported("$..a", PlanOptions::new(), Framing::Auto, records);
}

/// RFC order that differs from that of the input.
#[test]
fn rfc_order_differs_from_input_order() {
    for (document, query, selected) in [
        (r#"{"a":[1],"b":2}"#, "$..*", vec!["[1]", "2", "1"]),
        ("[[1,2],[3,[4]]]", "$..[0]", vec!["[1,2]", "1", "3", "4"]),
        ("[[1,2],[3,[4]]]", "$..[::-1]", vec!["[3,[4]]", "[1,2]", "2", "1", "[4]", "3", "4"]),
        ("[0,1,2,3]", "$[3:0:-2,1,*]", vec!["3", "1", "1", "0", "1", "2", "3"]),
        (r#"{"a":{"a":{"a":1}}}"#, "$..a..a", vec![r#"{"a":1}"#, "1", "1"]),
        (r#"[{"a":1,"b":2},{"b":3,"a":4}]"#, "$[*]['b','a']", vec!["2", "1", "3", "4"]),
        (r#"{"x":{"a":1},"a":{"a":2}}"#, "$..a", vec![r#"{"a":2}"#, "1", "2"]),
    ] {
        assert_eq!(select(document, query), selected, "{query} on {document}");
    }
}

/// A node with several derivations occurs in the list once for each, with a key of its own.
#[test]
fn derivations_are_entered_one_by_one() {
    let document = b"[[[[1]]]]";
    let plan = plan(&["$..*..*"]);
    let (mut scratch, wants) = (Scratch::new(), wants_all(&plan));
    let mut cursor = Cursor::new(document, &Config::new());
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    matcher.next_record().unwrap();
    let (mut entered, mut keys) = (Vec::new(), Vec::new());
    while let Some(step) = matcher.advance().unwrap() {
        match step {
            Step::Enter { times, .. } => {
                assert_eq!(times, 1);
                entered.push(matcher.start());
            }
            Step::Leave { times, span, .. } => {
                assert_eq!(times, 1);
                keys.push((matcher.key().to_vec(), span.start));
            }
            Step::Event(_) | Step::Settled(_) => {}
        }
    }
    // The node at depth n has a derivation for each pair of its ancestors.
    entered.sort_unstable();
    assert_eq!(entered, [2, 3, 3, 4, 4, 4]);
    let mut distinct = keys.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), keys.len(), "{keys:?}");
}

#[test]
fn key_belongs_to_the_node_left_last() {
    let plan = plan(&["$..a", "$.a"]);
    let (mut scratch, wants) = (Scratch::new(), wants_all(&plan));
    let mut cursor = Cursor::new(br#"{"a":1}"#, &Config::new());
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    assert!(matcher.key().is_empty());
    matcher.next_record().unwrap();
    let mut keys = Vec::new();
    while let Some(step) = matcher.advance().unwrap() {
        match step {
            Step::Leave { query, .. } => keys.push((query.index(), matcher.key().to_vec())),
            _ => assert!(matcher.key().is_empty(), "{step:?}"),
        }
    }
    assert_eq!(keys, [(0, vec![0, 5]), (1, vec![])]);
}

/// `Settled` is reported only after matches that had to be held.
#[test]
fn reports_settled_only_after_held_matches() {
    let settled = |query: &str, order: Order, document: &str| {
        let plan = plan_with(&[query], PlanOptions::new().order(order));
        let (mut scratch, wants) = (Scratch::new(), wants_all(&plan));
        let mut cursor = Cursor::new(document.as_bytes(), &Config::new());
        let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
        matcher.next_record().unwrap();
        let mut count = 0;
        while let Some(step) = matcher.advance().unwrap() {
            count += usize::from(matches!(step, Step::Settled(_)));
        }
        count
    };
    assert_eq!(settled("$[*]", Order::Rfc, "[1,2,3]"), 0);
    assert_eq!(settled("$[*]", Order::Document, "[1,2,3]"), 0);
    assert_eq!(settled("$..*", Order::Document, "[1,[2],3]"), 1);
    assert_eq!(settled("$..*", Order::Any, "[1,[2],3]"), 0);
    assert_eq!(settled("$[*]..a", Order::Rfc, r#"[{},{"a":1},{"b":2},[{"a":3}]]"#), 2);
}

#[test]
fn policies_for_repeated_names() {
    let document = r#"{"a":1,"b":{"a":2,"a":3},"a":4}"#;
    for (query, first, all) in [
        ("$.a", vec!["1"], vec!["1", "4"]),
        ("$..a", vec!["1", "2"], vec!["1", "4", "2", "3"]),
        ("$['a','a']", vec!["1", "1"], vec!["1", "4", "1", "4"]),
        ("$.b.*", vec!["2", "3"], vec!["2", "3"]),
        ("$[?@.a == 2]", vec![r#"{"a":2,"a":3}"#], vec![r#"{"a":2,"a":3}"#]),
        ("$[?@.a == 3]", vec![], vec![]),
        ("$[?count(@.a) == 2]", vec![], vec![r#"{"a":2,"a":3}"#]),
        ("$[?value(@.a) == 2]", vec![r#"{"a":2,"a":3}"#], vec![]),
    ] {
        assert_eq!(select(document, query), first, "{query}");
        let found = select_with(document, query, PlanOptions::new().duplicates(Duplicates::All));
        assert_eq!(found, all, "{query} with all duplicates");
    }
}

/// Queries without nodes, and plans without queries.
#[test]
fn plans_without_nodes_or_queries() {
    let none = run(&plan(&[]), &mut Cursor::new(b"[1]", &Config::new())).unwrap();
    assert!(none.is_empty());
    for query in ["$.a", "$[7]", "$[?@.a]", "$..b", "$[::0]", "$[-9]", "$[5:1]"] {
        assert!(select("[1,2]", query).is_empty(), "{query}");
    }
}
