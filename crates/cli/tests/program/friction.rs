//! What the first users of the command line stumbled over, F1 to F15, each as it works now. F10,
//! the bar beside a pager, is tested with the other bars.

use serde_json::Value;

use crate::common::{Folder, Run, gzip, piped, run, trommel};
use crate::terminal::shown_plainly;

const LOG: &str = "{\"level\":\"error\",\"ms\":5}\n{\"level\":\"info\",\"ms\":7}\n";
const TWEETS: &str = r#"{"statuses":[{"id":1,"text":"RT 5","lang":"ja"},{"id":2,"text":"x","lang":"en"}]}"#;

/// Runs a command on a file, which is its first argument.
fn on(file: &str, args: &[&str]) -> Run {
    let (command, rest) = args.split_first().unwrap();
    run([&[*command, file], rest].concat())
}

#[track_caller]
fn note(run: &Run, text: &str) {
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.err.starts_with("note: ") && run.err.contains(text), "{}", run.err);
}

#[track_caller]
fn help(run: Run, status: i32, text: &str) {
    let error = run.failed(status);
    assert!(error.contains(text), "{error}");
}

#[test]
fn f01_records_of_a_log_are_filtered_by_every_command() {
    let folder = Folder::new("f01");
    let log = &folder.file("log.jsonl", LOG);
    let filter = ["--where", "@.level == 'error'"];
    let with = |args: &[&str]| on(log, &[args, &filter].concat());
    assert_eq!(with(&["extract", "$.ms"]).ok(), "5\n");
    assert_eq!(with(&["count", "$"]).json()["total"], 1);
    assert_eq!(with(&["group", "$.level"]).json()["total"], 1);
    assert_eq!(with(&["stats"]).json()["records"], 1);
    assert_eq!(with(&["schema"]).json()["properties"]["ms"]["type"], "integer");
    assert_eq!(with(&["sample", "-n", "1", "--seed", "1"]).out, "{\"level\":\"error\",\"ms\":5}\n");
    note(&on(log, &["extract", "$[?@.level == 'error']"]), "--where '@.level == \"error\"'");
}

#[test]
fn f02_the_filter_of_the_help_selects_something() {
    let help = run(["count", "--help"]).ok();
    assert!(!help.contains("'$[?@.level"), "{help}");
    assert!(help.contains("--where '@.level"), "{help}");
}

#[test]
fn f03_strict_checks_everything() {
    let folder = Folder::new("f03");
    let bad = "{\"level\":\"warn\" GARBAGE ]]]\n{\"level\":\"x\"}\n";
    for name in ["bad.jsonl", "bad.log"] {
        let file = &folder.file(name, bad);
        for args in [
            &["extract", "$.level", "--strict"][..],
            &["count", "$.level", "--strict"],
            &["stats", "$.level"],
        ] {
            for more in [&[][..], &["--no-mmap"], &["--threads", "1"]] {
                let run = on(file, &[args, more].concat());
                assert!(run.status == Some(1) && run.err.contains(":1:17:"), "{name} {args:?}: {run:?}");
            }
        }
    }
    let file = &folder.file("good.jsonl", LOG);
    assert_eq!(on(file, &["extract", "$.level", "--strict"]).ok(), "\"error\"\n\"info\"\n");
}

#[test]
fn f04_rows_stay_aligned() {
    let folder = Folder::new("f04");
    let file = &folder.file("a.jsonl", "{\"a\":\"x,y\",\"b\":1}\n{\"b\":2}\n{\"a\":\"z\"}\n");
    assert_eq!(on(file, &["extract", "$.a", "$.b", "-o", "csv"]).ok(), "a,b\r\n\"x,y\",1\r\n,2\r\nz,\r\n");
    let objects = on(file, &["extract", "$.a", "$.b", "-o", "objects", "--default", "0"]).ok();
    assert_eq!(objects, "{\"a\":\"x,y\",\"b\":1}\n{\"a\":0,\"b\":2}\n{\"a\":\"z\",\"b\":0}\n");
}

#[test]
fn f05_invalid_patterns_are_named() {
    let folder = Folder::new("f05");
    let file = &folder.file("t.json", TWEETS);
    for (pattern, text) in
        [("\\\\d+", "write `[0-9]+`"), ("(?i)rt", "matches nothing"), ("[0-9", "matches nothing")]
    {
        let query = format!("$.statuses[?search(@.text, \"{pattern}\")]");
        let run = on(file, &["count", &query]);
        assert!(run.err.contains("is not an I-Regexp (RFC 9485)") && run.err.contains(text), "{}", run.err);
        assert_eq!(serde_json::from_str::<Value>(&run.out).unwrap()["total"], 0);
    }
}

#[test]
fn f06_mistyped_names_get_the_nearest_path() {
    let folder = Folder::new("f06");
    let file = &folder.file("t.json", TWEETS);
    note(&on(file, &["extract", "$.Statuses[0].id"]), "the nearest path is `$.statuses[0].id`");
    note(&on(file, &["extract", "$.statuses[5].id"]), "2 elements");
    note(&on(file, &["extract", "$.statuses[?@.lan == 'ja']"]), "lang");
}

#[test]
fn f07_strings_are_printed_raw() {
    let folder = Folder::new("f07");
    let file = &folder.file("a.json", r#"["a \"b\"", "c\nd", 1]"#);
    assert_eq!(on(file, &["extract", "$[*]", "-r"]).ok(), "a \"b\"\nc\nd\n1\n");
    assert_eq!(on(file, &["extract", "$[*]", "-r", "-0"]).ok(), "a \"b\"\u{0}c\nd\u{0}1\u{0}");
    let nul = &folder.file("nul.json", r#"["a\u0000b"]"#);
    assert!(on(nul, &["extract", "$[*]", "-r", "-0"]).failed(1).contains("NUL"));
}

#[test]
fn f08_files_and_queries_come_in_any_order() {
    let folder = Folder::new("f08");
    let file = &folder.file("t.json", TWEETS);
    for args in [["extract", "$.statuses[0].id", file], ["extract", file, "$.statuses[0].id"]] {
        assert_eq!(run(args).ok(), "1\n");
    }
    assert_eq!(piped(["count", "$.statuses[*]"], TWEETS.as_bytes()).json()["total"], 2);
    assert_eq!(piped(["stats"], TWEETS.as_bytes()).json()["structure"]["root_type"], "object");
    help(run(["extract", ".statuses", file]), 2, "write `$.statuses`");
}

#[test]
fn f09_stats_names_the_fields() {
    let folder = Folder::new("f09");
    let file = &folder.file("log.jsonl", LOG);
    let fields = on(file, &["stats", "--fields"]).json()["fields"].clone();
    let paths: Vec<_> = fields.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["$", "$.level", "$.ms"]);
}

#[test]
fn f11_habits_of_other_languages_get_a_query() {
    let folder = Folder::new("f11");
    let file = &folder.file("t.json", TWEETS);
    for (habit, query) in [
        (".statuses", "`$.statuses`"),
        (".statuses[]", "`$.statuses[*]`"),
        (".statuses[] | select(.lang==\"ja\") | .id", "`$.statuses[?@.lang==\"ja\"].id`"),
        (".statuses | length", "--as array-length"),
        ("{id,text}", "`$['id', 'text']`"),
        (".foo[]?", "`$.foo[*]`"),
        ("$.a + 1", "jq"),
        ("$[?startsWith(@.text,\"R\")]", "`$[?search(@.text, '^R')]`"),
        (".statuses[] | select(.text | test(\"R\"))", "search(@.text"),
        ("$.statuses[*][id,text]", "`$.statuses[*]['id','text']`"),
        ("$.statuses[?@.lang==\"ja].id", "`$.statuses[?@.lang==\"ja\"].id`"),
        ("0.Name", "'$[0].Name' in single quotes"),
        ("$.statuses[0]~", "--output paths"),
    ] {
        help(run(["extract", file, habit]), 2, query);
    }
    // A suggestion is itself a valid query.
    assert_eq!(on(file, &["extract", "$.statuses[?@.lang==\"ja\"].id"]).ok(), "1\n");
}

#[test]
fn f12_repeated_names_are_chosen_and_listed() {
    let folder = Folder::new("f12");
    let file = &folder.file("a.json", r#"{"a":1,"b":0,"a":2}"#);
    let values = |which: &str| on(file, &["extract", "$.a", "--duplicates", which]).ok();
    assert_eq!(
        (values("first"), values("last"), values("all")),
        ("1\n".into(), "2\n".into(), "1\n2\n".into())
    );
    note(&on(file, &["check"]), "a.json:1:14: $['a'] repeats a name");
}

#[test]
fn f13_distinct_counts_are_possible() {
    let folder = Folder::new("f13");
    let lines: Vec<_> = (0..30_000).map(|n| format!("{{\"id\":\"{n}\"}}\n")).collect();
    let file = &folder.file("ids.jsonl", lines.concat());
    let values = on(file, &["stats", "--values"]).json()["values"].clone();
    let id = values.as_array().unwrap().iter().find(|row| row["path"] == "$.id").unwrap();
    let distinct = id["distinct"].get("count").unwrap_or(&id["distinct"]).as_u64().unwrap();
    assert!((29_000..=30_000).contains(&distinct), "{id}");
}

/// Sizes on a terminal have binary units, with their names.
#[test]
fn f14_units_have_their_names() {
    let folder = Folder::new("f14");
    let file = folder.file("a.json", format!("[{}0]", "1, 2, ".repeat(10_000)));
    let shown = shown_plainly(trommel(["stats", &file]));
    assert!(shown.contains("a.json: 58.6 KiB (60,003 bytes"), "{shown}");
    assert!(shown_plainly(trommel(["stats", &file, "$[0]"])).contains("selected by $[0]: 1 B"));
}

#[test]
fn f15_small_messages() {
    let folder = Folder::new("f15");
    let log = &folder.file("log.jsonl", LOG);
    let bad: Vec<_> = (0..1_000).map(|n| format!("{{\"n\":{n}\n")).collect();
    let run_bad = on(&folder.file("bad.jsonl", bad.concat()), &["count", "$", "--on-bad-record", "skip"]);
    assert!(run_bad.err.lines().count() < 15 && run_bad.err.contains("1,000"), "{}", run_bad.err);
    for (name, text, advice) in [
        ("a.json", "{\"a\":1} // c\n", "remove comments: JSON has none"),
        ("a.csv", "a,b\n1,2\n", "this looks like CSV"),
        ("a.yaml", "a: 1\n", "this looks like YAML"),
        ("a.zip", "PK\u{3}\u{4}rest", "unzip -p FILE"),
        ("a.tar", &format!("{:\0<257}ustar", "name"), "tar -xOf FILE"),
    ] {
        let run = on(&folder.file(name, text), &["stats"]);
        assert!(run.status == Some(1) && run.err.contains(advice), "{name}: {}", run.err);
    }
    let packed = gzip(format!("[{}0]", "1, 2, ".repeat(100_000)).as_bytes());
    let cut = &folder.file("cut.json.gz", &packed[..packed.len() / 2]);
    assert!(on(cut, &["stats"]).err.contains("the gzip data ends early: the file is truncated"));
    assert!(on(log, &["stats", "--threads", "0"]).failed(2).contains("must be at least 1"));
    assert!(!on(log, &["stats", "-r"]).failed(2).contains("-- -r"));
    assert!(run(["help"]).ok().contains("Query"));
    let arrays = &folder.file("arrays.json", "{\"a\":[1,2],\"b\":null}");
    assert_eq!(on(arrays, &["count", "$.a", "--as", "array_length"]).json()["total"], 2);
    assert!(on(arrays, &["count", "$.b", "--as", "object-keys"]).failed(1).contains("to exclude nulls"));
    assert!(on(log, &["stats", "NAME=$.level"]).failed(2).contains("write '$.level'"));
    let mut closed = trommel(["count", log, "$"]);
    let script = "exec \"$0\" \"$@\" >&-";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).arg(closed.get_program()).args(closed.get_args());
    let closed = Run::of({
        closed.arg("");
        shell.output().unwrap()
    });
    assert!(closed.status == Some(1) && closed.err.contains("standard output is closed"), "{closed:?}");
}

#[test]
fn f15_errors_name_their_file() {
    let folder = Folder::new("f15-files");
    let good = &folder.file("good.jsonl", "{\"k\":1}\n");
    let late = &folder.file("late.jsonl", "{\"k\":1}\n{\"k\":");
    let run = run(["group", good, late, "$.k", "--by-file"]);
    assert!(run.failed(1).contains("late.jsonl:2:6"), "the answer is whole or absent");
    let sampled = &folder.file("sampled.json", "{\"a\":[1,{\"b\":tru}]}");
    let run = on(sampled, &["sample", "$.a", "-n", "2", "--seed", "1"]);
    assert!(run.status == Some(1) && run.out.is_empty() && run.err.contains("sampled.json"), "{run:?}");
}
