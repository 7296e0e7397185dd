//! Bugs of other engines, each named after its report, that this engine does not have.

use trommel_path::{Duplicates, Order, PlanOptions, Query};
use trommel_reader::{Backend, Config, Cursor, Validation};

use crate::support::{expected, feedings, paths, plan, query, run, select, select_with, texts};
use trommel_testkit::naive;

/// rsonquery/rsonpath#971: matches at certain block alignments were missed. Tests a name at every
/// offset within a block of 64 bytes, and matches one after the other in adjacent blocks.
#[test]
fn rsonpath_971_block_edges() {
    let plans = ["$..key", "$[*].key", "$[*]..key", "$[?@.key].key"].map(|query| plan(&[query]));
    for offset in 0..192 {
        for gap in [0, 1, 30, 51, 52, 53, 63, 64, 65, 115, 116, 117, 128] {
            let (before, between) = (" ".repeat(offset), "x".repeat(gap));
            let element = |n: u32| format!(r#"{{"p":"{between}","key":{n},"q":[{n}]}}"#);
            let elements: Vec<String> = (0..6).map(element).collect();
            let document = format!("{before}[{}]", elements.join(","));
            for plan in &plans {
                for backend in Backend::available() {
                    for validation in [Validation::Strict, Validation::Structural] {
                        let config = Config::new().backend(backend).validation(validation);
                        let nodes = run(plan, &mut Cursor::new(document.as_bytes(), &config)).unwrap();
                        let found = texts(&nodes[0], document.as_bytes());
                        assert_eq!(found, ["0", "1", "2", "3", "4", "5"], "{offset}, {gap}, {backend:?}");
                    }
                }
            }
        }
    }
}

/// rsonpath#249: labels longer than a block. The colon may also be far away.
#[test]
fn rsonpath_249_long_labels() {
    for length in 1..=300 {
        let name = "n".repeat(length);
        let colon = " ".repeat(length * 7 % 200);
        let document = format!(r#"{{"{name}x":0,"{name}"{colon}:{colon}{{"{name}":[1]}},"y":2}}"#);
        let text = format!("$..['{name}']");
        let plan = plan(&[&text]);
        for validation in [Validation::Strict, Validation::Structural] {
            let config = Config::new().validation(validation);
            let nodes = run(&plan, &mut Cursor::new(document.as_bytes(), &config)).unwrap();
            let outer = format!("$['{name}']");
            assert_eq!(paths(&nodes[0]), [outer.clone(), format!("{outer}['{name}']")], "{length}");
        }
    }
}

/// rsonpath#281: names that are a single structural character, at the start of the document.
#[test]
fn rsonpath_281_structural_names() {
    for name in ["{", "[", "}", "]", ":", ",", "\\\\", "\\\"", "", "{}", "[]", "\\\"}", "{\\\""] {
        let document = format!(r#"{{"{name}":{{"{name}":[1]}},"b":2}}"#);
        let decoded: String = serde_json::from_str(&format!("\"{name}\"")).unwrap();
        let normalized = naive::normalized_name(&decoded);
        for query in
            [format!("$..[{normalized}]"), format!("$..[?@[{normalized}] || @[0]]"), "$..b".to_owned()]
        {
            let tree = naive::parse(document.as_bytes()).unwrap();
            let wanted = expected(&tree, &crate::support::query(&query), Order::Rfc, Duplicates::First);
            feedings(document.as_bytes(), Validation::Structural, |how, cursor| {
                assert_eq!(run(&plan(&[&query]), cursor).unwrap()[0], wanted, "{query} on {document}, {how}");
            });
        }
    }
}

/// rsonpath PR 788: the document ends directly after a container that was skipped.
#[test]
fn rsonpath_788_end_after_a_skipped_value() {
    for pad in 0..130 {
        for skipped in ["{}", "[]", r#"{"x":[1]}"#, r#"[{"x":"]}"}]"#] {
            let document = format!(r#"{{"p":"{}","a":1,"s":{skipped}}}"#, "x".repeat(pad));
            for query in ["$..a", "$['a','z']", "$.*.z", "$.s.z"] {
                let tree = naive::parse(document.as_bytes()).unwrap();
                let wanted = expected(&tree, &crate::support::query(query), Order::Rfc, Duplicates::First);
                for validation in [Validation::Strict, Validation::Structural] {
                    let config = Config::new().validation(validation);
                    let found = run(&plan(&[query]), &mut Cursor::new(document.as_bytes(), &config)).unwrap();
                    assert_eq!(found[0], wanted, "{query} on {document}");
                }
            }
        }
    }
}

/// rsonpath's documentation: names that are escaped in the document were compared byte by byte and
/// missed.
#[test]
fn rsonpath_escaped_names_are_found() {
    let document = r#"{"\u0061":1,"b\/c":{"\ud83d\ude00":2,"\"":3}}"#;
    assert_eq!(select(document, "$.a"), ["1"]);
    assert_eq!(select(document, "$['b/c']['😀',\"\\\"\"]"), ["2", "3"]);
    assert_eq!(select(document, "$..[?@ == 2 || @ == 1]"), ["1", "2"]);
    assert_eq!(select(r#"{"a":["\u0061b","ab"]}"#, "$.a[?@ == 'ab']"), [r#""\u0061b""#, "\"ab\""]);
}

/// simdjson#1974, #1976, #1977, #2355: missing or surplus bytes after the answer went unnoticed.
/// Here they are errors, unless the answer was decided before.
#[test]
fn simdjson_1974_the_end_is_checked() {
    for document in
        ["[1,2", "[[1,2]", r#"{"a":[1,2]"#, r#"{"a":[1}"#, "[1,2]]", "[1,2]}", "[1,2] 3", "[1,2],"]
    {
        for validation in [Validation::Strict, Validation::Structural] {
            let config = Config::new().validation(validation);
            let mut cursor = Cursor::new(document.as_bytes(), &config);
            let ended = run(&plan(&["$..*"]), &mut cursor).is_err() || cursor.next_record().is_err();
            assert!(ended, "{document}, {validation:?}");
        }
    }
}

/// freestrings/jsonpath#89: `$` inside a filter panicked.
#[test]
fn jsonpath_lib_89_root_in_a_filter() {
    let document = r#"{"limit":2,"list":[1,2,3]}"#;
    assert_eq!(select(document, "$.list[?@ >= $.limit]"), ["2", "3"]);
    assert_eq!(select(document, "$.list[?@ == $.list[1]]"), ["2"]);
    assert_eq!(select(document, "$.list[?$.none]"), [""; 0]);
}

/// `serde_json_path` PR 113 and 123: quotes, backslashes and control characters in normalized
/// paths.
#[test]
fn serde_json_path_123_quotes_in_normalized_paths() {
    let document = r#"{"O'Reilly":1,"\"":2,"\\":3,"\n\t\b\f\r":4,"\u0000\u001f\u007f":5,"é☺":6,"/":7,"":8}"#;
    let nodes = run(&plan(&["$.*"]), &mut Cursor::new(document.as_bytes(), &Config::new())).unwrap();
    let expected = [
        r"$['O\'Reilly']",
        r#"$['"']"#,
        r"$['\\']",
        r"$['\n\t\b\f\r']",
        "$['\\u0000\\u001f\u{7f}']",
        "$['é☺']",
        "$['/']",
        "$['']",
    ];
    assert_eq!(paths(&nodes[0]), expected);
    // Each path is a query that selects only its node.
    for (number, path) in expected.iter().enumerate() {
        assert_eq!(select(document, path), [(number + 1).to_string()], "{path}");
    }
}

/// `serde_json_path` #49: Nothing is equal to Nothing and to no value.
#[test]
fn serde_json_path_49_missing_is_not_null() {
    let document = r#"[{"v":null},{"v":false},{"v":0},{"v":""},{"v":[]},{"v":{}},{}]"#;
    let holds = |filter: &str| {
        let found = select(document, &format!("$[?{filter}]"));
        found.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let all =
        [r#"{"v":null}"#, r#"{"v":false}"#, r#"{"v":0}"#, r#"{"v":""}"#, r#"{"v":[]}"#, r#"{"v":{}}"#, "{}"];
    for (literal, index) in
        [("null", 0), ("false", 1), ("0", 2), ("''", 3), ("$[4].v", 4), ("$[5].v", 5), ("@.w", 6)]
    {
        let others: Vec<&str> =
            all.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, text)| *text).collect();
        assert_eq!(holds(&format!("@.v == {literal}")), [all[index]], "{literal}");
        assert_eq!(holds(&format!("{literal} == @.v")), [all[index]], "{literal}");
        assert_eq!(holds(&format!("@.v != {literal}")), others, "{literal}");
        assert_eq!(holds(&format!("@.v <= {literal}")), [all[index]], "{literal}");
        assert_eq!(holds(&format!("@.v >= {literal}")), [all[index]], "{literal}");
        assert!(holds(&format!("@.v < {literal}")).is_empty(), "{literal}");
        assert!(holds(&format!("@.v > {literal}")).is_empty(), "{literal}");
    }
    assert_eq!(holds("@.v"), all[..6]);
    assert_eq!(holds("!@.v"), ["{}"]);
    assert_eq!(holds("length(@.v) == @.w"), [all[0], all[1], all[2], all[6]]);
    assert_eq!(holds("value(@..x) == value(@..y)"), all);
}

/// RedisJSON#968: a node that is selected twice occurs in the list twice.
#[test]
fn redisjson_968_duplicates_are_kept() {
    let document = r#"{"a":{"b":{"a":{"b":1}}}}"#;
    assert_eq!(select(document, "$..a..b"), [r#"{"a":{"b":1}}"#, "1", "1"]);
    assert_eq!(select(document, "$..[?@.b]..[?@.b]"), [r#"{"b":1}"#]);
    assert_eq!(select("[[1,1]]", "$..[?@ == 1]"), ["1", "1"]);
    assert_eq!(select("[7]", "$[0,0,-1,*,?@]"), ["7"; 5]);
}

/// `serde_json_path` 0.7: `-0` as an index and numbers beyond a double were refused or rounded.
#[test]
fn numbers_beyond_a_double() {
    let document = "[1e400,1E400,10e399,2e400,-1e400,9007199254740993,9007199254740992,0.1,0.10,1e-400,0,-0]";
    assert_eq!(select(document, "$[?@ == 1e400]"), ["1e400", "1E400", "10e399"]);
    assert_eq!(select(document, "$[?@ > 1e400]"), ["2e400"]);
    assert_eq!(select(document, "$[?@ == 9007199254740993]"), ["9007199254740993"]);
    assert_eq!(select(document, "$[?@ == 0.1]"), ["0.1", "0.10"]);
    assert_eq!(select(document, "$[?@ == -0.0]"), ["0", "-0"]);
    assert_eq!(select(document, "$[?@ > 0 && @ < 0.1]"), ["1e-400"]);
}

/// simd-lite/simd-json#455 and similar reports: numbers across block boundaries keep their value.
#[test]
fn simd_json_455_numbers_across_blocks() {
    for pad in 0..130 {
        for number in ["3077999.0", "1082.08", "123456789012345678901234567890", "-1.5e-300", "0.6"] {
            let document = format!(r#"{{"p":"{}","n":{number},"q":[{number}]}}"#, "x".repeat(pad));
            assert_eq!(select(&document, &format!("$..[?@ == {number}]")), [number; 2], "{document}");
        }
    }
}

/// A multi-byte character is split at the end of a read and of a window.
#[test]
fn characters_across_reads() {
    let document = format!(r#"{{"{}é":["😀{}é","ü"],"z":"日本"}}"#, "x".repeat(58), "y".repeat(59));
    for text in ["$..[?@ == 'ü']", "$.z", "$[?length(@) == 2]", "$..[?match(@, '.y+é')]"] {
        let tree = naive::parse(document.as_bytes()).unwrap();
        let wanted = expected(&tree, &query(text), Order::Rfc, Duplicates::First);
        assert!(!wanted.is_empty(), "{text}");
        feedings(document.as_bytes(), Validation::Strict, |how, cursor| {
            assert_eq!(run(&plan(&[text]), cursor).unwrap()[0], wanted, "{text}, {how}");
        });
    }
}

/// Names are compared as a whole: a name that contains another is a different name.
#[test]
fn names_are_compared_whole() {
    let document = r#"{"a":1,"ab":2,"b":3,"":4,"A":5,"a ":6,"á":7,"a\u0301":8}"#;
    for (name, value) in [("a", "1"), ("ab", "2"), ("b", "3"), ("", "4"), ("A", "5"), ("a ", "6"), ("á", "7")]
    {
        assert_eq!(select(document, &format!("$['{name}']")), [value], "{name}");
        let all = PlanOptions::new().duplicates(Duplicates::All);
        assert_eq!(select_with(document, &format!("$..['{name}']"), all), [value], "{name}");
    }
    assert_eq!(select(document, "$['a\u{301}']"), ["8"]);
}

/// Reports like ponylang/ponyc#5606 and json-path/JsonPath#892: deep nesting in a query is rejected
/// without a crash.
#[test]
fn nested_parentheses_are_refused() {
    let deep = format!("$[?{}@{}]", "(".repeat(20_000), ")".repeat(20_000));
    assert!(deep.parse::<Query>().is_err());
}
