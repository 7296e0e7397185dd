//! Properties of any session and any query.

use proptest::prelude::*;
use trommel_session::{EventQuery, FIELD_CHARS, RewindQuery, Session, TranscriptQuery};

use crate::support::{Home, watch};

/// Values of up to a few thousand characters.
fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        ".{0,40}".prop_map(Into::into),
        (1_900_usize..2_100).prop_map(|length| "é".repeat(length).into()),
        (1_900_usize..2_100).prop_map(|length| "\n".repeat(length / 2).into()),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((name(), inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["data", "model", "usage", "error", "ts", "event", "lvl", "x.y", "[a]", ".{0,3}"]
}

/// Paths, some of which exist.
fn field() -> impl Strategy<Value = String> {
    let path = prop::collection::vec(name(), 1..4);
    path.prop_map(|names| names.iter().flat_map(|name| ["[\"", name, "\"]"]).collect::<String>())
}

/// Returns the length of the longest value in an answer, in characters of JSON.
fn longest(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Object(members) => members.values().map(longest).max().unwrap_or(0),
        other => serde_json::to_string(other).unwrap().chars().count(),
    }
}

/// Returns the records of all events, read in pages of limited size.
fn event_pages(session: &Session, query: &mut EventQuery) -> Vec<u64> {
    let mut records = Vec::new();
    loop {
        query.offset = records.len() as u64;
        let page = session.get_events(query, &watch()).unwrap();
        assert!(serde_json::to_string(&page.events).unwrap().chars().count() <= query.max_chars);
        assert!(!page.events.is_empty());
        records.extend(page.events.iter().map(|row| row.record));
        assert_eq!(page.has_more, (records.len() as u64) < page.total_count);
        if !page.has_more {
            return records;
        }
    }
}

fn message_pages(session: &Session, query: &mut TranscriptQuery) -> Vec<u64> {
    let mut indices = Vec::new();
    loop {
        query.offset = indices.len() as u64;
        let page = session.messages(query, &watch()).unwrap();
        assert!(serde_json::to_string(&page.messages).unwrap().chars().count() <= query.max_chars);
        assert!(!page.messages.is_empty());
        indices.extend(page.messages.iter().map(|row| row.index));
        if !page.has_more {
            return indices;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// R39: no field of an answer exceeds the limit, and no query returns `data` as a whole.
    #[test]
    fn r39_no_answer_holds_a_payload(
        events in prop::collection::vec(prop::collection::vec((name(), value()), 0..6), 1..6),
        fields in prop::collection::vec(field(), 0..5),
    ) {
        let home = Home::new();
        let canary = "the whole of it";
        let lines = events.into_iter().map(|members| {
            let mut event = members.into_iter().collect::<serde_json::Map<_, _>>();
            if let Some(data) = event.get_mut("data") {
                *data = serde_json::json!({ "inner": data.clone(), "canary": canary });
            }
            serde_json::Value::Object(event).to_string() + "\n"
        });
        home.write("s", "events.jsonl", lines.collect::<String>());
        let mut query = EventQuery::default();
        query.fields = fields;
        // A name with a quote is not a field. Any other query is answered.
        if let Ok(page) = home.find("s").get_events(&query, &watch()) {
            for event in &page.events {
                let shown = serde_json::to_value(event).unwrap();
                prop_assert!(longest(&shown) <= FIELD_CHARS, "{shown}");
                let is_whole = shown.get("data").and_then(|data| data.get("canary")).is_some();
                prop_assert!(!is_whole, "{shown}");
                prop_assert!(!query.fields.contains(&"[\"data\"]".to_owned()) || event.omitted.contains(&"data".to_owned()));
            }
        }
    }

    /// R38: undoing any rewind restores every byte.
    #[test]
    fn r38_undo_restores_every_byte(
        turns in 1_u64..8,
        target in prop_oneof![(1_u64..8).prop_map(Some), Just(None)],
        message in 0_u64..32,
        cut in 0_usize..200,
    ) {
        let home = Home::new();
        let session = home.turns("s", turns);
        // A log truncated at any offset.
        for name in ["transcript.jsonl", "events.jsonl"] {
            let path = home.folder("s").join(name);
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, &bytes[..bytes.len() - cut.min(bytes.len())]).unwrap();
        }
        let before = home.bytes("s");
        let mut query = RewindQuery::default();
        query.dry_run = false;
        match target {
            Some(turn) => query.to_turn = Some(turn),
            None => query.to_message = Some(message),
        }
        if let Ok(rewound) = home.sessions.rewind(&session, &query, &watch()) {
            let after = home.bytes("s");
            prop_assert!(before[1].starts_with(&after[1]));
            if rewound.backup_created {
                home.sessions.undo(&session, &watch()).unwrap();
            }
        }
        prop_assert!(home.bytes("s") == before);
    }

    /// R39: a page has at most the requested number of characters, and all pages together have
    /// every event and message once.
    #[test]
    fn r39_pages_are_bounded_and_complete(
        events in prop::collection::vec(prop::collection::vec((name(), value()), 0..6), 1..12),
        fields in prop::collection::vec(field(), 0..5),
        texts in prop::collection::vec(("\\PC{0,20}|[\\x00-\\x20\"]{0,20}", 0_usize..300, 0_usize..5), 1..12),
        max_chars in prop_oneof![200_usize..400, 2_000_usize..6_000],
        limit in 1_usize..20,
    ) {
        let home = Home::new();
        let count = events.len() as u64;
        let lines = events.into_iter().map(|members| {
            serde_json::Value::Object(members.into_iter().collect()).to_string() + "\n"
        });
        home.write("s", "events.jsonl", lines.collect::<String>());
        let messages = texts.iter().map(|(text, times, calls)| {
            let text = text.repeat(*times);
            let call = serde_json::json!({"id": text, "tool": text, "arguments": {"a": text}});
            let content = serde_json::json!({"role": "user", "name": text, "content": text, "tool_calls": vec![call; *calls]});
            content.to_string() + "\n"
        });
        home.write("s", "transcript.jsonl", messages.collect::<String>());
        let mut query = EventQuery::default();
        (query.fields, query.max_chars, query.limit) = (fields, max_chars, limit);
        let session = home.find("s");
        // A name with a quote is not a field.
        if session.get_events(&query, &watch()).is_ok() {
            prop_assert_eq!(event_pages(&session, &mut query), (0..count).collect::<Vec<_>>());
        }
        let mut query = TranscriptQuery::default();
        (query.max_chars, query.limit, query.max_text) = (max_chars, limit, 5_000);
        prop_assert_eq!(message_pages(&session, &mut query), (0..texts.len() as u64).collect::<Vec<_>>());
    }
}
