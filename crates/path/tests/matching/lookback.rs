//! Looking ahead and back on a stream: filters, lengths, and `$` in filters. Bytes that must stay
//! readable are held in memory, and beyond a limit in a temporary file, which does not affect the
//! answer.

use std::fmt::Write as _;

use trommel_path::{Order, PlanOptions};
use trommel_reader::{Config, Cursor, ErrorKind, Framing, Limit, Limits, Validation};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::naive;

use crate::support::{expected, plan, plan_with, query, run, stream, texts};

/// Returns a document much larger than the window: records of different sizes, and at the end the
/// values that filters compare with.
fn records(count: usize) -> String {
    let mut text = String::from("{\"records\":[");
    for number in 0..count {
        let pad = "x".repeat(number * 37 % 1500);
        let _ = write!(
            text,
            r#"{{"id":{number},"pad":"{pad}","tags":[{number},{{"deep":[[{}]]}}],"kind":"{}"}},"#,
            number % 7,
            if number % 3 == 0 { "a" } else { "b" }
        );
    }
    text.pop();
    text.push_str("],\"wanted\":\"a\",\"limit\":5,\"list\":[1,2,3]}");
    text
}

const QUERIES: [&str; 16] = [
    "$.records[-1].id",
    "$.records[-3:].id",
    "$.records[::-7].id",
    "$.records[-1,0,2].tags[-1].deep[0][0]",
    "$.records[?@.kind == $.wanted].id",
    "$.records[?@.tags[-1].deep[0][0] == $.limit].id",
    "$.records[?@.kind == 'b' && @.tags[0] > 90].id",
    "$.records[?length(@.pad) > 1400].id",
    "$.records[?@.tags[?@ == 4]].id",
    "$.records[?count(@..*) == 9].id",
    "$.records[?@.tags[1].deep == $.records[0].tags[1].deep].id",
    "$.records[?count($.list[*]) == @.id].kind",
    "$..deep[?@[0] == $.list[-1]][0]",
    "$..[?@.deep].deep[0]",
    "$[?@[?@.id == 3]][?@.id > 4].id",
    "$.records[?search(@.pad, '^x{1000,}$')]['kind','id']",
];

/// All queries on streams, with little and with minimal memory for held bytes.
#[test]
fn holding_does_not_change_the_answer() {
    let document = records(120);
    let tree = naive::parse(document.as_bytes()).unwrap();
    for text in QUERIES {
        let query = query(text);
        for order in [Order::Rfc, Order::Document] {
            let plan = plan_with(&[text], PlanOptions::new().order(order));
            let wanted = expected(&tree, &query, order, trommel_path::Duplicates::First);
            assert!(!wanted.is_empty(), "{text} selects something");
            for (held_bytes, size) in [(16 << 20, 4096), (4096, 4096), (64, 63), (0, 1000)] {
                for validation in [Validation::Strict, Validation::Structural] {
                    let mut limits = Limits::default();
                    limits.held_bytes = held_bytes;
                    let config = Config::new().limits(limits).validation(validation).window(64);
                    let reader = Chunks::new(document.as_bytes(), &[size]);
                    let found =
                        run(&plan, &mut Cursor::from_reader(reader, Framing::Single, &config)).unwrap();
                    assert_eq!(
                        found[0], wanted,
                        "{text}, {order:?}, {held_bytes} bytes held, {validation:?}"
                    );
                }
            }
        }
    }
}

/// The same with all queries in one pass.
#[test]
fn holding_for_one_query_does_not_affect_another() {
    let document = records(60);
    let tree = naive::parse(document.as_bytes()).unwrap();
    let plan = plan(&QUERIES);
    let mut limits = Limits::default();
    limits.held_bytes = 4096;
    let config = Config::new().limits(limits).window(64);
    let reader = Chunks::new(document.as_bytes(), &[777]);
    let found = run(&plan, &mut Cursor::from_reader(reader, Framing::Single, &config)).unwrap();
    for (text, nodes) in QUERIES.iter().zip(&found) {
        let wanted = expected(&tree, &query(text), Order::Rfc, trommel_path::Duplicates::First);
        assert_eq!(*nodes, wanted, "{text}");
    }
}

/// Exceeding the limit of the temporary file is an error that names the limit.
#[test]
fn the_spool_has_a_limit() {
    let document = records(400);
    for (text, needs) in [
        ("$.records[-1].id", true),
        ("$.records[?@.kind == $.wanted].id", true),
        ("$[?length(@) == 400][0].id", true),
        ("$.records[*].id", false),
        ("$.records[?@.kind == 'a'].id", false),
        ("$.records[*].tags[-1]", false),
    ] {
        let mut limits = Limits::default();
        (limits.held_bytes, limits.spool_bytes) = (4096, 20_000);
        let config = Config::new().limits(limits).window(64);
        let reader = Chunks::new(document.as_bytes(), &[1000]);
        let outcome = run(&plan(&[text]), &mut Cursor::from_reader(reader, Framing::Single, &config));
        match outcome {
            Ok(nodes) => assert!(!needs && !nodes[0].is_empty(), "{text}"),
            Err(error) => {
                assert!(needs, "{text}: {error}");
                assert_eq!(error.kind(), ErrorKind::Limit(Limit::SpoolBytes(20_000)), "{text}");
            }
        }
    }
}

/// `$` inside a filter is evaluated once per record, on that record.
#[test]
fn roots_are_those_of_each_record() {
    let records = concat!(
        r#"{"list":[{"id":1},{"id":2}],"wanted":2}"#,
        "\n",
        r#"{"list":[{"id":1},{"id":2}],"wanted":1}"#,
        "\n",
        r#"{"list":[{"id":1},{"id":2}]}"#,
        "\n",
        r#"{"list":[{"id":1},{}]}"#,
    );
    let plan = plan(&["$.list[?@.id == $.wanted]"]);
    for framing in [Framing::Lines, Framing::Concatenated, Framing::Auto] {
        let (mut scratch, wants) = (trommel_path::Scratch::new(), crate::support::wants_all(&plan));
        let mut cursor = stream(records.as_bytes(), framing, Validation::Strict);
        let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
        let mut found = Vec::new();
        while matcher.next_record().unwrap() {
            let nodes = crate::support::record(&plan, &mut matcher).unwrap();
            found.push(texts(&nodes[0], records.as_bytes()));
        }
        // Two missing values are equal, as the RFC requires.
        assert_eq!(found, [vec![r#"{"id":2}"#], vec![r#"{"id":1}"#], vec![], vec!["{}"]], "{framing:?}");
    }
}

/// Queries from `$` inside queries from `$`.
#[test]
fn roots_within_roots() {
    let document = r#"{"a":[{"k":1,"n":"x"},{"k":2,"n":"y"}],"m":{"k":2},"o":["y"]}"#;
    for (query, selected) in [
        ("$.a[?@.n == $.o[0]].k", vec!["2"]),
        ("$.a[?@.k == $.m.k].n", vec!["\"y\""]),
        ("$.o[?@ == value($.a[?@.k == $.m.k].n)]", vec!["\"y\""]),
        ("$.a[?$.a[?@.k == $.m.k]].n", vec!["\"x\"", "\"y\""]),
        ("$.a[?$.a[?@.k == $.m.z]].n", vec![]),
        ("$.a[?count($..k) == 3].n", vec!["\"x\"", "\"y\""]),
        ("$.a[?!$.z].n", vec!["\"x\"", "\"y\""]),
        ("$.a[?$].n", vec!["\"x\"", "\"y\""]),
    ] {
        assert_eq!(crate::support::select(document, query), selected, "{query}");
        let nodes =
            run(&plan(&[query]), &mut stream(document.as_bytes(), Framing::Single, Validation::Strict));
        assert_eq!(texts(&nodes.unwrap()[0], document.as_bytes()), selected, "{query} on a stream");
    }
}

/// All indices and slices relative to the length of the array, on streams.
#[test]
fn indices_and_slices_from_the_end() {
    let document = "[0,[1],22,\"3\",{\"four\":4}]";
    let tree = naive::parse(document.as_bytes()).unwrap();
    let parts =
        ["", "0", "1", "4", "5", "9", "-1", "-4", "-5", "-6", "9007199254740991", "-9007199254740991"];
    let mut texts: Vec<String> = parts[1..].iter().map(|index| format!("$[{index}]")).collect();
    for (start, end) in parts.iter().flat_map(|start| parts.map(|end| (start, end))) {
        for step in ["", "1", "2", "3", "-1", "-2", "0", "9007199254740991", "-9007199254740991"] {
            texts.push(format!("$[{start}:{end}:{step}]"));
        }
    }
    for text in texts {
        let wanted = expected(&tree, &query(&text), Order::Rfc, trommel_path::Duplicates::First);
        let mut cursor =
            stream(Chunks::new(document.as_bytes(), &[3]), Framing::Single, Validation::Structural);
        assert_eq!(run(&plan(&[&text]), &mut cursor).unwrap()[0], wanted, "{text}");
    }
}

/// In long arrays, the matcher goes directly to the last elements, alone and with other queries.
#[test]
fn last_elements_of_long_arrays() {
    for length in [0, 1, 14, 15, 16, 17, 18, 40, 100] {
        let elements: Vec<String> = (0..length).map(|number| format!("{{\"a\":[{number},[]]}}")).collect();
        let document = format!("[[{}],7]", elements.join(" , "));
        let tree = naive::parse(document.as_bytes()).unwrap();
        for last in [1, 2, 14, 15, 16, 17, 39, 41] {
            for text in [
                format!("$[0][-{last}]"),
                format!("$[0][-{last}].a[-1:]"),
                format!("$[0][-{last}:]"),
                format!("$[0][-{last}::-2]"),
                format!("$[0][-1, -{last}, 3]"),
                format!("$..[-{last}]"),
                format!("$[0][-{last}, ?@.a[-1]]"),
                format!("$[?@[-{last}].a[-2] == {}]", length - last),
            ] {
                let wanted = expected(&tree, &query(&text), Order::Rfc, trommel_path::Duplicates::First);
                let mut cursor =
                    stream(Chunks::new(document.as_bytes(), &[7]), Framing::Single, Validation::Structural);
                let found = run(&plan(&[&text, "$[1]"]), &mut cursor).unwrap();
                assert_eq!((&found[0], found[1].len()), (&wanted, 1), "{text} of {length}");
            }
        }
    }
}
