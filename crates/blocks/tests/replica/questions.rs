//! Checks that queries about a session that is only in the storage give the same answers as on its
//! machine.

use trommel_session::{AggregateQuery, EventQuery, Page, Session};

use crate::support::{Machine, Net, happened, watch};

/// A machine with a session, and one that has it only in the storage.
fn two() -> (Machine, Machine) {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("s", 40);
    one.append("s", "events.jsonl", "[1, 2]\n{\"event\": \"unfinished\", ");
    one.sync("s");
    (one, two)
}

fn session(machine: &Machine) -> Session {
    machine.hybrid.find("s", &watch()).unwrap().1
}

fn events(machine: &Machine, change: &dyn Fn(&mut EventQuery)) -> serde_json::Value {
    let mut query = EventQuery::default();
    change(&mut query);
    let page = machine.hybrid.get_events(&session(machine), &query, &watch()).unwrap();
    let mut json = serde_json::to_value(page).unwrap();
    // Offsets of malformed records differ: the bodies before them are missing.
    if let Some(damage) = json.get_mut("damage") {
        *damage = damage["count"].clone();
    }
    json
}

#[test]
fn pages_of_events() {
    let (one, two) = two();
    let fields = |fields: &[&str]| fields.iter().map(|field| (*field).to_owned()).collect::<Vec<_>>();
    let changes: [&dyn Fn(&mut EventQuery); 10] = [
        &|_| {},
        &|query| query.limit = 1_000,
        &|query| (query.offset, query.limit) = (150, 20),
        &|query| query.errors_only = true,
        &|query| query.fields = fields(&["data.model", "lvl", "data"]),
        &|query| (query.fields, query.offset) = (fields(&["data.tool_input.pattern", "ts"]), 3),
        &|query| (query.fields, query.event_types) = (fields(&["tool_input"]), vec!["tool:*".to_owned()]),
        &|query| (query.fields, query.limit, query.max_chars) = (fields(&["data.prompt"]), 1_000, 3_000),
        &|query| (query.fields, query.errors_only) = (fields(&["error.msg", "data.nothing"]), true),
        &|query| (query.fields, query.limit) = (fields(&["data.messages", "data.usage.input_tokens"]), 500),
    ];
    for (at, change) in changes.iter().enumerate() {
        let (here, there) = (events(&one, *change), events(&two, *change));
        assert!(!here["events"].as_array().unwrap().is_empty());
        same(&here, &there, &format!("page {at}"));
    }
}

#[test]
fn figures() {
    let (one, two) = two();
    let told = |machine: &Machine| {
        let (session, watch) = (session(machine), watch());
        let mut summary = serde_json::to_value(session.summary(&watch).unwrap()).unwrap();
        let figures = summary.as_object_mut().unwrap();
        // Byte counts are those of the mirror.
        figures.retain(|name, _| !["damage", "largest", "bytes"].contains(&&**name));
        let errors = session.errors(Page::default(), &watch).unwrap();
        let timeline = session.timeline(Page::default(), &watch).unwrap();
        let usage = session.usage(&watch).unwrap();
        let mut rest = serde_json::json!([errors, timeline, usage]);
        drop_damage(&mut rest);
        (summary, rest, serde_json::to_value(session.diagnose(&watch).unwrap()).unwrap())
    };
    let (here, there) = (told(&one), told(&two));
    same(&serde_json::json!([here.0, here.1, here.2]), &serde_json::json!([there.0, there.1, there.2]), "");
}

/// Asserts equality, and reports the first difference.
fn same(here: &serde_json::Value, there: &serde_json::Value, at: &str) {
    use serde_json::Value;
    match (here, there) {
        (Value::Object(one), Value::Object(other)) => {
            assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>(), "{at}");
            one.iter().for_each(|(name, value)| same(value, &other[name], &format!("{at}.{name}")));
        }
        (Value::Array(one), Value::Array(other)) => {
            assert_eq!(one.len(), other.len(), "{at}");
            let both = one.iter().zip(other).enumerate();
            both.for_each(|(index, (one, other))| same(one, other, &format!("{at}[{index}]")));
        }
        _ => assert_eq!(here, there, "{at}"),
    }
}

fn drop_damage(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(members) => {
            members.remove("damage");
            members.values_mut().for_each(drop_damage);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(drop_damage),
        _ => {}
    }
}

#[test]
fn aggregates() {
    let (one, two) = two();
    for (field, by) in [
        ("data.duration_ms", Some("data.model")),
        ("data.tool_input.depth", None),
        ("data.tool_input.depth", Some("data.tool_input.pattern")),
    ] {
        let figures = |machine: &Machine| {
            let mut query = AggregateQuery::default();
            (query.field, query.by) = (field.to_owned(), by.map(str::to_owned));
            let figures = machine.hybrid.aggregate(&session(machine), &query, &watch()).unwrap();
            let mut json = serde_json::to_value(figures).unwrap();
            drop_damage(&mut json);
            json
        };
        assert_eq!(figures(&one), figures(&two), "{field}");
    }
}

#[test]
fn bodies_are_current() {
    let (one, two) = two();
    let pattern = |machine: &Machine| {
        events(machine, &|query| {
            query.fields = vec!["data.tool_input".to_owned()];
            query.event_types = vec!["tool:pre".to_owned()];
        })
    };
    same(&pattern(&one), &pattern(&two), "");
    // A rewind shifts the later records.
    one.write("s", "events.jsonl", (1..=3).chain(8..=9).map(happened).collect::<String>());
    one.sync("s");
    assert_eq!(pattern(&one)["total_count"], 5);
    same(&pattern(&one), &pattern(&two), "");
}

#[test]
fn usage_counts_remote_descendants() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("s", 2);
    for (id, parent, first) in [("s_a", "s", 11), ("s_b", "s_a", 21), ("other", "nobody", 31)] {
        one.write(id, "events.jsonl", (first..first + 3).map(happened).collect::<String>());
        one.write(id, "metadata.json", format!("{{\"session_id\": \"{id}\", \"parent_id\": \"{parent}\"}}"));
    }
    assert!(one.hybrid.sync(None, None, &watch()).unwrap().is_synced());
    two.sync("s");
    let usage = |machine: &Machine| {
        let session = session(machine);
        let view = machine.hybrid.family(&session, &watch()).unwrap();
        assert!(view.problems.is_empty(), "{:?}", view.problems);
        view.sessions.usage(&session, &watch()).unwrap().llm_requests
    };
    assert_eq!((usage(&one), usage(&two)), (8, 8));
}
