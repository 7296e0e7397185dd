//! Documents and queries built to exhaust stack, memory, or time.

use trommel_path::{Order, Plan, PlanOptions, Scratch, Step, Wants};
use trommel_reader::{Config, Cursor, ErrorKind, Framing, Limit, Limits, Validation};
use trommel_testkit::effort::small_stack;
use trommel_testkit::repeat::Repeat;

use crate::random::counts;
use crate::support::{plan, plan_with, run, select, select_with, texts};

/// Runs the test on a thread whose stack is too small for one call frame per level.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(small_stack()).spawn(work).unwrap().join().unwrap();
}

fn any(queries: &[&str]) -> Plan {
    plan_with(queries, PlanOptions::new().order(Order::Any))
}

/// A million levels, which need a raised limit.
const DEEP: usize = 1_000_000;

fn deep_config(validation: Validation) -> Config {
    let mut limits = Limits::default();
    limits.depth = Limits::MAX_DEPTH;
    Config::new().limits(limits).validation(validation)
}

/// R8: a million levels are walked, skipped, filtered, and forwarded on a stack of 256 KiB.
#[test]
fn depth_takes_no_stack() {
    let arrays = ["[".repeat(DEEP), "]".repeat(DEEP)].concat();
    let objects = [r#"{"a":"#.repeat(DEEP), "1".to_owned(), "}".repeat(DEEP)].concat();
    on_a_small_stack(move || {
        let deep = DEEP as u64;
        let validations = [Validation::Strict, Validation::Structural].into_iter().cycle();
        for ((query, document, count), validation) in [
            ("$..*", &arrays, deep - 1),
            ("$..[0]", &arrays, deep - 1),
            ("$..[?@[0]]", &arrays, deep - 2),
            ("$[?count(@..*) > 0]", &arrays, 1),
            ("$.x", &arrays, 0),
            ("$..a", &objects, deep),
            ("$..['b','a']", &objects, deep),
            ("$..[?@.a]", &objects, deep - 1),
            ("$[?@..missing]", &objects, 0),
            ("$.a.a.a[?@.a == 1]", &objects, 0),
            ("$.missing", &objects, 0),
        ]
        .into_iter()
        .zip(validations)
        {
            let mut cursor = Cursor::new(document.as_bytes(), &deep_config(validation));
            assert_eq!(counts(&any(&[query]), &mut cursor)[0].0, count, "{query}, {validation:?}");
        }
        // Both orders, with all events.
        for order in [Order::Rfc, Order::Document] {
            let plan = plan_with(&["$..a"], PlanOptions::new().order(order));
            let mut wants = Wants::default();
            wants.events = vec![true];
            let mut scratch = Scratch::new();
            let mut cursor = Cursor::new(objects.as_bytes(), &deep_config(Validation::Strict));
            let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
            matcher.next_record().unwrap();
            let (mut left, mut events) = (0, 0);
            while let Some(step) = matcher.advance().unwrap() {
                left += usize::from(matches!(step, Step::Leave { .. }));
                events += usize::from(matches!(step, Step::Event(_)));
            }
            assert_eq!((left, events), (DEEP, 3 * (DEEP - 1) + 1), "{order:?}");
        }
    });
}

/// R8: deeper input is rejected at the limit, regardless of its length.
#[test]
fn depth_is_bounded() {
    on_a_small_stack(|| {
        for validation in [Validation::Strict, Validation::Structural] {
            for query in ["$..*", "$.a", "$[?@[0]]", "$[-1]", "$"] {
                let reader = Repeat::depth("[", 1_000_000_000);
                let config = Config::new().validation(validation);
                let mut cursor = Cursor::from_reader(reader, Framing::Single, &config);
                let error = run(&plan(&[query]), &mut cursor).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Limit(Limit::Depth(10_000)), "{query}, {validation:?}");
                assert_eq!(error.offset(), 10_000, "{query}, {validation:?}");
            }
        }
    });
}

/// R8: filters at the maximum nesting are evaluated on a small stack.
#[test]
fn nested_filters_take_little_stack() {
    on_a_small_stack(|| {
        let levels = 127;
        let query = format!("${}{}", "[?@".repeat(levels), "]".repeat(levels));
        let deep = ["[".repeat(levels), "]".repeat(levels)].concat();
        assert_eq!(counts(&any(&[&query]), &mut Cursor::new(deep.as_bytes(), &Config::new()))[0].0, 0);
        let deeper = ["[".repeat(levels + 1), "]".repeat(levels + 1)].concat();
        assert_eq!(counts(&any(&[&query]), &mut Cursor::new(deeper.as_bytes(), &Config::new()))[0].0, 1);
        let query = format!("${}{}", "[?length(value(@[?count(@".repeat(25), "..*)>0]))>=0]".repeat(25));
        let plan = any(&[&query]);
        counts(&plan, &mut Cursor::new(deeper.as_bytes(), &Config::new()));
    });
}

/// Deep equality takes no stack either.
#[test]
fn deep_values_are_compared() {
    on_a_small_stack(|| {
        let deep = |leaf: &str| ["[".repeat(DEEP / 2), leaf.to_owned(), "]".repeat(DEEP / 2)].concat();
        let document = format!("[{},{},{}]", deep("1"), deep("1.0"), deep("2"));
        for validation in [Validation::Strict, Validation::Structural] {
            let mut cursor = Cursor::new(document.as_bytes(), &deep_config(validation));
            assert_eq!(counts(&any(&["$[?@ == $[0]]"]), &mut cursor)[0].0, 2, "{validation:?}");
        }
        let levels = 1_000;
        let deep =
            |leaf: &str| [r#"{"b":0,"a":"#.repeat(levels), leaf.to_owned(), "}".repeat(levels)].concat();
        let other = [r#"{"a":"#.repeat(levels), "1".to_owned(), r#","b":0}"#.repeat(levels)].concat();
        let document = format!("[{},{other},{}]", deep("1"), deep("[]"));
        let mut cursor = Cursor::new(document.as_bytes(), &Config::new());
        assert_eq!(counts(&any(&["$[?@ == $[0]]"]), &mut cursor)[0].0, 2);
    });
}

/// Returns the binomial coefficient: the number of subsets of size `of` out of `from` elements.
fn choose(from: u64, of: u64) -> u64 {
    (1..=of).fold(1, |ways, step| ways * (from - step + 1) / step)
}

/// Descendants of descendants of descendants are counted without being listed.
#[test]
fn counts_exponentially_many_derivations() {
    let levels = 1000;
    let document = ["[".repeat(levels), "]".repeat(levels)].concat();
    for (query, count) in [
        ("$..*", choose(999, 1)),
        ("$..*..*", choose(999, 2)),
        ("$..*..*..*", choose(999, 3)),
        ("$..*..*..*..*", choose(999, 4)),
        ("$..[0]..[0,0]..*", choose(999, 3) * 2),
    ] {
        let counted = counts(&any(&[query]), &mut Cursor::new(document.as_bytes(), &Config::new()));
        assert_eq!(counted[0].0, count, "{query}");
    }
    // The same in a filter.
    let filter = format!("$[?count(@..*..*..*) == {}]", choose(998, 3));
    assert_eq!(counts(&any(&[&filter]), &mut Cursor::new(document.as_bytes(), &Config::new()))[0].0, 1);
}

/// Counts saturate at the largest number.
#[test]
fn counts_saturate() {
    let levels = 300;
    let document = ["[".repeat(levels), "]".repeat(levels)].concat();
    let (most, steps) = (u64::MAX.to_string(), "..*".repeat(100));
    let plan = any(&[&format!("$[?count(@{steps}) == {most}]"), &format!("${steps}")]);
    let (mut scratch, wants) = (Scratch::new(), Wants::default());
    let mut cursor = Cursor::new(document.as_bytes(), &Config::new());
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    matcher.next_record().unwrap();
    let (mut first, mut largest) = (0, 0);
    while let Some(step) = matcher.advance().unwrap() {
        if let Step::Enter { query, times } = step {
            first += u64::from(query.index() == 0);
            largest = largest.max(times);
        }
    }
    assert_eq!((first, largest), (1, u64::MAX));
}

/// In RFC order, each derivation has a position of its own, but only derivations of selected nodes
/// are enumerated.
#[test]
fn derivations_without_nodes_cost_nothing() {
    let levels = 2000;
    let document = ["[".repeat(levels), "]".repeat(levels)].concat();
    for query in ["$..*..*..*..*..x", "$..[0,0,0]..[0,0,0]..[0,0,0]..x", "$..*..*..*..*..*..*..*[?@ == 1]"] {
        assert!(select(&document, query).is_empty(), "{query}");
    }
    // One node has two to the power of twelve derivations.
    let twice = "[*,*]".repeat(12);
    let document = ["[".repeat(13), "]".repeat(13)].concat();
    assert_eq!(select(&document, &format!("${twice}")), vec!["[]"; 1 << 12]);
}

/// In RFC order, repeated derivations are sorted by each selector on the way.
#[test]
fn derivations_are_sorted() {
    let document = "[[1,2],[3,4]]";
    assert_eq!(select(document, "$[1,0][1,0]"), ["4", "3", "2", "1"]);
    assert_eq!(select(document, "$[*,0][*,0]"), ["1", "2", "1", "3", "4", "3", "1", "2", "1"]);
    let all = select_with(document, "$[*,0][*,0]", PlanOptions::new().order(Order::Document));
    assert_eq!(all, ["1", "1", "1", "1", "2", "2", "3", "3", "4"]);
}

/// The maximum number of selectors in a query, and a large number of queries.
#[test]
fn wide_queries() {
    let document = format!("[{}]", (0..5000).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let reversed: Vec<String> = (0..4000).rev().map(|n| n.to_string()).collect();
    let found = select(&document, &format!("$[{}]", reversed.join(",")));
    assert_eq!(found, reversed);
    let object: Vec<String> = (0..2000).map(|n| format!(r#""n{n}":{n}"#)).collect();
    let object = format!("{{{}}}", object.join(","));
    let queries: Vec<String> = (0..1000).map(|n| format!("$.n{}", n * 2)).collect();
    let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
    let nodes = run(&plan(&queries), &mut Cursor::new(object.as_bytes(), &Config::new())).unwrap();
    for (n, nodes) in nodes.iter().enumerate() {
        assert_eq!(texts(nodes, object.as_bytes()), [(n * 2).to_string()]);
    }
}

/// The maximum number of segments in a query.
#[test]
fn long_queries() {
    let levels = 2000;
    let document = [r#"{"a":"#.repeat(levels), "1".to_owned(), "}".repeat(levels)].concat();
    assert_eq!(select(&document, &format!("${}", ".a".repeat(levels))), ["1"]);
    // Each level may have any of the states: at most levels times segments are live.
    let query = format!("${}", "..a".repeat(200));
    let counted = counts(&any(&[&query]), &mut Cursor::new(document.as_bytes(), &Config::new()));
    assert!(counted[0].0 > 1 << 60);
}

/// A filter inside filters is evaluated once per node, however many ancestors need the outcome.
#[test]
fn nested_descendant_filters_do_not_explode() {
    let levels = 200;
    let document = [r#"{"a":"#.repeat(levels), "[1]".to_owned(), "}".repeat(levels)].concat();
    for nesting in [2, 5, 10] {
        let query = |leaf: &str| {
            format!("$..[?@{leaf}{}", "]".repeat(nesting))
                .replace("$..[?@", &["$", &"..[?@".repeat(nesting)].concat())
        };
        let found = |leaf: &str| {
            let mut cursor = Cursor::new(document.as_bytes(), &Config::new());
            counts(&any(&[&query(leaf)]), &mut cursor)[0].0
        };
        assert_eq!(found(".x"), 0);
        assert_eq!(found("[0]"), (levels - nesting + 1) as u64);
    }
    // At the same offset, another record can have another outcome.
    let lines = "[[[[1]]]]\n[[[[2]]]]\n";
    let plan = any(&["$..[?@..[?@ == 1]]"]);
    for framing in [Framing::Lines, Framing::Concatenated] {
        let view = trommel_reader::View::new(lines.as_bytes());
        let (mut scratch, wants) = (Scratch::new(), Wants::default());
        let mut cursor = Cursor::from_view(view, framing, &Config::new());
        let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
        let mut entered = Vec::new();
        while matcher.next_record().unwrap() {
            let mut count = 0;
            while let Some(step) = matcher.advance().unwrap() {
                count += usize::from(matches!(step, Step::Enter { .. }));
            }
            entered.push(count);
        }
        assert_eq!(entered, [3, 0]);
    }
}
