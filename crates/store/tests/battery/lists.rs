//! Lists: filters, orders, pages, and damage.

use std::io::Write;

use proptest::prelude::*;
use trommel_store::{ErrorClass, Filter, Kind, SortBy, SortOrder};

use crate::many::expected;
use crate::support::{Home, all, cases, file_of, ids, named, put_as};

/// An output with the properties that lists use.
#[derive(Clone, Debug)]
struct TestOutput {
    tool: &'static str,
    conversation: Option<&'static str>,
    success: bool,
    created_at: i64,
    size: usize,
}

fn make(home: &Home, id: &str, made: &TestOutput) {
    let mut origin = named(id);
    origin.tool_name = made.tool.into();
    origin.conversation_id = made.conversation.map(Into::into);
    origin.success = made.success;
    origin.created_at = Some(made.created_at);
    put_as(home, origin, "x".repeat(made.size));
}

#[test]
fn rows_describe_outputs() {
    let home = Home::new();
    let mut origin = named("output-abc123");
    origin.tool_name = "web.fetch".into();
    origin.message_id = Some("msg-789".into());
    origin.created_at = Some(1_700_000_000_000);
    put_as(&home, origin, r#"{"status": 200, "users": [1, 2, 3]}"#);
    let page = home.list(&Filter::default()).unwrap();
    assert_eq!((page.total, page.has_more), (1, false));
    assert_eq!(
        serde_json::to_string(&page.rows).unwrap(),
        r#"[{"id":"output-abc123","tool_name":"web.fetch","conversation_id":null,"message_id":"msg-789","#
            .to_owned()
            + r#""created_at":1700000000000,"success":true,"size_bytes":35,"kind":"json","#
            + r#""preview":"{\"status\": 200, \"users\": [1, 2, 3]}","summary":{"type":"object","keys":2,"items":3}}]"#
    );
}

#[test]
fn times_are_seconds_or_milliseconds() {
    let home = Home::new();
    for (id, created_at) in [
        ("a", 1_700_000_000_000),
        ("b", 1_700_000_000_001),
        ("c", 1_700_000_001_000),
        ("d", 100_000_000_000_000),
    ] {
        make(&home, id, &TestOutput { tool: "t", conversation: None, success: true, created_at, size: 1 });
    }
    for (after, before, found) in [
        (Some(1_700_000_000), None, "d c b"),
        (Some(1_700_000_000_000), None, "d c b"),
        (Some(1_700_000_000_001), None, "d c"),
        (None, Some(1_700_000_001), "b a"),
        (None, Some(1_700_000_000_001), "a"),
        (Some(1_699_999_999), Some(1_700_000_001_001), "c b a"),
        // Seconds up to 10^11, milliseconds above.
        (Some(100_000_000_000), None, ""),
        (Some(99_999_999_999), None, "d"),
        (Some(100_000_000_001), None, "d c b a"),
        (Some(-5), None, "d c b a"),
        (None, Some(0), ""),
    ] {
        let mut filter = all();
        (filter.after, filter.before) = (after, before);
        assert_eq!(ids(&home.list(&filter).unwrap()).join(" "), found, "{after:?} {before:?}");
    }
    for (after, before) in [(5, 5), (6, 5), (1_700_000_000, 1_700_000_000_000), (i64::MAX, i64::MIN)] {
        let mut filter = all();
        (filter.after, filter.before) = (Some(after), Some(before));
        let error = home.list(&filter).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Filter);
        assert!(error.to_string().starts_with("empty time range: `after` ("), "{error}");
    }
}

#[test]
fn parses_sort_orders() {
    assert_eq!("created_at".parse::<SortBy>().unwrap(), SortBy::CreatedAt);
    assert_eq!("size".parse::<SortBy>().unwrap(), SortBy::Size);
    assert_eq!("tool_name".parse::<SortBy>().unwrap(), SortBy::ToolName);
    assert_eq!("asc".parse::<SortOrder>().unwrap(), SortOrder::Asc);
    assert_eq!("desc".parse::<SortOrder>().unwrap(), SortOrder::Desc);
    let error = "name".parse::<SortBy>().unwrap_err();
    assert_eq!(error.to_string(), "`name` is not a valid `sort_by`; use created_at, size or tool_name");
    assert_eq!("up".parse::<SortOrder>().unwrap_err().class(), ErrorClass::Filter);
}

fn filters() -> impl Strategy<Value = Filter> {
    let times = || prop::option::of(prop_oneof![Just(1_000), 999_000..1_003_000_i64, Just(200_000_000_000)]);
    let orders = prop::sample::select(vec![SortBy::CreatedAt, SortBy::Size, SortBy::ToolName]);
    let what = (prop::option::of(0..3_usize), prop::option::of(0..3_usize), prop::option::of(any::<bool>()));
    (what, times(), times(), 0..12_u64, 0..25_u64, orders, any::<bool>()).prop_map(
        |((conversation, tool, success), after, before, limit, offset, sort_by, asc)| {
            let mut filter = Filter::default();
            filter.conversation_id = conversation.map(|n| CONVERSATIONS[n].into());
            filter.tool_name = tool.map(|n| TOOLS[n].into());
            filter.success = success;
            (filter.after, filter.before) = (after, before);
            (filter.limit, filter.offset) = (limit, offset);
            (filter.sort_by, filter.sort_order) =
                (sort_by, if asc { SortOrder::Asc } else { SortOrder::Desc });
            filter
        },
    )
}

const TOOLS: [&str; 3] = ["web.fetch", "search.rg", "ä"];
const CONVERSATIONS: [&str; 3] = ["conv-1", "conv-2", "none"];

fn outputs() -> impl Strategy<Value = Vec<TestOutput>> {
    let made = (0..3_usize, prop::option::of(0..2_usize), any::<bool>(), 0..4_i64, 0..4_usize);
    let made = made.prop_map(|(tool, conversation, success, time, size)| TestOutput {
        tool: TOOLS[tool],
        conversation: conversation.map(|n| CONVERSATIONS[n]),
        success,
        // Small numbers that are interpreted as seconds, so that both units occur.
        created_at: 1_000_000 + time * 1_000,
        size,
    });
    prop::collection::vec(made, 0..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24, 1_000) as u32))]

    /// Any filter, order, and page of any outputs equals the result of a naive search.
    #[test]
    fn lists_are_those_of_a_plain_search(outputs in outputs(), filters in prop::collection::vec(filters(), 40)) {
        let home = Home::new();
        for (number, made) in outputs.iter().enumerate() {
            // The order of names differs from the order of creation.
            make(&home, &format!("id-{:02}", number * 7 % 25), made);
        }
        let everything = home.list(&all()).unwrap();
        prop_assert_eq!(everything.rows.len(), outputs.len());
        for filter in filters {
            let found = home.list(&filter);
            let (Some(after), Some(before)) = (filter.after, filter.before) else {
                let found = found.unwrap();
                let found = (ids(&found).into_iter().map(str::to_owned).collect(), found.total, found.has_more);
                prop_assert_eq!(found, expected(&everything.rows, &filter), "{:?}", filter);
                continue;
            };
            let ms = |time: i64| if time <= 100_000_000_000 { time * 1000 } else { time };
            prop_assert_eq!(found.is_err(), ms(after) >= ms(before));
        }
    }
}

#[test]
fn damaged_metadata_is_listed_and_hides_nothing() {
    let home = Home::new();
    for (id, created_at) in [("aaaaaa", 3_000_000), ("bbbbbb", 2_000_000), ("cccccc", 1_000_000)] {
        make(&home, id, &TestOutput { tool: "t", conversation: None, success: true, created_at, size: 7 });
    }
    let path = file_of(&home, "bbbbbb", ".meta.json");
    let good = std::fs::read(&path).unwrap();
    let damages: [&dyn Fn() -> Vec<u8>; 6] = [
        &Vec::new,
        &|| b"{\"version\": 1".to_vec(),
        &|| good[..good.len() / 2].to_vec(),
        &|| vec![0; good.len()],
        &|| String::from_utf8_lossy(&good).replace("\"success\":true", "\"success\":null").into_bytes(),
        &|| String::from_utf8_lossy(&good).replace("\"version\":1", "\"version\":2").into_bytes(),
    ];
    for damage in damages {
        std::fs::write(&path, damage()).unwrap();
        let page = home.list(&all()).unwrap();
        assert_eq!((page.total, page.has_more), (3, false));
        let mut found = page.rows.iter().map(|row| (row.id.as_str(), row.corrupted)).collect::<Vec<_>>();
        found.sort_unstable();
        assert_eq!(found, [("aaaaaa", false), ("bbbbbb", true), ("cccccc", false)]);
        let row = page.rows.iter().find(|row| row.corrupted).unwrap();
        assert_eq!((row.tool_name.as_str(), row.success, row.size_bytes, row.kind), ("", false, 7, None));
        // Another process that has the store open sees the same, as does a rebuilt index.
        assert_eq!(home.again().list(&all()).unwrap(), page);
        assert_eq!(home.rebuild().unwrap().corrupted, 1);
        assert_eq!(home.list(&all()).unwrap(), page);
        let kind = home.get("bbbbbb").unwrap_err().class();
        assert!(matches!(kind, ErrorClass::Corrupt | ErrorClass::Version), "{kind:?}");
        let mut filter = all();
        filter.tool_name = Some("t".into());
        assert_eq!(home.list(&filter).unwrap().total, 2);
    }
    // Once repaired, the row is normal again.
    std::fs::write(&path, &good).unwrap();
    assert_eq!(ids(&home.list(&all()).unwrap()), ["aaaaaa", "bbbbbb", "cccccc"]);
    assert!(home.list(&all()).unwrap().rows.iter().all(|row| !row.corrupted));
    // An output without a payload is damaged.
    std::fs::remove_file(file_of(&home, "bbbbbb", ".json")).unwrap();
    home.rebuild().unwrap();
    assert_eq!(home.list(&all()).unwrap().rows.iter().filter(|row| row.corrupted).count(), 1);
    // It can be deleted like any other.
    assert_eq!(home.delete("bbbbbb").unwrap(), "bbbbbb");
    assert_eq!(ids(&home.list(&all()).unwrap()), ["aaaaaa", "cccccc"]);
}

#[test]
fn lists_outputs_of_other_processes() {
    let home = Home::new();
    let other = home.again();
    for number in 0..20 {
        let mut put = other.put(named(&format!("id-{number}"))).unwrap();
        put.write_all(b"[]").unwrap();
        assert_eq!(home.list(&all()).unwrap().total, number);
        put.finish().unwrap();
        assert_eq!(home.list(&all()).unwrap().total, number + 1);
    }
    assert!(home.list(&all()).unwrap().rows.iter().all(|row| row.kind == Some(Kind::Json)));
}
