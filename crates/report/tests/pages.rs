//! Pages as an independent parser of HTML reads them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use serde_json::{Value, json};
use trommel::{Analysis, Answer, Document, Measure, Stats, StatsAnswer};
use trommel_answer::StatsText;
use trommel_report::{Cell, Comparison, Example, Report, Sections, Table, readable};
use trommel_tool::Redaction;

/// An element: its name, its attributes, and the text in it.
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
}

/// All elements of a page, and the errors of the parser.
fn elements(page: &str) -> Vec<Element> {
    let dom = parse_document(RcDom::default(), ParseOpts::default()).one(page);
    assert_eq!(*dom.errors.borrow(), Vec::<std::borrow::Cow<'static, str>>::new());
    let mut found = Vec::new();
    collect(&dom.document, &mut found);
    found
}

fn collect(node: &Handle, found: &mut Vec<Element>) {
    if let NodeData::Element { name, attrs, .. } = &node.data {
        let attributes = attrs.borrow();
        let attributes = attributes.iter().map(|attr| (attr.name.local.to_string(), attr.value.to_string()));
        found.push(Element {
            name: name.local.to_string(),
            attributes: attributes.collect(),
            text: text(node),
        });
    }
    node.children.borrow().iter().for_each(|child| collect(child, found));
}

fn text(node: &Handle) -> String {
    match &node.data {
        NodeData::Text { contents } => contents.borrow().to_string(),
        _ => node.children.borrow().iter().map(text).collect(),
    }
}

fn stats(text: &str) -> StatsAnswer {
    let mut stats = Stats::new();
    (stats.bytes, stats.fields, stats.schema) = (true, true, true);
    (stats.values, stats.histograms, stats.rows) = (true, true, Some(20_000));
    let mut document = Document::from_bytes(text.to_owned());
    let report = Analysis::new().ask(Measure::Stats(stats)).run(&mut document).unwrap();
    match report.answers.into_iter().next() {
        Some(Answer::Stats(stats)) => *stats,
        answer => panic!("{answer:?}"),
    }
}

fn report(text: &str) -> Report {
    let answer = stats(text);
    let coverage = Analysis::new().run(&mut Document::from_bytes(text.to_owned())).unwrap().coverage;
    let mut report = Report::new("data.json", answer, coverage);
    "data.json".clone_into(&mut report.arguments);
    report
}

/// The JSON in a script element.
fn data(elements: &[Element], id: &str) -> Value {
    let script =
        elements.iter().find(|element| element.attributes.get("id").is_some_and(|found| found == id));
    serde_json::from_str(&script.unwrap().text).unwrap()
}

/// Names and values that try to become markup, scripts, or something that people misread.
fn hostile() -> Vec<String> {
    let seeds = [
        "</script><script>trap()</script>",
        "<img src=x onerror=trap()>",
        "<!--<script>",
        "]]><svg onload=trap()>",
        "\" onmouseover=\"trap()",
        "' autofocus onfocus='trap()",
        "javascript:trap()",
        "&lt;script&gt;",
        "\u{202e}evil\u{2066}",
        "\u{0}\u{1b}[2J",
        "\u{2028}\u{2029}",
        "{{constructor.constructor('trap()')()}}",
        "__proto__",
        "constructor",
        "</style><style>@import 'x'",
        "</title><base href=x>",
    ];
    (0..500).map(|number| format!("{}{number}", seeds[number % seeds.len()])).collect()
}

fn hostile_document() -> String {
    let names = hostile();
    // Different types, so that the object is not taken for a map.
    let members: serde_json::Map<String, Value> = names
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let value = if number % 2 == 0 { json!(name) } else { json!([name, {name: name}]) };
            (name.clone(), value)
        })
        .collect();
    Value::Object(members).to_string()
}

#[test]
fn hostile_names_and_values_are_text() {
    let text = hostile_document();
    let mut report = report(&text);
    report.title = hostile().concat();
    report.faults = hostile();
    report.arguments = "'</script>'".to_owned();
    let shown = readable(text.as_bytes(), None).unwrap();
    report.examples = vec![Example { path: hostile()[0].clone(), position: hostile().concat(), text: shown }];
    let page = report.page(usize::MAX).unwrap();
    let found = elements(&page);
    let scripts: Vec<&Element> = found.iter().filter(|element| element.name == "script").collect();
    assert_eq!(scripts.len(), 5);
    let (data, code): (Vec<_>, Vec<_>) =
        scripts.into_iter().partition(|script| script.attributes.contains_key("type"));
    assert_eq!((data.len(), code.len()), (2, 3));
    for script in data {
        assert_eq!(script.attributes["type"], "application/json");
    }
    for script in code {
        assert!(script.attributes.is_empty() && !script.text.contains("trap"));
    }
    assert_eq!(found.iter().filter(|element| element.name == "style").count(), 1);
    for element in &found {
        let Element { name, attributes, .. } = element;
        assert!(!matches!(&**name, "img" | "base" | "iframe" | "object" | "link" | "form"), "{name}");
        assert!(attributes.keys().all(|name| !name.starts_with("on") && name != "style"), "{attributes:?}");
        let links = attributes.iter().filter(|(name, _)| matches!(name.as_str(), "href" | "src"));
        links.for_each(|(_, link)| assert!(link.starts_with('#'), "{link}"));
    }
    // Characters that control or hide text occur in JSON alone, where scripts decode them.
    let unsafe_characters = |c: char| trommel_base::text::is_unsafe(c) && c != '\n';
    let visible =
        found.iter().filter(|element| matches!(&*element.name, "h1" | "p" | "td" | "summary" | "pre"));
    visible.for_each(|element| assert!(!element.text.contains(unsafe_characters), "{}", element.text));
    assert!(found.iter().any(|element| element.name == "pre" && element.text.contains("onerror=trap()")));
}

/// The data of a page are the answer of `stats`, and every path has a row and a section.
#[test]
fn pages_have_all_statistics() {
    let rows = (0..300).map(|n| {
        json!({"id": n, "name": format!("n{}", n % 7), "at": format!("2026-11-{:02}T10:00:00Z", n % 28 + 1),
            "tags": ["a", "b"], "rare": if n % 10 == 0 { json!({"x": n}) } else { json!(null) }})
    });
    let text = json!({"meta": {"page": 1}, "rows": rows.collect::<Vec<_>>()}).to_string();
    let report = report(&text);
    let found = elements(&report.clone().page(usize::MAX).unwrap());
    let expected = serde_json::to_value(StatsText::new(&report.stats).unwrap()).unwrap();
    assert_eq!(data(&found, "stats"), expected);
    let paths: Vec<&str> =
        expected["bytes"].as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert!(paths.len() >= 9, "{paths:?}");
    let has_id =
        |id: &String| found.iter().filter(|element| element.attributes.get("id") == Some(id)).count() == 1;
    for (number, path) in paths.iter().enumerate() {
        assert!(has_id(&format!("p{number}")));
        let links =
            found.iter().filter(|element| element.attributes.get("href") == Some(&format!("#p{number}")));
        assert_eq!(links.map(|link| link.text.as_str()).collect::<Vec<_>>(), [*path]);
    }
    let section = |path: &str| {
        let number = paths.iter().position(|found| *found == path).unwrap();
        let id = format!("p{number}");
        found.iter().find(|element| element.attributes.get("id") == Some(&id)).unwrap().text.clone()
    };
    assert!(section("$.rows[*].at").contains("Times") && section("$.rows[*].at").contains("24"));
    assert!(section("$.rows[*].id").contains("median: 149") && section("$.rows[*].id").contains("0 to 299"));
    assert!(
        section("$.rows[*].name").contains("\"n3\"")
            && section("$.rows[*].name").contains("2 in the shortest")
    );
    assert!(section("$.rows[*].rare").contains("null 90 %"));
    assert!(section("$.rows").contains("trommel extract data.json '$.rows'"));
    // The treemap's parents are the paths that contain.
    let parents = data(&found, "page")["parents"].clone();
    for (number, path) in paths.iter().enumerate().skip(1) {
        let parent = number - parents[number].as_u64().unwrap() as usize;
        assert!(path.starts_with(paths[parent]) && path.len() > paths[parent].len());
    }
}

#[test]
fn pages_stay_within_their_limit() {
    let members = (0..3_000).map(|n| format!(r#""name{n}":{}"#, ["1", "\"a\"", "[true]", "{}"][n % 4]));
    let text = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    let report = report(&text);
    let whole = report.clone().page(usize::MAX).unwrap();
    let rows = |page: &str| data(&elements(page), "stats")["bytes"].as_array().unwrap().len();
    assert_eq!(rows(&whole), trommel_report::MAX_PATHS);
    assert!(whole.contains("the 2,000 largest are shown"), "the page says so");
    let half = report.clone().page(whole.len() / 2).unwrap();
    assert!(half.len() <= whole.len() / 2 && rows(&half) >= 500, "{}", rows(&half));
    let least = report.clone().page(1).unwrap();
    assert_eq!(rows(&least), 1);
    // The paths of a deep document are longer than its page may be.
    let deep = self::report(&format!("{}{}", "[".repeat(1_500), "]".repeat(1_500)));
    let page = deep.page(1 << 20).unwrap();
    assert!(page.len() <= 1 << 20 && rows(&page) > 200, "{}", rows(&page));
    // What takes most of the page is left out before the paths are.
    let mut large = report.clone();
    let text = "<".repeat(whole.len() / 4);
    large.examples = vec![Example { path: "$".to_owned(), position: "number 0".to_owned(), text }];
    let page = large.page(whole.len()).unwrap();
    assert!(page.contains("the examples are left out") && page.contains("JSON Schema"));
    assert!(rows(&page) >= 1_500, "{}", rows(&page));
}

#[test]
fn tables_stay_within_their_limit() {
    let document = |kinds: [&str; 3]| {
        let group = |group: usize| {
            let name = |n: usize| format!("\"{}{group}-{n}\":{}", "<".repeat(800), kinds[n % 3]);
            format!("\"g{group}\":{{{}}}", (0..50).map(name).collect::<Vec<_>>().join(","))
        };
        format!("{{{}}}", (0..60).map(group).collect::<Vec<_>>().join(","))
    };
    let before = report(&document(["1", "\"a\"", "true"]));
    let after = report(&document(["\"b\"", "[1]", "null"]));
    let comparison = Comparison { before, after };
    let rows = |page: &str| elements(page).iter().filter(|element| element.name == "tr").count();
    let whole = comparison.page("Changes", usize::MAX);
    assert!(whole.len() > 4_000_000 && whole.contains("1000 more rows are not shown"), "{}", whole.len());
    assert!(!whole.contains("longer tables end"));
    let page = comparison.page("Changes", trommel_report::MAX_PAGE_BYTES);
    assert!(page.len() <= trommel_report::MAX_PAGE_BYTES && page.len() > 1_000_000, "{}", page.len());
    assert!(page.contains("longer tables end after row ") && rows(&page) > 500, "{}", rows(&page));
    let least = comparison.page("Changes", 0);
    assert!(least.contains("longer tables end after row 1,") && least.len() < 100_000, "{}", least.len());
}

#[test]
fn r25_pages_hold_no_secrets() {
    let key = "ghp_0123456789abcdefghij";
    let rows = (0..30).map(|n| {
        json!({"password": format!("hunter{n}"), "pin": {"secret": 123_456 + n}, "url": "https://u:swordfish@h/",
            "note": format!("token=opensesame{n}"), "tokens": 5})
    });
    let text = json!({"rows": rows.collect::<Vec<_>>(), key: 1}).to_string();
    let mut report = report(&text);
    let open = report.clone().page(usize::MAX).unwrap();
    let secrets = ["hunter1", "swordfish", "opensesame", key, "123456"];
    assert!(secrets.iter().all(|secret| open.contains(secret)));
    report.redact(&Redaction::new());
    let page = report.page(usize::MAX).unwrap();
    for secret in secrets {
        assert!(!page.contains(secret), "{secret}");
    }
    assert!(page.contains("the schema is left out"));
    assert!(page.contains("[redacted]"));
}

#[test]
fn comparisons_show_what_changed() {
    let before = report(r#"{"a":[{"x":1,"old":true},{"x":2,"old":true}],"kind":"s","same":"text"}"#);
    let after = report(r#"{"a":[{"x":1,"new":[1]},{"x":200}],"kind":7,"same":"text"}"#);
    let found = elements(&Comparison { before, after }.page("Changes", usize::MAX));
    let rows: Vec<String> =
        found.iter().filter(|element| element.name == "tr").map(|row| row.text.clone()).collect();
    let has = |parts: &[&str]| rows.iter().any(|row| parts.iter().all(|part| row.contains(part)));
    assert!(has(&["$.a[*].new", "array"]), "{rows:?}");
    assert!(has(&["$.a[*].old", "boolean"]));
    assert!(has(&["$.kind", "string 100 %", "number 100 %"]));
    assert!(has(&["$.a[*].x", "largest", "2", "200", "+9900 %"]));
    assert!(!rows.iter().any(|row| row.contains("$.same") && row.contains("distinct")));
}

#[test]
fn equal_inputs_have_no_changes() {
    let text = r#"{"a":[{"x":1},{"x":2}]}"#;
    let page = Comparison { before: report(text), after: report(text) }.page("Changes", usize::MAX);
    let found = elements(&page);
    assert!(!found.iter().any(|element| element.name == "td"));
    let notes =
        found.iter().filter(|element| element.attributes.get("class").is_some_and(|class| class == "note"));
    assert_eq!(notes.count(), 5);
}

#[test]
fn tables_of_others_are_text_too() {
    let mut page = Sections::new(hostile().concat());
    page.facts = hostile().into_iter().map(|text| (text.clone(), text)).collect();
    let mut table = Table::new("<b>", &["<i>", "n"]);
    table.rows = hostile()
        .into_iter()
        .map(|text| vec![Cell::text(text), Cell::number(1.0, "1").bar(1.0, 2.0)])
        .collect();
    page.tables = vec![table];
    let found = elements(&page.page(usize::MAX));
    assert_eq!(found.iter().filter(|element| element.name == "script").count(), 2);
    assert!(found.iter().all(|element| !matches!(&*element.name, "b" | "i" | "img")));
    assert_eq!(found.iter().filter(|element| element.name == "rect").count(), 500);
}
