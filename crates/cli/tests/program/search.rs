//! `trommel search`, and `trommel read` on texts.

use serde_json::{Value, json};

use crate::common::{Folder, Home, data, gzip, line, piped, run, trommel};
use crate::terminal::shown_plainly;

/// The matches of an answer.
fn matches(answer: &Value) -> &Vec<Value> {
    answer["matches"].as_array().unwrap()
}

const LOG: &str = "start\n\tready\nWARN disk /dev/sda is slow\r\nread\nERROR disk /dev/sda failed\nend";

#[test]
fn lines_of_a_log_are_found_in_files_pipes_and_outputs() {
    let folder = Folder::new("search");
    let (file, packed) = (folder.file("a.log", LOG), folder.file("a.log.gz", gzip(LOG.as_bytes())));
    let home = Home::new("search");
    home.put("log-output", LOG);
    let first = json!({"line": 3, "offset": 23, "text": "WARN disk /dev/sda is slow"});
    let second = json!({"line": 5, "offset": 57, "text": "ERROR disk /dev/sda failed"});
    let expected = json!({"matches": [first, second], "total": 2});
    assert_eq!(run(["search", "/dev/sda", &file]).json(), expected);
    assert_eq!(run(["search", "/dev/sda", &packed]).json(), expected);
    assert_eq!(run(["search", "/dev/SDA", &file, "-i", "--no-mmap"]).json(), expected);
    assert_eq!(run(["search", "--regex", r"/dev/[a-z]+ (is|failed)", &file]).json(), expected);
    assert_eq!(piped(["search", "/dev/sda"], LOG.as_bytes()).json(), expected);
    assert_eq!(piped(["search", "/dev/sda", "-"], gzip(LOG.as_bytes()).as_slice()).json(), expected);
    assert_eq!(home.run(["search", "/dev/sda", "output:log-output"]).json(), expected);
    let with_lines = run(["search", "/dev/sda", &file, "-C", "1"]).json();
    assert_eq!(with_lines["matches"][0]["before"], json!(["\tready"]));
    assert_eq!(with_lines["matches"][0]["after"], json!(["read"]));
    assert_eq!(with_lines["matches"][1].get("before"), None);
    assert_eq!(with_lines["matches"][1]["after"], json!(["end"]));
}

#[test]
fn strings_of_json_are_found_with_their_paths() {
    let answer = line("search Ada users.json").json();
    assert!(!matches(&answer).is_empty(), "{answer}");
    for found in matches(&answer) {
        let path = found["path"].as_str().unwrap();
        let extracted = run(["extract", "users.json", path, "-r"]).ok();
        assert!(extracted.contains("Ada") && found["text"] == extracted.trim_end(), "{found}");
        assert_eq!(found.get("record"), None);
    }
    let stream = b"{\"a\": \"x\", \"x\": 1}\n{\"b\": [\"\\u0078y\"]}\nKilled: x\n";
    let expected = json!({"matches": [
        {"path": "$['a']", "record": 0, "offset": 7, "text": "x"},
        {"path": "$['b'][0]", "record": 1, "offset": 27, "text": "xy"},
        {"record": 2, "malformed": true, "offset": 46, "text": "Killed: x"},
    ], "total": 3});
    assert_eq!(piped(["search", "x", "--input", "jsonl"], stream).json(), expected);
    // Without a declared framing the input is not JSON.
    let found = piped(["search", "x", "-"], stream).json();
    assert_eq!(found["matches"][1]["line"], 3, "{found}");
    let short = piped(["search", "needle", "-C", "2"], br#"["hay hay needle hay", "needle"]"#).json();
    assert_eq!(short["matches"][0]["text"], "…y needle h…");
}

#[test]
fn several_inputs_are_searched_in_order() {
    let folder = Folder::new("search-several");
    let (log, json) = (folder.file("a.log", LOG), folder.file("b.json", r#"{"text": "a disk"}"#));
    let answer = run(["search", "disk", &log, &json]).json();
    let files: Vec<&Value> = matches(&answer).iter().map(|found| &found["file"]).collect();
    assert_eq!(files, [&json!(log), &json!(log), &json!(json)]);
    let limited = run(["search", "disk", &log, &json, "-n", "2"]).json();
    assert_eq!(limited["truncated"], json!({"reason": "limit", "returned": 2}));
    assert_eq!((matches(&limited).len(), &limited["total"]), (2, &json!(2)));
    assert_eq!(run(["search", "disk", &log, &json, "-n", "3"]).json().get("truncated"), None);
    let missing = run(["search", "disk", "missing.log", &json]);
    assert_eq!(missing.status, Some(1));
    assert!(missing.err.contains("cannot open missing.log"), "{}", missing.err);
    let answer: Value = serde_json::from_str(&missing.out).unwrap();
    assert_eq!(answer["total"], 1);
}

/// On a terminal, matches have headings and neighbors like those of other searching programs.
#[test]
fn matches_on_a_terminal_show_their_neighbors() {
    let folder = Folder::new("neighbors");
    let one = folder.file("one.log", "a\nb\nfault 1\nc\nd\ne\nf\nfault 2\ng\nfault 3\n");
    let two = folder.file("two.log", "nothing\n");
    let three = folder.file("three.log", "fault 4\nh\n");
    let shown = shown_plainly(trommel(["search", "fault", &one, &two, &three, "-C", "1"]));
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    let of_one = ["2- b", "3: fault 1", "4- c", "--", "7- f", "8: fault 2", "9- g", "10: fault 3"].as_slice();
    assert!(lines[0].contains("one.log") && lines[1..].starts_with(of_one), "{shown}");
    assert!(lines[9].is_empty() && lines[10].contains("three.log"), "{shown}");
    assert_eq!(lines[11..13], ["1: fault 4", "2- h"], "{shown}");
    let alone = shown_plainly(trommel(["search", "fault", &three]));
    assert_eq!(alone.lines().next().map(str::trim_end), Some("1: fault 4"), "{alone}");
    let records = folder.file("bad.jsonl", "{\"a\": \"x\"}\nKilled: x\n");
    let shown = shown_plainly(trommel(["search", "x", &records, "--input", "jsonl"]));
    assert!(shown.contains("1 (not JSON): Killed: x"), "{shown}");
}

#[test]
fn searches_end_with_the_documented_statuses() {
    let folder = Folder::new("search-status");
    let log = folder.file("a.log", LOG);
    assert_eq!(run(["search", "nothing", &log]).ok(), "{\"matches\":[],\"total\":0}\n");
    let none = run(["search", "nothing", &log, "--exit-status"]);
    assert_eq!((none.status, none.err.as_str()), (Some(1), ""));
    let plain = run(["search", "disk.*slow", &log]);
    assert_eq!(plain.status, Some(0));
    assert!(plain.err.contains("pass --regex"), "{}", plain.err);
    for (args, status, said) in [
        (vec!["search", "", &log], 2, "must not be empty"),
        (vec!["search", "a(", "--regex", &log], 2, "unclosed group at character 2"),
        (vec!["search", "a", "missing.log"], 1, "cannot open missing.log"),
        (vec!["search", "a", "."], 1, "directory"),
        (vec!["search", "a", "output:no-such-output"], 2, "no output no-such-output"),
        (vec!["search", "a", "$.a"], 2, "search takes no query"),
    ] {
        let text = run(&args).failed(status);
        assert!(text.contains(said), "{args:?}: {text}");
    }
    let broken = folder.file("b.json", r#"{"a": "x", "b": "x" oops"#);
    let text = run(["search", "x", &broken, "--input", "json"]);
    assert_eq!(text.status, Some(1));
    assert!(text.err.contains("byte 20"), "{}", text.err);
}

/// Joins the pages of a text.
fn pages(args: &[&str]) -> String {
    let mut joined = String::new();
    let mut cursor = None::<String>;
    loop {
        let mut args: Vec<&str> = args.to_vec();
        if let Some(cursor) = &cursor {
            args.extend(["--cursor", cursor]);
        }
        let page = run(&args).json();
        let content = page["content"].as_str().unwrap();
        let next = page["truncated"]["next"].as_str().map(str::to_owned);
        joined.push_str(if next.is_some() { content.trim_end_matches('…') } else { content });
        if next.is_none() {
            return joined;
        }
        cursor = next;
    }
}

#[test]
fn parts_of_a_text_are_read() {
    let folder = Folder::new("texts");
    let lines: Vec<_> = (1..=500).map(|number| format!("line {number} ü\r\n")).collect();
    let text = lines.concat();
    let file = folder.file("a.log", &text);
    let packed = folder.file("a.log.gz", gzip(text.as_bytes()));
    let home = Home::new("texts");
    home.put("text-output", &text);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (options, expected) in [
        (vec![], text.clone()),
        (vec!["--tail", "1"], lines[499].to_owned()),
        (vec!["--tail", "40"], lines[460..].concat()),
        (vec!["--tail", "9999"], text.clone()),
        (vec!["--lines", "7"], lines[6].to_owned()),
        (vec!["--lines", "100:150"], lines[99..150].concat()),
        (vec!["--lines", "490:"], lines[489..].concat()),
        (vec!["--lines", ":20"], lines[..20].concat()),
        (vec!["--lines", "-20:"], lines[480..].concat()),
        (vec!["--lines", "-20:-11"], lines[480..490].concat()),
        (vec!["--lines", "480:-11"], lines[479..490].concat()),
        (vec!["--lines", "-3:499"], lines[497..499].concat()),
        (vec!["--lines", "499:9999"], lines[498..].concat()),
        (vec!["--offset", "6000"], text[text.floor_char_boundary(6_000)..].to_owned()),
    ] {
        for source in [&file, &packed] {
            let mut args = vec!["read", source];
            args.extend(&options);
            args.extend(["--max-chars", "300"]);
            assert_eq!(pages(&args), expected, "{options:?}");
        }
        let mut args = vec!["read", "-", "--max-chars", "100000"];
        args.extend(&options);
        assert_eq!(piped(&args, text.as_bytes()).json()["content"], expected, "{options:?}");
        args[1] = "output:text-output";
        assert_eq!(home.run(&args).json()["content"], expected, "{options:?}");
    }
    for (options, said) in [
        (["--offset", "99999"], "offset 99999 is beyond the end"),
        (["--lines", "501"], "line 501 is beyond the end: the file has 500 lines"),
        (["--lines", "-3:-5"], "no line is between"),
    ] {
        let shown = run([&["read", &file], options.as_slice()].concat()).failed(2);
        assert!(shown.contains(said), "{options:?}: {shown}");
    }
    let shown = run(["read", &file, "--tail", "9", "--max-chars", "2"]).failed(2);
    assert!(shown.contains("--max-chars"), "{shown}");
    let page = run(["read", &file, "--lines", "100:150"]).json();
    assert_eq!((&page["kind"], &page["start_line"]), (&json!("text"), &json!(100)));
    // The last line costs its own characters.
    assert!(run(["read", &file, "--tail", "1"]).ok().chars().count() < 100);
}

#[test]
fn texts_are_recognized_by_their_first_bytes() {
    let folder = Folder::new("recognized");
    for (text, note) in [
        ("2026-01-01 a log\n", None),
        ("plain\n", None),
        ("[INFO] a log\n", Some("not valid JSON")),
        ("\"quoted\" text\n", Some("not valid JSON")),
    ] {
        let file = folder.file("a.log", text);
        for found in [run(["read", &file]), piped(["read", "-"], text.as_bytes())] {
            assert_eq!(found.status, Some(0), "{found:?}");
            assert_eq!(found.err.contains(note.unwrap_or("note")), note.is_some(), "{found:?}");
            let page: Value = serde_json::from_str(&found.out).unwrap();
            assert_eq!((&page["kind"], &page["content"]), (&json!("text"), &json!(text)));
        }
    }
    // JSON from a pipe is read as before, and a malformed object is an error.
    assert_eq!(piped(["read", "-"], b"[1, 2]").json()["content"], json!([1, 2]));
    let said = piped(["read", "-"], b"{\"a\": 1,}").failed(1);
    assert!(said.contains("error[") && said.contains("byte 8"), "{said}");
    // Lines of any file are text.
    let page = run(["read", data().join("log.jsonl").to_str().unwrap(), "--tail", "1"]).json();
    assert!(serde_json::from_str::<Value>(page["content"].as_str().unwrap()).is_ok(), "{page}");
}

#[test]
fn records_are_read_by_number() {
    let third = line("read log.jsonl $[2]").json();
    assert_eq!(line("read log.jsonl --record 2").json(), third);
    let id = line("read log.jsonl $.id --record 2").json();
    assert_eq!((&id["path"], &id["content"]), (&json!("$[2].id"), &third["content"]["id"]));
    for (args, said) in [
        ("read users.json --record 0", "one document, not a stream"),
        ("read log.jsonl --record 99999", "selects nothing"),
        ("read users.json --tail 1 --record 0", "cannot be used with"),
        ("read users.json $.users --tail 1", "omit the query"),
        ("read users.json --lines 0:3", "they count from 1"),
        ("read users.json --lines 9999:", "is beyond the end"),
        ("read users.json --lines 1:2 --cursor 1t0.0-00000000", "does not match"),
    ] {
        let text = line(args).failed(2);
        assert!(text.contains(said), "{args}: {text}");
    }
    let home = Home::new("records");
    home.put("text-1234", "a\nb\n");
    home.put("json-1234", "[1]");
    for (args, said) in [
        (["read", "output:json-1234", "--tail", "1"], "lines and offsets are for text"),
        (["read", "output:json-1234", "--record", "1"], "omit --record"),
        (["read", "output:text-1234", "--record", "1"], "omit --record"),
        (["read", "output:text-1234", "--lines", "9:"], "line 9 is beyond the end: the text has 2 lines"),
    ] {
        let text = home.run(args).failed(2);
        assert!(text.contains(said), "{args:?}: {text}");
    }
}
