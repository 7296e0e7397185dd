//! `trommel extract`: forms, orders, limits, documents, streams.

use crate::common::{self, Folder, line, piped, run};
use serde_json::json;

#[test]
fn values_keep_their_lexemes() {
    assert_eq!(line("extract users.json $.users[*].age").ok(), "36\n24.50\n-0\n");
    assert_eq!(line("extract users.json $.users[2].id").ok(), "12345678901234567890123\n");
    assert_eq!(line("extract users.json $.users[3].name").ok(), "\"D\\u00fcr\"\n");
    assert_eq!(line("extract users.json $.meta").ok(), "{\"n\":3,\"n\":4,\"it's\":true}\n");
    assert_eq!(line("extract users.json $.users[1].tags $.nothing").ok(), "[]\n");
}

#[test]
fn verbatim_prints_the_input_bytes() {
    assert_eq!(
        line("extract users.json $.meta $.users[2].tags --output verbatim").ok(),
        "{ \"n\" : 3, \"n\": 4, \"it's\": true }\n[{\"deep\": null}]\n"
    );
}

#[test]
fn paths_are_normalized() {
    assert_eq!(
        run(["extract", "users.json", "$..deep", "$.meta[\"it's\"]", "--output", "paths"]).ok(),
        "$['users'][2]['tags'][0]['deep']\n$['meta']['it\\'s']\n"
    );
}

#[test]
fn located_lines_have_path_value_and_offsets() {
    let lines = line("extract users.json $.users[0].age --output located").ok();
    assert_eq!(lines, "{\"path\":\"$['users'][0]['age']\",\"value\":36,\"start\":42,\"end\":44}\n");
    let lines = line("extract users.json $.meta.n $.x --output located --duplicates all").ok();
    assert_eq!(lines.lines().count(), 2);
    assert!(lines.lines().all(|line| line.ends_with("\"query\":\"$.meta.n\"}")));
}

/// Lines have the record in a stream, however the stream is recognized.
#[test]
fn located_lines_have_the_record_of_a_stream() {
    let expected = "{\"path\":\"$['id']\",\"value\":1,\"start\":7,\"end\":8,\"record\":0}\n\
                    {\"path\":\"$['id']\",\"value\":2,\"start\":17,\"end\":18,\"record\":1}\n";
    let input = b"{\"id\": 1}\n{\"id\": 2}\n";
    for framing in ["auto", "jsonl", "concatenated"] {
        let run = piped(["extract", "-", "$.id", "--output", "located", "--input", framing], input);
        assert_eq!(run.ok(), expected, "{framing}");
    }
    let one = piped(["extract", "-", "$.id", "--output", "located"], b"{\"id\": 1}\n");
    assert_eq!(one.ok(), expected.lines().next().unwrap().replace(",\"record\":0", "") + "\n");
    let one = piped(["extract", "-", "$.id", "--output", "located", "--input", "jsonl"], b"{\"id\": 1}\n");
    assert_eq!(one.ok(), expected.split_inclusive('\n').next().unwrap());
    // Lines of later queries are held until earlier queries and the kind of input are known.
    let two = piped(["extract", "-", "$.no", "$.id", "--output", "located"], input);
    assert_eq!(two.ok(), expected.replace(",\"record\"", ",\"query\":\"$.id\",\"record\""));
    let none = piped(["extract", "-", "$.id", "--output", "located"], b"{\"id\": 1}\n{}\n");
    assert_eq!(none.ok(), expected.split_inclusive('\n').next().unwrap());
}

#[test]
fn values_come_query_by_query_unless_the_order_is_the_documents() {
    let args = ["extract", "log.jsonl", "$.ms", "$.id"];
    assert_eq!(run(args).ok(), "12\n250.0\n7\n1e3\n1\n2\n3\n4\n");
    let document = run(args.into_iter().chain(["--order", "document"])).ok();
    assert_eq!(document, "1\n12\n2\n250.0\n3\n7\n4\n1e3\n");
    assert_eq!(piped(["extract", "-", "$[1,0]", "$..*"], b"[1,[2]]").ok(), "[2]\n1\n1\n[2]\n2\n");
    let document = piped(["extract", "-", "$[1,0]", "--order", "document"], b"[1,[2]]").ok();
    assert_eq!(document, "1\n[2]\n");
}

#[test]
fn limits_apply_to_each_query() {
    assert_eq!(line("extract log.jsonl $.id $.level --limit 2").ok(), "1\n2\n\"info\"\n\"error\"\n");
    assert_eq!(line("extract log.jsonl $.id --limit 0").ok(), "");
    // The rest of the input is not read.
    assert_eq!(piped(["extract", "-", "$[*]", "--limit", "2"], b"[1,2,tru").ok(), "1\n2\n");
}

#[test]
fn duplicates_selects_members_that_share_a_name() {
    assert_eq!(line("extract users.json $.meta.n").ok(), "3\n");
    assert_eq!(line("extract users.json $.meta.n --duplicates all").ok(), "3\n4\n");
}

#[test]
fn no_match_fails_only_with_exit_status() {
    assert_eq!(line("extract users.json $.x").ok(), "");
    assert_eq!(line("extract users.json $.x --exit-status").failed(1), "");
    assert_eq!(line("extract users.json $.x --json --exit-status").status, Some(1));
    assert_eq!(line("extract users.json $.x $.meta.n --exit-status").ok(), "3\n");
}

#[test]
fn json_has_the_members_of_the_tool() {
    let shape = |args: &str| line(&format!("extract users.json {args} --json")).json();
    assert_eq!(
        shape("$.users[0].name $..n $.x"),
        json!({"extracted": {"$.users[0].name": "Ada", "$..n": [3], "$.x": null}, "missing_paths": ["$.x"]})
    );
    assert_eq!(
        shape("$.x $.y[*] --default '\"N/A\"'"),
        json!({"extracted": {"$.x": "N/A", "$.y[*]": "N/A"}, "missing_paths": ["$.x", "$.y[*]"]})
    );
    assert_eq!(
        shape("$.users[*].country $.x $.meta.n --flatten"),
        json!({"extracted": ["UK", "FR", "UK", 3], "missing_paths": ["$.x"]})
    );
    assert_eq!(
        shape("$.x $.meta.n $.y --flatten --default 0"),
        json!({"extracted": [0, 3, 0], "missing_paths": ["$.x", "$.y"]})
    );
    assert_eq!(
        shape("$.meta.n $.users[*].age $.x --include-paths"),
        json!({
            "extracted": [
                {"path": "$.meta.n", "value": 3},
                {"path": "$.users[*].age", "value": [36, 24.5, -0.0]},
                {"path": "$.x", "value": null},
            ],
            "missing_paths": ["$.x"],
        })
    );
    assert_eq!(
        shape("$..n $.x --include-paths --flatten --default []"),
        json!({
            "extracted": [
                {"path": "$..n", "location": "$['meta']['n']", "value": 3},
                {"path": "$.x", "value": []},
            ],
            "missing_paths": ["$.x"],
        })
    );
}

#[test]
fn bare_values_become_arrays_if_there_can_be_several() {
    assert_eq!(line("extract users.json $.meta.n --json").json(), json!({"extracted": {"$.meta.n": 3}}));
    assert_eq!(
        line("extract users.json $.meta.n --json --duplicates all").json(),
        json!({"extracted": {"$.meta.n": [3, 4]}})
    );
    assert_eq!(line("extract log.jsonl $.tags --json").json(), json!({"extracted": {"$.tags": [["db"]]}}));
    let input = b"{\"a\":1}\n{\"b\":2}\n";
    assert_eq!(piped(["extract", "-", "$.a", "--json"], input).json(), json!({"extracted": {"$.a": [1]}}));
    let one = piped(["extract", "-", "$.a", "--json"], b"{\"a\":1}\n");
    assert_eq!(one.json(), json!({"extracted": {"$.a": 1}}));
}

#[test]
fn repeated_queries_give_one_member() {
    let run = line("extract users.json $..n $.meta.n $..n --json");
    assert_eq!(run.ok(), "{\"extracted\":{\"$..n\":[3],\"$.meta.n\":3}}\n");
    let run = line("extract users.json $.meta.n $.meta.n");
    assert_eq!(run.ok(), "3\n3\n");
}

#[test]
fn flat_documents_in_document_order_interleave_queries() {
    let run = line("extract log.jsonl $.ms $.id --json --flatten --order document --limit 2");
    assert_eq!(run.ok(), "{\"extracted\":[1,12,2,250.0]}\n");
}

/// A container that the engine skipped by its brackets is validated before it is printed.
#[test]
fn skipped_containers_are_validated_before_printing() {
    assert_eq!(line("extract skipped.json $.ok").ok(), "1\n");
    let refused = line("extract skipped.json $.later").failed(1);
    assert!(
        refused.contains("skipped.json:2:7: not a JSON literal") && refused.contains("byte 25"),
        "{refused}"
    );
    let refused = line("extract skipped.json $.later --json").failed(1);
    assert!(refused.contains("skipped.json:2:7"), "{refused}");
    // A pipe cannot be read again, so line and column are unknown.
    let refused =
        piped(["extract", "-", "$.later"], &common::read(common::data().join("skipped.json"))).failed(1);
    assert!(refused.contains("<stdin>: not a JSON literal") && refused.contains("byte 25"), "{refused}");
    let strict = line("extract skipped.json $.ok --strict");
    assert_eq!((strict.status, strict.out.as_str()), (Some(1), "1\n"));
    assert!(strict.err.contains("skipped.json:2:7"), "{}", strict.err);
    let before = line("extract damaged.jsonl $ --input jsonl");
    assert_eq!((before.status, before.out.as_str()), (Some(1), "{\"id\":1}\n"));
    assert!(before.err.contains("damaged.jsonl:2:9") && before.err.contains("record 1"), "{}", before.err);
}

#[test]
fn bad_records_are_skipped_on_request() {
    let run = line("extract damaged.jsonl $.id --on-bad-record skip");
    assert_eq!((run.status, run.out.as_str()), (Some(0), "1\n6\n"));
    assert_eq!(run.err.lines().count(), 4);
    assert!(
        run.err.contains("damaged.jsonl:3:8: skipped record 2: not a JSON literal (byte 26)"),
        "{}",
        run.err
    );
    assert!(run.err.ends_with("note: skipped 3 malformed records\n"), "{}", run.err);
    let run = line("extract damaged.json-seq $.id --on-bad-record skip");
    assert_eq!((run.status, run.out.as_str()), (Some(0), "1\n3\n"));
    // Values without a separator cannot be skipped.
    let run = piped(["extract", "-", "$", "--input", "concatenated", "--on-bad-record", "skip"], b"1 2 x 3");
    assert_eq!((run.status, run.out.as_str()), (Some(1), "1\n2\n"));
}

/// Values of later queries are held in unnamed files, within a limit.
#[test]
fn held_values_are_limited() {
    let folder = Folder::new("waiting");
    let items = vec!["\"0123456789\""; 20_000].join(", ");
    let file = folder.file("items.json", format!("{{\"a\": [{items}], \"b\": [{items}]}}"));
    let all = run(["extract", &file, "$.b[*]", "$.a[*]"]).ok();
    assert!(all.len() == 2 * 20_000 * 13 && all.lines().all(|line| line == "\"0123456789\""));
    let few = run(["extract", &file, "$.b[*]", "$.a[*]", "--spool-limit", "100KB"]);
    assert_eq!(few.status, Some(1));
    assert!(few.err.contains("100000 bytes") && few.err.contains("--order document"), "{}", few.err);
    let together =
        run(["extract", &file, "$.b[*]", "$.a[*]", "--spool-limit", "100KB", "--order", "document"]);
    assert_eq!(together.ok().len(), all.len());
    assert_eq!(folder.entries().len(), 1);
}

/// A value much larger than the buffer is printed in pieces.
#[test]
fn large_values_are_printed_in_pieces() {
    let folder = Folder::new("large");
    let text = "0123456789abcde ".repeat(200_000);
    let numbers = vec!["1 , 2 , {\"a\": [ ] }"; 100_000].join(" ,\n");
    let file = folder.file("large.json", format!("{{\"text\": \"{text}\", \"list\": [ {numbers} ]}}"));
    let expected = format!("\"{text}\"\n[{}]\n", vec!["1,2,{\"a\":[]}"; 100_000].join(","));
    assert!(run(["extract", &file, "$.text", "$.list"]).ok() == expected);
    assert!(run(["extract", &file, "$.text", "$.list", "--no-mmap"]).ok() == expected);
    let raw = run(["extract", &file, "$.text", "$.list", "--output", "verbatim"]).ok();
    assert!(raw == format!("\"{text}\"\n[ {numbers} ]\n"));
}

#[test]
fn threads_do_not_change_the_answer() {
    let folder = Folder::new("threads");
    let lines = (0..60_000).map(|id| format!("{{\"id\": {id}, \"tags\": [{}]}}\n", id % 7));
    let lines = lines.collect::<Vec<_>>().concat();
    let file = folder.file("many.jsonl", lines);
    let args = ["extract", &file, "$.tags[0]", "$.id", "--output", "located"];
    let one = run(args.into_iter().chain(["--threads", "1"])).ok();
    let four = run(args.into_iter().chain(["--threads", "4"])).ok();
    assert!(one == four && one.lines().count() == 120_000);
}

/// The last member of a name is selected, as in most parsers.
#[test]
fn the_last_of_repeated_names_can_be_selected() {
    let text = br#"{"a":1,"b":{"a":2,"a":3},"a":{"c":4,"c":5}}"#;
    let last = |query: &str| piped(["extract", "-", query, "--duplicates", "last"], text).ok();
    assert_eq!(last("$.a"), "{\"c\":4,\"c\":5}\n");
    assert_eq!(last("$.a.c"), "5\n");
    assert_eq!(last("$..a"), "{\"c\":4,\"c\":5}\n3\n");
    assert_eq!(last("$[?@.a == 3].a"), "3\n");
    let first = piped(["extract", "-", "$.a", "--duplicates", "first"], text).ok();
    assert_eq!(first, "1\n");
}
