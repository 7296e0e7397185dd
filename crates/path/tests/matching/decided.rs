//! The matcher leaves a decided record at once, without reading or validating the rest.

use std::sync::atomic::AtomicUsize;

use trommel_path::{Duplicates, Order, PlanOptions, Scratch, Step};
use trommel_reader::{Config, Cursor, Framing, Validation};

use crate::support::{Fence, plan_with, run, stream, texts, wants_all};

/// Documents that are decided at the bar, with the nodes selected before it. Any bytes may follow
/// the bar.
const DECIDED: [(&str, &str, &[&str]); 17] = [
    ("$.a", r#"{"a":1,|"#, &["1"]),
    ("$.a", r#"{"b":[2],"a":{"x":[]}|"#, &[r#"{"x":[]}"#]),
    ("$['a','b']", r#"{"b":1,"c":2,"a":"x"|"#, &["\"x\"", "1"]),
    ("$['a','a']", r#"{"a":"x"|"#, &["\"x\"", "\"x\""]),
    ("$[0]", "[[1]|", &["[1]"]),
    ("$[1,0]", "[[1],[2]|", &["[2]", "[1]"]),
    ("$[1:3]", "[0,1,\"\"|", &["1", "\"\""]),
    ("$[0::2][0]", "[[1],[2],[3]]|", &["1", "3"]),
    ("$[::2]['a']", r#"[{"a":1},2]|"#, &["1"]),
    ("$.a.b.c", r#"{"a":{"b":{"c":"d"|"#, &["\"d\""]),
    ("$[2].a[1]", r#"[0,1,{"a":[2,"3"|"#, &["\"3\""]),
    ("$.a.b['d','c']", r#"{"a":{"b":{"c":1,"d":[]|"#, &["[]", "1"]),
    ("$.a[?@.b]", r#"{"a":[{"b":1},{"c":2}]|"#, &[r#"{"b":1}"#]),
    ("$.a..b", r#"{"a":{"b":[{"b":"x"}]}|"#, &[r#"[{"b":"x"}]"#, "\"x\""]),
    ("$.a[-1]", r#"{"a":[1,2]|"#, &["2"]),
    ("$.a.b", r#"{"a":"b"|"#, &[]),
    ("$[0:0]", "   [|", &[]),
];

/// Documents that are not decided at the bar, with the nodes selected before it.
const UNDECIDED: [(&str, &str, &[&str]); 8] = [
    ("$.a", r#"{"b":1}|"#, &[]),
    ("$.*", r#"{"a":1}|"#, &["1"]),
    ("$[1:]", "[1,2]|", &["2"]),
    ("$..a", r#"{"a":1,"b":2}|"#, &["1"]),
    ("$[?@ == 1]", "[1,2]|", &["1"]),
    ("$['a','c']", r#"{"a":1,"b":2}|"#, &["1"]),
    ("$", "[1]|", &["[1]"]),
    ("$[0]['a']", r#"[{"b":1}|"#, &[]),
];

/// Reads up to the bar and no further. Returns the selected nodes.
fn up_to_the_bar(query: &str, text: &str, options: PlanOptions, validation: Validation) -> Vec<String> {
    let (read, unread) = text.split_once('|').unwrap();
    let whole = [read, unread].concat();
    let allowed = AtomicUsize::new(read.len());
    let plan = plan_with(&[query], options);
    let nodes = run(&plan, &mut stream(Fence::new(whole.as_bytes(), &allowed), Framing::Single, validation));
    let nodes = nodes.unwrap_or_else(|error| panic!("{query} on {text}: {error}"));
    texts(&nodes[0], read.as_bytes()).into_iter().map(str::to_owned).collect()
}

#[test]
fn leaves_decided_documents() {
    for validation in [Validation::Strict, Validation::Structural] {
        for (query, document, selected) in DECIDED {
            for rest in [" never read", "\u{1} \u{2}", "]]]}}", "\"", ""] {
                // If the document is decided and no more bytes follow, its missing end is not
                // noticed either.
                let document = format!("{document}{rest}");
                let found = up_to_the_bar(query, &document, PlanOptions::new(), validation);
                assert_eq!(found, selected, "{query} on {document}, {validation:?}");
            }
        }
    }
}

/// A slice is left at the same position, so invalid bytes after it are not an error.
#[test]
fn ignores_invalid_bytes_after_the_decision() {
    for (query, document, selected) in DECIDED {
        let document = document.replace('|', " \u{1}]}:,\"");
        let plan = plan_with(&[query], PlanOptions::new());
        let nodes = run(&plan, &mut Cursor::new(document.as_bytes(), &Config::new()));
        let nodes = nodes.unwrap_or_else(|error| panic!("{query} on {document}: {error}"));
        assert_eq!(texts(&nodes[0], document.as_bytes()), selected, "{query} on {document}");
    }
}

#[test]
fn reads_values_that_may_matter() {
    for (query, document, selected) in UNDECIDED {
        let plan = plan_with(&[query], PlanOptions::new());
        let whole = document.replace('|', "");
        let nodes = run(&plan, &mut Cursor::new(whole.as_bytes(), &Config::new()));
        assert_eq!(texts(&nodes.unwrap()[0], whole.as_bytes()), selected, "{query} on {document}");
        // Without its last byte, the document is found to be incomplete.
        let cut = &whole.as_bytes()[..whole.len() - 1];
        if query != "$[0]['a']" {
            assert!(run(&plan, &mut Cursor::new(cut, &Config::new())).is_err(), "{query} on {document}");
        }
    }
}

/// If every member of a name counts, finding one decides nothing.
#[test]
fn searches_for_duplicates_to_the_end() {
    let all = PlanOptions::new().duplicates(Duplicates::All);
    for (query, document, selected) in [
        ("$.a", r#"{"a":1,"b":2,"a":3}"#, vec!["1", "3"]),
        ("$['a','b']", r#"{"a":1,"b":2,"a":3,"b":4}"#, vec!["1", "3", "2", "4"]),
        ("$.a.b", r#"{"a":{"b":1,"b":2},"a":{"b":3}}"#, vec!["1", "2", "3"]),
    ] {
        let plan = plan_with(&[query], all);
        let nodes = run(&plan, &mut Cursor::new(document.as_bytes(), &Config::new())).unwrap();
        assert_eq!(texts(&nodes[0], document.as_bytes()), selected, "{query}");
        let cut = &document.as_bytes()[..document.len() - 1];
        assert!(run(&plan, &mut Cursor::new(cut, &Config::new())).is_err(), "{query}");
    }
    // An index does not depend on names.
    assert_eq!(up_to_the_bar("$[0]", "[\"x\"|,", all, Validation::Strict), ["\"x\""]);
}

/// All queries of a plan must be decided.
#[test]
fn a_plan_is_decided_by_its_last_query() {
    let text = br#"{"a":1,"b":{"c":2,"d":3},"e":4}"#;
    let allowed = AtomicUsize::new(br#"{"a":1,"b":{"c":2,"d":"#.len() + 2);
    let plan = plan_with(&["$.a", "$.b.d", "$.b.c"], PlanOptions::new());
    let nodes =
        run(&plan, &mut stream(Fence::new(text, &allowed), Framing::Single, Validation::Strict)).unwrap();
    let found: Vec<_> = nodes.iter().map(|nodes| texts(nodes, text)).collect();
    assert_eq!(found, [vec!["1"], vec!["3"], vec!["2"]]);
}

/// An open region is read to its end, which is part of the answer.
#[test]
fn an_open_region_is_read_to_its_end() {
    for order in [Order::Rfc, Order::Document, Order::Any] {
        let options = PlanOptions::new().order(order);
        let plan = plan_with(&["$.a", "$.a.b"], options);
        let text = br#"{"a":{"b":1,"c":2},"d" "#;
        let nodes = run(&plan, &mut Cursor::new(text, &Config::new())).unwrap();
        assert_eq!([texts(&nodes[0], text), texts(&nodes[1], text)], [[r#"{"b":1,"c":2}"#], ["1"]]);
        assert!(run(&plan, &mut Cursor::new(br#"{"a":{"b":1,"c":2"#, &Config::new())).is_err());
    }
}

/// A decided line is left: structural validation does not check the rest, and strict validation
/// does. Both read the next line.
#[test]
fn leaves_decided_lines() {
    let lines = "{\"a\":1,garbage}\n{\"a\":[2],]]]\n\n{\"b\":0}\n{\"a\":\"3\"\"\n{\"a\":4";
    let plan = plan_with(&["$.a"], PlanOptions::new());
    for (validation, bad) in [(Validation::Strict, &[0, 1, 3, 4][..]), (Validation::Structural, &[])] {
        let (mut scratch, wants) = (Scratch::new(), wants_all(&plan));
        let mut cursor = stream(lines.as_bytes(), Framing::Lines, validation);
        let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
        let (mut found, mut errors) = (Vec::new(), Vec::new());
        loop {
            let next = matcher.next_record();
            if next.is_err() {
                errors.push(matcher.cursor().record());
                continue;
            }
            if !next.unwrap() {
                break;
            }
            while let Some(step) = matcher.advance().unwrap() {
                if let Step::Leave { span, .. } = step {
                    let bytes = matcher.cursor().bytes(span).unwrap();
                    found.push((matcher.cursor().record(), String::from_utf8(bytes.to_vec()).unwrap()));
                }
            }
            assert_eq!(matcher.advance().unwrap(), None, "a decided record stays decided");
        }
        let expected = [(0, "1"), (1, "[2]"), (3, "\"3\""), (4, "4")];
        assert_eq!(found, expected.map(|(record, text)| (record, text.to_owned())), "{validation:?}");
        assert_eq!(errors, bad, "{validation:?}");
    }
}
