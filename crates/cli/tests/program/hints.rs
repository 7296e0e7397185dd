//! Notes about queries that select nothing. They never affect standard output or the exit status,
//! and never appear for a query that selects something.

use serde_json::{Value, json};

use crate::common::{Folder, Home, gzip, piped, run};

const STORE: &str = r#"{"products": [{"name": "a", "price": 150}, {"name": "b", "price": 5}], "total": 2}"#;

const LOG: &str = "{\"level\":\"info\",\"msg\":\"a\"}\n{\"level\":\"error\",\"msg\":\"b\"}\n";

/// A folder with the test documents.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("store.json", STORE);
    folder.file("log.jsonl", LOG);
    folder.file("log.jsonl.gz", gzip(LOG.as_bytes()));
    folder
}

/// Returns the notes of a command that succeeds.
fn notes(folder: &Folder, args: &[&str]) -> Vec<String> {
    let args = args.iter().map(|arg| match *arg {
        file if file.contains(".json") && !file.contains(['$', '@']) => {
            folder.path(file).to_string_lossy().into_owned()
        }
        arg => arg.to_owned(),
    });
    let ran = run(args.collect::<Vec<_>>());
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let note = |line: &str| line.strip_prefix("note: ").unwrap_or(line).to_owned();
    ran.err.lines().map(note).filter(|note| !note.starts_with("drawn with --seed")).collect()
}

#[test]
fn names_the_nearest_path_for_every_command() {
    let folder = folder("hints-path");
    let query = "$.products[?@.prise > 100].name";
    let hint = format!("`{query}` selects nothing; the nearest path is `$.products[?@.price > 100].name`");
    assert_eq!(notes(&folder, &["extract", "store.json", query]), [hint.as_str()]);
    assert_eq!(notes(&folder, &["extract", "store.json", query, "--json"]), [hint.as_str()]);
    assert_eq!(notes(&folder, &["count", "store.json", &format!("n={query}")]), [hint.as_str()]);
    assert_eq!(notes(&folder, &["stats", "store.json", query]), [hint.as_str()]);
    assert_eq!(notes(&folder, &["stats", "store.json", query, "$.total"]), [hint.as_str()]);
    assert_eq!(
        notes(&folder, &["sample", "store.json", query, "-n", "2"]),
        [format!("only 0 of 2 drawn: {hint}")]
    );
    assert_eq!(notes(&folder, &["sample", "store.json", "$.zzz[*]", "-n", "2"]).len(), 1);
}

/// The rest of a long document is not read for a hint, but the records after a long one are.
#[test]
fn long_roots_are_read_in_part() {
    let folder = folder("hints-long");
    let elements = vec![r#"{"name":1}"#; 300].join(",");
    folder.file("long.json", format!("[{elements}]"));
    folder.file("records.json", format!("[{elements}]\n{{\"other\":{{\"level\":2}}}}\n"));
    let nearest =
        |query: &str, path: &str| format!("`{query}` selects nothing; the nearest path is `{path}`");
    let query = "$[*].nmae";
    assert_eq!(notes(&folder, &["extract", "long.json", query]), [nearest(query, "$[*].name")]);
    let query = "$.other.lvel";
    assert_eq!(notes(&folder, &["extract", "records.json", query]), [nearest(query, "$.other.level")]);
    assert!(notes(&folder, &["extract", "long.json", "$[*].nmae", "--quiet"]).is_empty());
}

#[test]
fn each_query_gets_its_own_note() {
    let folder = folder("hints-several");
    let args = ["extract", "store.json", "$.Total", "$.total", "$.products[9].name", "$.nothing"];
    assert_eq!(
        notes(&folder, &args),
        [
            "`$.Total` selects nothing; the nearest path is `$.total`",
            "`$.products[9].name` selects nothing: `$.products` has 2 elements",
        ]
    );
}

#[test]
fn names_where_for_a_filter_on_records() {
    let folder = folder("hints-records");
    for file in ["log.jsonl", "log.jsonl.gz"] {
        for (query, rest) in [(r#"$[?@.level=="error"]"#, "$"), (r#"$[?@.level=="error"].msg"#, "$.msg")] {
            let [note] = &*notes(&folder, &["count", file, query]) else { panic!("one note for {query}") };
            let says = format!(r#"use --where '@.level == "error"' with the query '{rest}'"#);
            assert!(
                note.starts_with(&format!("`{query}` selects nothing")) && note.ends_with(&says),
                "{note}"
            );
        }
    }
    let filter = ["count", "log.jsonl", "n=$", "--where", r#"@.levle == "error""#];
    let [note] = &*notes(&folder, &filter) else { panic!("one note") };
    assert!(note.ends_with(r#"one that selects something is `@.level == "error"`"#), "{note}");
    let [note] = &*notes(&folder, &["stats", "log.jsonl", "$.msg", "--where", r#"@.levle == "error""#])
    else {
        panic!("one note")
    };
    assert!(note.ends_with(r#"one that selects something is `@.level == "error"`"#), "{note}");
    let [note] = &*notes(&folder, &["schema", "log.jsonl", "--where", r#"search(@.msg, "\\d")"#]) else {
        panic!("one note")
    };
    assert!(note.ends_with("write `[0-9]`"), "{note}");
}

/// A pipe is read once; its prefix is enough for a hint.
#[test]
fn pipes_get_hints_from_their_beginning() {
    let record = "{\"level\":\"info\",\"msg\":\"a\"}\n";
    for copies in [1, 100_000] {
        let piped = piped(["extract", "-", "$.mgs", "--input", "jsonl"], record.repeat(copies).as_bytes());
        assert_eq!((piped.status, piped.out.as_str()), (Some(0), ""));
        assert_eq!(piped.err, "note: `$.mgs` selects nothing; the nearest path is `$.msg`\n", "{copies}");
    }
    let packed = piped(["count", "-", "$.Total"], &gzip(STORE.as_bytes()));
    assert_eq!(packed.err, "note: `$.Total` selects nothing; the nearest path is `$.total`\n");
}

/// By RFC 9535 such a pattern matches nothing, regardless of what else the query selects.
#[test]
fn names_patterns_that_are_not_valid() {
    let folder = folder("hints-patterns");
    let invalid =
        |pattern: &str| format!("the pattern `{pattern}` is not an I-Regexp (RFC 9485) and matches nothing");
    for (pattern, says) in [
        (r"\\d+", invalid(r"\d+") + "; write `[0-9]+`"),
        (r"\\w\\s", invalid(r"\w\s") + r"; write `[A-Za-z0-9_][ \t\r\n]`"),
    ] {
        for query in [
            format!(r#"$.products[?search(@.name, "{pattern}")]"#),
            format!(r#"$.products[?search(@.name, "{pattern}") || @.price > 100]"#),
        ] {
            assert_eq!(notes(&folder, &["extract", "store.json", &query]), [says.as_str()], "{query}");
            assert_eq!(notes(&folder, &["count", "store.json", &query]), [says.as_str()], "{query}");
            assert_eq!(notes(&folder, &["stats", "store.json", &query]), [says.as_str()], "{query}");
        }
    }
    let query = r#"$.products[?search(@.name, "(?i)A")]"#;
    let note = &notes(&folder, &["sample", "store.json", query, "-n", "1"])[0];
    assert!(note.starts_with(&invalid("(?i)A")) && note.contains("no flags"), "{note}");
    let filter = ["count", "log.jsonl", "$", "--where", r#"match(@.msg, "\\w")"#];
    assert_eq!(notes(&folder, &filter), [invalid(r"\w") + "; write `[A-Za-z0-9_]`"]);
}

#[test]
fn queries_that_select_something_get_no_note() {
    let folder = folder("hints-none");
    folder.file("bad.jsonl", "{\"a\":1}\n{\"a\":\n{\"b\":[]}\n");
    for args in [
        &["extract", "store.json", "$.total", "$.products[?@.price > 100]"][..],
        &["extract", "store.json", "$..price", "--limit", "1"],
        &["extract", "store.json", "$.total", "--exit-status"],
        &["extract", "log.jsonl", "$.level", "--limit", "1"],
        &["count", "store.json", "$.products", "--as", "array_length"],
        &["count", "log.jsonl", "$", "--where", "@.level == 'error'"],
        &["sample", "store.json", "$.products", "-n", "2"],
        &["stats", "store.json", "$.products[0]"],
        &["schema", "store.json"],
    ] {
        assert_eq!(notes(&folder, args), [""; 0], "{args:?}");
    }
    let skipped = notes(&folder, &["count", "bad.jsonl", "$.a", "$.b", "--on-bad-record", "skip"]);
    assert!(skipped.iter().all(|note| !note.contains("selects nothing")), "{skipped:?}");
    let skipped = notes(&folder, &["count", "bad.jsonl", "$.bb", "--on-bad-record", "skip"]);
    assert!(skipped.iter().all(|note| !note.contains("nearest path is `$.a`")), "{skipped:?}");
}

#[test]
fn notes_change_neither_output_nor_status() {
    let folder = folder("hints-status");
    let file = folder.path("store.json").to_string_lossy().into_owned();
    let extracted = run(["extract", &file, "$.Total", "--exit-status"]);
    assert_eq!((extracted.status, extracted.out.as_str()), (Some(1), ""));
    assert!(extracted.err.contains("the nearest path is `$.total`"), "{}", extracted.err);
    let counted = run(["count", &file, "$.Total"]);
    assert_eq!(
        (counted.status, counted.out.as_str()),
        (Some(0), "{\"counts\":{\"$.Total\":0},\"total\":0}\n")
    );
}

#[test]
fn refuses_a_filter_written_as_a_path() {
    let folder = folder("hints-filter");
    let file = folder.path("store.json").to_string_lossy().into_owned();
    let refused = run(["count", &file, "$.products[*]", "--where", "$.products[?(@.price > 100)]"]).failed(2);
    assert!(
        refused.contains("query-filtered-path") && refused.contains("write `@.price > 100`"),
        "{refused}"
    );
}

/// The error's JSON has the members of the metadata.
#[test]
fn errors_of_calls_carry_code_offset_and_suggestion() {
    let home = Home::new("hints-calls");
    home.put("numbers-1", "{\"a\": [1]}");
    home.put("numbers-2", "[1]");
    let failed = |tool: &str, arguments: &str| -> Value {
        let ran = home.run(["call", tool, arguments, "--json"]);
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
        serde_json::from_str(&ran.err).unwrap()
    };
    let error = failed("tool_outputs.extract", r#"{"id": "numbers-1", "paths": ["$.a[0"]}"#);
    assert_eq!((&error["code"], &error["offset"]), (&json!("query-end"), &json!(5)));
    assert_eq!(error["suggestion"], "$.a[0]");
    let error = failed("tool_outputs.stats", r#"{"id": "numbers"}"#);
    assert_eq!(error["candidates"], json!(["numbers-1", "numbers-2"]));
    assert_eq!(error["code"], "ambiguous");
    let error = failed("tool_outputs.stats", "{\"id\":\n \"numbers-1\",, }");
    assert_eq!((&error["code"], &error["offset"]), (&json!("invalid_json"), &json!(20)));
    let error = failed("tool_outputs.stats", "{}");
    assert_eq!(error["code"], "invalid_arguments");
    let error = failed("tool_outputs.extarct", "{}");
    assert_eq!(
        (&error["code"], &error["suggestions"]),
        (&json!("not_found"), &json!(["tool_outputs.extract"]))
    );
    let counts = r#"{"id": "numbers-1", "counts": [{"name": "n", "path": "$", "filter": "$.a[?@ > 0]"}]}"#;
    let error = failed("tool_outputs.count", counts);
    assert_eq!((&error["code"], &error["suggestion"]), (&json!("query-filtered-path"), &json!("@ > 0")));
}
