//! Twenty questions over five large outputs: each answer is right, short, and complete.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};
use trommel_testkit::generate::Random;

use crate::support::{Answer, Bench};

/// The outputs, and what is in them.
struct Outputs {
    bench: Bench,
    events: Vec<Value>,
    orders: Vec<Value>,
    records: Vec<Value>,
    lines: Vec<String>,
    tree_ids: Vec<u64>,
}

fn events(random: &mut Random) -> Vec<Value> {
    let event = |n: u64, random: &mut Random| {
        let kind = random.pick(&["push", "push", "push", "issue", "fork", "release"]);
        let login = format!("user-{}", random.below(40));
        json!({
            "id": n, "type": kind, "actor": {"login": login, "admin": random.chance(5)},
            "payload": {"size": random.below(10_000), "text": "x".repeat(random.below(80))}
        })
    };
    (0..4_000).map(|n| event(n, random)).collect()
}

fn orders(random: &mut Random) -> Vec<Value> {
    let order = |n: u64, random: &mut Random| {
        let items: Vec<_> = (0..=random.below(4))
            .map(|_| json!({"sku": format!("S{}", random.below(90)), "price": random.below(500)}))
            .collect();
        json!({"order": n, "region": random.pick(&["north", "south", "west"]), "items": items})
    };
    (0..2_000).map(|n| order(n, random)).collect()
}

fn records(random: &mut Random) -> Vec<Value> {
    let record = |n: u64, random: &mut Random| {
        let level = random.pick(&["info", "info", "info", "warn", "error"]);
        let mut record = json!({"ts": 1_700_000_000 + n, "level": level, "ms": random.below(2_000), "msg": "y".repeat(40)});
        if level == "error" {
            record["code"] = json!(500 + random.below(4));
        }
        record
    };
    (0..6_000).map(|n| record(n, random)).collect()
}

fn lines(random: &mut Random) -> Vec<String> {
    let line = |n: u64, random: &mut Random| {
        let level = random.pick(&["INFO", "INFO", "INFO", "WARN"]);
        format!("2026-01-01T00:00:{:02}Z {level} request {n:05} took {} ms", n % 60, random.below(900))
    };
    let mut lines: Vec<String> = (0..8_000).map(|n| line(n, random)).collect();
    lines.insert(4_321, "2026-01-01T00:01:00Z FATAL disk /dev/sdb failed".into());
    lines.push("2026-01-01T00:59:59Z INFO shutting down".into());
    lines
}

/// Returns a tree of nodes, and their IDs in document order.
fn tree(depth: u64, next: &mut u64, ids: &mut Vec<u64>) -> Value {
    let id = *next;
    *next += 1;
    ids.push(id);
    let children = if depth == 0 { 0 } else { 3 };
    let children: Vec<Value> = (0..children).map(|_| tree(depth - 1, next, ids)).collect();
    json!({"id": id, "pad": "z".repeat(100), "children": children})
}

fn outputs() -> Outputs {
    let mut random = Random::new(28);
    let (events, orders) = (events(&mut random), orders(&mut random));
    let (records, lines) = (records(&mut random), lines(&mut random));
    let mut tree_ids = Vec::new();
    let tree = tree(7, &mut 0, &mut tree_ids);
    let bench = Bench::new();
    let joined =
        |values: &[Value]| values.iter().fold(String::new(), |text, value| text + &format!("{value}\n"));
    bench.put("events", json!({ "meta": {"version": 3}, "data": {"records": events} }).to_string());
    bench.put("orders", json!({ "orders": orders, "currency": "EUR" }).to_string());
    bench.put("records", joined(&records));
    bench.put("text-log", lines.join("\n"));
    bench.put("tree", json!({ "root": tree }).to_string());
    Outputs { bench, events, orders, records, lines, tree_ids }
}

fn frequencies<'a>(values: impl Iterator<Item = &'a Value>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value.as_str().unwrap().to_owned()).or_default() += 1;
    }
    counts
}

/// The groups of an answer by their only key.
fn groups(answer: &Value, name: &str, figure: &str) -> BTreeMap<String, u64> {
    let groups = answer["groups"].as_array().unwrap().iter();
    let pair = |group: &Value| {
        let figure = if figure == "count" { &group["count"] } else { &group["sum"][figure] };
        (group["key"][name].as_str().unwrap().to_owned(), figure.as_u64().unwrap())
    };
    groups.map(pair).collect()
}

fn sum<'a>(values: impl Iterator<Item = &'a Value>) -> u64 {
    values.map(|value| value.as_u64().unwrap()).sum()
}

/// The answers so far, by question.
struct Questions<'a> {
    bench: &'a Bench,
    lengths: Vec<(String, usize)>,
}

impl Questions<'_> {
    /// Asks a question. Its answer must be complete.
    fn ask(&mut self, question: &str, tool: &str, arguments: Value) -> Value {
        let answer = self.partial(question, tool, arguments);
        assert_eq!(answer.truncated(), None, "{question}: {}", answer.text);
        answer.value
    }

    /// Asks a question whose answer is a part on purpose.
    fn partial(&mut self, question: &str, tool: &str, arguments: Value) -> Answer {
        let answer = self.bench.ok(tool, arguments);
        self.lengths.push((question.to_owned(), answer.text.chars().count()));
        answer
    }
}

#[test]
fn twenty_questions_have_short_answers() {
    let Outputs { bench, events, orders, records, lines, tree_ids } = outputs();
    let mut questions = Questions { bench: &bench, lengths: Vec::new() };
    about_events(&mut questions, &events);
    about_orders(&mut questions, &orders);
    about_records(&mut questions, &records);
    about_lines(&mut questions, &lines);
    about_the_tree(&mut questions, &tree_ids);
    let lengths = questions.lengths;
    assert_eq!(lengths.len(), 20);
    let report = lengths.iter().fold(String::new(), |mut text, (question, length)| {
        let _ = writeln!(text, "{length:>6} {question}");
        text
    });
    assert!(lengths.iter().all(|(_, length)| *length <= 3_500), "{report}");
    let total: usize = lengths.iter().map(|(_, length)| length).sum();
    assert!(total <= 1_000 * lengths.len(), "{total} characters\n{report}");
}

fn about_events(questions: &mut Questions<'_>, events: &[Value]) {
    let each = "$.data.records[*]";
    let overview = json!({"id": "events", "max_depth": 3});
    let answer = questions.ask("what is in it?", "stats", overview);
    assert_eq!(answer["arrays"][0]["length"], events.len());
    let by_type = json!({"id": "events", "each": each, "by": ["$.type"]});
    let answer = questions.ask("how many events of each type?", "aggregate", by_type);
    assert_eq!(groups(&answer, "type", "count"), frequencies(events.iter().map(|event| &event["type"])));
    let admins = json!({"id": "events", "counts": [
        {"name": "admins", "path": "$.data.records[?@.actor.admin == true]", "count_type": "matches"}]});
    let answer = questions.ask("how many by admins?", "count", admins);
    let count = events.iter().filter(|event| event["actor"]["admin"] == true).count();
    assert_eq!(answer["counts"]["admins"], count);
    let large = json!({"id": "events", "each": each, "where": ["@.payload.size >= 9950"], "rows": true,
        "paths": ["$.id", "$.type", "who=$.actor.login"]});
    let answer = questions.ask("which are the largest?", "extract", large);
    let large = events.iter().filter(|event| event["payload"]["size"].as_u64().unwrap() >= 9_950);
    let rows =
        large.map(|event| json!({"id": event["id"], "type": event["type"], "who": event["actor"]["login"]}));
    assert_eq!(answer["extracted"], rows.collect::<Value>());
}

fn about_orders(questions: &mut Questions<'_>, orders: &[Value]) {
    let one = json!({"id": "orders", "path": "$.orders[1234]"});
    let answer = questions.ask("what is order 1234?", "read", one);
    assert_eq!(answer["content"], orders[1_234]);
    let items = json!({"id": "orders", "counts": [
        {"name": "orders", "path": "$.orders"}, {"name": "items", "path": "$.orders[*].items"}]});
    let answer = questions.ask("how many orders and items?", "count", items);
    let items = || orders.iter().flat_map(|order| order["items"].as_array().unwrap());
    assert_eq!(answer["counts"], json!({"orders": orders.len(), "items": items().count()}));
    let sums =
        json!({"id": "orders", "each": "$.orders[*]", "by": ["$.region"], "sum": ["$.items[*].price"]});
    let answer = questions.ask("revenue by region?", "aggregate", sums);
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for order in orders {
        let prices = order["items"].as_array().unwrap().iter().map(|item| &item["price"]);
        *expected.entry(order["region"].as_str().unwrap().into()).or_default() += sum(prices);
    }
    assert_eq!(groups(&answer, "region", "price"), expected);
    let found = json!({"id": "orders", "each": "$.orders[*]", "where": ["@.items[?@.sku == 'S17' && @.price > 450]"],
        "paths": ["$.order"]});
    let answer = questions.ask("which orders have an expensive S17?", "extract", found);
    let is_expensive = |item: &Value| item["sku"] == "S17" && item["price"].as_u64().unwrap() > 450;
    let expected = orders.iter().filter(|order| order["items"].as_array().unwrap().iter().any(is_expensive));
    assert_eq!(
        answer["extracted"]["$.order"],
        expected.map(|order| order["order"].clone()).collect::<Value>()
    );
}

fn about_records(questions: &mut Questions<'_>, records: &[Value]) {
    let by_level = json!({"id": "records", "by": ["$.level"], "sum": ["$.ms"]});
    let answer = questions.ask("how many records of each level?", "aggregate", by_level);
    assert_eq!(groups(&answer, "level", "count"), frequencies(records.iter().map(|record| &record["level"])));
    let fields = json!({"id": "records", "include_fields": true, "max_depth": 2});
    let answer = questions.ask("which fields, and when are they missing?", "stats", fields);
    let fields = answer["fields"].as_array().unwrap();
    let code = fields.iter().find(|field| field["path"] == "$.code").unwrap();
    let missing = records.iter().filter(|record| record.get("code").is_none()).count();
    assert_eq!(code["missing"], missing);
    let codes = json!({"id": "records", "where": ["@.level == 'error' && @.code == 503 && @.ms > 1950"],
        "paths": ["$.ts"]});
    let answer = questions.ask("when were the slow 503s?", "extract", codes);
    let expected =
        records.iter().filter(|record| record["code"] == 503 && record["ms"].as_u64().unwrap() > 1_950);
    assert_eq!(answer["extracted"]["$.ts"], expected.map(|record| record["ts"].clone()).collect::<Value>());
    let sample = json!({"id": "records", "path": "$", "size": 3, "seed": 1, "where": ["@.level == 'warn'"]});
    let answer = questions.ask("what does a warning look like?", "sample", sample);
    let warnings: Vec<_> = records.iter().filter(|record| record["level"] == "warn").collect();
    for (item, index) in
        answer["sample"].as_array().unwrap().iter().zip(answer["indices"].as_array().unwrap())
    {
        assert_eq!(item, warnings[index.as_u64().unwrap() as usize]);
    }
    let last = json!({"id": "records", "record": records.len() - 1});
    let answer = questions.ask("what is the last record?", "read", last);
    assert_eq!(&answer["content"], records.last().unwrap());
}

fn about_lines(questions: &mut Questions<'_>, lines: &[String]) {
    let answer = questions.ask("what is the last line?", "read", json!({"id": "text-log", "tail": 1}));
    assert_eq!(answer["content"].as_str(), lines.last().map(String::as_str));
    let fatal = json!({"id": "text-log", "pattern": "FATAL", "context": 2});
    let answer = questions.ask("what happened around the fatal error?", "search", fatal);
    assert_eq!(
        (&answer["matches"][0]["line"], answer["matches"].as_array().map(Vec::len)),
        (&json!(4_322), Some(1))
    );
    assert_eq!(answer["matches"][0]["after"], json!(lines[4_322..4_324]));
    let slow = json!({"id": "text-log", "pattern": "WARN.* took 89[0-9] ms", "regex": true, "limit": 5});
    let answer = questions.partial("which warnings were slow?", "search", slow);
    assert_eq!(answer.truncated().map(|(reason, returned, _)| (reason, returned)), Some(("limit", 5)));
    let is_slow =
        |line: &&String| line.contains("WARN") && line.contains(" took 89") && line.ends_with(" ms");
    let is_three_digits =
        |line: &&String| line.split(" took ").nth(1).is_some_and(|text| text.len() == "890 ms".len());
    let first = lines.iter().filter(is_slow).find(is_three_digits).unwrap();
    assert_eq!(answer.value["matches"][0]["text"].as_str(), Some(first.as_str()));
    let middle = json!({"id": "text-log", "start_line": 5_000, "end_line": 5_004});
    let answer = questions.ask("what are lines 5,000 to 5,004?", "read", middle);
    assert_eq!(answer["content"].as_str().unwrap().lines().collect::<Vec<_>>(), lines[4_999..5_004]);
}

fn about_the_tree(questions: &mut Questions<'_>, ids: &[u64]) {
    let nodes =
        json!({"id": "tree", "counts": [{"name": "nodes", "path": "$..id", "count_type": "matches"}]});
    let answer = questions.ask("how many nodes?", "count", nodes);
    assert_eq!(answer["counts"]["nodes"], ids.len());
    let path =
        json!({"id": "tree", "paths": ["$..[?@.id == 2000].id"], "flatten": true, "include_paths": true});
    let answer = questions.ask("where is node 2000?", "extract", path);
    assert_eq!(answer["extracted"][0]["value"], 2_000);
    let location = answer["extracted"][0]["location"].as_str().unwrap();
    assert_eq!(questions.bench.value("read", json!({"id": "tree", "path": location}))["content"], 2_000);
    let deepest = json!({"id": "tree", "max_depth": 1});
    let answer = questions.ask("how deep is it?", "stats", deepest);
    // The root, the node at depth 0, and for each level an array and a node; then its members.
    assert_eq!(answer["structure"]["max_depth"], 2 + 2 * 7 + 1);
}
