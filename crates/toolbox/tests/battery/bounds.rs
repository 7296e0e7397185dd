//! Answers never exceed `max_chars`, report when they are partial, and add up to the whole over all
//! pages.

use std::collections::BTreeSet;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use trommel::path::Query;
use trommel::reader::{Framing, compact};
use trommel::{Analysis, Document, Match};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Layout, Names, Numbers, Shape, document, stream};
use trommel_testkit::naive::Framing as Divided;

use crate::support::{Answer, Bench, members, parsed};

const QUERIES: [&str; 9] = ["$", "$.*", "$..*", "$[*]", "$..a", "$.a", "$[0]", "$..[1,0]", "$..[?@ > 1]"];

fn shape(seed: u64) -> Shape {
    let values = [3, 40, 400][seed as usize % 3];
    let layout = [Layout::Compact, Layout::Pretty, Layout::Random][seed as usize % 3];
    let duplicates = seed.is_multiple_of(4);
    Shape {
        values,
        depth: 5,
        width: 60,
        text: 90,
        names: Names::Odd,
        numbers: Numbers::Wild,
        layout,
        duplicates,
    }
}

/// Returns the values of a query, computed by the engine alone.
fn values(bytes: &[u8], framing: Framing, query: &str, duplicates: bool) -> Vec<String> {
    let mut document = Document::from_bytes(bytes).framing(framing);
    let mut values = Vec::new();
    let mut analysis = Analysis::new().extract(query.parse::<Query>().unwrap());
    if duplicates {
        analysis = analysis.duplicates(trommel::path::Duplicates::All);
    }
    let sink = &mut |found: &Match<'_>| {
        let mut value = Vec::new();
        compact(found.value, &mut value);
        values.push(String::from_utf8(value).unwrap());
        Ok(())
    };
    analysis.run_with(&mut document, sink).unwrap();
    values
}

/// Returns a member of a JSON text, as written.
fn member(text: &str, name: &str) -> Option<Box<RawValue>> {
    let members: Vec<(String, Box<RawValue>)> = members(text);
    members.into_iter().find(|(found, _)| found == name).map(|(_, value)| value)
}

fn elements(text: &str) -> Vec<String> {
    let elements: Vec<Box<RawValue>> = serde_json::from_str(text).unwrap();
    elements.into_iter().map(|element| element.get().to_owned()).collect()
}

/// Asserts that pages equal the whole, except that marks may replace large values.
fn assert_alike(pages: &[String], whole: &[String], context: &str) {
    assert_eq!(pages.len(), whole.len(), "{context}");
    for (page, whole) in pages.iter().zip(whole) {
        assert!(is_like(page, whole), "{context}: {page} for {whole}");
    }
}

fn is_like(page: &str, whole: &str) -> bool {
    page == whole || is_mark_of(page, whole)
}

fn is_mark_of(mark: &str, whole: &str) -> bool {
    let value = parsed(mark);
    let bytes = value["bytes"].as_u64().unwrap_or(u64::MAX);
    value["$truncated"] == true && bytes >= whole.len() as u64 && whole.chars().count() > 20
}

/// Calls a tool. If `max_chars` is too small, repeats the call with the size that the error
/// reports.
fn answer(bench: &Bench, tool: &str, mut arguments: Value) -> Answer {
    loop {
        let result = match bench.tried(tool, arguments.clone()) {
            Ok(answer) => return answer,
            Err(result) => result,
        };
        assert_eq!(result.metadata["code"], "max_chars", "{tool} {arguments}: {:?}", result.error);
        let needed = result.metadata["needed"].as_u64().unwrap();
        assert!(needed > arguments["max_chars"].as_u64().unwrap(), "{tool} {arguments}: {needed}");
        arguments["max_chars"] = json!(needed);
    }
}

fn walk(bench: &Bench, tool: &str, arguments: &Value) -> Vec<Answer> {
    let mut pages = vec![answer(bench, tool, arguments.clone())];
    while let Some(next) = pages.last().unwrap().next() {
        let mut again = arguments.clone();
        again["cursor"] = json!(next);
        let page = answer(bench, tool, again);
        assert_ne!(page.next(), Some(next), "{tool} {arguments} does not end");
        pages.push(page);
    }
    pages
}

fn chars_for(seed: u64) -> u64 {
    [200, 233, 300, 500, 900, 2_500, 100_000][seed as usize % 7]
}

#[test]
fn pages_of_extract_add_up_to_all_values() {
    let bench = Bench::new();
    for seed in 0..cases(21, 3_000) {
        let lines = seed % 5 == 1;
        let (bytes, framing) = if lines {
            (
                stream(seed, &Shape { layout: Layout::OneLine, ..shape(seed) }, Divided::Lines, 5),
                Framing::Lines,
            )
        } else {
            (document(seed, &shape(seed)), Framing::Single)
        };
        let id = format!("extract-{seed}");
        let stored = bench.put(&id, &bytes);
        if stored.framing.is_none_or(|found| found.framing() != framing) {
            continue;
        }
        let query = QUERIES[seed as usize % QUERIES.len()];
        let other = QUERIES[(seed as usize + 4) % QUERIES.len()];
        let all = stored.duplicate_names > 0;
        let whole = [query, other].map(|query| values(&bytes, framing, query, all));
        let arguments = json!({ "id": id, "paths": [query, other], "max_chars": chars_for(seed) });
        by_path(&walk(&bench, "extract", &arguments), &[query, other], &whole);
        let mut flat = arguments.clone();
        flat["flatten"] = json!(true);
        let pages = walk(&bench, "extract", &flat);
        let found: Vec<String> =
            pages.iter().flat_map(|page| elements(member(&page.text, "extracted").unwrap().get())).collect();
        assert_alike(&found, &whole.concat(), &flat.to_string());
        let returned: u64 = pages
            .iter()
            .map(|page| {
                page.truncated().map_or_else(|| count(page, "extracted"), |(_, returned, _)| returned)
            })
            .sum();
        assert_eq!(returned, whole.concat().len() as u64, "{flat}");
        located(&bench, &flat, &whole);
    }
}

fn count(page: &Answer, name: &str) -> u64 {
    page.value[name].as_array().unwrap().len() as u64
}

/// Joins pages of objects by path: the values of a path on several pages form one array.
fn by_path(pages: &[Answer], queries: &[&str], whole: &[Vec<String>]) {
    for (query, whole) in queries.iter().zip(whole) {
        let parts: Vec<Box<RawValue>> = pages
            .iter()
            .filter_map(|page| member(member(&page.text, "extracted").unwrap().get(), query))
            .collect();
        let context = format!("{query} of {parts:?}");
        let missing = pages.iter().any(|page| {
            page.value["missing_paths"].as_array().is_some_and(|paths| paths.contains(&json!(query)))
        });
        assert_eq!(missing, whole.is_empty(), "{context}");
        let singular = query.parse::<Query>().unwrap().is_singular();
        let found: Vec<String> = match parts.as_slice() {
            [only] if missing => {
                assert_eq!(only.get(), "null");
                Vec::new()
            }
            [only] if singular && whole.len() == 1 && is_like(only.get(), &whole[0]) => {
                vec![only.get().to_owned()]
            }
            parts => parts.iter().flat_map(|part| elements(part.get())).collect(),
        };
        assert_alike(&found, whole, &context);
    }
}

/// With paths, the location of each value selects that value.
fn located(bench: &Bench, arguments: &Value, whole: &[Vec<String>]) {
    let mut arguments = arguments.clone();
    arguments["include_paths"] = json!(true);
    let pages = walk(bench, "extract", &arguments);
    let values: Vec<String> = pages
        .iter()
        .flat_map(|page| elements(member(&page.text, "extracted").unwrap().get()))
        .map(|item| {
            member(&item, "location").unwrap().get().parse::<Value>().unwrap();
            member(&item, "value").unwrap().get().to_owned()
        })
        .collect();
    assert_alike(&values, &whole.concat(), &arguments.to_string());
}

#[test]
fn pages_of_samples_add_up_to_all_items() {
    let bench = Bench::new();
    for seed in 0..cases(40, 2_000) {
        let bytes = document(seed, &shape(seed));
        let id = format!("sample-{seed}");
        bench.put(&id, &bytes);
        let mut arguments = json!({ "id": id, "path": "$..*", "size": 1 + seed % 200, "max_chars": 100_000 });
        let strategy = ["random", "first", "last", "systematic", "stratified"][seed as usize % 5];
        arguments["strategy"] = json!(strategy);
        if strategy == "stratified" {
            arguments["strata_path"] = json!("$.a");
        }
        if seed.is_multiple_of(2) {
            arguments["seed"] = json!(seed as i64 - 20);
        }
        // A group value that is too long is refused, so there are no pages to compare.
        if strategy == "stratified"
            && let Err(refused) = bench.tried("sample", arguments.clone())
            && refused.metadata["code"] == "limit"
        {
            continue;
        }
        let mut small = arguments.clone();
        small["max_chars"] = json!(chars_for(seed));
        let pages = walk(&bench, "sample", &small);
        // A seed that the tool chose is in the metadata, and reproduces the sample.
        if let Some(seed) = pages[0].metadata.get("seed") {
            arguments["seed"] = seed.clone();
        }
        let whole = walk(&bench, "sample", &arguments);
        let join = |pages: &[Answer], name: &str| -> Vec<String> {
            pages
                .iter()
                .flat_map(|page| member(&page.text, name).map_or(Vec::new(), |part| elements(part.get())))
                .collect()
        };
        assert_alike(&join(&pages, "sample"), &join(&whole, "sample"), &small.to_string());
        assert_eq!(join(&pages, "indices"), join(&whole, "indices"), "{small}");
        let groups = |pages: &[Answer]| {
            join(pages, "strata").into_iter().filter(|group| !group.contains("$more")).collect::<Vec<_>>()
        };
        assert_eq!(groups(&pages).len(), groups(&whole).len(), "{small}");
        // A page without the last group has the number of further groups.
        let mut left = groups(&whole).len();
        for page in &pages {
            let strata = page.value["strata"].as_array().cloned().unwrap_or_default();
            left -= strata.iter().filter(|group| group.get("$more").is_none()).count();
            let more = strata.last().and_then(|last| last["$more"].as_u64()).unwrap_or(0);
            assert_eq!(more, left as u64, "{small}: {}", page.text);
        }
        for page in &pages {
            assert_eq!(page.value["total_items"], whole[0].value["total_items"]);
            assert_eq!(page.value["sample_size"], whole[0].value["sample_size"]);
            assert_eq!(count(page, "sample"), count(page, "indices"));
        }
    }
}

#[test]
fn pages_of_stats_add_up_to_all_figures() {
    let bench = Bench::new();
    for seed in 0..cases(20, 1_000) {
        let bytes = document(seed, &shape(seed));
        let id = format!("stats-{seed}");
        bench.put(&id, &bytes);
        let mut arguments = json!({
            "id": id, "include_schema": seed % 3 == 0, "include_values": seed % 4 == 1, "max_chars": 100_000
        });
        if seed % 5 == 2 {
            arguments["paths"] = json!(["$.*", "$[0]"]);
        }
        let whole = joined(&walk(&bench, "stats", &arguments));
        for max_chars in [200, 350, 700, 2_000] {
            arguments["max_chars"] = json!(max_chars);
            let pages = joined(&walk(&bench, "stats", &arguments));
            assert_eq!(
                pages.keys().collect::<BTreeSet<_>>(),
                whole.keys().collect::<BTreeSet<_>>(),
                "{arguments}"
            );
            for (name, found) in pages {
                assert!(is_alike(&found, &whole[&name]), "{arguments}: {found} for {}", whole[&name]);
            }
        }
    }
}

/// True if both values are equal, except for marks.
fn is_alike(found: &Value, whole: &Value) -> bool {
    match (found, whole) {
        (Value::Array(found), Value::Array(whole)) => {
            found.len() == whole.len() && found.iter().zip(whole).all(|(found, whole)| is_alike(found, whole))
        }
        (found, whole) => found == whole || found["$truncated"] == true,
    }
}

/// Joins the members and rows of all pages.
fn joined(pages: &[Answer]) -> Map<String, Value> {
    let mut whole = Map::new();
    for page in pages {
        for (name, value) in page.value.as_object().unwrap() {
            match value {
                Value::Array(rows) => {
                    let known = whole.entry(name.clone()).or_insert_with(|| json!([]));
                    known.as_array_mut().unwrap().extend(rows.iter().cloned());
                }
                Value::Object(members) if ["size", "structure", "types"].contains(&name.as_str()) => {
                    let known = whole.entry(name.clone()).or_insert_with(|| json!({}));
                    known.as_object_mut().unwrap().extend(members.clone());
                }
                // A warning appears only on pages that have space for it.
                _ if ["truncated", "warning"].contains(&name.as_str()) => {}
                value => {
                    whole.insert(name.clone(), value.clone());
                }
            }
        }
    }
    whole
}

#[test]
fn pages_of_read_add_up_to_the_value() {
    for bench in [Bench::new(), Bench::packed()] {
        for seed in 0..cases(50, 1_500) {
            let lines = seed % 4 == 1;
            let bytes = if lines {
                let framing = [Divided::Lines, Divided::JsonSeq][seed as usize / 4 % 2];
                stream(seed, &Shape { layout: Layout::OneLine, ..shape(seed) }, framing, 9)
            } else {
                document(seed, &shape(seed))
            };
            let id = format!("read-{seed}");
            let stored = bench.put(&id, &bytes);
            let arguments = json!({ "id": id, "max_chars": chars_for(seed) });
            let pages = walk(&bench, "read", &arguments);
            check_pages(&pages, &stored, &bytes, &arguments);
        }
    }
}

fn check_pages(pages: &[Answer], stored: &trommel_store::Stored, bytes: &[u8], arguments: &Value) {
    let content = |page: &Answer| member(&page.text, "content").unwrap().get().to_owned();
    let label = arguments.to_string();
    match pages[0].value["kind"].as_str().unwrap() {
        "object" => {
            let whole = values(bytes, Framing::Single, "$", false);
            let expected = members(&whole[0]);
            let mut found = Vec::new();
            for (number, page) in pages.iter().enumerate() {
                let mut part = members(&content(page));
                if let Some(more) = part.pop_if(|(name, more)| is_more(name, more, page)) {
                    let left: u64 = more.1.get().parse().unwrap();
                    assert_eq!(left as usize, expected.len() - found.len() - part.len(), "{label}");
                } else {
                    assert_eq!(number + 1, pages.len(), "{label}");
                }
                found.append(&mut part);
            }
            for ((found, _), (expected, _)) in found.iter().zip(&expected) {
                let beginning = found.strip_suffix('…').is_some_and(|part| expected.starts_with(part));
                assert!(
                    found == expected || beginning && expected.len() > 90,
                    "{label}: {found} for {expected}"
                );
            }
            let texts = |members: Vec<(String, Box<RawValue>)>| {
                members.into_iter().map(|(_, value)| value.get().to_owned()).collect::<Vec<_>>()
            };
            assert_alike(&texts(found), &texts(expected), &label);
        }
        kind @ ("array" | "records") => {
            let framing = stored.framing.unwrap().framing();
            let query = if kind == "array" { "$[*]" } else { "$" };
            let expected = values(bytes, framing, query, false);
            let mut found = Vec::new();
            for page in pages {
                let mut part = elements(&content(page));
                let left = expected.len() - found.len();
                if page.next().is_some() {
                    let more = part.pop().unwrap();
                    assert_eq!(more, format!("{{\"$more\":{}}}", left - part.len()), "{label}");
                }
                found.append(&mut part);
            }
            assert_alike(&found, &expected, &label);
        }
        _ => assert!(pages.len() == 1, "{label}"),
    }
}

fn is_more(name: &str, value: &RawValue, page: &Answer) -> bool {
    name == "$more" && page.next().is_some() && value.get().parse::<u64>().is_ok()
}

#[test]
fn pages_of_strings_add_up_to_all_characters() {
    let piece = "a\"b\\\u{1}\n ü😀\u{202e}\u{e0041}…é\r\t";
    let length = cases(30, 300) as usize;
    let long: String = piece.repeat(length);
    for bench in [Bench::new(), Bench::packed()] {
        bench.put("spelt-string", json!({ "x": [long] }).to_string());
        bench.put("other-string", format!(r#"{{"x": ["{}"]}}"#, r"\ud83d\ude00\u00e9\/".repeat(3 * length)));
        bench.put("some-text", &long);
        bench.put("no-lines", "x".repeat(20 * length));
        for max_chars in [200, 201, 217, 300, 1_000, 8_000, 100_000] {
            for (id, path, whole) in [
                ("spelt-string", "$.x[0]", long.clone()),
                ("other-string", "$.x[0]", "😀é/".repeat(3 * length)),
                ("some-text", "$", long.clone()),
                ("no-lines", "$", "x".repeat(20 * length)),
            ] {
                let arguments = json!({ "id": id, "path": path, "max_chars": max_chars });
                let mut found = String::new();
                for page in walk(&bench, "read", &arguments) {
                    let content = page.value["content"].as_str().unwrap().to_owned();
                    let whole_line = page.value["kind"] == "text" && content.ends_with('\n');
                    let cut = page.next().is_some() && !whole_line;
                    found.push_str(if cut { content.strip_suffix('…').unwrap() } else { &content });
                }
                assert!(found == whole, "{arguments}");
            }
        }
    }
}

#[test]
fn lists_and_counts_are_bounded() {
    let bench = Bench::new();
    for number in 0..12 {
        bench.put(
            &format!("output-{number:02}"),
            json!({ "n": number, "text": "ü\"".repeat(300) }).to_string(),
        );
    }
    for max_chars in [200, 230, 300, 450, 1_000, 5_000] {
        let mut offset = 0;
        let mut ids = Vec::new();
        loop {
            let arguments = json!({
                "max_chars": max_chars, "offset": offset, "limit": 5, "preview_length": 500, "sort_by": "tool_name"
            });
            let page = answer(&bench, "list", arguments);
            ids.extend(page.value["outputs"].as_array().unwrap().iter().map(|row| row["id"].clone()));
            assert_eq!(page.value["total"], 12);
            match page.value["truncated"]["next"].as_u64() {
                Some(next) if page.value["has_more"] == true => offset = next,
                _ => break,
            }
        }
        assert_eq!(ids.len(), 12, "{max_chars}");
        let counts: Vec<Value> = (0..40)
            .map(|n| json!({ "name": format!("count \"{n}\""), "path": "$", "count_type": "matches" }))
            .collect();
        let mut from = 0;
        let mut total = 0;
        while from < counts.len() {
            let arguments = json!({ "id": "output-00", "counts": counts[from..], "max_chars": max_chars });
            let page = answer(&bench, "count", arguments);
            assert_eq!(page.value["total"], counts.len() - from);
            total += page.value["counts"].as_object().unwrap().len();
            from += page.value["truncated"]["next"].as_u64().map_or(counts.len(), |next| next as usize);
        }
        assert_eq!(total, 40, "{max_chars}");
    }
}
