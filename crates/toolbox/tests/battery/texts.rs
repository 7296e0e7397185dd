//! `tool_outputs.read` on texts: by lines, from the end, and from an offset.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::Random;

use crate::support::Bench;

/// Changes the line index in the description of an output, and seals it again.
fn change_index(bench: &Bench, id: &str, index: Option<Value>) {
    let folder = &blake3::hash(id.as_bytes()).to_hex()[..2];
    let path: PathBuf = bench.store.root().join("payload").join(folder).join(format!("{id}.meta.json"));
    let mut object: Map<String, Value> = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    object.shift_remove("seal");
    object.shift_remove("line_index").unwrap();
    if let Some(index) = index {
        object.insert("line_index".into(), index);
    }
    let object = serde_json::to_string(&object).unwrap();
    let seal = blake3::hash(object.as_bytes()).to_hex();
    let text = format!("{},\"seal\":\"{}\"}}\n", object.strip_suffix('}').unwrap(), &seal[..32]);
    fs::write(path, text).unwrap();
}

/// A text of many lines of both line ends, with characters of all lengths.
fn random_text(random: &mut Random) -> String {
    let mut text = String::from("log\n");
    for _ in 0..random.below(20_000) {
        for _ in 0..random.below(8) {
            text.push_str(random.pick(&["a", "é", "日本", "😀", "word ", "\t"]));
        }
        text.push_str(random.pick(&["\n", "\n", "\r\n"]));
    }
    if random.chance(50) {
        text.push_str("no line end");
    }
    text
}

/// The lines from `start` to `end`, counted from 1.
fn lines_of(text: &str, start: usize, end: usize) -> String {
    text.split_inclusive('\n').skip(start - 1).take(end - start + 1).collect()
}

#[test]
fn ranges_are_those_of_a_naive_split() {
    for seed in 0..cases(3, 30) {
        let mut random = Random::new(seed);
        let text = random_text(&mut random);
        let bench = if random.chance(50) { Bench::new() } else { Bench::packed() };
        for id in ["indexed", "unindexed", "misindexed"] {
            bench.put(id, &text);
        }
        change_index(&bench, "unindexed", None);
        let lines = text.split_inclusive('\n').count();
        // All lines are in the last block, as this index has it.
        let mut ends = vec![0_usize; text.len().div_ceil(65_536)];
        *ends.last_mut().unwrap() = text.matches('\n').count();
        let wrong = json!({"version": 1, "lines": lines, "block": 65_536, "ends": ends});
        for _ in 0..12 {
            let mut start = random.between(1, lines);
            let mut end = random.between(start, lines + 3);
            let mut offset = random.below(text.len());
            let (negative, few) = (-(random.between(1, lines) as i64), random.between(1, 40));
            if random.chance(60) {
                end = (start + random.below(30)).max(start);
            }
            if random.chance(10) {
                (start, end, offset) = (1, lines, 0);
            }
            while !text.is_char_boundary(offset) {
                offset -= 1;
            }
            let from_end = lines + 1 - negative.unsigned_abs() as usize;
            for (range, expected) in [
                (json!({"start_line": start, "end_line": end}), lines_of(&text, start, end)),
                (json!({"start_line": start}), lines_of(&text, start, lines)),
                (json!({"end_line": end.min(200)}), lines_of(&text, 1, end.min(200))),
                (json!({"start_line": negative}), lines_of(&text, from_end, lines)),
                (json!({"end_line": negative}), lines_of(&text, 1, from_end)),
                (json!({"tail": few}), lines_of(&text, (lines + 1).saturating_sub(few).max(1), lines)),
                (json!({"offset": offset}), text[offset..].to_owned()),
            ] {
                let mut pages = Vec::new();
                for id in ["indexed", "unindexed"] {
                    let mut arguments = range.clone();
                    arguments["id"] = json!(id);
                    arguments["max_chars"] = json!(100_000);
                    let found = bench.walk("read", &arguments);
                    pages.push(found.iter().map(|page| content(&page.value.clone())).collect::<Vec<_>>());
                }
                assert_eq!(pages[0], pages[1], "{range}");
                let joined: String = pages[0].iter().map(|(content, _)| content.as_str()).collect();
                assert!(joined == expected, "{range}");
                let mut passed = text.len() - expected.len();
                if range.get("end_line").is_some() {
                    passed = text.find(&*expected).unwrap_or(0);
                    if range.get("start_line").is_some() {
                        passed = lines_of(&text, 1, start).len() - lines_of(&text, start, start).len();
                    }
                }
                for (content, line) in &pages[0] {
                    let before = text[..passed].matches('\n').count() as u64;
                    assert_eq!(*line, before + 1, "{range}");
                    passed += content.len();
                }
            }
        }
        // An index that has more lines in a block than the text is not used.
        change_index(&bench, "misindexed", Some(wrong));
        let range = json!({"id": "misindexed", "start_line": -1});
        assert_eq!(bench.value("read", range)["content"], lines_of(&text, lines, lines));
    }
}

/// Returns the content of a page without the ellipsis, and its first line.
fn content(page: &Value) -> (String, u64) {
    let text = page["content"].as_str().unwrap();
    let text = if page.get("truncated").is_some() { text.strip_suffix('…').unwrap_or(text) } else { text };
    (text.to_owned(), page["start_line"].as_u64().unwrap())
}

/// A request for the end or the middle of a log costs only its own answer.
#[test]
fn the_last_line_of_a_long_log_takes_one_short_call() {
    let mut text = String::new();
    for number in 0..90_000 {
        writeln!(text, "2026-01-01T00:00:00Z INFO request {number:06} took 17 ms on host-a").unwrap();
    }
    text.push_str("2026-01-01T00:00:01Z FATAL out of memory\n");
    assert!(text.len() > 5_000_000);
    for bench in [Bench::new(), Bench::packed()] {
        bench.put("textlog", &text);
        for last in [json!({"tail": 1}), json!({"start_line": -1}), json!({"start_line": 90_001})] {
            let mut arguments = last;
            arguments["id"] = json!("textlog");
            let page = bench.ok("read", arguments);
            assert_eq!(page.value["content"], "2026-01-01T00:00:01Z FATAL out of memory\n");
            assert_eq!(page.value["start_line"], 90_001);
            assert_eq!(page.value["size"], json!({"bytes": text.len(), "items": 90_001}));
            assert!(page.text.chars().count() < 250, "{}", page.text);
            assert!(
                page.coverage("bytes_read").as_u64().unwrap() < 70_000,
                "{}",
                page.coverage("bytes_read")
            );
        }
        let page = bench.ok("read", json!({"id": "textlog", "start_line": 40_000, "end_line": 40_002}));
        assert!(page.value["content"].as_str().unwrap().contains("request 039999 took"));
        assert!(page.text.chars().count() < 400, "{}", page.text);
        assert!(page.coverage("bytes_read").as_u64().unwrap() < 140_000, "{}", page.coverage("bytes_read"));
    }
}

#[test]
fn a_text_of_one_long_line_is_read_in_parts() {
    let bench = Bench::new();
    let text = format!("{}needle{}", "x".repeat(30_000_000), "y".repeat(20_000_000));
    bench.put("one-line", &text);
    let page = bench.ok("read", json!({"id": "one-line", "offset": 30_000_000, "max_chars": 400}));
    assert!(page.value["content"].as_str().unwrap().starts_with("needleyyy"));
    assert_eq!(page.value["start_line"], 1);
    let next = bench
        .ok("read", json!({"id": "one-line", "offset": 30_000_000, "max_chars": 400, "cursor": page.next()}));
    assert!(next.value["content"].as_str().unwrap().starts_with("yyy"));
    let page = bench.ok("read", json!({"id": "one-line", "tail": 1}));
    assert!(page.value["content"].as_str().unwrap().starts_with("xxx"));
    assert_eq!(page.value["size"]["items"], 1);
}

#[test]
fn line_ends_and_invalid_bytes_are_kept_in_place() {
    let bench = Bench::new();
    bench.put("crlf", "a\r\n\r\nb\r\nc");
    let read = |id: &str, range: Value| {
        let mut arguments = range;
        arguments["id"] = json!(id);
        bench.value("read", arguments)["content"].clone()
    };
    assert_eq!(read("crlf", json!({"start_line": 2, "end_line": 3})), "\r\nb\r\n");
    assert_eq!(read("crlf", json!({"tail": 1})), "c");
    assert_eq!(read("crlf", json!({"tail": 99})), "a\r\n\r\nb\r\nc");
    bench.put("invalid", b"a\xFF\n\x80\x80\x80\x80\x80b\nc\xC3");
    assert_eq!(read("invalid", json!({"end_line": 1})), "a\u{FFFD}\n");
    assert_eq!(read("invalid", json!({"offset": 7})), "\u{FFFD}b\nc\u{FFFD}");
    assert_eq!(read("invalid", json!({"start_line": -1})), "c\u{FFFD}");
    bench.put("wide", "日本\n語");
    assert_eq!(read("wide", json!({"offset": 5})), "本\n語");
    assert_eq!(read("wide", json!({"offset": 10})), "");
    bench.put("nothing", "");
    assert_eq!(read("nothing", json!({"tail": 3})), "");
}

#[test]
fn ranges_that_cannot_be_read_are_refused() {
    let bench = Bench::new();
    bench.put("text-1", "a\nb\nc\n");
    bench.put("lines-1", "{\"a\":1}\n{\"a\":2}\n");
    bench.put("json-1", "[1,\n2]");
    for (id, range, why) in [
        ("text-1", json!({"start_line": 4}), "line 4 is beyond the end: the text has 3 lines"),
        ("text-1", json!({"start_line": 3, "end_line": 2}), "no line is between line 3 and line 2"),
        ("text-1", json!({"start_line": 2, "end_line": -3}), "no line is between line 2 and line 1"),
        ("text-1", json!({"start_line": 0}), "there is no line 0"),
        ("text-1", json!({"tail": 1, "offset": 2}), "exclude one another"),
        ("text-1", json!({"start_line": 1, "tail": 2}), "exclude one another"),
        ("text-1", json!({"offset": 7}), "offset 7 is beyond the end: the text has 6 bytes"),
        ("text-1", json!({"record": 0}), "it is text"),
        ("lines-1", json!({"tail": 1}), "`record` reads a record"),
        ("json-1", json!({"start_line": 1}), "read a value by its `path`"),
        ("json-1", json!({"record": 0}), "not a stream of records"),
        ("lines-1", json!({"record": 2}), "the stream has 2 records"),
        ("lines-1", json!({"record": 0, "path": "$..a"}), "can select several values"),
    ] {
        let mut arguments = range.clone();
        arguments["id"] = json!(id);
        let message = bench.refused("read", arguments);
        assert!(message.contains(why), "{id} {range}: {message}");
    }
    let page = bench.ok("read", json!({"id": "text-1", "start_line": 1, "max_chars": 200}));
    assert_eq!(page.next(), None);
    let long = "a line of a text\n".repeat(100);
    bench.put("long-1", &long);
    let page = bench.ok("read", json!({"id": "long-1", "start_line": 2, "max_chars": 300}));
    let message = bench.refused("read", json!({"id": "long-1", "start_line": 3, "cursor": page.next()}));
    assert!(message.contains("cursor"), "{message}");
}

#[test]
fn records_are_read_by_number() {
    let bench = Bench::new();
    bench.put("lines-1", "{\"a\":{\"b\":1}}\n{\"a\":{\"b\":2}}\n{\"a\":{\"b\":3}}\n");
    for (arguments, path, content) in [
        (json!({"record": 1}), "$[1]", json!({"a": {"b": 2}})),
        (json!({"record": 1, "path": "$.a.b"}), "$[1].a.b", json!(2)),
        (json!({"record": -1, "path": "$.a"}), "$[-1].a", json!({"b": 3})),
        (json!({"path": "$[2].a"}), "$[2].a", json!({"b": 3})),
    ] {
        let mut arguments = arguments;
        arguments["id"] = json!("lines-1");
        let page = bench.value("read", arguments);
        assert_eq!((&page["path"], &page["content"]), (&json!(path), &content));
    }
}
